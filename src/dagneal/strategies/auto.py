"""The default solver `Auto`, which chooses a classical method that is expected to finish within seconds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

from dagneal.base.errors import check_flag
from dagneal.divide.candidates import candidates_of_table
from dagneal.divide.conquer import CandidateSearch
from dagneal.divide.global_solve import ClassicalSolver
from dagneal.runtime.run import Run
from dagneal.scoring.table import ScoreTable
from dagneal.solvers.exact import exact
from dagneal.solvers.policy import COMPLETE_PARENTS, COMPLETE_VARIABLES, exact_is_quick, parent_limit, table_is_quick
from dagneal.solvers.problem import Problem
from dagneal.solvers.solution import Division, Solution
from dagneal.strategies.anneal import Divide
from dagneal.strategies.classical import Exact, OrderSearch, prove_bound, solve_table


@dataclass(frozen=True)
class Auto:
    """The default solver: exact search if it takes only seconds, otherwise the iterated candidate search.

    The initial candidates come from the scores of all parent sets of at most three variables. If there are too many of these
    sets, the initial candidates come from subproblems of three variables.

    Args:
        bound: True to prove an upper bound on the score. There is no bound if the initial candidates come from subproblems.
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
        if n > COMPLETE_VARIABLES or not table_is_quick(problem.scorer, few):
            return Divide().solve(problem, run)
        return self._search(problem, limit, few, run)

    def _search(self, problem: Problem, limit: int, few: int, run: Run) -> Solution:
        """Run the candidate search. The initial candidates come from the scores of all sets of at most `few` parents."""
        begun = perf_counter()
        scorer = problem.scorer
        table = scorer.table(few)
        bound = prove_bound(table) if self.bound else None
        allowed, first_dag = candidates_of_table(table, run)
        del table  # free memory before the search
        seconds = {"score": perf_counter() - begun}
        search = CandidateSearch(scorer, limit, ClassicalSolver(), problem.initial or first_dag)
        division = Division("conquer", len(problem.names), f"all sets of at most {few} parents", 0, "order")
        return replace(search.run(allowed, run).solution(division, seconds), bound=bound)
