"""Exact search: dynamic programming over subsets of the variables (Silander and Myllymaki 2006).

Every DAG over a set W of variables has a sink, which is a variable without children in W. So

    best(W) = max over i in W of best(W - i) + (best score of i with parents inside W - i),

where W - i is W without i. A table of the second term, for every child and every set, would be n times as large as `best`.
So the term is computed for 2^11 sets at a time; see `dagneal.solvers.lattice`. The first 11 variables are called low, the
others high. For each child and each set H of high variables, a small array gets the scores of all parent sets whose high
variables are in H. The array has one entry for each set of low variables. Maxima over subsets in this array give the second
term for all its sets at once. The array fits into the processor cache.
"""

from __future__ import annotations

from time import perf_counter

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats, Ints, Progress, kernel
from dagneal.base.machine import check_memory, has_memory
from dagneal.graphs.dags import dag_from_parents
from dagneal.runtime.run import DEFAULT_RUN, Run
from dagneal.scoring.table import ScoreTable, check_table
from dagneal.solvers.lattice import Lattice
from dagneal.solvers.solution import Solution

MAX_VARIABLES = 28  # 9 bytes for each of 2^n sets: 2.4 GB


def exact(table: ScoreTable, run: Run = DEFAULT_RUN) -> Solution:
    """Find a DAG with the highest score. The result is proved optimal.

    Args:
        table: local scores of at most 28 variables, with any parent limit.
        run: `Run` object that receives the progress reports.

    Returns:
        The best DAG, with `optimal=True`. Removing any of its edges would lower the score.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> solution = exact(score_table(load("lung-cancer").expected_data(10_000)))
    >>> solution.optimal, round(solution.score, 3)
    (True, -21036.862)
    """
    check_table(table)
    n = len(table.names)
    if n > MAX_VARIABLES:
        raise InputError(
            f"exact search supports at most {MAX_VARIABLES} variables, not {n}; use an annealer, such as solver='sa'"
        )
    check_memory(9 << n, f"exact search of {n} variables", "use fewer variables or solver='order'")
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
    """Return whether this machine has enough memory for exact search.

    Args:
        variables: number of variables.
    """
    return has_memory(9 << variables)


def _solve(table: ScoreTable, progress: Progress) -> NDArray[np.uint8]:
    """Return an array with a sink of the best DAG over each set of variables. The index is the bit mask of the set."""
    n = len(table.names)
    low, groups, group_high, bounds, low_masks, order = Lattice.build(table)
    scores = table.scores[order]
    best = np.full(1 << n, -np.inf)
    best[0] = 0.0
    sink = np.full(1 << n, 255, dtype=np.uint8)
    memory = np.empty((low + 1, 1 << low))
    patterns = 1 << (n - low)
    step = max(1, patterns // 100)
    for begin in range(0, patterns, step):
        end = min(begin + step, patterns)
        _fill(n, low, begin, end, groups, group_high, bounds, low_masks, scores, memory, best, sink)
        progress("exact search", end, patterns)
    if not np.isfinite(best[-1]):
        raise InputError("no DAG is possible with the parent sets of this table; add more parent sets")
    return sink


def _dag(table: ScoreTable, sink: NDArray[np.uint8]) -> nx.DiGraph:
    """Return the best DAG, given a sink of the best DAG over each set of variables.

    Sinks are removed one by one. Each sink gets its best parents among the variables that remain.
    """
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
    memory: Floats,
    best: Floats,
    sink: NDArray[np.uint8],
) -> None:
    """Compute `best` and `sink` for all sets whose high variables have a bit mask from `begin` to `end` - 1.

    `best` and `sink` must already contain the results for smaller masks. The module docstring explains high variables.
    `memory[child]` gets the second term of `best` for a low child, and `memory[low]` for one high child.
    """
    size = 1 << low
    for pattern in range(begin, end):
        base = pattern * size
        for child in range(low, n):  # the sink is a high variable
            if pattern >> (child - low) & 1:
                _best_parents(child, pattern, low, groups, group_high, bounds, low_masks, scores, memory[low])
                before = (pattern ^ (1 << (child - low))) * size
                for w in range(size):
                    value = best[before + w] + memory[low, w]
                    if value > best[base + w]:
                        best[base + w] = value
                        sink[base + w] = child
        for child in range(low):
            _best_parents(child, pattern, low, groups, group_high, bounds, low_masks, scores, memory[child])
        for w in range(1, size):  # the sink is a low variable
            top = best[base + w]
            for child in range(low):
                if w >> child & 1:
                    before = w ^ (1 << child)
                    value = best[base + before] + memory[child, before]
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
    """Write to `out`, for each set of low variables, the best score of a child with parents in this set or in `pattern`.

    `pattern` is the bit mask of a set of high variables. The module docstring explains low and high variables.
    """
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
