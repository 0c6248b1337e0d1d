"""Enumerate the networks whose cost is at most a limit: depth-first search over the families of one child after the other.

Equation (1) of `branch` gives each family an excess, so that the cost of a network is

    bound  +  sum of excess[family]  +  sum of m[cut] * (limit[cut] - sum of coefficient[cut, family])  (2)

The last sum is never negative. The search gives a family to one child at a time. Let the deficit of a family in a cut be
the highest coefficient of a family of this child, minus its own. As soon as the deficits in a cut sum to more than the
highest coefficients of all children minus the limit, the last sum rises. So the search adds

    m[cut] * max(0, sum of deficits - room[cut]),  room[cut] = sum over children of the highest coefficient - limit[cut]  (3)

A child that has no family yet adds the least by which a family that closes no cycle would raise the sum of excesses and (3).
These numbers can be added because (3) is convex. If the total exceeds the limit, the search goes back. The child with the
fewest families left is next.

Networks of one equivalence class have the same skeleton and the same v-structures. Often they also have the same score, and
then one of them is enough. An edge u -> v is covered if v has the parents of u, and u, and no others. The network
with this edge reversed is equivalent (Chickering 1995). So the search rejects networks with a covered
edge u -> v in which u comes after v in a given order, if the rules allow the reversed edge. At least one network of each
class remains, because each reversal leaves fewer edges against the order. If a network of the class has no edge against the
order, exactly one remains: from every other network of the class, a sequence of reversals leads to this one, and each of
them turns an edge into its direction (Chickering 1995, theorem 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Ints, Masks, kernel
from dagneal.graphs.knowledge import Constraints
from dagneal.proofs.branch import RootBound
from dagneal.proofs.families import Families
from dagneal.scoring.sets import mask_sizes, pack_flags, word_count

_BUFFER = 1 << 12  # networks that a call returns
_MOST_WEIGHT = 1 << 50  # higher multipliers are lowered, so that products fit into 64 bits; the bounds still hold
_STEPS = 1 << 16  # steps of a call; a step takes a few microseconds


class Choices(NamedTuple):
    """Families among which a search chooses, for variables that are numbered by their place in an order.

    Attributes:
        families: index of each family in `Families`.
        start: index of each child's first family, followed by the number of families.
        masks: parents of each family as bit masks.
        sizes: number of parents of each family.
        costs: cost of each family, in units of 2^-40 nats.
        excess: excess of each family, in the same units. The excesses of a child ascend.
        bound: cost of a network with excess 0.
        turns: matrix; `turns[u, v]` is True if the search rejects the covered edge u -> v.
        limits: parent limit of each variable.
        weights: multiplier of each cut, in units.
        room: room of each cut in (3).
        begin: index of each family's first deficit, followed by the number of deficits.
        cuts: cut of each deficit.
        deficits: deficits that are not 0.
    """

    families: Ints
    start: Ints
    masks: Masks
    sizes: Ints
    costs: Ints
    excess: Ints
    bound: int
    turns: NDArray[np.bool_]
    limits: Ints
    weights: Ints
    room: Ints
    begin: Ints
    cuts: Ints
    deficits: Ints

    @classmethod
    def of(cls, families: Families, root: RootBound, kept: Ints, order: Sequence[int], rules: Constraints | None) -> Choices:
        """Return the choices of a search.

        Args:
            families: all families.
            root: bound of the cost, divided among families.
            kept: indices of the families to choose from.
            order: order of the variables, from first to last.
            rules: edges that are allowed and required, and parent limits, if all networks of an equivalence class that obey
                them have the same cost; None to enumerate all networks.
        """
        n = families.variables
        position = np.empty(n + 1, dtype=np.int64)
        position[list(order)], position[-1] = np.arange(n), n  # the last entry is for padding
        kept = kept[np.lexsort((kept, root.excess[kept], position[families.children[kept]]))]
        start = np.searchsorted(position[families.children[kept]], np.arange(n + 1))
        flags = np.zeros((len(kept), n + 1), dtype=bool)
        np.put_along_axis(flags, position[families.rows[kept]], True, axis=1)
        masks = pack_flags(flags[:, :n], word_count(n))
        turns, limits = np.zeros((n, n), dtype=bool), np.full(n, n)
        if rules is not None:
            reversible = rules.allowed.T & ~rules.required
            turns, limits = np.tril(reversible[np.ix_(order, order)], -1), rules.limits[list(order)]
        used = np.flatnonzero(root.multipliers)
        weights, room, rows = np.minimum(root.multipliers[used], _MOST_WEIGHT), np.zeros(len(used), dtype=np.int64), []
        bound = root.bound
        for place, cut in enumerate(root.cuts[index] for index in used.tolist()):
            coefficients = cut.coefficients_of(families.children[kept], families.rows[kept])
            highest = np.array([coefficients[lo:hi].max(initial=0) for lo, hi in pairwise(start.tolist())])
            rows.append(np.repeat(highest, np.diff(start)) - coefficients)
            room[place] = highest.sum() - cut.limit
            bound += int(weights[place]) * max(0, -int(room[place]))
        matrix = np.array(rows, dtype=np.int64).reshape(len(used), len(kept))
        owner, cuts = np.nonzero(matrix.T)
        return cls(
            families=kept,
            start=start,
            masks=masks,
            sizes=mask_sizes(masks),
            costs=families.costs[kept],
            excess=root.excess[kept],
            bound=bound,
            turns=turns,
            limits=limits,
            weights=weights,
            room=np.maximum(room, 0),
            begin=np.searchsorted(owner, np.arange(len(kept) + 1)),
            cuts=cuts,
            deficits=matrix[cuts, owner],
        )


class _State(NamedTuple):
    """The state of a search. At depth d, the search has a family for d variables, and tries the families of another.

    Attributes:
        depth: array with the depth; -1 if the search is finished.
        children: at each depth, the variable whose families are tried.
        places: at each depth, its next family.
        spent: at each depth, the excesses of the families of other variables, and (3).
        rest: at each depth, the same plus the least that each other variable without a family adds.
        below: at each depth, the descendants of each variable, with itself, as bit masks.
        chosen: family of each variable; -1 for none.
        first: working memory: the first family of each variable that fits.
        least: working memory: the least that each variable adds.
        used: sum of the deficits of chosen families in each cut.
    """

    depth: Ints
    children: Ints
    places: Ints
    spent: Ints
    rest: Ints
    below: Masks
    chosen: Ints
    first: Ints
    least: Ints
    used: Ints

    @classmethod
    def begin(cls, n: int, words: int, cuts: int) -> _State:
        """Return a state without families."""
        below = np.zeros((n, n, words), dtype=np.uint64)
        below[0] = pack_flags(np.eye(n, dtype=bool), words)
        one, used = np.zeros(1, dtype=np.int64), np.zeros(cuts, dtype=np.int64)
        children, places, spent, rest, first, least = np.zeros((6, n), dtype=np.int64)
        chosen = np.full(n, -1, dtype=np.int64)
        return cls(one, children, places, spent, rest, below, chosen, first, least, used)


class _Found(NamedTuple):
    """Networks that a call has found.

    Attributes:
        networks: family of each variable, one row for each network.
        costs: costs of the networks, in units.
        keys: keys of the networks; see `_write_key`.
    """

    networks: Ints
    costs: Ints
    keys: Masks


class Enumeration:
    """A search for all networks whose cost is at most a limit.

    Args:
        choices: families to choose from.
        limit: highest cost of a network, in units.

    Attributes:
        steps: number of families that the search has tried.
        finished: whether the search has found all networks.
    """

    def __init__(self, choices: Choices, limit: int) -> None:
        n, words = len(choices.start) - 1, choices.masks.shape[1]
        self._choices, self._state = choices, _State.begin(n, words, len(choices.weights))
        self._found = _Found(
            np.empty((_BUFFER, n), dtype=np.int64),
            np.empty(_BUFFER, dtype=np.int64),
            np.empty((_BUFFER, 2, n, words), dtype=np.uint64),
        )
        self.steps = 0
        self.finished = not _next_child(choices, limit - choices.bound, 0, self._state)

    def advance(self, limit: int, steps: int = _STEPS) -> tuple[Ints, Ints, list[bytes]]:
        """Continue for a moment. Return the networks that were found, as (networks, costs, keys).

        A network is a row with the index of the family of each variable, in the order of the variables. Two networks are
        equivalent if their keys are equal.

        Args:
            limit: highest cost of a network, in units. It may become lower from call to call.
            steps: number of steps after which this call ends.
        """
        if self.finished:
            return self._found.networks[:0], self._found.costs[:0], []
        count, used = _search(self._choices, limit, steps, self._state, self._found)
        self.steps += used
        self.finished = bool(self._state.depth[0] < 0)
        keys = [key.tobytes() for key in self._found.keys[:count]]
        return self._choices.families[self._found.networks[:count]], self._found.costs[:count].copy(), keys


@kernel
def _search(choices: Choices, limit: int, steps: int, state: _State, found: _Found) -> tuple[int, int]:
    """Continue a search until it is finished, until `found` is full, or for a number of steps. Return (networks, steps)."""
    masks, excess, chosen, below = choices.masks, choices.excess, state.chosen, state.below
    n, words, most = len(chosen), masks.shape[1], limit - choices.bound
    depth, count, used = state.depth[0], 0, 0
    while depth >= 0 and count < len(found.costs) and used < steps:
        child, left = state.children[depth], most - state.rest[depth]
        if chosen[child] >= 0:
            _use(choices, chosen[child], -1, state.used)
            chosen[child] = -1
        family, end, added = state.places[depth], choices.start[child + 1], 0
        while family < end and excess[family] <= left:
            if _fits(choices, family, child, depth, state):
                added = _increase(choices, family, state.used)
                if added <= left:
                    break
            family += 1
        if family == end or excess[family] > left:
            depth -= 1
            continue
        state.places[depth] = family + 1
        chosen[child] = family
        _use(choices, family, 1, state.used)
        used += 1
        if depth == n - 1:
            cost = 0
            for v in range(n):
                cost += choices.costs[chosen[v]]
            if cost <= limit:
                for v in range(n):
                    found.networks[count, v] = chosen[v]
                found.costs[count] = cost
                _write_key(masks, found, count)
                count += 1
            continue
        for v in range(n):  # the ancestors of the child get its descendants
            above = False
            for word in range(words):
                above |= below[depth, v, word] & masks[family, word] != np.uint64(0)
            for word in range(words):
                more = below[depth, child, word] if above else np.uint64(0)
                below[depth + 1, v, word] = below[depth, v, word] | more
        state.spent[depth + 1] = state.spent[depth] + added
        if _next_child(choices, most, depth + 1, state):
            depth += 1
    state.depth[0] = depth
    return count, used


@kernel
def _next_child(choices: Choices, most: int, depth: int, state: _State) -> bool:
    """Choose the variable with the fewest families for a depth. Return False if all networks exceed the limit `most`."""
    start, excess, chosen, first, least = choices.start, choices.excess, state.chosen, state.first, state.least
    n, total = len(chosen), state.spent[depth]
    for child in range(n):
        if chosen[child] < 0:
            first[child], least[child] = -1, most - total + 1
            family = start[child]
            while family < start[child + 1] and excess[family] < least[child]:
                if _fits(choices, family, child, depth, state):
                    if first[child] < 0:
                        first[child] = family
                    least[child] = min(least[child], _increase(choices, family, state.used))
                family += 1
            total += least[child]
            if total > most:
                return False
    fewest = 1 << 62
    for child in range(n):
        if chosen[child] < 0:
            others = total - least[child]
            families, family = 0, first[child]
            while families < fewest and family < start[child + 1] and excess[family] + others <= most:
                if _fits(choices, family, child, depth, state) and _increase(choices, family, state.used) + others <= most:
                    families += 1
                family += 1
            if families < fewest:
                fewest = families
                state.children[depth], state.places[depth], state.rest[depth] = child, first[child], others
    return True


@kernel
def _increase(choices: Choices, family: int, used: Ints) -> int:
    """Return by how much a family would raise the sum of excesses and (3)."""
    added = choices.excess[family]
    for place in range(choices.begin[family], choices.begin[family + 1]):
        cut = choices.cuts[place]
        over = used[cut] + choices.deficits[place] - choices.room[cut]
        if over > 0:
            added += choices.weights[cut] * min(over, choices.deficits[place])
    return int(added)


@kernel
def _use(choices: Choices, family: int, sign: int, used: Ints) -> None:
    """Add the deficits of a family to `used`, or subtract them."""
    for place in range(choices.begin[family], choices.begin[family + 1]):
        used[choices.cuts[place]] += sign * choices.deficits[place]


@kernel
def _fits(choices: Choices, family: int, child: int, depth: int, state: _State) -> bool:
    """Return whether a family closes no cycle and makes no covered edge that is rejected."""
    masks, sizes, turns, limits, chosen = choices.masks, choices.sizes, choices.turns, choices.limits, state.chosen
    for word in range(masks.shape[1]):
        if masks[family, word] & state.below[depth, child, word] != np.uint64(0):
            return False
    for u in range(child + 1, len(chosen)):  # u -> child
        other = chosen[u]
        if turns[u, child] and other >= 0 and sizes[family] <= limits[u] and _covers(masks, other, family, u):
            return False
    for v in range(child):  # child -> v
        other = chosen[v]
        if turns[child, v] and other >= 0 and sizes[other] <= limits[child] and _covers(masks, family, other, child):
            return False
    return True


@kernel
def _covers(masks: Masks, lower: int, upper: int, variable: int) -> bool:
    """Return whether the family `upper` has the parents of the family `lower`, and a variable, and no others."""
    for word in range(masks.shape[1]):
        bit = np.uint64(1) << np.uint64(variable & 63) if word == variable >> 6 else np.uint64(0)
        if masks[lower, word] | bit != masks[upper, word]:
            return False
    return True


@kernel
def _write_key(masks: Masks, found: _Found, row: int) -> None:
    """Write the key of a network: the neighbours of each variable, and its parents that are part of v-structures.

    Both together determine all v-structures: two of these parents that are not adjacent form a v-structure.
    """
    network, keys = found.networks, found.keys
    n, words, one = network.shape[1], masks.shape[1], np.uint64(1)
    for v in range(n):
        for word in range(words):
            keys[row, 0, v, word] = masks[network[row, v], word]
            keys[row, 1, v, word] = np.uint64(0)
    for v in range(n):
        for u in range(n):
            if masks[network[row, v], u >> 6] >> np.uint64(u & 63) & one:
                keys[row, 0, u, v >> 6] |= one << np.uint64(v & 63)
    for v in range(n):
        for u in range(n):
            if masks[network[row, v], u >> 6] >> np.uint64(u & 63) & one:
                apart = False  # whether another parent is not adjacent to u
                for word in range(words):
                    own = one << np.uint64(u & 63) if word == u >> 6 else np.uint64(0)
                    apart |= masks[network[row, v], word] & ~keys[row, 0, u, word] & ~own != np.uint64(0)
                if apart:
                    keys[row, 1, v, u >> 6] |= one << np.uint64(u & 63)
