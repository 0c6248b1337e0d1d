"""Exact search: dynamic programming over subsets of the variables (Silander and Myllymaki 2006).

The best DAG over a set W has a sink, a variable without children in W. So

    best(W) = max over i in W of best(W - i) + the best score of i with parents inside W - i.

The second term is needed for every child and every set. A table of it for all sets would be n times as large as `best`;
here it is made for a few thousand sets at a time. The variables are split into low and high ones. For one set of high
variables, all scores whose high parents lie inside it are dropped into a small array over sets of low variables, and a
maximum over subsets there, which stays in the cache, gives the best parents for all of them at once.
"""

from __future__ import annotations

from time import perf_counter

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats, Ints, Progress, kernel
from dagneal.base.machine import check_room, has_room
from dagneal.graphs.dags import dag_from_parents
from dagneal.runtime.run import DEFAULT_RUN, Run
from dagneal.scoring.table import ScoreTable, check_table
from dagneal.solvers.solution import Solution

MOST_VARIABLES = 28  # 9 bytes for each of 2^n sets: 2.4 GB
_LOW = 11


def exact(table: ScoreTable, run: Run = DEFAULT_RUN) -> Solution:
    """Find a DAG that no other beats, and prove it.

    Args:
        table: local scores with any parent limit, of at most 28 variables.
        run: its progress is reported.

    Returns:
        The best DAG, with `optimal=True`; among equals the one found first, without edges that gain nothing.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> found = exact(score_table(load("lung-cancer").expected(10_000)))
    >>> found.optimal, round(found.score, 3)
    (True, -21036.862)
    """
    check_table(table)
    n = len(table.names)
    if n > MOST_VARIABLES:
        raise InputError(f"exact search takes at most {MOST_VARIABLES} variables, not {n}; use an annealer: solver='sa'")
    check_room(9 << n, f"exact search of {n} variables", "take fewer, or search for an order: solver='order'")
    begun = perf_counter()
    sink = _solve(table, run.progress)
    dag = _dag(table, sink)
    return Solution(
        dag=dag,
        score=table.score(dag),
        max_parents=table.max_parents,
        solver="exact",
        optimal=True,
        seconds={"solve": perf_counter() - begun},
    )


def fits(variables: int) -> bool:
    """Whether there is memory for exact search over so many variables.

    Args:
        variables: how many.
    """
    return has_room(9 << variables)


def _solve(table: ScoreTable, progress: Progress) -> NDArray[np.uint8]:
    """The sink of the best DAG over each set of variables."""
    n = len(table.names)
    low = min(n, _LOW)
    masks = _global_masks(table)
    children = np.repeat(np.arange(n), np.diff(table.start))
    order = np.lexsort((masks, children))
    masks, scores = masks[order], table.scores[order]
    high = (masks >> low).astype(np.int64)
    # A group is a run of one child's sets with the same high part.
    edge = np.flatnonzero((np.diff(high, prepend=-1) != 0) | (np.diff(children, prepend=-1) != 0))
    group_child = children[edge]
    groups = np.searchsorted(group_child, np.arange(n + 1))
    bounds = np.append(edge, len(masks))
    best = np.full(1 << n, -np.inf)
    best[0] = 0.0
    sink = np.full(1 << n, 255, dtype=np.uint8)
    patterns = 1 << (n - low)
    step = max(1, patterns // 100)
    for begin in range(0, patterns, step):
        end = min(begin + step, patterns)
        _fill(n, low, begin, end, groups, high[edge], bounds, masks & ((1 << low) - 1), scores, best, sink)
        progress("exact search", end, patterns)
    if not np.isfinite(best[-1]):
        raise InputError("no DAG fits the parent sets of this table")
    return sink


def _global_masks(table: ScoreTable) -> Ints:
    """The parent sets of all entries as bits over all variables."""
    masks = np.zeros(len(table.masks), dtype=np.int64)
    for child in range(len(table.names)):
        entries = table.entries_of(child)
        for bit, variable in enumerate(table.candidates_of(child)):
            masks[entries] |= ((table.masks[entries] >> np.uint64(bit)) & np.uint64(1)).astype(np.int64) << variable
    return masks


def _dag(table: ScoreTable, sink: NDArray[np.uint8]) -> nx.DiGraph:
    """Take the sinks off one by one; each has its best parents among what is left."""
    left = np.ones(len(table.names), dtype=bool)
    parents: dict[str, list[str]] = {name: [] for name in table.names}
    remaining = len(sink) - 1
    while remaining:
        child = int(sink[remaining])
        remaining ^= 1 << child
        left[child] = False
        parents[table.names[child]] = [table.names[v] for v in table.best_parents(child, left)]
    return dag_from_parents(parents)


@kernel
def _fill(
    n: int,
    low: int,
    begin: int,
    end: int,
    groups: Ints,
    group_high: Ints,
    bounds: Ints,
    low_masks: Ints,
    scores: Floats,
    best: Floats,
    sink: NDArray[np.uint8],
) -> None:
    """Solve all sets whose high part is in begin..end; those with smaller parts are solved already."""
    size = 1 << low
    inside = np.empty((low, size))
    one = np.empty(size)
    for pattern in range(begin, end):
        base = pattern * size
        for child in range(low, n):  # the sink is a high variable
            if pattern >> (child - low) & 1:
                _best_parents(child, pattern, low, groups, group_high, bounds, low_masks, scores, one)
                before = (pattern ^ (1 << (child - low))) * size
                for w in range(size):
                    value = best[before + w] + one[w]
                    if value > best[base + w]:
                        best[base + w] = value
                        sink[base + w] = child
        for child in range(low):
            _best_parents(child, pattern, low, groups, group_high, bounds, low_masks, scores, inside[child])
        for w in range(1, size):  # the sink is a low variable
            top = best[base + w]
            for child in range(low):
                if w >> child & 1:
                    before = w ^ (1 << child)
                    value = best[base + before] + inside[child, before]
                    if value > top:
                        top = value
                        sink[base + w] = child
            best[base + w] = top


@kernel
def _best_parents(
    child: int,
    pattern: int,
    low: int,
    groups: Ints,
    group_high: Ints,
    bounds: Ints,
    low_masks: Ints,
    scores: Floats,
    out: Floats,
) -> None:
    """For each set of low variables, the best score of a child with parents in it or in the pattern of high ones."""
    out[:] = -np.inf
    for group in range(groups[child], groups[child + 1]):
        if group_high[group] & ~pattern == 0:
            for entry in range(bounds[group], bounds[group + 1]):
                if scores[entry] > out[low_masks[entry]]:
                    out[low_masks[entry]] = scores[entry]
    for bit in range(low):
        flag = 1 << bit
        for start in range(0, len(out), 2 * flag):
            for w in range(start, start + flag):
                out[w + flag] = max(out[w + flag], out[w])
