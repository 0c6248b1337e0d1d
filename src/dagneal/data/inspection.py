"""Warnings about columns: states with few rows, columns that duplicate each other, columns that determine others."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np

from dagneal.base.defaults import FEW_ROWS
from dagneal.base.kernels import Codes, Ints
from dagneal.base.text import fit_text, plural
from dagneal.data.cautions import Caution
from dagneal.data.dataset import Dataset
from dagneal.data.packing import CHUNK

RARE_STATES = "states with few rows"
DUPLICATES = "duplicate columns"
DETERMINED = "determined columns"
_SAMPLE = 4096  # rows that are compared first
_FIRST = 64  # rows of the sample that are compared before the others
_ROUNDING = 1e-9  # largest rounding error of a sum of squared fractions
_BLOCK = 256  # consecutive rows of the sample, if rows are packed; a multiple of 64
_CHANCE = log(1e6)  # a column is not said to determine another if chance explains it with a probability above 1e-6
_NAMES = 4  # names in a warning; `Caution.columns` has all
_LONGEST = 40  # longest name in a warning, in columns


def inspect_columns(data: Dataset) -> list[Caution]:
    """Return warnings about columns of a dataset.

    Args:
        data: dataset to inspect.

    >>> a = np.arange(60) % 3
    >>> data = Dataset.from_codes(["a", "copy", "b"], [["0", "1", "2"]] * 2 + [["x", "y"]], np.array([a, a, a > 0]))
    >>> [(caution.kind, caution.columns) for caution in inspect_columns(data)]
    [('duplicate columns', ('a', 'copy')), ('determined columns', ('a', 'b'))]
    """
    counts = [_count_states(data, column) for column in range(len(data.names))]
    groups, determined = _dependencies(data, counts)
    names = data.names
    cautions = _describe_rare_states(names, counts)
    for group in groups:
        columns = tuple(names[column] for column in group)
        text = (
            f"Columns {_list(columns)} carry the same information: each determines the other{'s' * (len(group) > 2)}. Which "
            "of them gets an edge to a third column is arbitrary: keep one, and drop the other"
            f"{'s' * (len(group) > 2)} (option drop)."
        )
        cautions.append(Caution(DUPLICATES, columns, text))
    for column, others in determined.items():
        columns = tuple(names[other] for other in others)
        text = (
            f"Column {_quote(names[column])} determines {_list(columns)}. Such a link is a definition, not a finding, and "
            "it can hide other links: keep only one level of detail (option drop)."
        )
        cautions.append(Caution(DETERMINED, (names[column], *columns), text))
    return cautions


def _describe_rare_states(names: Sequence[str], counts: Sequence[Ints]) -> list[Caution]:
    """Return a warning if states occur in few rows. Declared states that do not occur are no reason for a warning."""
    rare = {}
    for name, count in zip(names, counts, strict=True):
        if few := int(((count > 0) & (count < FEW_ROWS)).sum()):
            rare[name] = few, int((count > 0).sum())
    if not rare:
        return []
    worst = sorted(rare, key=lambda name: -rare[name][0])
    listed = ", ".join(f"{_quote(name)} ({rare[name][0]} of {rare[name][1]} states)" for name in worst[:_NAMES])
    more = f" and {len(worst) - _NAMES:,} more" if len(worst) > _NAMES else ""
    text = (
        f"{plural(len(worst), 'column')} {'has' if len(worst) == 1 else 'have'} states in fewer than {FEW_ROWS} rows: "
        f"{listed}{more}. So few rows say little about a state: merge rare states (option rare)."
    )
    return [Caution(RARE_STATES, tuple(worst), text)]


def _count_states(data: Dataset, column: int) -> Ints:
    """Return the number of rows with each state of a column."""
    line = data.codes[column]
    if data.distinct_rows is None:  # rows were not merged, so all weights are 1
        return np.bincount(line, minlength=len(data.states[column]))
    counts = np.bincount(line, data.weights, len(data.states[column]))  # exact: weights add up to at most 2^53
    return np.asarray(counts, dtype=np.int64)


def _dependencies(data: Dataset, counts: Sequence[Ints]) -> tuple[list[list[int]], dict[int, list[int]]]:
    """Return two values: groups of columns that determine each other, and the columns that other columns determine.

    A column determines another if all rows with the same state of the first have the same state of the second. Columns with
    one state are left out.
    """
    screen = _Screen(data, counts)
    states = screen.states
    groups: dict[int, list[int]] = {}  # columns that determine each other, by the first of them that was inspected
    below: dict[int, set[int]] = {}  # columns that such a first column determines, one for each group
    for column in np.argsort(states, kind="stable").tolist():  # a column determines only columns without more states
        found: set[int] = set()
        for other in sorted(screen.candidates(column), key=lambda other: -states[other]):
            if other in found or not _determines(data, column, other):
                continue
            if states[other] == states[column]:  # one state each: the columns determine each other
                groups[other].append(column)
                break
            found |= {other} | below[other]
        else:
            groups[column], below[column] = [column], found
            screen.add(column)
    duplicates = sorted(sorted(group) for group in groups.values() if len(group) > 1)
    first = {column: min(group) for column, group in groups.items()}
    determined = {first[column]: sorted(first[other] for other in found) for column, found in below.items() if found}
    return duplicates, dict(sorted(determined.items()))


class _Screen:
    """Finds the few columns that a column can determine, by counts of states and by a sample of the rows.

    Attributes:
        states: number of states of each column that occur.
    """

    def __init__(self, data: Dataset, counts: Sequence[Ints]) -> None:
        self.states: Ints = np.array([np.count_nonzero(count) for count in counts])
        shares = [count[count > 0] / data.rows for count in counts]
        self._collisions = np.array([float(share @ share) for share in shares])  # P(two rows have the same state)
        self._rows = data.rows
        self._sample = _sample(data)
        self._included = np.zeros(len(counts), dtype=bool)

    def add(self, column: int) -> None:
        """Include a column in later answers of `candidates`. Columns with one state are never included."""
        self._included[column] = self.states[column] > 1

    def candidates(self, column: int) -> list[int]:
        """Return the included columns that a column can determine."""
        own, same = self._collisions[column], self.states == self.states[column]
        # A column that is determined has merged states, so collisions are at least as frequent.
        close = np.where(same, np.abs(self._collisions - own) < _ROUNDING, self._collisions > own)
        # Only rows that repeat a state of the column can contradict. In independent columns each agrees by chance.
        repeats = self._rows - self.states[column]
        others = np.flatnonzero(self._included & close & (-repeats * np.log(self._collisions) > _CHANCE))
        width = self._sample.shape[1]
        for step in (max(width // _FIRST, 1), 1):
            if len(others):
                _, first, place = np.unique(self._sample[column, ::step], return_index=True, return_inverse=True)
                lines = self._sample[others, ::step]
                others = others[(lines == lines[:, first[place]]).all(axis=1)]
        found: list[int] = others.tolist()
        return found


def _sample(data: Dataset) -> Codes:
    """Return the codes of some rows, as an array of shape (columns, rows). Distinct rows are sorted, so rows are spread."""
    codes = data.codes
    total = codes.shape[1]
    if isinstance(codes, np.ndarray):
        return np.ascontiguousarray(codes[:, :: max(total // _SAMPLE, 1)])
    begins = np.unique(np.linspace(0, total - 1, _SAMPLE // _BLOCK).astype(np.int64) // 64 * 64)
    columns = range(codes.shape[0])
    lines = [
        np.concatenate([codes.line(column, int(begin), int(min(begin + _BLOCK, total))) for begin in begins])
        for column in columns
    ]
    return np.array(lines)


def _determines(data: Dataset, column: int, other: int) -> bool:
    """Return whether a column determines another column in all rows."""
    codes = data.codes
    rows, state = codes.shape[1], np.full(len(data.states[column]), -1, dtype=np.int64)
    for begin in range(0, rows, CHUNK):
        end = min(begin + CHUNK, rows)
        if isinstance(codes, np.ndarray):
            line, target = codes[column, begin:end], codes[other, begin:end]
        else:
            line, target = codes.line(column, begin, end), codes.line(other, begin, end)
        unseen = state[line] < 0
        state[line[unseen]] = target[unseen]
        if (state[line] != target).any():
            return False
    return True


def _quote(name: str) -> str:
    return repr(fit_text(name, _LONGEST))


def _list(names: Sequence[str]) -> str:
    """Return names as text. Only the first names are listed."""
    listed = [_quote(name) for name in names[:_NAMES]]
    if len(names) > _NAMES:
        return f"{', '.join(listed)} and {len(names) - _NAMES:,} more"
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
