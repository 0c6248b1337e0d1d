"""The rule for large parent sets: beyond four parents, each parent must raise the score by at least 1 nat.

With columns that are nearly constant, BDeu rewards every further parent with a tiny gain. The rule stops this growth. It
depends only on the data, so the anytime search chooses from the same sets for all seeds. A given `max_parents` replaces the
rule. Exact search does not know it: there, a proof must hold for all sets.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dagneal.base.defaults import NETWORK_PARENTS
from dagneal.base.kernels import Floats, Ints
from dagneal.scoring.sets import Members

FREE_PARENTS = NETWORK_PARENTS  # sets of at most this number of parents need not obey the rule
LEAST_GAIN = 1.0  # nats that each parent of a larger set must gain

ScoreSets = Callable[[Ints, Members], Floats]
"""Function that returns the log scores of parent sets, given the children and the sets."""


def find_weak(children: Ints, rows: Members, scores: Floats, free: int, score: ScoreSets) -> NDArray[np.bool_]:
    """Return, for each parent set, whether it has more than `free` parents and one of them gains less than 1 nat.

    Args:
        children: index of the child of each set.
        rows: parent sets as rows of ascending variables, padded with -1.
        scores: log scores of the sets.
        free: number of parents up to which every set is allowed.
        score: function that scores parent sets.
    """
    sizes = (rows >= 0).sum(axis=1)
    weak = np.zeros(len(rows), dtype=bool)
    large = np.flatnonzero(sizes > free)
    for place in range(rows.shape[1] if len(large) else 0):
        large = large[~weak[large]]
        some = large[sizes[large] > place]
        if len(some):
            smaller = np.delete(rows[some], place, axis=1)
            weak[some] = scores[some] - score(children[some], smaller) < LEAST_GAIN
    return weak


def drop_weak_changes(rows: Members, scores: Floats, origin: Ints, old: Members, old_scores: Floats, free: int) -> Ints:
    """Return the indices of changed sets, without those that a change makes weak in the sense of `find_weak`.

    A set that gets a parent is compared with the set before, and a set in which a parent is replaced with the set without
    this parent. Other sets may be weak, too; `find_weak` checks all subsets.

    Args:
        rows: changed sets as `propose_changes` returns them: each removal of a parent comes before its replacements.
        scores: log scores of the changed sets.
        origin: for each changed set, the index of the original set.
        old: original sets.
        old_scores: log scores of the original sets.
        free: number of parents up to which every set is allowed.
    """
    sizes = (rows >= 0).sum(axis=1)
    growth = sizes - (old >= 0).sum(axis=1)[origin]
    removal = np.maximum.accumulate(np.where(growth < 0, np.arange(len(rows)), 0))
    before = np.where(growth > 0, old_scores[origin], np.where(growth == 0, scores[removal], -np.inf))
    return np.flatnonzero((sizes <= free) | (scores - before >= LEAST_GAIN))
