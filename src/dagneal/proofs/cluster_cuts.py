"""Cluster cuts: inequalities that forbid cycles in a set of variables.

Let C be a set of variables. In the order of a network, the first member of C has no parent in C, and the second has at most
one. So for k = 1 and k = 2, at most |C| - k members have k or more parents in C (Jaakkola et al. 2010; Cussens 2011). The
solution of a linear programme gives fractional weights to families. This module searches for sets C whose cut it violates,
by tabu search. Each step adds a variable to C, or removes one, so that the violation rises most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints, kernel, run_threads
from dagneal.scoring.sets import Members

_STEPS = 30  # of each tabu search
_TENURE = 5  # steps for which a variable stays where it is after a move
_MAX_LENGTH = 1.5  # of a cycle; a cycle shorter than 1 is a violated cut, and tabu search can improve longer ones
_CHUNK = 64  # tabu searches of a task
_LEAST = 1e-4  # smallest violation of a cut
_MOST_SIMILAR, _OVERLAP = 3, 0.8  # number of cuts that may share this share of their variables


class Cluster(NamedTuple):
    """A cluster cut: at most |C| - k members of C have k or more parents in C.

    Attributes:
        members: the set C, ascending.
        k: 1 or 2.
    """

    members: tuple[int, ...]
    k: int

    @property
    def key(self) -> object:
        """An object that identifies the cut."""
        return self

    @property
    def limit(self) -> int:
        """Largest sum of the coefficients of a network."""
        return len(self.members) - self.k

    def coefficients_of(self, children: Ints, rows: Members) -> Ints:
        """Return the coefficients of families: 1 for a member of C with k or more parents in C, 0 otherwise.

        Args:
            children: child of each family.
            rows: its parents, as rows of variables padded with -1.
        """
        inside = np.zeros(max(int(children.max(initial=0)), int(rows.max(initial=0)), *self.members) + 2, dtype=bool)
        inside[list(self.members)] = True  # the last entry is for padding
        coefficients: Ints = (inside[children] & (inside[rows].sum(axis=1) >= self.k)).astype(np.int64)
        return coefficients


class Support(NamedTuple):
    """The families with a positive weight.

    Attributes:
        children: child of each family.
        rows: its parents, as rows of ascending variables padded with -1.
        weights: its weight.
    """

    children: Ints
    rows: Members
    weights: Floats


def find_clusters(support: Support, seeds: Sequence[tuple[int, ...]], variables: int, most: int) -> list[Cluster]:
    """Return violated cluster cuts that differ from each other, the most violated first.

    Args:
        support: families with a positive weight.
        seeds: sets with which the tabu searches start.
        variables: number of variables.
        most: maximum number of cuts.
    """
    if not seeds:
        return []
    begin = np.zeros((len(seeds), variables), dtype=bool)
    for line, seed in zip(begin, seeds, strict=True):
        line[list(seed)] = True
    rated: dict[Cluster, float] = {}

    def work(task: tuple[int, int]) -> tuple[NDArray[np.bool_], Floats]:
        k, first = task
        sets = begin[first : first + _CHUNK].copy()
        violations = np.zeros(len(sets))
        _search_clusters(support, k, sets, violations, _Memory.create(variables, len(support.weights)))
        return sets, violations

    tasks = [(k, first) for k in (1, 2) for first in range(0, len(seeds), _CHUNK)]
    for (k, _), (sets, violations) in zip(tasks, run_threads(work, tasks), strict=True):
        for chosen, violation in zip(sets, violations, strict=True):
            if violation > _LEAST:
                rated[Cluster(tuple(np.flatnonzero(chosen).tolist()), k)] = violation / np.sqrt(chosen.sum())
    return _choose(rated, variables, most)


def _choose(rated: dict[Cluster, float], variables: int, most: int) -> list[Cluster]:
    """Return the best clusters, without those that are similar to several better ones."""
    ranked = sorted(rated, key=lambda cluster: (-rated[cluster], cluster))
    flags = np.zeros((len(ranked), variables), dtype=np.int64)
    for line, cluster in zip(flags, ranked, strict=True):
        line[list(cluster.members)] = 1
    sizes, kinds = flags.sum(axis=1), np.array([cluster.k for cluster in ranked])
    chosen: list[int] = []
    for index, line in enumerate(flags):
        similar = 2 * (flags[chosen] @ line) > _OVERLAP * (sizes[chosen] + sizes[index])
        if (similar & (kinds[chosen] == kinds[index])).sum() < _MOST_SIMILAR:
            chosen.append(index)
            if len(chosen) == most:
                break
    return [ranked[index] for index in chosen]


def find_cycles(support: Support, variables: int) -> list[tuple[int, ...]]:
    """Return the shortest cycle through each edge, as sets of variables. The length of an edge is 1 minus its weight.

    Args:
        support: families with a positive weight.
        variables: number of variables.
    """
    weights = edge_weights(support, variables)
    lengths, following = shortest_paths(weights)
    cycles = set()
    for parent, child in zip(*np.nonzero(weights > 0.0), strict=True):
        if lengths[child, parent] + 1.0 - weights[parent, child] < _MAX_LENGTH:
            cycle = [int(child)]
            while cycle[-1] != parent:
                cycle.append(int(following[cycle[-1], parent]))
            cycles.add(tuple(sorted(cycle)))
    return sorted(cycles)


def shortest_paths(weights: Floats) -> tuple[Floats, Ints]:
    """Return the length of the shortest path from each variable to each other, and the next variable on this path.

    Args:
        weights: weight of each edge; 0 if there is no edge. The length of an edge is 1 minus its weight.
    """
    lengths = np.where(weights > 0.0, 1.0 - np.minimum(weights, 1.0), np.inf)
    following = np.where(weights > 0.0, np.arange(len(weights))[None, :], -1)
    for middle in range(len(weights)):  # Floyd and Warshall
        begins = np.flatnonzero(lengths[:, middle] < np.inf)
        through = lengths[begins, middle][:, None] + lengths[middle]
        shorter = through < lengths[begins] - 1e-12
        lengths[begins] = np.where(shorter, through, lengths[begins])
        following[begins] = np.where(shorter, following[begins, middle][:, None], following[begins])
    return lengths, following


def edge_weights(support: Support, variables: int) -> Floats:
    """Return a matrix: entry [parent, child] is the total weight of the child's families that contain the parent.

    Args:
        support: families with a positive weight.
        variables: number of variables.
    """
    weights = np.zeros((variables, variables))
    family, place = np.nonzero(support.rows >= 0)
    np.add.at(weights, (support.rows[family, place], support.children[family]), support.weights[family])
    return weights


class _Memory(NamedTuple):
    """Working memory of a tabu search.

    Attributes:
        members: whether each variable is in the present set.
        changes: how adding or removing a variable changes the weight that a cut bounds from below.
        moved: step at which each variable was last added or removed.
        counts: number of parents of each family in the present set.
    """

    members: NDArray[np.bool_]
    changes: Floats
    moved: Ints
    counts: Ints

    @classmethod
    def create(cls, variables: int, families: int) -> _Memory:
        """Return new arrays."""
        ints = (np.empty(length, dtype=np.int64) for length in (variables, families))
        return cls(np.empty(variables, dtype=bool), np.empty(variables), *ints)


@kernel
def _search_clusters(support: Support, k: int, sets: NDArray[np.bool_], violations: Floats, memory: _Memory) -> None:
    """Replace each set by the best set of a tabu search that starts with it, and write the violation of its cut."""
    for start in range(len(sets)):
        violations[start] = _search_cluster(support, k, sets[start], memory)


@kernel
def _search_cluster(support: Support, k: int, best: NDArray[np.bool_], memory: _Memory) -> float:
    """Run a tabu search that starts with the set `best`. Replace it by the best set, and return the violation of its cut.

    The best set has the highest violation divided by the square root of its size.
    """
    members, changes, moved, counts = memory.members, memory.changes, memory.moved, memory.counts
    size, violation, highest = 0, 0.0, -np.inf
    for variable in range(len(members)):
        members[variable] = best[variable]
        moved[variable] = -_TENURE
        size += best[variable]
    for family in range(len(counts)):
        counts[family] = 0
        for parent in support.rows[family]:
            counts[family] += parent >= 0 and members[parent]
    for step in range(_STEPS):
        present = _rate_changes(support, k, memory)
        if size > k and (k - present) / np.sqrt(size) > highest:
            highest, violation = (k - present) / np.sqrt(size), k - present
            for variable in range(len(members)):
                best[variable] = members[variable]
        chosen = -1
        for variable in range(len(members)):
            free = step - moved[variable] >= _TENURE and not (members[variable] and size <= k + 1)
            if free and (chosen < 0 or changes[variable] < changes[chosen] - 1e-12):
                chosen = variable
        if chosen < 0:
            break
        moved[chosen] = step
        members[chosen] = not members[chosen]
        change = 1 if members[chosen] else -1
        size += change
        for family in range(len(counts)):
            for parent in support.rows[family]:
                counts[family] += change * (parent == chosen)
    return violation


@kernel
def _rate_changes(support: Support, k: int, memory: _Memory) -> float:
    """Return the weight of families whose child in C has fewer than k parents in C, and write how each move changes it.

    A network has at least k such families, so the cut is violated if the weight is below k.
    """
    members, changes, counts = memory.members, memory.changes, memory.counts
    for variable in range(len(members)):
        changes[variable] = 0.0
    present = 0.0
    for family in range(len(counts)):
        child, weight = support.children[family], support.weights[family]
        if not members[child]:
            if counts[family] < k:
                changes[child] += weight
            continue
        if counts[family] < k:
            present += weight
            changes[child] -= weight
        if counts[family] == k - 1 or counts[family] == k:
            for parent in support.rows[family]:
                if parent >= 0 and members[parent] == (counts[family] == k):
                    changes[parent] += weight if members[parent] else -weight
    return present
