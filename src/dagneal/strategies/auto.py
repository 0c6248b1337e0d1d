"""The default solver `Auto`: an anytime search, followed by a proof of optimality or of an upper bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from time import perf_counter

import networkx as nx
import numpy as np

from dagneal.base.defaults import NETWORK_PARENTS
from dagneal.base.errors import InputError, OutOfTimeError
from dagneal.graphs.dags import topological_order
from dagneal.proofs.attempt import Attempt
from dagneal.runtime.run import Run
from dagneal.scoring.bounded import complete_table
from dagneal.scoring.scorer import Scorer, check_max_parents
from dagneal.scoring.sets import pad_sets
from dagneal.scoring.table import ScoreTable
from dagneal.search.anytime import EFFORTS, AnytimeSearch, Effort, FoundNetwork
from dagneal.search.trace import TracePoint, stop_reason
from dagneal.solvers.annealing import equal_scores
from dagneal.solvers.exact import exact
from dagneal.solvers.policy import exact_is_quick, table_is_quick
from dagneal.solvers.problem import Problem
from dagneal.solvers.solution import Bound, SearchSummary, Solution
from dagneal.strategies.classical import Exact, OrderSearch, solve_table
from dagneal.strategies.proving import Prove, attempt_proof, check_prove, lists_are_quick, unlimited_lists

_LEAST_GAIN = 1.0  # nats; the parent limit of exact search is raised while this gains more
_INSTANT = 12  # up to this number of variables, exact search needs no time, so there is no anytime search before it


@dataclass(frozen=True)
class Auto:
    """The default solver: an anytime search, followed by a proof of optimality or of an upper bound.

    The anytime search has a first network within fractions of a second, and improves it until three rounds of restarts bring
    no improvement. Up to 22 variables, exact search then proves the optimum. Up to 12 variables, exact search comes first.
    With more variables, branch and cut proves the optimum or a gap, if the parent sets are few enough to be listed.

    Args:
        prove: True for a proof attempt of a fixed effort, False for none, or the number of seconds that it may take.
        effort: `"normal"`, or `"max"` to search until the time limit.
    """

    prove: Prove = True
    effort: Effort = "normal"

    def __post_init__(self) -> None:
        check_prove(self.prove)
        if self.effort not in EFFORTS:
            raise InputError(f"effort is {self.effort!r}; give one of {', '.join(map(repr, EFFORTS))}")

    def solve(self, problem: Problem, run: Run) -> Solution:
        """Solve a problem; see `dagneal.Solver`."""
        n = len(problem.names)
        if isinstance(problem.source, ScoreTable):
            return (Exact() if exact_is_quick(n) else OrderSearch(prove=self.prove)).solve(problem, run)
        scorer = problem.scorer
        given = None if problem.max_parents is None else check_max_parents(problem.max_parents, n)
        if scorer.knowledge is not None:
            scorer.knowledge.check(problem.names, n - 1 if given is None else given)
        limit = max(min(NETWORK_PARENTS, n - 1), _most_required(scorer)) if given is None else given
        provable = exact_is_quick(n) and table_is_quick(scorer, limit)
        begun = perf_counter()
        if provable and n <= _INSTANT:
            solution, stopped = _prove(problem, given, limit, self.prove, run)
            return _add_summary(solution, SearchSummary((), stopped, locally_optimal=True), problem, begun)
        search = AnytimeSearch(scorer, given, run)
        initial = None if problem.initial is None else _found_network(problem.initial, problem.names)
        search.solve(initial, self.effort, restarts=not provable)
        seconds = {"search": perf_counter() - begun}
        exact_solution = attempt = None
        if not search.stopped and provable:
            with search.keep_best():
                exact_solution, search.stopped = _prove(problem, given, limit, self.prove, run)
                seconds |= {"score": exact_solution.seconds["score"], "exact": exact_solution.seconds["solve"]}
        elif not search.stopped and self.prove:
            with search.keep_best():
                attempt = _attempt(search, given, self.prove, begun)
            if attempt is not None or search.stopped:
                seconds["proof"] = perf_counter() - begun - seconds["search"]
        solution = _better(_solution(search, given, attempt), exact_solution)
        summary = SearchSummary(tuple(search.trace), search.stopped, solution.optimal or search.locally_optimal)
        return _add_summary(replace(solution, seconds=seconds), summary, problem, begun)


def _most_required(scorer: Scorer) -> int:
    """Return the largest number of required parents of a variable."""
    return 0 if scorer.constraints is None else int(scorer.constraints.required.sum(axis=0).max())


def _prove(problem: Problem, given: int | None, limit: int, setting: Prove, run: Run) -> tuple[Solution, str]:
    """Run exact search. Without a given limit, raise the limit while one more parent gains at least 1 nat.

    Then try to prove the optimum without a limit. Return the solution for the last limit that was proved, and the reason for
    an early end, if any.
    """
    solution = solve_table(problem.with_limit(limit), lambda table: exact(table, run))
    try:
        while given is None and limit < len(problem.names) - 1 and max(d for _, d in solution.dag.in_degree) == limit:
            limit += 1
            run.deadline.check()
            if not table_is_quick(problem.scorer, limit):
                break
            larger = solve_table(problem.with_limit(limit), lambda table: exact(table, run))
            if larger.score < solution.score + _LEAST_GAIN:
                break
            solution = larger
        if given is None and (setting or len(problem.names) <= _INSTANT):
            solution = _lift_limit(problem, solution, setting, run)
    except (KeyboardInterrupt, OutOfTimeError) as error:
        return solution, stop_reason(error)
    return solution, ""


def _lift_limit(problem: Problem, solution: Solution, setting: Prove, run: Run) -> Solution:
    """Return the optimum without a parent limit if it can be proved soon; otherwise the solution."""
    begun = perf_counter()
    table = unlimited_lists(problem.scorer, setting or True)
    listed = perf_counter()
    best = solution if table is None else exact(table, run)
    if table is not None and equal_scores(best.score, solution.score):
        best = replace(solution, max_parents=table.max_parents)
    spent = {"score": listed - begun, "solve": perf_counter() - listed}
    return replace(best, seconds={stage: solution.seconds[stage] + more for stage, more in spent.items()})


def _found_network(dag: nx.DiGraph, names: Sequence[str], score: float = -inf) -> FoundNetwork:
    """Return a DAG in the form that the search needs."""
    index = {name: i for i, name in enumerate(names)}
    order = np.array([index[name] for name in topological_order(dag, names)])
    parents = pad_sets([sorted(index[parent] for parent in dag.predecessors(name)) for name in names])
    return FoundNetwork(order, parents, score)


def _attempt(search: AnytimeSearch, given: int | None, setting: Prove, begun: float) -> Attempt | None:
    """Try to prove that the network of a search is optimal, and continue the search if the attempt finds a better one.

    Return None if the parent sets are too many to be listed. The progress of the bound becomes part of the trace.
    """
    table = _proof_table(search, given, setting)
    if table is None:
        return None
    scorer, start = search.scorer, perf_counter() - begun
    attempt = attempt_proof(table, search.dag, setting, search.run, scorer)
    if attempt is None:
        return None
    covered = given is None or table.max_parents >= given
    moments = [(start + seconds, score, bound) for seconds, score, bound in attempt.trace]
    for seconds, score, bound in moments if covered else ():
        search.trace.append(TracePoint(seconds, max(score, search.best.score), "proof", bound))
    if attempt.score > search.best.score and not equal_scores(attempt.score, search.best.score):
        search.add_network(_found_network(attempt.dag, scorer.data.names, attempt.score), "proof")
    return attempt


def _proof_table(search: AnytimeSearch, given: int | None, setting: Prove) -> ScoreTable | None:
    """Return the parent sets that a proof needs: without a parent limit if possible, otherwise up to `_proof_size`."""
    table = unlimited_lists(search.scorer, setting) if given is None else None
    if table is not None:
        return table
    size = _proof_size(search, given, setting)
    if size is None:
        return None
    known = search.complete if search.complete is not None and search.complete.max_parents >= size else None
    return complete_table(search.scorer, size) if known is None else known.table(search.scorer)


def _proof_size(search: AnytimeSearch, given: int | None, setting: Prove) -> int | None:
    """Return the parent limit of a proof: the given limit, or at least the number of parents in the network.

    If the lists of parent sets would take too long, return the limit of the complete lists of the search, or None if the
    network has more parents.
    """
    complete = 0 if search.complete is None else search.complete.max_parents
    most = max(int((search.best.parents >= 0).sum(axis=1).max()), _most_required(search.scorer), 1)
    size = max(most, complete) if given is None else given
    if size <= complete:
        return size
    if lists_are_quick(search.scorer, size, setting):
        return size
    return complete if most <= complete else None


def _solution(search: AnytimeSearch, given: int | None, attempt: Attempt | None) -> Solution:
    """Return the best network of a search as a `Solution`, with the bound and the proof of an attempt."""
    most = int((search.best.parents >= 0).sum(axis=1).max())
    limit = max(min(NETWORK_PARENTS, len(search.best.parents) - 1), most) if given is None else given
    bound = proof = None
    optimal = False
    if attempt is not None:
        bound = attempt.bound
        if given is None and most <= bound.max_parents:
            limit = bound.max_parents  # the networks that the bound covers
        if equal_scores(search.best.score, attempt.score) and most <= bound.max_parents:
            proof, optimal = attempt.proof, attempt.optimal and bound.max_parents >= limit
    return Solution(
        dag=search.dag,
        score=search.best.score,
        max_parents=limit,
        solver="search",
        optimal=optimal,
        seed=search.run.seed,
        bound=None if optimal else bound,
        proof=proof,
    )


def _better(found: Solution, proved: Solution | None) -> Solution:
    """Return the proved optimum. Return the network of the search if it scores higher, because it has more parents."""
    if proved is None:
        return found
    if found.score > proved.score and not equal_scores(found.score, proved.score):
        return replace(found, bound=Bound(proved.score, proved.max_parents))
    return proved


def _add_summary(solution: Solution, summary: SearchSummary, problem: Problem, begun: float) -> Solution:
    """Return a solution with a summary of its search. If a bound is proved, it is in the last point of the trace."""
    dag, trace = solution.dag, summary.trace
    if solution.gap is None:  # a bound for fewer parents
        trace = tuple(replace(point, bound=None) for point in trace)
    else:
        stage = "exact search" if solution.solver == "exact" else "proof"
        trace = (*trace, TracePoint(perf_counter() - begun, solution.score, stage, solution.score + solution.gap))
    rules, most = problem.scorer.constraints, len(dag) - 1
    limits = np.full(len(dag), most) if rules is None else rules.limits
    limits = np.minimum(limits, most if problem.max_parents is None else problem.max_parents)
    pairs = zip(problem.names, limits.tolist(), strict=True)
    at_limit = tuple(name for name, limit in pairs if limit < most and dag.in_degree(name) == limit > 0)
    return replace(solution, search=replace(summary, trace=trace, at_limit=at_limit))
