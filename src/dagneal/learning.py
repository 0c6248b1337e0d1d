"""learn: the best answer for a dataset, in one call."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any, cast

import dimod
import networkx as nx

from dagneal.base.errors import InputError, OutOfTimeError, secondary, whole_number
from dagneal.base.kernels import Progress
from dagneal.divide.candidates import from_complete
from dagneal.divide.conquer import affordable, conquer, conquered
from dagneal.divide.division import Rule, checked_limit, divide as divided
from dagneal.divide.global_solve import EXACT_WHOLE, ClassicalWhole
from dagneal.divide.pairs import count_pairs, learn_from_pairs
from dagneal.divide.subproblem_solvers import seeded
from dagneal.graphs.dags import check_dag, topological_order
from dagneal.graphs.knowledge import Knowledge, as_knowledge
from dagneal.proofs.bound import upper_bound
from dagneal.qubo.encode import TIGHT, Encoding, as_encoding
from dagneal.result import Bound, Division, Learned
from dagneal.runtime.journal import Journal, writing_down
from dagneal.scoring.scorer import MOST_CANDIDATES, Scorer, checked_max_parents
from dagneal.scoring.scores import BDeu, Dirichlet, Score, as_score
from dagneal.scoring.table import ScoreTable
from dagneal.solvers.annealing import EXACT_BESIDE, anneal, equal_scores
from dagneal.solvers.exact import MOST_VARIABLES as MOST_EXACT, exact, fits
from dagneal.solvers.exhaustive import MOST_VARIABLES as MOST_EXHAUSTIVE, exhaustive
from dagneal.solvers.order_search import order
from dagneal.solvers.samplers import SEED, parameters_of, solves_directly
from dagneal.strategies.arguments import as_dataset, check_keywords, check_types
from dagneal.strategies.names import as_solver

COMPLETE_PARENTS = 3  # of the tables that are scored in full before candidates are chosen

Learner = Callable[..., Learned]


def learn(
    data: Any,
    max_parents: int | None = None,
    score: Score | str | None = None,
    solver: dimod.Sampler | Learner | str | None = None,
    seed: int | None = None,
    divide: int | None = None,
    blocks: str = "all",
    rule: Rule = "conquer",
    acyclic: bool = False,
    direct: bool | None = None,
    encoding: Encoding | str = TIGHT,
    knowledge: Knowledge | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    journal: Journal | None = None,
    progress: Progress | None = None,
    start: nx.DiGraph | None = None,
    time_limit: float | None = None,
    bound: bool = True,
    **parameters: Any,
) -> Learned:
    """Learn the structure of a Bayesian network from data.

    Args:
        data: a dataset, or anything that `read` takes: a path, a pandas or polars frame, an array. Options of `read` are
            given there: `learn(read(data, bins="quantile:4"))`.
        max_parents: the most parents of a variable; by default 4, and 2 where a sampler solves the whole directly.
        score: what is maximised, or its name such as `"bic"` or `"bdeu:10"`; `BDeu(1)` by default.
        solver: nothing for the best answer this machine can give in seconds: exact search where it can be had, else the
            conquest with an ordering search. Or a `dimod.Sampler`: it solves blocks of three variables, which say who may
            be a parent of whom, then the whole on these candidates, and again with more candidates until none is missing.
            Or a learner such as `exact`. Or a name, as on the command line: `"auto"`, `"exact"`, `"order"`, `"exhaustive"`,
            `"sa"`, `"sqa"`, `"tabu"`, `"tree"`, `"greedy"`, `"random"`, `"qpu"`, `"qpu-emulated"` or `"leap-hybrid"`.
        seed: the same seed gives the same answer; 0 by default.
        divide: solve blocks of so many variables first, and put the whole together by `rule`; with a sampler 3 by default.
        blocks: which blocks; see `divide`.
        rule: how the whole is put together; see `divide`.
        acyclic: drop the weakest edge of each cycle that the paper's rules leave.
        direct: let the sampler solve the whole at once, with all variables as candidate parents; by default only Leap's
            hybrid sampler does.
        encoding: how tables are encoded for a sampler: an encoding, or words such as `"paper"`.
        knowledge: edges and limits that are known before; every solver obeys them. A `Knowledge`, a dict such as
            `{"leaves": ["survived"]}`, or the path of a TOML file.
        executor: where blocks are solved and much counting is done; threads by default.
        journal: keeps solved blocks, and the ids of problems that were sent to a QPU.
        progress: told how far each stage is.
        start: a network to begin with: the conquest and the ordering search start there, exact search does not need it.
        time_limit: seconds after which the search comes to an end with the best network so far; what is being solved exactly
            or sampled is finished first. If not even the parent sets can be counted in time, the network has at most one
            parent for each variable. A sampler that is given the whole at once takes no limit.
        bound: whether to tell a score that no network exceeds where the optimum is not proved and all scores are at hand.
        **parameters: passed to the sampler, or to the learner. A sampler that is given no `num_reads` gets 1,000 for the
            whole and 100 for a block, but fewer where a read is slow; see `dagneal.solvers.samplers`.

    Returns:
        The structure; its `network` has probabilities fitted to the data.

    >>> from dagneal.networks.bundled import load
    >>> truth = load("lung-cancer")
    >>> found = learn(truth.expected(10_000))
    >>> found.edges == [("Pollution", "Cancer"), ("Smoker", "Cancer"), ("Cancer", "Xray"), ("Cancer", "Dyspnoea")]
    True
    >>> found.optimal
    True
    """
    check_types(
        acyclic=acyclic,
        direct=direct,
        bound=bound,
        time_limit=time_limit,
        executor=executor,
        journal=journal,
        progress=progress,
        start=start,
    )
    if seed is not None:
        whole_number("seed", seed)
    score, encoding, knowledge = as_score(score), as_encoding(encoding), as_knowledge(knowledge)
    named, solver = isinstance(solver, str), as_solver(solver)
    if not (solver is None or isinstance(solver, dimod.Sampler) or callable(solver)):
        raise InputError(
            f"solver is {type(solver).__name__}; give a dimod sampler, a learner, a name such as 'sa', or nothing"
        )
    if named and hasattr(solver, "close"):
        with closing(cast(Any, solver)):
            how = (
                divide,
                blocks,
                rule,
                acyclic,
                direct,
                encoding,
                knowledge,
                executor,
                journal,
                progress,
                start,
                time_limit,
            )
            return learn(data, max_parents, score, solver, seed, *how, bound, **parameters)
    check_keywords("learn", [learn], solver, parameters)
    sampled = isinstance(solver, dimod.Sampler)
    direct = (sampled and divide is None and solves_directly(solver)) if direct is None else direct
    _check_combination(solver, sampled, divide, direct, encoding, blocks, rule, acyclic, journal, seed, time_limit)
    deadline = None if time_limit is None else perf_counter() + time_limit
    data = as_dataset(data)
    divided_up = divide is not None or (sampled and not direct)
    if start is not None:
        check_dag(start, data.names)
        if direct or not (solver is None or _plain(solver) is order or divided_up):
            raise InputError("start is for the conquest and the ordering search; leave the solver or --direct out")
    _check_size(solver, sampled, divided_up, len(data.names))
    scorer = Scorer(data, score, knowledge=knowledge, executor=executor)
    scorer.counter.deadline = deadline
    own_seed = SEED if seed is None else seed
    usage = getattr(solver, "usage", None)  # of a quantum annealer
    before = usage() if usage else None

    def search() -> Learned:
        if divided_up:
            return divided(
                scorer,
                solver,
                3 if divide is None else divide,
                blocks,
                rule,
                max_parents,
                own_seed,
                acyclic=acyclic,
                encoding=encoding,
                executor=executor,
                journal=journal,
                progress=progress,
                start=start,
                deadline=deadline,
                **parameters,
            )
        if solver is None:
            return _best(scorer, max_parents, own_seed, progress, start, deadline, bound)
        if isinstance(solver, dimod.Sampler):
            seeds = {} if seed is None else {"seed": seed}
            annealed = partial(anneal, sampler=solver, encoding=encoding, progress=progress, **parameters | seeds)
            with writing_down(solver, journal):
                return _on_table(scorer, max_parents, annealed, progress, bound)
        limit = _limit_of(solver, max_parents, len(data.names))
        if start is not None:
            place = {name: i for i, name in enumerate(data.names)}
            parameters["start"] = [place[name] for name in topological_order(start, data.names)]
        if deadline is not None and _plain(solver) is order:
            parameters["deadline"] = deadline
        learner = partial(solver, **seeded(solver, seed, parameters))
        return _on_table(scorer, limit, learner, progress, bound, complete=_plain(solver) is exhaustive)

    pairs = None if deadline is None else count_pairs(scorer, progress)
    try:
        found = search()
    except OutOfTimeError:
        found = learn_from_pairs(scorer, pairs, own_seed)
    if usage is not None:
        found = replace(found, hardware=usage(before))
    prior = score if isinstance(score, Dirichlet) else BDeu()
    known = knowledge.to_dict() if knowledge else None
    found = replace(found, seed=found.seed if seed is None else int(seed), data=data, prior=prior, knowledge=known)
    return replace(found, criterion=scorer.rule)


def _check_combination(
    solver: Any,
    sampled: bool,
    divide: int | None,
    direct: bool,
    encoding: Encoding,
    blocks: str,
    rule: str,
    acyclic: bool,
    journal: Journal | None,
    seed: int | None,
    time_limit: float | None,
) -> None:
    """Refuse arguments of `learn` that do not go together."""
    if not sampled and (direct or encoding != TIGHT):
        raise InputError("direct and encoding are for samplers; give one as solver")
    if direct and divide is not None:
        raise InputError("direct solves the whole at once, divide in blocks; give one of them")
    divided_up = divide is not None or (sampled and not direct)
    if not divided_up and (blocks != "all" or rule != "conquer" or acyclic):
        raise InputError("blocks, rule and acyclic are for blocks; give their size with divide=K")
    if not divided_up and journal is not None and not hasattr(solver, "line"):
        raise InputError("a journal keeps solved blocks and what a QPU was sent, and there are neither")
    takes_seed = not sampled or "seed" in parameters_of(solver)
    if seed is not None and blocks == "all" and not takes_seed:
        raise InputError(f"{type(solver).__name__} takes no seed")
    if time_limit is not None and sampled and direct:
        raise InputError("a sampler that is given the whole at once cannot be cut short; give fewer reads, not a time limit")


def _check_size(solver: Any, sampled: bool, divided_up: bool, variables: int) -> None:
    """Refuse more variables than a solver takes, before anything is counted."""
    what, most = "", variables
    if sampled:
        what, most = type(solver).__name__, MOST_CANDIDATES + 1
    elif not divided_up:
        for learner, name, limit in (
            (exact, "exact search", MOST_EXACT),
            (exhaustive, "exhaustive search", MOST_EXHAUSTIVE),
            (order, "the ordering search", MOST_CANDIDATES + 1),
        ):
            if _plain(solver) is learner:
                what, most = name, limit
    if variables > most:
        raise InputError(
            f"{what} takes at most {most} variables, not {variables}; leave the solver out, or choose fewer columns "
            "(--columns)"
        )


def _limit_of(solver: Any, max_parents: int | None, variables: int) -> int | None:
    """The parent limit of a learner on the table of all sets; where none is given, one whose cost it bears."""
    plain = _plain(solver)
    if max_parents is None and plain is order:
        return min(COMPLETE_PARENTS, variables - 1)
    return checked_limit(max_parents, variables) if plain is exact else max_parents


def _plain(solver: Any) -> Any:
    return solver.func if isinstance(solver, partial) else solver


def _on_table(
    scorer: Scorer,
    max_parents: int | None,
    learner: Learner,
    progress: Progress | None,
    bound: bool,
    complete: bool = False,
) -> Learned:
    """Solve the whole on the table of all parent sets."""
    begun = perf_counter()
    if scorer.knowledge is not None:
        scorer.knowledge.check(scorer.data.names, checked_max_parents(max_parents, len(scorer.data.names)))
    table = scorer.table(max_parents, progress=progress, complete=complete)
    scored = perf_counter()
    found = learner(table)
    if not isinstance(found, Learned):
        raise InputError(f"the solver returned {type(found).__name__}; a learner returns a Learned")
    unproved = bound and len(table.names) > EXACT_BESIDE and not found.optimal
    most = _bound(table) if unproved else None
    proved = found.optimal or (most is not None and bool(equal_scores(found.score, most.score)))
    return replace(found, seconds={"score": scored - begun, **found.seconds}, bound=most, optimal=proved)


def _bound(table: ScoreTable) -> Bound | None:
    """A score that no network of a table exceeds; None where that fails, which must not lose the network."""
    with secondary("the upper bound"):
        return upper_bound(table)
    return None


def _best(
    scorer: Scorer,
    max_parents: int | None,
    seed: int,
    progress: Progress | None,
    start: nx.DiGraph | None,
    deadline: float | None,
    bound: bool,
) -> Learned:
    """Exact where that takes seconds; else the conquest, from all small parent sets or from triples, as the cost decides."""
    n = len(scorer.data.names)
    limit = checked_limit(max_parents, n)
    if n <= EXACT_WHOLE and fits(n) and affordable(scorer, limit):
        return _on_table(scorer, limit, partial(exact, progress=progress), progress, bound)
    few = min(COMPLETE_PARENTS, limit)
    if n > MOST_CANDIDATES + 1 or not affordable(scorer, few):
        return divided(scorer, max_parents=limit, seed=seed, progress=progress, start=start, deadline=deadline)
    begun = perf_counter()
    table = scorer.table(few, progress=progress)
    most = _bound(table) if bound else None
    allowed, first = from_complete(table, seed, progress, deadline)
    del table
    scored = perf_counter()
    whole = ClassicalWhole(seed, deadline)
    found, conquest = conquer(scorer, limit, allowed, whole, start or first, progress=progress, deadline=deadline)
    way = f"all sets of at most {few} parents"
    division = conquered(Division(rule="conquer", size=n, scheme=way, blocks=0, solver="order"), conquest)
    return replace(found, seed=seed, seconds={"score": scored - begun, **found.seconds}, division=division, bound=most)
