"""Rearrangement of orders by minimum cuts: give a child a better parent set that the order forbids.

A parent set does not fit if some of its parents come after the child. To use it, these parents have to move before the
child. In a large network, many paths can lead from the child to these parents, and each path must be cut somewhere. Moves of
single variables seldom find the cheapest places, which can be many edges away. A minimum cut finds them. The source is the
child, the sinks are the parents, and the capacity of an edge is the loss of score if the edge is removed or reversed. The
variables on the side of the sinks move before the variables on the side of the source. Then local search improves the order.
The new order is kept if its score is not lower.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints, kernel
from dagneal.search.climb import (
    ClimbArrays,
    climb,
    contains,
    descend,
    draw,
    enqueue,
    scan,
    scan_holders,
    settle,
    toggle,
    update_range,
)
from dagneal.search.space import OrderState, SearchSpace

SLACK = 20.0  # nats by which a cut may cost more than the new parent set gains: capacities are estimates
_LEAST = 0.01  # lowest capacity: of two free cuts, the one with fewer edges is better
_MOST = 1e12  # highest capacity: the penalty for a missing required edge is even larger
_SCALES = 10  # a parent set is one of the best 2^0, 2^1, ... 2^9 sets
_EPSILON = 1e-9


class Edges(NamedTuple):
    """The edges of the network that an order gives, and working memory for cuts.

    Attributes:
        first: bounds in `parent`; the edges into child c are `first[c]` to `first[c + 1] - 1`.
        parent: parent of each edge.
        child: child of each edge.
        link: index of the edge in `SearchSpace.neighbours`, as an entry of the child.
        out_first: bounds in `out`, for each parent.
        out: edges from each parent.
        capacity: loss of score if the edge is removed or reversed; negative if unknown.
        flow: flow through each edge.
        below: `below[v]` is True if v is a descendant of the source.
        above: `above[v]` is True if v is a sink, or an ancestor of a sink.
        sink: `sink[v]` is True if v is a sink.
        reached: `reached[v]` is True if v is on the side of the source.
        via: edge through which the search for a path reached each variable.
        queue: variables that the search for a path has reached.
        sequence: variables in their new order.
    """

    first: Ints
    parent: Ints
    child: Ints
    link: Ints
    out_first: Ints
    out: Ints
    capacity: Floats
    flow: Floats
    below: NDArray[np.bool_]
    above: NDArray[np.bool_]
    sink: NDArray[np.bool_]
    reached: NDArray[np.bool_]
    via: Ints
    queue: Ints
    sequence: Ints

    @classmethod
    def create(cls, space: SearchSpace) -> Edges:
        """Return new arrays.

        Args:
            space: search space of the orders.
        """
        n, room = len(space.start) - 1, len(space.neighbours)
        return cls(
            first=np.empty(n + 1, dtype=np.int64),
            parent=np.empty(room, dtype=np.int64),
            child=np.empty(room, dtype=np.int64),
            link=np.empty(room, dtype=np.int64),
            out_first=np.empty(n + 1, dtype=np.int64),
            out=np.empty(room, dtype=np.int64),
            capacity=np.empty(room),
            flow=np.empty(room),
            below=np.zeros(n, dtype=np.bool_),
            above=np.zeros(n, dtype=np.bool_),
            sink=np.zeros(n, dtype=np.bool_),
            reached=np.zeros(n, dtype=np.bool_),
            via=np.empty(n, dtype=np.int64),
            queue=np.empty(n, dtype=np.int64),
            sequence=np.empty(n, dtype=np.int64),
        )


class CutArrays(NamedTuple):
    """Working memory of `improve_by_cuts`.

    Attributes:
        edges: edges of the network.
        trial: state of a rearranged order. It shares the random generator and the counts of the original state.
        climb: working memory of the local search.
    """

    edges: Edges
    trial: OrderState
    climb: ClimbArrays

    @classmethod
    def create(cls, space: SearchSpace, state: OrderState) -> CutArrays:
        """Return new arrays.

        Args:
            space: search space.
            state: state of the order that is improved.
        """
        trial = OrderState.start(space, state.order, 0)._replace(random=state.random, counts=state.counts)
        return cls(Edges.create(space), trial, ClimbArrays.create(space))


def search_orders(
    space: SearchSpace, state: OrderState, centres: Ints, start: bool, cuts: int, visits: int, restarts: int
) -> None:
    """Improve an order by local search, then by cuts, then by perturbations. The score never falls.

    Args:
        space: search space.
        state: state of the order.
        centres: variables that get better parent sets by cuts, and around which the order is perturbed.
        start: True to compute the arrays of the state from its order, and to begin with local search.
        cuts: number of cuts; see `improve_by_cuts`.
        visits: number of visits after which no perturbation begins; see `climb`.
        restarts: number of perturbations after which none begins.
    """
    _search(space, state, CutArrays.create(space, state), centres, start, cuts, visits, restarts)


@kernel
def _search(
    space: SearchSpace,
    state: OrderState,
    arrays: CutArrays,
    centres: Ints,
    start: bool,
    cuts: int,
    visits: int,
    restarts: int,
) -> None:
    """Search as described in `search_orders`.

    This is the only kernel of the search for orders that Python calls: each such kernel is compiled with all functions that
    it calls, which takes seconds.
    """
    if start:
        settle(space, state, arrays.climb)
    if cuts > 0:
        improve_by_cuts(space, state, arrays, centres, cuts)
    climb(space, state, arrays.climb, centres, visits, restarts)


@kernel
def improve_by_cuts(space: SearchSpace, state: OrderState, arrays: CutArrays, centres: Ints, tries: int) -> None:
    """Improve an order by rearrangements that give random children a better parent set. The score never falls.

    Args:
        space: search space.
        state: state of the order, which must be prepared.
        arrays: working memory.
        centres: variables that are tried as children.
        tries: number of pairs (child, parent set) that are tried.
    """
    n = len(state.order)
    edges, trial = arrays.edges, arrays.trial
    list_edges(space, state, edges)
    for _ in range(tries):
        source = centres[draw(state.random, len(centres))]
        better = state.chosen[source] - space.start[source]
        if better == 0:
            continue
        # Sets with high scores are tried more often.
        entry = space.start[source] + draw(state.random, min(better, 1 << draw(state.random, _SCALES)))
        limit = space.scores[entry] - space.scores[state.chosen[source]] + SLACK
        high = mark_sinks(space, state, edges, source, entry)
        mark_paths(state, edges, source, high)
        if find_cut(space, state, edges, source, high, limit):
            _copy(state, trial)
            _rearrange(space, trial, edges, state.position[source], high)
            _settle(space, state, trial, arrays.climb, state.position[source], high)
            if trial.score[0] >= state.score[0] - _EPSILON:
                _copy(trial, state)
                list_edges(space, state, edges)
        for index in range(n):
            edges.sink[index] = edges.below[index] = edges.above[index] = False


@kernel
def list_edges(space: SearchSpace, state: OrderState, edges: Edges) -> None:
    """List the edges of the network, by child and by parent. Forget the capacities."""
    n = len(state.order)
    first, parent, out_first = edges.first, edges.parent, edges.out_first
    for variable in range(n + 1):
        out_first[variable] = 0
    count = 0
    for child in range(n):
        first[child] = count
        for link in range(space.first[child], space.first[child + 1]):
            if space.bit[link] >= 0 and contains(space.masks, state.chosen[child], space.bit[link]):
                parent[count], edges.child[count], edges.link[count] = space.neighbours[link], child, link
                edges.capacity[count] = -1.0
                out_first[parent[count]] += 1
                count += 1
    first[n] = count
    for variable in range(n):
        out_first[variable + 1] += out_first[variable]
    for edge in range(count - 1, -1, -1):
        out_first[parent[edge]] -= 1
        edges.out[out_first[parent[edge]]] = edge


@kernel
def mark_sinks(space: SearchSpace, state: OrderState, edges: Edges, source: int, entry: int) -> Any:
    """Mark the members of a parent set that come after the source. Return their last position."""
    high = state.position[source]
    for link in range(space.first[source], space.first[source + 1]):
        if space.bit[link] >= 0 and contains(space.masks, entry, space.bit[link]):
            place = state.position[space.neighbours[link]]
            if place > state.position[source]:
                edges.sink[space.neighbours[link]] = True
                high = max(high, place)
    return high


@kernel
def mark_paths(state: OrderState, edges: Edges, source: int, high: int) -> None:
    """Mark the descendants of the source and the ancestors of the sinks, up to the position `high`."""
    order, position, below, above, parent = state.order, state.position, edges.below, edges.above, edges.parent
    below[source] = True
    edges.queue[0], count = source, 1
    while count:
        count -= 1
        variable = edges.queue[count]
        for index in range(edges.out_first[variable], edges.out_first[variable + 1]):
            child = edges.child[edges.out[index]]
            if not below[child] and position[child] <= high:
                below[child] = True
                edges.queue[count] = child
                count += 1
    for index in range(high, position[source], -1):
        variable = order[index]
        if edges.sink[variable]:
            above[variable] = True
        if above[variable] and below[variable]:
            for edge in range(edges.first[variable], edges.first[variable + 1]):
                above[parent[edge]] = True
    above[source] = True


@kernel
def edge_capacity(space: SearchSpace, state: OrderState, edges: Edges, edge: int, reverse: bool) -> Any:
    """Return the loss of score if the parent of an edge comes after the child. With `reverse`, it can become its child."""
    words, masks, before, scores = space.words, space.masks, state.before, space.scores
    parent, child, link = edges.parent[edge], edges.child[edge], edges.link[edge]
    now = state.chosen[child]
    toggle(before, child, space.bit[link])
    loss = scores[now] - scores[scan(words, masks, before, child, now + 1, space.start[child + 1])]
    toggle(before, child, space.bit[link])
    back = space.reverse[link]
    if reverse and space.bit[back] >= 0:
        own, held = state.chosen[parent], space.holders_first
        toggle(before, parent, space.bit[back])
        new = scan_holders(words, masks, before, parent, space.holders, held[back], held[back + 1], own)
        toggle(before, parent, space.bit[back])
        loss -= scores[new] - scores[own]
    return min(max(loss, _LEAST), _MOST)


@kernel
def find_cut(space: SearchSpace, state: OrderState, edges: Edges, source: int, high: int, limit: float) -> Any:
    """Find a minimum cut between the source and the sinks by augmenting paths. Return whether it costs at most `limit`.

    `edges.reached` marks the side of the source.
    """
    below, above, capacity, flow = edges.below, edges.above, edges.capacity, edges.flow
    for index in range(state.position[source], high + 1):
        variable = state.order[index]
        if below[variable] and above[variable]:
            for edge in range(edges.first[variable], edges.first[variable + 1]):
                flow[edge] = 0.0
                if capacity[edge] < 0.0:
                    capacity[edge] = edge_capacity(space, state, edges, edge, True)
    for index in range(edges.out_first[source], edges.out_first[source + 1]):
        # The limit contains the gain of the source, so its edges must not count it again. The first flow is the difference.
        edge = edges.out[index]
        if above[edges.child[edge]] and below[edges.child[edge]]:
            flow[edge] = capacity[edge] - edge_capacity(space, state, edges, edge, False)
    total = 0.0
    while total <= limit:
        for index in range(state.position[source], high + 1):
            edges.reached[state.order[index]] = False
        sink = _find_path(edges, source)
        if sink < 0:
            return True
        total += _augment(edges, source, sink)
    return False


@kernel
def _find_path(edges: Edges, source: int) -> Any:
    """Search for a path with free capacity from the source to a sink. Return the sink; -1 if there is no path.

    `edges.via` has the edges of the path.
    """
    below, above, reached, queue, via = edges.below, edges.above, edges.reached, edges.queue, edges.via
    reached[source] = True
    queue[0], head, tail = source, 0, 1
    while head < tail:
        variable = queue[head]
        head += 1
        sink = -1
        for index in range(edges.out_first[variable], edges.out_first[variable + 1]):
            edge = edges.out[index]
            other = edges.child[edge]
            free = edges.capacity[edge] - edges.flow[edge] > _EPSILON
            if free and above[other] and below[other] and not reached[other]:
                reached[other] = True
                via[other] = edge
                queue[tail] = other
                tail += 1
                if edges.sink[other]:
                    sink = other
        if sink >= 0:
            return sink
        if variable == source:
            continue
        for edge in range(edges.first[variable], edges.first[variable + 1]):
            other = edges.parent[edge]
            if edges.flow[edge] > _EPSILON and above[other] and below[other] and not reached[other]:
                reached[other] = True
                via[other] = edge
                queue[tail] = other
                tail += 1
    return -1


@kernel
def _augment(edges: Edges, source: int, sink: int) -> Any:
    """Send as much flow as possible along the path of `_find_path`. Return the amount."""
    capacity, flow, parent, child, via = edges.capacity, edges.flow, edges.parent, edges.child, edges.via
    amount, variable = np.inf, sink
    while variable != source:
        edge = via[variable]
        if child[edge] == variable:
            amount, variable = min(amount, capacity[edge] - flow[edge]), parent[edge]
        else:
            amount, variable = min(amount, flow[edge]), child[edge]
    variable = sink
    while variable != source:
        edge = via[variable]
        if child[edge] == variable:
            flow[edge] += amount
            variable = parent[edge]
        else:
            flow[edge] -= amount
            variable = child[edge]
    return amount


@kernel
def _rearrange(space: SearchSpace, state: OrderState, edges: Edges, low: int, high: int) -> None:
    """Put the variables on the side of the sinks before those on the side of the source.

    The new order has four parts: variables that are not descendants of the source, the side of the sinks, the side of the
    source, and other descendants of the source.
    """
    place = low
    for part in range(4):
        for index in range(low, high + 1):
            variable = state.order[index]
            below = edges.below[variable] or edges.sink[variable]
            if not below:
                own = 0
            elif not edges.above[variable]:
                own = 3
            elif edges.reached[variable]:
                own = 2
            else:
                own = 1
            if own == part:
                edges.sequence[place] = variable
                place += 1
    for index in range(low, high + 1):
        state.order[index] = edges.sequence[index]
    update_range(space, state, low, high)


@kernel
def _settle(space: SearchSpace, state: OrderState, trial: OrderState, arrays: ClimbArrays, low: int, high: int) -> None:
    """Improve the order of `trial` by local search, starting with the variables whose parents differ from `state`."""
    length = 0
    for index in range(low, high + 1):
        variable = trial.order[index]
        if trial.chosen[variable] != state.chosen[variable]:
            length = enqueue(arrays, variable, length)
            for link in range(space.first[variable], space.first[variable + 1]):
                length = enqueue(arrays, space.neighbours[link], length)
    descend(space, trial, arrays, length, 0)


@kernel
def _copy(state: OrderState, target: OrderState) -> None:
    """Copy a state, except the random generator and the counts."""
    for index in range(len(state.order)):
        target.order[index] = state.order[index]
        target.position[index] = state.position[index]
        target.chosen[index] = state.chosen[index]
        for word in range(state.before.shape[1]):
            target.before[index, word] = state.before[index, word]
    target.score[0] = state.score[0]
