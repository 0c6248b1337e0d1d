"""Check proofs in exact integers. This module solves nothing, and shares no code with the search for proofs.

For any multipliers m >= 0 of valid cuts, each network costs at least

    - sum of m[cut] * limit[cut]  +  sum over children of the lowest r[family],                                          (1)
    r = cost + sum of m[cut] * coefficient[cut].

So a network that contains a family f of the child v costs at least (1) - lowest r of v + r[f]. If this is not below the cost
that the proof claims, f can be removed. A leaf is proved if (1) is not below this cost, or if a child has no family left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError, short_repr
from dagneal.base.kernels import Ints
from dagneal.proofs.certificate import Node, Proof, fingerprint
from dagneal.proofs.cluster_cuts import Cluster
from dagneal.proofs.facets import MAX_FACET_SIZE, Facet
from dagneal.proofs.families import UNITS, Families

_MAX_DEPTH = 500  # of the search tree
_LARGEST = 1 << 61  # units; sums of larger numbers could overflow


class ProofError(InputError):
    """A proof that does not hold. The message says where."""


def check_proof(proof: Proof, families: Families) -> int:
    """Check a proof. Return the cost that no network is below, in units of 2^-40 nats.

    Args:
        proof: proof to check.
        families: families of the score table, counted again.

    Raises:
        ProofError: the proof does not hold.
    """
    for name, what in (("names", "variables"), ("score_name", "score"), ("max_parents", "parent limit")):
        if getattr(proof, name) != getattr(families, name):
            own, other = short_repr(getattr(proof, name)), short_repr(getattr(families, name))
            raise ProofError(f"it is about the {what} {own}, not {other}")
    if proof.fingerprint != fingerprint(families):
        raise ProofError("the proof belongs to other data: the local scores differ")
    if proof.gap < 0:
        raise ProofError(f"the gap is {proof.gap}; it must not be negative")
    target = _cost(proof, families) - proof.gap
    if target > families.complete_below:  # then a better network could contain a family that is left out
        most = families.complete_below // UNITS
        raise ProofError(f"the network is more than {most:,} nats below the sum of the best local scores")
    coefficients = [_check_cut(cut, families, f"cut {number}") for number, cut in enumerate(proof.cuts)]
    limits = [int(cut.limit) for cut in proof.cuts]
    n = families.variables
    open_nodes = [(proof.root, np.ones(len(families), dtype=bool), np.zeros((n, n), dtype=bool), "root")]
    while open_nodes:
        node, alive, before, name = open_nodes.pop()
        if name.count(".") > _MAX_DEPTH:
            raise ProofError(f"the search tree has more than {_MAX_DEPTH} levels")
        if _check_node(node, families, coefficients, limits, alive, target, name):
            continue
        if node.pair is None or len(node.parts) != 2:
            raise ProofError(f"{name} is neither proved nor divided into two parts")
        u, v = node.pair
        if not (0 <= u < n and 0 <= v < n and u != v):
            raise ProofError(f"{name} has an invalid pair of variables: {u} and {v}")
        for part, (first, second), side in zip(node.parts, ((u, v), (v, u)), "ab", strict=True):
            order = _add_order(before, first, second)
            early = order[families.children[:, None], families.rows] & (families.rows >= 0)  # a child before its parent
            open_nodes.append((part, alive & ~early.any(axis=1), order, f"{name}.{side}"))
    return target


def _cost(proof: Proof, families: Families) -> int:
    """Return the cost of the network of a proof."""
    if len(proof.parents) != families.variables:
        raise ProofError(f"the network has {len(proof.parents)} variables instead of {families.variables}")
    cost = 0
    done: set[int] = set()
    for child, parents in enumerate(proof.parents):
        own = slice(families.start[child], families.start[child + 1])
        row = np.full(families.rows.shape[1], -1)
        row[: len(parents)] = parents[: len(row)]
        matches = np.flatnonzero((families.rows[own] == row).all(axis=1))
        if len(parents) > len(row) or len(matches) != 1:
            raise ProofError(f"the parents of variable {child} are not in the score table")
        cost += int(families.costs[own][matches[0]])
    while len(done) < families.variables:
        ready = {v for v, parents in enumerate(proof.parents) if v not in done and done.issuperset(parents)}
        if not ready:
            raise ProofError("the network has a cycle")
        done |= ready
    return cost


def _check_cut(cut: Cluster | Facet, families: Families, name: str) -> Ints:
    """Check that all networks satisfy a cut. Return the coefficients of all families."""
    members = np.array(cut.members, dtype=np.int64)
    if len(members) < 2 or members[0] < 0 or members[-1] >= families.variables or (np.diff(members) <= 0).any():
        raise ProofError(f"{name} has invalid variables")
    index = np.full(families.variables + 1, -1)
    index[members] = np.arange(len(members))  # the last entry stays -1, for padding
    own, inside = index[families.children], index[families.rows]
    if isinstance(cut, Cluster):
        if cut.k not in (1, 2):
            raise ProofError(f"{name} has k = {cut.k} instead of 1 or 2")
        counted: Ints = ((own >= 0) & ((inside >= 0).sum(axis=1) >= cut.k)).astype(np.int64)
        return counted
    size = len(members)
    if size > MAX_FACET_SIZE or cut.coefficients.shape != (size, 1 << size):
        raise ProofError(f"{name} has coefficients of the wrong shape")
    if not 0 <= int(cut.limit) < _LARGEST or int(cut.coefficients.min()) < 0 or int(cut.coefficients.max()) > _LARGEST >> 8:
        raise ProofError(f"{name} has negative or too large numbers")
    if _largest_sum(cut.coefficients) > cut.limit:
        raise ProofError(f"{name} does not hold for all networks")
    bits = np.where(inside >= 0, 1 << np.maximum(inside, 0), 0).sum(axis=1)
    return np.where(own >= 0, cut.coefficients[own, bits], 0)


def _largest_sum(coefficients: Ints) -> int:
    """Return the largest sum of coefficients of a DAG, by a dynamic programme over the last variable."""
    size, subsets = coefficients.shape
    every = np.arange(subsets)
    best = coefficients.copy()  # the largest coefficient of each variable with parents in a set
    for parent in range(size):
        has = every[every >> parent & 1 == 1]
        best[:, has] = np.maximum(best[:, has], best[:, has ^ (1 << parent)])
    highest = np.zeros(subsets, dtype=np.int64)
    members = (every[:, None] >> np.arange(size) & 1).sum(axis=1)
    for count in range(1, size + 1):
        layer = every[members == count]
        highest[layer] = -1
        for last in range(size):
            has = layer[layer >> last & 1 == 1]
            rest = has ^ (1 << last)
            highest[has] = np.maximum(highest[has], highest[rest] + best[last, rest])
    return int(highest[-1])


def _check_node(
    node: Node,
    families: Families,
    coefficients: list[Ints],
    limits: list[int],
    alive: NDArray[np.bool_],
    target: int,
    name: str,
) -> bool:
    """Apply the steps of a node and remove families from `alive`. Return whether the node is proved."""
    for number, step in enumerate(node.steps):
        if (np.bincount(families.children[alive], minlength=families.variables) == 0).any():
            return True
        reduced, total, largest = families.costs.copy(), 0, int(families.costs.max())
        for cut, multiplier in zip(step.cuts.tolist(), step.multipliers.tolist(), strict=True):
            if not 0 <= cut < len(limits) or multiplier < 0:
                raise ProofError(f"step {number} of {name} has an unknown cut or a negative multiplier")
            largest += multiplier * int(coefficients[cut].max())
            if largest >= _LARGEST:
                raise ProofError(f"step {number} of {name} has too large multipliers")
            reduced += multiplier * coefficients[cut]
            total -= multiplier * limits[cut]
        lowest = np.minimum.reduceat(np.where(alive, reduced, 2 * _LARGEST), families.start[:-1])
        bound = total + sum(lowest.tolist())
        if bound >= target:
            return True
        alive &= reduced - lowest[families.children] < target - bound
    return bool((np.bincount(families.children[alive], minlength=families.variables) == 0).any())


def _add_order(before: NDArray[np.bool_], first: int, second: int) -> NDArray[np.bool_]:
    """Return the pairs in `before`, `first` before `second`, and all pairs that follow."""
    earlier, later = before[:, first].copy(), before[second].copy()
    earlier[first] = later[second] = True
    return before | np.outer(earlier, later)
