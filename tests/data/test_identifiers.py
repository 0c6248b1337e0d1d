"""Columns of identifiers are refused, and measurements are not mistaken for identifiers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dagneal as dn
from support.frames import frame


def test_an_identifier_of_text_is_refused_and_can_be_dropped():
    table = frame().with_columns(pl.Series("patient", [f"p{i:04}" for i in range(400)])).drop("age", "dose")
    table = table.with_columns(pl.Series("x", [i % 3 for i in range(400)]))
    with pytest.raises(dn.InputError, match="'patient' looks like an identifier"):
        dn.read(table)
    assert dn.read(table, drop=["patient"]).names == ("old", "x")
    with pytest.raises(dn.InputError, match="no column 'nose'"):
        dn.read(table, drop=["nose"])


@pytest.mark.parametrize("first", [0, 1, 1000])
def test_a_named_column_of_row_numbers_is_an_identifier(first):
    table = frame().with_columns(pl.Series("row", range(first, first + 400)))
    for source in (table, pd.DataFrame(table.to_dict(as_series=False))):
        for bins in ("quantile:3", {"age": "quantile:3", "dose": "quantile:3"}):
            with pytest.raises(dn.InputError, match="'row' looks like an identifier"):
                dn.read(source, bins=bins)
        assert dn.read(source, bins={"": "quantile:3", "row": "uniform:2"}).names[-1] == "row"


IDENTIFIERS = {
    "five digits": ("x", np.random.default_rng(0).permutation(np.arange(10_023, 99_999))[:300]),
    "five digits, sorted": ("x", np.arange(10_023, 99_999, 300)),
    "numbers with gaps": ("x", np.random.default_rng(1).permutation(5000)[:400]),
    "every tenth": ("x", np.arange(0, 1000, 10)),
    "nine digits": ("x", 10**8 + np.random.default_rng(2).permutation(10**6)[:200] * 899),
    "above 2^63": ("x", np.array([2**63 + 7 * i for i in range(100)], dtype=np.uint64)),
    "few rows, by name": ("PatientID", np.arange(30) * 17),
    "some repeat, by name": ("patient_no", np.repeat(np.arange(1000, 1200), 2)),
    "a long name": ("customer id", np.arange(300) * 1000),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", IDENTIFIERS)
def test_whole_numbers_that_look_like_identifiers_are_refused(case, tmp_path):
    name, numbers = IDENTIFIERS[case]
    table = pl.DataFrame({name: numbers, "b": np.arange(len(numbers)) % 2, "c": np.arange(len(numbers)) % 3})
    table.write_csv(tmp_path / "t.csv")
    pandas_frame = pd.DataFrame({column: table[column].to_numpy() for column in table.columns})
    for source in (table, pandas_frame, tmp_path / "t.csv"):
        for options in ({}, {"bins": "quantile:4"}, {"merge": "no"}, {"bins": "uniform:3", "merge": "no"}):
            with pytest.raises(dn.InputError, match=f"column {name!r} looks like an identifier.*drop it"):
                dn.read(source, **options)
        if case != "above 2^63":  # these numbers are equal in floating point
            assert dn.read(source, bins={name: "quantile:2"}).states[0][0].startswith("below")
        assert dn.read(source, drop=[name]).names == ("b", "c")


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("year", 1950 + np.arange(300) % 60),
        ("income", np.random.default_rng(0).permutation(np.arange(20_000, 90_000))[:200]),
        ("amount", np.random.default_rng(0).lognormal(8, 1.5, 300).astype(int)),
        ("x", np.random.default_rng(5).lognormal(8, 2, 100).astype(int)),
        ("pounds", np.random.default_rng(0).permutation(np.arange(200, 2000))[:60] * 50),
        ("score", np.random.default_rng(0).integers(0, 200, 300)),
        ("body mass index", np.random.default_rng(0).integers(150, 400, 200)),
    ],
)
def test_whole_numbers_that_look_like_a_measurement_are_binned(name, numbers):
    table = pl.DataFrame({name: numbers, "b": np.arange(len(numbers)) % 2})
    with pytest.raises(dn.InputError, match="looks continuous"):
        dn.read(table)
    assert len(dn.read(table, bins="quantile:4").states[0]) == 4


def test_missing_values_do_not_hide_an_identifier():
    numbers = [None if i % 10 == 0 else 10_000 + 7 * i for i in range(200)]
    table = pl.DataFrame({"x": numbers, "b": [i % 2 for i in range(200)]})
    for missing in ("refuse", "drop", "state"):
        for merge in ("yes", "no"):
            with pytest.raises(dn.InputError, match="column 'x' looks like an identifier"):
                dn.read(table, missing=missing, merge=merge, bins="quantile:3")
