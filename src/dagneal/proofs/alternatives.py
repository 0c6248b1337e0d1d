"""List the near-optimal networks: all equivalence classes whose log score is close to that of the best network.

A network is near-optimal for a Bayes factor F if its log score is at most ln(F) below the highest. Branch and cut gives the
highest score and, for each family, the least by which a network with this family scores lower (see `branch`). With these
numbers, a depth-first search finds all near-optimal networks (see `enumeration`).

A parent set can be in a near-optimal network even if a subset scores higher, but at most by ln(F): otherwise the network
with the subset would score higher than the best network.

The search begins with a small part of ln(F), and then takes more and more. As soon as it has more classes than requested,
it continues only for better ones. So it always returns the best classes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import exp, inf, log
from numbers import Real
from typing import Any

import networkx as nx
import numpy as np

from dagneal.base.defaults import BAYES_FACTOR, MOST_CLASSES
from dagneal.base.errors import InputError, OutOfTimeError, short_repr, whole_number
from dagneal.base.kernels import Ints
from dagneal.graphs.dags import check_dag, graph_from_edges, topological_order
from dagneal.graphs.knowledge import Constraints, Edge, Knowledge, equivalence_class
from dagneal.proofs.branch import TOLERANCE, Prover
from dagneal.proofs.enumeration import Choices, Enumeration
from dagneal.proofs.families import UNITS, Families
from dagneal.runtime.run import DEFAULT_RUN, Run, check_run
from dagneal.scoring.bounded import complete_table
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.scores import is_score_equivalent
from dagneal.scoring.table import ScoreTable, check_table
from dagneal.solvers.order_search import search as search_order

MOST_STEPS = 100_000_000  # after so many steps the search ends; each takes a few microseconds
_SHARES = (0.125, 0.25, 0.5, 1.0)  # parts of ln(factor) that the search takes one after the other
_SHORT = 1 << 12  # steps of a search for a network without an edge, before branch and cut
_RESTARTS = 100  # of the order search that finds the first network


@dataclass(frozen=True, eq=False)
class NearOptimalClass:
    """An equivalence class of networks whose score is close to the highest.

    Attributes:
        dag: a network of the class. If members of the class have different scores, it has the highest of them.
        score: its log score.
        cpdag: the class as a graph. It has each reversible edge in both directions.
    """

    dag: nx.DiGraph
    score: float
    cpdag: nx.DiGraph

    def differences(self, other: NearOptimalClass) -> dict[str, list[Edge]]:
        """Return the edges that this class adds to another one, those that it removes, and those with another direction.

        Args:
            other: class to compare with.

        Returns:
            A dict with the keys `added`, `removed` and `redirected`. An edge is redirected if it has another direction, or
            if it is reversible in only one of the classes.
        """
        own, given = self.cpdag, other.cpdag
        same = [edge for edge in self.dag.edges if given.has_edge(*edge) or given.has_edge(*edge[::-1])]
        return {
            "added": [edge for edge in self.dag.edges if edge not in same],
            "removed": [(a, b) for a, b in other.dag.edges if not (own.has_edge(a, b) or own.has_edge(b, a))],
            "redirected": [
                (a, b)
                for a, b in same
                if own.has_edge(a, b) != given.has_edge(a, b) or own.has_edge(b, a) != given.has_edge(b, a)
            ],
        }


@dataclass(frozen=True, eq=False)
class NearOptimal:
    """The equivalence classes whose log score is within ln(factor) of the best network, best first.

    Attributes:
        factor: Bayes factor.
        best: log score of the best network.
        classes: equivalence classes, best first. Classes with equal scores are in a fixed order.
        stopped: reason why there can be more classes than listed: `"most"` (the requested number was reached), `"time"` or
            `"steps"` (the deadline passed, or the search was too long); None if all classes are listed.
        proved: whether it is proved that no network scores above `best`. False only if the time was too short.
        complete_factor: all classes within less than this Bayes factor are listed.
        adjacencies: pairs of variables that are adjacent in all classes, as in the best network.
        compelled: edges (parent, child) that are compelled in all classes.
        shared_by_all: whether `adjacencies` and `compelled` hold for all near-optimal networks, also for those that are
            not listed. If False, they hold for the listed classes only.
    """

    factor: float
    best: float
    classes: tuple[NearOptimalClass, ...]
    stopped: str | None
    proved: bool
    complete_factor: float
    adjacencies: tuple[Edge, ...]
    compelled: tuple[Edge, ...]
    shared_by_all: bool

    @property
    def complete(self) -> bool:
        """Whether all near-optimal classes are listed. If not, there are at least as many as listed."""
        return self.stopped is None

    def __repr__(self) -> str:
        count = f"{'' if self.complete else 'at least '}{len(self.classes):,} class{'es' * (len(self.classes) != 1)}"
        return f"NearOptimal({count} within a factor of {self.factor:g}, {len(self.adjacencies)} shared adjacencies)"

    def to_dict(self) -> dict[str, Any]:
        """Return the classes as a dict of plain values."""
        return {
            "factor": self.factor,
            "best": self.best,
            "complete": self.complete,
            "stopped": self.stopped,
            "proved": self.proved,
            "complete_factor": self.complete_factor,
            "adjacencies": [list(edge) for edge in self.adjacencies],
            "compelled": [list(edge) for edge in self.compelled],
            "shared_by_all": self.shared_by_all,
            "classes": [{"score": each.score, "edges": [list(edge) for edge in each.dag.edges]} for each in self.classes],
        }


def check_factor(factor: Any) -> float:
    """Check a Bayes factor and return it as a float.

    Args:
        factor: value that the user gave.

    >>> check_factor(0.5)
    Traceback (most recent call last):
    dagneal.base.errors.InputError: factor is 0.5; give a finite Bayes factor of at least 1, such as 20
    """
    if isinstance(factor, bool) or not isinstance(factor, Real) or not 1 <= float(factor) < inf:
        raise InputError(f"factor is {short_repr(factor)}; give a finite Bayes factor of at least 1, such as 20")
    return float(factor)


def slack_of(factor: float) -> float:
    """Return the score difference, in nats, up to which parent sets must be kept for a Bayes factor.

    It is ln(factor), and a little more than the rounding errors of scores.

    Args:
        factor: Bayes factor.
    """
    return log(check_factor(factor)) + 4 * TOLERANCE / UNITS


def near_optimal(
    table: ScoreTable,
    factor: float = BAYES_FACTOR,
    most: int = MOST_CLASSES,
    run: Run = DEFAULT_RUN,
    *,
    equivalent: bool = False,
    knowledge: Knowledge | None = None,
    initial: nx.DiGraph | None = None,
) -> NearOptimal:
    """List all equivalence classes whose log score is within ln(factor) of the best network.

    Differences below 10^-6 nats do not count.

    Args:
        table: local scores. Parent sets that score more than `slack_of(factor)` lower than a subset may be absent.
        factor: Bayes factor, at least 1. A class is listed if the best network is at most this many times as probable, for a
            score that is a log marginal likelihood.
        most: largest number of classes. If there are more, the best are listed.
        run: `Run` object with the deadline.
        equivalent: True if equivalent networks have equal scores, as with BDeu and BIC. The search is then faster. Except
            for candidate parents and knowledge, the table must have the same parent limit for all variables. Probabilities
            of edges in `knowledge` make the scores of equivalent networks different.
        knowledge: background knowledge with which the table was made. Classes contain only networks that obey it.
        initial: a good network to start with; by default, a short order search finds one.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> table = score_table(load("lung-cancer").sample(1000, 1))
    >>> near_optimal(table, 20, equivalent=True)
    NearOptimal(8 classes within a factor of 20, 2 shared adjacencies)
    """
    check_table(table)
    slack, most, run = slack_of(factor), whole_number("most", most, least=1), check_run(run)
    if knowledge is None and table.required is not None:
        pairs = np.argwhere(table.required)
        knowledge = Knowledge(required=[(table.names[parent], table.names[child]) for parent, child in pairs]) or None
    equivalent = equivalent and not (knowledge is not None and knowledge.probabilities)
    rules = _rules(table, knowledge)
    families = _keep_legal(Families.of(table, slack=slack), rules)
    chosen = families.choose(_first_order(table, initial, run))
    if chosen is None:
        raise InputError("the order of the initial network contradicts the background knowledge; give another network")
    margin = round(log(factor) * UNITS) + 2 * TOLERANCE + 1
    prover = Prover(families, chosen, run, margin=margin)
    prover.prove()
    search = _Search(prover, knowledge, most)
    if prover.bound < prover.target:
        return search.result(factor, initial, "time")
    search.prepare(rules if equivalent else None)
    stopped = search.find_classes(round(log(factor) * UNITS))
    return search.result(factor, initial, stopped)


def near_optimal_of_data(
    scorer: Scorer,
    max_parents: int,
    initial: nx.DiGraph,
    factor: float = BAYES_FACTOR,
    most: int = MOST_CLASSES,
    run: Run = DEFAULT_RUN,
) -> NearOptimal:
    """Score all parent sets of data, and list the near-optimal classes; see `near_optimal`.

    Args:
        scorer: scorer of the data, with the background knowledge.
        max_parents: parent limit.
        initial: a good network to start with. If there is no time to score the parent sets, only its class is listed.
        factor: Bayes factor, at least 1.
        most: largest number of classes.
        run: `Run` object with the deadline.
    """
    slack, most, run = slack_of(factor), whole_number("most", most, least=1), check_run(run)
    scorer = scorer.with_run(run)
    try:
        table = complete_table(scorer, max_parents, slack)
    except OutOfTimeError:
        return _only(initial, scorer, float(factor))
    equivalent = is_score_equivalent(scorer.criterion)
    return near_optimal(table, factor, most, run, equivalent=equivalent, knowledge=scorer.knowledge, initial=initial)


def _only(dag: nx.DiGraph, scorer: Scorer, factor: float) -> NearOptimal:
    """Return the result if there is no time for a search: the class of a network that is not proved optimal."""
    score = scorer.score(dag)
    classes = (NearOptimalClass(dag, score, equivalence_class(dag, scorer.knowledge)),)
    adjacencies, compelled = _shared_edges(classes)
    return NearOptimal(factor, score, classes, "time", False, 1.0, tuple(adjacencies), tuple(compelled), False)


class _Search:
    """The near-optimal classes so far."""

    def __init__(self, prover: Prover, knowledge: Knowledge | None, most: int) -> None:
        self.prover, self.families, self.run = prover, prover.families, prover.run
        self.knowledge, self.most = knowledge, most
        self.best = prover.cost
        self.classes: dict[bytes, tuple[int, Ints]] = {b"": (prover.cost, prover.best)}
        self.complete_to = 0  # all classes that cost less than this much more than the best are known
        self.steps = 0

    def prepare(self, rules: Constraints | None) -> None:
        """Set the families to choose from. With rules, only some networks of each class are enumerated."""
        self._root = self.prover.root_bound()
        room = self.prover.target + self.prover.margin - self._root.bound
        self._kept = np.flatnonzero(self._root.alive & (self._root.excess < room))
        dag = self._graph(self.prover.best)
        self._order = [self.families.names.index(name) for name in topological_order(dag, self.families.names)]
        self._choices = self._choose_from(self._kept, rules)
        self.classes.clear()

    def _choose_from(self, kept: Ints, rules: Constraints | None) -> Choices:
        return Choices.of(self.families, self._root, kept, self._order, rules)

    def find_classes(self, slack: int) -> str | None:
        """Find all classes that cost at most `slack` more than the best network. Return why there can be more."""
        for share in _SHARES if slack else (1.0,):
            part = round(share * slack)
            limit = self.prover.cost + part + TOLERANCE
            search, full = Enumeration(self._choices, limit), False
            while not search.finished:
                if (reason := self._reason(search.steps)) is not None:
                    return reason
                networks, costs, keys = search.advance(limit)
                for network, cost, key in zip(networks, costs.tolist(), keys, strict=True):
                    known = self.classes.get(key)
                    if known is None or cost < known[0]:
                        self.classes[key] = cost, network
                if len(self.classes) > self.most:
                    full, ranked = True, sorted(self.classes.items(), key=lambda item: item[1][0])
                    self.classes = dict(ranked[: self.most])
                    limit = ranked[self.most - 1][1][0] - 1  # only better classes are of interest now
            self.steps += search.steps
            self.best = min(cost for cost, _ in self.classes.values())
            self.complete_to = limit + 1 - self.best if full else part
            if full:
                return "most"
        return None

    def _reason(self, steps: int) -> str | None:
        """Return why the search must end, if it must."""
        if self.run.deadline.passed:
            return "time"
        return "steps" if self.steps + steps > MOST_STEPS else None

    def result(self, factor: float, initial: nx.DiGraph | None, stopped: str | None) -> NearOptimal:
        """Return the classes, best first."""
        proved = self.prover.bound >= self.prover.target
        if not self.classes:  # the time was too short
            self.classes[b""] = self.prover.cost, self.prover.best
        self.best = min(cost for cost, _ in self.classes.values())
        ceiling = self.best + round(log(factor) * UNITS) + TOLERANCE
        start = None if initial is None else set(equivalence_class(initial, self.knowledge).edges)
        rated: list[tuple[tuple[int, bool, list[Edge]], NearOptimalClass]] = []
        for cost, network in self.classes.values():
            if cost <= ceiling:
                dag = self._graph(network)
                graph = equivalence_class(dag, self.knowledge)
                place = ((cost - self.best) // TOLERANCE, set(graph.edges) != start, sorted(dag.edges))
                rated.append((place, NearOptimalClass(dag, self.families.score(cost), graph)))
        classes = tuple(each for _, each in sorted(rated, key=lambda item: item[0]))
        adjacencies, compelled = _shared_edges(classes)
        by_all = proved and stopped is None
        if proved and stopped == "most":
            adjacencies, compelled, by_all = self._confirm(adjacencies, compelled, ceiling)
        return NearOptimal(
            factor=float(factor),
            best=self.families.score(self.best),
            classes=classes,
            stopped=stopped,
            proved=proved,
            complete_factor=float(factor) if stopped is None else min(float(factor), exp(max(self.complete_to, 0) / UNITS)),
            adjacencies=tuple(adjacencies),
            compelled=tuple(compelled),
            shared_by_all=by_all,
        )

    def _confirm(self, adjacencies: list[Edge], compelled: list[Edge], limit: int) -> tuple[list[Edge], list[Edge], bool]:
        """Keep the shared edges that all near-optimal networks have, also those that are not listed.

        For each edge, search for a network without it. Return the edges, and whether all searches finished.
        """
        index = {name: i for i, name in enumerate(self.families.names)}
        witnesses: list[nx.DiGraph] = []

        def is_shared(*edges: Edge) -> bool | None:
            if any(not any(dag.has_edge(*edge) for edge in edges) for dag in witnesses):
                return False
            found, certain = self._without([(index[parent], index[child]) for parent, child in edges], limit)
            witnesses.extend([] if found is None else [found])
            return found is None if certain else None

        # A direction that all networks share implies an adjacency.
        directions = {edge: is_shared(edge) for edge in compelled}
        pairs = {edge: directions.get(edge) or is_shared(edge, edge[::-1]) for edge in adjacencies}
        if None in (*directions.values(), *pairs.values()):
            return adjacencies, compelled, False
        return [edge for edge in adjacencies if pairs[edge]], [edge for edge in compelled if directions[edge]], True

    def _without(self, edges: Iterable[tuple[int, int]], limit: int) -> tuple[nx.DiGraph | None, bool]:
        """Search for a near-optimal network without given edges. Return the network, if any, and whether this is certain.

        A short search often finds one. Otherwise branch and cut either finds one, or proves that there is none.
        """
        families = self.families
        kept = np.zeros(len(families), dtype=bool)
        kept[self._kept] = True
        for parent, child in edges:
            kept &= ~((families.rows == parent).any(axis=1) & (families.children == child))
        search = Enumeration(self._choose_from(np.flatnonzero(kept), None), limit)
        networks, _, _ = search.advance(limit, _SHORT)
        if len(networks) or search.finished:
            return self._graph(networks[0]) if len(networks) else None, True
        some = families.select(kept)
        prover = Prover(some, some.start[:-1], self.run, cuts=self._root.cuts)
        prover.cost = limit + TOLERANCE + 1  # so that only near-optimal networks are of interest
        if not prover.prove():
            return None, False
        return self._graph(np.flatnonzero(kept)[prover.best]) if prover.cost <= limit else None, True

    def _graph(self, network: Ints) -> nx.DiGraph:
        """Return the network with given families, in any order."""
        families = self.families
        edges = []
        for family in sorted(network.tolist()):
            parents = families.rows[family]
            edges += [(families.names[p], families.names[families.children[family]]) for p in parents[parents >= 0].tolist()]
        return graph_from_edges(families.names, edges)


def _rules(table: ScoreTable, knowledge: Knowledge | None) -> Constraints:
    """Return the edges that a table and background knowledge allow and require, and the parent limits."""
    n = len(table.names)
    allowed = np.zeros((n, n), dtype=bool)
    for child in range(n):
        allowed[table.candidates_of(child), child] = True
    if knowledge is None:
        return Constraints(allowed, np.zeros((n, n), dtype=bool), np.full(n, table.max_parents))
    rules = knowledge.constraints(table.names, table.max_parents)
    return replace(rules, allowed=allowed & rules.allowed)


def _keep_legal(families: Families, rules: Constraints) -> Families:
    """Return the families that violate no rule. The table has the others with a penalty, which can be small."""
    return families.select(rules.violations(families.children, families.rows) == 0)


def _first_order(table: ScoreTable, initial: nx.DiGraph | None, run: Run) -> list[int]:
    """Return the order of a good network."""
    if initial is None:
        order, _ = search_order(table, _RESTARTS, run=run)
        return [int(v) for v in order]
    check_dag(initial, table.names)
    return [table.position[name] for name in topological_order(initial, table.names)]


def _shared_edges(classes: tuple[NearOptimalClass, ...]) -> tuple[list[Edge], list[Edge]]:
    """Return the adjacencies of all classes, as edges of the first one, and the edges that are compelled in all."""
    graphs = [each.cpdag for each in classes]
    adjacent = [
        (a, b) for a, b in classes[0].dag.edges if all(graph.has_edge(a, b) or graph.has_edge(b, a) for graph in graphs)
    ]
    compelled = [(a, b) for a, b in adjacent if all(graph.has_edge(a, b) and not graph.has_edge(b, a) for graph in graphs)]
    return adjacent, compelled
