"""Compute the penalty weights that make the ground state of the QUBO the best network.

Notation: f_i(S) is the cost (minus the log score) of child i with parents S. p_i is the polynomial of child i in H_score.
Its coefficients are w_i(j) for a single parent j, w_i(jk) for two parents j and k, and so on. m is the parent limit, and n
is the number of variables. The weights are delta_max (parent limit), delta_consist (edges follow the order variables) and
delta_trans (order variables have no cyclic triangle). Order variables are complete if every pair of variables has an order
variable. They are chordal if only the pairs that are needed to exclude cycles have an order variable.

`paper`: the bounds of O'Gorman et al. plus one. They hold for at most two parents and complete order variables.
Let D'_ji = max(0, -w_i(j) - (sum over k of min(0, w_i(jk)))). Then delta_max(i) = 1 + (largest D'_ji over all j),
delta_trans = 1 + (largest D'_ji over all j and i), and delta_consist = 1 + (n - 2) delta_trans.

`tight`: each weight is just above the gain from violating its constraint.
Let D_ji be the largest cost increase from removing the edge j -> i: the maximum, over allowed sets S that contain j, of
(smallest cost of a subset of S without j) - f_i(S).

- delta_max(i): Let S be a set of m + e parents, e > 0. delta_max(i) is above
  ((smallest cost of an allowed subset of S) - p_i(S)) / (e (e + 1) / 2) for every S. So replacing S by that subset lowers
  the energy. If there are too many sets S to enumerate, delta_max(i) is above a bound on the increase of p_i from removing
  one parent j, for every j. The bound is minus the sum of the negative coefficients of all sets that contain j.
- delta_consist of j -> i is above D_ji. So dropping an edge that contradicts its order variable lowers the energy.
- delta_trans of a triangle is above the smallest of six values: E_v and F_v of its three variables v. E_v is the largest
  cost increase from removing all parents of v. F_v is the sum of D_vi over the children i of v. It bounds the cost increase
  from removing all edges v -> i. E_v and F_v count only edges within the triangle's biconnected component of the order
  variables, because cycles do not leave the component.
  Proof: Take a cyclic triangle, and the variable v with the smallest of the six values. Change the order variables of v in
  the component so that v comes first (if the value is E_v) or last (if it is F_v). This creates no cyclic triangle and
  removes at least one. Dropping the edges that contradict the new order costs at most E_v or F_v. Repeat until no triangle
  is cyclic. A complete or chordal graph without cyclic triangles has no cycle, so the bound holds for both kinds of order
  variables.
- For complete order variables, one weight delta_trans for all triangles, above every D_ji, is also enough. Complete order
  variables form a tournament. A tournament with a cycle has two variables with the same number of successors. Reversing
  their order variable removes at least one more cyclic triangle than it creates. The code computes both kinds of weights and
  uses those with the smaller sum.
  For chordal order variables this single weight is too small. Counterexample: the edges x -> a -> y -> b -> z -> c -> x and
  x -> y -> z -> x. Only the triangle x y z is cyclic, but two edges must be dropped.

`gap`: delta_consist and delta_trans are above (cost of a known network) - (sum over children of the smallest cost). So a
state that violates the order has more energy than the known network. delta_max is the same as in `tight`, because the
polynomial of a set with too many parents may be far below the cost of every allowed set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dagneal.base.kernels import Floats, Ints, Masks
from dagneal.qubo.order_variables import OrderVariables
from dagneal.qubo.polynomial import MAX_ENUMERATED, Child
from dagneal.qubo.reduction import Reduction
from dagneal.scoring.orders import random_orders
from dagneal.scoring.sets import find_masks, is_subset, pack_flags

PenaltyKind = Literal["paper", "tight", "gap"]
_MARGIN = 10.0  # added to the bounds, in nats; with a smaller margin, annealers violate constraints more often
_PAPER_MARGIN = 1.0
_GRID = 2.0**-10  # weights of order constraints are multiples of this value; see `_round_up`
_PAPER_GRID = 2.0**-26
_KNOWN_ORDERS = 200  # number of random orders; the best network of these is the known network of `gap`


@dataclass(frozen=True, eq=False)
class Penalties:
    """The weights of the constraints, for one or more problems with the same QUBO variables.

    Attributes:
        maximum: weight delta_max of each child's parent limit, shape (problems, children).
        consistency: weight delta_consist of each edge, shape (problems, parents, children).
        transitivity: weight delta_trans of each triangle, shape (problems, triangles).
        exclusion: weight of each pair that must not have edges in both directions, shape (problems, pairs).
        auxiliary: one array per child with two weights per auxiliary variable, shape (problems, auxiliary variables, 2). The
            first weight is the penalty if the variable is 0 but should be 1; the second is the penalty if it is 1 but
            should be 0.
    """

    maximum: Floats
    consistency: Floats
    transitivity: Floats
    exclusion: Floats
    auxiliary: tuple[Floats, ...]

    def map(self, change: Callable[[Floats], Floats]) -> Penalties:
        """Return new penalties with a function applied to each array of weights.

        Args:
            change: function that takes and returns an array of weights.
        """
        return Penalties(
            change(self.maximum),
            change(self.consistency),
            change(self.transitivity),
            change(self.exclusion),
            tuple(map(change, self.auxiliary)),
        )


def penalties(
    kind: PenaltyKind, children: list[Child], limit: int, order: OrderVariables, reductions: list[Reduction]
) -> Penalties:
    """Return the weights of all constraints.

    Args:
        kind: rule for the weights, `paper`, `tight` or `gap`; the module docstring explains them.
        children: score polynomial of each child.
        limit: parent limit.
        order: order variables.
        reductions: auxiliary variables of each child.
    """
    if kind == "paper":
        return _paper(children, order)
    problems = len(children[0].costs)
    removal_costs = _by_edge(children, [child.removal_costs for child in children])  # D
    auxiliary = tuple(_influences(child, reduced) for child, reduced in zip(children, reductions, strict=True))
    maximum = np.stack([np.maximum(oversize_gain(child, limit), 0.0) for child in children], axis=1) + _MARGIN
    if kind == "gap":
        gap = (_known_cost(children) - sum(child.lowest.min(axis=1) for child in children) + _MARGIN)[:, None]
        gap = _round_up(gap)
        return Penalties(
            maximum,
            np.broadcast_to(gap[:, None], removal_costs.shape),
            np.broadcast_to(gap, (problems, len(order.triangles))),
            np.broadcast_to(gap, (problems, len(order.exclusive))),
            auxiliary,
        )
    forward, backward = order.exclusive.T if len(order.exclusive) else np.zeros((2, 0), dtype=np.int64)
    exclusion = np.minimum(removal_costs[:, forward, backward], removal_costs[:, backward, forward])
    triangles = _triangle_costs(children, removal_costs, order)
    consistency, transitivity, exclusion = (
        _round_up(weights + _MARGIN) for weights in (removal_costs, triangles, exclusion)
    )
    return Penalties(maximum, consistency, transitivity, exclusion, auxiliary)


def _round_up(weights: Floats, grid: float = _GRID) -> Floats:
    """Round weights up to multiples of a power of two, so that their sums are exact.

    In the Ising form, each field is a sum of weights, and many fields are 0. With rounding errors these fields would be
    about 1e-12 instead. Simulated annealing chooses its last temperature by the smallest nonzero field. So it would cool
    much too far and waste most of its sweeps.
    """
    rounded: Floats = np.ceil(weights / grid) * grid
    return rounded


def _influences(child: Child, reduced: Reduction) -> Floats:
    """Return the smallest sufficient weights of each auxiliary variable, shape (problems, auxiliary variables, 2).

    The first weight is for a variable that is 0 but should be 1; the second is for a variable that is 1 but should be 0.
    """
    weights = child.weights[:, find_masks(child.sets.masks, reduced.terms)]
    influences = [product.influence(weights) for product in reduced.products]
    return np.stack(influences, axis=1) if influences else np.zeros((len(weights), 0, 2))


def _by_edge(children: list[Child], values: list[Floats]) -> Floats:
    """Combine the values of all children into one array of shape (problems, parents, children).

    The values of each child have the shape (problems, possible parents of the child).
    """
    n = len(children)
    matrix = np.zeros((len(children[0].costs), n, n))
    for child, parent_values in enumerate(values):
        matrix[:, children[child].parents, child] = parent_values
    return matrix


def _triangle_costs(children: list[Child], removal_costs: Floats, order: OrderVariables) -> Floats:
    """Return the lower bound on the weight delta_trans of each triangle; see `tight` in the module docstring."""
    costs = np.zeros((len(removal_costs), len(order.triangles)))
    for component, members in enumerate(order.components):
        first = [children[v].removal_cost(_parent_mask(children[v], members)) for v in members]  # E_v
        last = removal_costs[:, members][:, :, members].sum(axis=2)  # F_v
        inside = order.component == component
        corners = np.searchsorted(members, order.triangles[inside])
        costs[:, inside] = np.minimum(np.stack(first, axis=1), last)[:, corners].min(axis=2)
    if not order.complete:
        return costs
    uniform = np.broadcast_to(removal_costs.max(axis=(1, 2))[:, None], costs.shape)
    return np.where((uniform.sum(axis=1) < costs.sum(axis=1))[:, None], uniform, costs)


def _parent_mask(child: Child, members: Ints) -> Masks:
    """Return the possible parents of a child that are in `members`, as a bit mask."""
    return pack_flags(np.isin(child.parents, members), child.sets.masks.shape[1])


def oversize_gain(child: Child, limit: int) -> Floats:
    """Return the lower bound on the weight delta_max of a child's parent limit, shape (problems,).

    See `tight` in the module docstring. The bound is minus infinity if the child cannot have more than `limit` parents.

    Args:
        child: score polynomial of the child.
        limit: parent limit.
    """
    gain = np.full(len(child.costs), -np.inf)
    if len(child.parents) <= limit:
        return gain
    if len(child.parents) > MAX_ENUMERATED:
        for having, _ in child.sets.steps:
            gain = np.maximum(gain, -np.minimum(child.weights[:, having], 0.0).sum(axis=1))
        return gain
    gains = [
        ((lowest - values) / (excess * (excess + 1) / 2)).max(axis=1) for excess, values, lowest in child.oversize(limit)
    ]
    return np.concatenate(gains)


def _known_cost(children: list[Child]) -> Floats:
    """Return the lowest cost of the networks of random orders, shape (problems,).

    In the network of an order, each child has its best parents among the variables before it.
    """
    best = np.full(len(children[0].costs), np.inf)
    for orders in random_orders(len(children), _KNOWN_ORDERS, 0):
        rank = np.argsort(orders, axis=1)
        total = np.zeros((len(best), len(orders)))
        for index, child in enumerate(children):
            before = pack_flags(rank[:, child.parents] < rank[:, [index]], child.sets.masks.shape[1])
            for order, mask in enumerate(before):
                total[:, order] += child.costs[:, is_subset(child.sets.masks, mask)].min(axis=1)
        best = np.minimum(best, total.min(axis=1))
    return best


def _paper(children: list[Child], order: OrderVariables) -> Penalties:
    """Return the weights of the paper: the bounds of O'Gorman et al. plus one.

    If there are only two variables, the paper's delta_consist would be 1, and a graph with edges in both directions could be
    the ground state. So the code then sets delta_consist to delta_trans, which is 1 + (largest D'_ji).
    """
    n, problems = len(children), len(children[0].costs)
    gains = []  # D'_ji: largest gain from the edge j -> i (the paper's equation for Delta')
    for child in children:
        gain = np.zeros((problems, len(child.parents)))
        for index, (having, _) in enumerate(child.sets.steps):
            single = child.sets.sizes[having] == 1
            best_pairs = np.minimum(child.weights[:, having[~single]], 0.0).sum(axis=1)
            gain[:, index] = -child.weights[:, having[single]].sum(axis=1) - best_pairs
        gains.append(np.maximum(gain, 0.0))
    maximum = _round_up(np.stack([gain.max(axis=1, initial=0.0) for gain in gains], axis=1), _PAPER_GRID)
    transitivity = maximum.max(axis=1, keepdims=True) + _PAPER_MARGIN
    consistency = (n - 2) * transitivity + _PAPER_MARGIN if n > 2 else transitivity
    return Penalties(
        maximum + _PAPER_MARGIN,
        np.broadcast_to(consistency[:, :, None], (problems, n, n)),
        np.broadcast_to(transitivity, (problems, len(order.triangles))),
        np.zeros((problems, 0)),
        tuple(np.zeros((problems, 0, 2)) for _ in children),
    )
