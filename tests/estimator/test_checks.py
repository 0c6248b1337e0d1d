"""All estimators pass the checks of scikit-learn. No check is expected to fail."""

import warnings

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from dagneal.estimator import BayesianNetworkClassifier, BayesianNetworkImputer, StructureLearner

ESTIMATORS = [
    StructureLearner(),
    StructureLearner(missing="em"),
    BayesianNetworkClassifier(),
    BayesianNetworkClassifier(networks=3, criterion="bic"),
    BayesianNetworkImputer(),
]


def collect():
    """Return a test case for each check. scikit-learn warns that the estimators do not inherit from its base class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            pytest.param(each, check, id=f"{each}-{getattr(check, 'func', check).__name__}")
            for estimator in ESTIMATORS
            for each, check in estimator_checks_generator(estimator)
        ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("estimator", "check"), collect())
def test_scikit_learn_checks(estimator, check):
    check(estimator)
