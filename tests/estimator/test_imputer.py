"""The imputer: kinds of tables and columns, agreement with queries, and better values than means."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_wine

import dagneal as dn

WINE = load_wine(as_frame=True).data
GAPS = np.random.default_rng(0).random(WINE.shape) < 0.1


def test_gaps_are_filled_better_than_with_means_and_known_values_stay():
    gappy = WINE.mask(GAPS)
    imputer = dn.BayesianNetworkImputer()
    filled = imputer.fit_transform(gappy)
    assert filled.columns.tolist() == imputer.get_feature_names_out().tolist() == WINE.columns.tolist()
    assert not filled.isna().to_numpy().any()
    assert filled.to_numpy()[~GAPS].tolist() == WINE.to_numpy()[~GAPS].tolist()
    scale = WINE.std().to_numpy()
    errors = [(((table - WINE).to_numpy() / scale)[GAPS] ** 2).mean() for table in (filled, gappy.fillna(gappy.mean()))]
    assert errors[0] < 0.8 * errors[1]
    np.testing.assert_allclose(dn.BayesianNetworkImputer().fit_transform(gappy.to_numpy()), filled.to_numpy())
    polars = imputer.transform(pl.DataFrame({name: gappy[name].to_numpy() for name in gappy}))
    np.testing.assert_allclose(polars.to_numpy(), filled.to_numpy())


def test_columns_keep_their_kinds():
    ages = [float(20 + at % 40) if at % 7 else None for at in range(120)]
    columns = {
        "text": ["m", "f", None] * 40,
        "age": ages,
        "count": [1, 2, None] * 40,
        "many": [*range(110), *[None] * 10],
        "flag": [True, False, None] * 40,
    }
    frame = pl.DataFrame(columns).with_columns(pl.col("text").cast(pl.Categorical).alias("category"))
    filled = dn.BayesianNetworkImputer().fit_transform(frame)
    assert filled.null_count().sum_horizontal().item() == 0
    expected = {**frame.schema, "many": pl.Float64}  # the expected number is a fraction
    assert dict(filled.schema) == expected
    table = pd.DataFrame(columns | {"count": pd.array(columns["count"], dtype="Int64")})
    table["category"] = pd.Categorical(columns["text"])
    result = dn.BayesianNetworkImputer().fit_transform(table)
    assert not result.isna().to_numpy().any()
    assert str(result["count"].dtype) == "Int64"
    assert set(map(type, result["flag"])) == {bool}
    assert result["category"].dtype == table["category"].dtype


def test_states_are_the_most_probable_ones():
    frame = dn.load("lung-cancer").sample(1000, 1).frame().select(pl.all().cast(pl.String))
    rng = np.random.default_rng(3)
    gappy = frame.with_columns(
        pl.when(pl.Series(rng.random(1000) < 0.3)).then(None).otherwise(pl.col(name)).alias(name) for name in frame.columns
    )
    imputer = dn.BayesianNetworkImputer().fit(gappy)
    filled = imputer.transform(gappy)
    expected = imputer.result_.impute(gappy, method="each")
    assert filled.rows() == expected.rows()
    assert imputer.transform(frame).rows() == frame.rows()


def test_errors():
    with pytest.raises(dn.InputError, match="missing is 'state'; give 'em' or 'drop'"):
        dn.BayesianNetworkImputer(missing="state").fit(WINE)
    with pytest.raises(ValueError, match="not fitted"):
        dn.BayesianNetworkImputer().transform(WINE)


def test_columns_that_the_rules_leave_out():
    rows = 200
    gap = [at % 5 == 0 for at in range(rows)]
    frame = pl.DataFrame(
        {
            "id": range(rows),
            "text": [None if gap[at] else f"text number {at}" for at in range(rows)],
            "same": [None if at == 3 else "x" for at in range(rows)],
            "day": [None if gap[at] else f"2020-{1 + at % 12:02d}-{1 + at % 28:02d}" for at in range(rows)],
            "height": [None if gap[at] else 150 + at % 40 for at in range(rows)],
            "tall": ["yes" if at % 40 > 20 else "no" for at in range(rows)],
        }
    )
    imputer = dn.BayesianNetworkImputer().fit(frame)
    filled = imputer.transform(frame)
    assert {"id", "text", "same", "day"}.isdisjoint(imputer.network_.names)
    assert {name: filled[name].null_count() for name in filled.columns if filled[name].null_count()} == {
        "text": 40,
        "day": 40,
    }
    assert filled["same"].unique().to_list() == ["x"]
    tall, short = (filled.filter(pl.Series(gap) & (pl.col("tall") == answer))["height"].mean() for answer in ("yes", "no"))
    assert tall > 165 > short
