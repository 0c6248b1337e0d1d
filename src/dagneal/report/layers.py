"""Layers of a drawing. Each variable lies on a row, and a long edge has a point on each row that it crosses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import inf

import networkx as nx

from dagneal.report.crossings import reduce_crossings
from dagneal.report.differences import minimise

_WORK = 60_000.0  # work of the search for a good order, in points to place; large drawings get fewer searches
_TRIAL = 0.2  # share of the work for the comparison of the candidates
_BEST = 4  # number of candidates that are compared
_SPAN = 0.5  # crossings that are as bad as one row that an edge crosses
_WIDER = (1.0, 1.3, 1.7, 2.3)  # factors of the width of the rows, if many edges cross rows and leave no space for variables
_TALLER = 3.0  # largest factor by which narrow rows may increase the number of rows


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
        crossings: number of times that edges cross each other.
    """

    rows: list[list[int]]
    above: list[list[int]]
    below: list[list[int]]
    passed: dict[tuple[str, str], list[int]]
    crossings: int = 0


@dataclass(frozen=True)
class Spaces:
    """Horizontal space of the points of a drawing.

    Attributes:
        sizes: space of each variable, including its distance to the next one.
        lane: space of an edge where it crosses a row.
        wide: preferred width of the rows.
    """

    sizes: Mapping[str, float]
    lane: float
    wide: float


def layers(graph: nx.DiGraph, spaces: Spaces | None = None, most: int = 1) -> list[Layers]:
    """Return ways to layer a graph, best first. Parents are above children (except in cycles), and few edges cross.

    Args:
        graph: directed graph without self-loops.
        spaces: horizontal space of the points; None for rows of any width.
        most: largest number of ways.

    >>> result = layers(nx.DiGraph([("a", "b"), ("b", "c"), ("a", "c")]))[0]
    >>> result.rows, result.passed
    ([[0], [1, 3], [2]], {('a', 'c'): [3]})
    """
    dag = _break_cycles(graph)
    spaces = spaces or Spaces(dict.fromkeys(graph, 0.0), 0.0, inf)
    candidates: list[dict[str, int]] = []
    for depth in _candidates(dag, spaces):
        if depth not in candidates:
            candidates.append(depth)
    candidates = sorted(candidates, key=lambda depth: _span(dag, depth))[:_BEST]
    trials = []
    for depth in candidates if len(candidates) > 1 else []:
        draft = _add_points(graph, dag, depth)
        [(crossings, _)] = reduce_crossings(draft.rows, draft.below, _TRIAL * _WORK)
        trials.append((crossings + _SPAN * _span(dag, depth), depth))
    depth = min(trials, key=lambda trial: trial[0])[1] if trials else candidates[0]
    draft = _add_points(graph, dag, depth)
    orders = reduce_crossings(draft.rows, draft.below, _WORK, most)
    return [Layers(rows, draft.above, draft.below, draft.passed, crossings) for crossings, rows in orders]


def _add_points(graph: nx.DiGraph, dag: nx.DiGraph, depth: Mapping[str, int]) -> Layers:
    """Return the layers for the rows of the variables, with points on long edges, before the points are sorted."""
    names = list(graph)
    number = {name: i for i, name in enumerate(names)}
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
    return Layers(rows, above, below, passed)


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


def _span(dag: nx.DiGraph, depth: Mapping[str, int]) -> int:
    """Return the sum of the numbers of rows between the ends of the edges."""
    return sum(depth[child] - depth[parent] for parent, child in dag.edges)


def _candidates(dag: nx.DiGraph, spaces: Spaces) -> Iterator[dict[str, int]]:
    """Yield possible rows of the variables."""
    free = [_shortest(dag), _compact(dag)]
    for factor in _WIDER:
        room = Spaces(spaces.sizes, spaces.lane, spaces.wide * factor)
        fitting = []
        for depth in free:
            if _widest(dag, depth, room) <= room.wide:
                fitting.append(depth)
                continue
            for insert in (True, False):
                fitting += [_narrow(dag, depth, room, insert), _flip(_narrow(dag.reverse(), _flip(depth), room, insert))]
        fitting = [_shorten(dag, depth, room) for depth in fitting]
        tallest = _TALLER * (1 + max(free[0].values(), default=0)) + 3
        good = [
            depth for depth in fitting if max(depth.values(), default=0) < tallest and _widest(dag, depth, room) <= room.wide
        ]
        if good:
            yield from good
            return
    yield from free


def _shortest(dag: nx.DiGraph) -> dict[str, int]:
    """Return the rows of the variables with the smallest total length of the edges."""
    number = {name: i for i, name in enumerate(dag)}
    costs = [float(dag.in_degree(name) - dag.out_degree(name)) for name in dag]
    constraints = [(number[parent], number[child], 1.0) for parent, child in dag.edges]
    values = minimise(costs, constraints, [0.0] * len(dag), [float(len(dag))] * len(dag))
    return _number_rows({name: round(value) for name, value in zip(dag, values, strict=True)})


def _compact(dag: nx.DiGraph) -> dict[str, int]:
    """Return rows with short edges, in which variables are as high as possible.

    Variables with more children than parents move down, and variables with more parents than children move up.
    """
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
    return _number_rows(depth)


def _number_rows(depth: Mapping[str, int]) -> dict[str, int]:
    """Return the rows of the variables without empty rows. The first row is 0."""
    number = {row: at for at, row in enumerate(sorted(set(depth.values())))}
    return {name: number[row] for name, row in depth.items()}


def _flip(depth: Mapping[str, int]) -> dict[str, int]:
    """Return the rows in the opposite order."""
    last = max(depth.values(), default=0)
    return {name: last - row for name, row in depth.items()}


def _row_widths(dag: nx.DiGraph, depth: Mapping[str, int], spaces: Spaces) -> list[float]:
    """Return the space that the variables and edges of each row need."""
    widths = [0.0] * (max(depth.values(), default=-1) + 1)
    for name, row in depth.items():
        widths[row] += spaces.sizes[name]
    for parent, child in dag.edges:
        for row in range(depth[parent] + 1, depth[child]):
            widths[row] += spaces.lane
    return widths


def _widest(dag: nx.DiGraph, depth: Mapping[str, int], spaces: Spaces) -> float:
    return max(_row_widths(dag, depth, spaces), default=0.0)


def _narrow(dag: nx.DiGraph, depth: Mapping[str, int], spaces: Spaces, insert: bool) -> dict[str, int]:
    """Return rows that are not wider than the preferred width. Rows may be a little wider if many edges cross them.

    The rows are filled from the top. If the variables of a row do not fit, those without children follow on the next row.

    Args:
        dag: graph of the network.
        depth: row of each variable.
        spaces: horizontal space of the points.
        insert: True to insert a row for the variables that do not fit; False to put them on the next row that exists.
    """
    height: dict[str, int] = {}  # number of rows that a variable and its descendants need
    for name in reversed(list(nx.topological_sort(dag))):
        height[name] = 1 + max((height[child] for child in dag[name]), default=0)
    index = {name: at for at, name in enumerate(dag)}
    waiting = set(dag)
    placed: dict[str, int] = {}
    row, shift, passing = 0, 0, 0
    while waiting:
        due = [name for name in waiting if depth[name] + shift <= row and all(p in placed for p in dag.predecessors(name))]
        due.sort(key=lambda name: (-height[name], -dag.out_degree(name), -dag.in_degree(name), index[name]))
        used = spaces.lane * passing
        kept: list[str] = []
        for name in due:
            more = spaces.sizes[name] - spaces.lane * dag.in_degree(name)
            if not kept or used + more <= spaces.wide:
                kept.append(name)
                used += more
        if insert and len(kept) < len(due):
            shift += 1
        placed |= dict.fromkeys(kept, row)
        waiting.difference_update(kept)
        passing += sum(dag.out_degree(name) - dag.in_degree(name) for name in kept)
        row += 1
    return _number_rows(placed)


def _shorten(dag: nx.DiGraph, depth: Mapping[str, int], spaces: Spaces) -> dict[str, int]:
    """Move variables to other rows if this makes the edges shorter and the rows do not become too wide."""
    depth = dict(depth)
    last = max(depth.values(), default=0)
    widths = _row_widths(dag, depth, spaces)
    limit = max(spaces.wide, *widths)
    moved = True
    while moved:
        moved = False
        for name in dag:
            parents, children = dag.in_degree(name), dag.out_degree(name)
            if parents == children:
                continue
            old = depth[name]
            low = max((depth[parent] + 1 for parent in dag.predecessors(name)), default=0)
            high = min((depth[child] - 1 for child in dag[name]), default=last)
            for new in range(low, old) if parents > children else range(high, old, -1):
                changed = {new: spaces.sizes[name], old: -spaces.sizes[name]}
                for row in range(min(old, new), max(old, new) + 1):  # the edges that cross this row change
                    up = children * ((row > new) - (row > old)) + parents * ((row < new) - (row < old))
                    changed[row] = changed.get(row, 0.0) + spaces.lane * up
                if all(widths[row] + change <= limit or change <= 0 for row, change in changed.items()):
                    for row, change in changed.items():
                        widths[row] += change
                    depth[name] = new
                    moved = True
                    break
    return _number_rows(depth)
