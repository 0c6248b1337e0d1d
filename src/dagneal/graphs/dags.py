"""Directed graphs: cycles, orders, equivalence classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import networkx as nx

from dagneal.base.errors import InputError


def dag_from_parents(parents: Mapping[str, Iterable[str]]) -> nx.DiGraph:
    """The graph in which each variable has these parents; nodes keep the order of the mapping.

    >>> list(dag_from_parents({"a": [], "b": ["a"]}).edges)
    [('a', 'b')]
    """
    graph = nx.DiGraph()
    graph.add_nodes_from(parents)
    for child, its_parents in parents.items():
        for parent in its_parents:
            if parent not in parents:
                raise InputError(f"{child!r} has the parent {parent!r}, which is not a variable")
            graph.add_edge(parent, child)
    return graph


def graph_of(names: Iterable[str], edges: Iterable[Iterable[str]]) -> nx.DiGraph:
    """A graph over some variables.

    Args:
        names: the variables, in their order.
        edges: parent first.

    >>> list(graph_of("abc", [("c", "a")]))
    ['a', 'b', 'c']
    """
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from((parent, child) for parent, child in edges)
    return graph


def check_acyclic(graph: nx.DiGraph, name: str = "the graph") -> None:
    """Raise an error that shows a cycle, if there is one."""
    if not nx.is_directed_acyclic_graph(graph):
        cycle = [str(edge[0]) for edge in nx.find_cycle(graph)]
        raise InputError(f"{name} has a cycle: {' -> '.join([*cycle, cycle[0]])}")


def check_variables(first: Iterable[str], second: Iterable[str], one: str = "the graph", other: str = "the data") -> None:
    """Refuse two things over different variables, naming one that only one of them has."""
    here, there = set(first), set(second)
    if here != there:
        name = sorted(here ^ there, key=str)[0]
        raise InputError(
            f"{one} and {other} differ in their variables: {name!r} is only in {one if name in here else other}"
        )


def check_dag(graph: nx.DiGraph, names: Sequence[str]) -> None:
    """Refuse a graph that is not a DAG over exactly these variables."""
    if not graph.is_directed():
        raise InputError("the graph has no directions; give a networkx.DiGraph")
    check_variables(graph, names)
    check_acyclic(graph)


def ordered_parents(graph: nx.DiGraph, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The parents of each node, in the order of the names."""
    place = {name: i for i, name in enumerate(names)}
    return {child: tuple(sorted(graph.predecessors(child), key=place.__getitem__)) for child in names}


def topological_order(graph: nx.DiGraph, names: Sequence[str]) -> list[str]:
    """Parents before children; where the graph leaves a choice, in the order of the names.

    >>> topological_order(dag_from_parents({"a": ["c"], "b": [], "c": []}), ["a", "b", "c"])
    ['b', 'c', 'a']
    """
    check_acyclic(graph)
    place = {name: i for i, name in enumerate(names)}
    return list(nx.lexicographical_topological_sort(graph, key=place.__getitem__))


def cpdag(graph: nx.DiGraph, known: Iterable[tuple[str, str]] = ()) -> nx.DiGraph:
    """The equivalence class of a DAG as a completed partially directed graph.

    Args:
        graph: an acyclic directed graph.
        known: edges of it whose direction is known otherwise; networks that turn them are left out of the class.

    Returns:
        A graph with an edge one way where every DAG of the class has it so, and both ways where they differ:
        v-structures and known edges keep their direction, and what follows from them by Meek's rules.

    >>> sorted(cpdag(dag_from_parents({"a": [], "b": ["a"]})).edges)
    [('a', 'b'), ('b', 'a')]
    >>> sorted(cpdag(dag_from_parents({"a": [], "b": [], "c": ["a", "b"]})).edges)
    [('a', 'c'), ('b', 'c')]
    """
    check_acyclic(graph)
    adjacent = {node: set(graph.predecessors(node)) | set(graph.successors(node)) for node in graph}
    directed = {
        edge
        for child in graph
        for a, b in combinations(graph.predecessors(child), 2)
        if b not in adjacent[a]
        for edge in ((a, child), (b, child))
    } | set(known)
    undirected = {edge for edge in graph.edges if edge not in directed}
    undirected |= {(b, a) for a, b in undirected}
    found = True
    while found:
        forced = {(a, b) for a, b in undirected if _is_forced(a, b, adjacent, directed, undirected)}
        found = bool(forced)
        directed |= forced
        undirected -= forced | {(b, a) for a, b in forced}
    result = nx.DiGraph()
    result.add_nodes_from(graph)
    result.add_edges_from(directed | undirected)
    return result


Edges = set[tuple[str, str]]


def _is_forced(a: str, b: str, adjacent: Mapping[str, set[str]], directed: Edges, undirected: Edges) -> bool:
    """Whether Meek's rules turn a - b into a -> b."""
    into_b = {c for c in adjacent[b] if (c, b) in directed}
    chains_of_one = any((c, a) in directed and c not in adjacent[b] for c in adjacent[a])
    chains_of_two = any((a, c) in directed for c in into_b)
    kites = any(
        d not in adjacent[c] for c, d in combinations(sorted(into_b), 2) if (a, c) in undirected and (a, d) in undirected
    )
    detours = any(  # needed only where directions are known otherwise
        (a, c) in undirected and c not in adjacent[b] and (c, d) in directed and d in adjacent[a]
        for d in into_b
        for c in adjacent[d]
    )
    return chains_of_one or chains_of_two or kites or detours
