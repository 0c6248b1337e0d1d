"""Exact posterior probabilities of edges by sums over all DAGs, each of which counts once (after Tian and He 2009).

Let alpha_j(U) be the sum of exp(score) over the parent sets of variable j inside the set U, and r(S) the sum over all DAGs
of the variables in S. The sum of the DAGs of S in which all variables of T have no children is the product of r(S - T) and
of alpha_j(S - T) over j in T. By inclusion and exclusion over the sets T of such variables,

    r(S) = sum over T in S, T not empty, of -(-1)^|T| r(S - T) A(S - T, T),  A(U, T) = product of alpha_j(U) over j in T.

A set U is closed if it contains the parents of its variables. The probability c(U) that U is closed, among all DAGs of all
variables, follows in the same way from the larger sets:

    c(U) = sum over T outside U, T not empty, of -(-1)^|T| q(U, T),  q(U, T) = c(U + T) r(U) A(U, T) / r(U + T).

The sum of the terms whose T contains j is the signed share q_j(U) of the networks for which U is the set of possible parents
of j. The probability of the edge from a to j is the sum of q_j(U) (alpha_j(U) - alpha_j(U - a)) / alpha_j(U) over all U that
contain a. The time is proportional to 3^n.

Terms have both signs, but a term of r(S) is at most r(S), because it is the sum of some of the DAGs of S. A rounding error
of r(S) changes the result only as often as S is closed. For each j, the sum of q_j(U) over all sets U must be 1, and the
difference measures the error of the result.
"""

from __future__ import annotations

import numpy as np

from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats, Ints, kernel, run_threads
from dagneal.base.machine import check_memory
from dagneal.runtime.run import DEFAULT_RUN, Run
from dagneal.scoring.table import ScoreTable, check_table
from dagneal.solvers.lattice import centre_scores, global_masks
from dagneal.solvers.order_sums import EdgeSums
from dagneal.solvers.wide import LOG_RADIX, RADIX, ZERO, family_sums, power, shift, to_wide, wide_zeros

MAX_VARIABLES = 20  # 3^20 terms
_TOLERANCE = 1e-6  # largest error of the sum of q_j(U)
_SPLIT = 4  # the sums over larger sets are divided by this number of variables
_CHUNK = 64  # sets in a task
_STAGE = "posteriors"
_INVERSE = 1.0 / RADIX


def dag_sums(table: ScoreTable, run: Run = DEFAULT_RUN) -> EdgeSums:
    """Return the posterior probability of each edge if each DAG counts once.

    Args:
        table: local scores of at most 20 variables. A parent set that is not in the table has probability 0.
        run: `Run` object with the deadline and the progress function.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> sums = dag_sums(score_table(load("lung-cancer").expected_data(10_000)))
    >>> float(sums.edges[2, 3].round(3)), float(sums.edges[3, 2].round(3))  # Cancer and Xray
    (0.979, 0.021)
    """
    check_table(table)
    n = len(table.names)
    if n > MAX_VARIABLES:
        raise InputError(f"sums over DAGs support at most {MAX_VARIABLES} variables, not {n}; use partition MCMC")
    check_memory((16 * n + 24) << n, f"sums over the DAGs of {n} variables", "use fewer variables or partition MCMC")
    if (np.diff(table.start) == 0).any():
        raise InputError("no DAG is possible with the parent sets of this table; add more parent sets")
    logs, best = centre_scores(table)
    masks = global_masks(table)
    alpha, alpha_tiers = np.empty((n, 1 << n)), np.empty((n, 1 << n))

    def fill(child: int) -> None:
        entries = table.entries_of(child)
        family_sums(masks[entries], *to_wide(logs[entries]), alpha[child], alpha_tiers[child])

    run_threads(fill, range(n))
    sets = np.arange(1 << n)
    sizes = np.bitwise_count(sets)
    total, tiers = wide_zeros(1 << n)
    total[0], tiers[0] = 1.0, 0.0
    split = min(_SPLIT, n - 1)
    parts = np.arange(1 << split)
    parts = parts[np.argsort(-np.bitwise_count(parts).astype(np.int64), kind="stable")]  # the longest task first
    for size in range(n):
        level = sets[sizes == size]

        def spread(part: int, level: Ints = level) -> None:
            run.deadline.check()
            _sum_sinks(n, split, part, level, alpha, alpha_tiers, np.empty((3, 1 << (n - split))), total, tiers)

        run_threads(spread, parts.tolist())
        _normalise(sets[sizes == size + 1], total, tiers)
        run.progress(_STAGE, size, 2 * n)
    if not total[-1] > 0.0:
        raise InputError("no DAG is possible with the parent sets of this table; add more parent sets")
    closed = np.zeros(1 << n)
    closed[-1] = 1.0
    edges, check = np.zeros((n, n)), np.zeros(n)
    for size in range(n - 1, -1, -1):
        level = sets[sizes == size]

        def work(begin: int, level: Ints = level) -> tuple[Floats, Floats]:
            run.deadline.check()
            own, shares = np.zeros((n, n)), np.zeros(n)
            some = level[begin : begin + _CHUNK]
            _share_edges(n, some, alpha, alpha_tiers, total, tiers, np.empty((3, 1 << n)), closed, own, shares)
            return own, shares

        for own, shares in run_threads(work, range(0, len(level), _CHUNK)):
            edges += own
            check += shares
        run.progress(_STAGE, 2 * n - size, 2 * n)
    error = float(np.abs(check - 1.0).max())
    if not error < _TOLERANCE:
        raise InputError(
            f"rounding errors of sums over DAGs are too large for these scores ({error:.1g}); use another prior or MCMC"
        )
    return EdgeSums(np.clip(edges, 0.0, 1.0), float(np.log(total[-1]) + tiers[-1] * LOG_RADIX) + best, error)


@kernel
def _multiply_sinks(
    start: int,
    outside: int,
    value: float,
    tier: float,
    alpha: Floats,
    alpha_tiers: Floats,
    products: Floats,
    product_tiers: Floats,
) -> int:
    """Write the products of a number and of A(start, T) to `products`, for all subsets T of `outside`. Return their number.

    The subsets are in ascending order. A product has the opposite sign for each member of T.
    """
    products[0] = value
    product_tiers[0] = tier
    count = 1
    for j in range(len(alpha)):
        if outside >> j & 1:
            factor, factor_tier = -alpha[j, start], alpha_tiers[j, start]
            for t in range(count):
                product = products[t] * factor
                large = abs(product) >= RADIX
                products[count + t] = product * (_INVERSE if large else 1.0)
                product_tiers[count + t] = product_tiers[t] + factor_tier + (1.0 if large else 0.0)
            count *= 2
    return count


@kernel
def _sum_sinks(
    n: int,
    split: int,
    part: int,
    level: Ints,
    alpha: Floats,
    alpha_tiers: Floats,
    memory: Floats,
    total: Floats,
    tiers: Floats,
) -> None:
    """Add the terms of r(U + T) for each U in `level`, for all U + T whose last `split` variables are `part`."""
    rest = n - split
    mask = (1 << rest) - 1
    for start in level:
        if (start >> rest) & ~part:
            continue
        value, tier = -total[start], tiers[start]
        added = part & ~(start >> rest)
        for j in range(split):
            if added >> j & 1:
                value *= -alpha[rest + j, start]
                tier += alpha_tiers[rest + j, start]
                if abs(value) >= RADIX:
                    value *= _INVERSE
                    tier += 1.0
        outside = mask & ~start
        count = _multiply_sinks(start, outside, value, tier, alpha[:rest], alpha_tiers[:rest], memory[0], memory[1])
        base = (start & mask) | (part << rest)
        members = 0
        for t in range(count):
            s = base | members
            members = (members - outside) & outside
            if s == start:
                continue
            difference = tiers[s] - memory[1, t]
            if difference >= 0.0:
                total[s] += memory[0, t] * shift(-difference)
            else:
                total[s] = total[s] * shift(difference) + memory[0, t]
                tiers[s] = memory[1, t]


@kernel
def _normalise(sets: Ints, total: Floats, tiers: Floats) -> None:
    """Make r(S) a normal wide number for each S in `sets`. Sums without a DAG, and their rounding errors, become 0."""
    for s in sets:
        if not total[s] > 0.0:
            total[s] = 0.0
            tiers[s] = ZERO
        elif total[s] < 1.0:
            total[s] *= RADIX
            tiers[s] -= 1.0
        elif total[s] >= RADIX:
            total[s] *= _INVERSE
            tiers[s] += 1.0


@kernel
def _share_edges(
    n: int,
    level: Ints,
    alpha: Floats,
    alpha_tiers: Floats,
    total: Floats,
    tiers: Floats,
    memory: Floats,
    closed: Floats,
    edges: Floats,
    shares: Floats,
) -> None:
    """Compute c(U) for each U in `level`, and add q_j(U) to `shares` and its part of each edge to `edges`."""
    everything = (1 << n) - 1
    for start in level:
        if total[start] == 0.0:
            continue
        outside = everything & ~start
        count = _multiply_sinks(start, outside, -total[start], tiers[start], alpha, alpha_tiers, memory[0], memory[1])
        terms = memory[2]
        members = 0
        for t in range(count):
            s = start | members
            members = (members - outside) & outside
            if t == 0 or total[s] == 0.0:
                terms[t] = 0.0
            else:
                terms[t] = closed[s] * (memory[0, t] / total[s]) * power(memory[1, t] - tiers[s])
        for j in range(n - 1, -1, -1):
            if not outside >> j & 1:
                continue
            count //= 2
            share = 0.0
            for t in range(count):
                share += terms[count + t]
                terms[t] += terms[count + t]
            if share != 0.0:
                shares[j] += share
                for a in range(n):
                    if start >> a & 1:
                        smaller = start ^ (1 << a)
                        inside = alpha[j, smaller] / alpha[j, start] * power(alpha_tiers[j, smaller] - alpha_tiers[j, start])
                        edges[a, j] += share * (1.0 - inside)
        closed[start] = terms[0]
