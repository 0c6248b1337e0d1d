"""Iterated candidate search: from evidence for adjacency to candidate parents, and from these to the global network.

Two variables that are adjacent in the network stay adjacent in nearly every subproblem; two that are not are separated in
some. So the subproblems say who may be a parent of whom. On these candidates, with more parents allowed, the global problem
is solved. Then every child looks for variables outside its candidates that would raise its score, gets the best few as
candidates, and the global problem is solved again from the last order, until nothing is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import OutOfTimeError
from dagneal.base.kernels import Ints
from dagneal.divide.candidates import MOST_GROWN, Outside, named_candidates
from dagneal.divide.global_solve import GlobalSolution, GlobalSolver
from dagneal.graphs.dags import topological_order
from dagneal.runtime.run import Run
from dagneal.scoring.scorer import Scorer
from dagneal.solvers.solution import Division, Solution

MOST_ROUNDS = 30


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """How the global network was found.

    Attributes:
        best: the best solution of the global problem.
        max_parents: the parent limit.
        candidates: the possible parents of each variable in the last solve.
        rounds: the number of global solves.
        seconds: what they took.
        seed: of the search.
        stopped: why the iteration ended with candidates left to try, in words; empty if it did not.
        interrupted: whether Ctrl-C ended it.
    """

    best: GlobalSolution
    max_parents: int
    candidates: dict[str, list[str]]
    rounds: int
    seconds: float
    seed: int
    stopped: str = ""
    interrupted: bool = False

    def solution(self, division: Division, seconds: Mapping[str, float]) -> Solution:
        """Return the network, with the division that it comes from.

        Args:
            division: of the subproblems.
            seconds: what they took.
        """
        division = replace(
            division,
            candidates=self.candidates,
            rounds=self.rounds,
            global_solver=self.best.solver,
            skipped="; ".join(filter(None, [division.skipped, self.stopped])),
            interrupted=division.interrupted or self.interrupted,
        )
        return Solution(
            dag=self.best.dag,
            score=self.best.score,
            max_parents=self.max_parents,
            solver="conquer",
            optimal=self.best.proved,
            seconds={**seconds, "conquer": self.seconds},
            seed=self.seed,
            division=division,
        )


@dataclass(frozen=True, eq=False)
class CandidateSearch:
    """The iterated candidate search.

    Args:
        scorer: scores whatever the search asks for.
        max_parents: the most parents of a variable.
        solver: solves the global problem in each round.
        initial: the DAG that the search starts from; its edges are candidates too.
        near: `near[variable, child]`, which variables may become candidates later; all by default.
        most_rounds: the most global solves.
    """

    scorer: Scorer
    max_parents: int
    solver: GlobalSolver
    initial: nx.DiGraph | None = None
    near: NDArray[np.bool_] | None = None
    most_rounds: int = MOST_ROUNDS

    def run(self, allowed: NDArray[np.bool_], run: Run) -> SearchOutcome:
        """Solve the global problem on candidate parents, and iterate.

        Args:
            allowed: `allowed[parent, child]`, the first candidates.
            run: after its deadline no further round begins.
        """
        begun = perf_counter()
        state = _State(self, self._with_initial(allowed))
        stopped, interrupted = "", False
        try:
            stopped = state.iterate(run)
        except (KeyboardInterrupt, OutOfTimeError) as error:
            if state.best is None:
                raise
            interrupted = isinstance(error, KeyboardInterrupt)
            stopped = "" if interrupted else state.out_of_time()
        if state.best is None:
            raise AssertionError("at least one round was run")
        seconds = perf_counter() - begun
        found = (state.best, self.max_parents, state.candidates, state.rounds, seconds, run.seed)
        return SearchOutcome(*found, stopped, interrupted)

    def _with_initial(self, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the candidates with the edges of the initial DAG."""
        allowed = allowed.copy()
        position = {name: i for i, name in enumerate(self.scorer.data.names)}
        for parent, child in self.initial.edges if self.initial is not None else ():
            allowed[position[parent], position[child]] = True
        return allowed


class _State:
    """What is known after some rounds of a candidate search."""

    def __init__(self, search: CandidateSearch, allowed: NDArray[np.bool_]) -> None:
        self.search = search
        self.allowed = allowed
        self.dag = search.initial
        self.best: GlobalSolution | None = None
        self.candidates: dict[str, list[str]] = {}
        self.rounds = 0
        self._outside = Outside(search.scorer, search.max_parents, search.near)

    def iterate(self, run: Run) -> str:
        """Run rounds until nothing is left to try, or return why not all was tried."""
        for turn in range(1, self.search.most_rounds + 1):
            reason = self._solve(turn, run)
            if reason is not None:
                return reason
            if run.deadline.passed:
                return self.out_of_time()
        return f"the candidate search ended after {_rounds(self.search.most_rounds)} with candidates left to try"

    def out_of_time(self) -> str:
        """Return that the time limit ended the search."""
        return f"the time limit ended the candidate search after {_rounds(self.rounds)} with candidates left to try"

    def _solve(self, turn: int, run: Run) -> str | None:
        """Solve the global problem once and find further candidates; return the reason to stop, or None to go on."""
        scorer, names = self.search.scorer, self.search.scorer.data.names
        n = len(names)
        tried = named_candidates(self.allowed, names)
        table = scorer.table(min(self.search.max_parents, n - 1), tried)
        found = self.search.solver.solve(table, turn, self._order(names), run)
        self.rounds, self.candidates = turn, tried
        if self.best is None or found.score > self.best.score or np.isnan(self.best.score):
            self.best = replace(found, proved=found.proved and bool(self.allowed.sum() == n * (n - 1)))
        if np.isnan(found.score):
            return f"in round {turn} no raw read was a network"
        self.dag = self.best.dag
        grown, crowded = self._outside.best(self.dag, self.allowed, table)
        if (grown == self.allowed).all():
            return f"variables that have {MOST_GROWN} candidates and want more: {crowded}" if crowded else ""
        self.allowed = grown
        return None

    def _order(self, names: tuple[str, ...]) -> Ints | None:
        """Return an order of the best DAG so far."""
        if self.dag is None:
            return None
        position = {name: i for i, name in enumerate(names)}
        return np.array([position[name] for name in topological_order(self.dag, names)])


def _rounds(count: int) -> str:
    return f"{count} round{'s' * (count > 1)}"
