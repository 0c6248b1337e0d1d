"""Comparison of a learned graph with the true graph."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import networkx as nx

from dagneal.graphs.dags import check_variables, cpdag

if TYPE_CHECKING:
    from dagneal.scoring.scorer import Scorer


@dataclass(frozen=True)
class Comparison:
    """The differences between a learned graph and the true graph.

    Attributes:
        true_positives: number of learned edges that the true graph has in the same direction.
        false_positives: number of learned edges that the true graph lacks, including reversed edges.
        missing: number of true edges that the learned graph lacks, including reversed edges.
        sensitivity: true positives divided by the number of true edges.
        specificity: among the ordered pairs of variables without a true edge, the fraction without a learned edge. The
            paper uses the same definition.
        precision: true positives divided by the number of learned edges.
        f1: harmonic mean of precision and sensitivity.
        shd: structural Hamming distance, which is the number of pairs of variables that the two graphs connect differently.
        cpdag_shd: structural Hamming distance between the CPDAGs of the two graphs; None if a graph has a cycle.
        score: log score of the learned graph; None without a scorer, or if a graph has a cycle.
        score_gap: log score of the true graph minus `score`; negative if the learned graph scores higher.
    """

    true_positives: int
    false_positives: int
    missing: int
    sensitivity: float
    specificity: float
    precision: float
    f1: float
    shd: int
    cpdag_shd: int | None
    score: float | None = None
    score_gap: float | None = None

    def to_dict(self) -> dict[str, float | int | None]:
        """Return the attributes of the comparison as a dict."""
        return asdict(self)


def compare(learned: nx.DiGraph, truth: nx.DiGraph, scorer: Scorer | None = None) -> Comparison:
    """Compare a learned graph with the true graph.

    Args:
        learned: learned graph. If it has a cycle, the CPDAG distance and the scores are None.
        truth: true DAG with the same variables.
        scorer: scorer that scores both graphs, or None to omit the scores.

    A fraction with denominator 0 is 1. For example, the sensitivity is 1 if there are no true edges.

    >>> import networkx as nx
    >>> compare(nx.DiGraph([("a", "b"), ("b", "c")]), nx.DiGraph([("a", "b"), ("c", "b")]))
    ... # doctest: +NORMALIZE_WHITESPACE
    Comparison(true_positives=1, false_positives=1, missing=1, sensitivity=0.5, specificity=0.75, precision=0.5, f1=0.5,
               shd=1, cpdag_shd=2, score=None, score_gap=None)
    """
    check_variables(learned, truth, "the first graph", "the second graph")
    n = len(truth)
    edges, true_edges = set(learned.edges), set(truth.edges)
    true_positives = len(edges & true_edges)
    acyclic = nx.is_directed_acyclic_graph(learned) and nx.is_directed_acyclic_graph(truth)
    score = scorer.score(learned) if scorer is not None and acyclic else None
    return Comparison(
        true_positives=true_positives,
        false_positives=len(edges - true_edges),
        missing=len(true_edges - edges),
        sensitivity=_fraction(true_positives, len(true_edges)),
        specificity=_fraction(n * (n - 1) - len(edges | true_edges), n * (n - 1) - len(true_edges)),
        precision=_fraction(true_positives, len(edges)),
        f1=_fraction(2 * true_positives, len(edges) + len(true_edges)),
        shd=structural_distance(learned, truth),
        cpdag_shd=structural_distance(cpdag(learned), cpdag(truth)) if acyclic else None,
        score=score,
        score_gap=None if scorer is None or score is None else scorer.score(truth) - score,
    )


def structural_distance(a: nx.DiGraph, b: nx.DiGraph) -> int:
    """Return the structural Hamming distance: the number of pairs of nodes that two graphs connect differently.

    A pair of nodes x and y can be connected in four ways: no edge, x -> y, y -> x, or edges in both directions.

    Args:
        a: directed or partially directed graph. An undirected edge is an edge in both directions.
        b: another graph with the same nodes.

    >>> import networkx as nx
    >>> structural_distance(nx.DiGraph([("a", "b")]), nx.DiGraph([("b", "a")]))
    1
    """
    return len({frozenset(edge) for edge in set(a.edges) ^ set(b.edges)})


def _fraction(part: int, total: int) -> float:
    return part / total if total else 1.0
