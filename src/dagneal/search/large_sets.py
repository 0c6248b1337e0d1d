"""The rule for large parent sets, which rejects sets of more than four parents that fit noise.

n is the number of variables. A set of more than four parents must meet four conditions:

- It gains ln(n) nats over each set that lacks one of its parents.
- It gains ln(n) nats for each further parent over each of its subsets of at most two parents.
- The states of the child and its parents have at most as many combinations as there are rows.
- Without its weakest parent, it obeys the rule, too.

Required parents always stay: their set need not obey the rule, and they do not count in the third condition.

The third condition keeps tables of probabilities from having more entries than there are rows. Otherwise, BDeu rewards sets
that identify groups of equal rows, such as the rows of one person in a panel.

With few rows, or with columns that are nearly constant, BDeu rewards almost any further parent: the best of n useless
variables often gains a nat or two. If the states of the child are about equally frequent, it also rewards sets that give
almost every row a state combination of its own.

The rule depends only on the data, so the same sets are allowed for all seeds. A given `max_parents`
replaces the rule. Exact search and proofs do not use it: a proof must hold for all sets.
"""

from __future__ import annotations

from itertools import combinations
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.defaults import NETWORK_PARENTS
from dagneal.base.kernels import Floats, Ints
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.sets import Members, state_combinations


class SizeRule(NamedTuple):
    """The rule for large parent sets.

    Attributes:
        free: maximum number of parents of the sets that need not obey the rule.
        gain: nats that each parent of a larger set must gain in the first two conditions.
    """

    free: int
    gain: float

    @classmethod
    def of(cls, variables: int, max_parents: int | None) -> SizeRule:
        """Return the rule for data.

        Args:
            variables: number of variables.
            max_parents: parent limit that the user gave, if any.
        """
        return cls(NETWORK_PARENTS if max_parents is None else max_parents, log(variables))


ANY_SIZE = SizeRule(1 << 30, 0.0)
"""The rule that allows all sets."""


def find_weak(children: Ints, rows: Members, scores: Floats, rule: SizeRule, scorer: Scorer) -> NDArray[np.bool_]:
    """Return, for each parent set, whether it breaks the rule for large sets.

    Args:
        children: index of the child of each set.
        rows: parent sets as rows of ascending variables, padded with -1.
        scores: log scores of the sets.
        rule: rule for large sets.
        scorer: scorer of the data.
    """
    sizes = (rows >= 0).sum(axis=1)
    weak = np.zeros(len(rows), dtype=bool)
    required = None if scorer.constraints is None else scorer.constraints.required
    free = rule.free if required is None else np.maximum(rule.free, required.sum(axis=0)[children])
    large = np.flatnonzero(sizes > free)
    if not len(large):
        return weak
    rest = np.full((len(rows), rows.shape[1] - 1), -1, dtype=np.int32)  # each set without its weakest parent
    rest_scores = np.full(len(rows), -np.inf)
    for place in range(rows.shape[1]):
        large = large[~weak[large]]
        some = large[sizes[large] > place]
        if len(some):
            smaller = np.delete(rows[some], place, axis=1)
            smaller_scores = scorer.score_parents(children[some], smaller)
            weak[some] = scores[some] - smaller_scores < rule.gain
            better = smaller_scores > rest_scores[some]
            rest[some[better]], rest_scores[some[better]] = smaller[better], smaller_scores[better]
    large = large[~weak[large]]
    for size in np.unique(sizes[large]).tolist():
        some = large[sizes[large] == size]
        places = [*combinations(range(size), 2), *((place, -1) for place in range(size)), (-1, -1)]
        padded = np.pad(rows[some], ((0, 0), (0, 1)), constant_values=-1)
        smaller = np.ascontiguousarray(padded[:, places].reshape(-1, 2))
        small_scores = scorer.score_parents(np.repeat(children[some], len(places)), smaller)
        needed = rule.gain * (size - (np.array(places) >= 0).sum(axis=1))
        weak[some] = (scores[some, None] - small_scores.reshape(len(some), -1) < needed).any(axis=1)
    large = large[~weak[large]]
    arities = scorer.data.arities
    optional = rows[large]
    if required is not None:
        optional = -np.sort(-np.where(required[optional, children[large, None]], -1, optional), axis=1)
    weak[large] = state_combinations(optional, arities) * arities[children[large]] > scorer.data.rows
    large = large[~weak[large]]
    weak[large] = find_weak(children[large], rest[large], rest_scores[large], rule, scorer)
    return weak


def drop_weak_changes(rows: Members, scores: Floats, origin: Ints, old: Members, old_scores: Floats, rule: SizeRule) -> Ints:
    """Return the indices of changed sets, without those that a change makes weak in the sense of `find_weak`.

    A set that gets a parent is compared with the set before, and a set in which a parent is replaced with the set without
    this parent. Other sets may be weak, too; `find_weak` checks all subsets.

    Args:
        rows: changed sets as `propose_changes` returns them: each removal of a parent comes before its replacements.
        scores: log scores of the changed sets.
        origin: for each changed set, the index of the original set.
        old: original sets.
        old_scores: log scores of the original sets.
        rule: rule for large sets.
    """
    sizes = (rows >= 0).sum(axis=1)
    growth = sizes - (old >= 0).sum(axis=1)[origin]
    removal = np.maximum.accumulate(np.where(growth < 0, np.arange(len(rows)), 0))
    before = np.where(growth > 0, old_scores[origin], np.where(growth == 0, scores[removal], -np.inf))
    return np.flatnonzero((sizes <= rule.free) | (scores - before >= rule.gain))
