"""Exact posterior probabilities of edges by sums over all orders (Koivisto and Sood 2004, Koivisto 2006).

The sums are over all pairs of an order and a DAG whose edges follow the order. So a DAG counts once for each of its orders.
Let alpha_i(S) be the sum of exp(score) over the parent sets of variable i inside the set S. Two recursions over sets give
the sums over the orders of a set W of variables, and over the orders of all other variables after those of W:

    f(W) = sum over i in W of f(W - i) alpha_i(W - i),        b(W) = sum over i not in W of alpha_i(W) b(W + i).

The probability that i has the parents P is exp(score of P), times the sum of f(S) b(S + i) over all sets S that contain P
but not i, divided by f(all variables). No term is negative, so nothing cancels.

A table of alpha would be n times as large as f. So alpha is computed for 2^11 sets at a time; see `dagneal.solvers.lattice`.
For each child and each set H of high variables, a small array gets the sum of the parent sets whose high variables are in H.
Sums over subsets in this array then give alpha for all its sets. The last step goes the other way: sums over supersets of
f(S) b(S + i) in a small array give the terms of all parent sets whose high variables are in H.

Numbers are wide numbers; see `dagneal.solvers.wide`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats, Ints, kernel, run_threads
from dagneal.base.machine import check_memory
from dagneal.runtime.run import DEFAULT_RUN, Run
from dagneal.scoring.sets import has_bit
from dagneal.scoring.table import ScoreTable, check_table
from dagneal.solvers.lattice import Lattice, centre_scores
from dagneal.solvers.wide import (
    LOG_RADIX,
    ZERO,
    add_products,
    normalise,
    power,
    shift,
    sum_over_subsets,
    sum_over_supersets,
    to_wide,
    wide_zeros,
)

MAX_VARIABLES = 25  # 32 bytes for each of 2^n sets: 1.1 GB
_CHUNK = 8  # sets of high variables in a task
_STAGE = "posteriors"


class EdgeSums(NamedTuple):
    """Sums over all networks.

    Attributes:
        edges: `edges[a, b]` is the share of the networks with the edge from the variable with index a to that with index b.
        log_total: logarithm of the sum over all networks.
        error: largest difference between 1 and the sum of the shares of all parent sets of a variable. It measures rounding
            errors.
    """

    edges: Floats
    log_total: float
    error: float


class _Sets(NamedTuple):
    """Parent sets and their weights, as wide numbers, in the order of a `Lattice`."""

    low: int
    groups: Ints
    group_high: Ints
    bounds: Ints
    low_masks: Ints
    weights: Floats
    tiers: Floats


def order_sums(table: ScoreTable, run: Run = DEFAULT_RUN) -> EdgeSums:
    """Return the posterior probability of each edge if each DAG counts once for each of its topological orders.

    Args:
        table: local scores of at most 25 variables. A parent set that is not in the table has probability 0.
        run: `Run` object with the deadline and the progress function.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> sums = order_sums(score_table(load("lung-cancer").expected_data(10_000)))
    >>> float(sums.edges[2, 3].round(3)), float(sums.edges[3, 2].round(3))  # Cancer and Xray
    (0.984, 0.016)
    """
    check_table(table)
    n = len(table.names)
    if n > MAX_VARIABLES:
        raise InputError(f"sums over orders support at most {MAX_VARIABLES} variables, not {n}; use order MCMC")
    check_memory(32 << n, f"sums over the orders of {n} variables", "use fewer variables or order MCMC")
    if (np.diff(table.start) == 0).any():
        raise InputError("no DAG is possible with the parent sets of this table; add more parent sets")
    lattice = Lattice.build(table)
    logs, best = centre_scores(table)
    weights, tiers = to_wide(logs[lattice.order])
    sets = _Sets(*lattice[:5], weights, tiers)
    low, high = lattice.low, n - lattice.low
    forward, backward = wide_zeros(1 << n), wide_zeros(1 << n)
    forward[0][0], forward[1][0] = 1.0, 0.0
    backward[0][-1], backward[1][-1] = 1.0, 0.0
    patterns = np.arange(1 << high)
    levels = [patterns[np.bitwise_count(patterns) == size] for size in range(high + 1)]
    done, total = 0, 2 * len(patterns) + n

    def spread(level: Ints, ahead: bool) -> None:
        """Compute all chunks whose high variables are in `level`. They do not depend on each other."""

        def work(begin: int) -> None:
            run.deadline.check()
            memory = np.empty((low + 1, 1 << low)), np.empty((low + 1, 1 << low))
            if ahead:
                _sum_forward(n, level[begin : begin + _CHUNK], sets, *memory, *forward)
            else:
                _sum_backward(n, level[begin : begin + _CHUNK], sets, *memory, *backward)

        run_threads(work, range(0, len(level), _CHUNK))
        run.progress(_STAGE, done, total)

    for level in levels:
        done += len(level)
        spread(level, True)
    top, tier = float(forward[0][-1]), float(forward[1][-1])
    if not top > 0.0:
        raise InputError("no DAG is possible with the parent sets of this table; add more parent sets")
    for level in reversed(levels):
        done += len(level)
        spread(level, False)
    families = np.zeros(len(weights))

    def work(child: int) -> None:
        run.deadline.check()
        _sum_families(n, child, sets, *forward, *backward, *wide_zeros(1 << low), families)

    run_threads(work, range(n))
    run.progress(_STAGE, total, total)
    shares = np.empty(len(weights))
    shares[lattice.order] = families / top
    error = float(np.abs(np.add.reduceat(shares, table.start[:-1]) - 1.0).max())
    return EdgeSums(edge_sums(table, shares), float(np.log(top) + tier * LOG_RADIX) + best, error)


def edge_sums(table: ScoreTable, families: Floats) -> Floats:
    """Return the matrix [parent, child] with the sum of the shares of all parent sets that contain the parent.

    Args:
        table: score table.
        families: share of each entry of the table.
    """
    n = len(table.names)
    edges = np.zeros((n, n))
    for child in range(n):
        entries = table.entries_of(child)
        for bit, parent in enumerate(table.candidates_of(child)):
            edges[parent, child] = families[entries][has_bit(table.masks[entries], bit)].sum()
    return edges


@kernel
def _sum_sets(child: int, pattern: int, sets: _Sets, sums: Floats, tiers: Floats) -> None:
    """Write alpha of a child to `sums`, for all sets with the high variables `pattern`."""
    for w in range(len(sums)):
        sums[w] = 0.0
        tiers[w] = ZERO
    for group in range(sets.groups[child], sets.groups[child + 1]):
        if sets.group_high[group] & ~pattern == 0:
            for entry in range(sets.bounds[group], sets.bounds[group + 1]):
                w = sets.low_masks[entry]
                difference = tiers[w] - sets.tiers[entry]
                sums[w] = sums[w] * shift(difference) + sets.weights[entry] * shift(-difference)
                tiers[w] = max(tiers[w], sets.tiers[entry])
    sum_over_subsets(sums, tiers)


@kernel
def _sum_forward(
    n: int, patterns: Ints, sets: _Sets, sums: Floats, sum_tiers: Floats, forward: Floats, tiers: Floats
) -> None:
    """Compute f for all sets whose high variables are one of `patterns`. `sums` and `sum_tiers` are working memory."""
    low = sets.low
    size = 1 << low
    for pattern in patterns:
        base = pattern * size
        own, own_tiers = forward[base : base + size], tiers[base : base + size]
        for child in range(low, n):  # the last variable is a high variable
            if pattern >> (child - low) & 1:
                _sum_sets(child, pattern, sets, sums[low], sum_tiers[low])
                start = (pattern ^ (1 << (child - low))) * size
                before, before_tiers = forward[start : start + size], tiers[start : start + size]
                add_products(own, own_tiers, before, before_tiers, sums[low], sum_tiers[low])
        for child in range(low):
            _sum_sets(child, pattern, sets, sums[child], sum_tiers[child])
        for w in range(size):  # the last variable is a low variable
            for child in range(low):
                if w >> child & 1:
                    b = w ^ (1 << child)
                    add_products(
                        own[w : w + 1],
                        own_tiers[w : w + 1],
                        own[b : b + 1],
                        own_tiers[b : b + 1],
                        sums[child, b : b + 1],
                        sum_tiers[child, b : b + 1],
                    )
            normalise(own[w : w + 1], own_tiers[w : w + 1])


@kernel
def _sum_backward(
    n: int, patterns: Ints, sets: _Sets, sums: Floats, sum_tiers: Floats, backward: Floats, tiers: Floats
) -> None:
    """Compute b for all sets whose high variables are one of `patterns`. `sums` and `sum_tiers` are working memory."""
    low = sets.low
    size = 1 << low
    for pattern in patterns:
        base = pattern * size
        own, own_tiers = backward[base : base + size], tiers[base : base + size]
        for child in range(low, n):  # the next variable is a high variable
            if not pattern >> (child - low) & 1:
                _sum_sets(child, pattern, sets, sums[low], sum_tiers[low])
                start = (pattern | (1 << (child - low))) * size
                after, after_tiers = backward[start : start + size], tiers[start : start + size]
                add_products(own, own_tiers, after, after_tiers, sums[low], sum_tiers[low])
        for child in range(low):
            _sum_sets(child, pattern, sets, sums[child], sum_tiers[child])
        for w in range(size - 1, -1, -1):  # the next variable is a low variable
            for child in range(low):
                if not w >> child & 1:
                    a = w | (1 << child)
                    add_products(
                        own[w : w + 1],
                        own_tiers[w : w + 1],
                        own[a : a + 1],
                        own_tiers[a : a + 1],
                        sums[child, w : w + 1],
                        sum_tiers[child, w : w + 1],
                    )
            normalise(own[w : w + 1], own_tiers[w : w + 1])


@kernel
def _sum_families(
    n: int,
    child: int,
    sets: _Sets,
    forward: Floats,
    forward_tiers: Floats,
    backward: Floats,
    backward_tiers: Floats,
    sums: Floats,
    tiers: Floats,
    families: Floats,
) -> None:
    """Add the share of each parent set of a child to `families`, multiplied by the float of f(all variables).

    `sums` and `tiers` are working memory.
    """
    low = sets.low
    size = 1 << low
    last = forward_tiers[len(forward) - 1]
    for pattern in range(1 << (n - low)):
        if child >= low and pattern >> (child - low) & 1:
            continue
        base = pattern * size
        flag = 1 << child
        for w in range(size):
            sums[w] = 0.0
            tiers[w] = ZERO
        if child >= low:
            before, before_tiers = forward[base : base + size], forward_tiers[base : base + size]
            after = backward[base + flag : base + flag + size]
            add_products(sums, tiers, before, before_tiers, after, backward_tiers[base + flag : base + flag + size])
        else:
            for start in range(0, size, 2 * flag):
                first, end = base + start, base + start + flag
                add_products(
                    sums[start : start + flag],
                    tiers[start : start + flag],
                    forward[first:end],
                    forward_tiers[first:end],
                    backward[first + flag : end + flag],
                    backward_tiers[first + flag : end + flag],
                )
        sum_over_supersets(sums, tiers)
        for group in range(sets.groups[child], sets.groups[child + 1]):
            if sets.group_high[group] & ~pattern == 0:
                for entry in range(sets.bounds[group], sets.bounds[group + 1]):
                    w = sets.low_masks[entry]
                    scale = power(tiers[w] + sets.tiers[entry] - last)
                    families[entry] += sums[w] * sets.weights[entry] * scale
