"""Initial states of samplers, given as a network. They are used for reverse annealing.

The parameter `initial_state` of a sampler is a dict from each QUBO variable to its value. Here it may also be a DAG. The DAG
is kept as a list of edges, because the text of a list identifies it in a journal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import networkx as nx

from dagneal.base.errors import InputError
from dagneal.graphs.dags import check_acyclic, graph_from_edges
from dagneal.qubo.encode import Encoding, nearest_vector
from dagneal.qubo.variables import Layout
from dagneal.scoring.table import ScoreTable

NAME = "initial_state"


def edges_of(value: Any) -> list[list[str]] | None:
    """Return the edges of a network; None if the value is not a network.

    Args:
        value: any value of `initial_state`: a graph, an object with an attribute `dag`, such as a network or a result, a
            list of edges, or something else.

    >>> edges_of(nx.DiGraph([("a", "b")])), edges_of({"a": 1})
    ([['a', 'b']], None)
    """
    graph = getattr(value, "dag", value)
    if isinstance(graph, nx.DiGraph):
        return [[str(parent), str(child)] for parent, child in graph.edges]
    if isinstance(value, list | tuple) and all(isinstance(edge, list | tuple) and len(edge) == 2 for edge in value):
        return [list(edge) for edge in value] if all(isinstance(name, str) for edge in value for name in edge) else None
    return None


def with_edges(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of a sampler in which an initial network is a list of edges.

    Args:
        parameters: parameters of a sampler.
    """
    edges = edges_of(parameters.get(NAME))
    return dict(parameters) | ({} if edges is None else {NAME: edges})


def initial_dag(parameters: Mapping[str, Any]) -> nx.DiGraph | None:
    """Return the initial network of a sampler; None if there is none.

    Args:
        parameters: parameters of a sampler.
    """
    edges = edges_of(parameters.get(NAME))
    if edges is None:
        return None
    graph = graph_from_edges([], edges)
    check_acyclic(graph, NAME)
    return graph


def check_initial_state(parameters: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise an error if an initial network has a cycle, or a variable that the problem does not have.

    Args:
        parameters: parameters of a sampler.
        names: variables of the problem.
    """
    graph = initial_dag(parameters)
    for name in () if graph is None else graph:
        if name not in names:
            raise InputError(f"{NAME} has the variable {name!r}, which the data do not have")


def encode_initial_state(
    parameters: Mapping[str, Any], table: ScoreTable, layout: Layout, labels: Sequence[Any], encoding: Encoding
) -> dict[str, Any]:
    """Return parameters in which an initial network is a dict from each QUBO variable to its value.

    Edges without a QUBO variable are left out. So the state of a subproblem is its part of the network.

    Args:
        parameters: parameters of a sampler.
        table: score table that was encoded.
        layout: index of each QUBO variable.
        labels: labels of the QUBO variables, in the order of their indices.
        encoding: settings of the encoding.
    """
    graph = initial_dag(parameters)
    if graph is None:
        return dict(parameters)
    graph.add_nodes_from(table.names)
    values = nearest_vector(table, layout, graph, encoding).tolist()
    return dict(parameters) | {NAME: dict(zip(labels, values, strict=True))}
