"""Messy data: numbers cut into states, rare states, identifiers, and being told what was done."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.cli import main
from dagneal.discretize import Bins, state_names


@given(
    st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=40, unique=True), st.sampled_from(["quantile", "uniform", "kmeans"])
)
def test_the_names_of_states_tell_the_cuts(numbers, kind):
    values = np.array(sorted(numbers))
    cuts = Bins(kind, 4).cuts(values, np.ones(len(values)))
    names = state_names(cuts)
    for value in values:
        name = names[int(np.searchsorted(cuts, value, side="right"))]
        words = name.replace("below ", "-1e300 to ").replace(" and above", " to 1e300").replace("any", "-1e300 to 1e300")
        low, high = map(float, words.split(" to "))
        assert low <= value < high


def test_names_of_states_are_written_out():
    values = np.arange(12330.0, 12440.0)
    assert state_names(Bins("uniform", 3).cuts(values, np.ones(110))) == [
        "below 12366.3",
        "12366.3 to 12403",
        "12403 and above",
    ]


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60),
    st.sampled_from(["quantile", "uniform", "kmeans"]),
    st.integers(2, 7),
)
def test_cuts_ascend_and_every_state_has_a_value(numbers, kind, count):
    values, counts = np.unique(np.array(numbers), return_counts=True)
    cuts = Bins(kind, count).cuts(values, counts.astype(float))
    assert (np.diff(cuts) > 0).all()
    assert len(cuts) < count
    names = state_names(cuts)
    assert len(set(names)) == len(names) == len(cuts) + 1
    if kind != "uniform":
        assert len(np.unique(np.searchsorted(cuts, values, side="right"))) == len(cuts) + 1


def test_quantiles_hold_equal_numbers_of_rows():
    values = np.sort(np.random.default_rng(0).normal(size=1000))
    cuts = Bins("quantile", 4).cuts(values, np.ones(1000))
    assert np.bincount(np.searchsorted(cuts, values, side="right")).tolist() == [250] * 4


def test_kmeans_finds_clusters_and_heeds_weights():
    values = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 20.0])
    assert Bins("kmeans", 3).cuts(values, np.ones(6)).tolist() == [3.0, 10.0]  # the shortest numbers between
    heavy = Bins("kmeans", 2).cuts(np.array([0.0, 4.0, 6.0, 10.0]), np.array([100.0, 1.0, 1.0, 100.0]))
    assert heavy.tolist() == [5.0]


def frame(rows=400, seed=0):
    generator = np.random.default_rng(seed)
    age = generator.normal(50, 15, rows).round(3)
    return pl.DataFrame({"age": age, "old": (age > 60).astype(int), "dose": generator.exponential(size=rows)})


@pytest.mark.parametrize("kind", ["polars", "pandas", "csv", "parquet"])
def test_bins_are_the_same_whatever_the_source(kind, tmp_path):
    table = frame()
    source = {
        "polars": lambda: table,
        "pandas": lambda: pd.DataFrame({name: table[name].to_numpy() for name in table.columns}),
        "csv": lambda: (table.write_csv(tmp_path / "t.csv"), tmp_path / "t.csv")[1],
        "parquet": lambda: (table.write_parquet(tmp_path / "t.parquet"), tmp_path / "t.parquet")[1],
    }[kind]()
    found = dn.read(source, bins={"": "quantile:4", "dose": "uniform:3"})
    cut = np.quantile(table["age"].to_numpy(), 0.25)
    assert found.states[0][0].startswith(f"below {cut:.2g}"[:8])
    codes = dict(zip(found.names, found.codes, strict=True))
    assert np.bincount(codes["age"], found.weights).tolist() == [100] * 4
    assert found.states[1] == ("0", "1")  # two numbers are codes
    assert len(found.states[2]) == 3
    assert [text.split(":")[0] for text in found.prepared] == ["age", "dose"]
    assert "4 states (quantile), cut at" in found.prepared[0]


def test_missing_numbers_stay_missing():
    table = frame().with_columns(pl.when(pl.col("old") == 1).then(None).otherwise("age").alias("age"))
    with pytest.raises(dn.InputError, match="missing values"):
        dn.read(table, bins="quantile:3")
    found = dn.read(table, bins="quantile:3", missing="state")
    assert found.states[0][-1] == "(missing)"
    assert any("made a state" in text for text in found.prepared)
    dropped = dn.read(table, bins="quantile:3", missing="drop")
    gone = int(frame()["old"].sum())
    assert f"{gone:,} rows with missing values left out" in dropped.prepared
    assert dropped.rows == 400 - gone


def test_text_with_numbers_is_cut_and_other_text_is_named(tmp_path):
    path = tmp_path / "t.csv"
    numbers = [f" {value} " for value in frame()["age"].to_list()]
    path.write_text("age,b\n" + "".join(f"{value},{i % 2}\n" for i, value in enumerate([*numbers, "NA"])))
    assert len(dn.read(path, bins="quantile:3", missing="drop").states[0]) == 3
    path.write_text("age,b\n" + "".join(f"{value},{i % 2}\n" for i, value in enumerate([*numbers, "tall"])))
    with pytest.raises(dn.InputError, match="'tall' is not a number"):
        dn.read(path, bins={"age": "quantile:3"})


def test_decimal_commas_are_numbers_and_thousands_are_not(tmp_path):
    path = tmp_path / "t.csv"
    ages = [f"{value:.2f}".replace(".", ",") for value in frame()["age"].to_list()]
    path.write_text("age;b\n" + "".join(f"{age};{i % 2}\n" for i, age in enumerate(ages)))
    found = dn.read(path, bins="quantile:4")
    assert len(found.states[0]) == 4
    assert "(decimal commas)" in found.prepared[0]
    path.write_text("pay;b\n" + "".join(f"{1 + i % 9},{100 + i};{i % 2}\n" for i in range(400)))
    with pytest.raises(dn.InputError, match="is not a number"):
        dn.read(path, bins={"pay": "quantile:4"})


@pytest.mark.parametrize("bins", ["quantile", "quantile:1", "octile:3", "quantile:x", {"nose": "quantile:3"}])
def test_bad_bins_are_refused(bins):
    with pytest.raises(dn.InputError):
        dn.read(frame(), bins=bins)


def test_rare_states_are_merged():
    cities = ["A"] * 50 + ["B"] * 45 + ["C", "D", "E"]
    table = pl.DataFrame({"city": cities, "x": [i % 2 for i in range(98)], "y": ["u"] * 97 + ["v"]})
    found = dn.read(table, rare=0.02)
    assert found.states[0] == ("(other)", "A", "B") or set(found.states[0]) == {"A", "B", "(other)"}
    assert found.states[2] == ("u", "v")  # a single rare state stays
    assert found.prepared == ("city: 3 rare states (3 rows) merged into (other)",)
    assert dn.read(table, rare=0.02, states={"city": ["A", "B", "C", "D", "E"]}).prepared == ()
    for share in (-0.1, 1.0, float("nan")):
        with pytest.raises(dn.InputError, match="rare is"):
            dn.read(table, rare=share)


def test_rare_states_are_counted_without_spaces():
    table = pl.DataFrame({"a": ["A"] * 7 + [" A"] * 7 + ["B"] * 980 + ["C", "D"], "b": [i % 2 for i in range(996)]})
    found = dn.read(table, rare=0.01)
    assert set(found.states[0]) == {"A", "B", "(other)"}
    assert found.prepared == ("a: 2 rare states (2 rows) merged into (other)",)


def test_one_cell_that_is_no_number_is_named(tmp_path):
    path = tmp_path / "t.csv"
    ages = [str(value) for value in frame()["age"].to_list()]
    path.write_text("age,b\n" + "".join(f"{value},{i % 2}\n" for i, value in enumerate([*ages, "-"])))
    with pytest.raises(dn.InputError, match="'-' is not a number"):
        dn.read(path, bins="quantile:3")


def test_identifiers_are_named_and_can_be_left_out():
    table = frame().with_columns(pl.Series("patient", [f"p{i:04}" for i in range(400)])).drop("age", "dose")
    table = table.with_columns(pl.Series("x", [i % 3 for i in range(400)]))
    with pytest.raises(dn.InputError, match="'patient' looks like an identifier"):
        dn.read(table)
    assert dn.read(table, drop=["patient"]).names == ("old", "x")
    with pytest.raises(dn.InputError, match="no column 'nose'"):
        dn.read(table, drop=["nose"])


def test_lines_inside_quotes_are_not_blank(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + '"p\n\nq",x\n' * 10 + "r,y\n\n" * 10 + ",\n" * 3)
    with pytest.raises(dn.InputError, match="6 missing values"):
        dn.read(path)
    assert dn.read(path, missing="drop").rows == 20


def test_names_are_printed_without_control_characters(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "t.csv"
    path.write_text(
        '"a\nb",\x1b[31mred,' + "x" * 500 + "\n" + "".join(f"{i % 2},{i % 2},{(i // 2) % 2}\n" for i in range(50))
    )
    assert main(["learn", "t.csv"]) == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert "a\\nb" in text
    assert max(map(len, text.splitlines())) < 300


def test_what_was_done_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame().write_csv("t.csv")
    assert main(["learn", "t.csv"]) == 2
    assert "--bins quantile:4" in capsys.readouterr().err
    assert main(["learn", "t.csv", "--bins", "quantile:3", "--bins", "dose=kmeans:2", "--json"]) == 0
    captured = capsys.readouterr()
    told = json.loads(captured.out)["data"]["prepared"]
    assert len(told) == 2
    assert all(text in captured.err for text in told)
    assert main(["learn", "t.csv", "--drop", "age,dose"]) == 2
    assert "at least 2 columns" in capsys.readouterr().err
    assert main(["learn", "t.csv", "--bins", "=quantile:3"]) == 2


def test_the_first_missing_value_of_a_long_file_is_the_first(tmp_path):
    path = tmp_path / "long.csv"  # long enough for polars to read it in pieces
    lines = [f"{'state' * 10}{row % 7},{'' if row % 50 == 25 else row % 3}" for row in range(4000)]
    path.write_text("a,b\n" + "\n".join(lines) + "\n")
    with pytest.raises(dn.InputError, match=r"80 in 'b' \(first in row 26\)"):
        dn.read(path)
