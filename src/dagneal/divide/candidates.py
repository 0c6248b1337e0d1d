"""Candidate parents: find initial candidates from small subproblems, and further candidates from a network.

Two variables that are adjacent in the true network are adjacent in the solution of nearly every subproblem that contains
them. For any other pair, some subproblem usually has a solution in which the pair is not adjacent. The margin of a pair in a
subproblem is the best score with the pair adjacent minus the best score with the pair not adjacent. Two variables are
candidates for each other if the lowest margin of the pair, over all subproblems that contain it, is high enough.
"""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints
from dagneal.divide.subproblems import add_votes, solve_small
from dagneal.runtime.run import NEVER, Deadline
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.sets import Members, has_bit
from dagneal.scoring.table import ScoreTable

# Lowest margin of a candidate, in nats. It is below 0: if relations are nearly deterministic, true neighbours have negative
# margins in some subproblems.
MARGIN = -10.0
MAX_INITIAL_CANDIDATES = 10  # per child, before the first global solve
MAX_GROWN_CANDIDATES = 16  # per child, after new candidates were added


class CandidateFinder:
    """Finds new candidates: variables that raise the score of a child if they are added as a parent or replace a parent.

    The score gains of a child are cached until its parents change. If a child has the maximum number of candidates, its
    worst candidates are dropped to make room. A dropped candidate never returns.

    Args:
        scorer: scorer of the data.
        max_parents: parent limit.
        near: `near[variable, child]` is True if the variable may become a candidate; all variables by default.
    """

    def __init__(self, scorer: Scorer, max_parents: int, near: NDArray[np.bool_] | None = None) -> None:
        self.scorer = scorer
        self.max_parents = max_parents
        self.near = near
        self._cache: dict[int, tuple[list[int], Floats]] = {}
        self._dropped = np.zeros((len(scorer.data.names),) * 2, dtype=bool)

    def extend(
        self, dag: nx.DiGraph, allowed: NDArray[np.bool_], table: ScoreTable | None = None, most: int = 3
    ) -> tuple[NDArray[np.bool_], int]:
        """Add the best new candidates. Return the extended matrix, and the number of children without room.

        Entry [variable, child] of the matrix is True for a candidate. A child without room already has the maximum number of
        candidates, so its new candidates are not added.

        Args:
            dag: network to improve.
            allowed: `allowed[variable, child]` is True for current candidates.
            table: score table of the current candidates; without it no candidate is dropped.
            most: maximum number of new candidates for each child.
        """
        extended = allowed.copy()
        full = 0
        for child, gains in enumerate(self._gains(dag)):
            new = np.flatnonzero((gains > 1e-6) & ~allowed[:, child] & ~self._dropped[:, child])
            if not len(new):
                continue
            ranked = new[np.argsort(-gains[new], kind="stable")][:most]
            room = max(MAX_GROWN_CANDIDATES - int(allowed[:, child].sum()), 0)
            if room < len(ranked) and table is not None:
                worst = _worst_candidates(table, child, dag)[: len(ranked) - room]
                extended[worst, child], self._dropped[worst, child] = False, True
                room += len(worst)
            full += room == 0
            extended[ranked[:room], child] = True
        return extended, full

    def _gains(self, dag: nx.DiGraph) -> list[Floats]:
        """Return one array per child: the score gain of each variable if it is added as a parent or replaces a parent.

        The gain is minus infinity if the variable cannot become a parent.
        """
        names = self.scorer.data.names
        position = {name: i for i, name in enumerate(names)}
        parents = [sorted(position[p] for p in dag.predecessors(name)) for name in names]
        changed = [c for c, members in enumerate(parents) if c not in self._cache or self._cache[c][0] != members]
        sets, tried, width = [], [], 1 + max(map(len, parents))
        for child in changed:
            possible = np.ones(len(names), dtype=bool) if self.near is None else self.near[:, child].copy()
            possible[[child, *parents[child]]] = False
            tried.append(np.flatnonzero(possible))
            sets.append(self._changed_sets(parents[child], tried[-1], width))
        counts = [len(rows) for rows in sets]
        scores = self.scorer.score_parents(np.repeat(changed, counts), np.concatenate(sets)) if sets else np.empty(0)
        for child, outside, values in zip(changed, tried, np.split(scores, np.cumsum(counts[:-1])), strict=False):
            gains = np.full(len(names), -np.inf)
            if len(values) > 1:
                gains[outside] = (values[1:].reshape(-1, len(outside)) - values[0]).max(axis=0)
            self._cache[child] = parents[child], gains
        return [self._cache[child][1] for child in range(len(names))]

    def _changed_sets(self, parents: list[int], outside: Ints, width: int) -> Members:
        """Return the parent set, and then all sets with one of the variables in `outside` as a new parent.

        The new parent replaces a parent. If the parent limit allows it, the new parent can also be added. The rows are
        sorted by the replaced parent, and then by the new parent. They are padded to `width` with -1.
        """
        bases = [[p for p in parents if p != replaced] for replaced in parents]
        if len(parents) < self.max_parents:
            bases.append(parents)
        rows = np.full((1 + len(bases) * len(outside), width), -1, dtype=np.int32)
        rows[0, : len(parents)] = parents
        for index, base in enumerate(bases):
            own = rows[1 + index * len(outside) : 1 + (index + 1) * len(outside), : len(base) + 1]
            own[:, : len(base)], own[:, len(base)] = base, outside
            own.sort(axis=1)
        return rows


def _worst_candidates(table: ScoreTable, child: int, dag: nx.DiGraph) -> Ints:
    """Return the candidates of a child that are not its parents, worst first.

    The rating of a candidate is the highest score of a parent set that contains it.
    """
    candidates = table.candidates_of(child)
    entries = table.entries_of(child)
    masks, scores = table.masks[entries], table.scores[entries]
    best = [scores[has_bit(masks, bit)].max(initial=-np.inf) for bit in range(len(candidates))]
    parents = {table.position[p] for p in dag.predecessors(table.names[child])}
    return np.array([candidates[i] for i in np.argsort(best, kind="stable") if candidates[i] not in parents], dtype=np.int64)


def named_candidates(allowed: NDArray[np.bool_], names: tuple[str, ...]) -> dict[str, list[str]]:
    """Return a dict from the name of each variable to the names of its candidate parents.

    `allowed[parent, child]` is True if the parent is a candidate of the child.
    """
    return {name: [names[p] for p in np.flatnonzero(allowed[:, child])] for child, name in enumerate(names)}


def allowed_by_margin(margins: Floats, threshold: float = MARGIN, most: int = MAX_INITIAL_CANDIDATES) -> NDArray[np.bool_]:
    """Return a matrix: entry [parent, child] is True if the parent becomes a candidate of the child.

    Only parents with `margins[parent, child]` above the threshold become candidates. Each child gets at most `most`
    candidates: the parents with the highest margins.
    """
    n = len(margins)
    allowed = np.zeros((n, n), dtype=bool)
    for child in range(n):
        above = np.flatnonzero(margins[:, child] > threshold)
        above = above[above != child]
        allowed[above[np.argsort(-margins[above, child], kind="stable")[:most]], child] = True
    return allowed


def allowed_by_frequency(votes: Ints, together: Ints, least: float, most: int = MAX_INITIAL_CANDIDATES) -> NDArray[np.bool_]:
    """Return a matrix: entry [parent, child] is True if the parent becomes a candidate of the child.

    Of the subproblems that contain the parent and the child, at least the fraction `least` must have a solution in which the
    two variables are adjacent. Each child gets at most `most` candidates. `add_votes` explains `votes` and `together`.
    """
    frequency = np.where(together > 0, (votes + votes.T) / np.maximum(together, 1), 0.0)
    return allowed_by_margin(frequency, least - 1e-9, most)


def collect_evidence(table: ScoreTable, subproblems: Ints, deadline: Deadline = NEVER) -> tuple[Floats, Ints, Ints]:
    """Solve subproblems of three or four variables exactly, and return margins and votes.

    Args:
        table: score table of all variables.
        subproblems: indices of the variables of each subproblem, one subproblem per row.
        deadline: deadline after which no further subproblems are solved.

    Returns:
        Three matrices: the lowest margin of each pair of variables (minus infinity if no subproblem contains the pair), the
        number of solutions that contain each edge, and the number of subproblems that contain each pair. `solve_small`
        explains margins.
    """
    n = len(table.names)
    lowest = np.full((n, n), np.inf)
    votes = np.zeros((n, n), dtype=np.int64)
    together = np.zeros((n, n), dtype=np.int64)
    size = subproblems.shape[1]
    for begin in range(0, len(subproblems), 100_000):
        if deadline.passed:
            break
        chunk = subproblems[begin : begin + 100_000]
        gathered = table.gather(chunk)
        adjacency, _, margins = solve_small(gathered.scores, gathered.max_parents)
        for pair, (a, b) in enumerate(combinations(range(size), 2)):
            np.minimum.at(lowest, (chunk[:, a], chunk[:, b]), margins[:, pair])
        add_votes(votes, together, chunk, adjacency)
    symmetric: Floats = np.minimum(lowest, lowest.T)
    symmetric[np.isinf(symmetric)] = -np.inf
    return symmetric, votes, together
