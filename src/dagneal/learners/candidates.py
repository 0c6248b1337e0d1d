"""Candidate parents: who may be a parent of whom, from the evidence of small problems and from what a network lacks.

Two variables that are adjacent in the network stay adjacent in nearly every block; two that are not are separated in some.
So the worst margin of a pair over its blocks (best score with the two adjacent minus best without) says whether they may be
parents of each other.
"""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.kernels import Floats, Ints, Progress
from dagneal.learners.blocks import count_votes, solve_small
from dagneal.learners.order import search
from dagneal.orders import dag_of_order
from dagneal.scorer import MOST_CANDIDATES, Scorer
from dagneal.table import ScoreTable

MARGIN = -10.0  # nats; a soft vote, since near-deterministic relations separate true neighbours in some blocks
MOST_PER_CHILD = 10
MOST_GROWN = 16


def outside_gains(
    scorer: Scorer,
    dag: nx.DiGraph,
    allowed: NDArray[np.bool_],
    max_parents: int,
    near: NDArray[np.bool_] | None = None,
    most: int = 3,
) -> tuple[list[tuple[int, int]], int]:
    """Variables that are no candidates of a child, but would raise its score: beside its parents, or in place of one.

    Returns:
        The best few as (variable, child), and how many children want more but have too many candidates already.
    """
    names = scorer.data.names
    position = {name: i for i, name in enumerate(names)}
    children, candidate_lists, mask_lists, meaning = [], [], [], []
    for child, name in enumerate(names):
        parents = sorted(position[p] for p in dag.predecessors(name))
        possible = ~allowed[:, child] if near is None else near[:, child] & ~allowed[:, child]
        outside = [int(v) for v in np.flatnonzero(possible) if v != child]
        step = MOST_CANDIDATES - len(parents)
        for begin in range(0, len(outside), step):
            new = outside[begin : begin + step]
            own = sorted([*parents, *new])
            bit = {v: 1 << i for i, v in enumerate(own)}
            now = sum(bit[p] for p in parents)
            options = [(v, now | bit[v]) for v in new if len(parents) < max_parents]
            options += [(v, now ^ bit[p] | bit[v]) for v in new for p in parents]
            children.append(child)
            candidate_lists.append(np.array(own, dtype=np.int64))
            mask_lists.append(np.array([now, *(mask for _, mask in options)], dtype=np.uint64))
            meaning.append([v for v, _ in options])
    if not children:
        return [], 0
    scores = scorer.scores_of(children, candidate_lists, mask_lists)
    gains: dict[int, dict[int, float]] = {}
    begin = 0
    for child, masks, who in zip(children, mask_lists, meaning, strict=True):
        values = scores[begin : begin + len(masks)]
        begin += len(masks)
        for variable, value in zip(who, values[1:] - values[0], strict=True):
            if value > 1e-6:
                best = gains.setdefault(child, {})
                best[variable] = max(best.get(variable, 0.0), float(value))
    chosen, crowded = [], 0
    for child, found in gains.items():
        room = max(MOST_GROWN - int(allowed[:, child].sum()), 0)
        crowded += room == 0
        ranked = sorted(found, key=lambda v: (-found[v], v))[: min(most, room)]
        chosen += [(variable, child) for variable in ranked]
    return chosen, crowded


def named_candidates(allowed: NDArray[np.bool_], names: tuple[str, ...]) -> dict[str, list[str]]:
    """The candidates of each variable by name; `allowed[parent, child]` says who they are."""
    return {name: [names[p] for p in np.flatnonzero(allowed[:, child])] for child, name in enumerate(names)}


def allowed_by_margin(margins: Floats, threshold: float = MARGIN, most: int = MOST_PER_CHILD) -> NDArray[np.bool_]:
    """Candidates from worst margins: pairs above the threshold, the best few of each variable."""
    n = len(margins)
    allowed = np.zeros((n, n), dtype=bool)
    for child in range(n):
        ranked = np.argsort(-margins[:, child], kind="stable")
        kept = [v for v in ranked if v != child and margins[v, child] > threshold][:most]
        allowed[kept, child] = True
    return allowed


def allowed_by_share(votes: Ints, together: Ints, least: float, most: int = MOST_PER_CHILD) -> NDArray[np.bool_]:
    """Candidates from votes: pairs that are adjacent in at least such a share of the blocks that hold them."""
    share = np.where(together > 0, (votes + votes.T) / np.maximum(together, 1), 0.0)
    return allowed_by_margin(share, least - 1e-9, most)


def small_evidence(table: ScoreTable, blocks: Ints) -> tuple[Floats, Ints, Ints]:
    """Solve blocks of three or four variables exactly.

    Returns:
        For each pair the smallest margin over the blocks that hold it, minus infinity where none does; how many solutions
        have each edge; and how many blocks hold each pair.
    """
    n = len(table.names)
    worst = np.full((n, n), np.inf)
    votes = np.zeros((n, n), dtype=np.int64)
    together = np.zeros((n, n), dtype=np.int64)
    size = blocks.shape[1]
    for begin in range(0, len(blocks), 100_000):
        piece = blocks[begin : begin + 100_000]
        gathered = table.gather(piece)
        adjacency, _, margins = solve_small(gathered.scores, gathered.max_parents)
        for pair, (a, b) in enumerate(combinations(range(size), 2)):
            np.minimum.at(worst, (piece[:, a], piece[:, b]), margins[:, pair])
        counted = count_votes(n, piece, adjacency)
        votes += counted[0]
        together += counted[1]
    both: Floats = np.minimum(worst, worst.T)
    both[np.isinf(both)] = -np.inf
    return both, votes, together


def from_complete(
    table: ScoreTable, seed: int, progress: Progress | None, deadline: float | None = None
) -> tuple[NDArray[np.bool_], nx.DiGraph]:
    """First candidates from all sets of a few parents: nothing can be lost there. Also the best network among them."""
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
    order, _ = search(table, seed, 200, progress=progress, deadline=deadline)
    return allowed, dag_of_order(table, order)
