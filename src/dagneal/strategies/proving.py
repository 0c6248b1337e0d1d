"""Proofs for solvers: the setting `prove`, and the attempt to prove the result of a search."""

from __future__ import annotations

from dataclasses import replace
from math import comb, inf
from numbers import Real

import networkx as nx

from dagneal.base.errors import InputError, warn_on_failure
from dagneal.base.machine import has_memory
from dagneal.proofs.attempt import EFFORT, Attempt, prove
from dagneal.proofs.certificate import Proof
from dagneal.runtime.run import Deadline, Run
from dagneal.scoring.bounded import QUICK_WORK, unlimited_table
from dagneal.scoring.complete import complete_cost
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.scores import score_spec
from dagneal.scoring.table import ScoreTable
from dagneal.search.anytime import MAX_COMPLETE_COST
from dagneal.solvers.annealing import equal_scores
from dagneal.solvers.solution import BestRead, ReadSummary, Solution

_MAX_FAMILIES = 1e7  # children with parent sets that are listed for a proof of a fixed effort
_ROWS_PER_SECOND = 2e9  # rows to read for complete lists of parent sets, for each second that a proof may take
_WORK_PER_SECOND = 5e8  # the same for lists without a parent limit

Prove = bool | float
"""True for a proof attempt of a fixed effort, False for none, or the number of seconds that it may take."""


def check_prove(value: object) -> None:
    """Raise an error if the setting `prove` is invalid.

    Args:
        value: setting `prove` of a solver.

    >>> check_prove(0)
    Traceback (most recent call last):
    dagneal.base.errors.InputError: prove is 0; give True, False, or a number of seconds above 0
    """
    if not isinstance(value, bool) and not (isinstance(value, Real) and 0 < float(value) < inf):
        raise InputError(f"prove is {value!r}; give True, False, or a number of seconds above 0")


def attempt_proof(
    table: ScoreTable,
    dag: nx.DiGraph,
    setting: Prove,
    run: Run,
    scorer: Scorer | None = None,
    effort: float = EFFORT,
) -> Attempt | None:
    """Try to prove that a network is optimal. Return None if this is switched off. If it fails, warn and return None.

    Args:
        table: score table of all networks that the proof covers.
        dag: network to start with.
        setting: setting `prove` of the solver.
        run: `Run` object with deadline and progress.
        scorer: scorer that the table comes from; None if the table has no known data.
        effort: work of the attempt if the setting is True.
    """
    if setting is False:
        return None
    if setting is not True:
        run = replace(run, deadline=min(run.deadline, Deadline.after(setting), key=lambda deadline: deadline.at))
    with warn_on_failure("the proof"):
        attempt = prove(table, dag, run, effort if setting is True else inf)
        return attempt if scorer is None else replace(attempt, proof=describe_proof(attempt.proof, scorer))
    return None


def lists_are_quick(scorer: Scorer, size: int, setting: Prove) -> bool:
    """Return whether all sets of up to `size` parents can be listed for a proof, and fit into memory.

    Args:
        scorer: scorer of the data.
        size: maximum number of parents.
        setting: setting `prove` of the solver. The number of seconds, if given, determines how long it may take.
    """
    n, by_child = len(scorer.data.names), scorer.criterion.depends_on_child
    families = n * sum(comb(n - 1, parents) for parents in range(size + 1))
    if by_child and not has_memory(scorer.table_bytes(families, n - 1)):
        return False
    rows = scorer.counter.total_cost(size + 1) if by_child else complete_cost(scorer, size)
    if setting is True:
        return rows <= MAX_COMPLETE_COST and families <= _MAX_FAMILIES
    return rows <= _ROWS_PER_SECOND * setting


def unlimited_lists(scorer: Scorer, setting: Prove) -> ScoreTable | None:
    """Return a table of all parent sets that an optimal network can need, without a parent limit; None if not possible.

    Args:
        scorer: scorer of the data.
        setting: setting `prove` of the solver. The number of seconds, if given, determines how long it may take.
    """
    return unlimited_table(scorer, QUICK_WORK if setting is True else _WORK_PER_SECOND * setting)


def describe_proof(proof: Proof, source: Scorer | ScoreTable) -> Proof:
    """Return a proof with the score and the background knowledge of its scorer. A checker needs them to count again.

    Args:
        proof: proof for the scores of the source.
        source: scorer, or a table of scores without known data.
    """
    if isinstance(source, ScoreTable):
        return proof
    knowledge = source.knowledge.to_dict() if source.knowledge else {}
    return replace(proof, criterion=score_spec(source.criterion) or "", knowledge=knowledge)


def add_proof(solution: Solution, attempt: Attempt | None) -> Solution:
    """Return a solution with the bound of a proof attempt, and with the proof if the attempt found no better network.

    Args:
        solution: solution of a solver.
        attempt: proof attempt that started with the solution; None to return the solution unchanged.
    """
    if attempt is None:
        return solution
    same = bool(equal_scores(solution.score, attempt.score))
    optimal = same and attempt.optimal
    return replace(
        solution,
        optimal=optimal,
        bound=None if optimal else attempt.bound,
        proof=attempt.proof if same else None,
        reads=_add_optimum(solution.reads, attempt.score) if attempt.optimal else solution.reads,
        seconds={**solution.seconds, "proof": attempt.seconds},
    )


def _add_optimum(reads: ReadSummary | None, optimum: float) -> ReadSummary | None:
    """Return a summary of reads with the proved optimum."""
    if reads is None:
        return None

    def compare(best: BestRead) -> BestRead:
        return replace(best, optimum_hits=best.hits if equal_scores(best.score, optimum) else 0)

    raw = None if reads.raw is None else compare(reads.raw)
    return replace(reads, optimum=optimum, raw=raw, repaired=compare(reads.repaired))
