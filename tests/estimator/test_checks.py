"""All estimators pass the checks of scikit-learn, except the declared ones."""

import warnings

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from dagneal.estimator import BayesianNetworkClassifier, BayesianNetworkImputer, StructureLearner

ESTIMATORS = [
    StructureLearner(),
    StructureLearner(missing="refuse"),
    StructureLearner(missing="em"),
    BayesianNetworkClassifier(),
    BayesianNetworkClassifier(networks=3, criterion="bic"),
    BayesianNetworkImputer(),
]
EXCEPTIONS = {
    (
        "StructureLearner(missing='refuse')",
        "check_estimators_nan_inf",
    ): "the error names missing values, columns and options, not NaN",
}


def collect():
    """Return a test case for each check. scikit-learn warns that the estimators do not inherit from its base class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            declare(each, check, getattr(check, "func", check).__name__)
            for estimator in ESTIMATORS
            for each, check in estimator_checks_generator(estimator)
        ]


def declare(estimator, check, name):
    """Return a test case. A check with an exception must fail."""
    reason = EXCEPTIONS.get((repr(estimator), name))
    marks = [] if reason is None else [pytest.mark.xfail(reason=reason, raises=AssertionError)]
    return pytest.param(estimator, check, id=f"{estimator}-{name}", marks=marks)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("estimator", "check"), collect())
def test_scikit_learn_checks(estimator, check):
    check(estimator)
