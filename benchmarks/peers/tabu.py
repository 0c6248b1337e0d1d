"""Tabu search over DAGs as documented by R's bnlearn, for machines without R.

The code follows the documentation of `bnlearn::tabu`, not its source. The search starts from the empty graph. Each step
adds, deletes or reverses one arc. It takes the move with the best change of the BDeu(1) score, even if negative, that keeps
the graph acyclic and does not lead to one of the last `length` networks. The search ends after `patience` consecutive steps
without a new best network, and returns the best network. Ties (equal to six decimals) prefer additions, then deletions, then
reversals, and then the first arc in the order of the columns. The number of parents is not limited.
"""

from __future__ import annotations

from collections import deque

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import dagneal

DIGITS = 6  # scores that agree to this many decimals are equal


class Changes:
    """Score changes from adding a parent to a child or removing a parent."""

    def __init__(self, data: dagneal.Dataset) -> None:
        self.scorer = dagneal.scoring.Scorer(data, dagneal.BDeu(1.0))
        self.names = data.names
        self._cache: dict[tuple[int, tuple[int, ...]], NDArray[np.float64]] = {}

    def column(self, child: int, parents: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the score change if each variable is added to or removed from the parents; zero for the child itself."""
        if (child, parents) not in self._cache:
            self._cache[child, parents] = self._score_changes(child, parents)
        return self._cache[child, parents]

    def _score_changes(self, child: int, parents: tuple[int, ...]) -> NDArray[np.float64]:
        others = [v for v in range(len(self.names)) if v != child]
        sets = np.full((len(self.names), len(parents) + 1), -1, dtype=np.int32)
        for row, other in zip(sets, [None, *others], strict=True):
            changed = sorted({*parents} if other is None else {*parents} ^ {other})
            row[: len(changed)] = changed
        scores = self.scorer.score_parents(np.full(len(sets), child), sets)
        changes = np.zeros(len(self.names))
        changes[others] = scores[1:] - scores[0]
        return changes


def tabu_search(data: dagneal.Dataset, length: int = 10, patience: int | None = None) -> nx.DiGraph:
    """Search from the empty graph.

    Args:
        data: the data.
        length: number of recently visited networks that are forbidden; 0 gives a plain hill climb.
        patience: number of consecutive steps without a new best network before the search ends; `length` by default.
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
    """Return the network after the best allowed move, and the score change."""
    reach = reachability(arcs)
    add = np.argwhere(~arcs & ~reach.T & ~np.eye(len(arcs), dtype=bool))
    remove = np.argwhere(arcs)
    detour = (arcs.astype(np.int64) @ reach.astype(np.int64)) > 0  # a directed path of at least two arcs
    reverse = np.argwhere(arcs & ~detour)
    moves = np.concatenate([add, remove, reverse])
    gains = toggled[moves[:, 0], moves[:, 1]]
    gains[len(moves) - len(reverse) :] += toggled[reverse[:, 1], reverse[:, 0]]
    for which in np.argsort(-np.round(gains, DIGITS), kind="stable"):
        parent, child = moves[which]
        after = arcs.copy()
        after[parent, child] = not arcs[parent, child]
        after[child, parent] = which >= len(moves) - len(reverse)
        if after.tobytes() not in forbidden:
            return after, float(gains[which])
    return None


def reachability(arcs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether a directed path of at least one arc leads from each variable to each other."""
    reach = arcs
    while True:
        further = reach | ((reach.astype(np.int64) @ reach.astype(np.int64)) > 0)
        if (further == reach).all():
            return reach
        reach = further
