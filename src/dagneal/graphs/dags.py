"""Directed graphs: construction, checks, topological order and equivalence classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import networkx as nx

from dagneal.base.errors import InputError

Edges = set[tuple[str, str]]


def dag_from_parents(parents: Mapping[str, Iterable[str]]) -> nx.DiGraph:
    """Return the graph in which each variable has the given parents. The nodes are in the order of the keys of `parents`.

    >>> list(dag_from_parents({"a": [], "b": ["a"]}).edges)
    [('a', 'b')]
    """
    graph = nx.DiGraph()
    graph.add_nodes_from(parents)
    for child, parent_names in parents.items():
        for parent in parent_names:
            if parent not in parents:
                raise InputError(f"the parent {parent!r} of {child!r} is not a variable; add {parent!r} as a key")
            graph.add_edge(parent, child)
    return graph


def graph_from_edges(names: Iterable[str], edges: Iterable[Iterable[str]]) -> nx.DiGraph:
    """Return a graph over the given variables.

    Args:
        names: all variables; the nodes of the graph are in this order.
        edges: pairs (parent, child).

    >>> list(graph_from_edges("abc", [("c", "a")]))
    ['a', 'b', 'c']
    """
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from((parent, child) for parent, child in edges)
    return graph


def check_acyclic(graph: nx.DiGraph, name: str = "the graph") -> None:
    """Check that a graph has no cycle. The error message begins with `name` and shows the cycle."""
    if not nx.is_directed_acyclic_graph(graph):
        cycle = [str(edge[0]) for edge in nx.find_cycle(graph)]
        raise InputError(f"{name} has a cycle: {' -> '.join([*cycle, cycle[0]])}")


def check_variables(
    first: Iterable[str], second: Iterable[str], first_title: str = "the graph", second_title: str = "the data"
) -> None:
    """Check that two objects have the same variables. If not, the error names a variable that only one object has.

    Args:
        first: variables of the first object.
        second: variables of the second object.
        first_title: text that describes the first object in the error.
        second_title: text that describes the second object in the error.
    """
    first_names, second_names = set(first), set(second)
    if first_names != second_names:
        name = sorted(first_names ^ second_names, key=str)[0]
        owner = first_title if name in first_names else second_title
        raise InputError(f"{first_title} and {second_title} have different variables: {name!r} is only in {owner}")


def check_dag(graph: nx.DiGraph, names: Sequence[str]) -> None:
    """Check that a graph is a DAG and that its nodes are exactly the given variables."""
    if not graph.is_directed():
        raise InputError("the graph is undirected; give a networkx.DiGraph")
    check_variables(graph, names)
    check_acyclic(graph)


def ordered_parents(graph: nx.DiGraph, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the parents of each variable. Variables and parents are sorted by the order of `names`."""
    index = {name: i for i, name in enumerate(names)}
    return {child: tuple(sorted(graph.predecessors(child), key=index.__getitem__)) for child in names}


def topological_order(graph: nx.DiGraph, names: Sequence[str]) -> list[str]:
    """Return the variables, sorted so that parents come before children.

    If several variables can come next, the first of them in `names` comes next.

    >>> topological_order(dag_from_parents({"a": ["c"], "b": [], "c": []}), ["a", "b", "c"])
    ['b', 'c', 'a']
    """
    check_acyclic(graph)
    index = {name: i for i, name in enumerate(names)}
    return list(nx.lexicographical_topological_sort(graph, key=index.__getitem__))


def cpdag(graph: nx.DiGraph, fixed: Iterable[tuple[str, str]] = ()) -> nx.DiGraph:
    """Return the CPDAG (completed partially directed acyclic graph), which represents the equivalence class of a DAG.

    Args:
        graph: a DAG.
        fixed: edges of the graph whose direction is known, for example from background knowledge. The equivalence
            class then excludes DAGs that reverse a fixed edge.

    Returns:
        A graph that contains each compelled edge in one direction and each reversible edge in both directions. Compelled
        edges are the edges of v-structures, the fixed edges, and all edges whose direction follows by Meek's rules.

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
    } | set(fixed)
    undirected = {edge for edge in graph.edges if edge not in directed}
    undirected |= {(b, a) for a, b in undirected}
    return _complete(graph, adjacent, directed, undirected)


def orient(graph: nx.DiGraph, edges: Iterable[tuple[str, str]]) -> nx.DiGraph:
    """Return a CPDAG with more directed edges, and with all directions that follow from them by Meek's rules.

    The result represents the DAGs of the class that have the given edges. There must be at least one such DAG.

    Args:
        graph: a result of `cpdag` or `orient`, in which a reversible edge is present in both directions.
        edges: edges (parent, child) of the graph.

    >>> chain = cpdag(dag_from_parents({"a": [], "b": ["a"], "c": ["b"]}))
    >>> sorted(orient(chain, [("a", "b")]).edges)
    [('a', 'b'), ('b', 'c')]
    """
    adjacent = {node: set(graph.predecessors(node)) | set(graph.successors(node)) for node in graph}
    new = set(edges)
    directed = {(a, b) for a, b in graph.edges if not graph.has_edge(b, a)} | new
    undirected = set(graph.edges) - directed - {(b, a) for a, b in new}
    return _complete(graph, adjacent, directed, undirected)


def _complete(nodes: Iterable[str], adjacent: Mapping[str, set[str]], directed: Edges, undirected: Edges) -> nx.DiGraph:
    """Return a graph with all directions that follow by Meek's rules."""
    changed = True
    while changed:
        forced = {(a, b) for a, b in undirected if _is_forced(a, b, adjacent, directed, undirected)}
        changed = bool(forced)
        directed |= forced
        undirected -= forced | {(b, a) for a, b in forced}
    result = nx.DiGraph()
    result.add_nodes_from(nodes)
    result.add_edges_from(directed | undirected)
    return result


def _is_forced(a: str, b: str, adjacent: Mapping[str, set[str]], directed: Edges, undirected: Edges) -> bool:
    """Return whether one of Meek's rules gives the undirected edge between a and b the direction a -> b."""
    into_b = {c for c in adjacent[b] if (c, b) in directed}
    # Rule 1: c -> a, and c is not adjacent to b.
    rule_1 = any((c, a) in directed and c not in adjacent[b] for c in adjacent[a])
    # Rule 2: a -> c -> b.
    rule_2 = any((a, c) in directed for c in into_b)
    # Rule 3: a - c -> b and a - d -> b, and c is not adjacent to d.
    rule_3 = any(
        d not in adjacent[c] for c, d in combinations(sorted(into_b), 2) if (a, c) in undirected and (a, d) in undirected
    )
    # Rule 4: a - c -> d -> b, c is not adjacent to b, and d is adjacent to a. It is needed only with fixed edges.
    rule_4 = any(
        (a, c) in undirected and c not in adjacent[b] and (c, d) in directed and d in adjacent[a]
        for d in into_b
        for c in adjacent[d]
    )
    return rule_1 or rule_2 or rule_3 or rule_4
