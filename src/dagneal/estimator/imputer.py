"""The class `BayesianNetworkImputer`: it fills missing values with the help of a Bayesian network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dagneal.base.defaults import RARE, SCORE, SEED
from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats
from dagneal.estimator.interface import Estimator, is_frame
from dagneal.estimator.structure import criterion_for
from dagneal.estimator.table_preparation import TablePreparation, is_number_column
from dagneal.inference.elimination import UNKNOWN
from dagneal.inference.models import find_members
from dagneal.inference.rows import posterior_of_rows
from dagneal.learning import learn
from dagneal.networks.network import BayesianNetwork
from dagneal.runtime.run import Run
from dagneal.strategies.auto import Auto
from dagneal.strategies.names import as_solver
from dagneal.strategies.solve import without_proof


class BayesianNetworkImputer(Estimator):
    """A scikit-learn transformer that fills missing values. It needs scikit-learn for arrays.

    `fit` learns a network by structural EM, so rows with missing values count. `transform` fills each missing value from the
    known values of its row: with the most probable state, or, for a column of numbers that was cut into intervals, with the
    expected number. The expected number is the mean of the numbers of `fit` in each interval, weighted by the probabilities
    of the intervals. Known values do not change. A column of numbers that the rules of `prepare` leave out gets its mean,
    and another column that they leave out gets its most frequent value, if most rows have it; free text stays as it is.

    Args:
        max_parents: parent limit; the default depends on the solver (see `learn`).
        criterion: score to maximise: BIC by default, or `"aic"`. Other scores need `missing="drop"`.
        solver: a solver such as `Exact()`, or its name; by default `Auto()` without proofs.
        seed: seed of all random choices; the same seed gives the same result.
        knowledge: background knowledge; see `learn`.
        missing: `"em"`, or `"drop"` to learn from complete rows only.
        bins: binning of numeric columns; see `prepare`. By default, its rules choose the cut points.
        rare: fraction of rows below which states are merged; 0 for the rules of `prepare`.

    Attributes after `fit`: `network_`, `result_` (the complete `Learned`), `feature_names_in_` (for frames) and
    `n_features_in_`.

    >>> import numpy as np
    >>> rows = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 1.0]] * 20)
    >>> rows[0, 1] = np.nan
    >>> BayesianNetworkImputer().fit_transform(rows)[0].tolist()
    [0.0, 0.0]
    """

    least_features = 2

    def __init__(
        self,
        max_parents: int | None = None,
        criterion: Any = SCORE,
        solver: Any = None,
        seed: int = SEED,
        knowledge: Any = None,
        missing: str = "em",
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

    def __sklearn_tags__(self) -> Any:
        """Return the estimator tags that scikit-learn requires."""
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags(preserves_dtype=["float64", "float32"])
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 - the name that scikit-learn uses
        """Learn a network from rows with missing values.

        Args:
            X: a pandas or polars frame, or an array.
            y: ignored; part of the scikit-learn interface.
        """
        if self.missing not in ("em", "drop"):
            raise InputError(f"missing is {self.missing!r}; give 'em' or 'drop', because unknown values are to be filled")
        table = self._check_table(X, reset=True)
        preparation = TablePreparation(self.missing, self.bins, self.rare)
        data = preparation.fit(table)
        self.result_ = learn(
            data,
            without_proof(Auto() if self.solver is None else as_solver(self.solver)),
            score=criterion_for(self.criterion, self.missing),
            max_parents=self.max_parents,
            knowledge=self.knowledge,
            run=Run(self.seed),
        )
        self.network_ = self.result_.network
        self.preparation_ = preparation
        codes = preparation.codes(self.network_, table)
        self.values_ = {}
        variables = _variables(self.network_)
        for name in table.columns:
            if name in variables:
                at = self.network_.names.index(name)
                self.values_[name] = _state_values(table[name], codes[at], len(self.network_.states[name]))
            elif _has_typical_value(table[name]):
                self.values_[name] = _state_values(table[name], np.zeros(len(table), dtype=np.int32), 1)
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803 - the name that scikit-learn uses
        """Return a table of the same kind, with all missing values filled.

        Args:
            X: a pandas or polars frame, or an array, with the columns of `fit`.
        """
        self._check_fitted()
        table = self._check_table(X, reset=False)
        codes = self.preparation_.codes(self.network_, table)
        filled = {}
        variables = _variables(self.network_)
        for name, values in self.values_.items():
            gaps = _gaps(table[name])
            if not gaps.any():
                continue
            posterior = np.ones((int(gaps.sum()), 1))
            if name in variables:
                at = self.network_.names.index(name)
                posterior = posterior_of_rows(find_members(self.network_), codes[:, gaps], at)
            filled[name] = gaps, values.choose(posterior)
        return _fill(X, table, filled)

    def fit_transform(self, X: Any, y: Any = None) -> Any:  # noqa: N803 - the name that scikit-learn uses
        """Learn a network and return the table with all missing values filled.

        Args:
            X: a pandas or polars frame, or an array.
            y: ignored; part of the scikit-learn interface.
        """
        return self.fit(X).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns of `transform`, which are those of `fit`.

        Args:
            input_features: names of the columns, if `fit` got an array; otherwise the names of `fit`.
        """
        self._check_fitted()
        names = getattr(self, "feature_names_in_", None)
        if input_features is None:
            return np.array(self.network_.names if names is None else names, dtype=object)
        given = np.asarray(input_features, dtype=object)
        if names is not None and list(given) != list(names):
            raise ValueError("input_features is not equal to feature_names_in_")
        if len(given) != self.n_features_in_:
            raise ValueError(f"input_features should have length equal to number of features ({self.n_features_in_})")
        return given


@dataclass(frozen=True)
class StateValues:
    """The values that stand for the states of a column.

    Attributes:
        values: for each state, a value, or the mean of its numbers; None or NaN for a state without values in `fit`.
        averages: whether the states are intervals of numbers.
    """

    values: Any
    averages: bool

    def choose(self, posterior: Floats) -> Any:
        """Return a value for each row: the expected number, or the value of the most probable state.

        Args:
            posterior: probability of each state, with one row for each row of the data.
        """
        if not self.averages:
            return self.values[posterior.argmax(axis=1)]
        known = ~np.isnan(self.values)
        return posterior[:, known] @ self.values[known] / posterior[:, known].sum(axis=1)


def _state_values(column: Any, codes: Any, states: int) -> StateValues:
    """Return the values that stand for the states of a column of `fit`."""
    known = (codes != UNKNOWN) & ~_gaps(column)
    if is_number_column(column):
        numbers = _numbers(column)
        counts = np.bincount(codes[known], minlength=states)
        means = np.where(counts > 0, np.bincount(codes[known], numbers[known], states) / np.maximum(counts, 1), np.nan)
        return StateValues(means, not np.allclose(means[codes[known]], numbers[known], rtol=1e-12, atol=0.0))
    values = np.empty(states, dtype=object)
    given = np.array([*column.to_list(), None], dtype=object)[:-1]
    for code in np.unique(codes[known]).tolist():
        values[code] = Counter(given[known & (codes == code)].tolist()).most_common(1)[0][0]
    return StateValues(values, False)


def _has_typical_value(column: Any) -> bool:
    """Return whether a column has numbers, or a value that most of its known values are equal to."""
    known = [value for value, gap in zip(column.to_list(), _gaps(column), strict=True) if not gap]
    return bool(known) and (is_number_column(column) or Counter(known).most_common(1)[0][1] > len(known) / 2)


def _variables(network: BayesianNetwork) -> set[str]:
    """Return the columns that are variables as a whole. A date is none, because parts of it are the variables."""
    parts = ("year", "month", "weekday")
    recipe = () if network.recipe is None else network.recipe.variables
    return set(network.names) - {each.name for each in recipe if each.action in parts}


def _numbers(column: Any) -> Any:
    """Return a column of numbers as an array with NaN for missing values."""
    if hasattr(column, "fill_nan"):  # polars
        import polars

        return column.cast(polars.Float64).to_numpy()
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _gaps(column: Any) -> Any:
    """Return which values of a column are missing."""
    if hasattr(column, "fill_null"):  # polars
        gaps = column.is_null()
        return (gaps | column.is_nan().fill_null(False) if column.dtype.is_float() else gaps).to_numpy()
    return column.isna().to_numpy()


def _fill(original: Any, table: Any, filled: Mapping[str, tuple[Any, Any]]) -> Any:
    """Return a table of the same kind as `original`, with filled gaps."""
    places = {name: at for at, name in enumerate(table.columns)}
    if not is_frame(original):
        array = np.array(original)
        for name, (gaps, values) in filled.items():
            array[gaps, places[name]] = values
        return array
    if hasattr(original, "assign"):  # pandas
        result = original.copy()
        for name, (gaps, values) in filled.items():
            column = result.iloc[:, places[name]].copy()
            if getattr(column.dtype, "kind", "O") in "iu":
                whole = bool((values == np.rint(values)).all())
                column = column if whole else column.astype("Float64")
                values = values.astype(np.int64) if whole else values
            column[gaps] = values
            result.isetitem(places[name], column)
        return result
    import polars

    columns = []
    for name, (gaps, values) in filled.items():
        column, given = table[name], np.full(len(gaps), None, dtype=object)
        given[gaps] = values.tolist()
        fractions = values.dtype.kind == "f" and not (values == np.rint(values)).all()
        kind = polars.Float64 if fractions and not column.dtype.is_float() else column.dtype
        number = column.fill_nan(None) if column.dtype.is_float() else column
        source = polars.Series(
            name, given.tolist(), dtype=polars.Float64 if values.dtype.kind == "f" else None, strict=False
        )
        columns.append(number.cast(kind).fill_null(source.cast(kind)))
    return table.with_columns(columns)
