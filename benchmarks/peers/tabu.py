"""Tabu search over directed acyclic graphs, as R's bnlearn documents it: what stands for it where R is not installed.

Written from the documentation of `bnlearn::tabu`, not from its source. It begins with the empty graph. Every step takes
the legal addition, deletion or reversal of an arc that changes the BDeu(1) score most for the better (or least for the
worse) and does not lead to one of the last `length` networks visited. It ends after `patience` steps in a row without a
new best network, and returns the best. Ties (equal to six decimals) go to additions, then deletions, then reversals, and
among those to the arc that comes first in the order of the columns. The number of parents is not limited.
"""

from __future__ import annotations

from collections import deque

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import dagneal

DIGITS = 6  # scores that agree to so many decimals are equal
MOST_BITS = 64  # of a mask of candidate parents


class Changes:
    """What it does to a child's score to add a parent that it lacks, or to remove one that it has."""

    def __init__(self, data: dagneal.Dataset) -> None:
        self.scorer = dagneal.scoring.Scorer(data, dagneal.BDeu(1.0))
        self.names = data.names
        self._known: dict[tuple[int, tuple[int, ...]], NDArray[np.float64]] = {}

    def column(self, child: int, parents: tuple[int, ...]) -> NDArray[np.float64]:
        """The change for each variable as the one that is added or removed; zero for the child itself."""
        if (child, parents) not in self._known:
            self._known[child, parents] = self._scored(child, parents)
        return self._known[child, parents]

    def _scored(self, child: int, parents: tuple[int, ...]) -> NDArray[np.float64]:
        others = [v for v in range(len(self.names)) if v != child]
        step = MOST_BITS - len(parents)
        changes = np.zeros(len(self.names))
        for begin in range(0, len(others), step):
            some = others[begin : begin + step]
            candidates = sorted({*parents, *some})
            bit = {v: 1 << place for place, v in enumerate(candidates)}
            now = sum(bit[p] for p in parents)
            masks = np.array([now, *(now ^ bit[v] for v in some)], dtype=np.uint64)
            scores = self.scorer.scores_of([child], [np.array(candidates, dtype=np.int64)], [masks])
            changes[some] = scores[1:] - scores[0]
        return changes


def tabu_search(data: dagneal.Dataset, length: int = 10, patience: int | None = None) -> nx.DiGraph:
    """Search from the empty graph.

    Args:
        data: the data.
        length: how many of the networks visited last are forbidden; 0 makes it a plain hill climb.
        patience: how many steps in a row may fail to give a new best network; as many as `length` by default.
    """
    allowed = max(length if patience is None else patience, 1)
    changes = Changes(data)
    n = len(data.names)
    arcs = np.zeros((n, n), dtype=bool)  # arcs[parent, child]
    toggled = np.array([changes.column(child, ()) for child in range(n)]).T
    forbidden: deque[bytes] = deque([arcs.tobytes()], maxlen=length)
    score = best_score = sum(changes.scorer.local(name) for name in data.names)
    best, failures = arcs, 0
    while failures < allowed:
        move = _best_move(arcs, toggled, forbidden)
        if move is None:
            break
        after, gain = move
        score += gain
        better = round(score - best_score, DIGITS) > 0
        for child in np.flatnonzero((after != arcs).any(axis=0)):
            toggled[:, child] = changes.column(int(child), tuple(int(p) for p in np.flatnonzero(after[:, child])))
        arcs = after
        forbidden.append(arcs.tobytes())
        failures = 0 if better else failures + 1
        if better:
            best, best_score = arcs, score
    dag = nx.DiGraph()
    dag.add_nodes_from(data.names)
    dag.add_edges_from((data.names[p], data.names[c]) for p, c in np.argwhere(best))
    return dag


def _best_move(
    arcs: NDArray[np.bool_], toggled: NDArray[np.float64], forbidden: deque[bytes]
) -> tuple[NDArray[np.bool_], float] | None:
    """The network after the best move that is legal and not forbidden, and what the move gains."""
    reach = reachability(arcs)
    add = np.argwhere(~arcs & ~reach.T & ~np.eye(len(arcs), dtype=bool))
    remove = np.argwhere(arcs)
    detour = (arcs.astype(np.int64) @ reach.astype(np.int64)) > 0  # a way of two arcs or more
    turn = np.argwhere(arcs & ~detour)
    moves = np.concatenate([add, remove, turn])
    gains = toggled[moves[:, 0], moves[:, 1]]
    gains[len(moves) - len(turn) :] += toggled[turn[:, 1], turn[:, 0]]
    for which in np.argsort(-np.round(gains, DIGITS), kind="stable"):
        parent, child = moves[which]
        after = arcs.copy()
        after[parent, child] = not arcs[parent, child]
        after[child, parent] = which >= len(moves) - len(turn)
        if after.tobytes() not in forbidden:
            return after, float(gains[which])
    return None


def reachability(arcs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which variable leads to which, by one arc or more."""
    reach = arcs
    while True:
        further = reach | ((reach.astype(np.int64) @ reach.astype(np.int64)) > 0)
        if (further == reach).all():
            return reach
        reach = further
