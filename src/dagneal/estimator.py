"""An estimator in the style of scikit-learn, which is not needed for it."""

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
    """Learns the structure of a Bayesian network from a frame.

    Args:
        max_parents: the most parents of a variable; 4 by default.
        criterion: a score, or its name.
        solver: a solver such as `Exact()`, a dimod sampler, or a name such as `"sa"`; nothing for `Auto()`.
        seed: the same seed gives the same answer.
        knowledge: what is known before, also as a dict or the path of a TOML file.
        missing: what to do with missing values; see `read`.
        bins: how numbers are cut into states; see `read`.
        rare: below which share of the rows states are merged; see `read`.

    After `fit` it has `graph_`, a `networkx.DiGraph`, `network_` with probabilities, `result_` with all that is to be known,
    `feature_names_in_` and `n_features_in_`.

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
        """The parameters by name.

        Args:
            deep: makes no difference.
        """
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **parameters: Any) -> StructureLearner:
        """Change parameters.

        Args:
            **parameters: by name.
        """
        for name, value in parameters.items():
            if name not in self._names():
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(self._names())}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn wants to know before it searches over parameters; only it asks."""
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a network."""
        return hasattr(self, "network_")

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        given = {name: value for name, value in self.get_params().items() if value is not defaults[name].default}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def fit(self, X: Any, y: Any = None) -> StructureLearner:  # noqa: N803 - the name that scikit-learn uses
        """Learn from data.

        Args:
            X: a frame, an array of integers or a path.
            y: ignored.
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
        """The log-likelihood of a row, in the mean.

        Args:
            X: data with the same columns; numbers are cut, and rare states merged, as they were for `fit`.
            y: ignored.
        """
        if not hasattr(self, "network_"):
            raise InputError("fit the learner first")
        states = {name: list(its) for name, its in self.network_.states.items()}
        data = read(X, columns=self.feature_names_in_, missing=self.missing, states=states)  # type: ignore[arg-type]
        return log_likelihood(self.network_, data) / data.rows
