"""Solvers that work on the table of all parent sets: exact, exhaustive and order search.

These are the models for a solver of your own. A solver is a frozen dataclass with a method `solve(problem, run)`; see
`dagneal.Solver` for a complete example. Its conventions:

- Its fields are its settings, checked in `__post_init__`, and its `repr` names it in a journal. A field named `bound` says
  whether an upper bound is proved too; a bootstrap switches it off.
- `check_size` refuses more variables than the solver takes, before anything is counted; a property `most_variables` says how
  many these are. `check_cold` refuses an initial DAG that the solver would ignore.
- `parent_limit` (in `solvers/policy.py`) gives the parent limit: the user's, or the default of the solver.
- `solve_table` makes the table of all parent sets, calls the algorithm, and adds the times and the upper bound.
- `run.seed` decides the answer. A part that needs a seed of its own, such as a restart, takes
  `run.child("restart", str(number))`.
- After `run.deadline` return the best network so far, and raise nothing. Only the counting of scores may raise
  `OutOfTimeError`, if there is no network yet; `learn` then answers with a network of pairs.
- `Solution.solver` is the short name in results, such as `"exact"`; `Solution.optimal` is True only with a proof.
- A solver that stores something in `run.journal` has a property `uses_journal` that is True.

A solver of this library also gets an entry in `strategies/names.py` and in tests/strategies/test_every_solver.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from dagneal.base.defaults import PAPER_PARENTS
from dagneal.base.errors import InputError, check_flag, secondary, whole_number
from dagneal.graphs.dags import topological_order
from dagneal.proofs.bound import upper_bound
from dagneal.runtime.run import Run
from dagneal.scoring.scorer import MOST_CANDIDATES
from dagneal.scoring.table import ScoreTable
from dagneal.solvers.annealing import equal_scores
from dagneal.solvers.exact import MOST_VARIABLES as MOST_EXACT, exact
from dagneal.solvers.exhaustive import MOST_VARIABLES as MOST_EXHAUSTIVE, exhaustive
from dagneal.solvers.order_search import order_search
from dagneal.solvers.policy import COMPLETE_PARENTS, EXACT_BESIDE, parent_limit
from dagneal.solvers.problem import Problem
from dagneal.solvers.solution import Bound, Solution


@dataclass(frozen=True)
class Exact:
    """Exact search: dynamic programming over subsets of the variables, proved optimal, up to 28 variables."""

    @property
    def most_variables(self) -> int:
        """The most variables that it takes."""
        return MOST_EXACT

    def solve(self, problem: Problem, run: Run) -> Solution:
        """Solve a problem; see `dagneal.Solver`."""
        check_size("exact search", MOST_EXACT, problem)
        check_cold(problem)
        limit = parent_limit(problem.max_parents, len(problem.names))
        return solve_table(problem.with_limit(limit), lambda table: exact(table, run))


@dataclass(frozen=True)
class Exhaustive:
    """The paper's exhaustive search of the QUBO, up to 5 variables with at most 2 parents."""

    @property
    def most_variables(self) -> int:
        """The most variables that it takes."""
        return MOST_EXHAUSTIVE

    def solve(self, problem: Problem, run: Run) -> Solution:
        """Solve a problem; see `dagneal.Solver`."""
        check_size("exhaustive search", MOST_EXHAUSTIVE, problem)
        check_cold(problem)
        limit = parent_limit(problem.max_parents, len(problem.names), PAPER_PARENTS)
        return solve_table(problem.with_limit(limit), lambda table: exhaustive(table, run), complete=True)


@dataclass(frozen=True)
class OrderSearch:
    """Order search over all parent sets, up to 65 variables.

    Args:
        rounds: the number of restarts; 1,000 by default.
        bound: also prove an upper bound on the score.
    """

    rounds: int | None = None
    bound: bool = True

    def __post_init__(self) -> None:
        check_flag("bound", self.bound)
        if self.rounds is not None:
            object.__setattr__(self, "rounds", whole_number("rounds", self.rounds))

    @property
    def most_variables(self) -> int:
        """The most variables that it takes."""
        return MOST_CANDIDATES + 1

    def solve(self, problem: Problem, run: Run) -> Solution:
        """Solve a problem; see `dagneal.Solver`."""
        check_size("order search", MOST_CANDIDATES + 1, problem)
        names = problem.names
        initial = None
        if problem.initial is not None:
            place = {name: i for i, name in enumerate(names)}
            initial = np.array([place[name] for name in topological_order(problem.initial, names)])
        limit = parent_limit(problem.max_parents, len(names), COMPLETE_PARENTS)
        return solve_table(
            problem.with_limit(limit), lambda table: order_search(table, self.rounds, initial, run), bound=self.bound
        )


def solve_table(
    problem: Problem, solver: Callable[[ScoreTable], Solution], bound: bool = False, complete: bool = False
) -> Solution:
    """Solve a problem on the table of all parent sets.

    Args:
        problem: with its parent limit.
        solver: solves the table.
        bound: prove an upper bound where the optimum is not known and was not cheap to find.
        complete: keep parents that knowledge forbids, at a price that no best network pays.
    """
    begun = perf_counter()
    table = problem.table(complete=complete)
    scored = perf_counter()
    found = solver(table)
    most = prove_bound(table) if bound and len(table.names) > EXACT_BESIDE and not found.optimal else None
    proved = found.optimal or (most is not None and bool(equal_scores(found.score, most.score)))
    return replace(found, seconds={"score": scored - begun, **found.seconds}, bound=most, optimal=proved)


def prove_bound(table: ScoreTable) -> Bound | None:
    """Return an upper bound on the score of a table; None where that fails, which must not lose the network.

    Args:
        table: over all parents.
    """
    with secondary("the upper bound"):
        return upper_bound(table)
    return None


def check_size(what: str, most: int, problem: Problem) -> None:
    """Refuse more variables than a solver takes, before anything is counted.

    Args:
        what: the solver, as the subject of the message.
        most: the most variables that it takes.
        problem: what it should solve.
    """
    if len(problem.names) > most:
        raise InputError(
            f"{what} takes at most {most} variables, not {len(problem.names)}; leave the solver out, or choose fewer "
            "columns with columns=[...]"
        )


def check_cold(problem: Problem) -> None:
    """Refuse an initial DAG for a solver that does not start from one.

    Args:
        problem: with or without one.
    """
    if problem.initial is not None:
        raise InputError("initial is given, but this solver does not start from a network; leave it out")
