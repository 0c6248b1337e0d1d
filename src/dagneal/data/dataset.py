"""The class `Dataset`, which holds a table of discrete data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError, check_text
from dagneal.base.text import plural

if TYPE_CHECKING:
    import polars

    from dagneal.base.kernels import Codes, Ints
    from dagneal.data.packing import PackedRows
    from dagneal.data.recipe import Preparation, Recipe

MAX_STATES = 65_535
MISSING_STATE = "(missing)"  # the state of missing values
OTHER_STATE = "(other)"  # the state of merged rare values
BOOLEANS = {"true": "True", "false": "False"}  # the spelling of booleans from all sources
SPACES = "".join(
    filter(str.isspace, map(chr, range(0x3001)))
)  # removed by `str.strip`; polars removes fewer characters by default
DENSE = 1 << 22  # up to this many combinations of states, a histogram is faster than sorting


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table of discrete data, stored as integer codes with one weight per distinct row.

    Attributes:
        names: column names.
        states: all states of each column, including states that do not occur.
        codes: array of shape (columns, distinct rows). In the distinct row `r`, the column `i` has the state
            `states[i][codes[i, r]]`. If equal rows were not merged, `codes` is a `PackedRows` object with all rows.
        weights: number of times each distinct row occurs; rows of weight 0 are removed.
        prepared: notes about changes made while reading, such as binned columns and dropped rows.
        preparation: what automatic preparation did with the raw columns; None if the table was read as it is.
        incomplete: whether the state `(missing)` stands for an unknown value, as with `read(missing="em")`. Only `learn` and
            questions to networks, such as `predict`, accept such data.

    >>> import numpy as np
    >>> data = Dataset.from_codes(["a", "b"], [["no", "yes"], ["0", "1", "2"]], np.array([[0, 0, 1], [2, 2, 0]]))
    >>> data
    Dataset(2 columns, 3 rows (2 distinct))
    >>> data.weights
    array([2, 1])
    """

    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    codes: Codes | PackedRows
    weights: Ints
    prepared: tuple[str, ...] = ()
    preparation: Preparation | None = None
    incomplete: bool = False

    @property
    def recipe(self) -> Recipe | None:
        """The recipe that prepared the raw table; None if the table was read as it is."""
        return None if self.preparation is None else self.preparation.recipe

    def __post_init__(self) -> None:
        if len(self.names) < 2:
            raise InputError(f"a network needs at least 2 columns; this table has {len(self.names)}")
        seen: set[str] = set()
        for position, name in enumerate(self.names):
            if not name.strip():
                raise InputError(f"column {position + 1} has no name; name it")
            if name in seen:
                raise InputError(f"two columns are named {name!r}; rename one")
            seen.add(name)
        for name, states in zip(self.names, self.states, strict=True):
            check_text(name, "a column")
            for state in states:
                check_text(state, f"a state of column {name!r}")
            if len(states) > MAX_STATES:
                raise InputError(
                    f"column {name!r} has {len(states):,} states (limit: {MAX_STATES:,}); merge states, or drop the column"
                )
            if len(set(states)) < len(states):
                raise InputError(f"two states of column {name!r} have the same name; rename one")
        if not len(self.weights):
            raise InputError("the data have no rows")
        if self.codes.shape != (len(self.names), len(self.weights)):
            raise InputError(
                f"codes has shape {self.codes.shape}; {len(self.names)} names and {len(self.weights)} weights need shape "
                f"{(len(self.names), len(self.weights))}"
            )
        smallest = self.weights.min()
        if smallest < 0:
            raise InputError("a weight is negative; weights must be whole numbers of at least 0")
        check_total(float(self.weights.sum(dtype=np.float64)))
        if isinstance(self.codes, np.ndarray):  # packed rows were checked when they were read
            _check_codes(self.names, self.states, self.codes)
        if smallest == 0:
            self._remove_rows_of_weight_zero()

    def _remove_rows_of_weight_zero(self) -> None:
        """Remove rows of weight 0, so that other code need not check for them."""
        positive = np.flatnonzero(self.weights)
        if not len(positive):
            raise InputError("the data have no rows: all weights are 0")
        object.__setattr__(self, "codes", np.ascontiguousarray(np.asarray(self.codes)[:, positive]))
        object.__setattr__(self, "weights", self.weights[positive])

    @classmethod
    def from_codes(
        cls,
        names: Sequence[str],
        states: Sequence[Sequence[str]],
        codes: NDArray[Any],
        weights: NDArray[Any] | None = None,
    ) -> Dataset:
        """Return a dataset with equal rows merged.

        Args:
            names: column names.
            states: all states of each column.
            codes: array of shape (columns, rows); `codes[i, r]` is the index of a state in `states[i]`.
            weights: number of times each row counts; 1 by default.
        """
        if weights is not None:
            weights = _check_weights(np.asarray(weights), codes.shape[1])
        _check_codes(names, states, codes)
        arities = [max(len(s), 1) for s in states]
        distinct, counts = merge_rows(codes, arities, weights)
        smallest = np.uint8 if max(arities, default=1) <= 256 else np.uint16
        compact = np.ascontiguousarray(distinct.astype(smallest))
        return cls(tuple(names), tuple(map(tuple, states)), compact, counts)

    def __repr__(self) -> str:
        return f"Dataset({len(self.names)} columns, {self.describe_rows()}{', with gaps' * self.incomplete})"

    @property
    def distinct_rows(self) -> int | None:
        """The number of distinct rows; None if equal rows were not merged."""
        return self.codes.shape[1] if isinstance(self.codes, np.ndarray) else None

    def describe_rows(self) -> str:
        """Return the number of rows as text, such as `10,000 rows (28 distinct)`."""
        distinct = "not merged" if self.distinct_rows is None else f"{self.distinct_rows:,} distinct"
        return f"{plural(self.rows, 'row')} ({distinct})"

    @cached_property
    def rows(self) -> int:
        """The number of rows before equal rows are merged: the sum of the weights."""
        return int(self.weights.sum())

    @cached_property
    def arities(self) -> Ints:
        """The number of states of each column (r_i in the formulas of scores)."""
        return np.array([len(s) for s in self.states], dtype=np.int64)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the names, states, codes and weights. It identifies the data."""
        from hashlib import blake2b

        state = blake2b(json.dumps([self.names, self.states]).encode(), digest_size=16)
        for line in self.codes:
            state.update(np.ascontiguousarray(line).tobytes())
        state.update(b"1" if self.weights.strides == (0,) else np.ascontiguousarray(self.weights).tobytes())
        if self.incomplete:
            state.update(b"incomplete")
        return state.hexdigest()

    @property
    def constant(self) -> tuple[str, ...]:
        """The names of the columns with the same state in all rows."""
        codes = self.codes
        if isinstance(codes, np.ndarray):
            return tuple(n for n, line in zip(self.names, codes, strict=True) if (line == line[0]).all())
        return tuple(name for column, name in enumerate(self.names) if codes.constant(column))

    def with_equal_arities(self) -> Dataset:
        """Return the data with unused states added, so that all columns have the same number of states.

        The published results of the paper were computed with these states. Unused states weaken priors that depend on r_i
        (the number of states of a variable) or q_i (the number of combinations of parent states).
        """
        largest = max(map(len, self.states))
        states = tuple((*s, *(f"unused {i}" for i in range(1, largest - len(s) + 1))) for s in self.states)
        return replace(self, states=states)

    def frame(self, weights: str | None = None) -> polars.DataFrame:
        """Return the data as a polars frame of state names.

        Args:
            weights: name of a column to add for the weights. The frame then has one row per distinct row. By default, the
                column is not added, and each distinct row is repeated as often as it occurs.
        """
        if weights in self.names:
            raise InputError(f"the data already have a column {weights!r}; choose another name for the weights")
        codes = np.asarray(self.codes) if weights else np.repeat(np.asarray(self.codes), self.weights, axis=1)
        table = decode_frame(self.names, self.states, codes)
        if weights:
            import polars

            return table.with_columns(polars.Series(weights, self.weights))
        return table


def spell_booleans(states: Sequence[str]) -> tuple[str, ...]:
    """Spell booleans as `True` and `False`, if all states are booleans; otherwise return the states unchanged.

    Args:
        states: states of a column.

    >>> spell_booleans(["FALSE", "true"]), spell_booleans(["TRUE", "unknown"])
    (('False', 'True'), ('TRUE', 'unknown'))
    """
    booleans = [BOOLEANS.get(state.lower()) for state in states]
    return tuple(states) if None in booleans else tuple(map(str, booleans))


def decode_frame(names: Sequence[str], states: Sequence[Sequence[str]], codes: NDArray[Any]) -> polars.DataFrame:
    """Convert codes of shape (columns, rows) to a polars frame of state names. Each column has the polars type `Enum`."""
    import polars

    return polars.DataFrame(
        [
            polars.Series(name, labels, dtype=polars.Enum(labels)).gather(line.astype(np.uint32))
            for name, labels, line in zip(names, states, codes, strict=True)
        ]
    )


def check_total(weight: float) -> None:
    """Raise an error if the total weight of the rows is too large to be exact in floating point."""
    if weight > 2.0**53:
        raise InputError(f"the weights add up to {weight:.3g} rows; at most 2^53 (about 9e15) can be counted")


def _check_weights(weights: NDArray[Any], rows: int) -> Ints:
    """Return weights as integers. Raise an error for negative or fractional weights, and for a wrong number of weights."""
    if weights.shape != (rows,):
        raise InputError(f"{weights.size:,} weights are given for {rows:,} rows; give one weight per row")
    if weights.dtype.kind not in "iub" and not (weights.dtype.kind == "f" and (weights == np.floor(weights)).all()):
        raise InputError("a weight is not a whole number; weights must be whole numbers of at least 0")
    if rows and weights.min() < 0:
        raise InputError("a weight is negative; weights must be whole numbers of at least 0")
    check_total(float(weights.sum(dtype=np.float64)))
    if rows and not weights.any():
        raise InputError("the data have no rows: all weights are 0")
    return weights.astype(np.int64)


def _check_codes(names: Sequence[str], states: Sequence[Sequence[str]], codes: NDArray[Any]) -> None:
    """Raise an error if a code is not the index of a state. Compiled kernels do not check the codes again."""
    if not len(names) == len(states) == len(codes):
        raise InputError(
            f"names, states and codes are for {len(names)}, {len(states)} and {len(codes)} columns; "
            "these numbers must be equal"
        )
    if codes.size:
        arities = np.array([len(labels) for labels in states])
        outside = (codes.min(axis=1) < 0) | (codes.max(axis=1) >= arities)
        if outside.any():
            column = int(np.argmax(outside))
            raise InputError(
                f"column {names[column]!r} has a code that is not the index of one of its {len(states[column])} states"
            )


def digits(numbers: Ints, radices: Sequence[int]) -> Ints:
    """Return the mixed-radix digits of numbers, as an array of shape (digits, numbers).

    `numpy.unravel_index` does the same, but for at most 64 digits.

    Args:
        numbers: whole numbers of at least 0.
        radices: radix of each digit, from the most to the least significant digit.

    >>> digits(np.array([0, 5, 11]), [4, 3]).tolist()
    [[0, 1, 3], [0, 2, 2]]
    """
    result = np.empty((len(radices), len(numbers)), dtype=np.int64)
    for place in range(len(radices) - 1, -1, -1):
        numbers, result[place] = np.divmod(numbers, radices[place])
    return result


def merge_rows(
    codes: NDArray[Any], arities: Sequence[int], weights: NDArray[Any] | None = None
) -> tuple[NDArray[Any], Ints]:
    """Merge equal rows of a table. Return the tuple (codes of the distinct rows, total weights), without rows of weight 0.

    Codes have shape (columns, rows). Each row is encoded as a mixed-radix number, the key of the row. If the keys would
    become too large for an integer, they are replaced by their ranks. The distinct rows are sorted by key.
    """
    key = np.zeros(codes.shape[1], dtype=np.int64)
    span, plain = 1, True
    for line, arity in zip(codes, arities, strict=True):
        if span * arity >= 1 << 62:
            _, key = np.unique(key, return_inverse=True)
            span, plain = int(key.max(initial=0)) + 1, False
        key *= arity
        key += line
        span *= arity
    if plain and span <= DENSE:
        counts = totals(key, span, weights)
        present = np.flatnonzero(counts)
        return digits(present, arities), counts[present]
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    counts = totals(inverse, len(first), weights)
    present = np.flatnonzero(counts)
    return codes[:, first[present]], counts[present]


def totals(key: Ints, span: int, weights: NDArray[Any] | None = None) -> Ints:
    """Return the total weight of the rows with each key from 0 to `span - 1`. `key` holds the key of each row."""
    if weights is None:
        return np.bincount(key, minlength=span)
    counts = np.zeros(span, dtype=np.int64)  # `np.bincount(weights=...)` would add in floating point
    np.add.at(counts, key, weights)
    return counts
