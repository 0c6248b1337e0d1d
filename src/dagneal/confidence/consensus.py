"""Consensus: one network that has the edges which are frequent in the bootstrap.

The pairs of variables with a high enough frequency become edges. Then each edge gets a direction:

1. If background knowledge allows only one direction, the edge gets this direction.
2. If at least 80% of the samples that have the edge agree on its direction, the edge gets this direction, unless it would
   close a cycle. The most frequent directions come first.
3. The other edges get directions that add no v-structure (two parents that are not adjacent), if such directions exist. A
   v-structure is a claim about independence, and votes of about one half do not support it. The method is that of Dor and
   Tarsi (1992): find a variable that can be a sink without a new v-structure, direct its edges towards it, and continue
   without it.
"""

from __future__ import annotations

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.defaults import AGREEMENT
from dagneal.base.kernels import Floats, Ints
from dagneal.confidence.bootstrap import Bootstrap, check_fraction
from dagneal.graphs.dags import graph_from_edges
from dagneal.graphs.knowledge import Constraints, Knowledge

CONSENSUS = "consensus"  # name of the solver of an averaged network

Flags = NDArray[np.bool_]


def consensus(
    bootstrap: Bootstrap,
    threshold: float | None = None,
    knowledge: Knowledge | None = None,
    max_parents: int | None = None,
) -> nx.DiGraph:
    """Return an averaged network: a DAG with the edges that are frequent in the bootstrap, and with all required edges.

    The network obeys the background knowledge and the parent limit. If a variable would get too many parents, the least
    frequent edges are reversed if possible, and left out otherwise.

    Args:
        bootstrap: bootstrap frequencies.
        threshold: lowest frequency of an edge. By default, the edges above `Bootstrap.significance_threshold` are used.
        knowledge: background knowledge.
        max_parents: parent limit; None for no limit.

    >>> from dagneal.confidence.bootstrap import bootstrap
    >>> from dagneal.networks.bundled import load
    >>> sorted(consensus(bootstrap(load("lung-cancer").expected_data(10_000), samples=20)).edges)
    [('Cancer', 'Dyspnoea'), ('Cancer', 'Xray'), ('Pollution', 'Cancer'), ('Smoker', 'Cancer')]
    """
    names = bootstrap.names
    limit = len(names) - 1 if max_parents is None else min(max_parents, len(names) - 1)
    rules = (knowledge or Knowledge()).constraints(names, limit)
    if threshold is None:
        frequent = bootstrap.edges > bootstrap.significance_threshold()
    else:
        frequent = bootstrap.edges >= max(check_fraction("threshold", threshold), np.finfo(float).tiny)
    votes = bootstrap.directions
    graph = _Graph(rules)
    open_pairs = []
    for a, b in _sort_pairs(np.triu(frequent) & ~(rules.required | rules.required.T), votes):
        parent, child = (a, b) if votes[a, b] >= votes[b, a] else (b, a)
        if graph.allowed[a, b] and graph.allowed[b, a] and votes[parent, child] < AGREEMENT * bootstrap.edges[a, b]:
            open_pairs.append((a, b))
        else:
            graph.add(parent, child)
    place = _sinks_last(graph.directed, open_pairs)
    for a, b in open_pairs:
        graph.add(*((a, b) if place[a] < place[b] else (b, a)))
    return graph_from_edges(names, ((names[a], names[b]) for a, b in np.argwhere(graph.directed).tolist()))


def _sort_pairs(pairs: Flags, votes: Floats) -> list[tuple[int, int]]:
    """Return the pairs of a triangular matrix. Those with the most frequent directions come first."""
    indices = [(int(a), int(b)) for a, b in np.argwhere(pairs)]
    return sorted(indices, key=lambda pair: -max(votes[pair], votes[pair[::-1]]))


class _Graph:
    """A DAG that obeys background knowledge, while edges are added. It starts with the required edges.

    Attributes:
        allowed: `allowed[a, b]` is True if the background knowledge allows the edge from a to b.
        directed: `directed[a, b]` is True if the graph has the edge from a to b.
    """

    def __init__(self, rules: Constraints) -> None:
        self.allowed: Flags = rules.allowed & (rules.limits > 0)
        self.directed: Flags = rules.required.copy()
        self._limits = rules.limits

    def add(self, a: int, b: int) -> None:
        """Add the edge from a to b if that is possible; otherwise the edge from b to a, if that is possible.

        Args:
            a: index of the preferred parent.
            b: index of the preferred child.
        """
        for parent, child in ((a, b), (b, a)):
            fits = self.allowed[parent, child] and self.directed[:, child].sum() < self._limits[child]
            if fits and not self._leads(child, parent):
                self.directed[parent, child] = True
                return

    def _leads(self, start: int, end: int) -> bool:
        """Return whether a directed path leads from one variable to another."""
        seen, waiting = {start}, [start]
        while waiting:
            for child in np.flatnonzero(self.directed[waiting.pop()]).tolist():
                if child == end:
                    return True
                if child not in seen:
                    seen.add(child)
                    waiting.append(child)
        return False


def _sinks_last(directed: Flags, open_pairs: list[tuple[int, int]]) -> Ints:
    """Return the place of each variable in an order that suits a partly directed graph.

    Directed edges lead from earlier to later variables. If open edges get the same direction, there are no new v-structures,
    or few if they cannot be avoided.

    Args:
        directed: matrix of the directed edges, without cycles.
        open_pairs: edges without a direction.
    """
    n = len(directed)
    undirected = np.zeros((n, n), dtype=bool)
    for a, b in open_pairs:
        undirected[a, b] = undirected[b, a] = True
    adjacent = directed | directed.T | undirected
    children, left, place = directed.sum(axis=1), np.ones(n, dtype=bool), np.empty(n, dtype=np.int64)

    def count_structures(sink: int) -> int:
        """Return the number of new v-structures if all open edges of a variable are directed towards it."""
        parents = np.flatnonzero(adjacent[sink] & left)
        apart = ~adjacent[np.ix_(parents, parents)]
        np.fill_diagonal(apart, False)
        new = undirected[sink, parents]
        return int((apart & (new[:, None] | new)).sum()) // 2

    structures = np.array([count_structures(variable) for variable in range(n)])
    for last in range(n - 1, -1, -1):
        choices = np.flatnonzero(left & (children == 0))[::-1]  # of equal variables, the last column becomes the sink
        sink = int(choices[np.argmin(structures[choices])])
        place[sink], left[sink] = last, False
        children[directed[:, sink]] -= 1
        for neighbour in np.flatnonzero(adjacent[sink] & left).tolist():
            structures[neighbour] = count_structures(neighbour)
    return place
