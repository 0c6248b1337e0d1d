"""Check the solution that a solver returns. The error messages name the solver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf, isclose, isnan
from numbers import Real

import networkx as nx
import numpy as np

from dagneal.base.errors import InputError, short_repr, whole_number
from dagneal.graphs.dags import check_acyclic, check_variables, graph_from_edges
from dagneal.runtime.run import DEFAULT_RUN
from dagneal.scoring.scorer import Scorer
from dagneal.solvers.problem import Problem
from dagneal.solvers.solution import Bound, Certificate, Division, Hardware, ReadSummary, SearchSummary, Solution

_TOLERANCE = 1e-9  # allowed relative difference between the score of a solution and the score of its graph


def check_solution(solution: object, problem: Problem, solver: object) -> Solution:
    """Check a solution, and return it with NumPy numbers converted to Python numbers.

    The score and the background knowledge are checked only for third-party solvers. For the solvers of this package, the
    tests of the package cover both.

    Args:
        solution: return value of the solver.
        problem: problem that was solved.
        solver: solver that returned the solution.
    """
    who = type(solver).__name__
    if not isinstance(solution, Solution):
        raise InputError(f"{who} returned {type(solution).__name__}; a solver must return a Solution")
    if not isinstance(solution.dag, nx.DiGraph) or solution.dag.is_multigraph():
        raise InputError(f"{who} returned a {type(solution.dag).__name__} as dag; give a networkx.DiGraph")
    check_variables(solution.dag, problem.names, f"the dag of {who}", "the problem")
    solution = _check_types(solution, who)
    division = solution.division
    if not isnan(solution.score) or (solution.reads is None and division is None):
        check_acyclic(solution.dag, f"the dag of {who}")  # otherwise a raw read or a rule of the paper may leave cycles
    if isnan(solution.score):
        return solution
    by_votes = division is not None and (division.combine != "conquer" or division.interrupted)
    if not by_votes:  # graphs that are combined by votes have no parent limit
        _check_parents(solution, problem, who)
    if type(solver).__module__.partition(".")[0] == "dagneal":
        return solution
    if not by_votes:
        _check_knowledge(solution, problem, who)
    _check_score(solution, problem, who)
    if list(solution.dag) != list(problem.names):  # list nodes and edges in the order of the variables
        solution = replace(solution, dag=graph_from_edges(problem.names, solution.dag.edges))
    return solution


def _check_types(solution: Solution, who: str) -> Solution:
    """Check the types of a solution's fields, and return the solution with Python numbers instead of NumPy numbers."""
    score = solution.score
    if isinstance(score, bool | np.bool_) or not isinstance(score, Real) or abs(float(score)) == inf:
        raise InputError(
            f"{who} returned the score {short_repr(score)}; give a number, or NaN if the graph is not a valid network"
        )
    if not isinstance(solution.optimal, bool | np.bool_):
        raise InputError(f"{who} returned optimal={short_repr(solution.optimal)}; give True or False")
    if not isinstance(solution.solver, str):
        raise InputError(f"{who} returned solver={short_repr(solution.solver)}; give the name of the solver as text")
    seconds = solution.seconds
    if not isinstance(seconds, Mapping) or not all(isinstance(value, Real) for value in seconds.values()):
        raise InputError(f"{who} returned seconds={short_repr(seconds)}; give a mapping from stage names to numbers")
    for name, kind in (
        ("reads", ReadSummary),
        ("division", Division),
        ("bound", Bound),
        ("hardware", Hardware),
        ("search", SearchSummary),
        ("proof", Certificate),
    ):
        if getattr(solution, name) is not None and not isinstance(getattr(solution, name), kind):
            raise InputError(f"{who} returned {name}={short_repr(getattr(solution, name))}; give a {kind.__name__} or None")
    values = {
        "score": float(score),
        "max_parents": whole_number(f"max_parents of the solution of {who}", solution.max_parents),
        "optimal": bool(solution.optimal),
        "seed": None if solution.seed is None else whole_number(f"seed of the solution of {who}", solution.seed),
    }
    if any(type(value) is not type(getattr(solution, name)) for name, value in values.items()):
        solution = replace(solution, **values)
    return solution


def _check_parents(solution: Solution, problem: Problem, who: str) -> None:
    limits = (problem.max_parents, solution.max_parents)
    limit = min(limit for limit in limits if limit is not None)
    for child, parents in solution.dag.in_degree:
        if parents > limit:
            where = "the problem" if limit == problem.max_parents else "max_parents of the solution"
            raise InputError(f"{who} returned a graph with {parents} parents of {child!r}; {where} allows at most {limit}")


def _check_knowledge(solution: Solution, problem: Problem, who: str) -> None:
    rules = problem.source.constraints if isinstance(problem.source, Scorer) else None
    if rules is None:
        return
    names = problem.names
    edges = nx.to_numpy_array(solution.dag, nodelist=names, weight=None) > 0
    for parent, child in np.argwhere(edges & ~rules.allowed):
        raise InputError(
            f"{who} returned the edge {names[parent]} -> {names[child]}, which the background knowledge forbids"
        )
    for parent, child in np.argwhere(rules.required & ~edges):
        raise InputError(
            f"{who} returned a graph without the edge {names[parent]} -> {names[child]}, "
            "which the background knowledge requires"
        )
    for child in np.flatnonzero(edges.sum(axis=0) > rules.limits):
        count = int(edges[:, child].sum())
        raise InputError(
            f"{who} returned a graph with {count} parents of {names[child]!r}; "
            f"the background knowledge allows at most {rules.limits[child]}"
        )


def _check_score(solution: Solution, problem: Problem, who: str) -> None:
    source = problem.source
    if isinstance(source, Scorer):
        source = source.with_run(DEFAULT_RUN)  # the deadline may have passed, but the solution must still be scored
    expected = source.score(solution.dag)
    if not isclose(solution.score, expected, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE):
        raise InputError(f"{who} returned the score {solution.score!r}, but the score of its graph is {expected!r}")
