"""The conquest: from evidence for adjacency to candidate parents, and from these to the whole network.

Two variables that are adjacent in the network stay adjacent in nearly every block; two that are not are separated in some.
So the blocks say who may be a parent of whom. On these candidates, with more parents allowed, the whole network is solved.
Then every child looks for variables outside its candidates that would raise its score, gets the best few as candidates, and
the whole is solved again from the last order, until nothing is left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb
from time import perf_counter

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import OutOfTimeError
from dagneal.base.kernels import Progress
from dagneal.base.machine import room
from dagneal.divide.candidates import MOST_GROWN, Outside, named_candidates
from dagneal.divide.global_solve import Solved, WholeSolver
from dagneal.graphs.dags import topological_order
from dagneal.result import Division, Learned
from dagneal.scoring.scorer import Scorer

COMPLETE_WORK = 5e9  # rows counted, all sets together: some seconds
MOST_ROUNDS = 30


@dataclass(frozen=True, eq=False)
class Conquest:
    """How the whole was won.

    Attributes:
        candidates: the possible parents of each variable in the last solve.
        rounds: how often the whole was solved.
        best: the best solution of the whole.
        stopped: why the iteration ended before nothing was left to try, in words; empty if it did not.
        interrupted: whether it was ended by Ctrl-C.
    """

    candidates: dict[str, list[str]]
    rounds: int
    best: Solved
    stopped: str = ""
    interrupted: bool = False


def affordable(scorer: Scorer, max_parents: int) -> bool:
    """Whether a table over all parents takes seconds, and no more memory than there is."""
    n = len(scorer.data.names)
    counted = sum(comb(n, size) * scorer.counter.cost(size) for size in range(max_parents + 2))
    scores = n * sum(comb(n - 1, size) for size in range(max_parents + 1))
    return counted <= COMPLETE_WORK and scorer.bytes_of(scores) <= room()


def conquer(
    scorer: Scorer,
    max_parents: int,
    allowed: NDArray[np.bool_],
    whole: WholeSolver,
    start: nx.DiGraph | None = None,
    near: NDArray[np.bool_] | None = None,
    most_rounds: int = MOST_ROUNDS,
    progress: Progress | None = None,
    deadline: float | None = None,
) -> tuple[Learned, Conquest]:
    """Solve the whole network on candidate parents, and iterate.

    Args:
        scorer: scores whatever the conquest asks for.
        max_parents: the most parents of a variable.
        allowed: `allowed[parent, child]`, the first candidates.
        whole: what solves the whole in each round.
        start: a DAG to begin with; its edges are candidates too.
        near: which variables may become candidates later; all by default.
        most_rounds: after so many it ends, whatever is left.
        progress: told how far it is.
        deadline: a time of `perf_counter`, after which no further round is begun.
    """
    names = scorer.data.names
    n = len(names)
    begun = perf_counter()
    allowed = allowed.copy()
    position = {name: i for i, name in enumerate(names)}
    if start is not None:
        for parent, child in start.edges:
            allowed[position[parent], position[child]] = True
    dag, rounds, interrupted = start, 0, False
    best: Solved | None = None
    stopped = ""
    candidates: dict[str, list[str]] = {}
    outside = Outside(scorer, max_parents, near)
    try:
        for turn in range(1, most_rounds + 1):
            tried = named_candidates(allowed, names)
            table = scorer.table(min(max_parents, n - 1), tried, progress)
            order = None if dag is None else np.array([position[name] for name in topological_order(dag, names)])
            found = whole.solve(table, turn, order, progress)
            rounds, candidates = turn, tried
            if best is None or found.score > best.score or np.isnan(best.score):
                best = replace(found, proved=found.proved and bool(allowed.sum() == n * (n - 1)))
            if np.isnan(found.score):
                stopped = f"in round {turn} no raw read was a network"
                break
            dag = best.dag
            grown, crowded = outside.best(dag, allowed, table)
            if (grown == allowed).all():
                stopped = f"variables that have {MOST_GROWN} candidates and want more: {crowded}" if crowded else ""
                break
            if deadline is not None and perf_counter() >= deadline:
                stopped = (
                    f"the time limit ended the conquest after {turn} round{'s' * (turn > 1)} with candidates left to try"
                )
                break
            allowed = grown
        else:
            stopped = f"the conquest ended after {most_rounds} round{'s' * (most_rounds > 1)} with candidates left to try"
    except KeyboardInterrupt:
        if best is None:
            raise
        interrupted = True
    except OutOfTimeError:
        if best is None:
            raise
        stopped = f"the time limit ended the conquest after {rounds} round{'s' * (rounds > 1)} with candidates left to try"
    if best is None:
        raise AssertionError("at least one round was run")
    learned = Learned(
        dag=best.dag,
        score=best.score,
        score_name=scorer.rule.name,
        max_parents=max_parents,
        solver="conquer",
        optimal=best.proved,
        seconds={"conquer": perf_counter() - begun},
    )
    return learned, Conquest(candidates, rounds, best, stopped, interrupted)


def conquered(division: Division, conquest: Conquest) -> Division:
    """The division with how the whole was won."""
    return replace(
        division,
        candidates=conquest.candidates,
        rounds=conquest.rounds,
        whole=conquest.best.solver,
        skipped="; ".join(filter(None, [division.skipped, conquest.stopped])),
        interrupted=division.interrupted or conquest.interrupted,
    )
