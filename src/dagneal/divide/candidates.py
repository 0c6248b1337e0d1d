"""Candidate parents: who may be a parent of whom, from the evidence of small problems and from what a network lacks.

Two variables that are adjacent in the network stay adjacent in nearly every subproblem; two that are not are separated in
some. So the worst margin of a pair over its subproblems (best score with the two adjacent minus best without) says whether
they may be parents of each other.
"""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints
from dagneal.divide.subproblems import add_votes, solve_small
from dagneal.runtime.run import NEVER, Deadline, Run
from dagneal.scoring.orders import dag_of_order
from dagneal.scoring.scorer import MOST_CANDIDATES, Scorer
from dagneal.scoring.table import ScoreTable
from dagneal.solvers.order_search import search

MARGIN = -10.0  # nats; a soft vote, since near-deterministic relations separate true neighbours in some subproblems
MOST_PER_CHILD = 10
MOST_GROWN = 16


class Outside:
    """Looks for variables that are no candidates of a child but would raise its score, beside a parent or in its place.

    What was found for a child stays true while it has the same parents, so it is kept. A child with as many candidates as it
    may have gives up those that serve it least, each once and for all.

    Args:
        scorer: scores what is asked for.
        max_parents: the most parents of a variable.
        near: `near[variable, child]`, who is looked at; all by default.
    """

    def __init__(self, scorer: Scorer, max_parents: int, near: NDArray[np.bool_] | None = None) -> None:
        self.scorer = scorer
        self.max_parents = max_parents
        self.near = near
        self._known: dict[int, tuple[list[int], Floats]] = {}
        self._gone = np.zeros((len(scorer.data.names),) * 2, dtype=bool)

    def best(
        self, dag: nx.DiGraph, allowed: NDArray[np.bool_], table: ScoreTable | None = None, most: int = 3
    ) -> tuple[NDArray[np.bool_], int]:
        """Candidates with the best few more for each child, and how many children want more but have no room.

        Args:
            dag: the network that is to be improved.
            allowed: `allowed[variable, child]`, the candidates.
            table: of these candidates; it says which serve a child least.
            most: how many more for each child.
        """
        grown = allowed.copy()
        crowded = 0
        for child, gains in enumerate(self._gains(dag)):
            wanted = np.flatnonzero((gains > 1e-6) & ~allowed[:, child] & ~self._gone[:, child])
            if not len(wanted):
                continue
            ranked = wanted[np.argsort(-gains[wanted], kind="stable")][:most]
            room = max(MOST_GROWN - int(allowed[:, child].sum()), 0)
            if room < len(ranked) and table is not None:
                least = _least(table, child, dag)[: len(ranked) - room]
                grown[least, child], self._gone[least, child] = False, True
                room += len(least)
            crowded += room == 0
            grown[ranked[:room], child] = True
        return grown, crowded

    def _gains(self, dag: nx.DiGraph) -> list[Floats]:
        """For each child what each other variable would gain it, minus infinity for those not looked at."""
        names = self.scorer.data.names
        position = {name: i for i, name in enumerate(names)}
        parents = [sorted(position[p] for p in dag.predecessors(name)) for name in names]
        changed = [c for c, own in enumerate(parents) if c not in self._known or self._known[c][0] != own]
        children, candidates, masks, new = [], [], [], []
        for child in changed:
            possible = np.ones(len(names), dtype=bool) if self.near is None else self.near[:, child].copy()
            possible[[child, *parents[child]]] = False
            outside = np.flatnonzero(possible)
            step = MOST_CANDIDATES - len(parents[child])
            for begin in range(0, len(outside), step):
                some = outside[begin : begin + step]
                own = np.sort(np.append(some, parents[child]).astype(np.int64))
                bits = np.uint64(1) << np.searchsorted(own, some).astype(np.uint64)
                held = np.uint64(1) << np.searchsorted(own, parents[child]).astype(np.uint64)
                now = np.bitwise_or.reduce(held, initial=np.uint64(0))
                bases = [now ^ each for each in held] + ([now] if len(held) < self.max_parents else [])
                children.append(child)
                candidates.append(own)
                masks.append(np.concatenate([[now], *(base | bits for base in bases)]).astype(np.uint64))
                new.append(some)
        found = {child: np.full(len(names), -np.inf) for child in changed}
        scores = self.scorer.scores_of(children, candidates, masks) if children else np.empty(0)
        begin = 0
        for child, its, some in zip(children, masks, new, strict=True):
            values = scores[begin : begin + len(its)]
            begin += len(its)
            if len(its) > 1:
                found[child][some] = (values[1:].reshape(-1, len(some)) - values[0]).max(axis=0)
        self._known |= {child: (parents[child], gains) for child, gains in found.items()}
        return [self._known[child][1] for child in range(len(names))]


def _least(table: ScoreTable, child: int, dag: nx.DiGraph) -> Ints:
    """The candidates of a child that are not its parents, those first whose best set of parents scores least."""
    own = table.candidates_of(child)
    entries = table.entries_of(child)
    masks, scores = table.masks[entries], table.scores[entries]
    with_it = [scores[(masks >> np.uint64(bit)) & np.uint64(1) == 1].max(initial=-np.inf) for bit in range(len(own))]
    parents = {table.position[p] for p in dag.predecessors(table.names[child])}
    return np.array([own[i] for i in np.argsort(with_it, kind="stable") if own[i] not in parents], dtype=np.int64)


def named_candidates(allowed: NDArray[np.bool_], names: tuple[str, ...]) -> dict[str, list[str]]:
    """The candidates of each variable by name; `allowed[parent, child]` says who they are."""
    return {name: [names[p] for p in np.flatnonzero(allowed[:, child])] for child, name in enumerate(names)}


def allowed_by_margin(margins: Floats, threshold: float = MARGIN, most: int = MOST_PER_CHILD) -> NDArray[np.bool_]:
    """Candidates from worst margins: pairs above the threshold, the best few of each variable."""
    n = len(margins)
    allowed = np.zeros((n, n), dtype=bool)
    for child in range(n):
        wanted = np.flatnonzero(margins[:, child] > threshold)
        wanted = wanted[wanted != child]
        allowed[wanted[np.argsort(-margins[wanted, child], kind="stable")[:most]], child] = True
    return allowed


def allowed_by_share(votes: Ints, together: Ints, least: float, most: int = MOST_PER_CHILD) -> NDArray[np.bool_]:
    """Candidates from votes: pairs that are adjacent in at least such a share of the subproblems that hold them."""
    share = np.where(together > 0, (votes + votes.T) / np.maximum(together, 1), 0.0)
    return allowed_by_margin(share, least - 1e-9, most)


def small_evidence(table: ScoreTable, subproblems: Ints, deadline: Deadline = NEVER) -> tuple[Floats, Ints, Ints]:
    """Solve subproblems of three or four variables exactly.

    Args:
        table: the scores.
        subproblems: positions of variables, one subproblem per line.
        deadline: after it no more subproblems are solved.

    Returns:
        For each pair the smallest margin over the subproblems that hold it, minus infinity where none does; how many
        solutions have each edge; and how many subproblems hold each pair.
    """
    n = len(table.names)
    worst = np.full((n, n), np.inf)
    votes = np.zeros((n, n), dtype=np.int64)
    together = np.zeros((n, n), dtype=np.int64)
    size = subproblems.shape[1]
    for begin in range(0, len(subproblems), 100_000):
        if deadline.passed:
            break
        piece = subproblems[begin : begin + 100_000]
        gathered = table.gather(piece)
        adjacency, _, margins = solve_small(gathered.scores, gathered.max_parents)
        for pair, (a, b) in enumerate(combinations(range(size), 2)):
            np.minimum.at(worst, (piece[:, a], piece[:, b]), margins[:, pair])
        add_votes(votes, together, piece, adjacency)
    both: Floats = np.minimum(worst, worst.T)
    both[np.isinf(both)] = -np.inf
    return both, votes, together


def candidates_of_table(table: ScoreTable, run: Run) -> tuple[NDArray[np.bool_], nx.DiGraph]:
    """Return first candidates from all sets of a few parents, where nothing can be lost, and the best network among them.

    Args:
        table: over all parents.
        run: of the order search.
    """
    start, masks, _ = table.pruned
    n = len(table.names)
    allowed = np.zeros((n, n), dtype=bool)
    for child in range(n):
        candidates = table.candidates_of(child)
        for mask in masks[start[child] : start[child + 1]]:
            members = [v for bit, v in enumerate(candidates) if int(mask) >> bit & 1]
            new = [v for v in members if not allowed[v, child]]
            if allowed[:, child].sum() + len(new) <= MOST_PER_CHILD + 2:
                allowed[new, child] = True
    order, _ = search(table, 200, run=run)
    return allowed, dag_of_order(table, order)
