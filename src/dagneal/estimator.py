"""The class `StructureLearner`: an estimator with the interface of scikit-learn, which need not be installed."""

from __future__ import annotations

import inspect
from typing import Any

import networkx as nx

from dagneal.base.defaults import MISSING, RARE, SCORE, SEED
from dagneal.base.errors import InputError
from dagneal.confidence.measures import log_likelihood
from dagneal.data.reading import read
from dagneal.learning import learn
from dagneal.scoring.scores import as_score


class StructureLearner:
    """A scikit-learn estimator that learns the structure of a Bayesian network.

    Args:
        max_parents: parent limit; the default depends on the solver (see `learn`).
        criterion: score to maximise, or its name such as `"bic"`.
        solver: a solver such as `Exact()`, a dimod sampler, or a name such as `"sa"`; `Auto()` by default.
        seed: seed of all random choices; the same seed gives the same result.
        knowledge: background knowledge; see `learn`.
        missing: treatment of missing values; see `read`.
        bins: binning of numeric columns; see `read`.
        rare: fraction of rows below which a state is rare; rare states are merged; see `read`.

    Attributes after `fit`: `graph_` (a `networkx.DiGraph`), `network_` (with probabilities), `result_` (the complete
    `Learned`), `feature_names_in_` and `n_features_in_`.

    >>> import polars
    >>> frame = polars.DataFrame({"rain": [0, 0, 1, 1] * 25, "wet": [0, 0, 1, 1] * 25, "day": [0, 1] * 50})
    >>> sorted(StructureLearner().fit(frame).graph_.edges)
    [('wet', 'rain')]
    """

    def __init__(
        self,
        max_parents: int | None = None,
        criterion: Any = SCORE,
        solver: Any = None,
        seed: int = SEED,
        knowledge: Any = None,
        missing: str = MISSING,
        bins: Any = None,
        rare: float = RARE,
    ) -> None:
        self.max_parents = max_parents
        self.criterion = criterion
        self.solver = solver
        self.seed = seed
        self.knowledge = knowledge
        self.missing = missing
        self.bins = bins
        self.rare = rare

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the estimator by name.

        Args:
            deep: ignored; part of the scikit-learn interface.
        """
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **parameters: Any) -> StructureLearner:
        """Change parameters of the estimator.

        Args:
            **parameters: new values of parameters by name.
        """
        for name, value in parameters.items():
            if name not in self._names():
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(self._names())}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """Return the estimator tags that scikit-learn requires, for example in a grid search."""
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether `fit` was called."""
        return hasattr(self, "network_")

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        given = {name: value for name, value in self.get_params().items() if value is not defaults[name].default}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def fit(self, X: Any, y: Any = None) -> StructureLearner:  # noqa: N803 - the name that scikit-learn uses
        """Learn a network from data.

        Args:
            X: a pandas or polars frame, an array of integers, or the path of a file.
            y: ignored; part of the scikit-learn interface.
        """
        data = read(X, missing=self.missing, bins=self.bins, rare=self.rare)  # type: ignore[arg-type]
        score = as_score(self.criterion)
        self.result_ = learn(
            data, self.solver, score=score, max_parents=self.max_parents, seed=self.seed, knowledge=self.knowledge
        )
        self.graph_: nx.DiGraph = self.result_.dag
        self.network_ = self.result_.network
        self.feature_names_in_ = list(data.names)
        self.n_features_in_ = len(data.names)
        return self

    def score(self, X: Any, y: Any = None) -> float:  # noqa: N803 - the name that scikit-learn uses
        """Return the average log-likelihood of a row of `X` under the learned network, in nats (natural-log units).

        Args:
            X: data with the same columns as in `fit`. Values are binned and states are merged as in `fit`.
            y: ignored; part of the scikit-learn interface.
        """
        if not hasattr(self, "network_"):
            raise InputError("the learner is not fitted; call fit first")
        states = {name: list(labels) for name, labels in self.network_.states.items()}
        data = read(X, columns=self.feature_names_in_, missing=self.missing, states=states)  # type: ignore[arg-type]
        return log_likelihood(self.network_, data) / data.rows
