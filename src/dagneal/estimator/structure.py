"""The class `StructureLearner`: an estimator with the interface of scikit-learn, which need not be installed."""

from __future__ import annotations

import os
from typing import Any, Self

import networkx as nx
import numpy as np

from dagneal.base.defaults import RARE, SCORE, SEED
from dagneal.estimator.interface import Estimator
from dagneal.estimator.table_preparation import TablePreparation
from dagneal.inference.elimination import IndexedNetwork
from dagneal.inference.rows import log_likelihood_of_codes
from dagneal.learning import learn


class StructureLearner(Estimator):
    """A scikit-learn estimator that learns the structure of a Bayesian network.

    The rules of `prepare` choose cut points and states, and leave out columns such as row numbers. New rows are prepared in
    the same way.

    Args:
        max_parents: parent limit; the default depends on the solver (see `learn`).
        criterion: score to maximise, or its name such as `"bic"`; with `missing="em"` the default is BIC.
        solver: a solver such as `Exact()`, a dimod sampler, or a name such as `"sa"`; `Auto()` by default.
        seed: seed of all random choices; the same seed gives the same result.
        knowledge: background knowledge; see `learn`.
        missing: treatment of missing values; see `prepare`. By default, its rules decide for each column.
        bins: binning of numeric columns; see `prepare`. By default, its rules choose the cut points.
        rare: fraction of rows below which states are merged; 0 for the rules of `prepare`.

    Attributes after `fit`: `graph_` (a `networkx.DiGraph`), `network_` (with probabilities), `result_` (the complete
    `Learned`), `feature_names_in_` (for frames) and `n_features_in_`.

    >>> import polars
    >>> frame = polars.DataFrame({"rain": [0, 0, 1, 1] * 25, "wet": [0, 0, 1, 1] * 25, "day": [0, 1] * 50})
    >>> sorted(StructureLearner().fit(frame).graph_.edges)
    [('wet', 'rain')]
    """

    least_features = 2

    def __init__(
        self,
        max_parents: int | None = None,
        criterion: Any = SCORE,
        solver: Any = None,
        seed: int = SEED,
        knowledge: Any = None,
        missing: str = "auto",
        bins: Any = "auto",
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

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 - the name that scikit-learn uses
        """Learn a network from data.

        Args:
            X: a pandas or polars frame, an array, or the path of a file.
            y: ignored; part of the scikit-learn interface.
        """
        preparation = TablePreparation(self.missing, self.bins, self.rare)
        data = preparation.fit(self._check_table(X, reset=True))
        if isinstance(X, str | os.PathLike):
            columns = data.names if data.recipe is None else dict.fromkeys(each.column for each in data.recipe.columns)
            self.feature_names_in_ = np.array(list(columns), dtype=object)
            self.n_features_in_ = len(self.feature_names_in_)
        self.result_ = learn(
            data,
            self.solver,
            score=criterion_for(self.criterion, self.missing),
            max_parents=self.max_parents,
            seed=self.seed,
            knowledge=self.knowledge,
        )
        self.preparation_ = preparation
        self.graph_: nx.DiGraph = self.result_.dag
        self.network_ = self.result_.network
        return self

    def score(self, X: Any, y: Any = None) -> float:  # noqa: N803 - the name that scikit-learn uses
        """Return the average log-likelihood of a row of `X` under the learned network, in nats (natural-log units).

        Unknown values are summed out. Values that are not states of the network are unknown.

        Args:
            X: data with the same columns as in `fit`. Values are binned and states are merged as in `fit`.
            y: ignored; part of the scikit-learn interface.
        """
        self._check_fitted()
        table = self._check_table(X, reset=False)
        codes = self.preparation_.codes(self.network_, table)
        return float(log_likelihood_of_codes(IndexedNetwork(self.network_), codes).mean())


def criterion_for(criterion: Any, missing: Any) -> Any:
    """Return the score to maximise. With `missing="em"`, the default score of an estimator stands for that of `learn`.

    Args:
        criterion: parameter `criterion` of an estimator.
        missing: parameter `missing` of an estimator.
    """
    return None if isinstance(missing, str) and missing == "em" and criterion == SCORE else criterion
