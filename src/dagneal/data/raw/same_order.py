"""Columns of numbers that put the rows in the same order, such as an income and its logarithm.

A column of numbers is redundant beside another if no two rows are ordered differently in them, and the other column has at
least as many different numbers. Rising and falling order are the same. A missing value counts as a number below all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dagneal.base.kernels import Floats, Ints

_SAMPLE = 2_000  # rows that are compared first
_ALIKE = 0.95  # rank correlation of columns with the same order
_BLOCK = 256  # columns that are compared at a time


def find_same_order(columns: Sequence[Floats]) -> dict[int, int]:
    """Return, for each redundant column, the index of the column that it repeats.

    Columns that rise or fall from row to row are never redundant: in a time series, this order is no sign of a definition.

    Args:
        columns: the number in each row of each column; NaN for a missing value.
    """
    levels = [_levels(values) for values in columns]
    counts = [int(level.max(initial=0)) for level in levels]
    trend = [bool((np.diff(level) >= 0).all() or (np.diff(level) <= 0).all()) for level in levels]
    finest_first = sorted((at for at in range(len(levels)) if not trend[at]), key=lambda at: (-counts[at], at))
    pairs = _similar_pairs(levels, finest_first)
    repeats: dict[int, int] = {}
    for at in finest_first:
        finer = next(
            (other for other in pairs.get(at, ()) if other not in repeats and _same(levels[other], levels[at])), None
        )
        if finer is not None:
            repeats[at] = finer
    return repeats


def _levels(values: Floats) -> Ints:
    """Return the rank of each number among the distinct numbers; 0 for a missing value."""
    known = np.isfinite(values)
    result = np.zeros(len(values), dtype=np.int64)
    result[known] = np.unique(values[known], return_inverse=True)[1] + 1
    return result


def _similar_pairs(levels: Sequence[Ints], order: Sequence[int]) -> dict[int, list[int]]:
    """Return, for each column, the columns before it in `order` with nearly the same or the reversed ranks in a sample."""
    if len(order) < 2:
        return {}
    step = max(1, len(levels[order[0]]) // _SAMPLE)
    ranks = np.array([_mean_ranks(levels[at][::step]) for at in order])
    pairs: dict[int, list[int]] = {}
    for begin in range(0, len(order), _BLOCK):
        alike = np.abs(ranks[begin : begin + _BLOCK] @ ranks.T) > _ALIKE
        for place, line in enumerate(alike, start=begin):
            if before := np.flatnonzero(line[:place]).tolist():
                pairs[order[place]] = [order[other] for other in before]
    return pairs


def _mean_ranks(levels: Ints) -> Floats:
    """Return ranks with mean 0 and length 1. Equal levels have equal ranks."""
    _, place, counts = np.unique(levels, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2)[place]
    ranks -= ranks.mean()
    length = float(np.sqrt(ranks @ ranks))
    return np.asarray(ranks / length if length else ranks)


def _same(fine: Ints, coarse: Ints) -> bool:
    """Return whether no two rows are ordered differently in two columns, or whether this holds for one order reversed."""
    return _never_falls(fine, coarse) or _never_falls(fine, -coarse)


def _never_falls(first: Ints, second: Ints) -> bool:
    """Return whether the second column never falls while the first one rises."""
    order = np.lexsort((second, first))
    return bool((np.diff(second[order]) >= 0).all())
