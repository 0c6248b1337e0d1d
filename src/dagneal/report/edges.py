"""Descriptions of the edges of a network, for the drawing and the edge table of the page."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import Any

import networkx as nx

from dagneal.base.text import fit_text
from dagneal.confidence.annotated import AnnotatedSolution, Confidence
from dagneal.graphs.dags import cpdag
from dagneal.graphs.directions import Direction
from dagneal.graphs.knowledge import equivalence_class

KINDS = {
    "true-positive": "true positive",
    "equivalent": "reversed but equivalent",
    "reversed": "reversed",
    "false-positive": "false positive",
    "missing": "missing",
    "near-miss": "frequent in the bootstrap, not in the network",
}
"""Kinds of edges in a comparison with the truth, and near misses: text for each CSS class."""
NEAR_MISS = "near-miss"
ABSENT = ("missing", NEAR_MISS)  # kinds of edges that the learned network does not have
FIXED, LIGHT = "fixed", "light"  # CSS classes of edges: arrowhead with a bar, and hollow arrowhead
_HEADS = {Direction.FIXED: FIXED, Direction.SUPPORTED: "", Direction.COMPELLED: LIGHT}
FREQUENT = 0.8  # an edge with a lower bootstrap frequency is dashed
WIDTH_STEPS = (3.0, 10.0, 30.0, 100.0)  # score drops, in nats, at which the line of an edge becomes wider
_NAME = 40  # longest name in a tooltip, in columns
# Entries of an edge without measures: all are None.
_MEASURES = ("drop_if_removed", "drop_if_reversed", "frequency", "forward", "posterior", "posterior_forward")
_UNKNOWN = dict.fromkeys((*_MEASURES, "votes", "against"))


def describe_edges(solution: AnnotatedSolution, truth: nx.DiGraph | None, near_misses: bool = False) -> list[dict[str, Any]]:
    """Return a list with a dict for each edge: measures and texts. Edges that only the true graph has are included.

    Args:
        solution: learned network with its measures.
        truth: true graph to compare with; None for no comparison.
        near_misses: True to add edges that are frequent in the bootstrap but absent from both graphs.
    """
    strength_of = {(each.parent, each.child): each for each in solution.known_strengths or ()}
    is_dag = nx.is_directed_acyclic_graph(solution.dag)
    class_ = equivalence_class(solution.dag, solution.knowledge) if is_dag else None
    confidence = solution.confidence or Confidence()
    bootstrap, threshold = confidence.bootstrap, confidence.threshold
    kinds = {} if truth is None else classify_edges(solution.dag, truth, class_)
    edges: list[dict[str, Any]] = []
    for parent, child in solution.edges:
        strength = strength_of.get((parent, child))
        direction = solution.directions.get((parent, child))
        edge = {"from": parent, "to": child, "kind": kinds.get((parent, child), ""), "weak": False}
        edge |= _describe_direction(direction)
        edge |= _UNKNOWN
        if strength is not None:
            reversed_drop = "cycle" if strength.drop_if_reversed is None else strength.drop_if_reversed
            edge |= {"drop_if_removed": strength.drop_if_removed, "drop_if_reversed": reversed_drop}
        if bootstrap is not None:
            frequency, forward = bootstrap.frequency(parent, child)
            edge |= {"frequency": frequency, "weak": frequency < threshold, "forward": forward if frequency else None}
        if confidence.posteriors is not None:
            posterior, forward = confidence.posteriors.probability(parent, child)
            edge |= {"posterior": posterior, "posterior_forward": forward if posterior else None}
        edges.append(edge | _votes(solution, parent, child))
    for (parent, child), kind in kinds.items():
        if kind == "missing":
            flags = {"direction": "", "arrow": True, "head": "", "weak": False}
            edges.append({"from": parent, "to": child, "kind": kind} | flags | _UNKNOWN)
    edges += _describe_near_misses(solution, kinds) if near_misses else []
    for edge in edges:
        classes = ["edge", str(edge["kind"]), str(edge["head"]), _line_style(edge), _line_width(edge)]
        edge["class"] = " ".join(name for name in classes if name)
        edge["label"] = _label(edge, str)
        edge["tip"] = _label(edge, lambda name: fit_text(name, _NAME))
    return edges


def _describe_direction(direction: Direction | None) -> dict[str, Any]:
    """Return the text of a direction, whether the edge has an arrowhead, and the CSS class of the arrowhead."""
    if direction is None:  # a graph with a cycle
        return {"direction": "", "arrow": True, "head": LIGHT}
    has_arrow = direction is not Direction.UNDETERMINED
    return {"direction": str(direction), "arrow": has_arrow, "head": _HEADS.get(direction, "")}


def _line_style(edge: Mapping[str, Any]) -> str:
    """Return the CSS class for the bootstrap frequency of an edge: dotted, dashed or solid."""
    if edge["weak"]:
        return "weak"
    return "fair" if edge["kind"] != NEAR_MISS and edge["frequency"] is not None and edge["frequency"] < FREQUENT else ""


def _line_width(edge: Mapping[str, Any]) -> str:
    """Return the CSS class for the strength of an edge: from `w1` (thin) to `w5`; empty if the strength is unknown."""
    drop = edge["drop_if_removed"]
    return "" if drop is None else f"w{1 + bisect_right(WIDTH_STEPS, drop)}"


def _describe_near_misses(solution: AnnotatedSolution, compared: Mapping[tuple[str, str], str]) -> list[dict[str, Any]]:
    """Return a dict for each near miss, except for pairs of variables that are in a comparison with the truth."""
    flags = {"kind": NEAR_MISS, "direction": "", "arrow": False, "head": "", "weak": False}
    return [
        {"from": miss.parent, "to": miss.child} | flags | _UNKNOWN | {"frequency": miss.frequency, "forward": miss.forward}
        for miss in solution.near_misses
        if (miss.parent, miss.child) not in compared and (miss.child, miss.parent) not in compared
    ]


def classify_edges(graph: nx.DiGraph, truth: nx.DiGraph, class_: nx.DiGraph | None = None) -> dict[tuple[str, str], str]:
    """Return a dict from each edge of `graph`, and each missing edge, to the kind of the edge; see `KINDS`.

    A reversed edge has the kind `equivalent` if the edge is reversible in the equivalence classes of both graphs.

    Args:
        graph: graph to compare with the truth.
        truth: true graph.
        class_: equivalence class (CPDAG) of `graph`, given the background knowledge; None if `graph` has a cycle.

    >>> chain, truth = nx.DiGraph([("a", "b"), ("b", "c")]), nx.DiGraph([("b", "a"), ("b", "c"), ("c", "d")])
    >>> classify_edges(chain, truth, cpdag(chain))
    {('a', 'b'): 'equivalent', ('b', 'c'): 'true-positive', ('c', 'd'): 'missing'}
    """
    true_class = cpdag(truth) if class_ is not None and nx.is_directed_acyclic_graph(truth) else nx.DiGraph()
    kinds = {}
    for parent, child in graph.edges:
        if truth.has_edge(parent, child):
            kinds[parent, child] = "true-positive"
        elif not truth.has_edge(child, parent):
            kinds[parent, child] = "false-positive"
        else:
            reversible = class_ is not None and class_.has_edge(child, parent) and true_class.has_edge(parent, child)
            kinds[parent, child] = "equivalent" if reversible else "reversed"
    for parent, child in truth.edges:
        if not graph.has_edge(parent, child) and not graph.has_edge(child, parent):
            kinds[parent, child] = "missing"
    return kinds


def _votes(solution: AnnotatedSolution, parent: str, child: str) -> dict[str, int]:
    division = solution.division
    if division is None or division.votes is None or division.against is None:
        return {}
    names = list(solution.dag)
    at = names.index(parent), names.index(child)
    return {"votes": int(division.votes[at]), "against": int(division.against[at])}


def _label(edge: Mapping[str, Any], format_name: Callable[[str], str]) -> str:
    """Describe an edge in one line of text, for tooltips and screen readers."""
    parts = [f"{format_name(edge['from'])} {'→' if edge['arrow'] else '-'} {format_name(edge['to'])}"]
    if edge["kind"]:
        parts.append(KINDS[edge["kind"]])
    if edge["drop_if_removed"] is not None:
        parts.append(f"score drop {edge['drop_if_removed']:.2f} nats if removed")
        drop = edge["drop_if_reversed"]
        parts.append("reversal makes a cycle" if drop == "cycle" else f"{drop:.2f} nats if reversed")
    if edge["direction"]:
        parts.append(f"direction {edge['direction']}")
    if edge["frequency"] is not None:
        parts.append(f"in {edge['frequency']:.0%} of bootstrap samples")
        if edge["forward"] is not None:
            parts.append(f"{edge['forward']:.0%} of these in this direction")
    if edge["posterior"] is not None:
        parts.append(f"posterior probability {edge['posterior']:.0%}")
        if edge["posterior_forward"] is not None:
            parts.append(f"{edge['posterior_forward']:.0%} of it in this direction")
    if edge["votes"] is not None:
        parts.append(f"{edge['votes']} votes for, {edge['against']} votes against")
    return "; ".join(parts)
