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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import inf
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints
from dagneal.proofs.certificate import Node, Proof, Step, fingerprint
from dagneal.proofs.cluster_cuts import Cluster, Support, edge_weights
from dagneal.proofs.facets import Facet
from dagneal.proofs.families import UNITS, Families
from dagneal.proofs.relaxation import Cut, Relaxation
from dagneal.proofs.separation import facet_groups, project_support, separate_clusters, separate_facets
from dagneal.runtime.run import Run

_IDLE = 8  # rounds after which a cut with multiplier 0 is removed
_STALLED, _PATIENCE = 0.02, 3  # the gap must fall by this share in so many rounds; otherwise facets are tried
_BRANCH, _ROUNDS = 0.05, 12  # the same for branching
_FIRST_COLUMNS = 10  # families of each child that the relaxation starts with
_MOST_COLUMNS = 300  # families that are added to the relaxation at a time
_FIX = 0.02  # families are removed if at least this share can be removed
_POSITIVE = 1e-7  # smallest weight that counts
_CLUSTER_WORK, _FACET_WORK = 10_000, 20  # work of a search from a seed, and of a facet for each child and parent set
_LARGEST = 1.99 * 2.0**60  # units of r; the checker accepts less than 2^61
TOLERANCE = UNITS // 10**6  # units; scores have rounding errors, so smaller differences have no meaning


class _Multipliers(NamedTuple):
    """Cuts and their positive multipliers, in units of 2^-40 nats."""

    cuts: list[Cut]
    values: list[int]


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
        steps: multipliers that removed families.
        best: multipliers that proved the bound; None if the node above proves it.
        pair: variables whose order divides the node into two parts, if any.
        parts: these parts.
    """

    before: NDArray[np.bool_]
    alive: NDArray[np.bool_]
    bound: int
    cuts: list[Cut] = field(default_factory=list)
    columns: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    weights: Floats = field(default_factory=lambda: np.empty(0))
    steps: list[_Multipliers] = field(default_factory=list)
    best: _Multipliers | None = None
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


class Progress(NamedTuple):
    """The state of a proof attempt at one moment.

    Attributes:
        seconds: seconds since the start of the attempt.
        cost: cost of the best network so far, in units of 2^-40 nats.
        bound: lower bound on the cost of all networks, in the same units.
    """

    seconds: float
    cost: int
    bound: int


class Prover:
    """A proof attempt for the best network of a score table.

    Args:
        families: families of the table.
        chosen: family of each child in the best known network.
        run: `Run` object with a deadline and progress.
        work: amount of work after which the attempt stops; no limit by default. Work is counted, not measured in seconds, so
            the same attempt stops at the same place on all machines.
        improve: function that gets an order of the variables and returns a better order, or the same.
        margin: families are removed only if all networks that contain them cost at least this much more than the best
            network, in units of 2^-40 nats.
        cuts: cuts to start with.

    Attributes:
        best: family of each child in the best network so far.
        cost: its cost, in units of 2^-40 nats.
        bound: lower bound on the cost of all networks, in the same units. The proof is complete if it is at most
            `TOLERANCE` below the cost.
        nodes: number of nodes of the search tree so far.
        trace: progress so far.
        stopped: reason for an early end: `"time"` or `"effort"`; empty if the proof is complete.
    """

    def __init__(
        self,
        families: Families,
        chosen: Ints,
        run: Run,
        work: float = inf,
        improve: Callable[[Ints], Ints] | None = None,
        margin: int = 0,
        cuts: Sequence[Cut] = (),
    ) -> None:
        self.families, self.run, self.margin = families, run, margin
        self.best = chosen
        self.cost: int = sum(families.costs[chosen].tolist())  # Python integers cannot overflow
        self.bound, self.nodes = 0, 0
        self.trace: list[Progress] = []
        self.stopped = ""
        self._work, self._improve = work, improve
        self._begun = perf_counter()
        self._rounded = b""  # the last order
        self._numbers = count()
        self._heap: list[tuple[int, int, _Node]] = []
        shape, nothing = (families.variables,) * 2, _Multipliers([], [])  # no cost is negative, so no cuts prove the bound 0
        alive = np.ones(len(families), dtype=bool)
        self._root = _Node(np.zeros(shape, dtype=bool), alive, 0, list(cuts), best=nothing)

    @property
    def target(self) -> int:
        """Bound that completes the proof."""
        return self.cost - TOLERANCE

    def prove(self) -> bool:
        """Search until the best network is proved optimal, or until the time or the work ends. Return whether it is."""
        self._push(self._root)
        while self._heap and not self._must_stop():
            node = heapq.heappop(self._heap)[2]
            if node.bound >= self.target:
                continue
            self.nodes += 1
            self._cut(node)
            if node.bound < self.target and self._must_stop():
                self._push(node)
            elif node.bound < self.target:
                self._branch(node)
                for part in node.parts:
                    self._push(part)
        self._raise_bound(self.target)
        if self.bound < self.target:
            self._must_stop()  # records the reason
        return self.bound >= self.target

    def _push(self, node: _Node) -> None:
        """Add a node to the nodes that are not finished."""
        if node.bound < self.target:
            heapq.heappush(self._heap, (node.bound, next(self._numbers), node))

    def _must_stop(self) -> bool:
        """Return whether the time or the work is used up, or the bound cannot rise any more, and record the reason."""
        if not self.stopped:
            hopeless = self._work <= 0 or self.families.complete_below <= self.bound < self.target
            self.stopped = "time" if self.run.deadline.passed else "effort" if hopeless else ""
        return bool(self.stopped)

    def _raise_bound(self, present: int) -> None:
        """Set the bound to the lowest of all nodes. `present` is the bound of the node that is not among them now."""
        lowest = min(present, self.target, self.families.complete_below, *(bound for bound, _, _ in self._heap[:1]))
        self.bound = max(self.bound, lowest)
        if not self.trace or self.trace[-1][1:] != (self.cost, self.bound):
            self.trace.append(Progress(perf_counter() - self._begun, self.cost, self.bound))
            gap = max(self.cost - self.bound, 0)
            closed = round(100 * (1.0 - gap / max(self.trace[0].cost - self.trace[0].bound, gap, 1)))
            self.run.progress(f"proof: gap {gap / UNITS:.3f}", closed, 100)

    def _cut(self, node: _Node) -> None:
        """Add cuts to the relaxation of a node until its bound is proved, or until the bound hardly rises."""
        relaxation = Relaxation(self.families, self._first_columns(node), 2.0 * self.cost / UNITS + 1.0)
        if node.cuts:
            relaxation.add_cuts(node.cuts)
        pool = _Pool(self.families)
        gaps: list[float] = []
        spent = 0
        while True:
            units, reduced, lowest, bound = self._solve(relaxation, node, pool)
            self._work -= relaxation.work - spent
            spent = relaxation.work
            self._round(relaxation)
            multipliers = _positive(relaxation.cuts, units)
            if bound > node.bound:
                node.bound, node.best = bound, multipliers
            self._raise_bound(node.bound)
            useless = node.alive & (reduced - lowest[self.families.children] >= self.target + self.margin - bound)
            if useless.sum() > _FIX * node.alive.sum():
                node.steps.append(multipliers)
                node.alive &= ~useless
            if node.bound >= self.target or self._must_stop():
                return
            keep = node.alive[relaxation.columns]
            idle = pool.idle(relaxation.cuts, relaxation.multipliers)
            if (~keep).mean() > 0.1 or (idle >= _IDLE).sum() > 20 + 0.1 * len(idle):
                relaxation.keep(keep, idle < _IDLE)
                relaxation.solve()
            gaps.append(self.target - bound)
            cuts = self._separate(relaxation, pool, gaps)
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

    def _solve(self, relaxation: Relaxation, node: _Node, pool: _Pool) -> tuple[Ints, Ints, Ints, int]:
        """Solve the relaxation with all families.

        Return the multipliers in units, r of all families, its lowest value for each child, and (1).
        """
        while True:
            relaxation.solve()
            units = pool.to_units(relaxation.cuts, relaxation.multipliers)
            reduced, lowest, bound = pool.reduce(relaxation.cuts, units, node.alive)
            outside = node.alive.copy()
            outside[relaxation.columns] = False
            missing = np.flatnonzero(outside)
            slack = relaxation.prices[self.families.children[missing]] - reduced[missing] / UNITS
            wanted = missing[slack > 1e-7]
            if not len(wanted) or self.run.deadline.passed:  # (1) holds for any multipliers
                return units, reduced, lowest, bound
            wanted = wanted[np.argsort(-slack[slack > 1e-7], kind="stable")[:_MOST_COLUMNS]]
            relaxation.add_columns(np.sort(wanted))

    def _separate(self, relaxation: Relaxation, pool: _Pool, gaps: list[float]) -> list[Cut]:
        """Return new cuts that the solution of the relaxation violates. Facets are tried if cluster cuts gain little."""
        n, support = self.families.variables, self._support(relaxation.columns, relaxation.weights)
        pairs = zip(relaxation.cuts, relaxation.multipliers, strict=True)
        tight = [cut for cut, multiplier in pairs if isinstance(cut, Cluster) and multiplier > 0.0]
        cuts: list[Cut] = [cut for cut in separate_clusters(support, n, tight) if cut not in pool]
        self._work -= _CLUSTER_WORK * (len(tight) + len(support.weights))
        if not cuts or (len(gaps) > _PATIENCE and gaps[-1] > (1.0 - _STALLED) * gaps[-1 - _PATIENCE]):
            groups = facet_groups(support, n)
            self._work -= _FACET_WORK * sum(len(group) << len(group) for group in groups)
            cuts += [cut for cut in separate_facets(support, groups) if cut not in pool]
        return cuts

    def _support(self, columns: Ints, weights: Floats) -> Support:
        """Return the families with a positive weight."""
        chosen = columns[weights > _POSITIVE]
        return Support(self.families.children[chosen], self.families.rows[chosen], weights[weights > _POSITIVE])

    def _round(self, relaxation: Relaxation) -> None:
        """Round the weights to an order and improve it. Keep its best network if it is better than all others."""
        n = self.families.variables
        weights = edge_weights(self._support(relaxation.columns, relaxation.weights), n)
        order = np.empty(n, dtype=np.int64)
        before = weights.sum(axis=0)  # weight of the edges from variables that are not in the order yet
        for place in range(n):
            order[place] = first = int(before.argmin())
            before -= weights[first]
            before[first] = np.inf
        if order.tobytes() == self._rounded:
            return
        self._rounded = order.tobytes()
        for each in [order] if self._improve is None else [order, self._improve(order)]:
            chosen = self.families.choose(each.tolist())
            if chosen is not None and (cost := sum(self.families.costs[chosen].tolist())) < self.cost:
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
        best = self._root.best
        assert best is not None  # the root has no node above
        alive, multipliers = self._root.alive, np.array(best.values, dtype=np.int64)
        reduced, lowest, bound = _Pool(self.families).reduce(best.cuts, multipliers, alive)
        return RootBound(alive, reduced - lowest[self.families.children], bound, best.cuts, multipliers)

    def certificate(self) -> Proof:
        """Return the proof that no network costs less than `bound`."""
        families = self.families
        rows = families.rows[self.best]
        numbers: dict[object, int] = {}  # index of each cut that the proof uses
        cuts: list[Cut] = []

        def freeze_step(step: _Multipliers) -> Step:
            for cut in step.cuts:
                if cut.key not in numbers:
                    numbers[cut.key] = len(cuts)
                    cuts.append(_shorten(cut, families))
            indices = [numbers[cut.key] for cut in step.cuts]
            return Step(np.array(indices, dtype=np.int64), np.array(step.values, dtype=np.int64))

        def freeze(node: _Node) -> Node:
            last = [] if node.best is None or any(step is node.best for step in node.steps) else [node.best]
            steps = tuple(map(freeze_step, [*node.steps, *last]))
            return Node(steps, node.pair, tuple(map(freeze, node.parts)))

        root = freeze(self._root)
        return Proof(
            names=families.names,
            score_name=families.score_name,
            max_parents=families.max_parents,
            fingerprint=fingerprint(families),
            parents=tuple(tuple(row[row >= 0].tolist()) for row in rows),
            gap=max(self.cost - self.bound, 0),
            cuts=tuple(cuts),
            root=root,
        )


class _Pool:
    """The cuts of a node, with their coefficients for all families."""

    def __init__(self, families: Families) -> None:
        self._families = families
        self._entries: dict[object, tuple[NDArray[np.int32], NDArray[np.int32]]] = {}
        self._idle: dict[object, int] = {}

    def __contains__(self, cut: Cut) -> bool:
        return cut.key in self._entries

    def to_units(self, cuts: Sequence[Cut], multipliers: Floats) -> Ints:
        """Return multipliers as integers, in units of 2^-40 nats. If r could overflow, make all of them smaller."""
        largest = sum(m * self._entry(cut)[1].max(initial=0) for cut, m in zip(cuts, multipliers.tolist(), strict=True))
        room = (_LARGEST - float(self._families.costs.max())) / UNITS
        units: Ints = (multipliers * (UNITS * min(1.0, room / max(largest, 1.0)))).astype(np.int64)  # (1) holds for all
        return units

    def reduce(self, cuts: Sequence[Cut], multipliers: Ints, alive: NDArray[np.bool_]) -> tuple[Ints, Ints, int]:
        """Return r of all families, its lowest value for each child, and the bound (1)."""
        families = self._families
        reduced, bound = families.costs.copy(), 0
        for cut, multiplier in zip(cuts, multipliers.tolist(), strict=True):
            index, coefficients = self._entry(cut)
            if multiplier:
                reduced[index] += np.int64(multiplier) * coefficients
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

    def _entry(self, cut: Cut) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        key = cut.key
        if key not in self._entries:
            coefficients = cut.coefficients_of(self._families.children, self._families.rows)
            index = np.flatnonzero(coefficients)
            self._entries[key] = index.astype(np.int32), coefficients[index].astype(np.int32)
        return self._entries[key]


def _positive(cuts: Sequence[Cut], multipliers: Ints) -> _Multipliers:
    """Return the cuts with positive multipliers."""
    positive = np.flatnonzero(multipliers)
    return _Multipliers([cuts[index] for index in positive.tolist()], multipliers[positive].tolist())


def _shorten(cut: Cluster | Facet, families: Families) -> Cluster | Facet:
    """Return a cut without the coefficients that no family has."""
    if isinstance(cut, Cluster):
        return cut
    point = project_support(Support(families.children, families.rows, np.ones(len(families))), cut.members)
    coefficients = np.zeros_like(cut.coefficients)
    coefficients[point.children, point.parents] = cut.coefficients[point.children, point.parents]
    return cut._replace(coefficients=coefficients)
