"""The classifier: probabilities, frames and arrays, missing values, ensembles, pipelines and grid searches."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import dagneal as dn

WINE = load_wine(as_frame=True)


def cancer(rows=2000, seed=1):
    frame = dn.load("lung-cancer").sample(rows, seed).frame().sample(fraction=1.0, shuffle=True, seed=seed)
    return frame.drop("Cancer"), frame["Cancer"]


def test_the_probabilities_are_those_of_the_network():
    features, y = cancer()
    classifier = dn.BayesianNetworkClassifier().fit(features, y)
    assert classifier.classes_.tolist() == ["False", "True"]
    assert classifier.target_ == "Cancer"
    expected = dn.predict(classifier.model_, features, "Cancer")
    np.testing.assert_allclose(classifier.predict_proba(features), expected.drop("Cancer").to_numpy())
    assert classifier.predict(features).tolist() == expected["Cancer"].to_list()
    assert classifier.score(features, y) == pytest.approx((expected["Cancer"] == y.cast(pl.String)).mean())


def test_frames_and_arrays_give_the_same_predictions():
    x, y = WINE.data, WINE.target
    tables = x, pl.DataFrame({name: x[name].to_numpy() for name in x}), x.to_numpy()
    first, second, third = (dn.BayesianNetworkClassifier().fit(table, y).predict_proba(table) for table in tables)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first, third)
    assert dn.BayesianNetworkClassifier().fit(x, y).score(x, y) > 0.9


def test_new_rows_get_the_cut_points_of_fit():
    x, y = WINE.data, WINE.target
    classifier = dn.BayesianNetworkClassifier().fit(x, y)
    whole = classifier.predict_proba(x)
    parts = [classifier.predict_proba(x.iloc[at : at + 1]) for at in range(0, len(x), 10)]
    np.testing.assert_allclose(np.concatenate(parts), whole[::10])
    assert np.isfinite(classifier.predict_proba(x * 1000)).all()


def test_missing_and_new_values_are_unknown():
    features, y = cancer()
    classifier = dn.BayesianNetworkClassifier().fit(features, y)
    row = features.head(1)
    unknown = row.with_columns(pl.lit(None, dtype=pl.String).alias("Xray"))
    strange = row.with_columns(pl.lit("blurred").alias("Xray"))
    known = {name: row[name][0] for name in row.columns if name != "Xray"}
    answer = dn.query(classifier.model_, "Cancer", known)
    for table in (unknown, strange):
        np.testing.assert_allclose(classifier.predict_proba(table)[0], [answer["False"], answer["True"]], atol=1e-9)


def test_an_ensemble_and_structural_em():
    x, y = WINE.data.mask(np.random.default_rng(0).random(WINE.data.shape) < 0.1), WINE.target
    single, mixture, em = (
        dn.BayesianNetworkClassifier(**more).fit(x, y) for more in ({}, {"networks": 10}, {"missing": "em"})
    )
    assert isinstance(mixture.model_, dn.Ensemble)
    assert log_loss(y, mixture.predict_proba(x)) < 1
    assert em.model_.em.missing_values == int(x.isna().to_numpy().sum())
    assert min(single.score(x, y), em.score(x, y)) > 0.8
    with pytest.raises(dn.InputError, match="networks is above 1"):
        dn.BayesianNetworkClassifier(networks=2, missing="em").fit(x, y)


def test_pipeline_and_grid_search():
    x, y = WINE.data.mask(np.random.default_rng(0).random(WINE.data.shape) < 0.05), WINE.target
    pipeline = make_pipeline(dn.BayesianNetworkImputer(), dn.BayesianNetworkClassifier())
    assert cross_val_score(pipeline, x, y, cv=2).min() > 0.7
    search = GridSearchCV(dn.BayesianNetworkClassifier(), {"max_parents": [0, 2]}, cv=2).fit(x, y)
    assert search.best_params_ == {"max_parents": 2}
    assert clone(search.best_estimator_).get_params() == search.best_estimator_.get_params()


def test_any_labels():
    features, y = cancer(300)
    for labels in ([" a", "a"], [0.0, 1.0], [True, False], ["NA", "(missing)"], ["NA", "?"], [3, -3]):
        values = np.array(labels, dtype=object if isinstance(labels[0], str) else None)[(y == "True").to_numpy().astype(int)]
        classifier = dn.BayesianNetworkClassifier().fit(features, pd.Series(values, name="Smoker"))
        assert classifier.target_ == "Smoker_"
        assert set(classifier.predict(features)) <= set(labels)
        assert classifier.predict_proba(features).shape == (len(features), 2)


def test_parameters_are_checked_in_fit():
    features, y = cancer(50)
    wrong = [("networks", 0, "networks is 0"), ("bins", "no", "bins is 'no'"), ("missing", 5, "missing is 5")]
    for name, value, message in wrong:
        with pytest.raises(dn.InputError, match=message):
            dn.BayesianNetworkClassifier(**{name: value}).fit(features, y)
