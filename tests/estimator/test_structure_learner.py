"""The estimator: scikit-learn checks, fitting and scoring."""

import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.utils.validation import check_is_fitted

import dagneal as dn
from dagneal.estimator import StructureLearner


def test_clone_and_set_params():
    first = StructureLearner(max_parents=2, knowledge=dn.Knowledge(roots=["a"]))
    copy = clone(first)
    assert copy is not first
    assert copy.get_params() == first.get_params()
    assert set(first.get_params()) == {
        "max_parents",
        "criterion",
        "solver",
        "seed",
        "knowledge",
        "missing",
        "bins",
        "rare",
    }
    for setting in ParameterGrid({"max_parents": [1, 2], "criterion": ["bic", "k2"]}):
        assert clone(first).set_params(**setting).get_params() == first.get_params() | setting
    with pytest.raises(ValueError, match="no parameter 'colour'"):
        first.set_params(colour=1)
    assert repr(StructureLearner(seed=3)) == "StructureLearner(seed=3)"


def test_scikit_learn_parameter_checks():
    from sklearn.utils import estimator_checks as checks

    learner = StructureLearner()
    for name in (
        "check_parameters_default_constructible",
        "check_no_attributes_set_in_init",
        "check_get_params_invariance",
        "check_set_params",
    ):
        getattr(checks, name)(type(learner).__name__, learner)


def test_fit_and_score():
    truth = dn.load("lung-cancer")
    frame = truth.sample(10_000, 1).frame()
    learner = StructureLearner().fit(frame)
    assert set(learner.graph_.edges) == set(dn.learn(truth.sample(10_000, 1)).edges)
    assert learner.n_features_in_ == 5
    fresh = truth.sample(10_000, 2).frame()
    assert learner.score(fresh) == pytest.approx(dn.log_likelihood(truth, truth.sample(10_000, 2)) / 10_000, abs=0.02)
    assert learner.score(fresh) > StructureLearner(max_parents=0).fit(frame).score(fresh)
    with pytest.raises(dn.InputError, match="this StructureLearner is not fitted; call fit first"):
        StructureLearner().score(frame)
    numbers = frame.with_columns(pl.Series("age", [i * 0.37 for i in range(10_000)]))
    fitted = StructureLearner(bins="quantile:3").fit(numbers)
    assert len(fitted.network_.states["age"]) == 3
    assert fitted.score(numbers.head(20)) < 0  # with the bins of fit; these rows alone would get other bins


def test_grid_search():
    frame = dn.load("lung-cancer").sample(2_000, 1).frame().sample(fraction=1.0, shuffle=True, seed=1)
    search = GridSearchCV(StructureLearner(), {"max_parents": [0, 2]}, cv=3).fit(frame)
    assert search.best_params_ == {"max_parents": 2}
    assert search.best_estimator_.graph_.number_of_edges() >= 3
    check_is_fitted(search.best_estimator_)
    with pytest.raises(NotFittedError):
        check_is_fitted(StructureLearner())
