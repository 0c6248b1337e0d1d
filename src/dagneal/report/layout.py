"""Layered layout of a graph.

Parents are above children. Long edges run between boxes. Components lie side by side. Variables without edges form a grid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import inf

import networkx as nx

from dagneal.graphs.dags import graph_from_edges
from dagneal.report.layers import Layers, Spaces, layers
from dagneal.report.positions import place_points
from dagneal.report.routing import BOX_MARGIN, route_edges

ROW, GAP = 76.0, 26.0  # distance between rows, and between boxes of a row
_LONE = ROW / 2  # distance between the rows of the grid of variables without edges
_CHOICES = 6  # number of orders of the variables from which the best one is chosen
_CROSSING = 180.0  # length that is as bad as a crossing
_LANE = 8.0  # width of an edge where it crosses a row
_BETWEEN = 2 * GAP  # distance between components
_SHAPE = 1.7  # preferred ratio of width to height

Point = tuple[float, float]


@dataclass(frozen=True)
class Arrangement:
    """Positions of the variables and edges of a graph.

    Attributes:
        place: centre of the box of each variable.
        bends: for each edge that is not straight, the points where the edge bends, from parent to child.
    """

    place: dict[str, Point]
    bends: dict[tuple[str, str], list[Point]]


def arrange(graph: nx.DiGraph, widths: Mapping[str, float], wide: float | None = None, most: float = inf) -> Arrangement:
    """Return the layout of a graph. The same arguments always give the same layout.

    Args:
        graph: directed graph without self-loops; edges that close a cycle point upwards.
        widths: width of each box.
        wide: preferred width of the drawing; None to choose a good ratio of width to height.
        most: largest width of the drawing if `wide` is None. The drawing is wider if it cannot be narrower.

    >>> place = arrange(nx.DiGraph([("a", "b"), ("a", "c")]), dict.fromkeys("abc", 40.0)).place
    >>> place["a"][1] < place["b"][1] == place["c"][1]
    True
    """
    index = {name: at for at, name in enumerate(graph)}
    parts = [sorted(part, key=index.__getitem__) for part in nx.weakly_connected_components(graph)]
    parts.sort(key=lambda part: (-len(part), index[part[0]]))
    drawn = [_arrange_component(graph, part, widths, most if wide is None else wide) for part in parts if len(part) > 1]
    lone = [part[0] for part in parts if len(part) == 1]
    sizes = [_size(layout, widths) for layout in drawn]
    area = sum((w + _BETWEEN) * (h + ROW) for w, h in sizes) + sum((widths[name] + GAP) * _LONE for name in lone)
    guesses = [(area * _SHAPE * factor) ** 0.5 for factor in (1.0, 1.5, 2.2)]
    totals = [*guesses, *accumulate(w + _BETWEEN for w, _ in sizes)] if wide is None else [wide]
    totals = [min(total, most) for total in totals]
    packings = [_pack(sizes, lone, widths, max([total, *(w for w, _ in sizes)])) for total in totals]
    corners, place, _ = min(packings, key=lambda packing: packing[2])
    bends: dict[tuple[str, str], list[Point]] = {}
    for part, (left, top) in zip(drawn, corners, strict=True):
        place |= {name: (x + left, y + top) for name, (x, y) in part.place.items()}
        bends |= {edge: [(x + left, y + top) for x, y in points] for edge, points in part.bends.items()}
    return Arrangement({name: place[name] for name in graph}, bends)


def _pack(
    sizes: Sequence[Point], lone: Sequence[str], widths: Mapping[str, float], wide: float
) -> tuple[list[Point], dict[str, Point], float]:
    """Place connected components in rows, and the variables without edges (`lone`) below the components.

    Return three values: the upper left corner of each component, the centre of each lone variable, and the size of the
    drawing as one number.
    """
    shelves: list[list[Point]] = [[]]
    for size in sizes:
        if shelves[-1] and sum(w + _BETWEEN for w, _ in shelves[-1]) + size[0] > wide:
            shelves.append([])
        shelves[-1].append(size)
    corners = []
    top = 0.0
    for shelf in shelves if sizes else []:
        left = -(sum(w for w, _ in shelf) + _BETWEEN * (len(shelf) - 1)) / 2
        for w, _ in shelf:
            corners.append((left, top))
            left += w + _BETWEEN
        top += max(h for _, h in shelf) + ROW
    place = _grid(lone, widths, wide, top)
    across = [abs(x) + widths[name] / 2 for name, (x, _) in place.items()] + [-left for left, _ in corners]
    height = max([top - ROW, *(y for _, y in place.values())]) + _LONE
    return corners, place, max(2 * max(across, default=0.0) / _SHAPE, height)


def _arrange_component(graph: nx.DiGraph, names: Sequence[str], widths: Mapping[str, float], wide: float) -> Arrangement:
    """Return the layout of the connected component that contains the variables `names`."""
    part = graph_from_edges(names, ((name, child) for name in names for child in graph[name] if child != name))
    spaces = Spaces({name: widths[name] + GAP for name in names}, _LANE + BOX_MARGIN, wide + GAP)
    choices = []
    for layered in layers(part, spaces, _CHOICES):
        sizes = [widths[name] for name in names] + [_LANE] * (len(layered.above) - len(names))
        x = _x_positions(layered, sizes, len(names), wide)
        length = sum(abs(x[upper] - x[lower]) for upper, others in enumerate(layered.below) for lower in others)
        choices.append((layered.crossings + length / _CROSSING, layered, x))
    _, layered, x = min(choices, key=lambda choice: choice[0])
    level = {point: at for at, row in enumerate(layered.rows) for point in row}
    y = [level[point] * ROW for point in range(len(x))]
    left = min(x[point] - sizes[point] / 2 for row in layered.rows for point in row[:1])
    place = {name: (x[i] - left, y[i]) for i, name in enumerate(names)}
    lines = route_edges(layered, x, y, sizes, len(names))
    bends = {edge: [(at - left, height) for at, height in points] for edge, points in lines.items() if points}
    return Arrangement(place, bends)


def _x_positions(layered: Layers, sizes: Sequence[float], variables: int, wide: float) -> list[float]:
    """Return the horizontal position of each point; see `place_points`."""
    apart = [0.0] * len(sizes)  # smallest distance from the point on the left
    total = 0.0
    for row in layered.rows:
        across = (sizes[row[0]] + sizes[row[-1]]) / 2
        for left, right in pairwise(row):
            gap = GAP if left < variables and right < variables else BOX_MARGIN
            apart[right] = (sizes[left] + sizes[right]) / 2 + gap
            across += apart[right]
        total = max(total, across)
    most = max(total, wide) if wide < inf else sum(sizes) + GAP * len(sizes)
    return place_points(layered, apart, variables, [size / 2 for size in sizes], most)


def _size(layout: Arrangement, widths: Mapping[str, float]) -> tuple[float, float]:
    """Return a pair: width of a component, and distance from first to last row. The width includes the bends of edges."""
    right = max(x + widths[name] / 2 for name, (x, _) in layout.place.items())
    bends = [x for points in layout.bends.values() for x, _ in points]
    return max([right, *bends]), max(y for _, y in layout.place.values())


def _grid(names: Sequence[str], widths: Mapping[str, float], wide: float, top: float) -> dict[str, Point]:
    """Place variables without edges in a grid with as many columns as fit into the width `wide`. Return the centres."""
    narrowest = min((widths[name] for name in names), default=1.0) + GAP
    for columns in range(min(len(names), int(wide / narrowest) + 1), 0, -1):
        across = [max(widths[name] for name in names[at::columns]) for at in range(columns)]
        total = sum(across) + GAP * (columns - 1)
        if total <= wide or columns == 1:
            middles = [sum(across[:at]) + across[at] / 2 + GAP * at - total / 2 for at in range(columns)]
            return {name: (middles[at % columns], top + at // columns * _LONE) for at, name in enumerate(names)}
    return {}
