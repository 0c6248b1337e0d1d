"""learn: from data to a learned network, in one call."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import networkx as nx

from dagneal.base.defaults import SEED
from dagneal.base.errors import InputError
from dagneal.graphs.knowledge import Knowledge, as_knowledge
from dagneal.result import Learned
from dagneal.runtime.run import Deadline, Run, check_run
from dagneal.scoring.scores import Score, as_score
from dagneal.solvers.problem import Solver, UsesJournal
from dagneal.strategies.anneal import Anneal, Divide
from dagneal.strategies.names import as_solver
from dagneal.strategies.solve import as_dataset, refuse_unknown, solve_data


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
    **unknown: Any,
) -> Learned:
    """Learn the structure of a Bayesian network from data.

    Args:
        data: a dataset, or anything that `read` takes: a path, a pandas or polars frame, an array. Options of `read` are
            given there: `learn(read(data, bins="quantile:4"))`.
        solver: `Auto()` by default, the best answer that this machine gives in seconds. Or `Exact()`, `OrderSearch()`,
            `Exhaustive()`, `Anneal(sampler)`, `Divide(...)`, or any object with a method `solve(problem, run)`. A dimod
            sampler stands for `Anneal(sampler)`. A name stands for a solver with default settings: `"exact"`, `"order"`,
            `"exhaustive"`, `"sa"`, `"sqa"`, `"tabu"`, `"tree"`, `"greedy"`, `"random"`, `"qpu"`, `"qpu-emulated"` or
            `"leap-hybrid"`.
        score: what is maximised, or its name such as `"bic"` or `"bdeu:10"`; `BDeu(1)` by default.
        max_parents: the most parents of a variable; by default 4, and 2 where a sampler solves the global problem directly.
        knowledge: edges and limits that are known before; every solver obeys them. A `Knowledge`, a dict such as
            `{"leaves": ["survived"]}`, or the path of a TOML file.
        initial: a DAG that the search starts from; for `Auto`, `OrderSearch`, `Divide` and `Anneal` without `direct`.
        seed: the same seed gives the same answer; 0 by default.
        time_limit: seconds after which the search ends with the best network so far. What is being solved exactly or sampled
            is finished first. If not even the parent sets can be counted in time, the network has at most one parent for
            each variable. A sampler that solves the global problem directly takes no limit.
        run: seed, deadline, progress, executor and journal in one object, instead of `seed` and `time_limit`.
        **unknown: refused with a hint where it belongs.

    Returns:
        The structure; its `network` has probabilities fitted to the data.

    >>> from dagneal.networks.bundled import load
    >>> truth = load("lung-cancer")
    >>> learn(truth.expected(10_000))
    Learned(5 variables, 4 edges, BDeu(1) = -21036.862, optimal)
    """
    refuse_unknown(learn, unknown)
    deadline = Deadline.after(time_limit)
    if run is not None:
        check_run(run)
    if run is not None and (seed is not None or time_limit is not None):
        raise InputError("seed and time_limit are shortcuts for run; give them to dn.Run, or leave run out")
    solver = as_solver(solver)
    if seed is not None:
        check_seed(solver)
    given = seed if run is None else run.seed
    run = Run(SEED if seed is None else seed, deadline) if run is None else run
    if run.journal is not None:
        check_journal(solver)
    score, known = as_score(score), as_knowledge(knowledge)
    data = as_dataset(data)
    found = solve_data(data, solver, score, max_parents, known, run, initial)
    if given is not None and _takes_seed(solver):  # what was given is in the result, also where it makes no difference
        found = replace(found, seed=int(given))
    asked = None if max_parents is None else int(max_parents)
    return Learned.of(found, score_name=score.name, data=data, criterion=score, knowledge=known, requested_parents=asked)


def check_seed(solver: Solver) -> None:
    """Refuse a seed for a sampler that takes none.

    Args:
        solver: any solver.
    """
    inner = solver.solver if isinstance(solver, Divide) else solver
    if isinstance(inner, Anneal) and not _takes_seed(solver):
        name = inner.sampler if isinstance(inner.sampler, str) else type(inner.sampler).__name__
        raise InputError(f"{name} takes no seed")


def _takes_seed(solver: Solver) -> bool:
    """Return whether a seed can make a difference: to a sampler, or to the choice of subproblems."""
    inner = solver.solver if isinstance(solver, Divide) else solver
    drawn = isinstance(solver, Divide) and solver.subproblems != "all"
    return not isinstance(inner, Anneal) or inner.takes_seed or drawn


def check_journal(solver: Solver) -> None:
    """Refuse a journal that nothing would be written to.

    Args:
        solver: any solver.
    """
    if not uses_journal(solver):
        raise InputError(
            "a journal stores solved subproblems, bootstrap samples and what is sent to a QPU; "
            "this solver has none of them; leave the journal out, or make subproblems with dn.Divide(...) or samples with "
            "bootstrap"
        )


def uses_journal(solver: Solver) -> bool:
    """Return whether a solver stores anything in a journal: solved subproblems, or what was sent to a QPU.

    Args:
        solver: any solver; one without the attribute `uses_journal` does not.
    """
    return isinstance(solver, UsesJournal) and bool(solver.uses_journal)
