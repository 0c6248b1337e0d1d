"""Exchange: networks in the formats of other tools, and structures read back."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from dagneal.base.errors import InputError, check_text
from dagneal.base.files import check_format, replacing
from dagneal.base.text import fit_text
from dagneal.graphs.dags import check_acyclic
from dagneal.networks.network import BayesianNetwork

FORMATS = (".json", ".bif", ".graphml", ".dot")
PAGE = ".html"  # of a result
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # what XML 1.0 has no letter for
_LONGEST = 60  # columns of a name in an error


def graphml(dag: nx.DiGraph) -> str:
    """A graph as GraphML.

    Args:
        dag: the graph.
    """
    check_letters(dag, ".graphml")
    return "\n".join(nx.generate_graphml(nx.relabel_nodes(dag, str))) + "\n"


def dot(dag: nx.DiGraph) -> str:
    """A graph as DOT, for Graphviz.

    Args:
        dag: the graph.

    >>> print(dot(nx.DiGraph([("a", "b")])), end="")
    digraph learned {
      "a";
      "b";
      "a" -> "b";
    }
    """

    check_letters(dag, ".dot")

    def quote(name: Any) -> str:
        return '"' + str(name).replace("\\", "\\\\").replace('"', '\\"') + '"'

    lines = [f"  {quote(name)};" for name in dag]
    lines += [f"  {quote(a)} -> {quote(b)};" for a, b in dag.edges]
    return "\n".join(["digraph learned {", *lines, "}"]) + "\n"


def check_letters(names: Iterable[Any], path: str | os.PathLike[str]) -> None:
    """Refuse names with letters that XML 1.0 cannot hold, for GraphML and for DOT, which Graphviz turns into SVG.

    Args:
        names: of the variables.
        path: where they are to be written; other formats hold any name, or have rules of their own.
    """
    ending = str(path).lower().rpartition(".")[2]
    for name in names if ending in ("graphml", "dot") else ():
        if odd := _NOT_XML.search(str(name)):
            raise InputError(
                f".{ending} cannot hold the character {odd.group()!a} of the variable {fit_text(str(name), _LONGEST)!a}; "
                "rename it, or write it with safe=True"
            )


def network_dict(network: BayesianNetwork) -> dict[str, Any]:
    """A network with its probabilities as plain values.

    Args:
        network: the network.
    """
    return {
        "name": network.name,
        "variables": list(network.names),
        "edges": [list(edge) for edge in network.dag.edges],
        "states": {name: list(states) for name, states in network.states.items()},
        "parents": {name: list(parents) for name, parents in network.parents.items()},
        "cpts": {name: np.asarray(table).tolist() for name, table in network.cpts.items()},
    }


def write_network(found: BayesianNetwork | nx.DiGraph, path: str | os.PathLike[str], safe: bool = False) -> None:
    """Write a network, or a graph alone, in the format that the ending of the name says.

    Args:
        found: a network; a graph has no probabilities, so it cannot be BIF.
        path: a name ending in .json, .bif (with probabilities), .graphml or .dot.
        safe: make names and states plain words first, for tools that take no others.
    """
    check_format(path, FORMATS)
    if safe:
        found = make_labels_safe(found) if isinstance(found, BayesianNetwork) else nx.relabel_nodes(found, _safe(found))
    suffix = Path(path).suffix.lower()
    dag = found.dag if isinstance(found, BayesianNetwork) else found
    if suffix == ".bif":
        if not isinstance(found, BayesianNetwork):
            raise InputError(f"{path}: a graph has no probabilities; `dagneal fit` makes them from data")
        from dagneal.networks.bif import format_bif

        text = format_bif(found)
    elif suffix == ".json":
        plain = {"variables": list(dag), "edges": [list(edge) for edge in dag.edges]}
        text = json.dumps(network_dict(found) if isinstance(found, BayesianNetwork) else plain, indent=1) + "\n"
    else:
        text = graphml(dag) if suffix == ".graphml" else dot(dag)
    with replacing(path) as file:
        file.write(text.encode())


def make_labels_safe(network: BayesianNetwork) -> BayesianNetwork:
    """A network whose names and states are plain words: letters, digits and underscores, none beginning with a digit.

    Args:
        network: any network.

    >>> from dagneal.networks.bundled import load
    >>> _safe(["Asy/Patch", "Asy Patch", "3"])
    {'Asy/Patch': 'Asy_Patch', 'Asy Patch': 'Asy_Patch_2', '3': '_3'}
    """
    names = _safe(network.names)
    return BayesianNetwork(
        {names[name]: tuple(_safe(states).values()) for name, states in network.states.items()},
        {names[name]: tuple(names[p] for p in parents) for name, parents in network.parents.items()},
        {names[name]: table for name, table in network.cpts.items()},
        next(iter(_safe([network.name]).values())),
    )


def _safe(labels: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for label in labels:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", str(label)) or "_"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        word, number = plain, 2
        while word in found.values():
            word, number = f"{plain}_{number}", number + 1
        found[label] = word
    return found


def read_structure(source: str | os.PathLike[str]) -> nx.DiGraph | BayesianNetwork:
    """A network from a .bif or .json file or a bundled name; a graph where a .json or .graphml file has no probabilities.

    Args:
        source: the file or name.
    """
    suffix = Path(source).suffix.lower()
    if suffix in (".dot", PAGE):
        raise InputError(f"{source}: {suffix} files are written but not read; give a .bif, .json or .graphml file")
    if suffix not in (".json", ".graphml"):
        from dagneal.networks.bundled import load

        return load(str(source))
    try:
        text = Path(source).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{source} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    return _from_json(text, source) if suffix == ".json" else _from_graphml(text, source)


def read_network(source: str | os.PathLike[str]) -> BayesianNetwork:
    """A network with states and probabilities, from a .bif or .json file or a bundled name.

    Args:
        source: the file or name.
    """
    found = read_structure(source)
    if not isinstance(found, BayesianNetwork):
        raise InputError(f"{source} has no states; give a .bif or .json file with probabilities")
    return found


def _from_json(text: str, source: str | os.PathLike[str]) -> nx.DiGraph | BayesianNetwork:
    graph = nx.DiGraph()
    try:
        found = json.loads(text)
        graph.add_nodes_from(map(str, found["variables"]))
        graph.add_edges_from((str(parent), str(child)) for parent, child in found["edges"])
        for name in graph:
            check_text(name, f"{source}: a variable")
        if sorted(graph) != sorted(map(str, found["variables"])) or any(graph.has_edge(name, name) for name in graph):
            raise ValueError
        if "cpts" not in found:
            return graph
        if not all(isinstance(its, list) for its in found["states"].values()):
            raise ValueError
        states = {name: tuple(map(str, its)) for name, its in found["states"].items()}
        parents = {name: tuple(map(str, found["parents"][name])) for name in states}
        tables = {name: np.array(found["cpts"][name], dtype=np.float64) for name in states}
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise InputError(f"{source} is not a network or a result of `dagneal learn`") from error
    _check_agreement(graph, parents, source)
    return BayesianNetwork(states, parents, tables, str(found.get("name", "network")))


def _check_agreement(graph: nx.DiGraph, parents: Mapping[str, Sequence[str]], source: str | os.PathLike[str]) -> None:
    """Refuse a file whose `variables` and `edges` are not those of its probabilities, such as one edited by hand."""
    if odd := sorted(set(graph) ^ set(parents)):
        where = ("variables", "states") if odd[0] in graph else ("states", "variables")
        raise InputError(f"{source}: {odd[0]!r} is in {where[0]!r} but not in {where[1]!r}; make them agree")
    listed = {(parent, child) for child, its in parents.items() for parent in its}
    if odd := sorted(set(graph.edges) ^ listed):
        where = ("edges", "parents") if odd[0] in graph.edges else ("parents", "edges")
        raise InputError(
            f"{source}: the edge {odd[0][0]} -> {odd[0][1]} is in {where[0]!r} but not in {where[1]!r}; make them agree, or "
            "remove 'cpts' to keep the edges only and get new probabilities with `dagneal fit`"
        )


def _from_graphml(text: str, source: str | os.PathLike[str]) -> nx.DiGraph:
    from xml.etree.ElementTree import ParseError

    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError(f"{source} declares its own XML entities, which are not read")
    try:
        graph = nx.DiGraph(nx.parse_graphml(text))
    except (ParseError, nx.NetworkXError, KeyError, ValueError, TypeError) as error:
        raise InputError(f"{source} is not a graph in GraphML") from error
    check_acyclic(graph, str(source))
    return graph


def structure_of(found: nx.DiGraph | BayesianNetwork) -> nx.DiGraph:
    """The graph of a network, or a graph itself.

    Args:
        found: either.
    """
    return found.dag if isinstance(found, BayesianNetwork) else found
