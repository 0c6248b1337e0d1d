"""Divide et impera: solve many small subproblems, and combine their solutions into a global network."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dagneal.base.defaults import PAPER_PARENTS, SUBPROBLEM_SIZE
from dagneal.base.errors import InputError, OutOfTimeError, check_flag, warn_on_failure, whole_number
from dagneal.base.kernels import Floats
from dagneal.divide.candidates import allowed_by_frequency, allowed_by_margin, collect_evidence
from dagneal.divide.conquer import MAX_GLOBAL_SOLVES, CandidateSearch
from dagneal.divide.global_solve import ClassicalSolver, GlobalSolver
from dagneal.divide.screening import joint_parents, reachable, screen
from dagneal.divide.solving import failures_by_members, solve_subproblems
from dagneal.divide.subproblem_solvers import ExactSubproblems, SubproblemSolver
from dagneal.divide.subproblems import ENUMERATED, choose_subproblems, count_votes
from dagneal.divide.votes import solution_from_votes, votes_of
from dagneal.runtime.executors import Cancellable
from dagneal.runtime.run import Run
from dagneal.scoring.scorer import Scorer
from dagneal.solvers.annealing import Sampling, equal_scores, summarize
from dagneal.solvers.exact import exact
from dagneal.solvers.policy import COMPLETE_VARIABLES, EXACT_FOR_COMPARISON, LARGE, parent_limit, table_is_quick
from dagneal.solvers.problem import Problem
from dagneal.solvers.solution import Division, Solution

Combine = Literal["conquer", "penalty", "count"]
COMBINE = ("conquer", "penalty", "count")


@dataclass(frozen=True)
class DivisionSettings:
    """The choice of subproblems, and the rule to combine their solutions.

    Args:
        size: number of variables in a subproblem (k in the paper).
        subproblems: `"all"`, `"cover:2"`, `"cover:3"`, or `"sample:F"` with a fraction F; see `choose_subproblems`.
        combine: rule that combines the solutions of the subproblems. `conquer` derives candidate parents from them, and then
            solves the global problem with these candidates. `penalty` and `count` are the paper's rules. `penalty` keeps an
            edge if it is in the solutions of more than half of the subproblems that contain both variables of the edge
            (C - P > 0 in the paper). `count` keeps an edge if it is in more solutions than the reverse edge.
        acyclic: True to drop the weakest edge of each cycle; used only by the rules `penalty` and `count`.
    """

    size: int = SUBPROBLEM_SIZE
    subproblems: str = "all"
    combine: Combine = "conquer"
    acyclic: bool = False

    def __post_init__(self) -> None:
        if self.combine not in COMBINE:
            raise InputError(f"combine is {self.combine!r}; give one of {', '.join(map(repr, COMBINE))}")
        check_flag("acyclic", self.acyclic)
        object.__setattr__(self, "size", whole_number("size", self.size))


def divide(
    problem: Problem,
    settings: DivisionSettings,
    solver: SubproblemSolver,
    global_solver: GlobalSolver,
    run: Run,
) -> Solution:
    """Learn a structure from subproblems of a few variables each.

    Args:
        problem: problem with at least 3 variables. For the rule `conquer`, `problem.source` must be a `Scorer`.
        settings: choice of subproblems, and rule to combine their solutions.
        solver: solver of the subproblems.
        global_solver: solver of the global problem; used only if the rule is `conquer`.
        run: a `Run` with seed, deadline, progress, executor and journal; the executor does not affect the result.

    Returns:
        The solution. Its attribute `division` contains the votes (the matrices C and P of the paper). With the rules
        `penalty` and `count` the graph can have cycles. Then `division.acyclic` is False and the score is NaN.
    """
    n = len(problem.names)
    conquers = settings.combine == "conquer"
    if conquers and problem.scorer.knowledge is not None:
        problem.scorer.knowledge.check(problem.names, parent_limit(problem.max_parents, n))
    evidence = _gather(problem, settings, solver, run)
    if not conquers:
        solution = solution_from_votes(problem.source, evidence.division, settings.acyclic)
        return replace(solution, seconds=evidence.seconds, seed=run.seed)
    if evidence.division.interrupted and isinstance(solver, Cancellable):  # after Ctrl-C, make no further paid calls
        return _stop_at_votes(problem.scorer, evidence, run.seed)
    return _conquer(problem, evidence, global_solver, run)


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence that the solved subproblems give about the global network.

    Attributes:
        division: division into subproblems, with their votes.
        margins: lowest margin of each pair of variables; None if not computed. The module `candidates` explains margins.
        seconds: seconds spent in each stage.
        near: strong neighbours, from which the subproblems were chosen; None if the neighbours were not computed.
    """

    division: Division
    margins: Floats | None
    seconds: dict[str, float]
    near: NDArray[np.bool_] | None = None


def _gather(problem: Problem, settings: DivisionSettings, solver: SubproblemSolver, run: Run) -> Evidence:
    """Choose and solve the subproblems, and collect their votes and margins."""
    begun = perf_counter()
    n, conquers = len(problem.names), settings.combine == "conquer"
    scheme, skipped, near = settings.subproblems, "", None
    if conquers and scheme == "all" and n > COMPLETE_VARIABLES:
        screening = screen(problem.scorer, settings.size)
        scheme, skipped, near = "neighbours", screening.note, screening.near
        chosen, table = screening.chosen, screening.table
    else:
        chosen = choose_subproblems(n, settings.size, scheme, run.seed)
        limit = PAPER_PARENTS if conquers else parent_limit(problem.max_parents, n, PAPER_PARENTS)
        table = problem.source.table(limit, complete=True) if isinstance(problem.source, Scorer) else problem.source
    scored = perf_counter()
    total, size = chosen.shape
    division = Division(settings.combine, size, scheme, total, solver.name, skipped=skipped)
    margins = None
    if conquers and isinstance(solver, ExactSubproblems) and size <= ENUMERATED:
        margins, votes, together = collect_evidence(table, chosen)
        division = replace(division, votes=votes, against=together - votes, finished=total)
    else:
        solved = solve_subproblems(table, chosen, solver, run)
        votes, together = count_votes(len(table.names), chosen[solved.done], solved.values[solved.done].astype(bool))
        division = replace(
            division,
            votes=votes,
            against=together - votes,
            finished=int(solved.done.sum()),
            failed=failures_by_members(solved, table.names, chosen),
            interrupted=solved.interrupted,
        )
        if solved.late:
            late = f"{total - division.finished:,} subproblems, because of the time limit"
            division = replace(division, skipped="; ".join(filter(None, [skipped, late])))
    if len(division.failed) == total:
        raise InputError(f"all subproblems failed; the first error is: {next(iter(division.failed.values()))}")
    return Evidence(division, margins, {"score": scored - begun, "subproblems": perf_counter() - scored}, near)


def _conquer(problem: Problem, evidence: Evidence, solver: GlobalSolver, run: Run) -> Solution:
    """Derive candidate parents from the evidence, and run the iterated candidate search."""
    scorer, division, n = problem.scorer, evidence.division, len(problem.names)
    if evidence.margins is not None:
        allowed = allowed_by_margin(evidence.margins)
    else:
        # For a sampler each candidate adds QUBO variables, so start with fewer. The search adds missing candidates later.
        votes, against = votes_of(division)
        allowed = allowed_by_frequency(votes, votes + against, 0.5 if isinstance(solver, ClassicalSolver) else 1.0)
    solves = 1 if division.interrupted else MAX_GLOBAL_SOLVES  # after Ctrl-C, finish soon
    limit = parent_limit(problem.max_parents, n)
    reach = None
    if evidence.near is not None:
        joint, note = joint_parents(scorer, evidence.near)
        allowed |= joint
        division = replace(division, skipped="; ".join(filter(None, [division.skipped, note])))
        reach = reachable(scorer, evidence.near)
        solves = min(solves, max(2, solves * LARGE**2 // n**2))
    search = CandidateSearch(scorer, limit, solver, problem.initial, reach, solves)
    try:
        outcome = search.run(allowed, run)
    except KeyboardInterrupt:  # there is no global solution yet, so use the votes
        return _stop_at_votes(scorer, evidence, run.seed)
    solution = outcome.solution(division, evidence.seconds)
    sampling = outcome.best.sampling
    return solution if sampling is None else _add_comparison(solution, scorer, outcome.best.solver, sampling)


def _stop_at_votes(scorer: Scorer, evidence: Evidence, seed: int) -> Solution:
    """Combine the votes into a network. Used if Ctrl-C stopped the run before a global solve finished."""
    note = "interrupted before the global problem was solved; the network comes from the votes of the subproblems"
    solution = solution_from_votes(scorer, replace(evidence.division, interrupted=True, skipped=note), acyclic=True)
    return replace(solution, seconds=evidence.seconds, seed=seed)


def _add_comparison(solution: Solution, scorer: Scorer, solver: str, sampling: Sampling) -> Solution:
    """Add read statistics to a solution, with the best score of random orders and, if exact search is cheap, the optimum."""
    begun = perf_counter()
    optimum = None
    cheap = len(scorer.data.names) <= EXACT_FOR_COMPARISON and table_is_quick(scorer, solution.max_parents)
    if cheap and not (solution.division and solution.division.interrupted):
        # The comparison is optional: interruptions and errors must not lose the network.
        with suppress(KeyboardInterrupt, OutOfTimeError), warn_on_failure("the exact search for comparison"):
            optimum = exact(scorer.table(solution.max_parents)).score
    return replace(
        solution,
        solver=solver,
        reads=summarize(sampling, optimum, solution.seed),
        optimal=optimum is not None and bool(equal_scores(solution.score, optimum)),
        seconds={**solution.seconds, "compare": perf_counter() - begun},
    )
