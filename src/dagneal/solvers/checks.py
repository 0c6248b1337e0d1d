"""Checks of what a solver returns, so that a wrong solution is refused by name instead of failing later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf, isclose, isnan
from numbers import Real

import networkx as nx
import numpy as np

from dagneal.base.errors import InputError, short, whole_number
from dagneal.graphs.dags import check_acyclic, check_variables, graph_of
from dagneal.runtime.run import DEFAULT_RUN
from dagneal.scoring.scorer import Scorer
from dagneal.solvers.problem import Problem
from dagneal.solvers.solution import Bound, Division, Hardware, ReadSummary, Solution

_EQUAL = 1e-9  # how far the score that a solver states may lie from that of its graph, relative to the score


def check_solution(solution: object, problem: Problem, solver: object) -> Solution:
    """Return a solution with plain Python numbers; refuse one that is wrong, by the name of the solver.

    Scores and knowledge are checked for solvers of others only: those of this package are tested, and scoring takes time.

    Args:
        solution: what the solver returned.
        problem: what it was asked to solve.
        solver: the solver.
    """
    who = type(solver).__name__
    if not isinstance(solution, Solution):
        raise InputError(f"{who} returned {type(solution).__name__}; a solver returns a Solution")
    if not isinstance(solution.dag, nx.DiGraph) or solution.dag.is_multigraph():
        raise InputError(f"{who} returned a {type(solution.dag).__name__} as dag; give a networkx.DiGraph")
    check_variables(solution.dag, problem.names, f"the dag of {who}", "the problem")
    solution = _check_figures(solution, who)
    division = solution.division
    if not isnan(solution.score) or (solution.reads is None and division is None):
        check_acyclic(solution.dag, f"the dag of {who}")  # raw reads and the rules of the paper may leave a cycle
    if isnan(solution.score):
        return solution
    by_votes = division is not None and (division.combine != "conquer" or division.interrupted)
    if not by_votes:  # votes have no parent limit
        _check_parents(solution, problem, who)
    if type(solver).__module__.partition(".")[0] == "dagneal":
        return solution
    if not by_votes:
        _check_knowledge(solution, problem, who)
    _check_score(solution, problem, who)
    if list(solution.dag) != list(problem.names):  # edges are listed in the order of the variables
        solution = replace(solution, dag=graph_of(problem.names, solution.dag.edges))
    return solution


def _check_figures(solution: Solution, who: str) -> Solution:
    """Check the types of all figures, and turn those of NumPy into those of Python."""
    score = solution.score
    if isinstance(score, bool | np.bool_) or not isinstance(score, Real) or abs(float(score)) == inf:
        raise InputError(f"{who} returned the score {short(score)}; give a number, or NaN where the graph is no network")
    if not isinstance(solution.optimal, bool | np.bool_):
        raise InputError(f"{who} returned optimal={short(solution.optimal)}; give True or False")
    if not isinstance(solution.solver, str):
        raise InputError(f"{who} returned solver={short(solution.solver)}; give its name as text")
    seconds = solution.seconds
    if not isinstance(seconds, Mapping) or not all(isinstance(value, Real) for value in seconds.values()):
        raise InputError(f"{who} returned seconds={short(seconds)}; give numbers by the names of stages")
    for name, kind in (("reads", ReadSummary), ("division", Division), ("bound", Bound), ("hardware", Hardware)):
        if getattr(solution, name) is not None and not isinstance(getattr(solution, name), kind):
            raise InputError(f"{who} returned {name}={short(getattr(solution, name))}; give a {kind.__name__} or None")
    figures = {
        "score": float(score),
        "max_parents": whole_number(f"max_parents of the solution of {who}", solution.max_parents),
        "optimal": bool(solution.optimal),
        "seed": None if solution.seed is None else whole_number(f"seed of the solution of {who}", solution.seed),
    }
    if any(type(value) is not type(getattr(solution, name)) for name, value in figures.items()):
        solution = replace(solution, **figures)
    return solution


def _check_parents(solution: Solution, problem: Problem, who: str) -> None:
    limits = (problem.max_parents, solution.max_parents)
    limit = min(limit for limit in limits if limit is not None)
    for child, parents in solution.dag.in_degree:
        if parents > limit:
            asked = "were asked for" if limit == problem.max_parents else "are in its max_parents"
            raise InputError(f"{who} returned a graph in which {child!r} has {parents} parents; at most {limit} {asked}")


def _check_knowledge(solution: Solution, problem: Problem, who: str) -> None:
    rules = problem.source.rules if isinstance(problem.source, Scorer) else None
    if rules is None:
        return
    names = problem.names
    edges = nx.to_numpy_array(solution.dag, nodelist=names, weight=None) > 0
    for parent, child in np.argwhere(edges & ~rules.allowed):
        raise InputError(f"{who} returned the edge {names[parent]} -> {names[child]}, which knowledge forbids")
    for parent, child in np.argwhere(rules.required & ~edges):
        raise InputError(f"{who} returned no edge {names[parent]} -> {names[child]}, which knowledge requires")
    for child in np.flatnonzero(edges.sum(axis=0) > rules.limits):
        many = int(edges[:, child].sum())
        raise InputError(
            f"{who} returned {many} parents of {names[child]!r}, to which knowledge allows {rules.limits[child]}"
        )


def _check_score(solution: Solution, problem: Problem, who: str) -> None:
    source = problem.source
    if isinstance(source, Scorer):
        source = source.within(DEFAULT_RUN)  # the deadline may be over, and the solution is there
    expected = source.score(solution.dag)
    if not isclose(solution.score, expected, rel_tol=_EQUAL, abs_tol=_EQUAL):
        raise InputError(f"{who} returned the score {solution.score!r}, but its graph scores {expected!r}")
