"""What the page tells of each edge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx

from dagneal.confidence import strengths
from dagneal.knowledge import Knowledge, class_of
from dagneal.learned import Learned

_WEAK = 0.5


def edges_of(found: Learned, truth: nx.DiGraph | None) -> list[dict[str, Any]]:
    """All that is to be known of each edge, also of those of a truth that are missing.

    Args:
        found: the network.
        truth: to compare with.
    """
    known = (
        {(s.parent, s.child): s for s in strengths(found)} if found.data is not None and found.score == found.score else {}
    )
    sure = {frozenset(pair["between"]): pair for pair in ((found.confidence or {}).get("bootstrap") or {}).get("pairs", [])}
    place = {name: i for i, name in enumerate(found.dag)}
    known_before = Knowledge(**found.knowledge) if found.knowledge else None
    open_both_ways = class_of(found.dag, known_before) if nx.is_directed_acyclic_graph(found.dag) else None
    threshold = (found.confidence or {}).get("threshold", _WEAK)
    listed: list[dict[str, Any]] = []
    for parent, child in found.edges:
        strength = known.get((parent, child))
        open_way = open_both_ways is not None and open_both_ways.has_edge(child, parent)
        pair = sure.get(frozenset((parent, child)))
        kind = "" if truth is None else _against(truth, parent, child)
        forward = None
        if pair is not None and pair["adjacent"]:
            forward = pair["forward" if pair["between"][0] == parent else "backward"] / pair["adjacent"]
        votes = against = None
        if found.division is not None and found.division.votes is not None and found.division.against is not None:
            votes = int(found.division.votes[place[parent], place[child]])
            against = int(found.division.against[place[parent], place[child]])
        listed.append(
            {
                "from": parent,
                "to": child,
                "kind": kind,
                "loss": None if strength is None else strength.loss,
                "turned": None if strength is None else strength.turned,
                "open": open_way,
                "share": None if pair is None else pair["adjacent"],
                "forward": forward,
                "votes": votes,
                "against": against,
                "weak": pair is not None and pair["adjacent"] < threshold,
                "arrow": not open_way,
                "cyclic": open_both_ways is None,
            }
        )
    for parent, child in truth.edges if truth is not None else ():
        if not found.dag.has_edge(parent, child) and not found.dag.has_edge(child, parent):
            empty = dict.fromkeys(("loss", "turned", "share", "forward", "votes", "against"))
            listed.append(
                {
                    "from": parent,
                    "to": child,
                    "kind": "missing",
                    "open": False,
                    "weak": False,
                    "arrow": True,
                    "cyclic": False,
                }
                | empty
            )
    for edge in listed:
        words = ["edge", str(edge["kind"]), "weak" if edge["weak"] else ""]
        edge["class"] = " ".join(word for word in words if word)
        edge["label"] = _label(edge)
    return listed


def _against(truth: nx.DiGraph, parent: str, child: str) -> str:
    if truth.has_edge(parent, child):
        return "right"
    return "turned" if truth.has_edge(child, parent) else "wrong"


def _label(edge: Mapping[str, Any]) -> str:
    """An edge in words, shown where it is pointed at."""
    words = [f"{edge['from']} {'-' if edge['open'] else '→'} {edge['to']}"]
    if edge["kind"]:
        words.append("turned round" if edge["kind"] == "turned" else edge["kind"])
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
