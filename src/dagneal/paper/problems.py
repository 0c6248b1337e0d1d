"""The problems of the evaluation: the paper's networks, data from them, and their scores."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

import networkx as nx

import dagneal as dn


@cache
def true_network(name: str) -> dn.BayesianNetwork:
    """Return a bundled network, parsed once: cases are listed by the thousand. Nothing in this package changes it.

    Args:
        name: of the network.

    >>> true_network("waste") is true_network("waste")
    True
    """
    return dn.load(name)


def make_data(network: dn.BayesianNetwork, data: str) -> dn.Dataset:
    """Make the data that a few words name.

    Args:
        network: where they come from.
        data: `expected ROWS`, `expected ROWS floor`, or `sampled ROWS SEED`; then perhaps `padded`.

    >>> make_data(true_network("lung-cancer"), "expected 1000").rows
    1000
    """
    kind, rows, *rest = data.split()
    padded = rest[-1:] == ["padded"]
    rest = rest[:-1] if padded else rest
    if kind == "expected":
        made = network.expected(int(rows), "floor" if rest == ["floor"] else "nearest")
    else:
        made = network.sample(int(rows), int(rest[0]))
    return made.with_equal_arities() if padded else made


@lru_cache(maxsize=64)
def scored_problem(
    network: str, data: str, score: str = "bdeu:1"
) -> tuple[dn.BayesianNetwork, dn.scoring.Scorer, dn.scoring.ScoreTable]:
    """Return a network, the scorer of data from it, and their scores with at most two parents.

    Args:
        network: the name of a bundled one.
        data: see `make_data`.
        score: the name of a score.
    """
    truth = true_network(network)
    scorer = dn.scoring.Scorer(make_data(truth, data), dn.scoring.as_score(score))
    return truth, scorer, scorer.table(2)


def sort_edges(dag: nx.DiGraph) -> list[list[str]]:
    """Return the edges of a graph as plain values, sorted.

    Args:
        dag: the graph.
    """
    return sorted([str(parent), str(child)] for parent, child in dag.edges)


def recorded_graph(network: str, edges: Iterable[Iterable[str]]) -> nx.DiGraph:
    """Return the graph of a record.

    Args:
        network: the name of a bundled one, which has the variables.
        edges: parent first.

    >>> recorded_graph("monty-hall", [["Player", "Host"]]).number_of_edges()
    1
    """
    graph = nx.DiGraph()
    graph.add_nodes_from(true_network(network).names)
    graph.add_edges_from((parent, child) for parent, child in edges)
    return graph
