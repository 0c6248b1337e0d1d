"""Screening for many variables: consider only pairs with a score gain, and triples that contain two of these pairs."""

from __future__ import annotations

from time import perf_counter

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.defaults import PAPER_PARENTS
from dagneal.base.kernels import Floats, Ints
from dagneal.base.machine import cores
from dagneal.data.planes import MAX_PLANE_STATES
from dagneal.divide.candidates import allowed_by_margin, collect_evidence, named_candidates
from dagneal.divide.conquer import MAX_GLOBAL_SOLVES, CandidateSearch
from dagneal.divide.global_solve import ClassicalSolver
from dagneal.runtime.run import Deadline, Run
from dagneal.scoring.scorer import Scorer
from dagneal.search.joint_gains import joint_gains, left_out_columns, triple_cost
from dagneal.solvers.policy import COMPLETE_WORK, LARGE
from dagneal.solvers.solution import Division, Solution

MAX_NEIGHBOURS = 40  # maximum number of neighbours that a variable chooses
_MAX_BOTH_WAYS = 64  # maximum number of neighbours that a variable chooses or that choose it
_MAX_TRIPLE_COST = 2e11  # in rows to read; about 90 seconds on two cores
_TARGET_TRIPLES = 1e6  # approximate number of triples to solve, if there are many variables
_LOOKUP_COST = 1500.0  # cost of looking up a parent set, in rows to read
_ROWS_PER_SECOND = 1e9  # rows read per second on one core


def screen(scorer: Scorer, limit: int, initial: nx.DiGraph | None, run: Run) -> Solution:
    """Learn a network from data with too many variables for a score table of all parent sets.

    Args:
        scorer: scorer of the data.
        limit: parent limit.
        initial: initial DAG of the search.
        run: a `Run` with seed, deadline and progress.
    """
    names = scorer.data.names
    n = len(names)
    begun = perf_counter()
    alone = scorer.pair_gains()
    gains = np.maximum(alone, alone.T)
    neighbours = min(MAX_NEIGHBOURS, max(2, int((2 * _TARGET_TRIPLES / n) ** 0.5)))
    near = allowed_by_margin(gains, 0.0, neighbours)
    near = _cap(near | near.T, gains)
    table = scorer.table(PAPER_PARENTS, named_candidates(near, names))
    triples = _triples(near)
    scored = perf_counter()
    margins, votes, together = collect_evidence(table, triples, run.deadline)
    margins = np.maximum(
        margins, np.where(near & (together == 0), gains, -np.inf)
    )  # a pair in no triple has its gain as margin
    allowed = allowed_by_margin(margins) & near
    total = n * (n - 1) * (n - 2) // 6
    ignored = int(np.triu((gains > 0) & ~(near | near.T)).sum())
    skipped = f"{total - len(triples):,} of {total:,} triples, which lack two neighbouring pairs"
    if ignored:
        skipped += f"; {ignored:,} pairs that raise the score but are not among the best {neighbours} of a variable"
    if limit > 1 and triple_cost(scorer) <= _affordable(run.deadline):
        allowed |= joint_gains(scorer, alone, near)
        left_out = left_out_columns(scorer)
        exception = f" except those with {', '.join(map(repr, left_out))} (1 state, or more than {MAX_PLANE_STATES})"
        skipped += f"; all triples were checked for joint gains of two parents{exception if left_out else ''}"
    seconds = {"score": scored - begun, "subproblems": perf_counter() - scored}
    reach = None  # all variables can become candidates, if this search takes at most a minute
    if 3.0 * n * n * (scorer.counter.cost(4) + _LOOKUP_COST) > 10 * COMPLETE_WORK:
        reach = near
        skipped += "; new candidates were searched only among the neighbours of a variable"
    most = min(MAX_GLOBAL_SOLVES, max(2, MAX_GLOBAL_SOLVES * LARGE**2 // n**2))
    search = CandidateSearch(scorer, limit, ClassicalSolver(), initial, reach, most)
    division = Division(
        combine="conquer",
        size=3,
        scheme="screened",
        subproblems=len(triples),
        solver="exact",
        votes=votes,
        against=together - votes,
        finished=len(triples),
        skipped=skipped,
    )
    return search.run(allowed, run).solution(division, seconds)


def _affordable(deadline: Deadline) -> float:
    """Return the maximum cost of counting triples, in rows to read. Counting may take half of the remaining time."""
    return min(_MAX_TRIPLE_COST, max(deadline.at - perf_counter(), 0.0) / 2 * _ROWS_PER_SECOND * cores())


def _cap(near: NDArray[np.bool_], gains: Floats) -> NDArray[np.bool_]:
    """Keep only the best neighbours of each variable. A variable can be a neighbour of many others."""
    return near & allowed_by_margin(np.where(near, gains, -np.inf), -np.inf, _MAX_BOTH_WAYS)


def _triples(near: NDArray[np.bool_]) -> Ints:
    """Return all triples of variables that contain at least two pairs of neighbours."""
    either = near | near.T
    parts = []
    for middle in range(len(near)):
        ends = np.flatnonzero(either[middle])
        a, b = np.triu_indices(len(ends), 1)
        parts.append(np.sort(np.stack([np.full(len(a), middle), ends[a], ends[b]], axis=1), axis=1))
    triples = np.concatenate(parts) if parts else np.empty((0, 3), dtype=np.int64)
    return np.unique(triples, axis=0)
