"""Ordering search: iterated local search over orders of the variables, for networks that are too large for exact search.

An order allows each child its best parents among those before it. A move takes one variable out and puts it back at its best
place; each step past a neighbour changes the parents that these two may have, so a step costs two look-ups. From a local
optimum a few random moves are made and the descent begins again; the better order is kept.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from dagneal.errors import InputError, whole_number
from dagneal.kernels import Floats, Ints, Masks, Progress, kernel, run
from dagneal.learned import Learned
from dagneal.orders import dag_of_order, keeping
from dagneal.table import ScoreTable

_STEP = 10  # rounds between two looks at the clock
CHAINS = 4  # independent searches, whatever the number of threads: the same seed gives the same answer


def order(
    table: ScoreTable,
    seed: int = 0,
    rounds: int | None = None,
    start: Ints | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Learned:
    """Learn a structure by iterated local search over orders.

    Args:
        table: local scores with any parent limit and any candidates, of any number of variables.
        seed: the same seed gives the same answer.
        rounds: how often a search is begun again from its best order; 1,000 by default.
        start: an order to begin with, as positions of variables; random by default.
        workers: number of threads.
        progress: told how far it is.

    Returns:
        The best DAG found; `optimal` is False, since nothing is proved.

    >>> from dagneal.networks import load
    >>> from dagneal.scorer import score_table
    >>> from dagneal.learners.exact import exact
    >>> table = score_table(load("alarm-15").expected(10_000))
    >>> round(order(table, seed=1).score - exact(table).score, 6)
    0.0
    """
    begun = perf_counter()
    best, _ = search(table, seed, rounds, start, workers, progress)
    dag = dag_of_order(table, best)
    return Learned(
        dag=dag,
        score=table.score(dag),
        score_name=table.score_name,
        max_parents=table.max_parents,
        solver="order",
        optimal=False,
        seconds={"solve": perf_counter() - begun},
        seed=seed,
    )


def search(
    table: ScoreTable,
    seed: int = 0,
    rounds: int | None = None,
    start: Ints | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    deadline: float | None = None,
) -> tuple[Ints, float]:
    """The best order found, and its score; arguments as in `order`.

    After the deadline, a time of `perf_counter`, no further rounds are begun.
    """
    n = len(table.names)
    rounds = 1000 if rounds is None else whole_number("rounds", rounds)
    generator = np.random.default_rng(whole_number("seed", seed))
    first = generator.permuted(np.broadcast_to(np.arange(n), (CHAINS, n)), axis=1)
    if start is not None:
        if sorted(start) != list(range(n)):
            raise InputError("start must hold the position of each variable once")
        first[0] = start
    if table.required is not None:
        first = keeping(first, table.required)
    seeds = generator.integers(1, 2**63, CHAINS, dtype=np.uint64)
    entries, masks, scores = table.pruned

    def work(chain: int) -> tuple[float, Ints]:
        found = first[chain].copy()
        if deadline is None:
            return float(_climb(found, table.local_bits, entries, masks, scores, rounds, seeds[chain])), found
        score, done = -np.inf, 0
        while done == 0 or (done < rounds and perf_counter() < deadline):
            step = max(0, min(_STEP, rounds - done))
            score = float(_climb(found, table.local_bits, entries, masks, scores, step, seeds[chain] + np.uint64(done)))
            done += max(step, 1)
        return score, found

    results = run(work, list(range(CHAINS)), workers, "ordering search", progress)
    score, best = max(results, key=lambda result: result[0])
    if not np.isfinite(score):
        raise InputError("no order fits the parent sets of this table")
    return best, score


@kernel
def _value(child: int, before: np.uint64, start: Ints, masks: Masks, scores: Floats) -> float:
    """The best score of a child whose possible parents are these bits."""
    for entry in range(start[child], start[child + 1]):
        if masks[entry] & ~before == np.uint64(0):
            return float(scores[entry])
    return -np.inf


@kernel
def _random(state: Masks) -> Any:
    """xorshift64*: small, fast, the same everywhere."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return x * np.uint64(0x2545F4914F6CDD1D)


@kernel
def _below(state: Masks, bound: int) -> Any:
    return np.int64((_random(state) >> np.uint64(33)) % np.uint64(bound))


@kernel
def _prepare(order: Ints, bits: Ints, start: Ints, masks: Masks, scores: Floats, before: Masks, values: Floats) -> float:
    """Set up who comes before whom and the score of each child; return the sum."""
    total = 0.0
    for place in range(len(order)):
        child = order[place]
        before[child] = np.uint64(0)
        for earlier in range(place):
            bit = bits[child, order[earlier]]
            if bit >= 0:
                before[child] |= np.uint64(1) << np.uint64(bit)
        values[child] = _value(child, before[child], start, masks, scores)
        total += values[child]
    return total


@kernel
def _best_place(
    place: int, order: Ints, bits: Ints, start: Ints, masks: Masks, scores: Floats, before: Masks, values: Floats
) -> tuple[float, int]:
    """The gain of moving the variable at a place to its best one, and that place."""
    one = np.uint64(1)
    moved = order[place]
    best_gain, best = 1e-9, place
    for step in (-1, 1):
        others = 0.0
        mine = before[moved]
        own = values[moved]
        target = place + step
        while 0 <= target < len(order):
            other = order[target]
            bit = bits[moved, other]
            if bit >= 0:
                mine = mine ^ (one << np.uint64(bit))
                own = _value(moved, mine, start, masks, scores)
            bit = bits[other, moved]
            if bit >= 0:
                others += _value(other, before[other] ^ (one << np.uint64(bit)), start, masks, scores) - values[other]
            gain = others + own - values[moved]
            if gain > best_gain:
                best_gain, best = gain, target
            target += step
    return best_gain, best


@kernel
def _move(
    place: int,
    target: int,
    order: Ints,
    bits: Ints,
    start: Ints,
    masks: Masks,
    scores: Floats,
    before: Masks,
    values: Floats,
) -> None:
    one = np.uint64(1)
    moved = order[place]
    step = 1 if target > place else -1
    while place != target:
        other = order[place + step]
        bit = bits[moved, other]
        if bit >= 0:
            before[moved] ^= one << np.uint64(bit)
        bit = bits[other, moved]
        if bit >= 0:
            before[other] ^= one << np.uint64(bit)
            values[other] = _value(other, before[other], start, masks, scores)
        order[place] = other
        place += step
    order[place] = moved
    values[moved] = _value(moved, before[moved], start, masks, scores)


@kernel
def _descend(
    order: Ints,
    bits: Ints,
    start: Ints,
    masks: Masks,
    scores: Floats,
    before: Masks,
    values: Floats,
    state: Masks,
    queue: Ints,
) -> None:
    """Move variables to their best places, in random turns, until none gains."""
    n = len(order)
    idle = 0
    for i in range(n):
        queue[i] = i
    turn = n
    while idle < n:
        if turn == n:
            for i in range(n - 1, 0, -1):
                j = _below(state, i + 1)
                queue[i], queue[j] = queue[j], queue[i]
            turn = 0
        variable = queue[turn]
        turn += 1
        place = 0
        while order[place] != variable:
            place += 1
        _, target = _best_place(place, order, bits, start, masks, scores, before, values)
        if target != place:
            _move(place, target, order, bits, start, masks, scores, before, values)
            idle = 0
        else:
            idle += 1


@kernel
def _climb(order: Ints, bits: Ints, start: Ints, masks: Masks, scores: Floats, rounds: int, seed: np.uint64) -> float:
    """Iterated local search from an order, in place; returns the score of the best order found."""
    n = len(order)
    state = np.array([seed], dtype=np.uint64)
    before = np.empty(n, dtype=np.uint64)
    values = np.empty(n)
    queue = np.empty(n, dtype=np.int64)
    best = order.copy()
    _prepare(order, bits, start, masks, scores, before, values)
    _descend(order, bits, start, masks, scores, before, values, state, queue)
    best[:] = order
    top = values.sum()
    for _ in range(rounds):
        for _ in range(2 + _below(state, 6)):
            place = _below(state, n)
            _move(place, _below(state, n), order, bits, start, masks, scores, before, values)
        _descend(order, bits, start, masks, scores, before, values, state, queue)
        score = values.sum()
        if score >= top:
            top = score
            best[:] = order
        else:
            order[:] = best
            _prepare(order, bits, start, masks, scores, before, values)
    order[:] = best
    return float(top)
