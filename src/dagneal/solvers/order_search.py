"""Order search: iterated local search over orders of the variables, for networks that are too large for exact search.

In an order, each child gets its best parents among the variables before it. A move takes a variable out of the order and
inserts it at its best position. The neighbours of a variable are its candidate parents and the variables that have it as a
candidate parent. When a variable moves past another, scores can change only if the two are neighbours, and only the scores
of these two. So at most two scores are looked up for each variable that is passed. At a local optimum, the search makes a
few random moves and restarts with the variables whose best position may have changed. If the new local optimum is worse, the
search returns to the best order.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError, whole_number
from dagneal.base.kernels import Floats, Ints, Masks, kernel, run_threads
from dagneal.runtime.run import DEFAULT_RUN, NEVER, Run
from dagneal.scoring.orders import dag_of_order, enforce_required
from dagneal.scoring.sets import first_subset, flip_bit, squeeze_words
from dagneal.scoring.table import ScoreTable, check_table
from dagneal.solvers.solution import Solution

_STEP = 10  # restarts between two checks of the deadline
CHAINS = 4  # number of independent searches; it is fixed, so the number of threads does not change the result


def order_search(
    table: ScoreTable, restarts: int | None = None, initial: Ints | None = None, run: Run = DEFAULT_RUN
) -> Solution:
    """Learn the structure of a network by iterated local search over orders of the variables.

    Args:
        table: local scores with any parent limit, any candidate parents and any number of variables.
        restarts: number of restarts from the best order, in each of four independent searches; 1,000 by default.
        initial: initial order of the first search, as indices of the variables from first to last; random by default.
        run: `Run` object with the seed and the deadline. The deadline is checked every 10 restarts.

    Returns:
        The best DAG found, with `optimal=False`, because the search does not prove that the DAG is optimal.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> from dagneal.solvers.exact import exact
    >>> table = score_table(load("alarm-15").expected_data(10_000))
    >>> round(order_search(table).score - exact(table).score, 6)
    0.0
    """
    check_table(table)
    begun = perf_counter()
    best, _ = search(table, restarts, initial, run)
    dag = dag_of_order(table, best)
    return Solution(
        dag=dag,
        score=table.score(dag),
        max_parents=table.max_parents,
        solver="order",
        optimal=False,
        seconds={"solve": perf_counter() - begun},
        seed=run.seed,
    )


def search(
    table: ScoreTable, restarts: int | None = None, initial: Ints | None = None, run: Run = DEFAULT_RUN
) -> tuple[Ints, float]:
    """Return (order, score): the best order found, and its log score.

    Args:
        table: local scores.
        restarts: number of restarts from the best order, in each of four independent searches; 1,000 by default.
        initial: initial order of the first search, as indices of the variables from first to last; random by default.
        run: `Run` object with the seed and the deadline. The deadline is checked every 10 restarts.
    """
    n = len(table.names)
    restarts = 1000 if restarts is None else whole_number("restarts", restarts)
    generator = np.random.default_rng(run.seed)
    orders = generator.permuted(np.broadcast_to(np.arange(n), (CHAINS, n)), axis=1)
    if initial is not None:
        if sorted(initial) != list(range(n)):
            raise InputError("initial must contain the index of each variable exactly once")
        orders[0] = initial
    if table.required is not None:
        orders = enforce_required(orders, table.required)
    seeds = generator.integers(1, 2**63, CHAINS, dtype=np.uint64)
    space = search_space(table)

    def work(chain: int) -> tuple[float, Ints]:
        order = orders[chain].copy()
        if run.deadline == NEVER:
            return float(_climb(space, order, restarts, seeds[chain])), order
        score, done = -np.inf, 0
        while done == 0 or (done < restarts and not run.deadline.passed):
            step = max(0, min(_STEP, restarts - done))
            score = float(_climb(space, order, step, seeds[chain] + np.uint64(done)))
            done += max(step, 1)
        return score, order

    results = run_threads(work, list(range(CHAINS)), stage="order search", progress=run.progress)
    score, best = max(results, key=lambda result: result[0])
    if not np.isfinite(score):
        raise InputError("no DAG was found with the parent sets of this table; add more parent sets")
    return best, score


class SearchSpace(NamedTuple):
    """The parent sets and neighbours of all variables, as arrays for compiled functions.

    The neighbours of a variable are its candidate parents and the variables that have it as a candidate parent.

    Attributes:
        first: bounds in `neighbours`; the neighbours of variable v are `neighbours[first[v]:first[v + 1]]`.
        neighbours: neighbours of all variables, one variable after the other.
        bit: for each neighbour u of a variable v, the bit of u in the masks of v; -1 if u is not a candidate parent of v.
        reverse_bit: for each neighbour u of a variable v, the bit of v in the masks of u; -1 if v is not a candidate parent
            of u.
        start: bounds in `masks`; the parent sets of child c are `masks[start[c]:start[c + 1]]`.
        masks: parent sets of each child as bit masks, sorted by decreasing score; see `squeeze_words`.
        scores: log scores of the parent sets.
    """

    first: Ints
    neighbours: Ints
    bit: Ints
    reverse_bit: Ints
    start: Ints
    masks: Masks
    scores: Floats


class OrderState(NamedTuple):
    """An order of the variables and its scores. Moves change the arrays in place.

    Attributes:
        order: indices of the variables, from first to last.
        position: position of each variable in `order`.
        before: for each variable, the candidate parents that come before it, as a bit mask; see `squeeze_words`.
        values: score of each variable with its best parents among the variables before it.
    """

    order: Ints
    position: Ints
    before: Masks
    values: Floats


def search_space(table: ScoreTable) -> SearchSpace:
    """Return the search space of a table.

    Args:
        table: local scores.
    """
    bits = table.local_bits
    variable, neighbour = np.nonzero((bits >= 0) | (bits.T >= 0))
    first = np.searchsorted(variable, np.arange(len(table.names) + 1))
    start, masks, scores = table.pruned
    edges = bits[variable, neighbour], bits[neighbour, variable]
    return SearchSpace(first, neighbour, *edges, start, squeeze_words(masks), scores)


@kernel
def _value(space: SearchSpace, child: int, before: Masks, row: int) -> float:
    """Return the best score of a child whose parents are in the bit mask `before[row]`."""
    entry = first_subset(space.masks, space.start[child], space.start[child + 1], before, row)
    return float(space.scores[entry]) if entry >= 0 else -np.inf


@kernel
def _random(state: Masks) -> Any:
    """Return the next number of the generator xorshift64*, which is fast and gives the same numbers on every machine."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return x * np.uint64(0x2545F4914F6CDD1D)


@kernel
def _random_below(state: Masks, bound: int) -> Any:
    """Return a random integer from 0 to bound - 1."""
    return np.int64((_random(state) >> np.uint64(33)) % np.uint64(bound))


@kernel
def _prepare(space: SearchSpace, current: OrderState) -> None:
    """Compute the arrays `position`, `before` and `values` of `current` from `current.order`."""
    for index in range(len(current.order)):
        current.position[current.order[index]] = index
    for child in range(len(current.order)):
        current.before[child] = np.uint64(0)
        for edge in range(space.first[child], space.first[child + 1]):
            if space.bit[edge] >= 0 and current.position[space.neighbours[edge]] < current.position[child]:
                flip_bit(current.before, child, space.bit[edge])
        current.values[child] = _value(space, child, current.before, child)


@kernel
def _best_position(space: SearchSpace, current: OrderState, moved: int, passed: Ints, allowed: Masks) -> Any:
    """Return the best position of `moved`. Only its present position and the positions of its neighbours are tried.

    The function uses the memory of `passed` and `allowed`, so that calls need no new memory.
    """
    neighbours, bit, reverse_bit, position = space.neighbours, space.bit, space.reverse_bit, current.position
    here = position[moved]
    best_gain, best = 1e-9, here
    for step in (-1, 1):
        count = 0  # number of neighbours on this side; `passed` lists them, nearest first
        for edge in range(space.first[moved], space.first[moved + 1]):
            distance = (position[neighbours[edge]] - here) * step
            if distance > 0:
                slot = count
                while slot > 0 and (position[neighbours[passed[slot - 1]]] - here) * step > distance:
                    passed[slot] = passed[slot - 1]
                    slot -= 1
                passed[slot] = edge
                count += 1
        others = 0.0
        allowed[0] = current.before[moved]
        own = current.values[moved]
        for slot in range(count):
            edge = passed[slot]
            other = neighbours[edge]
            if bit[edge] >= 0:
                flip_bit(allowed, 0, bit[edge])
                own = _value(space, moved, allowed, 0)
            if reverse_bit[edge] >= 0:
                flip_bit(current.before, other, reverse_bit[edge])
                others += _value(space, other, current.before, other) - current.values[other]
                flip_bit(current.before, other, reverse_bit[edge])
            gain = others + own - current.values[moved]
            if gain > best_gain:
                best_gain, best = gain, position[other]
    return best


@kernel
def _move(space: SearchSpace, current: OrderState, moved: int, target: int) -> None:
    """Move the variable `moved` to the position `target`. The variables between both positions shift by one."""
    order, position = current.order, current.position
    here = position[moved]
    low, high = min(here, target), max(here, target)
    for edge in range(space.first[moved], space.first[moved + 1]):
        other = space.neighbours[edge]
        if low <= position[other] <= high:
            if space.bit[edge] >= 0:
                flip_bit(current.before, moved, space.bit[edge])
            if space.reverse_bit[edge] >= 0:
                flip_bit(current.before, other, space.reverse_bit[edge])
                current.values[other] = _value(space, other, current.before, other)
    current.values[moved] = _value(space, moved, current.before, moved)
    step = 1 if target > here else -1
    while here != target:
        order[here] = order[here + step]
        position[order[here]] = here
        here += step
    order[target] = moved
    position[moved] = target


@kernel
def _queue_affected(space: SearchSpace, moved: int, waiting: NDArray[np.bool_], queue: Ints, length: int) -> int:
    """Queue the variables whose best position may have changed: the moved variable, its neighbours and their neighbours.

    Return the new length of the queue.
    """
    first, neighbours = space.first, space.neighbours
    for edge in range(first[moved] - 1, first[moved + 1]):
        near = moved if edge < first[moved] else neighbours[edge]
        for other in range(first[near] - 1, first[near + 1]):
            variable = near if other < first[near] else neighbours[other]
            if not waiting[variable]:
                waiting[variable] = True
                queue[length] = variable
                length += 1
    return length


@kernel
def _climb(space: SearchSpace, order: Ints, restarts: int, seed: np.uint64) -> float:
    """Improve `order` in place by iterated local search, and return the score of the best order found."""
    n = len(order)
    state = np.array([seed], dtype=np.uint64)
    current = OrderState(
        order, np.empty(n, dtype=np.int64), np.empty((n, *space.masks.shape[1:]), dtype=np.uint64), np.empty(n)
    )
    passed, allowed = np.empty(n, dtype=np.int64), np.empty((1, *space.masks.shape[1:]), dtype=np.uint64)
    queue = np.arange(n)
    waiting = np.ones(n, dtype=np.bool_)
    length = n
    _prepare(space, current)
    best, best_before, best_values = order.copy(), current.before.copy(), current.values.copy()
    top = -np.inf
    for restart in range(restarts + 1):
        if restart > 0:
            for _ in range(2 + _random_below(state, 6)):
                moved = order[_random_below(state, n)]
                _move(space, current, moved, _random_below(state, n))
                length = _queue_affected(space, moved, waiting, queue, length)
        while length:  # visit queued variables in random order until no variable has a better position
            pick = _random_below(state, length)
            length -= 1
            moved = queue[pick]
            queue[pick] = queue[length]
            waiting[moved] = False
            target = _best_position(space, current, moved, passed, allowed)
            if target != current.position[moved]:
                _move(space, current, moved, target)
                length = _queue_affected(space, moved, waiting, queue, length)
        score = current.values.sum()
        if score >= top:
            top = score
            best[:], best_before[:], best_values[:] = order, current.before, current.values
        else:
            order[:], current.before[:], current.values[:] = best, best_before, best_values
            for index in range(n):
                current.position[order[index]] = index
    order[:] = best
    return float(top)
