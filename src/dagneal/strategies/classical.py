"""Solvers that score all parent sets first: exact, exhaustive and order search.

Use these classes as templates for new solvers. A solver is a frozen dataclass with a method `solve(problem, run)`; see
`dagneal.Solver` for a complete example. Conventions:

- The fields are the settings. `__post_init__` checks them. The `repr` identifies the solver in a journal. If a field is
  named `prove`, it switches the proof attempt on or off; a bootstrap switches it off.
- `check_size` raises an error if there are too many variables, before anything is counted. The property `max_variables`
  is the maximum number of variables.
- `refuse_initial` raises an error if an initial DAG is given. Call it in a solver that cannot start from an initial DAG.
- `parent_limit` (in `solvers/policy.py`) returns the parent limit that the user gave, or the default of the solver.
- `solve_table` creates the table of all parent sets, calls the algorithm, and adds times and the proof.
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
from math import inf
from time import perf_counter

import numpy as np

from dagneal.base.defaults import PAPER_PARENTS
from dagneal.base.errors import InputError, whole_number
from dagneal.graphs.dags import topological_order
from dagneal.proofs.attempt import prove
from dagneal.runtime.run import DEFAULT_RUN, Run
from dagneal.scoring.bounded import complete_table
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.table import ScoreTable
from dagneal.search.anytime import AnytimeSearch
from dagneal.solvers.exact import MAX_VARIABLES as MOST_EXACT, exact, fits
from dagneal.solvers.exhaustive import MAX_VARIABLES as MOST_EXHAUSTIVE, exhaustive
from dagneal.solvers.order_search import order_search
from dagneal.solvers.policy import COMPLETE_PARENTS, EXACT_FOR_COMPARISON, parent_limit
from dagneal.solvers.problem import Problem
from dagneal.solvers.solution import SearchSummary, Solution
from dagneal.strategies.proving import Prove, add_proof, attempt_proof, check_prove, describe_proof

_SUBSET_WORK = 1.0  # work of dynamic programming for each variable and subset, in the units of a proof


@dataclass(frozen=True)
class Exact:
    """Exact search: the result is proved optimal, unless a time limit ends the search before.

    Up to 20 variables, dynamic programming over subsets finds the optimum. With more variables, an anytime search is first.
    Then branch and cut is usually faster (see `dagneal.proofs`). After a time limit, the result is the best network so far,
    with its gap if the parent sets have been listed. Up to 28 variables, dynamic programming takes over if branch and cut
    takes longer than expected. Many variables need a low parent limit, because all parent sets are scored.
    """

    def solve(self, problem: Problem, run: Run) -> Solution:
        """Solve a problem; see `dagneal.Solver`."""
        refuse_initial(problem)
        n = len(problem.names)
        limit = parent_limit(problem.max_parents, n)
        source = problem.source
        if n <= EXACT_FOR_COMPARISON:
            solution = solve_table(problem.with_limit(limit), lambda table: exact(table, run))
            # Without data, the proof cannot be made later, when the result is saved.
            attempt = attempt_proof(source, solution.dag, True, run) if isinstance(source, ScoreTable) else None
            return solution if attempt is None or not attempt.optimal else replace(solution, proof=attempt.proof)
        begun = perf_counter()
        seconds, search = dict[str, float](), None
        if isinstance(source, Scorer):
            if source.knowledge is not None:
                source.knowledge.check(problem.names, limit)
            search = AnytimeSearch(source, limit, run)  # its network is the result if the lists take too long
            search.solve()
            seconds["search"], begun = perf_counter() - begun, perf_counter()
            with search.keep_best():
                table = complete_table(source, limit)
            if search.stopped:
                seconds["score"] = perf_counter() - begun
                return _unproved_solution(search, limit, seconds)
        else:
            table = source
        seconds["score"] = perf_counter() - begun
        subsets = n <= MOST_EXACT and fits(n)
        attempt = prove(table, None if search is None else search.dag, run, _SUBSET_WORK * n * 2.0**n if subsets else inf)
        if subsets and attempt.bound.stopped == "effort":
            solution = exact(table, run)
            return replace(solution, seconds=seconds | {"proof": attempt.seconds} | dict(solution.seconds))
        return Solution(
            dag=attempt.dag,
            score=attempt.score,
            max_parents=table.max_parents,
            solver="exact",
            optimal=attempt.optimal,
            seconds=seconds | {"proof": attempt.seconds},
            bound=None if attempt.optimal else attempt.bound,
            proof=describe_proof(attempt.proof, source),
        )


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
        prove: True for a proof attempt of a fixed effort if there are more than 20 variables, False for none, or the number
            of seconds that it may take.
    """

    restarts: int | None = None
    prove: Prove = True

    def __post_init__(self) -> None:
        check_prove(self.prove)
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
            problem.with_limit(limit), lambda table: order_search(table, self.restarts, initial, run), run, self.prove
        )


def solve_table(
    problem: Problem,
    solver: Callable[[ScoreTable], Solution],
    run: Run = DEFAULT_RUN,
    proof: Prove = False,
    complete: bool = False,
) -> Solution:
    """Score all parent sets of a problem, and solve the problem.

    Args:
        problem: problem with a parent limit.
        solver: function that gets the score table and returns a solution.
        run: `Run` object with deadline and progress, for the proof.
        proof: setting `prove` of the solver, for more than 20 variables.
        complete: True to keep forbidden parents in the table, with a penalty that excludes them from the best network.
    """
    begun = perf_counter()
    table = problem.table(complete=complete)
    scored = perf_counter()
    solution = solver(table)
    solution = replace(solution, seconds={"score": scored - begun, **solution.seconds})
    if len(table.names) <= EXACT_FOR_COMPARISON or solution.optimal or not solution.is_dag:
        return solution
    scorer = problem.source if isinstance(problem.source, Scorer) else None
    return add_proof(solution, attempt_proof(table, solution.dag, proof, run, scorer))


def _unproved_solution(search: AnytimeSearch, limit: int, seconds: dict[str, float]) -> Solution:
    """Return the network of a search as the solution of an exact search that was stopped before it had a bound."""
    return Solution(
        dag=search.dag,
        score=search.best.score,
        max_parents=limit,
        solver="exact",
        seconds=seconds,
        search=SearchSummary(tuple(search.trace), search.stopped, search.locally_optimal),
    )


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
