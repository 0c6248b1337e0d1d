"""Iterated candidate search: solve the global problem with candidate parents, add candidates, and repeat.

1. The subproblems give the initial candidates (see `candidates`).
2. The global problem is solved with these candidates, up to the full parent limit.
3. For each child, the best variables that would raise its score become new candidates.
4. Steps 2 and 3 repeat until there are no new candidates. Each global solve starts from the best network so far.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import OutOfTimeError
from dagneal.divide.candidates import MAX_GROWN_CANDIDATES, CandidateFinder, named_candidates
from dagneal.divide.global_solve import GlobalSolution, GlobalSolver
from dagneal.runtime.run import Run
from dagneal.scoring.scorer import Scorer
from dagneal.solvers.solution import Division, Solution

MAX_GLOBAL_SOLVES = 30


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """The outcome of an iterated candidate search.

    Attributes:
        best: best solution of the global problem.
        max_parents: parent limit.
        candidates: candidate parents of each variable in the last global solve.
        global_solves: number of global solves.
        seconds: duration of the search in seconds.
        seed: seed of the search.
        windows: text about the windows that a sampler solved instead of global problems; empty if there were none.
        stopped: reason why the search stopped before all candidates were tried; empty if all were tried.
        interrupted: True if Ctrl-C stopped the search.
    """

    best: GlobalSolution
    max_parents: int
    candidates: dict[str, list[str]]
    global_solves: int
    seconds: float
    seed: int
    windows: str = ""
    stopped: str = ""
    interrupted: bool = False

    def solution(self, division: Division, seconds: Mapping[str, float]) -> Solution:
        """Return the best network as a `Solution`.

        Args:
            division: division into subproblems that gave the initial candidates.
            seconds: seconds spent in each earlier stage.
        """
        division = replace(
            division,
            candidates=self.candidates,
            global_solves=self.global_solves,
            global_solver=self.best.solver,
            skipped="; ".join(filter(None, [division.skipped, self.windows, self.stopped])),
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
    """The iterated candidate search, with its settings.

    Args:
        scorer: scorer of the data.
        max_parents: parent limit.
        solver: solver of the global problem.
        initial: initial DAG; its edges are added to the initial candidates.
        near: `near[variable, child]` is True if the variable may become a candidate; all variables by default.
        max_global_solves: maximum number of global solves.
    """

    scorer: Scorer
    max_parents: int
    solver: GlobalSolver
    initial: nx.DiGraph | None = None
    near: NDArray[np.bool_] | None = None
    max_global_solves: int = MAX_GLOBAL_SOLVES

    def run(self, allowed: NDArray[np.bool_], run: Run) -> SearchOutcome:
        """Run the iterated candidate search.

        Args:
            allowed: `allowed[parent, child]` is True for initial candidates.
            run: a `Run` with seed, deadline and progress; no global solve starts after the deadline.
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
            raise AssertionError("no global solve has finished")
        return SearchOutcome(
            best=state.best,
            max_parents=self.max_parents,
            candidates=state.candidates,
            global_solves=state.global_solves,
            seconds=perf_counter() - begun,
            seed=run.seed,
            windows=state.describe_windows(),
            stopped=stopped,
            interrupted=interrupted,
        )

    def _with_initial(self, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the initial candidates, including the edges of the initial DAG."""
        allowed = allowed.copy()
        position = {name: i for i, name in enumerate(self.scorer.data.names)}
        for parent, child in self.initial.edges if self.initial is not None else ():
            allowed[position[parent], position[child]] = True
        return allowed


class _State:
    """The state of a candidate search between two global solves."""

    def __init__(self, search: CandidateSearch, allowed: NDArray[np.bool_]) -> None:
        self.search = search
        self.allowed = allowed
        self.dag = search.initial
        self.best: GlobalSolution | None = None
        self.candidates: dict[str, list[str]] = {}
        self.global_solves = 0
        self.windows: list[int] = []
        self.reads = 0
        self._finder = CandidateFinder(search.scorer, search.max_parents, search.near)

    def iterate(self, run: Run) -> str:
        """Repeat the global solve. Return the reason for an early stop, or an empty string if all candidates were tried."""
        for number in range(1, self.search.max_global_solves + 1):
            reason = self._solve(number, run)
            if reason is not None:
                return reason
            if run.deadline.passed:
                return self.out_of_time()
        return f"the candidate search stopped after {_count(self.search.max_global_solves)}, with candidates left to try"

    def out_of_time(self) -> str:
        """Return the message for a search that the time limit stopped."""
        return f"the time limit stopped the candidate search after {_count(self.global_solves)}, with candidates left to try"

    def describe_windows(self) -> str:
        """Return a text about the windows that a sampler solved; empty if there were none."""
        if not self.windows:
            return ""
        sizes = f"{min(self.windows)} to {max(self.windows)} variables"
        return f"the sampler solved {len(self.windows):,} windows of {sizes} one after the other, with {self.reads:,} reads"

    def _solve(self, number: int, run: Run) -> str | None:
        """Solve the global problem once and find new candidates. Return the reason to stop, or None to continue."""
        scorer, names = self.search.scorer, self.search.scorer.data.names
        n = len(names)
        tried = named_candidates(self.allowed, names)
        table = scorer.table(min(self.search.max_parents, n - 1), tried)
        solution = self.search.solver.solve(table, number, self.dag, run)
        self.global_solves, self.candidates = number, tried
        self.windows += solution.windows
        self.reads += solution.reads
        if self.best is None or solution.score > self.best.score or np.isnan(self.best.score):
            self.best = replace(solution, proved=solution.proved and bool(self.allowed.sum() == n * (n - 1)))
        if np.isnan(solution.score):
            return f"in global solve {number} no raw read was a network"
        self.dag = self.best.dag
        extended, full = self._finder.extend(self.dag, self.allowed, table)
        if (extended == self.allowed).all():
            reason = f"candidates beyond the limit of {MAX_GROWN_CANDIDATES} (variables at the limit: {full})"
            return reason if full else ""
        self.allowed = extended
        return None


def _count(solves: int) -> str:
    return f"{solves} global solve{'s' * (solves > 1)}"
