"""Data-dependent cut points: numbers are cut where this keeps their dependence on other columns.

Each column of numbers starts as a grid of up to 12 intervals with about equally many rows. Neighbouring intervals are then
merged to 2 to 5 states. The states maximise a description length: the log-likelihood of the strongest partners of the column
given its states, minus the penalty of BIC for each partner, minus the logarithm of the number of possible choices of cuts.
A dynamic program finds the maximum. A second pass uses the states of the first pass as partners.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, inf, log
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagneal.data.discretize import shorten_cut

if TYPE_CHECKING:
    from dagneal.base.kernels import Floats, Ints

MOST_STATES = 5  # largest number of states of a column of numbers
ROWS_PER_STATE = 20  # a column gets at most one state per this many rows
INDEPENDENT_STATES = 3  # states of a column that depends on no other column, with many rows
MANY_ROWS = 500  # with fewer rows, such a column has two states
HEAVY = 0.2  # a number in at least this share of the rows is a state of its own
_NEAR = 0.01  # a cut point may move past this share of the rows to a number with fewer digits
_NEAR_SIDE = 0.1  # but past at most this share of the rows on either side of it
_GRID = 12  # largest number of intervals of the grid
_PARTNERS = 3  # number of partners that decide
_GROUPS = 6  # largest number of groups of a partner
_START = 3  # groups of a column of numbers in the first pass
_PASSES = 2
_DECIDING_ROWS = 50_000  # rows that decide, evenly spread over all rows
_PRODUCTS = 2e10  # multiplications that choose the partners; with many columns, fewer rows choose them
_LEAST_ROWS = 500
_BLOCK = 32  # columns whose partners are found together


@dataclass(frozen=True)
class Measured:
    """A column of numbers that is to be cut.

    Attributes:
        values: the number in each row; NaN for a missing value.
        whole: whether cut points should be whole numbers.
    """

    values: Floats
    whole: bool


@dataclass(frozen=True)
class _Grid:
    """A column of numbers on its grid.

    Attributes:
        numbers: distinct numbers, ascending.
        rows: number of rows with each number.
        after: indices of distinct numbers; the grid has a boundary after each of them.
        fixed: whether each boundary must stay, because it separates a heavy value.
        codes: for each deciding row, the index of its interval; -1 for a missing value.
        counts: number of deciding rows in each interval.
    """

    numbers: Floats
    rows: Ints
    after: Ints
    fixed: NDArray[np.bool_]
    codes: Ints
    counts: Ints


def choose_cuts(measured: list[Measured], others: list[Ints]) -> list[tuple[float, ...]]:
    """Return the cut points of each column of numbers.

    Args:
        measured: columns of numbers.
        others: codes of the other columns, with small numbers for frequent states; -1 for a missing value.
    """
    if not measured:
        return []
    rows = len(measured[0].values)
    step, most = _step(rows), max(2, min(MOST_STATES, rows // ROWS_PER_STATE))
    grids = [_make_grid(column.values[::step], column.values, most) for column in measured]
    states = [_merge_groups(codes[::step]) for codes in others]
    segments = [_equal_segments(grid, _START) for grid in grids]
    for _ in range(_PASSES):
        groups = [*(_apply(grid, segment) for grid, segment in zip(grids, segments, strict=True)), *states]
        partners = _find_partners(groups, len(grids))
        segments = [_best_segments(grid, [groups[j] for j in partners[i]], most, rows) for i, grid in enumerate(grids)]
    return [
        _cut_points(grid, segment, column.whole) for grid, segment, column in zip(grids, segments, measured, strict=True)
    ]


def _step(rows: int) -> int:
    """Return the distance between deciding rows."""
    return max(1, -(-rows // _DECIDING_ROWS))


def first_groups(measured: list[Measured], others: list[Ints]) -> list[Ints]:
    """Return few states of each column, in the deciding rows: of the columns of numbers, then of the others.

    Args:
        measured: columns of numbers.
        others: codes of the other columns, with small numbers for frequent states; -1 for a missing value.
    """
    numbers = []
    for column in measured:
        grid = _make_grid(deciding_values(column.values), column.values, MOST_STATES)
        numbers.append(_apply(grid, _equal_segments(grid, _START)))
    return [*numbers, *(_merge_groups(deciding_values(codes)) for codes in others)]


def deciding_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return the values of the deciding rows.

    Args:
        values: values of all rows.
    """
    return values[:: _step(len(values))]


def _make_grid(values: Floats, all_values: Floats, most: int) -> _Grid:
    """Return the grid of a column. Heavy values have intervals of their own, if this needs at most `most` states."""
    numbers, counts = np.unique(all_values[np.isfinite(all_values)], return_counts=True)
    total = int(counts.sum())
    if len(numbers) < 2:
        return _Grid(
            numbers, counts, np.empty(0, np.int64), np.empty(0, np.bool_), np.full(len(values), -1), np.zeros(1, np.int64)
        )
    least = max(5, total // 100)
    shares = np.cumsum(counts) / total
    intervals = int(np.clip(total // 10, 2, _GRID))
    after = np.searchsorted(shares, np.arange(1, intervals) / intervals - 1e-12)
    fixed = set()
    for at in np.flatnonzero(counts >= max(HEAVY * total, 2)) if len(numbers) > 2 else ():
        below, above = int(counts[:at].sum()), int(counts[at + 1 :].sum())
        fixed |= ({int(at) - 1} if below >= least else set()) | ({int(at)} if above >= least else set())
    fixed = fixed if len(fixed) < most else set()
    chosen = np.array(sorted({*after[after < len(numbers) - 1].tolist(), *fixed}), dtype=np.int64)
    if not len(chosen):
        chosen = np.array([int(np.argmin(np.abs(shares[:-1] - 0.5)))])
    codes = np.searchsorted(numbers[chosen + 1], values, side="right")
    codes = np.where(np.isfinite(values), codes, -1)
    tally = np.bincount(codes[codes >= 0], minlength=len(chosen) + 1)
    return _Grid(numbers, counts, chosen, np.isin(chosen, sorted(fixed)), codes, tally)


def _equal_segments(grid: _Grid, count: int) -> Ints:
    """Return the boundaries that divide a grid into segments with about equally many rows. Fixed boundaries stay.

    A boundary is given by its index: boundary `b` lies between the intervals `b` and `b + 1`.
    """
    if not len(grid.after):
        return np.empty(0, np.int64)
    shares = np.cumsum(grid.counts)[:-1] / max(grid.counts.sum(), 1)
    free = [int(np.argmin(np.abs(shares - k / count))) for k in range(1, count)]
    fixed = np.flatnonzero(grid.fixed).tolist()
    return np.array(sorted({*(fixed if len(fixed) >= count - 1 else [*free, *fixed])}), dtype=np.int64)[: MOST_STATES - 1]


def _apply(grid: _Grid, boundaries: Ints) -> Ints:
    """Return the segment of each deciding row; -1 for a missing value."""
    return np.where(grid.codes >= 0, np.searchsorted(boundaries, grid.codes), -1)


def _merge_groups(codes: Ints) -> Ints:
    """Return codes with at most `_GROUPS` values. The rarest values become one group."""
    known = codes >= 0
    counts = np.bincount(codes[known]) if known.any() else np.zeros(1, np.int64)
    order = np.argsort(-counts, kind="stable")
    place = np.empty(len(counts), dtype=np.int64)
    place[order] = np.minimum(np.arange(len(counts)), _GROUPS - 1)
    return np.where(known, place[np.where(known, codes, 0)], -1)


def _find_partners(groups: list[Ints], cut: int) -> list[list[int]]:
    """Return, for each of the first `cut` columns, the indices of the columns that depend on it most.

    The dependence is the gain of BIC by an edge. If no column has a positive gain, only the column with the largest gain is
    returned.
    """
    columns, rows = len(groups), len(groups[0])
    if columns < 2:
        return [[] for _ in range(cut)]
    wanted = max(_LEAST_ROWS, int(_PRODUCTS / (columns * _GROUPS) ** 2))
    matrix = np.array([codes[:: max(1, -(-rows // wanted))] for codes in groups]).T
    one_hot = (matrix[:, :, None] == np.arange(_GROUPS)).astype(np.float32).reshape(len(matrix), -1)
    result = []
    for start in range(0, cut, _BLOCK):  # large products of matrices are faster than many small ones
        end = min(start + _BLOCK, cut)
        product = one_hot[:, start * _GROUPS : end * _GROUPS].T @ one_hot
        gains = _gains(product.reshape(end - start, _GROUPS, columns, _GROUPS).astype(np.float64))
        gains[np.arange(end - start), np.arange(start, end)] = -inf
        for line in gains:
            order = np.argsort(-line, kind="stable")[:_PARTNERS]
            positive = [int(j) for j in order if line[j] > 0]
            result.append(positive or [int(order[0])])
    return result


def _gains(tables: Floats) -> Floats:
    """Return the gain of BIC by an edge, for contingency tables of shape (columns, states, columns, states)."""
    own, other, total = tables.sum(axis=3), tables.sum(axis=1), tables.sum(axis=(1, 3))
    information = _xlogx(tables).sum(axis=(1, 3)) - _xlogx(own).sum(axis=1) - _xlogx(other).sum(axis=2) + _xlogx(total)
    freedom = np.maximum((own > 0).sum(axis=1) - 1, 0) * np.maximum((other > 0).sum(axis=2) - 1, 0)
    return np.where(freedom > 0, information - 0.5 * np.log(np.maximum(total, 1)) * freedom, -inf)


def _xlogx(numbers: Floats) -> Floats:
    """Return x ln x, which is 0 for 0."""
    return np.where(numbers > 0, numbers * np.log(np.maximum(numbers, 1e-300)), 0.0)


def _best_segments(grid: _Grid, partners: list[Ints], most: int, rows: int) -> Ints:
    """Return the boundaries of the states with the best description of the partners.

    If no states describe a partner better than a single state does, the states have about equally many rows.
    """
    intervals = len(grid.after) + 1
    fixed = int(grid.fixed.sum())
    if intervals < 2:
        return np.empty(0, np.int64)
    fallback = _equal_segments(grid, max(fixed + 1, INDEPENDENT_STATES if rows >= MANY_ROWS else 2))
    gain = np.zeros((intervals, intervals))  # log-likelihood of the partners in a state from interval i to interval j
    penalty = 0.0
    for partner in partners:
        known = (grid.codes >= 0) & (partner >= 0)
        groups = int(partner.max(initial=0)) + 1
        table = np.bincount(grid.codes[known] * groups + partner[known], minlength=intervals * groups)
        sums = np.concatenate([np.zeros((1, groups)), np.cumsum(table.reshape(intervals, groups), axis=0)])
        blocks = np.maximum(sums[None, 1:] - sums[:-1, None], 0)
        gain += _xlogx(blocks).sum(axis=2) - _xlogx(blocks.sum(axis=2))
        penalty += 0.5 * log(max(known.sum(), 1)) * max(int((sums[-1] > 0).sum()) - 1, 0)
    if not partners or penalty == 0:
        return fallback
    start = np.concatenate([[0], np.flatnonzero(grid.fixed) + 1])  # a state may not cross a fixed boundary
    lowest = start[np.searchsorted(start, np.arange(intervals), side="right") - 1]
    allowed = np.arange(intervals)[:, None] >= lowest[None, :]
    gain = np.where(allowed, gain, -inf)
    best, choice = gain[0].copy(), [np.zeros(intervals, dtype=np.int64)]
    winner, value = np.empty(0, np.int64), 0.0
    single = _single_state(grid, partners)
    for states in range(2, min(max(most, fixed + 1), intervals) + 1):
        options = best[:-1, None] + gain[1:, :]  # the last state starts after interval i
        last = np.argmax(options, axis=0)
        best = options[last, np.arange(intervals)]
        choice.append(last)
        net = best[-1] - single - penalty * (states - 1) - log(comb(intervals - 1, states - 1))
        if net > value:
            winner, value = _trace(choice, intervals), net
    return winner if len(winner) else fallback


def _single_state(grid: _Grid, partners: list[Ints]) -> float:
    """Return the log-likelihood of the partners if the column has a single state."""
    value = 0.0
    for partner in partners:
        counts = np.bincount(partner[(grid.codes >= 0) & (partner >= 0)]).astype(np.float64)
        value += float(_xlogx(counts).sum() - _xlogx(counts.sum(keepdims=True))[0])
    return value


def _trace(choice: list[Ints], intervals: int) -> Ints:
    """Return the boundaries of the best states, from the choices of the dynamic program."""
    boundaries, at = [], intervals - 1
    for last in reversed(choice[1:]):
        at = int(last[at])
        boundaries.append(at)
    return np.array(boundaries[::-1], dtype=np.int64)


def _cut_points(grid: _Grid, boundaries: Ints, whole: bool) -> tuple[float, ...]:
    """Return the cut points at the boundaries of the states.

    Other cut points have few digits. A fixed boundary above a heavy value lies just above the value, unless all numbers are
    whole. Then the state has the name of the value.
    """
    cuts = []
    shares = np.cumsum(grid.rows)[:-1] / max(grid.rows.sum(), 1)
    for boundary in boundaries.tolist():
        at = int(grid.after[boundary])
        low, high = float(grid.numbers[at]), float(grid.numbers[at + 1])
        heavy_below = grid.fixed[boundary] and _is_heavy(grid, boundary)
        heavy_above = grid.fixed[boundary] and _is_heavy(grid, boundary + 1)
        if heavy_above:
            cuts.append(high)
        elif heavy_below:
            cuts.append(low + 1 if whole else float(np.nextafter(low, inf)))
        else:
            near = np.abs(shares - shares[at]) <= min(_NEAR, _NEAR_SIDE * min(shares[at], 1 - shares[at]))
            near[at] = True
            low, high = float(grid.numbers[:-1][near][0]), float(grid.numbers[1:][near][-1])
            cuts.append(shorten_cut(low, high, whole))
    return tuple(cuts)


def _is_heavy(grid: _Grid, interval: int) -> bool:
    """Return whether an interval of the grid holds a single number."""
    start = 0 if interval == 0 else int(grid.after[interval - 1]) + 1
    end = int(grid.after[interval]) if interval < len(grid.after) else len(grid.numbers) - 1
    return start == end
