"""Iterated local search over orders of the variables.

In an order, each child gets its best parents among the variables before it. A move takes a variable out of the order and
inserts it at its best position. When a variable moves past another, scores can change only if the two are neighbours, and
only the scores of these two. The best parent set of a child is found by a scan of its sets, which are sorted by decreasing
score. If the child loses a possible parent, the scan starts at its present set. If it gains one, only better sets that
contain this parent are scanned.

At a local optimum, the search moves a few neighbouring variables to random places, and continues with the variables whose
best position may have changed. If the new local optimum is worse, the moves are undone. So the time of a restart depends on
the number of neighbours, but hardly on the number of variables.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Ints, Masks, kernel
from dagneal.search.space import OrderState, SearchSpace, Words

STRENGTH = 8  # maximum number of random moves in a perturbation
_EPSILON = 1e-9  # smallest difference between scores, in nats


@kernel
def draw(random: Masks, bound: int) -> Any:
    """Return a random integer from 0 to bound - 1. The generator is xorshift64*."""
    x = random[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    random[0] = x
    return np.int64(((x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(33)) % np.uint64(bound))


# Hot functions take arrays and the index of a row: a row of an array, or a tuple of many arrays, is slow to pass.


@kernel
def _fits(words: Words, masks: Masks, entry: int, before: Masks, row: int) -> Any:
    """Return whether a parent set is a subset of `before[row]`."""
    fits = True
    for word in range(len(words)):
        if masks[entry, word] & ~before[row, word] != np.uint64(0):
            fits = False
    return fits


@kernel
def scan(words: Words, masks: Masks, before: Masks, row: int, begin: int, end: int) -> Any:
    """Return the first parent set from `begin` to `end` - 1 that is a subset of `before[row]`; `end` if there is none."""
    for entry in range(begin, end):
        if _fits(words, masks, entry, before, row):
            return entry
    return end


@kernel
def scan_holders(
    words: Words, masks: Masks, before: Masks, row: int, holders: Ints, begin: int, end: int, present: int
) -> Any:
    """Return the first parent set in `holders[begin:end]` that is a subset of `before[row]` and better than `present`.

    Return `present` if there is none.
    """
    for index in range(begin, end):
        entry = holders[index]
        if entry >= present:
            break
        if _fits(words, masks, entry, before, row):
            return entry
    return present


@kernel
def contains(masks: Masks, entry: int, bit: int) -> Any:
    """Return whether a mask contains a bit."""
    return (masks[entry, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1) != np.uint64(0)


@kernel
def toggle(masks: Masks, row: int, bit: int) -> None:
    """Add a bit to a mask, or remove it."""
    masks[row, bit >> 6] ^= np.uint64(1) << np.uint64(bit & 63)


@kernel
def update_range(space: SearchSpace, state: OrderState, low: int, high: int) -> None:
    """Compute the positions, parent sets and score anew after the variables at the positions `low` to `high` changed."""
    before = state.before
    for index in range(low, high + 1):
        state.position[state.order[index]] = index
    for index in range(low, high + 1):
        child = state.order[index]
        for word in range(len(space.words)):
            before[child, word] = np.uint64(0)
        for edge in range(space.first[child], space.first[child + 1]):
            if space.bit[edge] >= 0 and state.position[space.neighbours[edge]] < index:
                toggle(before, child, space.bit[edge])
        entry = scan(space.words, space.masks, before, child, space.start[child], space.start[child + 1])
        state.score[0] += space.scores[entry] - space.scores[state.chosen[child]]
        state.chosen[child] = entry


@kernel
def prepare(space: SearchSpace, state: OrderState) -> None:
    """Compute all arrays of a state from its order."""
    n = len(state.order)
    state.score[0] = 0.0
    for child in range(n):
        state.chosen[child] = space.start[child]
        state.score[0] += space.scores[state.chosen[child]]
    update_range(space, state, 0, n - 1)


@kernel
def _best_position(space: SearchSpace, state: OrderState, moved: int, passed: Ints, allowed: Masks) -> Any:
    """Return the best position of `moved`. Only its present position and the positions of its neighbours are tried."""
    words, masks, scores, start = space.words, space.masks, space.scores, space.start
    neighbours, bit, reverse, held, holders = space.neighbours, space.bit, space.reverse, space.holders_first, space.holders
    position, before, chosen = state.position, state.before, state.chosen
    here = position[moved]
    best_gain, best = _EPSILON, here
    for step in (-1, 1):
        # `passed` has the neighbours on this side, nearest first: the distance, and the edge in the lower 32 bits.
        count = 0
        for edge in range(space.first[moved], space.first[moved + 1]):
            distance = (position[neighbours[edge]] - here) * step
            if distance > 0:
                key = distance << 32 | edge
                slot = count
                while slot > 0 and passed[slot - 1] > key:
                    passed[slot] = passed[slot - 1]
                    slot -= 1
                passed[slot] = key
                count += 1
        others = 0.0
        own = chosen[moved]
        for word in range(len(words)):
            allowed[0, word] = before[moved, word]
        for slot in range(count):
            edge = passed[slot] & 0xFFFFFFFF
            other, back = neighbours[edge], reverse[edge]
            if bit[edge] >= 0:
                toggle(allowed, 0, bit[edge])
                if step > 0:
                    own = scan_holders(words, masks, allowed, 0, holders, held[edge], held[edge + 1], own)
                elif contains(masks, own, bit[edge]):
                    own = scan(words, masks, allowed, 0, own + 1, start[moved + 1])
            if bit[back] >= 0:
                now = chosen[other]
                new = now
                toggle(before, other, bit[back])
                if step < 0:
                    new = scan_holders(words, masks, before, other, holders, held[back], held[back + 1], now)
                elif contains(masks, now, bit[back]):
                    new = scan(words, masks, before, other, now + 1, start[other + 1])
                toggle(before, other, bit[back])
                others += scores[new] - scores[now]
            gain = others + scores[own] - scores[chosen[moved]]
            if gain > best_gain:
                best_gain, best = gain, position[other]
    return best


class ClimbArrays(NamedTuple):
    """Working memory of the local search.

    Attributes:
        queue: variables whose best position may have changed.
        waiting: `waiting[v]` is True for each variable v in the queue.
        passed: edges to the neighbours that a variable passes, with their distances.
        allowed: candidate parents of the moved variable, as a bit mask.
        log: moves since the last restart, as pairs (variable, old position).
    """

    queue: Ints
    waiting: NDArray[np.bool_]
    passed: Ints
    allowed: Masks
    log: Ints

    @classmethod
    def create(cls, space: SearchSpace) -> ClimbArrays:
        """Return new arrays.

        Args:
            space: search space of the orders.
        """
        n = len(space.start) - 1
        return cls(
            queue=np.empty(n, dtype=np.int64),
            waiting=np.zeros(n, dtype=np.bool_),
            passed=np.empty(n, dtype=np.int64),
            allowed=np.empty((1, len(space.words)), dtype=np.uint64),
            log=np.empty((64 * n + 64, 2), dtype=np.int64),
        )


@kernel
def enqueue(arrays: ClimbArrays, variable: int, length: int) -> Any:
    """Add a variable to the queue, unless it waits already. Return the new length of the queue."""
    if arrays.waiting[variable]:
        return length
    arrays.waiting[variable] = True
    arrays.queue[length] = variable
    return length + 1


@kernel
def _move(space: SearchSpace, state: OrderState, arrays: ClimbArrays, moved: int, target: int, length: int) -> Any:
    """Move a variable to the position `target`. Queue the variables whose best position may change.

    Return the new length of the queue.
    """
    words, masks, start = space.words, space.masks, space.start
    order, position, before, chosen = state.order, state.position, state.before, state.chosen
    here = position[moved]
    low, high = min(here, target), max(here, target)
    gain = 0.0
    length = enqueue(arrays, moved, length)
    for edge in range(space.first[moved], space.first[moved + 1]):
        other = space.neighbours[edge]
        length = enqueue(arrays, other, length)
        if low <= position[other] <= high:
            if space.bit[edge] >= 0:
                toggle(before, moved, space.bit[edge])
            back = space.reverse[edge]
            if space.bit[back] >= 0:
                now = chosen[other]
                new = now
                toggle(before, other, space.bit[back])
                if target < here:
                    held = space.holders_first
                    new = scan_holders(words, masks, before, other, space.holders, held[back], held[back + 1], now)
                elif contains(masks, now, space.bit[back]):
                    new = scan(words, masks, before, other, now + 1, start[other + 1])
                gain += space.scores[new] - space.scores[now]
                chosen[other] = new
                for near in range(space.first[other], space.first[other + 1]):
                    length = enqueue(arrays, space.neighbours[near], length)
    new = scan(words, masks, before, moved, start[moved], start[moved + 1])
    gain += space.scores[new] - space.scores[chosen[moved]]
    chosen[moved] = new
    state.score[0] += gain
    step = 1 if target > here else -1
    while here != target:
        order[here] = order[here + step]
        position[order[here]] = here
        here += step
    order[target] = moved
    position[moved] = target
    return length


@kernel
def descend(space: SearchSpace, state: OrderState, arrays: ClimbArrays, length: int, moves: int) -> Any:
    """Visit queued variables in random order until no variable has a better position.

    `moves` is the number of moves in `arrays.log`. Return the new number.
    """
    queue = arrays.queue
    while length:
        pick = draw(state.random, length)
        length -= 1
        moved = queue[pick]
        queue[pick] = queue[length]
        arrays.waiting[moved] = False
        if moves == len(arrays.log):
            continue
        state.counts[0] += 1
        target = _best_position(space, state, moved, arrays.passed, arrays.allowed)
        if target != state.position[moved]:
            arrays.log[moves, 0], arrays.log[moves, 1] = moved, state.position[moved]
            moves += 1
            length = _move(space, state, arrays, moved, target, length)
    return moves


@kernel
def _perturb(space: SearchSpace, state: OrderState, arrays: ClimbArrays, centre: int) -> Any:
    """Move a variable and some of its neighbours next to random neighbours.

    Return the length of the queue, and the number of moves.
    """
    length, moves = 0, 0
    degree = space.first[centre + 1] - space.first[centre]
    if degree == 0:
        return length, moves
    for number in range(1 + draw(state.random, STRENGTH)):
        moved = centre if number == 0 else space.neighbours[space.first[centre] + draw(state.random, degree)]
        first = space.first[moved]
        target = state.position[space.neighbours[first + draw(state.random, space.first[moved + 1] - first)]]
        arrays.log[moves, 0], arrays.log[moves, 1] = moved, state.position[moved]
        moves += 1
        length = _move(space, state, arrays, moved, target, length)
    return length, moves


@kernel
def settle(space: SearchSpace, state: OrderState, arrays: ClimbArrays) -> None:
    """Compute the arrays of a state from its order, and improve the order by local search.

    Args:
        space: search space.
        state: state with any order.
        arrays: working memory.
    """
    prepare(space, state)
    n = len(state.order)
    moves = len(arrays.log)
    while moves == len(arrays.log):
        for variable in range(n):
            enqueue(arrays, variable, variable)
        moves = descend(space, state, arrays, n, 0)


@kernel
def climb(space: SearchSpace, state: OrderState, arrays: ClimbArrays, centres: Ints, visits: int, restarts: int) -> None:
    """Improve a local optimum by restarts from perturbed orders, until `state.counts` reaches one of the limits.

    The score never falls. Two calls, first with lower limits, have the same result as one call with the higher limits.

    Args:
        space: search space.
        state: state of a local optimum; see `settle`.
        arrays: working memory.
        centres: variables around which the order is perturbed.
        visits: number of visits after which no restart begins.
        restarts: number of restarts after which no restart begins.
    """
    while state.counts[0] < visits and state.counts[1] < restarts:
        state.counts[1] += 1
        begin = state.score[0]
        length, moves = _perturb(space, state, arrays, centres[draw(state.random, len(centres))])
        if moves == 0:  # the variable has no neighbours
            state.counts[0] += 1
            continue
        moves = descend(space, state, arrays, length, moves)
        if state.score[0] < begin - _EPSILON:
            length = 0
            for index in range(moves - 1, -1, -1):
                length = _move(space, state, arrays, arrays.log[index, 0], arrays.log[index, 1], length)
            for index in range(length):
                arrays.waiting[arrays.queue[index]] = False
            state.score[0] = begin
