"""The problems of the evaluation: the paper's networks, data generated from them, and their scores."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

import networkx as nx

import dagneal as dn


@cache
def true_network(name: str) -> dn.BayesianNetwork:
    """Return a bundled network. It is parsed once and shared, so callers must not change it.

    Args:
        name: name of a bundled network.

    >>> true_network("waste") is true_network("waste")
    True
    """
    return dn.load(name)


def make_data(network: dn.BayesianNetwork, data: str) -> dn.Dataset:
    """Make a dataset from a short description.

    Args:
        network: network that generates the data.
        data: `expected ROWS` (rounded to nearest), `expected ROWS floor` (rounded down) or `sampled ROWS SEED`. With a final
            word `padded`, every variable gets as many states as the variable with the most states.

    >>> make_data(true_network("lung-cancer"), "expected 1000").rows
    1000
    """
    kind, rows, *rest = data.split()
    padded = rest[-1:] == ["padded"]
    rest = rest[:-1] if padded else rest
    if kind == "expected":
        dataset = network.expected_data(int(rows), "floor" if rest == ["floor"] else "nearest")
    else:
        dataset = network.sample(int(rows), int(rest[0]))
    return dataset.with_equal_arities() if padded else dataset


@lru_cache(maxsize=64)
def scored_problem(
    network: str, data: str, score: str = "bdeu:1"
) -> tuple[dn.BayesianNetwork, dn.scoring.Scorer, dn.scoring.ScoreTable]:
    """Return a tuple: a network, a scorer for its data, and the score table of parent sets with at most two variables.

    Args:
        network: name of a bundled network.
        data: description of the data; see `make_data`.
        score: name of the score, such as `bdeu:1`.
    """
    truth = true_network(network)
    scorer = dn.scoring.Scorer(make_data(truth, data), dn.scoring.as_score(score))
    return truth, scorer, scorer.table(2)


def sort_edges(dag: nx.DiGraph) -> list[list[str]]:
    """Return the edges of a graph as a sorted list of pairs.

    Args:
        dag: graph with the edges.
    """
    return sorted([str(parent), str(child)] for parent, child in dag.edges)


def recorded_graph(network: str, edges: Iterable[Iterable[str]]) -> nx.DiGraph:
    """Return a graph with the variables of a network and the given edges.

    Args:
        network: name of a bundled network.
        edges: pairs of parent and child.

    >>> recorded_graph("monty-hall", [["Player", "Host"]]).number_of_edges()
    1
    """
    graph = nx.DiGraph()
    graph.add_nodes_from(true_network(network).names)
    graph.add_edges_from((parent, child) for parent, child in edges)
    return graph
