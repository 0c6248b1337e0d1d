"""From data to a solution: what `learn` and the confidence measures share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from inspect import signature
from typing import Any

import networkx as nx

from dagneal.base.errors import InputError, OutOfTimeError, hint
from dagneal.data.dataset import Dataset
from dagneal.data.reading import read
from dagneal.divide.pairs import count_pairs, learn_from_pairs
from dagneal.graphs.knowledge import Knowledge
from dagneal.runtime.run import NEVER, Run
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.scores import Score
from dagneal.solvers.checks import check_solution
from dagneal.solvers.problem import Problem, SizeLimited, Solver
from dagneal.solvers.solution import Solution
from dagneal.strategies.anneal import Anneal, Divide
from dagneal.strategies.names import STRATEGIES, as_solver


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
    # Pairs are counted first, while there is time; not for a solver that is about to refuse the number of variables.
    refused = isinstance(solver, SizeLimited) and len(problem.names) > solver.most_variables
    pairs = None if run.deadline == NEVER or refused else count_pairs(scorer)
    try:
        solution = solver.solve(problem, run)
    except OutOfTimeError:
        return learn_from_pairs(scorer, pairs, run)
    return check_solution(solution, problem, solver)


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


def refuse_unknown(function: Callable[..., Any], unknown: Mapping[str, Any]) -> None:
    """Refuse unknown keywords of a function; say where they belong, or which one is close.

    Args:
        function: takes data first.
        unknown: the keywords that it does not know.
    """
    if not unknown:
        return
    name, call = next(iter(unknown)), f"dn.{function.__name__}"
    if name in signature(read).parameters:
        raise InputError(f"{name} is an option of dn.read; call {call}(dn.read(data, {name}=...))")
    known = [each for each in signature(function).parameters if each not in ("data", "unknown")]
    for kind in (Anneal, Divide, *(type(as_solver(each)) for each in STRATEGIES)):
        if name in {each.name for each in fields(kind)}:
            setting = f"dn.{kind.__name__}(..., {name}=...)"
            given = setting if known[0] == "solver" else f"solver={setting}"
            raise InputError(f"{name} is a setting of a solver; call {call}(data, {given})")
    if name == "time_limit":
        raise InputError(f"time_limit is a setting of a run; call {call}(data, run=dn.Run(deadline=dn.Deadline.after(60)))")
    if name in Run.__dataclass_fields__:
        raise InputError(f"{name} is a setting of a run; call {call}(data, run=dn.Run({name}=...))")
    raise InputError(
        f"{name} is no argument of {function.__name__}{hint(name, known)}; parameters of a sampler belong to "
        f"dn.Anneal(sampler, parameters={{{name!r}: ...}})"
    )
