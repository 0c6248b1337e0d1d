"""Joint gains: find pairs of parents that raise the score of a child together, but not alone.

An example is a child that is the parity of two parents. Neither pair statistics nor a search that adds one parent at a time
finds these parents. So the rows are counted for all triples of variables, and the best pair of each child is kept.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints, kernel, run_threads
from dagneal.scoring.counting.bitwise import count_sets
from dagneal.scoring.counting.terms import TermTable, sum_terms
from dagneal.scoring.scorer import Scorer

_CHUNKS = 64  # tasks for the threads
_BATCH = 1 << 15  # triples that are counted in one call


def triple_cost(scorer: Scorer) -> float:
    """Return the cost of `joint_gains`, as a number of rows to read; infinity if `joint_gains` is not supported.

    Args:
        scorer: scorer of the data. The pseudo-counts of its score must not depend on the child, as in BDeu.
    """
    if scorer.counter.planes is None or scorer.criterion.depends_on_child:
        return float("inf")
    return comb(len(scorer.data.names), 3) * scorer.counter.cost(3)


def left_out_columns(scorer: Scorer) -> list[str]:
    """Return the names of variables that `joint_gains` skips, because they have one state or too many states.

    Args:
        scorer: scorer of the data.
    """
    names = scorer.data.names
    counted = set(_countable(scorer).tolist())
    return [name for variable, name in enumerate(names) if variable not in counted]


def _countable(scorer: Scorer) -> NDArray[np.int32]:
    """Return the indices of variables with at least two states, and not too many states for bitwise counting."""
    planes = scorer.counter.planes
    if planes is None:
        raise AssertionError("bitwise counting needs bit planes")
    return np.flatnonzero((np.diff(planes.first) > 0) & (scorer.data.arities > 1)).astype(np.int32)


def joint_gains(scorer: Scorer, gains: Floats, near: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a matrix: entry [parent, child] is True if the parent belongs to the best pair of parents of the child.

    Args:
        scorer: scorer of the data with a finite `triple_cost`.
        gains: score gain of each single parent, from `Scorer.pair_gains`.
        near: matrix; pairs of parents p and q are skipped if `near[p, child]` and `near[q, child]`, because these pairs are
            scored elsewhere. Pairs with a parent that raises the score alone are also skipped.
    """
    data, planes = scorer.data, scorer.counter.planes
    if planes is None:
        raise AssertionError("bitwise counting needs bit planes")
    n, arities = len(data.names), data.arities.astype(np.int64)
    countable = _countable(scorer)
    if len(countable) < 3:
        return np.zeros((n, n), dtype=bool)
    scores, line_of = _scores(scorer, gains, near, np.unique(arities[countable]))
    j, k = np.triu_indices(len(countable), 1)  # sorted by j, so the pairs with j > first are at the end

    def work(firsts: Ints) -> tuple[Floats, NDArray[np.int32]]:
        kept, pairs = np.zeros(n), np.full((n, 2), -1, dtype=np.int32)
        for first in firsts:
            scorer.counter.run.deadline.check()
            for begin in range(int(np.searchsorted(j, first, side="right")), len(j), _BATCH):
                batch = slice(begin, begin + _BATCH)
                first_members = np.full(len(j[batch]), countable[first], dtype=np.int32)
                members = np.stack([first_members, countable[j[batch]], countable[k[batch]]], axis=1)
                cells = arities[members].prod(axis=1)
                offsets = np.append(0, np.cumsum(cells))
                counts = np.zeros(offsets[-1], dtype=np.int64)
                sizes = np.full(len(members), 3)
                count_sets(planes.words, planes.first, arities, planes.rows, members, sizes, offsets, counts)
                _keep_best(members, offsets, counts, line_of[cells], scores, kept, pairs)
        return kept, pairs

    # The smaller the first member, the more triples it has. Each chunk takes every 64th first member to balance the work.
    chunks = [np.arange(start, max(len(countable) - 2, 0), _CHUNKS) for start in range(_CHUNKS)]
    results = run_threads(
        work, [chunk for chunk in chunks if len(chunk)], scorer.counter.workers, "triples", scorer.counter.run.progress
    )
    result = np.zeros((n, n), dtype=bool)
    if results:
        kept, pairs = (np.stack(parts) for parts in zip(*results, strict=True))
        for child in np.flatnonzero(kept.max(axis=0) > 0.0):
            # Ties are broken by column order, so that the result does not depend on the number of threads.
            best = np.lexsort((pairs[:, child, 1], pairs[:, child, 0], -kept[:, child]))[0]
            result[pairs[best, child], child] = True
    return result


class Scores(NamedTuple):
    """Precomputed values to score a child with two parents.

    Attributes:
        terms: terms of a `TermTable`, with one line for each possible number of state combinations of a triple.
        parameters: parameters of the `TermTable`.
        joint: `joint[p, q]` is the number that the counts of the parents p and q subtract from a score.
        single: `single[parent, child]` is the score that a pair with this parent has to exceed.
        log_odds: `log_odds[parent, child]` is added to a score if the child has the parent.
        charges: `charges[s, c]` is the penalty for a child with s states whose two parents have c state combinations.
        arities: number of states of each variable.
        near: `near[parent, child]` is True if pairs of this parent and another near parent are skipped.
        helps: `helps[parent, child]` is True if the parent alone raises the score.
    """

    terms: Floats
    parameters: Floats
    joint: Floats
    single: Floats
    log_odds: Floats
    charges: Floats
    arities: Ints
    near: NDArray[np.bool_]
    helps: NDArray[np.bool_]


def _scores(scorer: Scorer, gains: Floats, near: NDArray[np.bool_], states: Ints) -> tuple[Scores, Ints]:
    """Return the `Scores`, and an array that maps a number of state combinations to a line of `Scores.terms`."""
    data = scorer.data
    alone = np.array([scorer.local(name) for name in data.names])
    # Infinity excludes pairs with a forbidden or required parent.
    single = np.where(np.isfinite(gains), alone + np.maximum(gains, 0.0), np.inf)
    products = np.unique(np.multiply.outer(np.multiply.outer(states, states), states))
    values = np.array([scorer.criterion.concentrations(2, float(cells), data.rows)[0] for cells in products])
    table = TermTable(data.rows, len(values))
    line_of = np.zeros(products[-1] + 1, dtype=np.int64)
    line_of[products] = table.lines(values)
    charges = np.zeros((states[-1] + 1, states[-1] ** 2 + 1))
    if scorer.criterion.penalised:
        configurations = np.arange(charges.shape[1], dtype=np.float64)
        for arity in states:
            charges[arity] = scorer.criterion.penalties(int(arity), configurations, data.rows)
    arities = data.arities.astype(np.int64)
    rules = scorer.constraints
    log_odds = np.zeros(single.shape) if rules is None or rules.log_odds is None else rules.log_odds
    helps = gains > 0.0
    return Scores(table.terms, table.parameters, _joint(scorer), single, log_odds, charges, arities, near, helps), line_of


def _joint(scorer: Scorer) -> Floats:
    """Return a matrix: entry [p, q] is the number that the counts of the parents p and q subtract from a score."""
    data = scorer.data
    n = len(data.names)
    a, b = np.triu_indices(n, 1)
    cells = data.arities[a].astype(np.int64) * data.arities[b]
    sizes, kinds = np.unique(cells, return_inverse=True)
    pseudo_counts = np.array([[scorer.criterion.concentrations(2, float(size), data.rows)[1]] for size in sizes])
    joint = np.zeros((n, n))
    joint[a, b] = joint[b, a] = scorer.counter.sums(np.stack([a, b], axis=1).astype(np.int32), kinds, pseudo_counts)[:, 0]
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
    """Score each member of each triple as a child of the other two, and keep the best pair of parents of each child.

    `kept` contains the gain of each child's pair, and `pairs` contains its parents. Both arrays are updated in place.
    """
    for index in range(len(members)):
        line = lines[index]
        total = sum_terms(counts, offsets[index], offsets[index + 1], line, scores.terms, scores.parameters)
        for role in range(3):
            child = members[index, role]
            p, q = members[index, 1 if role == 0 else 0], members[index, 1 if role == 2 else 2]
            if scores.helps[p, child] or scores.helps[q, child] or (scores.near[p, child] and scores.near[q, child]):
                continue
            charge = scores.charges[scores.arities[child], scores.arities[p] * scores.arities[q]]
            gain = total - scores.joint[p, q] - charge - max(scores.single[p, child], scores.single[q, child])
            gain += scores.log_odds[p, child] + scores.log_odds[q, child]
            if gain > kept[child]:
                kept[child] = gain
                pairs[child, 0], pairs[child, 1] = p, q
