"""Penalty weights: how much each constraint must cost for the ground state to be the best network.

Let f_i(S) be the cost (minus the log score) of child i with parents S, m the parent limit, p_i the polynomial of H_score.

`paper`, the bounds of O'Gorman et al. plus one: with D'_ji = max(0, -w_i(j) - sum_k min(0, w_i(jk))), delta_max(i) is above
every D'_ji, delta_trans above every D', delta_consist = (n - 2) delta_trans + 1. For at most two parents and all order bits.

`tight`: let D_ji be the largest, over allowed sets S with j, of (the smallest cost of a subset of S without j) - f_i(S):
what it can cost at most to take the edge j -> i away.

- delta_max(i) is above (smallest cost of an allowed subset of S - p_i(S)) / (e (e + 1) / 2) for every S with e > 0 parents
  too many: shrinking S pays. Where there are too many S to look at: above the most that taking one parent away can cost.
- delta_consist of j -> i is above D_ji: dropping an edge that disagrees with the order bits pays.
- delta_trans of a triangle is above the smallest of its variables' E_v and F_v. E_v is what it can cost to take all parents
  of v away, F_v = sum over children i of D_vi to take v away from all its children, both within the biconnected part of the
  order bits that the triangle is in, since cycles do not leave it. Take a triangle that is a cycle and its variable with the
  smallest of these, and turn all its order bits so that it comes first (or last): no new cycle of three arises, at least
  this one goes, and edges against the new order are dropped for at most E_v (or F_v). Repeat until no triangle is a cycle;
  in a complete or chordal graph there is then no cycle at all. So this holds for every such graph of order bits.
- For all order bits, one weight above every D is proved too: a cyclic tournament has two variables with equally many
  successors, and turning the edge between them removes at least one cycle of three more than it makes. Whichever weights
  have the smaller sum are used. (For chordal graphs this is not enough: with a triangle x y z and x a y b z c around it, all
  edges one way round, one triangle is a cycle, but two edges must be dropped.)

`gap`: delta_consist and delta_trans above (the cost of a known network) - (the sum over children of the smallest cost): a
state with a violated order cannot be the best. delta_max as in `tight`, since the polynomial of a set with too many parents
may lie far below every allowed one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dagneal.base.kernels import Floats, Ints
from dagneal.qubo.order_variables import Ordering
from dagneal.qubo.polynomial import MOST_ENUMERATED, Child
from dagneal.qubo.reduction import Reduction
from dagneal.scoring.orders import random_orders

Weights = Literal["paper", "tight", "gap"]
_MARGIN = 10.0  # nats above the bounds: with less, annealers end in more states that break a constraint by a hair
_PAPER_MARGIN = 1.0
_GRID = 2.0**-10  # weights of the order are multiples of this; see `_on_grid`
_PAPER_GRID = 2.0**-26
_KNOWN_ORDERS = 200  # tried for a known network


@dataclass(frozen=True, eq=False)
class Penalties:
    """Weights of the constraints of one or more QUBOs of the same shape, in the paper's letters.

    Attributes:
        maximum: delta_max, shape (problems, children).
        consistency: delta_consist of each edge, shape (problems, parent, child).
        transitivity: delta_trans of each triangle, shape (problems, triangles).
        exclusion: the weight of each pair of edges that excludes its reverse, shape (problems, pairs).
        products: for each child the weights of its auxiliary bits, shape (problems, bits, 2): of being 0 in place of 1, and
            of being 1 in place of 0.
    """

    maximum: Floats
    consistency: Floats
    transitivity: Floats
    exclusion: Floats
    products: tuple[Floats, ...]

    def each(self, change: Callable[[Floats], Floats]) -> Penalties:
        """The same with all weights changed.

        Args:
            change: from weights to weights.
        """
        return Penalties(
            change(self.maximum),
            change(self.consistency),
            change(self.transitivity),
            change(self.exclusion),
            tuple(map(change, self.products)),
        )


def penalties(kind: Weights, children: list[Child], limit: int, order: Ordering, reductions: list[Reduction]) -> Penalties:
    """The weights of all constraints.

    Args:
        kind: which; see the top of this module.
        children: the polynomials.
        limit: the most parents of a child.
        order: the order bits.
        reductions: the auxiliary bits of each child.
    """
    if kind == "paper":
        return _paper(children, order)
    problems = len(children[0].costs)
    losses = _by_edge(children, [child.losses for child in children])
    products = tuple(_influences(child, reduced) for child, reduced in zip(children, reductions, strict=True))
    maximum = np.stack([np.maximum(oversize_gain(child, limit), 0.0) for child in children], axis=1) + _MARGIN
    if kind == "gap":
        gap = (_known_cost(children) - sum(child.lowest.min(axis=1) for child in children) + _MARGIN)[:, None]
        gap = _on_grid(gap)
        return Penalties(
            maximum,
            np.broadcast_to(gap[:, None], losses.shape),
            np.broadcast_to(gap, (problems, len(order.triangles))),
            np.broadcast_to(gap, (problems, len(order.exclusive))),
            products,
        )
    forward, backward = order.exclusive.T if len(order.exclusive) else np.zeros((2, 0), dtype=np.int64)
    exclusion = np.minimum(losses[:, forward, backward], losses[:, backward, forward])
    triangles = _triangles(children, losses, order)
    consistency, transitivity, exclusion = (_on_grid(weights + _MARGIN) for weights in (losses, triangles, exclusion))
    return Penalties(maximum, consistency, transitivity, exclusion, products)


def _on_grid(weights: Floats, grid: float = _GRID) -> Floats:
    """Rounded up to multiples of a power of two, so that their sums are exact, and equal weights equal.

    In the Ising form weights meet in one field, and many cancel. What rounding leaves there in place of zero, 1e-12 or so,
    makes simulated annealing cool to that scale, and spend most of its schedule frozen.
    """
    rounded: Floats = np.ceil(weights / grid) * grid
    return rounded


def _influences(child: Child, reduced: Reduction) -> Floats:
    """What each auxiliary bit of a child must cost when it is wrong, shape (problems, bits, 2)."""
    weights = child.weights[:, np.searchsorted(child.sets.masks, reduced.terms)]
    found = [product.influence(weights) for product in reduced.products]
    return np.stack(found, axis=1) if found else np.zeros((len(weights), 0, 2))


def _by_edge(children: list[Child], values: list[Floats]) -> Floats:
    """Values of each child's possible parents as a matrix, shape (problems, parent, child)."""
    n = len(children)
    matrix = np.zeros((len(children[0].costs), n, n))
    for child, own in enumerate(values):
        matrix[:, children[child].parents, child] = own
    return matrix


def _triangles(children: list[Child], losses: Floats, order: Ordering) -> Floats:
    """The most that it costs to break each triangle, by taking its cheapest variable out of all cycles of its part."""
    each = np.zeros((len(losses), len(order.triangles)))
    for part, members in enumerate(order.parts):
        first = np.stack([child.loss(_among(child, members)) for child in (children[v] for v in members)], axis=1)  # E_v
        last = losses[:, members][:, :, members].sum(axis=2)  # F_v
        own = order.part == part
        corners = np.searchsorted(members, order.triangles[own])
        each[:, own] = np.minimum(first, last)[:, corners].min(axis=2)
    if not order.complete:
        return each
    same = np.broadcast_to(losses.max(axis=(1, 2))[:, None], each.shape)
    return np.where((same.sum(axis=1) < each.sum(axis=1))[:, None], same, each)


def _among(child: Child, members: Ints) -> np.uint64:
    """Which of a child's possible parents are among some variables, as a mask."""
    return np.uint64(sum(1 << int(bit) for bit in np.flatnonzero(np.isin(child.parents, members))))


def oversize_gain(child: Child, limit: int) -> Floats:
    """The most that one parent too many can win, shape (problems,); minus infinity where there cannot be too many.

    Args:
        child: its polynomial.
        limit: the most parents.
    """
    found = np.full(len(child.costs), -np.inf)
    if len(child.parents) <= limit:
        return found
    if len(child.parents) > MOST_ENUMERATED:
        for having, _ in child.sets.steps:
            found = np.maximum(found, -np.minimum(child.weights[:, having], 0.0).sum(axis=1))
        return found
    gains = [
        ((lowest - values) / (excess * (excess + 1) / 2)).max(axis=1) for excess, values, lowest in child.oversize(limit)
    ]
    return np.concatenate(gains)


def _known_cost(children: list[Child]) -> Floats:
    """The cost of the best network in some orders of the variables, each child with its best parents before it."""
    best = np.full(len(children[0].costs), np.inf)
    for orders in random_orders(len(children), _KNOWN_ORDERS, 0):
        place = np.argsort(orders, axis=1)
        total = np.zeros((len(best), len(orders)))
        for child, own in enumerate(children):
            later = place[:, own.parents] > place[:, [child]]
            outside = (later.astype(np.uint64) << np.arange(len(own.parents), dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
            for line, mask in enumerate(outside):
                total[:, line] += own.costs[:, own.sets.masks & mask == 0].min(axis=1)
        best = np.minimum(best, total.min(axis=1))
    return best


def _paper(children: list[Child], order: Ordering) -> Penalties:
    """The bounds of O'Gorman et al. plus one, as in the paper.

    With two variables the paper's delta_consist would be 1, and a cycle of two could win; max D' + 1 is used there.
    """
    n, problems = len(children), len(children[0].costs)
    gains = []  # D'_ji: what an edge j -> i can win at most (equation for Delta')
    for child in children:
        own = np.zeros((problems, len(child.parents)))
        for place, (having, _) in enumerate(child.sets.steps):
            single = child.sets.sizes[having] == 1
            best_pairs = np.minimum(child.weights[:, having[~single]], 0.0).sum(axis=1)
            own[:, place] = -child.weights[:, having[single]].sum(axis=1) - best_pairs
        gains.append(np.maximum(own, 0.0))
    maximum = _on_grid(np.stack([own.max(axis=1, initial=0.0) for own in gains], axis=1), _PAPER_GRID)
    transitivity = maximum.max(axis=1, keepdims=True) + _PAPER_MARGIN
    consistency = (n - 2) * transitivity + _PAPER_MARGIN if n > 2 else transitivity
    return Penalties(
        maximum + _PAPER_MARGIN,
        np.broadcast_to(consistency[:, :, None], (problems, n, n)),
        np.broadcast_to(transitivity, (problems, len(order.triangles))),
        np.zeros((problems, 0)),
        tuple(np.zeros((problems, 0, 2)) for _ in children),
    )
