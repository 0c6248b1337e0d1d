"""Read and write networks and graphs in the formats of other tools."""

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
from dagneal.base.files import atomic_write, check_format
from dagneal.base.text import fit_text
from dagneal.data.recipe import Recipe
from dagneal.graphs.dags import check_acyclic
from dagneal.graphs.directions import Direction
from dagneal.networks.bif import format_bif, make_labels_safe, safe_labels
from dagneal.networks.network import BayesianNetwork

FORMATS = (".json", ".bif", ".graphml", ".dot")
PAGE = ".html"  # ending of result pages, which are written but not read
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML 1.0 cannot contain
_RES_LINE = re.compile(r"\s*(?P<child>\d+):\s*\S+\s*(\((?P<parents>\s*\d+\s*(,\s*\d+\s*)*)\)\s*)?")  # a line of a .res file
_LONGEST = 60  # columns for a name in an error message
_DOT_STYLES: dict[str, str] = {  # Graphviz attributes for the values of the edge attribute `direction`
    Direction.FIXED: "arrowhead=normaltee",
    Direction.SUPPORTED: "arrowhead=normal",
    Direction.COMPELLED: "arrowhead=empty",
    Direction.UNDETERMINED: "dir=none",
}


def graphml(dag: nx.DiGraph) -> str:
    """Return a graph as GraphML text.

    Args:
        dag: graph to write.
    """
    check_characters(dag, ".graphml")
    return "\n".join(nx.generate_graphml(nx.relabel_nodes(dag, str))) + "\n"


def dot(dag: nx.DiGraph) -> str:
    """Return a graph as DOT text for Graphviz.

    The edge attribute `direction`, as in `Learned.to_networkx`, decides about the arrowhead: filled with a bar if knowledge
    fixes the direction, filled if the data support it, hollow if its stability is unknown, and none if it is undetermined.

    Args:
        dag: graph to write.

    >>> print(dot(nx.DiGraph([("a", "b")])), end="")
    digraph learned {
      "a";
      "b";
      "a" -> "b";
    }
    """

    check_characters(dag, ".dot")

    def quote(name: Any) -> str:
        return '"' + str(name).replace("\\", "\\\\").replace('"', '\\"') + '"'

    lines = [f"  {quote(name)};" for name in dag]
    for a, b, attributes in dag.edges(data=True):
        style = _DOT_STYLES.get(attributes.get("direction", ""))
        more = "" if style is None else f" [{style}, direction={quote(attributes['direction'])}]"
        lines.append(f"  {quote(a)} -> {quote(b)}{more};")
    return "\n".join(["digraph learned {", *lines, "}"]) + "\n"


def check_characters(names: Iterable[Any], path: str | os.PathLike[str]) -> None:
    """Check that a GraphML or DOT file can contain the names of the variables.

    GraphML is XML, and Graphviz converts DOT into SVG, which is also XML. Names in these files may
    therefore contain only characters of XML 1.0. Names in files with other endings are not checked.

    Args:
        names: names of the variables.
        path: path of the file to write.
    """
    ending = str(path).lower().rpartition(".")[2]
    for name in names if ending in ("graphml", "dot") else ():
        if invalid := _NOT_XML.search(str(name)):
            raise InputError(
                f"the variable {fit_text(str(name), _LONGEST)!a} contains {invalid.group()!a}, which .{ending} files cannot "
                "contain; rename it, or write with safe=True"
            )


def network_dict(network: BayesianNetwork) -> dict[str, Any]:
    """Return a network as a dict of plain values, which `write_network` writes to a .json file.

    Args:
        network: network to convert.
    """
    plain: dict[str, Any] = {} if network.recipe is None else {"recipe": network.recipe.to_dict()}
    return {
        "name": network.name,
        "variables": list(network.names),
        "edges": [list(edge) for edge in network.dag.edges],
        "states": {name: list(states) for name, states in network.states.items()},
        "parents": {name: list(parents) for name, parents in network.parents.items()},
        "cpts": {name: np.asarray(table).tolist() for name, table in network.cpts.items()},
        **plain,
    }


def write_network(network: BayesianNetwork | nx.DiGraph, path: str | os.PathLike[str], safe: bool | None = None) -> None:
    """Write a network or a graph to a file. The ending of the file name selects the format.

    Args:
        network: a network with probabilities, or a graph. A graph cannot be written as .bif.
        path: path of a .json, .bif, .graphml or .dot file.
        safe: True to replace special characters in names and states, for tools that need plain identifiers. By default, only
            .bif files have other names, and only for names that pyAgrum cannot read; the file then also contains the
            original names, which `read_bif` restores. False to write all names unchanged.
    """
    check_format(path, FORMATS)
    if safe:
        if isinstance(network, BayesianNetwork):
            network = make_labels_safe(network)
        else:
            network = nx.relabel_nodes(network, safe_labels(network))
    suffix = Path(path).suffix.lower()
    dag = get_dag(network)
    if suffix == ".bif":
        if not isinstance(network, BayesianNetwork):
            raise InputError(f"{path}: the graph has no probabilities, but .bif files need them; use `dagneal fit`")
        text = format_bif(network, restorable=safe is None)
    elif suffix == ".json":
        plain = {"variables": list(dag), "edges": [list(edge) for edge in dag.edges]}
        text = json.dumps(network_dict(network) if isinstance(network, BayesianNetwork) else plain, indent=1) + "\n"
    else:
        text = graphml(dag) if suffix == ".graphml" else dot(dag)
    with atomic_write(path) as file:
        file.write(text.encode())


def read_structure(source: str | os.PathLike[str]) -> nx.DiGraph | BayesianNetwork:
    """Read a network or a graph. A .graphml or .res file, or a .json file without probabilities, gives a graph.

    Args:
        source: path of a .bif, .json or .graphml file, path of a .res file of BLIP, whose variables are indices, or the name
            of a bundled network.
    """
    suffix = Path(source).suffix.lower()
    if suffix in (".dot", PAGE):
        raise InputError(f"{source}: dagneal cannot read {suffix} files; give a .bif, .json or .graphml file")
    if suffix not in (".json", ".graphml", ".res"):
        from dagneal.networks.bundled import load

        return load(str(source))
    try:
        text = Path(source).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{source} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if suffix == ".res":
        return _from_res(text, source)
    return _from_json(text, source) if suffix == ".json" else _from_graphml(text, source)


def read_network(source: str | os.PathLike[str]) -> BayesianNetwork:
    """Read a network with states and probabilities.

    Args:
        source: path of a .bif or .json file, or the name of a bundled network.
    """
    network = read_structure(source)
    if not isinstance(network, BayesianNetwork):
        raise InputError(f"{source} has no states and probabilities; give a .bif or .json file that has them")
    return network


def _from_json(text: str, source: str | os.PathLike[str]) -> nx.DiGraph | BayesianNetwork:
    graph = nx.DiGraph()
    try:
        content = json.loads(text)
        graph.add_nodes_from(map(str, content["variables"]))
        graph.add_edges_from((str(parent), str(child)) for parent, child in content["edges"])
        for name in graph:
            check_text(name, f"{source}: a variable")
        if sorted(graph) != sorted(map(str, content["variables"])) or any(graph.has_edge(name, name) for name in graph):
            raise ValueError
        if "cpts" not in content:
            return graph
        if not all(isinstance(labels, list) for labels in content["states"].values()):
            raise ValueError
        states = {name: tuple(map(str, labels)) for name, labels in content["states"].items()}
        parents = {name: tuple(map(str, content["parents"][name])) for name in states}
        tables = {name: np.array(content["cpts"][name], dtype=np.float64) for name in states}
        preparation = content.get("preparation")
        recipe = content.get("recipe", preparation.get("recipe") if isinstance(preparation, dict) else None)
        recipe = None if recipe is None else Recipe.from_dict(recipe)
    except InputError as error:
        raise InputError(str(error) if str(source) in str(error) else f"{source}: {error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise InputError(f"{source} is not a network; give a file written by `dagneal learn`, `fit` or `convert`") from error
    _check_agreement(graph, parents, source)
    return BayesianNetwork(states, parents, tables, str(content.get("name", "network")), recipe)


def _check_agreement(graph: nx.DiGraph, parents: Mapping[str, Sequence[str]], source: str | os.PathLike[str]) -> None:
    """Check that `variables` and `edges` of a .json file agree with `states` and `parents` of the same file."""
    if variables := sorted(set(graph) ^ set(parents)):
        keys = ("variables", "states") if variables[0] in graph else ("states", "variables")
        raise InputError(f"{source}: {variables[0]!r} is in {keys[0]!r} but not in {keys[1]!r}; make them agree")
    parent_edges = {(parent, child) for child, names in parents.items() for parent in names}
    if edges := sorted(set(graph.edges) ^ parent_edges):
        keys = ("edges", "parents") if edges[0] in graph.edges else ("parents", "edges")
        raise InputError(
            f"{source}: the edge {' -> '.join(edges[0])} is in {keys[0]!r} but not in {keys[1]!r}; make them agree, or "
            "remove 'cpts' and estimate new probabilities with `dagneal fit`"
        )


def _from_graphml(text: str, source: str | os.PathLike[str]) -> nx.DiGraph:
    from xml.etree.ElementTree import ParseError

    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError(f"{source} declares XML entities, which are not supported; remove the DOCTYPE")
    try:
        graph = nx.DiGraph(nx.parse_graphml(text))
    except (ParseError, nx.NetworkXError, KeyError, ValueError, TypeError) as error:
        raise InputError(f"{source} is not a GraphML graph") from error
    check_acyclic(graph, str(source))
    return graph


def _from_res(text: str, source: str | os.PathLike[str]) -> nx.DiGraph:
    """Return the graph of a .res file of BLIP, with lines such as `4: -2797.39 (10,17,18)` and a last line `Score: -5.3`."""
    parents: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("Score:"):
            continue
        match = _RES_LINE.fullmatch(line)
        if match is None or match["child"] in parents:
            raise InputError(
                f"{source}, line {number}: not a variable of a BLIP network, or a second line of one; write one line "
                "such as '4: -2797.39 (10,17,18)' for each variable"
            )
        parents[match["child"]] = match["parents"].replace(",", " ").split() if match["parents"] else []
    for child, names in parents.items():
        for parent in names:
            if parent not in parents:
                raise InputError(f"{source}: the parent {parent} of {child} has no line; add a line for it")
    graph = nx.DiGraph()
    graph.add_nodes_from(parents)
    graph.add_edges_from((parent, child) for child, names in parents.items() for parent in names)
    check_acyclic(graph, str(source))
    return graph


def get_dag(network: nx.DiGraph | BayesianNetwork) -> nx.DiGraph:
    """Return the graph of a network. If `network` is already a graph, return it unchanged.

    Args:
        network: a network or a graph.
    """
    return network.dag if isinstance(network, BayesianNetwork) else network
