"""Posterior probabilities of edges by Markov chains over orders, for more variables than exact sums support.

Let alpha_v(S) be the sum of exp(score) over the parent sets of variable v inside the set S. The weight of an order is the
product of alpha_v(variables before v) over all v (Friedman and Koller 2003). A step removes a variable and puts it at a
random position, with the probability that the position has if the order of the other variables stays as it is. One pass over
the order gives the weights of all positions. In this chain a DAG counts once for each of its topological orders.

To count each DAG once, the state also has a DAG G that follows the order, and the target is exp(score of G) h(order, G).
Here h is the probability that a simple random walk yields the order: it repeatedly takes one of the variables whose parents
were all taken, each with the same probability. For each DAG the sum of h over its topological orders is 1, so the target
counts each DAG once, and no orders have to be counted. A step moves a variable as above, and then draws new parent sets for
it and for the children whose possible parents the move changed. These draws are in proportion to exp(score). The step is
accepted with the probability min(1, h' / h), because all other factors of the Metropolis-Hastings ratio cancel. From time to
time, the random walk draws a new order for the DAG.

The candidate parents of a variable are limited to `MAX_CANDIDATES`, so that alpha is in a table. If a DAG counts once for
each of its orders, the probability of each edge given the order follows from alpha. Otherwise the edges of G are counted.

Rounds double in length. The result is the average over the last round; the earlier rounds let the chains forget their start.
After each round, the chains are compared; see `diagnose`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import Any, NamedTuple

import numpy as np

from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats, Ints, Masks, kernel, run_threads
from dagneal.base.machine import check_memory
from dagneal.runtime.run import DEFAULT_RUN, Run
from dagneal.scoring.orders import random_orders
from dagneal.scoring.table import ScoreTable, check_table
from dagneal.search.climb import draw
from dagneal.solvers.lattice import centre_scores
from dagneal.solvers.wide import family_sums, to_logs, to_wide, wide_zeros

CHAINS = 4
MAX_CANDIDATES = 16  # candidate parents of a variable
_MEMORY = 1 << 28  # bytes for all tables of alpha; with many variables, there are fewer candidates
_FIRST_ROUND, _ROUNDS = 100, 9  # sweeps of the first round, and number of rounds; the last round has 25,600 sweeps
_WORK = 3e7  # positions to weigh between two checks of the deadline
_WALKS = 4  # new orders of the DAG in a sweep
RHAT, DIFFERENCE, EFFECTIVE = 1.05, 0.05, 200  # limits of convergence; see `Convergence`


@dataclass(frozen=True)
class Convergence:
    """How well independent chains agree.

    Attributes:
        chains: number of chains.
        sweeps: number of sweeps of each chain that the result is an average of.
        rhat: split R-hat of the log weight. It compares the variance between the halves of all chains with that within them,
            and is 1 if they agree. None if the chains are too short, or stay in different states.
        difference: largest difference between the probabilities of an edge in two chains.
        effective_samples: number of independent samples that would determine the mean log weight as precisely.
        late: True if the deadline ended the chains.
    """

    chains: int
    sweeps: int
    rhat: float | None
    difference: float
    effective_samples: float
    late: bool = False

    @property
    def converged(self) -> bool:
        """Whether R-hat is at most 1.05, no probability differs by more than 0.05, and there are 200 effective samples."""
        agree = self.rhat is not None and self.rhat <= RHAT
        return agree and self.difference <= DIFFERENCE and self.effective_samples >= EFFECTIVE


class ChainSums(NamedTuple):
    """The result of `sample_edges`.

    Attributes:
        edges: `edges[a, b]` is the probability of the edge from the variable with index a to that with index b.
        convergence: comparison of the chains.
    """

    edges: Floats
    convergence: Convergence


class _Space(NamedTuple):
    """Candidate parents, parent sets, and logarithms of sums over parent sets.

    Attributes:
        first: bounds in `candidates`, for each variable.
        candidates: candidate parents of each variable.
        bits: matrix `bits[child, parent]` with the index of the parent in the masks of the child, or -1.
        start: bounds in `masks`, for each variable.
        masks: parent sets of each variable as bit masks, best first.
        logs: log weights of the parent sets.
        sums_start: bounds in `sums`, for each variable.
        sums: log alpha of each variable, for each set of its candidates; the index of a set is its bit mask.
        per_order: True if a DAG counts once for each of its orders.
    """

    first: Ints
    candidates: Ints
    bits: Ints
    start: Ints
    masks: Ints
    logs: Floats
    sums_start: Ints
    sums: Floats
    per_order: bool


class _State(NamedTuple):
    """State of a chain.

    Attributes:
        order: indices of the variables, from first to last.
        place: position of each variable in `order`.
        chosen: index of the parent set of each variable; not used if a DAG counts once for each of its orders.
        random: state of the random generator.
    """

    order: Ints
    place: Ints
    chosen: Ints
    random: Masks


def most_candidates(variables: int) -> int:
    """Return the largest number of candidate parents of a variable in a chain.

    Args:
        variables: number of variables.

    >>> [most_candidates(variables) for variables in (10, 20, 100, 1000)]
    [9, 16, 16, 15]
    """
    return min(variables - 1, MAX_CANDIDATES, int(log2(_MEMORY / (8 * variables))))


def sample_edges(table: ScoreTable, per_order: bool = False, run: Run = DEFAULT_RUN) -> ChainSums:
    """Estimate the posterior probability of each edge with Markov chains.

    Args:
        table: local scores with at most `MAX_CANDIDATES` candidate parents of each variable. A parent set that is not in the
            table has probability 0.
        per_order: True if each DAG counts once for each of its topological orders; False if it counts once.
        run: `Run` object with the seed, the deadline and the progress function. After the deadline, the result is the
            average so far.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> sums = sample_edges(score_table(load("lung-cancer").expected_data(10_000)))
    >>> sums.convergence.converged, bool(sums.edges[2, 3] > 0.9)  # Cancer and Xray
    (True, True)
    """
    check_table(table)
    if (np.diff(table.start) == 0).any():
        raise InputError("no DAG is possible with the parent sets of this table; add more parent sets")
    most = int(np.diff(table.first).max())
    if most > MAX_CANDIDATES:
        raise InputError(f"chains support at most {MAX_CANDIDATES} candidate parents, not {most}; give fewer candidates")
    space = _build_space(table, per_order)
    states = [_start_chain(table, run.child("chain", str(chain))) for chain in range(CHAINS)]
    for number in range(_ROUNDS):
        traces, edges = _run_round(space, states, _FIRST_ROUND << number, run)
        late = run.deadline.passed
        convergence = diagnose(traces, edges, late)
        if late or convergence.converged:
            break
    return ChainSums(edges.mean(axis=0), convergence)


def _run_round(space: _Space, states: Sequence[_State], length: int, run: Run) -> tuple[Floats, Floats]:
    """Run each chain for `length` sweeps, or until the deadline. Return the log weights and the probabilities of edges.

    Both arrays have one row for each chain.
    """
    n = len(space.first) - 1
    traces, edges, done = np.empty((CHAINS, length)), np.zeros((CHAINS, n, n)), 0
    while done < length and not (done and run.deadline.passed):
        end = min(done + max(1, int(_WORK / n**2)), length)

        def work(chain: int, begin: int = done, end: int = end) -> None:
            memory = np.empty(n), np.empty((4, n + 1), dtype=np.int64)
            if not _run_sweeps(space, states[chain], edges[chain], traces[chain, begin:end], *memory):
                raise InputError("no DAG was found with the parent sets of this table; add more parent sets")

        run_threads(work, range(CHAINS))
        done = end
        run.progress(f"round of {length:,} sweeps", done, length)
    return traces[:, :done], edges / done


def diagnose(traces: Floats, edges: Floats, late: bool = False) -> Convergence:
    """Compare independent chains.

    Args:
        traces: log weights, with one chain per row.
        edges: probabilities of all edges in each chain.
        late: True if the deadline ended the chains.
    """
    chains, sweeps = traces.shape
    half = sweeps // 2
    difference = float(np.ptp(edges, axis=0).max())
    if half < 2:
        return Convergence(chains, sweeps, None, difference, 0.0, late)
    halves = np.concatenate([traces[:, :half], traces[:, sweeps - half :]])
    within = float(halves.var(axis=1, ddof=1).mean())
    between = float(halves.mean(axis=1).var(ddof=1))
    rounding = 1e-20 * (1.0 + float(np.abs(halves).max())) ** 2
    if within <= rounding:  # the log weight is constant in each half
        same = between <= rounding
        return Convergence(chains, sweeps, 1.0 if same else None, difference, float(halves.size) if same else 0.0, late)
    variance = (half - 1) / half * within + between
    return Convergence(
        chains, sweeps, float(np.sqrt(variance / within)), difference, _effective_samples(halves, within, variance), late
    )


def _effective_samples(traces: Floats, within: float, variance: float) -> float:
    """Return the effective number of samples of several sequences (Geyer 1992; Gelman et al. 2013, section 11.5)."""
    count, length = traces.shape
    centred = traces - traces.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * length, axis=1)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :length].mean(axis=0) / length
    correlation = 1.0 - (within - covariance) / variance
    correlation[0] = 1.0
    pairs = correlation[: length // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0.0)
    pairs = np.minimum.accumulate(pairs[: negative[0] if len(negative) else len(pairs)])
    return float(count * length / max(2.0 * pairs.sum() - 1.0, 1.0 / np.log10(count * length)))


def _build_space(table: ScoreTable, per_order: bool) -> _Space:
    """Sort the parent sets, and compute the sums over all sets of candidates of each variable."""
    n = len(table.names)
    sizes = np.diff(table.first)
    sums_start = np.concatenate([[0], np.cumsum(1 << sizes)])
    check_memory(8 * int(sums_start[-1]), f"sums over the parent sets of {n} variables", "use fewer variables")
    logs, _ = centre_scores(table)
    masks = table.masks[:, 0].astype(np.int64)
    sums = np.empty(int(sums_start[-1]))
    order = np.empty(len(logs), dtype=np.int64)

    def fill(child: int) -> None:
        entries, own = table.entries_of(child), wide_zeros(1 << int(sizes[child]))
        family_sums(masks[entries], *to_wide(logs[entries]), *own)
        sums[sums_start[child] : sums_start[child + 1]] = to_logs(*own)
        order[entries] = entries.start + np.argsort(-logs[entries], kind="stable")

    run_threads(fill, range(n))
    lists = table.start, masks[order], logs[order]
    return _Space(table.first, table.candidates, table.local_bits, *lists, sums_start, sums, per_order)


def _start_chain(table: ScoreTable, run: Run) -> _State:
    """Return the state of a random order. Its DAG is not chosen yet."""
    n = len(table.names)
    order = next(random_orders(n, 1, run.seed, required=table.required))[0]
    return _State(order, np.argsort(order), np.full(n, -1), np.array([2 * run.seed + 1], dtype=np.uint64))


@kernel
def _uniform(random: Masks) -> float:
    """Return a random number between 0 and 1."""
    number: float = (draw(random, 1 << 31) + 0.5) / 2.0**31
    return number


@kernel
def _before(space: _Space, child: int, place: Ints, position: int) -> Any:
    """Return the candidates of a child at the positions before `position` as a mask."""
    mask = np.int64(0)
    for bit in range(space.first[child + 1] - space.first[child]):
        mask |= np.int64(place[space.candidates[space.first[child] + bit]] < position) << bit
    return mask


@kernel
def _draw_parents(space: _Space, child: int, inside: int, random: Masks) -> int:
    """Return a random parent set of a child in `inside`, in proportion to its weight; -1 if there is none."""
    left = _uniform(random)
    total = space.sums[space.sums_start[child] + inside]
    last = -1
    for entry in range(space.start[child], space.start[child + 1]):
        if space.masks[entry] & ~inside == 0:
            last = entry
            left -= np.exp(space.logs[entry] - total)
            if left <= 0.0:
                break
    return last


@kernel
def _log_walk(space: _Space, order: Ints, place: Ints, chosen: Ints, waiting: Ints) -> float:
    """Return log h of an order and a DAG. `waiting` is working memory.

    A variable can be taken from the position after its last parent to its own position.
    """
    n = len(space.first) - 1
    for position in range(n + 1):
        waiting[position] = 0
    for child in range(n):
        ready = 0
        for bit in range(space.first[child + 1] - space.first[child]):
            if space.masks[chosen[child]] >> bit & 1:
                ready = max(ready, place[space.candidates[space.first[child] + bit]] + 1)
        waiting[ready] += 1
        waiting[place[child] + 1] -= 1
    result = 0.0
    count = 0
    for position in range(n):
        count += waiting[position]
        result -= np.log(float(count))
    return result


@kernel
def _walk(space: _Space, state: _State, missing: Ints) -> None:
    """Draw a new order of the DAG by the random walk. `missing` is working memory."""
    n = len(state.order)
    count = 0  # the first elements of `order` can be taken now; the elements from `done` on are not taken yet
    for child in range(n):
        missing[child] = 0
        for bit in range(space.first[child + 1] - space.first[child]):
            missing[child] += space.masks[state.chosen[child]] >> bit & 1
        if missing[child] == 0:
            state.order[count] = child
            count += 1
    for position in range(n):
        pick = position + draw(state.random, count - position)
        taken = state.order[pick]
        state.order[pick] = state.order[position]
        state.order[position] = taken
        state.place[taken] = position
        for child in range(n):
            bit = space.bits[child, taken]
            if bit >= 0 and space.masks[state.chosen[child]] >> bit & 1:
                missing[child] -= 1
                if missing[child] == 0:
                    state.order[count] = child
                    count += 1


@kernel
def _move(
    space: _Space, state: _State, v: int, weights: Floats, order: Ints, place: Ints, chosen: Ints, spare: Ints
) -> None:
    """Move the variable v to a random position; see the head of the module. The last five arguments are working memory."""
    n = len(state.order)
    old = state.place[v]
    count = 0
    for position in range(n):  # the order without v
        u = state.order[position]
        if u != v:
            order[count] = u
            place[u] = count
            count += 1
    # Weights relative to the order with v at the end. Candidates of v that have left the end no longer come before v.
    place[v] = n
    inside = _before(space, v, place, n - 1)
    gain = 0.0
    weights[n - 1] = space.sums[space.sums_start[v] + inside]
    top = weights[n - 1]
    for position in range(n - 2, -1, -1):
        u = order[position]
        bit = space.bits[u, v]
        if bit >= 0:
            mask = _before(space, u, place, position)
            start = space.sums_start[u]
            without = space.sums[start + mask]
            if without > -np.inf:
                gain += space.sums[start + (mask | 1 << bit)] - without
            else:  # without v, this child has no parent set; v must come before it
                top = -np.inf
                for later in range(position + 1, n):
                    weights[later] = -np.inf
                gain = space.sums[start + (mask | 1 << bit)]
        if space.bits[v, u] >= 0:
            inside &= ~(1 << space.bits[v, u])
        weights[position] = gain + space.sums[space.sums_start[v] + inside]
        top = max(top, weights[position])
    total = 0.0
    for position in range(n):
        weights[position] = np.exp(weights[position] - top)
        total += weights[position]
    left = _uniform(state.random) * total
    new = old
    for position in range(n):
        if weights[position] > 0.0:
            new = position
            left -= weights[position]
            if left <= 0.0:
                break
    for position in range(n - 1, new, -1):
        order[position] = order[position - 1]
    order[new] = v
    for position in range(n):
        place[order[position]] = position
    accepted = True
    if not space.per_order:
        for u in range(n):
            chosen[u] = state.chosen[u]
        first, last = min(old, new), max(old, new)
        for position in range(first, last + 1):
            u = order[position]
            if u == v or space.bits[u, v] >= 0:
                chosen[u] = _draw_parents(space, u, _before(space, u, place, position), state.random)
        ratio = _log_walk(space, order, place, chosen, spare)
        ratio -= _log_walk(space, state.order, state.place, state.chosen, spare)
        accepted = np.log(_uniform(state.random)) < ratio
    if accepted:
        for u in range(n):
            state.order[u] = order[u]
            state.place[u] = place[u]
            if not space.per_order:
                state.chosen[u] = chosen[u]


@kernel
def _add_expected(space: _Space, state: _State, edges: Floats) -> float:
    """Add the probabilities of all edges, given the order, to `edges`. Return the log weight of the order."""
    weight = 0.0
    for child in range(len(state.order)):
        start = space.sums_start[child]
        inside = _before(space, child, state.place, state.place[child])
        own = space.sums[start + inside]
        weight += own
        for bit in range(space.first[child + 1] - space.first[child]):
            if inside >> bit & 1:
                without = space.sums[start + (inside & ~(1 << bit))]
                edges[space.candidates[space.first[child] + bit], child] -= np.expm1(without - own)
    return weight


@kernel
def _add_counts(space: _Space, state: _State, weight: float, edges: Floats) -> float:
    """Add `weight` for each edge of the DAG to `edges`. Return the log weight of the DAG."""
    result = 0.0
    for child in range(len(state.order)):
        entry = state.chosen[child]
        result += space.logs[entry]
        for bit in range(space.first[child + 1] - space.first[child]):
            if space.masks[entry] >> bit & 1:
                edges[space.candidates[space.first[child] + bit], child] += weight
    return result


@kernel
def _run_sweeps(space: _Space, state: _State, edges: Floats, trace: Floats, weights: Floats, memory: Ints) -> bool:
    """Run one sweep for each element of `trace`, and add the probabilities of all edges after each sweep to `edges`.

    Write the log weight after each sweep to `trace`. Return False if the first order has no DAG.
    """
    n = len(state.order)
    for child in range(n):
        inside = _before(space, child, state.place, state.place[child])
        if space.sums[space.sums_start[child] + inside] == -np.inf:
            return False
        if not space.per_order and state.chosen[child] < 0:
            state.chosen[child] = _draw_parents(space, child, inside, state.random)
    for sweep in range(len(trace)):
        for part in range(_WALKS):
            for _ in range(part * n // _WALKS, (part + 1) * n // _WALKS):
                _move(space, state, draw(state.random, n), weights, memory[0], memory[1], memory[2], memory[3])
            if not space.per_order:
                trace[sweep] = _add_counts(space, state, 1.0 / _WALKS, edges)
                _walk(space, state, memory[0])
        if space.per_order:
            trace[sweep] = _add_expected(space, state, edges)
    return True
