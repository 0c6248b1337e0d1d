"""All estimators pass the checks of scikit-learn."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from dagneal.estimator import BayesianNetworkClassifier, BayesianNetworkImputer, StructureLearner

ESTIMATORS = [
    StructureLearner(),
    StructureLearner(missing="em"),
    BayesianNetworkClassifier(),
    BayesianNetworkClassifier(networks=3, criterion="bic"),
    BayesianNetworkImputer(),
]


@pytest.mark.slow
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
