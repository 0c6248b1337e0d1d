"""Functions that `learn` and the measures of confidence share: learn a structure from data, and check arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from inspect import signature
from typing import Any

import networkx as nx

from dagneal.base.errors import InputError, OutOfTimeError, hint
from dagneal.data.dataset import Dataset
from dagneal.data.raw.prepare import Prepared, prepare
from dagneal.data.reading import read
from dagneal.divide.pairs import count_pairs, learn_from_pairs
from dagneal.graphs.knowledge import Knowledge
from dagneal.runtime.run import NEVER, Run
from dagneal.scoring.scorefiles import is_score_file, read_scores
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.scores import Score
from dagneal.scoring.table import ScoreTable
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
    """Learn a structure from data with a solver.

    If the deadline passes before the parent sets are scored, each variable of the returned network has only its required
    parents or, if it has none, at most one parent.

    Args:
        data: training data.
        solver: solver that learns the structure.
        score: score to maximise.
        max_parents: parent limit; None for the default of the solver.
        knowledge: background knowledge.
        run: a `Run` with seed, deadline, progress, executor and journal.
        initial: initial DAG of the search.
    """
    scorer = Scorer(data, score, knowledge, run)
    problem = Problem(scorer, max_parents, initial)
    # With a deadline, pairs are counted first, for a fallback network. A solver that rejects the problem needs no fallback.
    too_large = isinstance(solver, SizeLimited) and len(problem.names) > solver.max_variables
    pairs = None if run.deadline == NEVER or too_large else count_pairs(scorer)
    try:
        solution = solver.solve(problem, run)
    except OutOfTimeError:
        return learn_from_pairs(scorer, pairs, run)
    return check_solution(solution, problem, solver)


def solve_scores(table: ScoreTable, solver: Solver, run: Run, initial: nx.DiGraph | None = None) -> Solution:
    """Learn a structure from a score table with a solver.

    Args:
        table: scores of the parent sets.
        solver: solver that learns the structure.
        run: a `Run` with seed, deadline, progress, executor and journal.
        initial: initial DAG of the search.
    """
    problem = Problem(table, initial=initial)
    return check_solution(solver.solve(problem, run), problem, solver)


def without_proof(solver: Solver) -> Solver:
    """Return the solver with `prove=False`, if it has this setting. Measures of confidence do not need proofs.

    Args:
        solver: any solver.
    """
    if is_dataclass(solver) and not isinstance(solver, type) and any(each.name == "prove" for each in fields(solver)):
        faster: Solver = replace(solver, prove=False)
        return faster
    return solver


def as_dataset(data: Any, strict: bool = False) -> Dataset:
    """Return the data as a `Dataset`. If `data` is already a `Dataset`, return it unchanged.

    Args:
        data: a dataset, a result of `prepare`, or any input that `prepare` accepts. Raw tables are prepared.
        strict: True to read the table with `read`, which refuses raw tables.
    """
    if isinstance(data, Dataset):
        return data
    if isinstance(data, Prepared):
        return data.data
    return read(data) if strict else prepare(data).data


def as_table(data: Any) -> ScoreTable | None:
    """Return the scores if `data` is a `ScoreTable` or the path of a score file. Return None for any other value.

    Args:
        data: score table, path of a .jkl, .scores or .jaa file, or any other value.
    """
    if isinstance(data, ScoreTable):
        return data
    return read_scores(data) if is_score_file(data) else None


def refuse_unknown(function: Callable[..., Any], unknown: Mapping[str, Any]) -> None:
    """Raise an error if there is an unknown keyword argument. The message names the function or class that accepts it.

    Args:
        function: function that the user called; its first argument is the data.
        unknown: unknown keyword arguments of the call.
    """
    if not unknown:
        return
    name, call = next(iter(unknown)), f"dn.{function.__name__}"
    if name in signature(read).parameters:
        raise InputError(f"{name} is an option of dn.read; call {call}(dn.read(data, {name}=...))")
    parameters = [parameter for parameter in signature(function).parameters if parameter not in ("data", "unknown")]
    solvers = (Anneal, Divide, *(type(as_solver(strategy)) for strategy in STRATEGIES))
    for solver_class in solvers if "solver" in parameters else ():
        if name in {field.name for field in fields(solver_class)}:
            solver = f"dn.Auto({name}=...)" if name == "prove" else f"dn.{solver_class.__name__}(..., {name}=...)"
            argument = solver if parameters[0] == "solver" else f"solver={solver}"
            raise InputError(f"{name} is a setting of a solver; call {call}(data, {argument})")
    if name == "time_limit":
        raise InputError(f"time_limit is a setting of a run; call {call}(data, run=dn.Run(deadline=dn.Deadline.after(60)))")
    if name in Run.__dataclass_fields__:
        raise InputError(f"{name} is a setting of a run; call {call}(data, run=dn.Run({name}=...))")
    raise InputError(
        f"{name} is not an argument of {function.__name__}{hint(name, parameters)}; pass parameters of a sampler with "
        f"dn.Anneal(sampler, parameters={{{name!r}: ...}})"
    )
