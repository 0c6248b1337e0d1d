"""Beam search for parents that raise a score only together, though each alone lowers it a little."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints
from dagneal.scoring.sets import Members
from dagneal.search.large_sets import LEAST_GAIN
from dagneal.search.proposals import Options, Rules, propose_changes

DEPTH = 2  # parents that are added to near misses, one after the other
NEAR = 10.0  # nats; a near miss scores at most this much less than the set from which it results


def extend_sets(
    children: Ints,
    rows: Members,
    present: Floats,
    options: Options,
    rules: Rules,
    free: int,
    most: int,
    score: Callable[[Ints, Members, Ints, Members], Floats],
    untried: Callable[[Ints, Members], Ints],
    fits: Callable[[Ints, Members], NDArray[np.bool_]] | None = None,
) -> Iterator[tuple[Ints, Members, Floats]]:
    """Add parents to parent sets, and yield the sets that are better than the sets from which they result.

    Each step adds every option to every set. The best sets of each child that are slightly worse than before get one more
    parent in the next step. The search ends after three steps, or if no set is left.

    Args:
        children: index of the child of each set.
        rows: parent sets as rows of ascending variables, padded with -1.
        present: log scores of the sets.
        options: variables that may become parents.
        rules: limits on parent sets.
        free: number of parents above which a set must score at least 1 nat more than the set from which it results.
        most: maximum number of sets of each child that a step leaves to the next step.
        score: function that returns the scores of parent sets with one more parent. Its arguments are the children and the
            parent sets, and for each score the index of a parent set and the larger set.
        untried: function that returns the indices of the parent sets that no earlier call extended.
        fits: function that returns whether each parent set may get further parents; None if all may.

    Yields:
        The child of each better set, these sets, and their scores.
    """
    for _ in range(DEPTH + 1):
        new = untried(children, rows)
        if not len(new):
            return
        children, rows, present = children[new], rows[new], present[new]
        changed, larger, origin = propose_changes(children, rows, options, rules, swaps=False)
        scores = score(children, rows, origin, larger)
        gains = scores - present[origin]
        better = np.where((larger >= 0).sum(axis=1) > free, gains >= LEAST_GAIN, gains > 0.0)
        yield changed[better], larger[better], scores[better]
        if fits is not None:
            gains[~fits(changed, larger)] = -np.inf
        gains[better] = -np.inf
        beam = near_misses(changed, larger, scores, gains, most)
        children, rows, present = changed[beam], larger[beam], scores[beam]


def near_misses(children: Ints, rows: Members, scores: Floats, gains: Floats, most: int) -> Ints:
    """Return the indices of the best sets of each child whose gains are not too low.

    Args:
        children: index of the child of each set.
        rows: sets as rows of ascending variables, padded with -1. A set may occur several times; it is returned once.
        scores: log scores of the sets.
        gains: score of each set minus the score of the set from which it results; minus infinity for sets to leave out.
        most: maximum number of sets of each child.
    """
    near = np.flatnonzero(gains > -NEAR)
    near = near[np.lexsort((*rows[near].T, -scores[near], children[near]))]  # equal sets have equal scores
    repeated = np.zeros(len(near), dtype=bool)
    repeated[1:] = (rows[near[1:]] == rows[near[:-1]]).all(axis=1) & (children[near[1:]] == children[near[:-1]])
    near = near[~repeated]
    owners = children[near]
    return near[np.arange(len(near)) - np.searchsorted(owners, owners) < most]
