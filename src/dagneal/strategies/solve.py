"""From data to a solution: what `learn` and the confidence measures share."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import networkx as nx

from dagneal.base.errors import InputError, OutOfTimeError
from dagneal.data.dataset import Dataset
from dagneal.data.reading import read
from dagneal.divide.pairs import count_pairs, learn_from_pairs
from dagneal.graphs.knowledge import Knowledge
from dagneal.runtime.run import NEVER, Run
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.scores import Score
from dagneal.solvers.problem import Problem, Solver
from dagneal.solvers.solution import Solution


def solve_data(
    data: Dataset,
    solver: Solver,
    score: Score,
    max_parents: int | None,
    knowledge: Knowledge | None,
    run: Run,
    initial: nx.DiGraph | None = None,
) -> Solution:
    """Learn a structure from data.

    If not even the parent sets can be counted before the deadline, the network has at most one parent for each variable.

    Args:
        data: the data.
        solver: what finds the structure.
        score: what is maximised.
        max_parents: the most parents of a variable; None leaves it to the solver.
        knowledge: what is known before.
        run: seed, deadline, progress, executor and journal.
        initial: a DAG that the search starts from.
    """
    scorer = Scorer(data, score, knowledge, run)
    problem = Problem(scorer, max_parents, initial)
    pairs = None if run.deadline == NEVER else count_pairs(scorer)
    try:
        found = solver.solve(problem, run)
    except OutOfTimeError:
        return learn_from_pairs(scorer, pairs, run)
    if not isinstance(found, Solution):
        raise InputError(f"the solver returned {type(found).__name__}; a solver returns a Solution")
    return found


def without_bound(solver: Solver) -> Solver:
    """Return a solver that proves no upper bound, which costs time and does not change the network.

    Args:
        solver: any.
    """
    if is_dataclass(solver) and not isinstance(solver, type) and any(each.name == "bound" for each in fields(solver)):
        quick: Solver = replace(solver, bound=False)
        return quick
    return solver


def as_dataset(data: Any) -> Dataset:
    """Return data as given, or read from what `read` takes.

    Args:
        data: a dataset, a path, a frame or an array.
    """
    return data if isinstance(data, Dataset) else read(data)
