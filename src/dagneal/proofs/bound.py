"""An upper bound on the score of the best network, for score tables that are too large for exact search.

A simple bound gives every child its best parents, even if the edges then form a cycle. A better bound forbids cycles within
groups of variables (the static pattern databases of Yuan and Malone 2012). Parents outside the group are unrestricted. Each
parent set is therefore reduced to its members inside the group. If several sets reduce to the same members, the
highest of their scores is used. Exact search finds the highest total score of each group. The bound is the sum of these
totals.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from dagneal.base.kernels import Floats, Ints, Masks
from dagneal.scoring.sets import has_bit, move_bits
from dagneal.scoring.table import ScoreTable
from dagneal.solvers.exact import exact, fits
from dagneal.solvers.solution import Bound

GROUP = 20  # variables; exact search with 20 variables takes 0.1 s


def upper_bound(table: ScoreTable, group: int = GROUP) -> Bound:
    """Return an upper bound on the log scores of all networks that a score table allows.

    The variables are divided into groups. Cycles are forbidden only within a group, so the bound can be higher than the
    score of the best network.

    Args:
        table: score table with any number of variables.
        group: largest number of variables in a group. It is reduced if memory is short. If one group contains all variables,
            the bound is the score of the best network.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> table = score_table(load("alarm-15").sample(10_000, 1))
    >>> best = exact(table).score
    >>> round(upper_bound(table).score - best, 6), best <= upper_bound(table, group=5).score
    (0.0, True)
    """
    pruned = table.pruned
    while group > 1 and not fits(group):
        group -= 1
    groups = _make_groups(_score_drops(table, *pruned), group)
    return Bound(sum(exact(_group_table(table, members, *pruned)).score for members in groups), table.max_parents)


def _score_drops(table: ScoreTable, start: Ints, masks: Masks, scores: Floats) -> Floats:
    """Return the matrix `drops[parent, child]`: the drop in the child's best score if this parent is excluded."""
    n = len(table.names)
    drops = np.zeros((n, n))
    for child in range(n):
        own = slice(start[child], start[child + 1])
        for bit, parent in enumerate(table.candidates_of(child)):
            without = np.argmin(has_bit(masks[own], bit))  # first is best: scores descend
            drops[parent, child] = scores[own][0] - scores[own][without]
    return drops


def _make_groups(drops: Floats, most: int) -> list[Ints]:
    """Partition the variables into as few groups of at most `most` variables as possible.

    Two variables that are each among the best parents of the other should share a group. The group then forbids the cycle
    between them, which lowers the bound.
    """
    n = len(drops)
    count = ceil(n / most)
    mutual = np.minimum(drops, drops.T) + 1e-6 * (drops + drops.T)
    first, second = np.triu_indices(n, 1)
    member = np.arange(n)  # cluster of each variable
    size = np.ones(n, dtype=np.int64)
    for pair in np.argsort(-mutual[first, second], kind="stable"):
        a, b = member[first[pair]], member[second[pair]]
        if a != b and size[a] + size[b] <= most:
            member[member == b] = a
            size[a] += size[b]
            size[b] = 0
    clusters = [np.flatnonzero(member == c) for c in np.argsort(-size, kind="stable") if size[c]]
    groups: list[list[int]] = [[] for _ in range(count)]
    for cluster in clusters:  # the largest first; a cluster that fits into no group is split into single variables
        fits_into_group = any(most - len(group) >= len(cluster) for group in groups)
        parts = [cluster] if fits_into_group else [np.array([v]) for v in cluster]
        for part in parts:
            fitting = [g for g in range(count) if len(groups[g]) + len(part) <= most]
            best = max(fitting, key=lambda g: (mutual[groups[g]][:, part].sum(), -g))
            groups[best] += part.tolist()
    return [np.array(sorted(group)) for group in groups if group]


def _group_table(table: ScoreTable, members: Ints, start: Ints, masks: Masks, scores: Floats) -> ScoreTable:
    """Return the score table of a group of variables. Its scores assume the best possible parents outside the group."""
    index = np.full(len(table.names), -1)  # index within the group; -1 outside
    index[members] = np.arange(len(members))
    parent_sets, best, others = [], [], []
    for child in members:
        own = slice(start[child], start[child + 1])
        others.append(index[members[members != child]])
        candidates = table.candidates_of(child)
        bits = np.flatnonzero(index[candidates] >= 0)
        local = index[candidates[bits]] - (candidates[bits] > child)
        inside = move_bits(masks[own], bits, local, words=1)[:, 0]  # a group is small enough for one word
        kept, first = np.unique(inside, return_index=True)  # the first of equal masks has the best score
        parent_sets.append(kept[:, None])
        best.append(scores[own][first])
    return ScoreTable(
        names=tuple(table.names[v] for v in members),
        max_parents=min(table.max_parents, len(members) - 1),
        score_name=table.score_name,
        first=np.arange(len(members) + 1) * (len(members) - 1),
        candidates=np.concatenate(others),
        start=np.concatenate([[0], np.cumsum([len(sets) for sets in parent_sets])]),
        masks=np.concatenate(parent_sets),
        scores=np.concatenate(best),
    )
