"""An upper bound: a score that no network of a table exceeds, where exact search is too large.

If every child took its best parents, cycles or not, the sum of their scores would be a bound. A better one forbids the
cycles inside groups of variables (the static pattern databases of Yuan and Malone 2012). For one group, a child's parents
outside are free, so each set of parents is seen as its part inside, with the best score of all sets that have this part;
exact search over the group gives the most that its members can score together, and the groups' sums add up.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from dagneal.base.kernels import Floats, Ints, Masks
from dagneal.scoring.table import ScoreTable
from dagneal.solvers.exact import exact, fits
from dagneal.solvers.solution import Bound

GROUP = 20  # variables; exact search takes a tenth of a second for so many


def upper_bound(table: ScoreTable, group: int = GROUP) -> Bound:
    """A score that no network of a table exceeds.

    Args:
        table: local scores, of any number of variables.
        group: the most variables among which cycles are forbidden; with all of them in one group it is the optimum.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> table = score_table(load("alarm-15").sample(10_000, 1))
    >>> best = exact(table).score
    >>> round(upper_bound(table).score - best, 6), best <= upper_bound(table, group=5).score
    (0.0, True)
    """
    kept = table.pruned
    while group > 1 and not fits(group):
        group -= 1
    groups = _groups(_losses(table, *kept), group)
    return Bound(sum(exact(_inside(table, members, *kept)).score for members in groups), table.max_parents)


def _losses(table: ScoreTable, start: Ints, masks: Masks, scores: Floats) -> Floats:
    """`losses[parent, child]`: what the child's best score loses if that parent is not to be had."""
    n = len(table.names)
    found = np.zeros((n, n))
    for child in range(n):
        own = slice(start[child], start[child + 1])
        for bit, parent in enumerate(table.candidates_of(child)):
            without = np.argmax((masks[own] >> np.uint64(bit)) & np.uint64(1) == 0)  # sets are by falling score
            found[parent, child] = scores[own][0] - scores[own][without]
    return found


def _groups(losses: Floats, most: int) -> list[Ints]:
    """Variables in as few groups as can be, those together that most want each other as parents.

    Of two variables that are each among the other's best parents, one has to give way if they are in one group.
    """
    n = len(losses)
    count = ceil(n / most)
    both = np.minimum(losses, losses.T) + 1e-6 * (losses + losses.T)
    first, second = np.triu_indices(n, 1)
    member = np.arange(n)  # of which cluster
    size = np.ones(n, dtype=np.int64)
    for pair in np.argsort(-both[first, second], kind="stable"):
        a, b = member[first[pair]], member[second[pair]]
        if a != b and size[a] + size[b] <= most:
            member[member == b] = a
            size[a] += size[b]
            size[b] = 0
    clusters = [np.flatnonzero(member == c) for c in np.argsort(-size, kind="stable") if size[c]]
    groups: list[list[int]] = [[] for _ in range(count)]
    for cluster in clusters:  # the largest first; one that fits nowhere is dealt out
        room = [most - len(group) for group in groups]
        whole = [g for g in range(count) if room[g] >= len(cluster)]
        parts = [cluster] if whole else [np.array([v]) for v in cluster]
        for part in parts:
            fitting = [g for g in range(count) if len(groups[g]) + len(part) <= most]
            best = max(fitting, key=lambda g: (both[groups[g]][:, part].sum(), -g))
            groups[best] += part.tolist()
    return [np.array(sorted(group)) for group in groups if group]


def _inside(table: ScoreTable, members: Ints, start: Ints, masks: Masks, scores: Floats) -> ScoreTable:
    """The table of a group: parents outside it are free."""
    place = np.full(len(table.names), -1)
    place[members] = np.arange(len(members))
    parts, best, others = [], [], []
    for child in members:
        own = slice(start[child], start[child + 1])
        others.append(place[members[members != child]])
        inside = np.zeros(start[child + 1] - start[child], dtype=np.uint64)
        for bit, parent in enumerate(table.candidates_of(child)):
            if place[parent] >= 0:
                local = np.uint64(place[parent] - (parent > child))
                inside |= ((masks[own] >> np.uint64(bit)) & np.uint64(1)) << local
        kept, first = np.unique(inside, return_index=True)  # the first of equals has the best score
        parts.append(kept)
        best.append(scores[own][first])
    return ScoreTable(
        names=tuple(table.names[v] for v in members),
        max_parents=min(table.max_parents, len(members) - 1),
        score_name=table.score_name,
        first=np.arange(len(members) + 1) * (len(members) - 1),
        candidates=np.concatenate(others),
        start=np.concatenate([[0], np.cumsum([len(part) for part in parts])]),
        masks=np.concatenate(parts),
        scores=np.concatenate(best),
    )
