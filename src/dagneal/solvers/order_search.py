"""Ordering search: iterated local search over orders of the variables, for networks that are too large for exact search.

An order allows each child its best parents among those before it. A move takes one variable out and puts it back at its best
place. Only steps past neighbours, its candidate parents and those it is one of, change the parents that two variables may
have, so a step costs two look-ups. From a local optimum a few random moves are made and the descent begins again, with those
variables whose best place may have changed; the better order is kept.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError, whole_number
from dagneal.base.kernels import Floats, Ints, Masks, kernel, run_threads
from dagneal.runtime.run import DEFAULT_RUN, NEVER, Run
from dagneal.scoring.orders import dag_of_order, keeping
from dagneal.scoring.table import ScoreTable, check_table
from dagneal.solvers.solution import Solution

_STEP = 10  # rounds between two looks at the clock
CHAINS = 4  # independent searches, whatever the number of threads: the same seed gives the same answer


def order_search(
    table: ScoreTable, rounds: int | None = None, initial: Ints | None = None, run: Run = DEFAULT_RUN
) -> Solution:
    """Learn a structure by iterated local search over orders.

    Args:
        table: local scores with any parent limit and any candidates, of any number of variables.
        rounds: the number of restarts from the best order; 1,000 by default.
        initial: the order that the search starts from, as positions of variables; random by default.
        run: its seed decides the answer, and after its deadline no further restarts begin.

    Returns:
        The best DAG found; `optimal` is False, since nothing is proved.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> from dagneal.solvers.exact import exact
    >>> table = score_table(load("alarm-15").expected(10_000))
    >>> round(order_search(table).score - exact(table).score, 6)
    0.0
    """
    check_table(table)
    begun = perf_counter()
    best, _ = search(table, rounds, initial, run)
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
    table: ScoreTable, rounds: int | None = None, initial: Ints | None = None, run: Run = DEFAULT_RUN
) -> tuple[Ints, float]:
    """Return the best order found, and its score.

    Args:
        table: local scores.
        rounds: the number of restarts from the best order; 1,000 by default.
        initial: the order that the search starts from, as positions of variables; random by default.
        run: its seed decides the answer, and after its deadline no further restarts begin.
    """
    n = len(table.names)
    rounds = 1000 if rounds is None else whole_number("rounds", rounds)
    generator = np.random.default_rng(run.seed)
    first = generator.permuted(np.broadcast_to(np.arange(n), (CHAINS, n)), axis=1)
    if initial is not None:
        if sorted(initial) != list(range(n)):
            raise InputError("initial must hold the position of each variable once")
        first[0] = initial
    if table.required is not None:
        first = keeping(first, table.required)
    seeds = generator.integers(1, 2**63, CHAINS, dtype=np.uint64)
    problem = problem_of(table)

    def work(chain: int) -> tuple[float, Ints]:
        found = first[chain].copy()
        if run.deadline == NEVER:
            return float(_climb(problem, found, rounds, seeds[chain])), found
        score, done = -np.inf, 0
        while done == 0 or (done < rounds and not run.deadline.passed):
            step = max(0, min(_STEP, rounds - done))
            score = float(_climb(problem, found, step, seeds[chain] + np.uint64(done)))
            done += max(step, 1)
        return score, found

    results = run_threads(work, list(range(CHAINS)), stage="ordering search", progress=run.progress)
    score, best = max(results, key=lambda result: result[0])
    if not np.isfinite(score):
        raise InputError("no order fits the parent sets of this table")
    return best, score


class SearchSpace(NamedTuple):
    """What kernels need of a table: parent sets that matter, and who may be a parent of whom.

    Only neighbours, candidate parents and those it is one of, matter when a variable is moved.

    Attributes:
        first: bounds of each variable's neighbours.
        who: the neighbours.
        mine: the bit of a neighbour in the variable's masks, -1 where it is no candidate.
        theirs: the bit of the variable in the neighbour's masks, -1 where it is no candidate.
        start: bounds of each child's sets of parents.
        masks: the sets, by falling score.
        scores: theirs.
    """

    first: Ints
    who: Ints
    mine: Ints
    theirs: Ints
    start: Ints
    masks: Masks
    scores: Floats


class Orders(NamedTuple):
    """An order of the variables, and what it is worth; changed in place.

    Attributes:
        order: the variables, first to last.
        place: where each of them is.
        before: which of its candidates come before each, as bits.
        values: the score of each.
    """

    order: Ints
    place: Ints
    before: Masks
    values: Floats


def problem_of(table: ScoreTable) -> SearchSpace:
    """What kernels need of a table.

    Args:
        table: the scores.
    """
    bits = table.local_bits
    variable, who = np.nonzero((bits >= 0) | (bits.T >= 0))
    first = np.searchsorted(variable, np.arange(len(table.names) + 1))
    return SearchSpace(first, who, bits[variable, who], bits[who, variable], *table.pruned)


@kernel
def _value(problem: SearchSpace, child: int, before: np.uint64) -> float:
    """The best score of a child whose possible parents are these bits."""
    for entry in range(problem.start[child], problem.start[child + 1]):
        if problem.masks[entry] & ~before == np.uint64(0):
            return float(problem.scores[entry])
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
def _prepare(problem: SearchSpace, now: Orders) -> None:
    """Set up where each variable is, which of its candidates come before it, and its score."""
    for at in range(len(now.order)):
        now.place[now.order[at]] = at
    for child in range(len(now.order)):
        now.before[child] = np.uint64(0)
        for edge in range(problem.first[child], problem.first[child + 1]):
            if problem.mine[edge] >= 0 and now.place[problem.who[edge]] < now.place[child]:
                now.before[child] |= np.uint64(1) << np.uint64(problem.mine[edge])
        now.values[child] = _value(problem, child, now.before[child])


@kernel
def _best_place(problem: SearchSpace, now: Orders, moved: int, passed: Ints) -> Any:
    """Where a variable gains most: its own place, or that of a neighbour, which it then stands beyond."""
    one = np.uint64(1)
    who, mine, theirs, place = problem.who, problem.mine, problem.theirs, now.place
    here = place[moved]
    best_gain, best = 1e-9, here
    for step in (-1, 1):
        count = 0  # the neighbours on this side, the nearest first
        for edge in range(problem.first[moved], problem.first[moved + 1]):
            distance = (place[who[edge]] - here) * step
            if distance > 0:
                slot = count
                while slot > 0 and (place[who[passed[slot - 1]]] - here) * step > distance:
                    passed[slot] = passed[slot - 1]
                    slot -= 1
                passed[slot] = edge
                count += 1
        others = 0.0
        allowed = now.before[moved]
        own = now.values[moved]
        for slot in range(count):
            edge = passed[slot]
            other = who[edge]
            if mine[edge] >= 0:
                allowed = allowed ^ (one << np.uint64(mine[edge]))
                own = _value(problem, moved, allowed)
            if theirs[edge] >= 0:
                changed = now.before[other] ^ (one << np.uint64(theirs[edge]))
                others += _value(problem, other, changed) - now.values[other]
            gain = others + own - now.values[moved]
            if gain > best_gain:
                best_gain, best = gain, place[other]
    return best


@kernel
def _move(problem: SearchSpace, now: Orders, moved: int, target: int) -> None:
    """Put a variable to another place; what it passes moves up by one."""
    one = np.uint64(1)
    order, place = now.order, now.place
    here = place[moved]
    low, high = min(here, target), max(here, target)
    for edge in range(problem.first[moved], problem.first[moved + 1]):
        other = problem.who[edge]
        if low <= place[other] <= high:
            if problem.mine[edge] >= 0:
                now.before[moved] ^= one << np.uint64(problem.mine[edge])
            if problem.theirs[edge] >= 0:
                now.before[other] ^= one << np.uint64(problem.theirs[edge])
                now.values[other] = _value(problem, other, now.before[other])
    now.values[moved] = _value(problem, moved, now.before[moved])
    step = 1 if target > here else -1
    while here != target:
        order[here] = order[here + step]
        place[order[here]] = here
        here += step
    order[target] = moved
    place[moved] = target


@kernel
def _disturb(problem: SearchSpace, moved: int, waiting: NDArray[np.bool_], queue: Ints, length: int) -> int:
    """Queue the variables that a move may have given a better place: neighbours, and neighbours of these."""
    first, who = problem.first, problem.who
    for edge in range(first[moved] - 1, first[moved + 1]):
        near = moved if edge < first[moved] else who[edge]
        for other in range(first[near] - 1, first[near + 1]):
            variable = near if other < first[near] else who[other]
            if not waiting[variable]:
                waiting[variable] = True
                queue[length] = variable
                length += 1
    return length


@kernel
def _climb(problem: SearchSpace, order: Ints, rounds: int, seed: np.uint64) -> float:
    """Iterated local search from an order, in place; returns the score of the best order found."""
    n = len(order)
    state = np.array([seed], dtype=np.uint64)
    now = Orders(order, np.empty(n, dtype=np.int64), np.empty(n, dtype=np.uint64), np.empty(n))
    passed = np.empty(n, dtype=np.int64)
    queue = np.arange(n)
    waiting = np.ones(n, dtype=np.bool_)
    length = n
    _prepare(problem, now)
    best, best_before, best_values = order.copy(), now.before.copy(), now.values.copy()
    top = -np.inf
    for turn in range(rounds + 1):
        if turn > 0:
            for _ in range(2 + _below(state, 6)):
                moved = order[_below(state, n)]
                _move(problem, now, moved, _below(state, n))
                length = _disturb(problem, moved, waiting, queue, length)
        while length:  # variables in random turns, until none has a better place
            pick = _below(state, length)
            length -= 1
            moved = queue[pick]
            queue[pick] = queue[length]
            waiting[moved] = False
            target = _best_place(problem, now, moved, passed)
            if target != now.place[moved]:
                _move(problem, now, moved, target)
                length = _disturb(problem, moved, waiting, queue, length)
        score = now.values.sum()
        if score >= top:
            top = score
            best[:], best_before[:], best_values[:] = order, now.before, now.values
        else:
            order[:], now.before[:], now.values[:] = best, best_before, best_values
            for at in range(n):
                now.place[order[at]] = at
    order[:] = best
    return float(top)
