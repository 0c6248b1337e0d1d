"""Exact optimisation of windows: the best order of a few variables, with all other variables fixed.

A window is a small connected set of variables. It also includes each variable that is both a descendant and an ancestor of
members. Then the order can be rearranged, without a change of the network, so that the members are next to each other: first
all variables that are not descendants of members, then the members, then their descendants. Dynamic programming over the
subsets of the members finds their best order. This finds improvements that need several moves at the same time, when each
move alone lowers the score.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints, kernel
from dagneal.search.climb import contains, draw, update_range
from dagneal.search.space import OrderState, SearchSpace

LARGEST = 14  # maximum number of variables in a window; time and memory grow as 2^14
_EPSILON = 1e-9


class WindowArrays(NamedTuple):
    """Working memory for the optimisation of windows.

    Attributes:
        members: variables of the window.
        inside: `inside[v]` is True if the variable v is in the window.
        below: `below[v]` is True if v is a descendant of a member.
        above: `above[v]` is True if v is an ancestor of a member.
        sequence: variables in their new order.
        local: best score of each member, for each set of members before it.
        best: best score of each set of members.
        sink: last member in the best order of each set of members.
    """

    members: Ints
    inside: NDArray[np.bool_]
    below: NDArray[np.bool_]
    above: NDArray[np.bool_]
    sequence: Ints
    local: Floats
    best: Floats
    sink: Ints


@kernel
def optimise_windows(space: SearchSpace, state: OrderState, tries: int) -> None:
    """Improve an order by exact optimisation of random windows. The score never falls.

    Args:
        space: search space.
        state: state of the order, which must be prepared.
        tries: number of windows.
    """
    n = len(state.order)
    arrays = WindowArrays(
        np.empty(n, dtype=np.int64),
        np.zeros(n, dtype=np.bool_),
        np.zeros(n, dtype=np.bool_),
        np.zeros(n, dtype=np.bool_),
        np.empty(n, dtype=np.int64),
        np.empty((LARGEST, 1 << LARGEST)),
        np.empty(1 << LARGEST),
        np.empty(1 << LARGEST, dtype=np.int64),
    )
    for _ in range(tries):
        size = min(n, 4 + draw(state.random, LARGEST - 5))
        loose = draw(state.random, 8)
        count = _grow(space, state, arrays, size, loose)
        low, high, count = _close(space, state, arrays, count)
        if 2 < count <= LARGEST:
            begin = _rearrange(space, state, arrays, low, high)
            _optimise(space, state, arrays, begin, count)
        for index in range(min(count, n)):
            arrays.inside[arrays.members[index]] = False


@kernel
def _linked(space: SearchSpace, state: OrderState, variable: int, edge: int) -> Any:
    """Return whether the network has an edge between a variable and a neighbour, in either direction."""
    bit, reverse_bit = space.bit[edge], space.bit[space.reverse[edge]]
    if bit >= 0 and contains(space.masks, state.chosen[variable], bit):
        return True
    return reverse_bit >= 0 and contains(space.masks, state.chosen[space.neighbours[edge]], reverse_bit)


@kernel
def _grow(space: SearchSpace, state: OrderState, arrays: WindowArrays, size: int, loose: int) -> Any:
    """Collect a random connected set of variables in `arrays.members`. Return their number.

    The set grows along edges of the network and, with a probability of `loose` percent, to any neighbour.
    """
    members, inside = arrays.members, arrays.inside
    members[0] = draw(state.random, len(state.order))
    inside[members[0]] = True
    count = 1
    for _ in range(20 * size):
        if count == size:
            break
        variable = members[draw(state.random, count)]
        degree = space.first[variable + 1] - space.first[variable]
        if degree == 0:
            break
        edge = space.first[variable] + draw(state.random, degree)
        other = space.neighbours[edge]
        if not inside[other] and (draw(state.random, 100) < loose or _linked(space, state, variable, edge)):
            inside[other] = True
            members[count] = other
            count += 1
    return count


@kernel
def _close(space: SearchSpace, state: OrderState, arrays: WindowArrays, count: int) -> Any:
    """Add the variables that are descendants and ancestors of members.

    Return the first and the last position of the members, and the number of members. If there are too many, this number is
    larger than `LARGEST`.
    """
    order, position, members = state.order, state.position, arrays.members
    inside, below, above = arrays.inside, arrays.below, arrays.above
    low, high = len(order), 0
    for index in range(count):
        low, high = min(low, position[members[index]]), max(high, position[members[index]])
    for index in range(low, high + 1):
        below[order[index]] = False
        above[order[index]] = False
    for index in range(low, high + 1):
        child = order[index]
        for edge in range(space.first[child], space.first[child + 1]):
            if space.bit[edge] >= 0 and contains(space.masks, state.chosen[child], space.bit[edge]):
                parent = space.neighbours[edge]
                if inside[parent] or (position[parent] >= low and below[parent]):
                    below[child] = True
                    break
    for index in range(high, low - 1, -1):
        child = order[index]
        if inside[child] or above[child]:
            for edge in range(space.first[child], space.first[child + 1]):
                if space.bit[edge] >= 0 and contains(space.masks, state.chosen[child], space.bit[edge]):
                    above[space.neighbours[edge]] = True
    for index in range(low, high + 1):
        variable = order[index]
        if below[variable] and above[variable] and not inside[variable]:
            members[count] = variable
            inside[variable] = True
            count += 1
            if count > LARGEST:
                break
    return low, high, count


@kernel
def _rearrange(space: SearchSpace, state: OrderState, arrays: WindowArrays, low: int, high: int) -> Any:
    """Move the members next to each other, before their descendants. Return the position of the first member."""
    order, inside, below = state.order, arrays.inside, arrays.below
    place, member = 0, 0
    for index in range(low, high + 1):
        if not inside[order[index]] and not below[order[index]]:
            arrays.sequence[place] = order[index]
            place += 1
    begin = low + place
    for index in range(low, high + 1):
        if inside[order[index]]:
            arrays.members[member] = order[index]
            arrays.sequence[place] = order[index]
            member += 1
            place += 1
    for index in range(low, high + 1):
        if not inside[order[index]] and below[order[index]]:
            arrays.sequence[place] = order[index]
            place += 1
    order[low : high + 1] = arrays.sequence[:place]
    update_range(space, state, low, high)
    return begin


@kernel
def _fill_local(space: SearchSpace, state: OrderState, arrays: WindowArrays, begin: int, count: int) -> None:
    """Compute `arrays.local`: the best score of each member if a set of members, and no other member, comes before it."""
    full = 1 << count
    for member in range(count):
        child, local = arrays.members[member], arrays.local[member]
        local[:full] = -np.inf
        for entry in range(space.start[child], space.start[child + 1]):
            subset, fits = 0, True
            for edge in range(space.first[child], space.first[child + 1]):
                if space.bit[edge] >= 0 and contains(space.masks, entry, space.bit[edge]):
                    place = state.position[space.neighbours[edge]] - begin
                    if place >= count:
                        fits = False
                        break
                    if place >= 0:
                        subset |= 1 << place
            if fits:
                local[subset] = max(local[subset], space.scores[entry])
                if subset == 0:  # all later sets have lower scores
                    break
        for bit in range(count):
            flag = 1 << bit
            for subset in range(0, full, 2 * flag):
                for index in range(subset, subset + flag):
                    local[index + flag] = max(local[index + flag], local[index])


@kernel
def _optimise(space: SearchSpace, state: OrderState, arrays: WindowArrays, begin: int, count: int) -> None:
    """Put the members in their best order."""
    _fill_local(space, state, arrays, begin, count)
    members, local, best, sink = arrays.members, arrays.local, arrays.best, arrays.sink
    full = 1 << count
    best[0] = 0.0
    for subset in range(1, full):
        best[subset] = -np.inf
        for member in range(count):
            if subset >> member & 1:
                rest = subset ^ (1 << member)
                value = best[rest] + local[member, rest]
                if value > best[subset]:
                    best[subset] = value
                    sink[subset] = member
    present = 0.0
    for member in range(count):
        present += space.scores[state.chosen[members[member]]]
    if best[full - 1] > present + _EPSILON:
        subset = full - 1
        for place in range(count - 1, -1, -1):
            state.order[begin + place] = members[sink[subset]]
            subset ^= 1 << sink[subset]
        update_range(space, state, begin, begin + count - 1)
