"""The function `learn`, which learns a network from data or from scores."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import networkx as nx

from dagneal.base.defaults import SEED
from dagneal.base.errors import InputError, check_flag
from dagneal.confidence.annotated import DataSummary
from dagneal.graphs.knowledge import Knowledge, as_knowledge
from dagneal.result import Learned
from dagneal.runtime.run import Deadline, Run, check_run
from dagneal.scoring.scores import BIC, Score, as_score
from dagneal.solvers.problem import Solver, UsesJournal
from dagneal.strategies.anneal import Anneal, Divide
from dagneal.strategies.names import as_solver
from dagneal.strategies.solve import as_dataset, as_table, refuse_unknown, solve_data, solve_scores
from dagneal.strategies.structural_em import learn_with_gaps


def learn(
    data: Any,
    solver: Solver | Any = None,
    *,
    score: Score | str | None = None,
    max_parents: int | None = None,
    knowledge: Knowledge | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    initial: nx.DiGraph | None = None,
    seed: int | None = None,
    time_limit: float | None = None,
    run: Run | None = None,
    strict: bool = False,
    **unknown: Any,
) -> Learned:
    """Learn the structure of a Bayesian network from data or from scores.

    Args:
        data: a `Dataset`, or any input that `prepare` accepts, such as a path, a pandas or polars frame, or an array. Raw
            tables are prepared automatically. Pass options to `prepare`, as in `learn(prepare(data, drop=["id"]))`, or to
            `read`, which changes nothing by itself. Also a `ScoreTable`, or the path of
            a score file (.jkl, .scores or .jaa); then `score`, `max_parents` and `knowledge` cannot be given, and the
            result has no data.
        solver: solver that learns the structure. The default `Auto()` finishes within seconds on most data. Other solvers
            are `Exact()`, `OrderSearch()`, `Exhaustive()`, `Anneal(sampler)`, `Divide(...)`, and any object with a method
            `solve(problem, run)`. A dimod sampler means `Anneal(sampler)`. A name means a solver with default settings:
            `"exact"`, `"order"`, `"exhaustive"`, `"sa"`, `"sqa"`, `"tabu"`, `"tree"`, `"greedy"`, `"random"`, `"qpu"`,
            `"qpu-emulated"` or `"leap-hybrid"`.
        score: score to maximise, or its name such as `"bic"` or `"bdeu:10"`; `BDeu(1)` by default. Data with unknown values
            (`read(..., missing="em")`) are learned by structural EM, with `BIC()` by default.
        max_parents: parent limit. Without it, `Auto` gives a variable more than 4 parents only if each of them raises
            the score by at least ln(number of variables) nats. The default is 3 for `OrderSearch`, 2 for `Exhaustive` and
            `Anneal(sampler, direct=True)`, and 4 for other solvers.
        knowledge: background knowledge, such as required and forbidden edges. Give a `Knowledge`, a dict such as
            `{"leaves": ["survived"]}`, or the path of a TOML file. Every solver obeys the background knowledge.
        initial: initial DAG of the search. Accepted by `Auto`, `OrderSearch`, `Divide`, and `Anneal` without `direct=True`.
        seed: seed of all random choices, 0 by default. The same seed gives the same result.
        time_limit: time limit in seconds, after which the search stops and returns the best network so far. A limit that
            is longer than the search does not change the result. An exact search or a sampler call that is already running
            finishes first. If there is no time to score larger parent sets, each variable has at most one parent. Not
            allowed with `Anneal(sampler, direct=True)`.
        run: a `Run` with seed, deadline, progress, executor and journal, instead of `seed` and `time_limit`.
        strict: True to refuse raw tables, as `read` does, instead of preparing them.
        **unknown: other keyword arguments; they raise an error, which names the function that accepts them.

    Returns:
        The learned structure. Its attribute `network` has probabilities fitted to the data.

    >>> from dagneal.networks.bundled import load
    >>> truth = load("lung-cancer")
    >>> learn(truth.expected_data(10_000))
    Learned(5 variables, 4 edges, BDeu(1) = -21036.862, highest score proved)
    """
    refuse_unknown(learn, unknown)
    deadline = Deadline.after(time_limit)
    if run is not None:
        check_run(run)
    if run is not None and (seed is not None or time_limit is not None):
        raise InputError("seed and time_limit cannot be combined with run; set them in dn.Run(...), or remove run")
    solver = as_solver(solver)
    if seed is not None:
        check_seed(solver)
    requested_seed = seed if run is None else run.seed
    check_flag("strict", strict)
    run = Run(SEED if seed is None else seed, deadline) if run is None else run
    if run.journal is not None:
        check_journal(solver)
    more: dict[str, Any]
    if (table := as_table(data)) is not None:
        for name, value in (("score", score), ("max_parents", max_parents), ("knowledge", knowledge)):
            if value is not None:
                raise InputError(f"{name} is given, but the scores of a score table are fixed; remove {name}, or give data")
        solution, more = solve_scores(table, solver, run, initial), {"score_name": table.score_name}
    elif (data := as_dataset(data, strict)).incomplete:
        score, knowledge = BIC() if score is None else as_score(score), as_knowledge(knowledge)
        if run.journal is not None:
            raise InputError("a journal cannot be used with missing='em'; remove the journal")
        solution, network = learn_with_gaps(data, solver, score, max_parents, knowledge, run, initial)
        more = {"score_name": score.name, "criterion": score, "knowledge": knowledge, "fitted": network}
        more |= {"stored_data": DataSummary.of(data)}
    else:
        score, knowledge = as_score(score), as_knowledge(knowledge)
        solution = solve_data(data, solver, score, max_parents, knowledge, run, initial)
        more = {"score_name": score.name, "data": data, "criterion": score, "knowledge": knowledge}
    if requested_seed is not None and _takes_seed(solver):  # record the seed even if the solver did not need it
        solution = replace(solution, seed=int(requested_seed))
    return Learned.of(solution, requested_parents=None if max_parents is None else int(max_parents), **more)


def check_seed(solver: Solver) -> None:
    """Raise an error if a seed cannot affect the result, because the sampler has no parameter `seed`.

    Args:
        solver: solver that a seed was given for.
    """
    inner = solver.solver if isinstance(solver, Divide) else solver
    if isinstance(inner, Anneal) and not _takes_seed(solver):
        name = inner.sampler if isinstance(inner.sampler, str) else type(inner.sampler).__name__
        raise InputError(f"seed is given, but {name} has no seed parameter; remove the seed")


def _takes_seed(solver: Solver) -> bool:
    """Return whether a seed can affect the result: through the sampler, or through a random choice of subproblems."""
    inner = solver.solver if isinstance(solver, Divide) else solver
    random_choice = isinstance(solver, Divide) and solver.subproblems != "all"
    return not isinstance(inner, Anneal) or inner.takes_seed or random_choice


def check_journal(solver: Solver) -> None:
    """Raise an error if a solver stores nothing in a journal.

    Args:
        solver: any solver.
    """
    if not uses_journal(solver):
        raise InputError(
            "this solver stores nothing in a journal; remove the journal, or use subproblems (dn.Divide), a bootstrap or a "
            "quantum annealer"
        )


def uses_journal(solver: Solver) -> bool:
    """Return whether a solver stores solved subproblems or submitted jobs in a journal.

    Args:
        solver: any solver. A solver without an attribute `uses_journal` stores nothing.
    """
    return isinstance(solver, UsesJournal) and bool(solver.uses_journal)
