"""The class `BayesianNetworkClassifier`: prediction of a class by a Bayesian network, or by an ensemble of networks."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from dagneal.base.defaults import RARE, SCORE, SEED
from dagneal.base.errors import InputError, whole_number
from dagneal.base.kernels import Floats
from dagneal.confidence.ensemble import ensemble
from dagneal.data.dataset import MISSING_STATE, OTHER_STATE
from dagneal.estimator.interface import Estimator
from dagneal.estimator.structure import criterion_for
from dagneal.estimator.table_preparation import TablePreparation
from dagneal.inference.models import find_members
from dagneal.inference.rows import posterior_of_rows
from dagneal.learning import learn
from dagneal.runtime.run import Run
from dagneal.strategies.auto import Auto
from dagneal.strategies.names import as_solver
from dagneal.strategies.solve import without_proof


class BayesianNetworkClassifier(Estimator):
    """A scikit-learn classifier: a Bayesian network of the features and the class. It needs scikit-learn.

    The network is learned from all columns together. So it also explains the features, accepts rows with missing values, and
    predicts the class from the values that are present. The rules of `prepare` choose the cut points and states of the
    features, and leave out features such as row numbers; new rows are prepared in the same way. A class without edges gets
    its frequency in the rows of `fit`.

    Args:
        networks: 1 for the best network; a larger number for a mixture of networks from as many subsamples of the rows,
            which often predicts better and takes longer.
        max_parents: parent limit; the default depends on the solver (see `learn`).
        criterion: score to maximise, or its name such as `"bic"`; with `missing="em"` the default is BIC.
        solver: a solver such as `Exact()`, or its name; by default `Auto()` without proofs.
        seed: seed of all random choices; the same seed gives the same result.
        knowledge: background knowledge; see `learn`. The class is the column `target`, or the name of `y`.
        missing: treatment of missing values in `fit`; see `prepare`. By default, its rules decide for each column.
        bins: binning of numeric columns; see `prepare`. By default, its rules choose the cut points.
        rare: fraction of rows below which states are merged; 0 for the rules of `prepare`.

    Attributes after `fit`: `classes_`, `target_` (name of the class in the network), `model_` (a `Learned` or an
    `Ensemble`), `feature_names_in_` (for frames) and `n_features_in_`.

    >>> import polars
    >>> frame = polars.DataFrame({"rain": [0, 0, 1, 1] * 25, "day": [0, 1] * 50})
    >>> classifier = BayesianNetworkClassifier().fit(frame, ["dry", "dry", "wet", "wet"] * 25)
    >>> classifier.predict(frame.head(3)).tolist()
    ['dry', 'dry', 'wet']
    """

    fitted_name = "model_"

    def __init__(
        self,
        networks: int = 1,
        max_parents: int | None = None,
        criterion: Any = SCORE,
        solver: Any = None,
        seed: int = SEED,
        knowledge: Any = None,
        missing: str = "auto",
        bins: Any = "auto",
        rare: float = RARE,
    ) -> None:
        self.networks = networks
        self.max_parents = max_parents
        self.criterion = criterion
        self.solver = solver
        self.seed = seed
        self.knowledge = knowledge
        self.missing = missing
        self.bins = bins
        self.rare = rare

    def __sklearn_tags__(self) -> Any:
        """Return the estimator tags that scikit-learn requires."""
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags()
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - the name that scikit-learn uses
        """Learn a network of the features and the class.

        Args:
            X: features: a pandas or polars frame, or an array.
            y: class of each row.
        """
        from sklearn.utils.multiclass import check_classification_targets
        from sklearn.utils.validation import check_consistent_length, column_or_1d

        networks = whole_number("networks", self.networks, least=1)
        if networks > 1 and self.missing == "em":
            raise InputError("networks is above 1, but missing='em' learns one network; use missing='state' or networks=1")
        table = self._check_table(X, reset=True)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        values = column_or_1d(y, warn=True)
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise InputError("y contains NaN or infinity; leave out these rows")
        check_classification_targets(values)
        check_consistent_length(table, values)
        self.classes_, codes = np.unique(values, return_inverse=True)
        labels = _labels(self.classes_)
        self.target_ = _target_name(y, list(map(str, table.columns)))
        preparation = TablePreparation(self.missing, self.bins, self.rare)
        data = preparation.fit(_add_classes(table, self.target_, codes, labels), {self.target_: labels})
        solver = without_proof(Auto() if self.solver is None else as_solver(self.solver))
        score = criterion_for(self.criterion, self.missing)
        if networks == 1:
            self.model_: Any = learn(
                data, solver, score=score, max_parents=self.max_parents, knowledge=self.knowledge, run=Run(self.seed)
            )
        else:
            # Samples with repeated rows give too many parents: worse predictions, and searches up to 30 times longer.
            limit, knowledge, run = self.max_parents, self.knowledge, Run(self.seed)
            self.model_ = ensemble(data, networks, solver, score, limit, knowledge, run, "subsample")
        self.preparation_ = preparation
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803 - the name that scikit-learn uses
        """Return the probability of each class, with one row for each row of `X`.

        Args:
            X: features; missing values and values that did not occur in `fit` are unknown.
        """
        self._check_fitted()
        table = self._check_table(X, reset=False)
        members = find_members(self.model_)
        codes = self.preparation_.codes(members.first, table, optional=(self.target_,))
        return posterior_of_rows(members, codes, members.first.names.index(self.target_))

    def predict(self, X: Any) -> Any:  # noqa: N803 - the name that scikit-learn uses
        """Return the most probable class of each row.

        Args:
            X: features; see `predict_proba`.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def score(self, X: Any, y: Any) -> float:  # noqa: N803 - the name that scikit-learn uses
        """Return the share of rows whose class is predicted correctly.

        Args:
            X: features; see `predict_proba`.
            y: true class of each row.
        """
        return float(np.mean(self.predict(X) == np.asarray(y).ravel()))


def _labels(classes: Any) -> list[str]:
    """Return the names of the classes as states of the network; numbers if two names would be equal."""
    texts = [str(value) for value in classes]
    usable = len(set(texts)) == len(texts) and all(text and text == text.strip() for text in texts)
    usable &= MISSING_STATE not in texts and OTHER_STATE not in texts
    return texts if usable else [str(at) for at in range(len(texts))]


def _target_name(y: Any, names: list[str]) -> str:
    """Return a name for the column of the class that no feature has."""
    name = getattr(y, "name", None)
    target = name if isinstance(name, str) and name.strip() else "target"
    while target in names:
        target += "_"
    return target


def _add_classes(table: Any, name: str, codes: Any, labels: list[str]) -> Any:
    """Return a frame with the column of the class. It has categories, because a class such as `NA` is no missing value."""
    if hasattr(table, "assign"):  # pandas
        from pandas import Categorical

        return table.assign(**{name: Categorical.from_codes(codes, labels)})
    import polars

    return table.with_columns(polars.Series(name, [labels[code] for code in codes], dtype=polars.Enum(labels)))
