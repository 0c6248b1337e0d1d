"""Interactions: parents that gain together what neither of them gains alone.

A variable that says nothing of another on its own, but much beside a third (a parity is the extreme), is seen neither in
pairs nor by a search that adds one parent at a time. So all triples are counted, with bits, and the best few pairs of each
child are kept.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints, kernel, run_threads
from dagneal.scoring.counting.bitwise import count_sets
from dagneal.scoring.counting.terms import sum_of, terms_of
from dagneal.scoring.scorer import Scorer

MOST_PAIRS = 1  # that are kept for each child
_PIECES = 64
_AT_A_TIME = 1 << 15  # triples whose counts are kept
_TERMS = 1 << 22  # terms that are looked up


def work_of(scorer: Scorer) -> float:
    """What counting all triples costs, as if so many rows were looked at; infinite where it cannot be done.

    Args:
        scorer: of the data. Sums over a set must not depend on the child, as with BDeu and BIC.
    """
    if scorer.counter.planes is None or scorer.rule.depends_on_child:
        return float("inf")
    return comb(len(scorer.data.names), 3) * scorer.counter.cost(3)


def left_out_columns(scorer: Scorer) -> list[str]:
    """The variables that `joint_gains` leaves out, by name: those with one state, or with too many to be counted as bits.

    Args:
        scorer: of the data.
    """
    names = scorer.data.names
    counted = set(_countable(scorer).tolist())
    return [name for variable, name in enumerate(names) if variable not in counted]


def _countable(scorer: Scorer) -> NDArray[np.int32]:
    """The variables that are counted as bits and have at least two states, by position."""
    planes = scorer.counter.planes
    if planes is None:
        raise AssertionError("there are no planes")
    return np.flatnonzero((np.diff(planes.first) > 0) & (scorer.data.arities > 1)).astype(np.int32)


def joint_gains(scorer: Scorer, gains: Floats, near: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Who may be a parent of whom because of a third: `found[parent, child]`.

    Args:
        scorer: of the data; `work_of` it is finite.
        gains: what one parent gains alone, as from `Scorer.pair_gains`.
        near: `near[parent, child]`, who is known to gain something alone; beside those a search finds others by itself.
    """
    data, planes = scorer.data, scorer.counter.planes
    if planes is None:
        raise AssertionError("there are no planes")
    n, arities = len(data.names), data.arities.astype(np.int64)
    narrow = _countable(scorer)
    if len(narrow) < 3:
        return np.zeros((n, n), dtype=bool)
    scores, line_of = _scores(scorer, gains, near, np.unique(arities[narrow]))
    j, k = np.triu_indices(len(narrow), 1)  # by rows, so those after a first member are the last ones

    def work(firsts: Ints) -> tuple[Floats, NDArray[np.int32]]:
        kept, pairs = np.zeros((n, MOST_PAIRS)), np.full((n, MOST_PAIRS, 2), -1, dtype=np.int32)
        for first in firsts:
            for begin in range(int(np.searchsorted(j, first, side="right")), len(j), _AT_A_TIME):
                some = slice(begin, begin + _AT_A_TIME)
                own = np.full(len(j[some]), narrow[first], dtype=np.int32)
                members = np.stack([own, narrow[j[some]], narrow[k[some]]], axis=1)
                cells = arities[members].prod(axis=1)
                offsets = np.append(0, np.cumsum(cells))
                counts = np.zeros(offsets[-1], dtype=np.int64)
                sizes = np.full(len(members), 3)
                count_sets(planes.words, planes.first, arities, planes.rows, members, sizes, offsets, counts)
                _keep_best(members, offsets, counts, line_of[cells], scores, kept, pairs)
        return kept, pairs

    # The first member has fewer triples the later it comes, so pieces take it in turns.
    pieces = [np.arange(start, max(len(narrow) - 2, 0), _PIECES) for start in range(_PIECES)]
    results = run_threads(
        work, [piece for piece in pieces if len(piece)], scorer.counter.workers, "triples", scorer.counter.run.progress
    )
    found = np.zeros((n, n), dtype=bool)
    if results:
        kept = np.concatenate([each for each, _ in results], axis=1)
        pairs = np.concatenate([each for _, each in results], axis=1)
        for child in range(n):
            # Equal gains by the order of the columns, so that the number of threads makes no difference.
            order = np.lexsort((pairs[child, :, 1], pairs[child, :, 0], -kept[child]))[:MOST_PAIRS]
            chosen = pairs[child, order[kept[child, order] > 0.0]].ravel()
            found[chosen, child] = True
    return found


class Scores(NamedTuple):
    """What it takes to score a child of two parents.

    Attributes:
        values: pseudo-counts.
        terms: looked up for each of them; without columns they are computed.
        joint: sums of pairs, as parents.
        single: what a pair has to beat, `single[parent, child]`.
        charges: the penalty of a child with so many states and parents with so many combinations of them.
        arities: the number of states of each variable.
        near: who is known to gain something alone.
    """

    values: Floats
    terms: Floats
    joint: Floats
    single: Floats
    charges: Floats
    arities: Ints
    near: NDArray[np.bool_]


def _scores(scorer: Scorer, gains: Floats, near: NDArray[np.bool_], states: Ints) -> tuple[Scores, Ints]:
    """The scores of children and parents with such numbers of states, and the line of terms for each number of cells."""
    data = scorer.data
    alone = np.array([scorer.local(name) for name in data.names])
    # A parent that may not be, or has to be, is no news.
    single = np.where(np.isfinite(gains), alone + np.maximum(gains, 0.0), np.inf)
    products = np.unique(np.multiply.outer(np.multiply.outer(states, states), states))
    values = np.array([scorer.rule.concentrations(2, float(cells), data.rows)[0] for cells in products])
    terms = terms_of(values, data.rows if len(values) * data.rows <= _TERMS else -1)
    line_of = np.zeros(products[-1] + 1, dtype=np.int64)
    line_of[products] = np.arange(len(products))
    charges = np.zeros((states[-1] + 1, states[-1] ** 2 + 1))
    if scorer.rule.penalised:
        every = np.arange(charges.shape[1], dtype=np.float64)
        for arity in states:
            charges[arity] = scorer.rule.penalties(int(arity), every, data.rows)
    arities = data.arities.astype(np.int64)
    return Scores(values, terms, _joint(scorer), single, charges, arities, near), line_of


def _joint(scorer: Scorer) -> Floats:
    """The sums of all pairs of variables, as parents."""
    data = scorer.data
    n = len(data.names)
    a, b = np.triu_indices(n, 1)
    cells = data.arities[a].astype(np.int64) * data.arities[b]
    sizes, which = np.unique(cells, return_inverse=True)
    wanted = np.array([[scorer.rule.concentrations(2, float(each), data.rows)[1]] for each in sizes])[which]
    joint = np.zeros((n, n))
    joint[a, b] = joint[b, a] = scorer.counter.sums(np.stack([a, b], axis=1).astype(np.int32), wanted)[:, 0]
    return joint


@kernel
def _keep_best(
    members: NDArray[np.int32],
    offsets: Ints,
    counts: Ints,
    lines: Ints,
    scores: Scores,
    kept: Floats,
    pairs: NDArray[np.int32],
) -> None:
    """Score each member of each triple as the child of the others, and keep the best pairs of each child, best first."""
    most = kept.shape[1]
    for index in range(len(members)):
        line = lines[index]
        total = sum_of(counts[offsets[index] : offsets[index + 1]], scores.values[line], scores.terms[line])
        for role in range(3):
            child = members[index, role]
            p, q = members[index, 1 if role == 0 else 0], members[index, 1 if role == 2 else 2]
            if scores.near[p, child] or scores.near[q, child]:
                continue
            charge = scores.charges[scores.arities[child], scores.arities[p] * scores.arities[q]]
            gain = total - scores.joint[p, q] - charge - max(scores.single[p, child], scores.single[q, child])
            if gain > kept[child, most - 1]:
                place = most - 1
                while place > 0 and gain > kept[child, place - 1]:
                    kept[child, place] = kept[child, place - 1]
                    pairs[child, place] = pairs[child, place - 1]
                    place -= 1
                kept[child, place] = gain
                pairs[child, place, 0], pairs[child, place, 1] = p, q
