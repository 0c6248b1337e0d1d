"""Votes: the paper's rules that combine the solutions of subproblems into a global network."""

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
    """Return the vote matrices C and P of a division, which `combine_votes` explains.

    Args:
        division: division with solved subproblems.
    """
    if division.votes is None or division.against is None:
        raise AssertionError("this division has no votes")
    return division.votes, division.against


def combine_votes(
    names: Sequence[str],
    votes: Ints,
    against: Ints,
    combine: str = "penalty",
    acyclic: bool = False,
    constraints: Constraints | None = None,
) -> tuple[nx.DiGraph, bool]:
    """Combine votes into a global graph by the paper's rules. Return the graph, and True if it is acyclic.

    Args:
        names: names of the variables.
        votes: matrix C: `votes[a, b]` is the number of solutions that contain the edge from a to b.
        against: matrix P: `against[a, b]` is the number of subproblems with a and b whose solution lacks the edge.
        combine: `penalty` keeps edges with C - P > 0; `count` keeps edges with a higher C than the reverse edge.
        acyclic: True to drop the weakest edge of each cycle.
        constraints: background knowledge. Required edges are kept; forbidden edges and reverses of required edges are
            dropped. If a child has too many parents, the parents with the weakest edges are dropped.
    """
    strength: Ints = votes - against if combine == "penalty" else votes
    edges = strength > (0 if combine == "penalty" else strength.T)
    if constraints is not None:
        edges = (edges & constraints.allowed & ~constraints.required.T) | constraints.required
        for child, limit in enumerate(constraints.limits):
            parents = np.flatnonzero(edges[:, child])
            ranked = sorted(parents, key=lambda p: (not constraints.required[p, child], -strength[p, child]))
            edges[ranked[limit:], child] = False
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    for a, b in np.argwhere(edges):
        graph.add_edge(names[a], names[b], weight=int(strength[a, b]))
    kept = set() if constraints is None else {(names[a], names[b]) for a, b in np.argwhere(constraints.required)}
    while acyclic and not nx.is_directed_acyclic_graph(graph):
        cycle = [edge for edge in nx.find_cycle(graph) if edge not in kept]
        graph.remove_edge(*min(cycle, key=lambda edge: graph.edges[edge]["weight"]))
    return graph, nx.is_directed_acyclic_graph(graph)


def solution_from_votes(problem: Scorer | ScoreTable, division: Division, acyclic: bool) -> Solution:
    """Combine the votes of a division into a solution.

    Args:
        problem: scorer or score table of all variables. It scores the graph if the graph has no cycle.
        division: division with votes.
        acyclic: True to drop the weakest edge of each cycle.
    """
    names = problem.data.names if isinstance(problem, Scorer) else problem.names
    votes, against = votes_of(division)
    constraints = problem.constraints if isinstance(problem, Scorer) else None
    graph, no_cycle = combine_votes(names, votes, against, division.combine, acyclic, constraints)
    score = float("nan")
    if no_cycle:
        with suppress(InputError):  # the graph can have too many parents to be scored
            score = problem.score(graph)
    return Solution(
        dag=graph,
        score=score,
        max_parents=max(degree for _, degree in graph.in_degree),
        solver=f"divide ({division.combine})",
        optimal=False,
        division=replace(division, acyclic=no_cycle),
    )
