"""Dataset: a table of discrete data with equal rows merged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError, check_text

if TYPE_CHECKING:
    import polars

    from dagneal.base.kernels import Codes, Ints
    from dagneal.data.packing import PackedRows

MOST_STATES = 65_535
MISSING_STATE = "(missing)"  # where missing values are a state of their own
OTHER_STATE = "(other)"  # where rare states were merged
TRUTH = {"true": "True", "false": "False"}  # how truth values are spelled, whatever the source writes
SPACES = "".join(filter(str.isspace, map(chr, range(0x3001))))  # what `str.strip` removes; polars' own set is smaller
DENSE = 1 << 22  # below this many state combinations a plain histogram beats sorting


@dataclass(frozen=True, eq=False)
class Dataset:
    """Discrete data as codes: one line per column, one weight per distinct row.

    Attributes:
        names: the columns.
        states: for each column all its states, also those that no row shows.
        codes: array of shape (columns, distinct rows); `codes[i, r]` is a position in `states[i]`. Rows that do not merge
            may be packed, which are read line by line like an array.
        weights: how often each distinct row occurs; rows of weight 0 are removed.
        prepared: what was done to the data while they were read, in words.

    >>> import numpy as np
    >>> data = Dataset.from_codes(["a", "b"], [["no", "yes"], ["0", "1", "2"]], np.array([[0, 0, 1], [2, 2, 0]]))
    >>> data
    Dataset(2 columns, 3 rows, 2 distinct)
    >>> data.weights
    array([2, 1])
    """

    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    codes: Codes | PackedRows
    weights: Ints
    prepared: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.names) < 2:
            raise InputError(f"at least 2 columns are needed to learn a network; there is {len(self.names)}")
        seen: set[str] = set()
        for position, name in enumerate(self.names):
            if not name.strip():
                raise InputError(f"column {position + 1} has an empty name; name it")
            if name in seen:
                raise InputError(f"two columns are named {name!r}; rename one")
            seen.add(name)
        for name, states in zip(self.names, self.states, strict=True):
            check_text(name, "a column")
            for state in states:
                check_text(state, f"a state of column {name!r}")
            if len(states) > MOST_STATES:
                raise InputError(
                    f"column {name!r} has {len(states):,} states; at most {MOST_STATES:,} are possible: "
                    "group them, or leave the column out"
                )
            if len(set(states)) < len(states):
                raise InputError(f"two states of column {name!r} have the same name; rename one")
        if not len(self.weights):
            raise InputError("the data have no rows")
        if self.codes.shape != (len(self.names), len(self.weights)):
            raise InputError(
                f"the codes have the shape {self.codes.shape}; {len(self.names)} columns and {len(self.weights)} weights "
                f"need {(len(self.names), len(self.weights))}"
            )
        lightest = self.weights.min()
        if lightest < 0:
            raise InputError("a weight is negative; weights say how often a row counts")
        check_total(float(self.weights.sum(dtype=np.float64)))
        if isinstance(self.codes, np.ndarray):  # packed ones were coded by us
            _check_codes(self.names, self.states, self.codes)
        if lightest == 0:
            self._remove_rows_of_weight_zero()

    def _remove_rows_of_weight_zero(self) -> None:
        """Drop rows that do not count, so that nothing else has to look at the weights to know which rows exist."""
        counted = np.flatnonzero(self.weights)
        if not len(counted):
            raise InputError("the data have no rows: all weights are 0")
        object.__setattr__(self, "codes", np.ascontiguousarray(np.asarray(self.codes)[:, counted]))
        object.__setattr__(self, "weights", self.weights[counted])

    @classmethod
    def from_codes(
        cls,
        names: Sequence[str],
        states: Sequence[Sequence[str]],
        codes: NDArray[Any],
        weights: NDArray[Any] | None = None,
    ) -> Dataset:
        """Make a dataset from one code per cell, merging equal rows.

        Args:
            names: the columns.
            states: the states of each column.
            codes: array of shape (columns, rows).
            weights: how often each row counts; once by default.
        """
        if weights is not None:
            weights = _check_weights(np.asarray(weights), codes.shape[1])
        _check_codes(names, states, codes)
        arities = [max(len(s), 1) for s in states]
        distinct, counts = merge_rows(codes, arities, weights)
        smallest = np.uint8 if max(arities, default=1) <= 256 else np.uint16
        packed = np.ascontiguousarray(distinct.astype(smallest))
        return cls(tuple(names), tuple(map(tuple, states)), packed, counts)

    def __repr__(self) -> str:
        return f"Dataset({len(self.names)} columns, {self.rows:,} rows, {self.different})"

    @property
    def different(self) -> str:
        """How many rows differ, in words."""
        return f"{self.codes.shape[1]:,} distinct" if isinstance(self.codes, np.ndarray) else "not merged"

    @cached_property
    def rows(self) -> int:
        """The number of rows, equal ones counted each."""
        return int(self.weights.sum())

    @cached_property
    def arities(self) -> Ints:
        """The number of states of each column, r_i."""
        return np.array([len(s) for s in self.states], dtype=np.int64)

    @cached_property
    def fingerprint(self) -> str:
        """What tells these data from others: letters that depend on every name, state, code and weight."""
        from hashlib import blake2b

        state = blake2b(json.dumps([self.names, self.states]).encode(), digest_size=16)
        for line in self.codes:
            state.update(np.ascontiguousarray(line).tobytes())
        state.update(b"1" if self.weights.strides == (0,) else np.ascontiguousarray(self.weights).tobytes())
        return state.hexdigest()

    @property
    def constant(self) -> tuple[str, ...]:
        """The columns in which every row has the same state."""
        codes = self.codes
        if isinstance(codes, np.ndarray):
            return tuple(n for n, line in zip(self.names, codes, strict=True) if (line == line[0]).all())
        return tuple(name for column, name in enumerate(self.names) if codes.constant(column))

    def with_equal_arities(self) -> Dataset:
        """The data with as many states for every column as the one with most has.

        The paper's published runs counted states in this way, which makes priors with r_i or q_i weaker.
        """
        most = max(map(len, self.states))
        states = tuple((*s, *(f"unused {i}" for i in range(1, most - len(s) + 1))) for s in self.states)
        return replace(self, states=states)

    def frame(self, weights: str | None = None) -> polars.DataFrame:
        """The data as a polars frame of state names.

        Args:
            weights: name of a column for the weights, with one line per distinct row; without it rows are repeated.
        """
        if weights in self.names:
            raise InputError(f"the data have a column {weights!r} already; name the weights differently")
        codes = np.asarray(self.codes) if weights else np.repeat(np.asarray(self.codes), self.weights, axis=1)
        table = decode_frame(self.names, self.states, codes)
        if weights:
            import polars

            return table.with_columns(polars.Series(weights, self.weights))
        return table


def spell_truth(states: Sequence[str]) -> tuple[str, ...]:
    """Return truth values in one spelling, `True` and `False`; other states as they are.

    Args:
        states: of a column.

    >>> spell_truth(["FALSE", "true"]), spell_truth(["TRUE", "unknown"])
    (('False', 'True'), ('TRUE', 'unknown'))
    """
    spelled = [TRUTH.get(state.lower()) for state in states]
    return tuple(states) if None in spelled else tuple(map(str, spelled))


def decode_frame(names: Sequence[str], states: Sequence[Sequence[str]], codes: NDArray[Any]) -> polars.DataFrame:
    """Codes of shape (columns, rows) as a polars frame, each column an Enum with its states in order."""
    import polars

    return polars.DataFrame(
        [
            polars.Series(name, labels, dtype=polars.Enum(labels)).gather(line.astype(np.uint32))
            for name, labels, line in zip(names, states, codes, strict=True)
        ]
    )


def check_total(weight: float) -> None:
    """Refuse more rows than can be counted exactly in floating point."""
    if weight > 2.0**53:
        raise InputError(f"the weights add up to {weight:.3g} rows; at most 2^53, about 9e15, can be counted")


def _check_weights(weights: NDArray[Any], rows: int) -> Ints:
    """Return weights as integers; refuse negative and fractional ones, and another number of them than there are rows."""
    if weights.shape != (rows,):
        raise InputError(f"{weights.size:,} weights are given for {rows:,} rows; give one for each row")
    if weights.dtype.kind not in "iub" and not (weights.dtype.kind == "f" and (weights == np.floor(weights)).all()):
        raise InputError("a weight is not a whole number; weights say how often a row counts")
    if rows and weights.min() < 0:
        raise InputError("a weight is negative; weights say how often a row counts")
    check_total(float(weights.sum(dtype=np.float64)))
    if rows and not weights.any():
        raise InputError("the data have no rows: all weights are 0")
    return weights.astype(np.int64)


def _check_codes(names: Sequence[str], states: Sequence[Sequence[str]], codes: NDArray[Any]) -> None:
    """Kernels do not check bounds; this does."""
    if not len(names) == len(states) == len(codes):
        raise InputError(f"{len(names)} names, the states of {len(states)} columns and codes of {len(codes)} are given")
    if codes.size:
        arities = np.array([len(labels) for labels in states])
        outside = (codes.min(axis=1) < 0) | (codes.max(axis=1) >= arities)
        if outside.any():
            column = int(np.argmax(outside))
            raise InputError(f"column {names[column]!r} has a code that is none of its {len(states[column])} states")


def digits(numbers: Ints, radices: Sequence[int]) -> Ints:
    """Numbers in a mixed radix, a line for each place; `numpy.unravel_index` has at most 64 places.

    Args:
        numbers: not negative.
        radices: of the places, the first counting most.

    >>> digits(np.array([0, 5, 11]), [4, 3]).tolist()
    [[0, 1, 3], [0, 2, 2]]
    """
    found = np.empty((len(radices), len(numbers)), dtype=np.int64)
    for place in range(len(radices) - 1, -1, -1):
        numbers, found[place] = np.divmod(numbers, radices[place])
    return found


def merge_rows(
    codes: NDArray[Any], arities: Sequence[int], weights: NDArray[Any] | None = None
) -> tuple[NDArray[Any], Ints]:
    """Merge equal columns of `codes` (that is, equal rows of the data), add up their weights, drop those without any.

    A row becomes one number in a mixed radix; where that number would overflow, the prefix is replaced by its rank
    among the prefixes that occur. The result is sorted.
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
    """The weight of each number below `span` in `key`."""
    if weights is None:
        return np.bincount(key, minlength=span)
    counts = np.zeros(span, dtype=np.int64)  # not bincount(weights=...): that adds in floating point
    np.add.at(counts, key, weights)
    return counts
