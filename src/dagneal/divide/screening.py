"""Screening for many variables: subproblems of variables that depend strongly on each other, instead of all subproblems."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from dagneal.base.defaults import PAPER_PARENTS
from dagneal.base.kernels import Ints
from dagneal.data.planes import MAX_PLANE_STATES
from dagneal.divide.candidates import named_candidates
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.table import ScoreTable
from dagneal.search.joint_gains import joint_gains, left_out_columns, triple_cost
from dagneal.search.neighbours import dependence, nearest
from dagneal.solvers.policy import COMPLETE_WORK

_PER_VARIABLE = 45  # subproblems of a variable with its strongest neighbours: 10 neighbours if subproblems have 3 variables
_LOOKUP_COST = 1500.0  # cost of looking up a parent set, in rows to read


@dataclass(frozen=True, eq=False)
class Screening:
    """The strong neighbours of many variables, and subproblems of strong neighbours.

    Attributes:
        near: `near[a, b]` is True if one of the two variables is a strong neighbour of the other.
        chosen: indices of the variables of each subproblem, ascending, one subproblem per row.
        table: score table in which only strong neighbours are candidates.
        note: text about the subproblems that were left out.
    """

    near: NDArray[np.bool_]
    chosen: Ints
    table: ScoreTable
    note: str


def screen(scorer: Scorer, size: int) -> Screening:
    """Choose subproblems: each variable with some of its strongest neighbours.

    Args:
        scorer: scorer of the data.
        size: number of variables in a subproblem.
    """
    names = scorer.data.names
    n = len(names)
    most = max(k for k in range(size - 1, n) if comb(k, size - 1) <= _PER_VARIABLE)
    strength = dependence(scorer)
    near = nearest(strength, most)
    np.fill_diagonal(strength, -np.inf)
    strongest = np.argsort(-strength, axis=0, kind="stable")[:most].T
    others = strongest[:, list(combinations(range(most), size - 1))]
    itself = np.broadcast_to(np.arange(n)[:, None, None], (*others.shape[:2], 1))
    rows = np.concatenate([itself, others], axis=2).reshape(-1, size)
    chosen = np.unique(np.sort(rows, axis=1), axis=0)
    # In a subproblem, only strong neighbours can be adjacent. With all edges, the subproblems separate more true neighbours.
    table = scorer.table(PAPER_PARENTS, named_candidates(near, names))
    total = comb(n, size)
    note = (
        f"{total - len(chosen):,} of {total:,} subproblems were left out; the others contain a variable and some of its "
        f"{most} strongest neighbours"
    )
    return Screening(near, chosen, table, note)


def joint_parents(scorer: Scorer, near: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], str]:
    """Return a matrix and a note. `matrix[parent, child]` is True if the parent helps only together with another parent.

    If counting all triples takes more than seconds, no entry is True.

    Args:
        scorer: scorer of the data.
        near: strong neighbours, which are not searched for joint gains.
    """
    if triple_cost(scorer) > COMPLETE_WORK:
        return np.zeros_like(near), ""
    left_out = left_out_columns(scorer)
    exception = f" except those with {', '.join(map(repr, left_out))} (1 state, or more than {MAX_PLANE_STATES})"
    note = f"all triples were checked for joint gains of two parents{exception if left_out else ''}"
    return joint_gains(scorer, scorer.pair_gains(), near), note


def reachable(scorer: Scorer, near: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """Return which variables may become candidates: None for all variables, or `near` if all would take over a minute.

    Args:
        scorer: scorer of the data.
        near: strong neighbours.
    """
    cost = 3.0 * len(near) ** 2 * (scorer.counter.cost(4) + _LOOKUP_COST)
    return near if cost > 10 * COMPLETE_WORK else None
