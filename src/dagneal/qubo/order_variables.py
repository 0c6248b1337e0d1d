"""Order bits: which pairs of variables need one, and which triangles must not be cycles."""

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
class Ordering:
    """What keeps a graph free of cycles.

    Attributes:
        pairs: the pairs (a, b), a before b in the data's columns, with an order bit.
        triangles: the triples (a, b, c) of variables whose three order bits must not make a cycle.
        exclusive: the pairs without an order bit that may have an edge either way, but not both.
        parts: the groups of variables in which all cycles lie, those of a variable in several overlapping in it alone.
        part: the group of each triangle.
        complete: whether all pairs have an order bit.
    """

    pairs: Ints
    triangles: Ints
    exclusive: Ints
    parts: tuple[Ints, ...]
    part: Ints
    complete: bool


def ordering(edges: NDArray[np.bool_], order: Order) -> Ordering:
    """The order bits for a set of possible edges.

    Args:
        edges: `edges[parent, child]`, which edges have a bit.
        order: `complete` for all pairs, as in the paper; `chordal` for those that matter.

    A cycle stays within a strongly connected component of the possible edges. There the pairs with a possible edge are
    completed to a chordal graph: an orientation of a chordal graph without a directed triangle has no directed cycle at all,
    since a longer one has a chord, which makes a shorter one. An edge of a chordal graph that is in no triangle is on no
    cycle of three and more; there it is enough that not both directions are taken.

    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)
    >>> len(ordering(path, "complete").pairs), len(ordering(path, "chordal").pairs)
    (3, 0)
    """
    n = len(edges)
    if order == "complete":
        joined = ~np.eye(n, dtype=bool)
        has_bit = joined
    else:
        component = np.zeros(n, dtype=np.int64)
        for number, members in enumerate(
            nx.strongly_connected_components(nx.from_numpy_array(edges, create_using=nx.DiGraph))
        ):
            component[list(members)] = number
        joined = chordal(edges & (component[:, None] == component[None, :]))
        has_bit = joined & (joined.astype(np.int64) @ joined.astype(np.int64) > 0)
    graph = nx.from_numpy_array(has_bit)
    parts = [np.array(sorted(members)) for members in nx.biconnected_components(graph)] if n > 1 else []
    triangles = [
        (a, b, c) for a, b in np.argwhere(np.triu(joined)).tolist() for c in range(b + 1, n) if joined[a, c] and joined[b, c]
    ]
    part = [next(i for i, members in enumerate(parts) if set(corners) <= set(members.tolist())) for corners in triangles]
    return Ordering(
        pairs=np.argwhere(np.triu(has_bit)),
        triangles=np.array(triangles, dtype=np.int64).reshape(-1, 3),
        parts=tuple(parts),
        part=np.array(part, dtype=np.int64),
        exclusive=np.argwhere(np.triu(joined & ~has_bit & edges & edges.T)),
        complete=bool(order == "complete"),
    )


def chordal(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The pairs with an edge either way, and more, so that every cycle of four and more has a chord.

    Vertices are taken out one by one, the one next whose neighbours need the fewest new edges to be joined with each other.

    Args:
        edges: a matrix of edges; directions do not matter.

    >>> square = np.roll(np.eye(4, dtype=bool), 1, axis=1)
    >>> int(np.triu(chordal(square)).sum())
    5
    """
    joined = edges | edges.T
    left = joined.copy()
    remaining = set(range(len(edges)))

    def missing(v: int) -> list[tuple[int, int]]:
        return [(a, b) for a, b in combinations(np.flatnonzero(left[v]).tolist(), 2) if not left[a, b]]

    while remaining:
        vertex = min(remaining, key=lambda v: (len(missing(v)), int(left[v].sum()), v))
        for a, b in missing(vertex):
            for graph in (left, joined):
                graph[a, b] = graph[b, a] = True
        left[vertex] = left[:, vertex] = False
        remaining.discard(vertex)
    return joined
