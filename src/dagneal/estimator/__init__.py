"""Estimators with the interface of scikit-learn: structure learning, classification and imputation."""

from dagneal.estimator.classifier import BayesianNetworkClassifier as BayesianNetworkClassifier
from dagneal.estimator.imputer import BayesianNetworkImputer as BayesianNetworkImputer
from dagneal.estimator.structure import StructureLearner as StructureLearner
