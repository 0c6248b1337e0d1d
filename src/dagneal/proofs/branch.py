"""Prove that a network is optimal, or how far it can be from the optimum: branch and cut over families.

The linear relaxation gives a lower bound on the cost of all networks (see `relaxation`). Cuts raise it: cluster cuts first,
and facets of small DAG polytopes when cluster cuts gain little. The bound does not depend on the accuracy of HiGHS. For any
multipliers m >= 0, each network costs at least

    - sum of m[cut] * limit[cut]  +  sum over children of the lowest r[family],  r = cost + sum of m[cut] * coefficient  (1)

because the coefficients of its families sum to at most the limit of each cut. (1) is computed in exact integers. If (1) with
the lowest r of a child replaced by the r of another family reaches the cost of the best network, no better network contains
this family, and it is removed. If cuts no longer raise the bound, the search branches: u comes before v in the order, or v
before u.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints
from dagneal.proofs.certificate import Node, Proof, Step, fingerprint
from dagneal.proofs.cluster_cuts import Cluster, Support, edge_weights, find_clusters, find_cycles, shortest_paths
from dagneal.proofs.facets import Facet, Point, find_facet, project
from dagneal.proofs.families import UNITS, Families
from dagneal.proofs.relaxation import Cut, Relaxation
from dagneal.runtime.run import Run

_MOST_CLUSTERS, _MOST_FACETS = 60, 60  # cuts that a round adds
_IDLE = 8  # rounds after which a cut with multiplier 0 is removed
_STALLED, _PATIENCE = 0.02, 3  # the gap must fall by this share in so many rounds; otherwise facets are tried
_BRANCH, _ROUNDS = 0.05, 12  # the same for branching
_FACET_SIZES = (4, 6, 8, 10)  # variables of a facet
_LEAST_FACET = 1e-3  # smallest violation of a facet
_FIRST_COLUMNS = 10  # families of each child that the relaxation starts with
_MOST_COLUMNS = 300  # families that are added to the relaxation at a time
_FIX = 0.02  # families are removed if at least this share can be removed
_POSITIVE = 1e-7  # smallest weight that counts
TOLERANCE = UNITS // 10**6  # units; scores have rounding errors, so smaller differences have no meaning


@dataclass
class _Node:
    """A part of the search: networks that obey an order of some pairs of variables.

    Attributes:
        before: matrix; `before[u, v]` is True if u comes before v.
        alive: families that a better network can contain.
        bound: lower bound on the cost of a better network, in units.
        cuts: cuts to start with.
        columns: families to start with.
        weights: weights of these families in the last solution of the relaxation.
        steps: steps of the proof.
        pair: variables whose order divides the node into two parts, if any.
        parts: these parts.
    """

    before: NDArray[np.bool_]
    alive: NDArray[np.bool_]
    bound: int
    cuts: list[Cut] = field(default_factory=list)
    columns: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    weights: Floats = field(default_factory=lambda: np.empty(0))
    steps: list[Step] = field(default_factory=list)
    pair: tuple[int, int] | None = None
    parts: tuple[_Node, ...] = ()


class RootBound(NamedTuple):
    """The bound (1), divided among families: a network costs `bound`, plus the excesses of its families, or more.

    Attributes:
        alive: families that the bound holds for.
        excess: r of each family minus the lowest r of its child, in units.
        bound: lower bound on the cost of all networks of these families, in units.
        cuts: cuts.
        multipliers: multipliers of the cuts, in units.
    """

    alive: NDArray[np.bool_]
    excess: Ints
    bound: int
    cuts: list[Cut]
    multipliers: Ints


class Prover:
    """A proof attempt for the best network of a score table.

    Args:
        families: families of the table.
        chosen: family of each child in the best known network.
        run: `Run` object with a deadline and progress.
        margin: families are removed only if all networks that contain them cost at least this much more than the best
            network, in units of 2^-40 nats.
        cuts: cuts to start with.

    Attributes:
        best: family of each child in the best network so far.
        cost: its cost, in units of 2^-40 nats.
        bound: lower bound on the cost of all networks, in the same units. The proof is complete if it is at most
            `TOLERANCE` below the cost.
        nodes: number of nodes of the search tree so far.
    """

    def __init__(self, families: Families, chosen: Ints, run: Run, margin: int = 0, cuts: Sequence[Cut] = ()) -> None:
        self.families, self.run, self.margin = families, run, margin
        self.best, self.cost = chosen, int(families.costs[chosen].sum())
        self.bound, self.nodes = 0, 0
        self._numbers = count()
        before, alive = np.zeros((families.variables,) * 2, dtype=bool), np.ones(len(families), dtype=bool)
        self._root = _Node(before, alive, 0, list(cuts))
        self._cuts: dict[object, int] = {}  # index of each cut that the proof uses
        self._used: list[Cut] = []  # these cuts
        self._multipliers: list[tuple[Cut, float]] = []  # cuts of the root and their multipliers, with the highest bound

    @property
    def target(self) -> int:
        """Bound that completes the proof."""
        return self.cost - TOLERANCE

    def prove(self) -> bool:
        """Search until the best network is proved optimal. Return whether it is; False if the time ends before."""
        heap = [(0, next(self._numbers), self._root)]
        while heap and not self.run.deadline.passed:
            _, _, node = heapq.heappop(heap)
            if node.bound < self.target:
                self.nodes += 1
                self._cut(node)
                if node.bound < self.target and not self.run.deadline.passed:
                    self._branch(node)
                    for part in node.parts:
                        if part.bound < self.target:
                            heapq.heappush(heap, (part.bound, next(self._numbers), part))
                elif node.bound < self.target:
                    heapq.heappush(heap, (node.bound, next(self._numbers), node))
            self.bound = min([self.target, *(node.bound for _, _, node in heap)])
        return self.bound >= self.target

    def _cut(self, node: _Node) -> None:
        """Add cuts to the relaxation of a node until its bound is proved, or until the bound hardly rises."""
        relaxation = Relaxation(self.families, self._first_columns(node), 2.0 * self.cost / UNITS + 1.0)
        if node.cuts:
            relaxation.add_cuts(node.cuts)
        pool = _Pool(self.families)
        gaps: list[float] = []
        while not self.run.deadline.passed:
            reduced, lowest, bound = self._solve(relaxation, node, pool)
            if node is self._root and bound >= node.bound:
                self._multipliers = list(zip(relaxation.cuts, relaxation.multipliers.tolist(), strict=True))
            node.bound = max(node.bound, bound)
            self._round(relaxation)
            useless = node.alive & (reduced - lowest[self.families.children] >= self.target + self.margin - bound)
            if bound >= self.target or useless.sum() > _FIX * node.alive.sum():
                node.steps.append(self._step(relaxation))
                node.alive &= ~useless
            if node.bound >= self.target:
                return
            keep = node.alive[relaxation.columns]
            idle = pool.idle(relaxation.cuts, relaxation.multipliers)
            if (~keep).mean() > 0.1 or (idle >= _IDLE).sum() > 20 + 0.1 * len(idle):
                relaxation.keep(keep, idle < _IDLE)
                relaxation.solve()
            gaps.append(self.target - bound)
            support = self._support(relaxation.columns, relaxation.weights)
            cuts: list[Cut] = [c for c in self._clusters(support, relaxation) if c not in pool]
            if not cuts or (len(gaps) > _PATIENCE and gaps[-1] > (1.0 - _STALLED) * gaps[-1 - _PATIENCE]):
                cuts += [c for c in self._facets(support) if c not in pool]
            stalled = len(gaps) > _ROUNDS and gaps[-1] > (1.0 - _BRANCH) * gaps[-1 - _ROUNDS]
            if not cuts or stalled:
                node.cuts, node.columns, node.weights = relaxation.cuts, relaxation.columns, relaxation.weights
                return
            relaxation.add_cuts(cuts)

    def _first_columns(self, node: _Node) -> Ints:
        """Return families to start with: those of the node above, or the best of each child."""
        if len(node.columns):
            return node.columns[node.alive[node.columns]]
        rank = np.arange(len(self.families)) - self.families.start[self.families.children]
        return np.flatnonzero(node.alive & (rank < _FIRST_COLUMNS))

    def _solve(self, relaxation: Relaxation, node: _Node, pool: _Pool) -> tuple[Ints, Ints, int]:
        """Solve the relaxation with all families. Return r of all families, its lowest value for each child, and (1)."""
        while True:
            relaxation.solve()
            reduced, lowest, bound = pool.reduce(relaxation.cuts, relaxation.multipliers, node.alive)
            outside = node.alive.copy()
            outside[relaxation.columns] = False
            missing = np.flatnonzero(outside)
            slack = relaxation.prices[self.families.children[missing]] - reduced[missing] / UNITS
            wanted = missing[slack > 1e-7]
            if not len(wanted):
                return reduced, lowest, bound
            wanted = wanted[np.argsort(-slack[slack > 1e-7], kind="stable")[:_MOST_COLUMNS]]
            relaxation.add_columns(np.sort(wanted))

    def _step(self, relaxation: Relaxation) -> Step:
        """Return the present multipliers as a step of the proof."""
        multipliers = to_units(relaxation.multipliers)
        positive = np.flatnonzero(multipliers)
        numbers = []
        for index in positive.tolist():
            cut = relaxation.cuts[index]
            numbers.append(self._cuts.setdefault(cut.key, len(self._cuts)))
            if len(self._cuts) > len(self._used):
                self._used.append(cut)
        return Step(np.array(numbers, dtype=np.int64), multipliers[positive])

    def _support(self, columns: Ints, weights: Floats) -> Support:
        """Return the families with a positive weight."""
        chosen = columns[weights > _POSITIVE]
        return Support(self.families.children[chosen], self.families.rows[chosen], weights[weights > _POSITIVE])

    def _clusters(self, support: Support, relaxation: Relaxation) -> list[Cluster]:
        """Return violated cluster cuts."""
        n = self.families.variables
        seeds = {*find_cycles(support, n)}
        fractional = (support.weights < 1.0 - 1e-6) & (support.rows >= 0).any(axis=1)
        for child, row in zip(support.children[fractional], support.rows[fractional], strict=True):
            seeds.add(tuple(sorted([int(child), *row[row >= 0].tolist()])))
        for cut, multiplier in zip(relaxation.cuts, relaxation.multipliers, strict=True):
            if isinstance(cut, Cluster) and multiplier > 0.0:
                seeds.add(cut.members)
        return find_clusters(support, sorted(seeds), n, _MOST_CLUSTERS)

    def _facets(self, support: Support) -> list[Facet]:
        """Return violated facets of groups of variables, the most violated first."""
        rated: list[tuple[float, int, Facet]] = []
        for group in self._groups(support):
            members = np.array(group)
            point = _project(support, members)
            facet = find_facet(members, point, _LEAST_FACET)
            if facet is not None:
                coefficients = facet.coefficients[point.children, point.parents]
                violation = (coefficients * point.weights).sum() - facet.limit
                rated.append((-violation / np.sqrt((coefficients**2).sum()), len(rated), facet))
        return [facet for _, _, facet in sorted(rated)[:_MOST_FACETS]]

    def _groups(self, support: Support) -> list[tuple[int, ...]]:
        """Return groups of variables that are close to a variable with several families, and to each other."""
        n = self.families.variables
        lengths, _ = shortest_paths(edge_weights(support, n))
        np.fill_diagonal(lengths, 0.0)
        near = lengths + lengths.T  # there and back
        groups = set()
        for child in np.unique(support.children[support.weights < 1.0 - 1e-4]).tolist():
            group = [child]
            while len(group) < _FACET_SIZES[-1]:
                distance = near[group].min(axis=0) + 0.3 * np.minimum(near[group], 5.0).mean(axis=0)
                distance[group] = np.inf
                nearest = int(distance.argmin())
                if distance[nearest] > 4.0:
                    break
                group.append(nearest)
                if len(group) in _FACET_SIZES:
                    groups.add(tuple(sorted(group)))
            if len(group) > 2:
                groups.add(tuple(sorted(group)))
        return sorted(groups, key=lambda group: (len(group), group))

    def _round(self, relaxation: Relaxation) -> None:
        """Round the weights to an order, and keep its best network if it is better than all others."""
        families = self.families
        weights = edge_weights(self._support(relaxation.columns, relaxation.weights), families.variables)
        order, left = [], list(range(families.variables))
        while left:
            first = min(left, key=lambda v: (weights[left, v].sum(), v))
            order.append(first)
            left.remove(first)
        chosen = families.choose(order)
        if chosen is not None and (cost := int(families.costs[chosen].sum())) < self.cost:
            self.best, self.cost = chosen, cost

    def _branch(self, node: _Node) -> None:
        """Divide a node into two parts: in one, u comes before v, in the other v before u."""
        n = self.families.variables
        weights = edge_weights(self._support(node.columns, node.weights), n)
        both = np.minimum(weights, weights.T)
        open_pairs = ~(node.before | node.before.T | np.eye(n, dtype=bool))
        value = np.where(open_pairs, both + 1e-3 * (weights + weights.T) / 2, -1.0)
        u, v = (int(x) for x in np.unravel_index(np.argmax(value), value.shape))
        node.pair, node.parts = (u, v), (self._part(node, u, v), self._part(node, v, u))

    def _part(self, node: _Node, u: int, v: int) -> _Node:
        """Return the part of a node in which u comes before v."""
        before = node.before.copy()
        sources, targets = before[:, u].copy(), before[v].copy()
        sources[u] = targets[v] = True
        before |= np.outer(sources, targets)
        families = self.families
        late = before[families.children[:, None], families.rows] & (families.rows >= 0)  # child before its parent
        alive = node.alive & ~late.any(axis=1)
        possible = len(np.unique(families.children[alive])) == families.variables  # each child has a family left
        return _Node(before, alive, node.bound if possible else self.cost, list(node.cuts), node.columns)

    def root_bound(self) -> RootBound:
        """Return the bound (1) of the root for networks that cost less than `target + margin`."""
        cuts, multipliers = [cut for cut, _ in self._multipliers], np.array([value for _, value in self._multipliers])
        alive = self._root.alive
        reduced, lowest, bound = _Pool(self.families).reduce(cuts, multipliers, alive)
        return RootBound(alive, reduced - lowest[self.families.children], bound, cuts, to_units(multipliers))

    def certificate(self) -> Proof:
        """Return the proof. Call this method after `prove` has returned True."""
        families = self.families
        parents = tuple(tuple(row[row >= 0].tolist()) for row in families.rows[self.best])
        cuts = tuple(_shorten(cut, families) for cut in self._used)
        return Proof(
            names=families.names,
            score_name=families.score_name,
            max_parents=families.max_parents,
            fingerprint=fingerprint(families),
            parents=parents,
            tolerance=TOLERANCE,
            cuts=cuts,
            root=_freeze(self._root),
        )


class _Pool:
    """The cuts of a node, with their coefficients for all families."""

    def __init__(self, families: Families) -> None:
        self._families = families
        self._entries: dict[object, tuple[Ints, Ints]] = {}
        self._idle: dict[object, int] = {}

    def __contains__(self, cut: Cut) -> bool:
        return cut.key in self._entries

    def reduce(self, cuts: Sequence[Cut], multipliers: Floats, alive: NDArray[np.bool_]) -> tuple[Ints, Ints, int]:
        """Return r of all families, its lowest value for each child, and the bound (1)."""
        families = self._families
        reduced, bound = families.costs.copy(), 0
        for cut, multiplier in zip(cuts, to_units(multipliers).tolist(), strict=True):
            index, coefficients = self._entry(cut)
            if multiplier:
                reduced[index] += multiplier * coefficients
                bound -= multiplier * cut.limit
        masked = np.where(alive, reduced, np.iinfo(np.int64).max)
        lowest = np.minimum.reduceat(masked, families.start[:-1])
        return reduced, lowest, bound + sum(lowest.tolist())  # Python integers cannot overflow

    def idle(self, cuts: Sequence[Cut], multipliers: Floats) -> Ints:
        """Return the number of rounds for which each cut has had the multiplier 0."""
        keys = [cut.key for cut in cuts]
        for key, multiplier in zip(keys, multipliers, strict=True):
            self._idle[key] = 0 if multiplier > 1e-9 else self._idle.get(key, 0) + 1
        return np.array([self._idle[key] for key in keys], dtype=np.int64)

    def _entry(self, cut: Cut) -> tuple[Ints, Ints]:
        key = cut.key
        if key not in self._entries:
            coefficients = cut.coefficients_of(self._families.children, self._families.rows)
            index = np.flatnonzero(coefficients)
            self._entries[key] = index, coefficients[index]
        return self._entries[key]


def to_units(multipliers: Floats) -> Ints:
    """Return multipliers as integers, in units of 2^-40 nats."""
    units: Ints = (multipliers * UNITS).astype(np.int64)
    return units


def _freeze(node: _Node) -> Node:
    """Return a node of the search as a node of a proof."""
    return Node(tuple(node.steps), node.pair, tuple(_freeze(part) for part in node.parts))


def _shorten(cut: Cluster | Facet, families: Families) -> Cluster | Facet:
    """Return a cut without the coefficients that no family has."""
    if isinstance(cut, Cluster):
        return cut
    point = _project(Support(families.children, families.rows, np.ones(len(families))), cut.members)
    coefficients = np.zeros_like(cut.coefficients)
    coefficients[point.children, point.parents] = cut.coefficients[point.children, point.parents]
    return cut._replace(coefficients=coefficients)


def _project(support: Support, members: Ints) -> Point:
    """Return the point that weights of families give to parent sets among some variables."""
    own, bits = project(members, support.children, support.rows)
    inside = (own >= 0) & (bits > 0)
    distinct, place = np.unique((own[inside] << len(members)) | bits[inside], return_inverse=True)
    weights = np.zeros(len(distinct))
    np.add.at(weights, place, support.weights[inside])
    return Point(distinct >> len(members), distinct & ((1 << len(members)) - 1), weights)
