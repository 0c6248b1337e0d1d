"""Relations between variables in a graph: the Markov blanket, paths and d-separation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

import networkx as nx

from dagneal.base.errors import InputError, first_few, hint, short_repr
from dagneal.base.text import plural
from dagneal.graphs.knowledge import as_knowledge, equivalence_class
from dagneal.networks.network import BayesianNetwork

MOST_PATHS = 10  # paths that are listed by default


def blanket(model: Any, variable: str) -> list[str]:
    """Return the Markov blanket of a variable: its parents, its children, and the other parents of its children.

    If the variables of the blanket are known, no other variable says more about this variable. All members of the
    equivalence class have the same blanket.

    Args:
        model: a network, a graph, or a result.
        variable: name of the variable.

    >>> from dagneal.networks.bundled import load
    >>> blanket(load("lung-cancer"), "Smoker")
    ['Pollution', 'Cancer']
    """
    graph = find_graph(model)
    check_node(graph, variable)
    children = set(graph.successors(variable))
    members = {*graph.predecessors(variable), *children, *(name for child in children for name in graph.predecessors(child))}
    return [name for name in graph if name in members - {variable}]


@dataclass(frozen=True)
class Path:
    """A path between two variables.

    Attributes:
        nodes: variables of the path.
        text: the path with the directions of its edges, such as `a -> b <- c`.
        blocked_by: variables that block the path: a known variable, or a common effect that is not known and has no known
            descendant. The path is open if there is none.
    """

    nodes: tuple[str, ...]
    text: str
    blocked_by: tuple[str, ...]

    @property
    def open(self) -> bool:
        """Whether information flows along the path."""
        return not self.blocked_by


@dataclass(frozen=True)
class Relation:
    """Why two variables are dependent or independent.

    Attributes:
        first: a variable.
        second: another variable.
        given: known variables.
        separated: whether the graph implies that the two variables are independent given the known variables.
        paths: paths between the variables, short ones first.
        complete: whether all paths are listed.
        separator: a smallest set of further known variables that separates the two; None if there is none.
        undetermined: edges of the listed paths that have the other direction in other members of the equivalence class.
    """

    first: str
    second: str
    given: tuple[str, ...]
    separated: bool
    paths: tuple[Path, ...]
    complete: bool
    separator: tuple[str, ...] | None
    undetermined: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        condition = f" given {', '.join(self.given)}" if self.given else ""
        word = "independent" if self.separated else "dependent"
        lines = [f"{self.first} and {self.second} are {word}{condition}"]
        for path in self.paths:
            reason = "open" if path.open else f"blocked at {', '.join(path.blocked_by)}"
            lines.append(f"  {path.text}  ({reason})")
        if not self.complete:
            lines.append(f"  only the {plural(len(self.paths), 'shortest path')} shown")
        if not self.separated and self.separator:
            verb = "is" if len(self.separator) == 1 else "are"
            lines.append(f"they are independent if {', '.join(self.separator)} {verb} also known")
        if not self.separated and self.separator is None:
            lines.append("no further known variables make them independent")
        if self.undetermined:
            edges = first_few([f"{parent} -> {child}" for parent, child in self.undetermined])
            lines.append(f"data do not determine the direction of {edges}")
        return "\n".join(lines)


def explain(model: Any, first: str, second: str, given: Iterable[str] = (), most: int = MOST_PATHS) -> Relation:
    """Explain why two variables are dependent or independent: the paths between them, and what blocks each path.

    All members of the equivalence class agree on which variables are dependent. But edges of a path can have another
    direction in other members, so that another path is open. The result names such edges.

    Args:
        model: a network, a graph, or a result.
        first: a variable.
        second: another variable.
        given: known variables.
        most: largest number of paths to list.

    >>> from dagneal.networks.bundled import load
    >>> explain(load("lung-cancer"), "Smoker", "Xray")
    Smoker and Xray are dependent
      Smoker -> Cancer -> Xray  (open)
    they are independent if Cancer is also known
    """
    graph = find_graph(model)
    known = (given,) if isinstance(given, str) else tuple(given)
    for name in (first, second, *known):
        check_node(graph, name)
    if first == second or first in known or second in known:
        raise InputError("explain needs two different variables that are not in given")
    separated = bool(nx.is_d_separator(graph, {first}, {second}, set(known)))
    above = set(known).union(*(nx.ancestors(graph, name) for name in known))
    skeleton = graph.to_undirected()
    found = []
    if nx.has_path(skeleton, first, second):
        found = list(islice(nx.shortest_simple_paths(skeleton, first, second), most + 1))
    paths = tuple(_describe(graph, nodes, known, above) for nodes in found[:most])
    separator = None
    if not separated and not (graph.has_edge(first, second) or graph.has_edge(second, first)):
        minimal = nx.find_minimal_d_separator(graph, {first}, {second}, included=set(known))
        separator = None if minimal is None else tuple(name for name in graph if name in minimal - set(known))
    members = equivalence_class(graph, as_knowledge(getattr(model, "knowledge", None)))
    steps = dict.fromkeys(step for path in paths for pair in pairwise(path.nodes) for step in (pair, pair[::-1]))
    undetermined = tuple((a, b) for a, b in steps if graph.has_edge(a, b) and members.has_edge(b, a))
    return Relation(first, second, known, separated, paths, len(found) <= most, separator, undetermined)


def _describe(graph: nx.DiGraph, nodes: Sequence[str], known: Sequence[str], above: set[str]) -> Path:
    """Return a path with the variables that block it. `above` has the known variables and their ancestors."""
    text = str(nodes[0])
    for a, b in pairwise(nodes):
        text += f" -> {b}" if graph.has_edge(a, b) else f" <- {b}"
    blocked = []
    for a, b, c in zip(nodes, nodes[1:], nodes[2:], strict=False):
        collides = graph.has_edge(a, b) and graph.has_edge(c, b)
        if (b not in above) if collides else (b in known):
            blocked.append(b)
    return Path(tuple(nodes), text, tuple(blocked))


def find_graph(model: Any) -> nx.DiGraph:
    """Return the DAG of a model.

    Args:
        model: a network, a graph, or a result.
    """
    graph = model if isinstance(model, nx.DiGraph) else getattr(model, "dag", None)
    if isinstance(model, BayesianNetwork):
        graph = model.dag
    if not isinstance(graph, nx.DiGraph) or not nx.is_directed_acyclic_graph(graph):
        raise InputError(f"model is {short_repr(model)}; give a network, a result or a networkx.DiGraph without cycles")
    return graph


def check_node(graph: nx.DiGraph, name: Any) -> None:
    """Raise an error if a graph does not have a variable.

    Args:
        graph: the graph.
        name: name of the variable.
    """
    if name not in graph:
        raise InputError(f"{short_repr(name)} is not a variable of the network{hint(str(name), map(str, graph))}")
