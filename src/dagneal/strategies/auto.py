"""The default solver `Auto`: an anytime search, followed by exact search or an upper bound if they take only seconds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from dagneal.base.defaults import NETWORK_PARENTS
from dagneal.base.errors import InputError, OutOfTimeError, check_flag
from dagneal.base.kernels import Ints
from dagneal.graphs.dags import dag_from_parents, topological_order
from dagneal.runtime.run import Run
from dagneal.scoring.scorer import Scorer, check_max_parents
from dagneal.scoring.sets import Members, expand_masks, pad_sets
from dagneal.scoring.table import ScoreTable
from dagneal.search.anytime import EFFORTS, AnytimeSearch, Effort, FoundNetwork
from dagneal.search.trace import TracePoint, stop_reason
from dagneal.solvers.annealing import equal_scores
from dagneal.solvers.exact import exact
from dagneal.solvers.policy import COMPLETE_PARENTS, COMPLETE_VARIABLES, exact_is_quick, table_is_quick
from dagneal.solvers.problem import Problem
from dagneal.solvers.solution import Bound, SearchSummary, Solution
from dagneal.strategies.classical import Exact, OrderSearch, prove_bound, solve_table

_MAX_BOUND = 100  # with more variables, the bound is too high to be useful, and it takes much memory
_LEAST_GAIN = 1.0  # nats; the parent limit of exact search is raised while this gains more
_INSTANT = 12  # up to this number of variables, exact search needs no time, so there is no anytime search before it


@dataclass(frozen=True)
class Auto:
    """The default solver: an anytime search, and exact search if it takes only seconds.

    The anytime search has a first network within fractions of a second, and improves it until three rounds of restarts bring
    no improvement. Up to 22 variables, exact search then proves the optimum. Up to 12 variables, exact search comes first.

    Args:
        bound: True to prove an upper bound on the score, if this takes only seconds.
        effort: `"normal"`, or `"max"` to search until the time limit.
    """

    bound: bool = True
    effort: Effort = "normal"

    def __post_init__(self) -> None:
        check_flag("bound", self.bound)
        if self.effort not in EFFORTS:
            raise InputError(f"effort is {self.effort!r}; give one of {', '.join(map(repr, EFFORTS))}")

    def solve(self, problem: Problem, run: Run) -> Solution:
        """Solve a problem; see `dagneal.Solver`."""
        n = len(problem.names)
        if isinstance(problem.source, ScoreTable):
            return (Exact() if exact_is_quick(n) else OrderSearch(bound=self.bound)).solve(problem, run)
        scorer = problem.scorer
        given = None if problem.max_parents is None else check_max_parents(problem.max_parents, n)
        if scorer.knowledge is not None:
            scorer.knowledge.check(problem.names, n - 1 if given is None else given)
        required = _most_required(scorer)
        limit = max(min(NETWORK_PARENTS, n - 1), required) if given is None else given
        provable = exact_is_quick(n) and table_is_quick(scorer, limit)
        begun = perf_counter()
        if provable and n <= _INSTANT:
            solution, stopped = _prove(problem, given, limit, run)
            return _add_summary(solution, SearchSummary((), stopped, locally_optimal=True), problem, begun)
        search = AnytimeSearch(scorer, given, run)
        search.solve(_found_network(problem), self.effort, restarts=not provable)
        seconds = {"search": perf_counter() - begun}
        proved = bound = None
        few = min(COMPLETE_PARENTS, limit)
        if not search.stopped and provable:
            with search.keep_best():
                proved, search.stopped = _prove(problem, given, limit, run)
                seconds |= {"score": proved.seconds["score"], "exact": proved.seconds["solve"]}
        elif not search.stopped and self.bound and required <= few:
            with search.keep_best():
                bound = _bound(search, few)
            if bound is not None or search.stopped:
                seconds["bound"] = perf_counter() - begun - seconds["search"]
        solution = _better(_solution(search, given, bound), proved)
        summary = SearchSummary(tuple(search.trace), search.stopped, solution.optimal or search.locally_optimal)
        return _add_summary(replace(solution, seconds=seconds), summary, problem, begun)


def _most_required(scorer: Scorer) -> int:
    """Return the largest number of required parents of a variable."""
    return 0 if scorer.constraints is None else int(scorer.constraints.required.sum(axis=0).max())


def _prove(problem: Problem, given: int | None, limit: int, run: Run) -> tuple[Solution, str]:
    """Run exact search. Without a given limit, raise the limit while one more parent gains at least 1 nat.

    Return the solution for the last limit that was proved, and the reason for an early end, if any.
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
    except (KeyboardInterrupt, OutOfTimeError) as error:
        return solution, stop_reason(error)
    return solution, ""


def _found_network(problem: Problem) -> FoundNetwork | None:
    """Return the initial DAG of a problem in the form that the search needs; None if there is none."""
    if problem.initial is None:
        return None
    index = {name: i for i, name in enumerate(problem.names)}
    order = np.array([index[name] for name in topological_order(problem.initial, problem.names)])
    parents = pad_sets([[index[p] for p in problem.initial.predecessors(name)] for name in problem.names])
    return FoundNetwork(order, parents)


def _bound(search: AnytimeSearch, few: int) -> Bound | None:
    """Return an upper bound, from complete lists of the search or from a complete table. Return None if neither is quick.

    The search has no complete lists if the pseudo-counts of the score depend on the child. Complete lists ignore required
    parents. In these cases, all sets of at most `few` parents are counted here, and added to the search.
    """
    scorer = search.scorer
    if search.complete is not None and scorer.knowledge is None and len(scorer.data.names) <= _MAX_BOUND:
        return prove_bound(search.complete.table(scorer))
    if len(scorer.data.names) > COMPLETE_VARIABLES or not table_is_quick(scorer, few):
        return None
    table = scorer.table(few)
    search.add_sets(*_undominated(table), "complete table")
    return prove_bound(table)


def _undominated(table: ScoreTable) -> tuple[Ints, Members]:
    """Return the children and the parent sets of a table, without sets that score no better than one of their subsets."""
    start, masks, _ = table.pruned
    children, parents = np.empty(len(masks), dtype=np.int64), np.empty((len(masks), table.max_parents), dtype=np.int32)
    expand_masks(table.first, table.candidates, start, masks, 0, children, parents)
    return children, parents


def _solution(search: AnytimeSearch, given: int | None, bound: Bound | None) -> Solution:
    """Return the best network of a search as a `Solution`."""
    names, parents = search.scorer.data.names, search.best.parents
    dag = dag_from_parents({name: [names[p] for p in row if p >= 0] for name, row in zip(names, parents, strict=True)})
    most = int((parents >= 0).sum(axis=1).max())
    limit = max(min(NETWORK_PARENTS, len(names) - 1), most) if given is None else given
    return Solution(
        dag=dag,
        score=search.best.score,
        max_parents=limit,
        solver="search",
        optimal=bound is not None and bound.max_parents >= limit and bool(equal_scores(search.best.score, bound.score)),
        seed=search.run.seed,
        bound=bound,
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
    if solution.gap is not None:
        stage = "exact search" if solution.solver == "exact" else "bound"
        trace = (*trace, TracePoint(perf_counter() - begun, solution.score, stage, solution.score + solution.gap))
    rules, most = problem.scorer.constraints, len(dag) - 1
    limits = np.full(len(dag), most) if rules is None else rules.limits
    limits = np.minimum(limits, most if problem.max_parents is None else problem.max_parents)
    pairs = zip(problem.names, limits.tolist(), strict=True)
    at_limit = tuple(name for name, limit in pairs if limit < most and dag.in_degree(name) == limit > 0)
    return replace(solution, search=replace(summary, trace=trace, at_limit=at_limit))
