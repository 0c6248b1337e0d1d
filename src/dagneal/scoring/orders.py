"""What an order of the variables is worth: every child takes its best parents among those before it."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints, Masks, kernel
from dagneal.graphs.dags import dag_from_parents
from dagneal.scoring.table import ScoreTable


def score_orders(table: ScoreTable, orders: Ints) -> Floats:
    """The best log score that each order allows.

    Args:
        table: the local scores.
        orders: positions of the variables, first to last, one order per line.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> table = score_table(load("lung-cancer").expected(10_000))
    >>> score_orders(table, np.array([[0, 1, 2, 3, 4]])).round(2)
    array([-21036.86])
    """
    masks, scores = table.best_first
    return _score_orders(np.ascontiguousarray(orders), table.first, table.candidates, table.start, masks, scores)


def dag_of_order(table: ScoreTable, order: Ints) -> nx.DiGraph:
    """The best DAG that an order allows.

    Args:
        table: the local scores.
        order: positions of the variables, first to last.
    """
    before = np.zeros(len(order), dtype=bool)
    parents = {}
    for child in order:
        parents[table.names[child]] = [table.names[v] for v in table.best_parents(int(child), before)]
        before[child] = True
    return dag_from_parents({name: parents[name] for name in table.names})


def random_orders(
    variables: int, count: int, seed: int | None, block: int = 65_536, required: NDArray[np.bool_] | None = None
) -> Iterator[Ints]:
    """Uniformly random orders, in blocks of at most 65,536; with required edges changed as little as these need.

    Args:
        variables: the length of an order.
        count: how many orders.
        seed: the same seed gives the same orders.
        block: how many are in one block.
        required: `required[parent, child]`, edges whose parent must come first.
    """
    generator = np.random.default_rng(seed)
    for start in range(0, count, block):
        identity = np.broadcast_to(np.arange(variables), (min(block, count - start), variables))
        drawn = generator.permuted(identity, axis=1)
        yield drawn if required is None else keeping(drawn, required)


@kernel
def keeping(orders: Ints, required: NDArray[np.bool_]) -> Ints:
    """Orders in which the parent of each required edge comes first, otherwise as they were."""
    found = np.empty_like(orders)
    rank = np.empty(orders.shape[1], dtype=np.int64)
    for line in range(len(orders)):
        for position in range(orders.shape[1]):
            rank[orders[line, position]] = -position
        sort_by(required, rank, found[line])
    return found


@kernel
def _score_orders(orders: Ints, first: Ints, candidates: Ints, start: Ints, masks: Masks, scores: Floats) -> Floats:
    count, n = orders.shape
    total = np.zeros(count)
    place = np.empty(n, dtype=np.int64)
    for line in range(count):
        for position in range(n):
            place[orders[line, position]] = position
        for child in range(n):
            later = np.uint64(0)
            for bit in range(first[child + 1] - first[child]):
                if place[candidates[first[child] + bit]] > place[child]:
                    later |= np.uint64(1) << np.uint64(bit)
            best = -np.inf
            for entry in range(start[child], start[child + 1]):
                if masks[entry] & later == np.uint64(0):
                    best = scores[entry]
                    break
            total[line] += best
    return total


@kernel
def sort_by(precedes: NDArray[np.bool_], wins: Ints, order: Ints) -> bool:
    """Kahn's algorithm; of the variables that may come next the one with most wins is taken. False if there is a cycle."""
    n = len(wins)
    waiting = np.empty(n, dtype=np.int64)
    for v in range(n):
        waiting[v] = precedes[:, v].sum()
    for position in range(n):
        best = -1
        for v in range(n):
            if waiting[v] == 0 and (best < 0 or wins[v] > wins[best]):
                best = v
        if best < 0:
            return False
        order[position] = best
        waiting[best] = -1
        for v in range(n):
            if precedes[best, v]:
                waiting[v] -= 1
    return True
