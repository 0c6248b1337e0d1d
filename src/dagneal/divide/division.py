"""Divide et impera: solve many small blocks of the variables, and put the whole together from them."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Literal

import dimod
import networkx as nx

from dagneal.base.errors import InputError, OutOfTimeError, secondary
from dagneal.base.kernels import Floats, Ints, Progress
from dagneal.divide.candidates import allowed_by_margin, allowed_by_share, small_evidence
from dagneal.divide.conquer import MOST_ROUNDS, affordable, conquer, conquered
from dagneal.divide.global_solve import AnnealedWhole, ClassicalWhole, WholeSolver
from dagneal.divide.running import run_blocks
from dagneal.divide.screening import screened
from dagneal.divide.subproblem_solvers import BlockSolver, ExactBlocks, block_solver
from dagneal.divide.subproblems import ENUMERATED, choose_blocks, count_votes
from dagneal.divide.votes import by_votes, votes_of
from dagneal.qubo.encode import TIGHT, Encoding, as_encoding
from dagneal.result import Division, Learned
from dagneal.runtime.journal import Journal, writing_down
from dagneal.scoring.scorer import MOST_CANDIDATES, Scorer, check_width, checked_max_parents
from dagneal.scoring.table import ScoreTable
from dagneal.solvers.annealing import EXACT_BESIDE, Sampling, anneal, equal_scores, summarised
from dagneal.solvers.exact import exact
from dagneal.solvers.samplers import parameters_of, with_defaults
from dagneal.strategies.arguments import check_keywords
from dagneal.strategies.names import as_solver

Rule = Literal["conquer", "penalty", "count"]
RULES = ("conquer", "penalty", "count")
CONQUER_PARENTS = 4


def divide(
    problem: Scorer | ScoreTable,
    solver: Any = None,
    size: int = 3,
    blocks: str = "all",
    rule: Rule = "conquer",
    max_parents: int | None = None,
    seed: int = 0,
    repair: bool = True,
    acyclic: bool = False,
    encoding: Encoding | str = TIGHT,
    block_parameters: Mapping[str, Any] | None = None,
    executor: Executor | None = None,
    journal: Journal | None = None,
    progress: Progress | None = None,
    start: nx.DiGraph | None = None,
    deadline: float | None = None,
    **parameters: Any,
) -> Learned:
    """Learn a structure from sub-problems of a few variables each.

    Args:
        problem: a scorer, which the rule `conquer` needs to ask for more scores; for the paper's rules a table with at most
            two parents will do.
        solver: what solves the blocks: nothing for compiled exact search, a dimod sampler, a learner, a block solver, or a
            name such as `"sa"`.
        size: how many variables a block has, k in the paper.
        blocks: `all`, `cover:2`, `cover:3` or `sample:F`; see `choose_blocks`.
        rule: `penalty` and `count` are the paper's: an edge that is in more blocks than it is not (C - P > 0), or one that
            occurs, and more often than its reverse. `conquer` takes the blocks as evidence for who may be a parent of whom
            and solves the whole: with the sampler, if one was given, otherwise by exact or ordering search.
        max_parents: the most parents in the whole network under `conquer`, 4 by default, where blocks have at most 2; under
            the paper's rules the most in a block, 2 by default.
        seed: of samplers, covers and the ordering search.
        repair: let samplers report repaired reads; otherwise raw ones, as in the paper.
        acyclic: drop the weakest edge of each cycle that the paper's rules leave.
        encoding: how blocks and the whole are encoded for a sampler: an encoding, or words such as `"paper"`.
        block_parameters: parameters of the sampler that differ for the blocks, such as `{"num_reads": 100}`. Where no
            `num_reads` are given, samplers get their defaults: mostly 100 for a block, 1,000 for the whole.
        executor: where blocks are solved; threads by default. The result does not depend on it.
        journal: keeps solved blocks, so that an interrupted division resumes.
        progress: told how far it is.
        start: a network that the conquest begins with.
        deadline: a time of `perf_counter`, after which no more blocks are begun and the conquest comes to an end.
        **parameters: of the sampler or the learner.

    Returns:
        The network; its `division` has the votes C and P and all that is to be known about the blocks. The paper's rules may
        leave cycles: then `division.acyclic` is False and the score NaN.

    >>> from dagneal.networks.bundled import load
    >>> truth = load("lung-cancer")
    >>> found = divide(Scorer(truth.expected(10_000)), size=4, rule="penalty")
    >>> found.division.blocks, found.division.acyclic
    (5, True)
    """
    if rule not in RULES:
        raise InputError(f"there is no rule {rule!r}; give one of {', '.join(RULES)}")
    if not isinstance(problem, Scorer | ScoreTable):
        raise InputError(f"a Scorer or a ScoreTable is divided, not {type(problem).__name__}; dn.learn takes data")
    solver, encoding = as_solver(solver), as_encoding(encoding)
    check_keywords("divide", [divide], solver, parameters)
    scorer = problem if isinstance(problem, Scorer) else None
    if rule == "conquer" and scorer is None:
        raise InputError("the rule conquer asks for scores that a table does not have; give a Scorer")
    names = problem.data.names if isinstance(problem, Scorer) else problem.names
    n = len(names)
    if not isinstance(solver, dimod.Sampler) and (encoding != TIGHT or not repair or block_parameters is not None):
        raise InputError("encoding, repair and block_parameters are for samplers; give one as solver")
    if scorer is None and max_parents is not None:
        raise InputError("max_parents is settled by the table; give a Scorer to choose it")
    if scorer is not None and scorer.knowledge is not None and rule == "conquer":
        scorer.knowledge.check(names, checked_limit(max_parents, n))
    two = max_parents is None and (rule != "conquer" or encoding.penalties == "paper")
    limit = checked_limit(min(2, n - 1) if two else max_parents, n)
    sampler = None
    if isinstance(solver, dimod.Sampler):
        sampler = AnnealedWhole(solver, with_defaults(solver, parameters), repair, seed, encoding)
    if n < 3:
        return _undivided(problem, sampler, limit, rule, seed)
    if n > MOST_CANDIDATES + 1:
        if scorer is None or rule != "conquer" or solver is not None or size != 3 or blocks != "all":
            raise InputError(
                f"with {n} variables only exact blocks of 3 under the rule conquer are possible; "
                "choose fewer columns (--columns)"
            )
        return screened(scorer, limit, seed, progress, start, deadline)
    chosen = choose_blocks(n, size, blocks, seed)
    solves = block_solver(solver, seed, repair, encoding, **parameters | dict(block_parameters or {}))
    with writing_down(solver, journal):
        evidence = _gathered(problem, chosen, solves, blocks, rule, limit, executor, journal, progress, deadline)
        if rule != "conquer" or scorer is None:
            found = by_votes(problem, evidence.division, acyclic)
            return replace(found, seconds=evidence.seconds, seed=seed, data=scorer.data if scorer else None)
        if evidence.division.interrupted and hasattr(solves, "cancel"):  # no more calls that cost something
            return _unsolved(scorer, evidence, seed)
        whole: WholeSolver = ClassicalWhole(seed, deadline) if sampler is None else sampler
        return _conquered(scorer, evidence, whole, limit, seed, progress, start, deadline)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What blocks say.

    Attributes:
        division: with their votes.
        margins: of each edge (row to column), where blocks are so small that all their graphs are scored; otherwise None.
        seconds: what it took.
    """

    division: Division
    margins: Floats | None
    seconds: dict[str, float]


def _gathered(
    problem: Scorer | ScoreTable,
    chosen: Ints,
    solves: BlockSolver,
    scheme: str,
    rule: Rule,
    limit: int,
    executor: Executor | None,
    journal: Journal | None,
    progress: Progress | None,
    deadline: float | None,
) -> Evidence:
    """Solve the blocks; arguments as in `divide`."""
    begun = perf_counter()
    in_blocks = 2 if rule == "conquer" else limit
    table = problem.table(in_blocks, progress=progress, complete=True) if isinstance(problem, Scorer) else problem
    scored = perf_counter()
    total, size = chosen.shape
    division = Division(rule=rule, size=size, scheme=scheme, blocks=total, solver=solves.name)
    margins = None
    if rule == "conquer" and isinstance(solves, ExactBlocks) and size <= ENUMERATED:
        margins, votes, together = small_evidence(table, chosen)
        division = replace(division, votes=votes, against=together - votes, finished=total)
    else:
        solved = run_blocks(table, chosen, solves, executor, journal, progress, deadline)
        votes, together = count_votes(len(table.names), chosen[solved.done], solved.adjacency[solved.done])
        division = replace(
            division,
            votes=votes,
            against=together - votes,
            finished=int(solved.done.sum()),
            failed=solved.reasons(table.names, chosen),
            interrupted=solved.interrupted,
        )
        if solved.late:
            division = replace(division, skipped=f"the time limit left {total - division.finished:,} blocks unsolved")
    if len(division.failed) == total:
        raise InputError(f"no block could be solved; the first failed with: {next(iter(division.failed.values()))}")
    return Evidence(division, margins, {"score": scored - begun, "blocks": perf_counter() - scored})


def _conquered(
    scorer: Scorer,
    evidence: Evidence,
    whole: WholeSolver,
    limit: int,
    seed: int,
    progress: Progress | None,
    start: nx.DiGraph | None,
    deadline: float | None,
) -> Learned:
    """Solve the whole with what the blocks say of who may be a parent of whom; arguments as in `divide`."""
    division = evidence.division
    if evidence.margins is not None:
        allowed = allowed_by_margin(evidence.margins)
    else:
        # Every candidate costs a sampler bits; what is missing at first comes with the iteration.
        votes, against = votes_of(division)
        allowed = allowed_by_share(votes, votes + against, 0.5 if isinstance(whole, ClassicalWhole) else 1.0)
    most = 1 if division.interrupted else MOST_ROUNDS  # whoever pressed Ctrl-C wants an answer soon
    try:
        found, conquest = conquer(
            scorer, limit, allowed, whole, start, most_rounds=most, progress=progress, deadline=deadline
        )
    except KeyboardInterrupt:  # before there was a network: what the blocks say is not lost
        return _unsolved(scorer, evidence, seed)
    found = replace(found, seed=seed, seconds=evidence.seconds | found.seconds, data=scorer.data)
    found = replace(found, division=conquered(division, conquest))
    sampling = conquest.best.sampling
    return found if sampling is None else _beside(found, scorer, conquest.best.solver, sampling, seed)


def _unsolved(scorer: Scorer, evidence: Evidence, seed: int) -> Learned:
    """What the blocks say, where Ctrl-C came before the whole was solved."""
    note = "interrupted before the whole was solved: put together from the votes"
    found = by_votes(scorer, replace(evidence.division, interrupted=True, skipped=note), acyclic=True)
    return replace(found, seconds=evidence.seconds, seed=seed, data=scorer.data)


def _beside(found: Learned, scorer: Scorer, solver: str, sampling: Sampling, seed: int) -> Learned:
    """What a sampler found with the figures that it is measured by: random orders, and the optimum over all parents."""
    begun = perf_counter()
    optimum = None
    cheap = len(scorer.data.names) <= EXACT_BESIDE and affordable(scorer, found.max_parents)
    if cheap and not (found.division and found.division.interrupted):
        # The network is found: what it is compared with can be done without.
        with suppress(KeyboardInterrupt, OutOfTimeError), secondary("the exact search beside the annealer"):
            optimum = exact(scorer.table(found.max_parents)).score
    return replace(
        found,
        solver=solver,
        annealed=summarised(sampling, optimum, seed),
        optimal=optimum is not None and bool(equal_scores(found.score, optimum)),
        seconds=found.seconds | {"compare": perf_counter() - begun},
    )


def checked_limit(max_parents: int | None, variables: int) -> int:
    """The parent limit of the whole: as given, or 4, or fewer where there are fewer variables."""
    limit = min(CONQUER_PARENTS, variables - 1) if max_parents is None else checked_max_parents(max_parents, variables)
    check_width(limit, variables)
    return limit


def _undivided(problem: Scorer | ScoreTable, sampler: AnnealedWhole | None, limit: int, rule: str, seed: int) -> Learned:
    """Two variables make no block of three."""
    table = problem.table(limit) if isinstance(problem, Scorer) else problem
    if sampler is None:
        found = exact(table)
    else:
        seeded = {"seed": seed} if "seed" in parameters_of(sampler.sampler) else {}
        found = anneal(table, sampler.sampler, sampler.repair, sampler.encoding, **seeded | sampler.parameters)
    note = f"fewer than 3 variables: solved directly, by {found.solver}"
    division = Division(
        rule=rule, size=len(found.dag), scheme="none", blocks=0, solver=found.solver, whole=found.solver, skipped=note
    )
    return replace(found, seed=seed, data=problem.data if isinstance(problem, Scorer) else None, division=division)
