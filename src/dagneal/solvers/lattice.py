"""Parent sets in groups, for dynamic programming over all sets of variables in chunks that fit into the processor cache.

The first `LOW` variables are called low, the others high. A chunk consists of all sets with the same high variables. A group
consists of the parent sets of one child with the same high variables. It matters to all chunks whose high variables include
those of the group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagneal.base.kernels import Floats, Ints
from dagneal.scoring.sets import move_bits
from dagneal.scoring.table import ScoreTable

LOW = 11  # number of low variables


class Lattice(NamedTuple):
    """The parent sets of a score table in groups.

    Attributes:
        low: number of low variables.
        groups: bounds in `group_high`; the groups of child c are `groups[c]` to `groups[c + 1] - 1`.
        group_high: high variables of each group as a bit mask, in which bit 0 is the first high variable.
        bounds: bounds in `low_masks`, for each group.
        low_masks: low variables of each parent set as a bit mask.
        order: entry of the score table of each parent set.
    """

    low: int
    groups: Ints
    group_high: Ints
    bounds: Ints
    low_masks: Ints
    order: Ints

    @classmethod
    def build(cls, table: ScoreTable) -> Lattice:
        """Return the groups of the parent sets of a table.

        Args:
            table: score table with at most 62 variables.
        """
        n = len(table.names)
        low = min(n, LOW)
        masks, children = global_masks(table), np.repeat(np.arange(n), np.diff(table.start))
        order = np.lexsort((masks, children))
        masks, children = masks[order], children[order]
        high = masks >> low
        begin = np.flatnonzero((np.diff(high, prepend=-1) != 0) | (np.diff(children, prepend=-1) != 0))
        groups = np.searchsorted(children[begin], np.arange(n + 1))
        return cls(low, groups, high[begin], np.append(begin, len(masks)), masks & ((1 << low) - 1), order)


def global_masks(table: ScoreTable) -> Ints:
    """Return the parent sets of all table entries as bit masks over all variables.

    Args:
        table: score table with at most 62 variables.
    """
    masks = []
    for child in range(len(table.names)):
        candidates = table.candidates_of(child)
        masks.append(move_bits(table.masks[table.entries_of(child)], range(len(candidates)), candidates, words=1)[:, 0])
    return np.concatenate(masks).astype(np.int64)


def centre_scores(table: ScoreTable) -> tuple[Floats, float]:
    """Return the scores minus the best score of each child, and the sum of these best scores.

    Args:
        table: score table in which each child has a parent set.
    """
    best = np.maximum.reduceat(table.scores, table.start[:-1])
    return table.scores - np.repeat(best, np.diff(table.start)), float(best.sum())
