"""Votes: the paper's reconstruction of the whole from what the subproblems say."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import networkx as nx
import numpy as np

from dagneal.base.errors import InputError
from dagneal.base.kernels import Ints
from dagneal.graphs.knowledge import Constraints
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.table import ScoreTable
from dagneal.solvers.solution import Division, Solution


def votes_of(division: Division) -> tuple[Ints, Ints]:
    """C and P of a division whose subproblems were solved.

    Args:
        division: with votes.
    """
    if division.votes is None or division.against is None:
        raise AssertionError("subproblems were solved, so there are votes")
    return division.votes, division.against


def combine_votes(
    names: Sequence[str],
    votes: Ints,
    against: Ints,
    combine: str = "penalty",
    acyclic: bool = False,
    rules: Constraints | None = None,
) -> tuple[nx.DiGraph, bool]:
    """Reconstruct the global network from votes as the paper does, and return whether it has no cycle.

    Args:
        names: the variables.
        votes: C, in how many subproblems each edge (row to column) is.
        against: P, in how many of those that hold both its ends it is not.
        combine: `penalty`, an edge with C - P > 0, or another for C > 0 and C above that of the reverse edge.
        acyclic: drop the weakest edge of each cycle.
        rules: required edges are there whatever the votes, and their reverses not; the weakest of too many parents are not.
    """
    strength: Ints = votes - against if combine == "penalty" else votes
    edges = strength > (0 if combine == "penalty" else strength.T)
    if rules is not None:
        edges = (edges & rules.allowed & ~rules.required.T) | rules.required
        for child, limit in enumerate(rules.limits):
            parents = np.flatnonzero(edges[:, child])
            ranked = sorted(parents, key=lambda p: (not rules.required[p, child], -strength[p, child]))
            edges[ranked[limit:], child] = False
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    for a, b in np.argwhere(edges):
        graph.add_edge(names[a], names[b], weight=int(strength[a, b]))
    kept = set() if rules is None else {(names[a], names[b]) for a, b in np.argwhere(rules.required)}
    while acyclic and not nx.is_directed_acyclic_graph(graph):
        cycle = [edge for edge in nx.find_cycle(graph) if edge not in kept]
        graph.remove_edge(*min(cycle, key=lambda edge: graph.edges[edge]["weight"]))
    return graph, nx.is_directed_acyclic_graph(graph)


def solution_of_votes(problem: Scorer | ScoreTable, division: Division, acyclic: bool) -> Solution:
    """Return the network that the votes of a division make.

    Args:
        problem: what was divided, which scores the network, if it is one.
        division: with votes.
        acyclic: drop the weakest edge of each cycle.
    """
    names = problem.data.names if isinstance(problem, Scorer) else problem.names
    votes, against = votes_of(division)
    rules = problem.rules if isinstance(problem, Scorer) else None
    graph, no_cycle = combine_votes(names, votes, against, division.combine, acyclic, rules)
    score = float("nan")
    if no_cycle:
        with suppress(InputError):  # more parents than a table or a key holds
            score = problem.score(graph)
    return Solution(
        dag=graph,
        score=score,
        max_parents=max(degree for _, degree in graph.in_degree),
        solver=f"divide ({division.combine})",
        optimal=False,
        division=replace(division, acyclic=no_cycle),
    )
