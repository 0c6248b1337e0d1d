"""Layers of a drawing. Each variable lies on a row, and a long edge has a point on each row that it crosses."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx

_SWEEPS, _LEAST = 24, 2  # largest and smallest number of sorting passes over all rows
_WORK = 50_000  # number of points to visit in all passes; large drawings get fewer passes


@dataclass(frozen=True)
class Layers:
    """The rows of a drawing, with numbered points.

    There is a point for each variable, and a point wherever an edge crosses a row. The points of the variables have the
    lowest numbers, in the order of the nodes of the graph.

    Attributes:
        rows: points of each row, from left to right; the first row is at the top.
        above: for each point, the connected points on the row above.
        below: for each point, the connected points on the row below.
        passed: for each edge that crosses rows, the points where it crosses the rows, from parent to child.
    """

    rows: list[list[int]]
    above: list[list[int]]
    below: list[list[int]]
    passed: dict[tuple[str, str], list[int]]


def layers(graph: nx.DiGraph) -> Layers:
    """Return the layers of a graph. Parents are above children (except in cycles), and few edges cross.

    Args:
        graph: directed graph without self-loops.

    >>> result = layers(nx.DiGraph([("a", "b"), ("b", "c"), ("a", "c")]))
    >>> result.rows, result.passed
    ([[0], [1, 3], [2]], {('a', 'c'): [3]})
    """
    dag = _break_cycles(graph)
    names = list(graph)
    number = {name: i for i, name in enumerate(names)}
    depth = _depths(dag)
    rows: list[list[int]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in names:
        rows[depth[name]].append(number[name])
    above: list[list[int]] = [[] for _ in names]
    below: list[list[int]] = [[] for _ in names]
    passed = {}
    for parent, child in dag.edges:
        chain = [number[parent]]
        for level in range(depth[parent] + 1, depth[child]):
            rows[level].append(len(above))
            chain.append(len(above))
            above.append([])
            below.append([])
        chain.append(number[child])
        for upper, lower in pairwise(chain):
            below[upper].append(lower)
            above[lower].append(upper)
        for edge, points in (((parent, child), chain[1:-1]), ((child, parent), chain[-2:0:-1])):
            if points and graph.has_edge(*edge):
                passed[edge] = points
    return Layers(_reduce_crossings(rows, above, below), above, below, passed)


def sweeps(points: int, most: int) -> int:
    """Return the number of passes that a layout algorithm makes over the rows. Large drawings get fewer passes.

    Args:
        points: number of points of the drawing.
        most: number of passes for a small drawing.
    """
    return max(_LEAST, min(most, _WORK // max(points, 1)))


def _break_cycles(graph: nx.DiGraph) -> nx.DiGraph:
    """Return an acyclic version of a graph. Each edge that closes a cycle with earlier edges is reversed."""
    if nx.is_directed_acyclic_graph(graph):
        return graph
    dag = nx.DiGraph()
    dag.add_nodes_from(graph)
    for parent, child in graph.edges:
        if nx.has_path(dag, child, parent):
            parent, child = child, parent
        dag.add_edge(parent, child)
    return dag


def _depths(dag: nx.DiGraph) -> dict[str, int]:
    """Return the row of each variable. Variables are below their parents, and the total length of the edges is small."""
    order = list(nx.topological_sort(dag))
    depth: dict[str, int] = {}
    for name in order:
        depth[name] = 1 + max((depth[parent] for parent in dag.predecessors(name)), default=-1)
    moved = True
    while moved:  # each move makes the edges shorter, so the loop ends
        moved = False
        for name in reversed(order):
            if dag.out_degree(name) > dag.in_degree(name):
                lowest = min(depth[child] for child in dag.successors(name)) - 1
                moved |= lowest > depth[name]
                depth[name] = lowest
        for name in order:
            if dag.in_degree(name) > dag.out_degree(name):
                highest = max(depth[parent] for parent in dag.predecessors(name)) + 1
                moved |= highest < depth[name]
                depth[name] = highest
    top = min(depth.values(), default=0)
    return {name: depth[name] - top for name in dag}


def _reduce_crossings(rows: list[list[int]], above: Sequence[list[int]], below: Sequence[list[int]]) -> list[list[int]]:
    """Sort the points of each row so that few edges cross, and return the rows.

    Each pass sorts the points of a row by the mean position of their neighbours on the previous row. Finally, adjacent
    points are swapped if this removes crossings.
    """
    rows = [list(row) for row in rows]
    best, fewest = [list(row) for row in rows], _crossings(rows, below)
    times = sweeps(len(above), _SWEEPS)
    for sweep in range(times):
        if not fewest:
            break
        near = (above, below)[sweep % 2]
        place = {point: (at + 0.5) / len(row) for row in rows for at, point in enumerate(row)}
        for row in rows if near is above else rows[::-1]:
            wanted = {p: sum(place[q] for q in near[p]) / len(near[p]) if near[p] else place[p] for p in row}
            if sweep // 2 % 2:  # reverse the order of ties, which would otherwise never change
                row.reverse()
            row.sort(key=wanted.__getitem__)
            place |= {point: (at + 0.5) / len(row) for at, point in enumerate(row)}
        if (count := _crossings(rows, below)) < fewest:
            best, fewest = [list(row) for row in rows], count
    _swap(best, above, below, times)
    return best


def _crossings(rows: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> int:
    """Return the number of times that edges cross each other."""
    total = 0
    for upper, lower in pairwise(rows):
        place = {point: at for at, point in enumerate(lower)}
        seen: list[int] = []
        for point in upper:
            ends = [place[other] for other in below[point]]
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _swap(rows: Sequence[list[int]], above: Sequence[Sequence[int]], below: Sequence[Sequence[int]], times: int) -> None:
    """Swap adjacent points of a row if this removes crossings. Make at most `times` passes over all rows."""
    place = {point: at for row in rows for at, point in enumerate(row)}

    def crossings_of(left: int, right: int) -> int:
        return sum(place[a] > place[b] for near in (above, below) for a in near[left] for b in near[right])

    for _ in range(times):
        swapped = False
        for row in rows:
            for at in range(len(row) - 1):
                left, right = row[at], row[at + 1]
                if crossings_of(left, right) > crossings_of(right, left):
                    row[at], row[at + 1] = right, left
                    place[left], place[right] = at + 1, at
                    swapped = True
        if not swapped:
            break
