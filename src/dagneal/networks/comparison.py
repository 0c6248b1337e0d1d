"""How a learned graph compares with the truth."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import networkx as nx

from dagneal.graphs.dags import check_variables, cpdag

if TYPE_CHECKING:
    from dagneal.scoring.scorer import Scorer


@dataclass(frozen=True)
class Comparison:
    """A graph against the truth.

    Attributes:
        right: edges of the truth that were found, with their direction.
        wrong: edges found that are not in the truth, turned ones among them.
        missing: edges of the truth that were not found, turned ones among them.
        sensitivity: share of the true edges that were found.
        specificity: share of the n(n-1) - true possible edges that were rightly left out (the paper's definition).
        precision: share of the edges found that are right.
        f1: harmonic mean of precision and sensitivity.
        shd: structural Hamming distance: pairs of variables that are connected differently.
        cpdag_shd: the same between the equivalence classes; None where a graph has a cycle.
        score: the log score of the graph found; None where no scorer was given or the graph has a cycle.
        score_gap: how far it lies below the log score of the truth; negative where it scores higher.
    """

    right: int
    wrong: int
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
        """The figures as plain values."""
        return asdict(self)


def compare(found: nx.DiGraph, truth: nx.DiGraph, scorer: Scorer | None = None) -> Comparison:
    """Compare a graph with the true one.

    Args:
        found: a directed graph; with a cycle it has no equivalence class, all else is counted.
        truth: a DAG over the same variables.
        scorer: scores both graphs, with as many parents as they have.

    A share of nothing counts as 1: with no true edges none was missed, with no edges found none was wrong.

    >>> import networkx as nx
    >>> compare(nx.DiGraph([("a", "b"), ("b", "c")]), nx.DiGraph([("a", "b"), ("c", "b")]))
    ... # doctest: +NORMALIZE_WHITESPACE
    Comparison(right=1, wrong=1, missing=1, sensitivity=0.5, specificity=0.75, precision=0.5, f1=0.5, shd=1,
               cpdag_shd=2, score=None, score_gap=None)
    """
    check_variables(found, truth, "the first graph", "the second")
    n = len(truth)
    edges, true = set(found.edges), set(truth.edges)
    right, wrong, missing = len(edges & true), len(edges - true), len(true - edges)
    acyclic = nx.is_directed_acyclic_graph(found) and nx.is_directed_acyclic_graph(truth)
    score = scorer.score(found) if scorer is not None and acyclic else None
    return Comparison(
        right=right,
        wrong=wrong,
        missing=missing,
        sensitivity=_share(right, len(true)),
        specificity=_share(n * (n - 1) - len(edges | true), n * (n - 1) - len(true)),
        precision=_share(right, len(edges)),
        f1=_share(2 * right, len(edges) + len(true)),
        shd=structural_distance(found, truth),
        cpdag_shd=structural_distance(cpdag(found), cpdag(truth)) if acyclic else None,
        score=score,
        score_gap=None if scorer is None or score is None else scorer.score(truth) - score,
    )


def structural_distance(a: nx.DiGraph, b: nx.DiGraph) -> int:
    """How many pairs of nodes are connected differently: not, one way, the other way or both ways.

    Args:
        a: a graph, perhaps partially directed (an undirected edge goes both ways).
        b: another over the same nodes.

    >>> import networkx as nx
    >>> structural_distance(nx.DiGraph([("a", "b")]), nx.DiGraph([("b", "a")]))
    1
    """
    differ = {frozenset(edge) for edge in set(a.edges) ^ set(b.edges)}
    return len(differ)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
