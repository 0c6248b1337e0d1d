"""Divide et impera: solve many small subproblems, and put the global network together from them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Literal

from dagneal.base.defaults import PAPER_PARENTS, SUBPROBLEM_SIZE
from dagneal.base.errors import InputError, OutOfTimeError, check_flag, secondary, whole_number
from dagneal.base.kernels import Floats, Ints
from dagneal.divide.candidates import allowed_by_margin, allowed_by_share, small_evidence
from dagneal.divide.conquer import MOST_ROUNDS, CandidateSearch
from dagneal.divide.global_solve import ClassicalSolver, GlobalSolver
from dagneal.divide.solving import failures, solve_subproblems
from dagneal.divide.subproblem_solvers import ExactSubproblems, SubproblemSolver
from dagneal.divide.subproblems import ENUMERATED, choose_subproblems, count_votes
from dagneal.divide.votes import solution_of_votes, votes_of
from dagneal.runtime.executors import Cancellable
from dagneal.runtime.run import Run
from dagneal.scoring.scorer import Scorer
from dagneal.solvers.annealing import Sampling, equal_scores, summarize
from dagneal.solvers.exact import exact
from dagneal.solvers.policy import EXACT_BESIDE, parent_limit, table_is_quick
from dagneal.solvers.problem import Problem
from dagneal.solvers.solution import Division, Solution

Combine = Literal["conquer", "penalty", "count"]
COMBINE = ("conquer", "penalty", "count")


@dataclass(frozen=True)
class DivisionSettings:
    """Which subproblems there are, and how the global network is put together.

    Args:
        size: variables in a subproblem, k in the paper.
        subproblems: `all`, `cover:2`, `cover:3` or `sample:F`; see `choose_subproblems`.
        combine: `penalty` and `count` are the paper's rules: an edge that is in more subproblems than it is not (C - P > 0),
            or one that occurs, and more often than its reverse. `conquer` takes the subproblems as evidence for who may be a
            parent of whom, and solves the global problem.
        acyclic: drop the weakest edge of each cycle that the rules of the paper leave.
    """

    size: int = SUBPROBLEM_SIZE
    subproblems: str = "all"
    combine: Combine = "conquer"
    acyclic: bool = False

    def __post_init__(self) -> None:
        if self.combine not in COMBINE:
            raise InputError(f"combine is {self.combine!r}; give one of {', '.join(COMBINE)}")
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
        problem: of 3 to 65 variables; `conquer` needs a scorer to ask for more scores.
        settings: which subproblems, and how they are put together.
        solver: solves the subproblems.
        global_solver: solves the global problem under `conquer`.
        run: the result does not depend on its executor.

    Returns:
        The network; its `division` has the votes C and P. The rules of the paper may leave cycles: then `division.acyclic`
        is False and the score NaN.
    """
    n = len(problem.names)
    conquers = settings.combine == "conquer"
    if conquers and problem.scorer.knowledge is not None:
        problem.scorer.knowledge.check(problem.names, parent_limit(problem.max_parents, n))
    chosen = choose_subproblems(n, settings.size, settings.subproblems, run.seed)
    evidence = _gather(problem, settings, chosen, solver, run)
    if not conquers:
        found = solution_of_votes(problem.source, evidence.division, settings.acyclic)
        return replace(found, seconds=evidence.seconds, seed=run.seed)
    if evidence.division.interrupted and isinstance(solver, Cancellable):  # no more calls that cost something
        return _stop_at_votes(problem.scorer, evidence, run.seed)
    return _conquer(problem, evidence, global_solver, run)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What subproblems say.

    Attributes:
        division: with their votes.
        margins: of each edge (row to column), where subproblems are so small that all their graphs are scored.
        seconds: what it took.
    """

    division: Division
    margins: Floats | None
    seconds: dict[str, float]


def _gather(problem: Problem, settings: DivisionSettings, chosen: Ints, solver: SubproblemSolver, run: Run) -> Evidence:
    """Solve the subproblems."""
    begun = perf_counter()
    conquers = settings.combine == "conquer"
    limit = PAPER_PARENTS if conquers else parent_limit(problem.max_parents, len(problem.names), PAPER_PARENTS)
    table = problem.source.table(limit, complete=True) if isinstance(problem.source, Scorer) else problem.source
    scored = perf_counter()
    total, size = chosen.shape
    division = Division(settings.combine, size, settings.subproblems, total, solver.name)
    margins = None
    if conquers and isinstance(solver, ExactSubproblems) and size <= ENUMERATED:
        margins, votes, together = small_evidence(table, chosen)
        division = replace(division, votes=votes, against=together - votes, finished=total)
    else:
        solved = solve_subproblems(table, chosen, solver, run)
        votes, together = count_votes(len(table.names), chosen[solved.done], solved.values[solved.done].astype(bool))
        division = replace(
            division,
            votes=votes,
            against=together - votes,
            finished=int(solved.done.sum()),
            failed=failures(solved, table.names, chosen),
            interrupted=solved.interrupted,
        )
        if solved.late:
            division = replace(division, skipped=f"the time limit left {total - division.finished:,} subproblems unsolved")
    if len(division.failed) == total:
        raise InputError(f"no subproblem could be solved; the first failed with: {next(iter(division.failed.values()))}")
    return Evidence(division, margins, {"score": scored - begun, "blocks": perf_counter() - scored})


def _conquer(problem: Problem, evidence: Evidence, solver: GlobalSolver, run: Run) -> Solution:
    """Solve the global problem with what the subproblems say of who may be a parent of whom."""
    scorer, division = problem.scorer, evidence.division
    if evidence.margins is not None:
        allowed = allowed_by_margin(evidence.margins)
    else:
        # Every candidate costs a sampler variables of the QUBO; what is missing at first comes with the iteration.
        votes, against = votes_of(division)
        allowed = allowed_by_share(votes, votes + against, 0.5 if isinstance(solver, ClassicalSolver) else 1.0)
    most = 1 if division.interrupted else MOST_ROUNDS  # whoever pressed Ctrl-C wants an answer soon
    limit = parent_limit(problem.max_parents, len(problem.names))
    search = CandidateSearch(scorer, limit, solver, problem.initial, most_rounds=most)
    try:
        outcome = search.run(allowed, run)
    except KeyboardInterrupt:  # before there was a network: what the subproblems say is not lost
        return _stop_at_votes(scorer, evidence, run.seed)
    found = outcome.solution(division, evidence.seconds)
    sampling = outcome.best.sampling
    return found if sampling is None else _compare(found, scorer, outcome.best.solver, sampling)


def _stop_at_votes(scorer: Scorer, evidence: Evidence, seed: int) -> Solution:
    """Return what the subproblems say, where Ctrl-C came before the global problem was solved."""
    note = "interrupted before the global problem was solved: put together from the votes"
    found = solution_of_votes(scorer, replace(evidence.division, interrupted=True, skipped=note), acyclic=True)
    return replace(found, seconds=evidence.seconds, seed=seed)


def _compare(found: Solution, scorer: Scorer, solver: str, sampling: Sampling) -> Solution:
    """Add the figures that a sampler is measured by: random orders, and the optimum over all parents."""
    begun = perf_counter()
    optimum = None
    cheap = len(scorer.data.names) <= EXACT_BESIDE and table_is_quick(scorer, found.max_parents)
    if cheap and not (found.division and found.division.interrupted):
        # The network is found: what it is compared with can be done without.
        with suppress(KeyboardInterrupt, OutOfTimeError), secondary("the exact search beside the annealer"):
            optimum = exact(scorer.table(found.max_parents)).score
    return replace(
        found,
        solver=solver,
        reads=summarize(sampling, optimum, found.seed),
        optimal=optimum is not None and bool(equal_scores(found.score, optimum)),
        seconds={**found.seconds, "compare": perf_counter() - begun},
    )
