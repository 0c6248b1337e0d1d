"""Solvers that score all parent sets first: exact, exhaustive and order search.

Use these classes as templates for new solvers. A solver is a frozen dataclass with a method `solve(problem, run)`; see
`dagneal.Solver` for a complete example. Conventions:

- The fields are the settings. `__post_init__` checks them. The `repr` identifies the solver in a journal. If a field is
  named `bound`, it switches the proof of an upper bound on or off; a bootstrap switches it off.
- `check_size` raises an error if there are too many variables, before anything is counted. The property `max_variables`
  is the maximum number of variables.
- `refuse_initial` raises an error if an initial DAG is given. Call it in a solver that cannot start from an initial DAG.
- `parent_limit` (in `solvers/policy.py`) returns the parent limit that the user gave, or the default of the solver.
- `solve_table` creates the table of all parent sets, calls the algorithm, and adds times and the upper bound.
- The same `run.seed` gives the same solution. A part with a separate seed, such as a restart, uses
  `run.child("restart", str(number))`.
- After `run.deadline` a solver returns the best network so far. Only scoring may raise `OutOfTimeError`, if there is no
  network yet; `learn` then returns a network with at most one parent per variable.
- `Solution.solver` is the short name in results, such as `"exact"`. `Solution.optimal` is True only with a proof.
- A solver that uses `run.journal` has a property `uses_journal` that is True.

Also add new solvers of this library to `strategies/names.py` and tests/strategies/test_every_solver.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from dagneal.base.defaults import PAPER_PARENTS
from dagneal.base.errors import InputError, check_flag, warn_on_failure, whole_number
from dagneal.graphs.dags import topological_order
from dagneal.proofs.bound import upper_bound
from dagneal.runtime.run import Run
from dagneal.scoring.table import ScoreTable
from dagneal.solvers.annealing import equal_scores
from dagneal.solvers.exact import MAX_VARIABLES as MOST_EXACT, exact
from dagneal.solvers.exhaustive import MAX_VARIABLES as MOST_EXHAUSTIVE, exhaustive
from dagneal.solvers.order_search import order_search
from dagneal.solvers.policy import COMPLETE_PARENTS, EXACT_FOR_COMPARISON, parent_limit
from dagneal.solvers.problem import Problem
from dagneal.solvers.solution import Bound, Solution


@dataclass(frozen=True)
class Exact:
    """Exact search for up to 28 variables, by dynamic programming over subsets. The result is proved optimal."""

    @property
    def max_variables(self) -> int:
        """The maximum number of variables that the solver accepts."""
        return MOST_EXACT

    def solve(self, problem: Problem, run: Run) -> Solution:
        """Solve a problem; see `dagneal.Solver`."""
        check_size("exact search", MOST_EXACT, problem)
        refuse_initial(problem)
        limit = parent_limit(problem.max_parents, len(problem.names))
        return solve_table(problem.with_limit(limit), lambda table: exact(table, run))


@dataclass(frozen=True)
class Exhaustive:
    """The paper's exhaustive search of all QUBO solutions, for up to 5 variables with at most 2 parents each."""

    @property
    def max_variables(self) -> int:
        """The maximum number of variables that the solver accepts."""
        return MOST_EXHAUSTIVE

    def solve(self, problem: Problem, run: Run) -> Solution:
        """Solve a problem; see `dagneal.Solver`."""
        check_size("exhaustive search", MOST_EXHAUSTIVE, problem)
        refuse_initial(problem)
        limit = parent_limit(problem.max_parents, len(problem.names), PAPER_PARENTS)
        return solve_table(problem.with_limit(limit), lambda table: exhaustive(table, run), complete=True)


@dataclass(frozen=True)
class OrderSearch:
    """Order search: a local search for the best order of the variables.

    All parent sets are scored first. With many variables, this needs a low parent limit.

    Args:
        restarts: number of restarts; 1,000 by default.
        bound: True to prove an upper bound on the score, if there are more than 20 variables.
    """

    restarts: int | None = None
    bound: bool = True

    def __post_init__(self) -> None:
        check_flag("bound", self.bound)
        if self.restarts is not None:
            object.__setattr__(self, "restarts", whole_number("restarts", self.restarts))

    def solve(self, problem: Problem, run: Run) -> Solution:
        """Solve a problem; see `dagneal.Solver`."""
        names = problem.names
        initial = None
        if problem.initial is not None:
            place = {name: i for i, name in enumerate(names)}
            initial = np.array([place[name] for name in topological_order(problem.initial, names)])
        limit = parent_limit(problem.max_parents, len(names), COMPLETE_PARENTS)
        return solve_table(
            problem.with_limit(limit), lambda table: order_search(table, self.restarts, initial, run), bound=self.bound
        )


def solve_table(
    problem: Problem, solver: Callable[[ScoreTable], Solution], bound: bool = False, complete: bool = False
) -> Solution:
    """Score all parent sets of a problem, and solve the problem.

    Args:
        problem: problem with a parent limit.
        solver: function that gets the score table and returns a solution.
        bound: True to prove an upper bound, if there are more than 20 variables and the solution is not proved optimal.
        complete: True to keep forbidden parents in the table, with a penalty that excludes them from the best network.
    """
    begun = perf_counter()
    table = problem.table(complete=complete)
    scored = perf_counter()
    solution = solver(table)
    upper = prove_bound(table) if bound and len(table.names) > EXACT_FOR_COMPARISON and not solution.optimal else None
    optimal = solution.optimal or (upper is not None and bool(equal_scores(solution.score, upper.score)))
    return replace(solution, seconds={"score": scored - begun, **solution.seconds}, bound=upper, optimal=optimal)


def prove_bound(table: ScoreTable) -> Bound | None:
    """Return an upper bound on the score. If the computation fails, warn and return None.

    Args:
        table: score table of all parent sets.
    """
    with warn_on_failure("the upper bound"):
        return upper_bound(table)
    return None


def check_size(solver: str, limit: int, problem: Problem) -> None:
    """Raise an error if a problem has too many variables for a solver.

    Args:
        solver: name of the solver, used as the subject of the message.
        limit: maximum number of variables.
        problem: problem to solve.
    """
    if len(problem.names) > limit:
        raise InputError(
            f"{solver} supports at most {limit} variables, not {len(problem.names)}; use the default solver, or select "
            "fewer columns with columns=[...]"
        )


def refuse_initial(problem: Problem) -> None:
    """Raise an error if a problem has an initial DAG. Solvers that cannot use an initial DAG call this function.

    Args:
        problem: problem to solve.
    """
    if problem.initial is not None:
        raise InputError("initial is given, but this solver cannot start from an initial DAG; remove initial=...")
