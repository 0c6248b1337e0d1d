"""Choose the order variables of a QUBO, and the triples of variables that must not form a cycle."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Ints

Order = Literal["complete", "chordal"]


@dataclass(frozen=True, eq=False)
class OrderVariables:
    """The order variables and the constraints that exclude cycles.

    Attributes:
        pairs: pairs (a, b) with an order variable; column a precedes column b in the data.
        triangles: triples (a, b, c) whose three order variables must not form a cycle.
        exclusive: pairs without an order variable that may have an edge in either direction, but not in both.
        components: biconnected components of the graph that connects the two variables of each pair in `pairs`. Every cycle
            lies in one component. Two components share at most one variable.
        component: for each triangle, the index of its component in `components`.
        complete: whether all pairs have an order variable.
    """

    pairs: Ints
    triangles: Ints
    exclusive: Ints
    components: tuple[Ints, ...]
    component: Ints
    complete: bool


def choose_order_variables(edges: NDArray[np.bool_], order: Order) -> OrderVariables:
    """Choose the pairs of variables that get an order variable.

    Args:
        edges: matrix of possible edges; `edges[parent, child]` is True if the edge has an edge variable.
        order: `complete` for all pairs, as in the paper, or `chordal` for the pairs that are needed to exclude cycles.

    Why `chordal` excludes all cycles: A cycle stays within a strongly connected component of the possible edges. In each
    component, the pairs with a possible edge are completed to a chordal graph. If an orientation of a chordal graph has no
    directed triangle, it has no directed cycle: a longer cycle has a chord, and the chord gives a shorter cycle. If an edge
    of a chordal graph is in no triangle, it is in no cycle of three or more variables. The two variables of this edge need
    no order variable; it is enough to exclude edges in both directions.

    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)
    >>> [len(choose_order_variables(path, order).pairs) for order in ("complete", "chordal")]
    [3, 0]
    """
    n = len(edges)
    if order == "complete":
        joined = ~np.eye(n, dtype=bool)
        has_variable = joined
    else:
        strong = np.zeros(n, dtype=np.int64)
        for number, members in enumerate(
            nx.strongly_connected_components(nx.from_numpy_array(edges, create_using=nx.DiGraph))
        ):
            strong[list(members)] = number
        joined = complete_to_chordal(edges & (strong[:, None] == strong[None, :]))
        has_variable = joined & (joined.astype(np.int64) @ joined.astype(np.int64) > 0)
    graph = nx.from_numpy_array(has_variable)
    components = [np.array(sorted(members)) for members in nx.biconnected_components(graph)] if n > 1 else []
    triangles = [
        (a, b, c) for a, b in np.argwhere(np.triu(joined)).tolist() for c in range(b + 1, n) if joined[a, c] and joined[b, c]
    ]
    component = [
        next(i for i, members in enumerate(components) if set(corners) <= set(members.tolist())) for corners in triangles
    ]
    return OrderVariables(
        pairs=np.argwhere(np.triu(has_variable)),
        triangles=np.array(triangles, dtype=np.int64).reshape(-1, 3),
        components=tuple(components),
        component=np.array(component, dtype=np.int64),
        exclusive=np.argwhere(np.triu(joined & ~has_variable & edges & edges.T)),
        complete=bool(order == "complete"),
    )


def complete_to_chordal(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Add edges to a graph until it is chordal, and return its adjacency matrix.

    In a chordal graph, every cycle of four or more vertices has a chord. The min-fill rule takes one vertex at a time,
    connects all its neighbours to each other, and removes the vertex. It takes the vertex that needs the fewest new edges.

    Args:
        edges: adjacency matrix of the graph; directions are ignored.

    >>> square = np.roll(np.eye(4, dtype=bool), 1, axis=1)
    >>> int(np.triu(complete_to_chordal(square)).sum())
    5
    """
    joined = edges | edges.T
    left = joined.copy()
    remaining = set(range(len(edges)))

    def missing_pairs(v: int) -> list[tuple[int, int]]:
        return [(a, b) for a, b in combinations(np.flatnonzero(left[v]).tolist(), 2) if not left[a, b]]

    while remaining:
        vertex = min(remaining, key=lambda v: (len(missing_pairs(v)), int(left[v].sum()), v))
        for a, b in missing_pairs(vertex):
            for graph in (left, joined):
                graph[a, b] = graph[b, a] = True
        left[vertex] = left[:, vertex] = False
        remaining.discard(vertex)
    return joined
