"""Screening: with many variables only pairs that gain something on their own are looked at, and triples around them."""

from __future__ import annotations

from time import perf_counter

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.defaults import PAPER_PARENTS
from dagneal.base.kernels import Floats, Ints
from dagneal.base.machine import cores
from dagneal.data.planes import WIDEST
from dagneal.divide.candidates import allowed_by_margin, named_candidates, small_evidence
from dagneal.divide.conquer import MOST_ROUNDS, CandidateSearch
from dagneal.divide.global_solve import ClassicalSolver
from dagneal.divide.joint_gains import joint_gains, left_out_columns, work_of
from dagneal.runtime.run import Deadline, Run
from dagneal.scoring.scorer import MOST_CANDIDATES, Scorer
from dagneal.solvers.policy import COMPLETE_WORK, LARGE
from dagneal.solvers.solution import Division, Solution

MOST_NEIGHBOURS = 40  # of a variable, where not every pair can be kept
_TRIPLES_WORK = 2e11  # rows counted: about a minute and a half on two cores
_MOST_TRIPLES = 1e6  # about as many are solved where there are many variables
_LOOK_UP = 1500.0  # rows that could be counted while a set is looked up, where there are many
_PACE = 1e9  # rows counted in a second, one core


def screen(scorer: Scorer, limit: int, initial: nx.DiGraph | None, run: Run) -> Solution:
    """Learn a network of more variables than a table over all parents can hold.

    Args:
        scorer: scores what is asked for.
        limit: the most parents of a variable.
        initial: the DAG that the search starts from.
        run: seed, deadline and progress of the search.
    """
    names = scorer.data.names
    n = len(names)
    begun = perf_counter()
    alone = scorer.pair_gains()
    gains = np.maximum(alone, alone.T)
    neighbours = min(MOST_NEIGHBOURS, max(2, int((2 * _MOST_TRIPLES / n) ** 0.5)))
    near = allowed_by_margin(gains, 0.0, neighbours)
    near = _cap(near | near.T, gains)
    table = scorer.table(PAPER_PARENTS, named_candidates(near, names))
    triples = _triples(near)
    scored = perf_counter()
    margins, votes, together = small_evidence(table, triples, run.deadline)
    margins = np.maximum(margins, np.where(near & (together == 0), gains, -np.inf))  # pairs that are in no triple
    allowed = allowed_by_margin(margins) & near
    total = n * (n - 1) * (n - 2) // 6
    crowded = int(np.triu((gains > 0) & ~(near | near.T)).sum())
    skipped = f"{total - len(triples):,} of {total:,} triples, which have fewer than two pairs that gain something alone"
    if crowded:
        skipped += f" or are among the best {neighbours} of a variable ({crowded:,} pairs are not)"
    if limit > 1 and work_of(scorer) <= _affordable(run.deadline):
        allowed |= joint_gains(scorer, alone, near)
        left_out = left_out_columns(scorer)
        among = f" without {', '.join(map(repr, left_out))}, which have one state or more than {WIDEST}" if left_out else ""
        skipped += f"; what two parents gain only together was looked for in all triples{among}"
    seconds = {"score": scored - begun, "blocks": perf_counter() - scored}
    reach = None  # the iteration looks at all variables, if that takes a minute at most
    if 3.0 * n * n * (scorer.counter.cost(4) + _LOOK_UP) > 10 * COMPLETE_WORK:
        reach = near
        skipped += "; later candidates are looked for among the neighbours of a variable only"
    most = min(MOST_ROUNDS, max(2, MOST_ROUNDS * LARGE**2 // n**2))
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
    """How much counting of triples there is time for."""
    return min(_TRIPLES_WORK, max(deadline.at - perf_counter(), 0.0) / 2 * _PACE * cores())


def _cap(near: NDArray[np.bool_], gains: Floats) -> NDArray[np.bool_]:
    """At most as many neighbours as a mask has bits: a variable that many others count as near keeps its best."""
    return near & allowed_by_margin(np.where(near, gains, -np.inf), -np.inf, MOST_CANDIDATES)


def _triples(near: NDArray[np.bool_]) -> Ints:
    """All triples with at least two near pairs."""
    either = near | near.T
    found = []
    for middle in range(len(near)):
        ends = np.flatnonzero(either[middle])
        a, b = np.triu_indices(len(ends), 1)
        found.append(np.sort(np.stack([np.full(len(a), middle), ends[a], ends[b]], axis=1), axis=1))
    together = np.concatenate(found) if found else np.empty((0, 3), dtype=np.int64)
    return np.unique(together, axis=0)
