"""Judgement of the directions of edges: what fixes or supports each direction.

All texts, tables, drawings and files use the judgement of this module.
"""

from __future__ import annotations

import networkx as nx

from dagneal.base.defaults import AGREEMENT, WEAK_EDGE
from dagneal.confidence.bootstrap import Bootstrap, NearMiss
from dagneal.graphs.directions import Direction
from dagneal.graphs.knowledge import Edge, Knowledge, equivalence_class, fixed_edges


def judge_directions(
    dag: nx.DiGraph,
    knowledge: Knowledge | None = None,
    bootstrap: Bootstrap | None = None,
    threshold: float = WEAK_EDGE,
    from_votes: bool = False,
) -> dict[Edge, Direction]:
    """Return the support for the direction of each edge of a DAG.

    - `FIXED`: background knowledge requires the edge or does not allow its reversal.
    - `SUPPORTED`: the edge is compelled, and at least 80% of the bootstrap samples that have the edge agree with its
      direction. A sample in which the edge is reversible counts half. A sample without the edge has no opinion about its
      direction; but if too many samples lack the edge, that is, if it is weak, its direction is not supported either.
    - `COMPELLED`: all networks of the equivalence class have this direction, and no bootstrap was done. The class itself is
      an estimate, so the stability of the direction is unknown.
    - `UNDETERMINED`: all other edges.

    Args:
        dag: network to judge.
        knowledge: background knowledge, if any.
        bootstrap: bootstrap frequencies, if any.
        threshold: bootstrap frequency below which an edge is weak.
        from_votes: True if the bootstrap samples chose the directions, as in a consensus. An edge then need not be
            compelled.

    >>> {str(direction) for direction in judge_directions(nx.DiGraph([("a", "c"), ("b", "c")])).values()}
    {'compelled, stability unknown'}
    >>> {str(direction) for direction in judge_directions(nx.DiGraph([("a", "b"), ("b", "c")])).values()}
    {'undetermined'}
    """
    fixed = set(fixed_edges(dag, knowledge))
    class_ = equivalence_class(dag, knowledge)
    index = {} if bootstrap is None else {name: i for i, name in enumerate(bootstrap.names)}

    def judge(parent: str, child: str) -> Direction:
        if (parent, child) in fixed:
            return Direction.FIXED
        if class_.has_edge(child, parent) and not (from_votes and bootstrap is not None):
            return Direction.UNDETERMINED
        if bootstrap is None:
            return Direction.COMPELLED
        pair = index[parent], index[child]
        frequency, votes = bootstrap.edges[pair], bootstrap.directions[pair]
        is_supported = frequency > 0 and frequency >= threshold and votes >= AGREEMENT * frequency
        return Direction.SUPPORTED if is_supported else Direction.UNDETERMINED

    return {edge: judge(*edge) for edge in dag.edges}


def judge_near_miss(miss: NearMiss) -> Direction:
    """Return what the bootstrap says about the direction of an edge that the network does not have.

    Args:
        miss: edge that is frequent in the bootstrap.
    """
    return Direction.SUPPORTED if miss.forward >= AGREEMENT else Direction.UNDETERMINED
