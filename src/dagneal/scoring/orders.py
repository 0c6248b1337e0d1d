"""Scores of variable orders. Each child gets its best parents among the variables before it in the order."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints, Masks, kernel, kernel_with_arrays
from dagneal.graphs.dags import dag_from_parents
from dagneal.scoring.sets import first_subset, set_bit, squeeze_words
from dagneal.scoring.table import ScoreTable


def score_orders(table: ScoreTable, orders: Ints) -> Floats:
    """Return, for each order, the log score of the best DAG in which parents come before their children in the order.

    Args:
        table: score table.
        orders: array with one order per row, as indices of the variables from first to last.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> table = score_table(load("lung-cancer").expected_data(10_000))
    >>> score_orders(table, np.array([[0, 1, 2, 3, 4]])).round(2)
    array([-21036.86])
    """
    masks, scores = table.best_first
    layout = table.first, table.candidates, table.start
    return _score_orders(np.ascontiguousarray(orders), *layout, squeeze_words(masks), scores)


def dag_of_order(table: ScoreTable, order: Ints) -> nx.DiGraph:
    """Return the best DAG in which parents come before their children in a given order.

    Args:
        table: score table.
        order: indices of the variables, from first to last.
    """
    before = np.zeros(len(order), dtype=bool)
    parents = {}
    for child in order:
        parents[table.names[child]] = [table.names[v] for v in table.best_parents(int(child), before)]
        before[child] = True
    return dag_from_parents({name: parents[name] for name in table.names})


def random_orders(
    variables: int, count: int, seed: int | None, chunk: int = 65_536, required: NDArray[np.bool_] | None = None
) -> Iterator[Ints]:
    """Yield uniformly random orders of variables, in chunks with one order per row.

    If there are required edges, each random order is changed so that the parent of each required edge precedes the child.

    Args:
        variables: number of variables.
        count: total number of orders.
        seed: seed of the random generator.
        chunk: largest number of orders in a chunk.
        required: boolean matrix; `required[parent, child]` is True if the edge is required. None if there are no required
            edges.
    """
    generator = np.random.default_rng(seed)
    for start in range(0, count, chunk):
        identity = np.broadcast_to(np.arange(variables), (min(chunk, count - start), variables))
        drawn = generator.permuted(identity, axis=1)
        yield drawn if required is None else enforce_required(drawn, required)


def enforce_required(orders: Ints, required: NDArray[np.bool_]) -> Ints:
    """Return the orders, changed so that the parent of each required edge comes before the child.

    Args:
        orders: array with one order per row.
        required: boolean matrix; `required[parent, child]` is True if the edge is required. There must be no cycle.
    """
    changed, priority, waiting = np.empty_like(orders), np.empty_like(orders[0]), np.empty_like(orders[0])
    if not _sort_each(orders, required, priority, waiting, changed):
        raise AssertionError("the required edges have a cycle")
    return changed


@kernel
def _sort_each(orders: Ints, required: NDArray[np.bool_], priority: Ints, waiting: Ints, changed: Ints) -> bool:
    """Write the orders into `changed`, so that the parent of each required edge comes before the child.

    Return False if there is a cycle. `priority` and `waiting` are working memory.
    """
    for line in range(len(orders)):
        for position in range(orders.shape[1]):
            priority[orders[line, position]] = -position
        if not sort_topologically(required, priority, waiting, changed[line]):
            return False
    return True


@kernel_with_arrays
def _score_orders(orders: Ints, first: Ints, candidates: Ints, start: Ints, masks: Masks, scores: Floats) -> Floats:
    count, n = orders.shape
    total = np.zeros(count)
    rank = np.empty(n, dtype=np.int64)  # position of each variable in the order
    before = np.empty((1, *masks.shape[1:]), dtype=np.uint64)  # candidates of a child that come before the child
    for line in range(count):
        for position in range(n):
            rank[orders[line, position]] = position
        for child in range(n):
            before[:] = np.uint64(0)
            for bit in range(first[child + 1] - first[child]):
                set_bit(before, 0, bit, rank[candidates[first[child] + bit]] < rank[child])
            entry = first_subset(masks, start[child], start[child + 1], before, 0)
            total[line] += scores[entry] if entry >= 0 else -np.inf
    return total


@kernel
def sort_topologically(precedes: NDArray[np.bool_], priority: Ints, waiting: Ints, order: Ints) -> bool:
    """Write a topological order into `order` and return True, or return False if there is a cycle.

    Variable i must come before variable j if `precedes[i, j]` is True. This function uses Kahn's algorithm: of all variables
    that may come next, it takes the variable v with the highest `priority[v]`. `waiting` is working memory.
    """
    n = len(priority)
    for v in range(n):
        waiting[v] = 0
        for other in range(n):
            waiting[v] += precedes[other, v]
    for position in range(n):
        best = -1
        for v in range(n):
            if waiting[v] == 0 and (best < 0 or priority[v] > priority[best]):
                best = v
        if best < 0:
            return False
        order[position] = best
        waiting[best] = -1
        for v in range(n):
            if precedes[best, v]:
                waiting[v] -= 1
    return True
