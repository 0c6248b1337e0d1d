"""What the page tells of each edge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import networkx as nx

from dagneal.base.text import fit_text
from dagneal.confidence.finding import Confidence, Finding
from dagneal.confidence.measures import Strength, strengths
from dagneal.graphs.dags import cpdag
from dagneal.graphs.knowledge import equivalence_class

_NAME = 40  # columns of a name where an edge is pointed at
_UNKNOWN = dict.fromkeys(("loss", "turned", "share", "forward", "votes", "against"))
_KINDS = {"turned": "turned round", "equivalent": "turned round, but the data cannot tell it from the truth"}


def edges_of(found: Finding, truth: nx.DiGraph | None) -> list[dict[str, Any]]:
    """All that is to be known of each edge, also of those of a truth that are missing.

    Args:
        found: the network.
        truth: to compare with.
    """
    known = _strengths(found)
    class_ = equivalence_class(found.dag, found.knowledge) if nx.is_directed_acyclic_graph(found.dag) else None
    confidence = found.confidence or Confidence()
    resampled, threshold = confidence.bootstrap, confidence.threshold
    kinds = {} if truth is None else against(found.dag, truth, class_)
    listed: list[dict[str, Any]] = []
    for parent, child in found.edges:
        strength = known.get((parent, child))
        open_way = class_ is not None and class_.has_edge(child, parent)
        edge = {
            "from": parent,
            "to": child,
            "kind": kinds.get((parent, child), ""),
            "open": open_way,
            "arrow": not open_way,
            "cyclic": class_ is None,
            "weak": False,
        }
        edge |= _UNKNOWN
        if strength is not None:
            edge |= {"loss": strength.loss, "turned": strength.turned}
        if resampled is not None:
            share, forward = resampled.of(parent, child)
            edge |= {"share": share, "weak": share < threshold, "forward": forward if share else None}
        listed.append(edge | _votes(found, parent, child))
    for (parent, child), kind in kinds.items():
        if kind == "missing":
            edge = {"from": parent, "to": child, "kind": kind, "open": False, "arrow": True, "cyclic": False, "weak": False}
            listed.append(edge | _UNKNOWN)
    for edge in listed:
        words = ["edge", str(edge["kind"]), "weak" if edge["weak"] else ""]
        edge["class"] = " ".join(word for word in words if word)
        edge["label"] = _label(edge, str)
        edge["tip"] = _label(edge, lambda name: fit_text(name, _NAME))
    return listed


def against(found: nx.DiGraph, truth: nx.DiGraph, class_: nx.DiGraph | None = None) -> dict[tuple[str, str], str]:
    """Each edge of a graph against the truth: right, turned, equivalent or wrong; and those of the truth that are missing.

    An edge that is turned round is equivalent where its direction is open in the equivalence classes of both graphs.

    Args:
        found: the graph.
        truth: the true one.
        class_: the equivalence class of the graph, with what was known before; None where it has a cycle.

    >>> chain, truth = nx.DiGraph([("a", "b"), ("b", "c")]), nx.DiGraph([("b", "a"), ("b", "c"), ("c", "d")])
    >>> against(chain, truth, cpdag(chain))
    {('a', 'b'): 'equivalent', ('b', 'c'): 'right', ('c', 'd'): 'missing'}
    """
    true_class = cpdag(truth) if class_ is not None and nx.is_directed_acyclic_graph(truth) else nx.DiGraph()
    kinds = {}
    for parent, child in found.edges:
        if truth.has_edge(parent, child):
            kinds[parent, child] = "right"
        elif not truth.has_edge(child, parent):
            kinds[parent, child] = "wrong"
        else:
            open_ways = class_ is not None and class_.has_edge(child, parent) and true_class.has_edge(parent, child)
            kinds[parent, child] = "equivalent" if open_ways else "turned"
    for parent, child in truth.edges:
        if not found.has_edge(parent, child) and not found.has_edge(child, parent):
            kinds[parent, child] = "missing"
    return kinds


def _strengths(found: Finding) -> dict[tuple[str, str], Strength]:
    """What the score says of the edges: as it was told before, else computed where there are data and a score."""
    listed = None if found.confidence is None else found.confidence.strengths
    if listed is None:
        if found.data is None or found.criterion is None or found.score != found.score:
            return {}
        listed = strengths(found.dag, found.data, found.criterion, found.knowledge)
    return {(each.parent, each.child): each for each in listed}


def _votes(found: Finding, parent: str, child: str) -> dict[str, int]:
    division = found.division
    if division is None or division.votes is None or division.against is None:
        return {}
    names = list(found.dag)
    at = names.index(parent), names.index(child)
    return {"votes": int(division.votes[at]), "against": int(division.against[at])}


def _label(edge: Mapping[str, Any], named: Callable[[str], str]) -> str:
    """An edge in words, shown where it is pointed at."""
    words = [f"{named(edge['from'])} {'-' if edge['open'] else '→'} {named(edge['to'])}"]
    if edge["kind"]:
        words.append(_KINDS.get(edge["kind"], edge["kind"]))
    if edge["loss"] is not None:
        words.append(f"the score loses {edge['loss']:.2f} nats without it")
        words.append("turned round it makes a cycle" if edge["turned"] is None else f"{edge['turned']:.2f} turned round")
        words.append("the data do not decide its direction" if edge["open"] else "direction decided")
    if edge["share"] is not None:
        words.append(f"in {edge['share']:.0%} of resamples")
        if edge["forward"] is not None:
            words.append(f"of these {edge['forward']:.0%} this way")
    if edge["votes"] is not None:
        words.append(f"{edge['votes']} votes for it, {edge['against']} against")
    return "; ".join(words)
