"""Auto: the best answer that this machine can give in seconds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

from dagneal.base.errors import check_flag
from dagneal.divide.candidates import candidates_of_table
from dagneal.divide.conquer import CandidateSearch
from dagneal.divide.global_solve import ClassicalSolver
from dagneal.runtime.run import Run
from dagneal.scoring.scorer import MOST_CANDIDATES
from dagneal.scoring.table import ScoreTable
from dagneal.solvers.exact import exact
from dagneal.solvers.policy import COMPLETE_PARENTS, exact_is_quick, parent_limit, table_is_quick
from dagneal.solvers.problem import Problem
from dagneal.solvers.solution import Division, Solution
from dagneal.strategies.anneal import Divide
from dagneal.strategies.classical import Exact, OrderSearch, prove_bound, solve_table


@dataclass(frozen=True)
class Auto:
    """Exact search where that takes seconds, else the iterated candidate search.

    The candidates come from all small parent sets, or from triples of variables where these would be too many.

    Args:
        bound: also prove an upper bound on the score, where the optimum is not proved and all scores are at hand.
    """

    bound: bool = True

    def __post_init__(self) -> None:
        check_flag("bound", self.bound)

    def solve(self, problem: Problem, run: Run) -> Solution:
        """Solve a problem; see `dagneal.Solver`."""
        n = len(problem.names)
        if isinstance(problem.source, ScoreTable):
            return (Exact() if exact_is_quick(n) else OrderSearch(bound=self.bound)).solve(problem, run)
        limit = parent_limit(problem.max_parents, n)
        problem = problem.with_limit(limit)
        if exact_is_quick(n) and table_is_quick(problem.scorer, limit):
            return solve_table(problem, lambda table: exact(table, run), self.bound)
        few = min(COMPLETE_PARENTS, limit)
        if n > MOST_CANDIDATES + 1 or not table_is_quick(problem.scorer, few):
            return Divide().solve(problem, run)
        return self._search(problem, limit, few, run)

    def _search(self, problem: Problem, limit: int, few: int, run: Run) -> Solution:
        """Search from candidates of all sets of a few parents."""
        begun = perf_counter()
        scorer = problem.scorer
        table = scorer.table(few)
        most = prove_bound(table) if self.bound else None
        allowed, first = candidates_of_table(table, run)
        del table  # before the search takes memory
        seconds = {"score": perf_counter() - begun}
        search = CandidateSearch(scorer, limit, ClassicalSolver(), problem.initial or first)
        division = Division("conquer", len(problem.names), f"all sets of at most {few} parents", 0, "order")
        found = search.run(allowed, run).solution(division, seconds)
        return replace(found, bound=most)
