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
from dagneal.report.layers import Layers, layers, sweeps

ROW, GAP = 88.0, 26.0  # distance between rows, and between boxes of a row
_LONE = ROW / 2  # distance between the rows of the grid of variables without edges
_LANE = 8.0  # width of an edge where it crosses a row
_BESIDE = 20.0  # an edge must not touch a box within this distance above and below the centre of a row
_BETWEEN = 2 * GAP  # distance between components
_SHAPE = 1.7  # preferred ratio of width to height
_SWEEPS = 12  # largest number of passes over the rows that move points

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


def arrange(graph: nx.DiGraph, widths: Mapping[str, float], wide: float | None = None) -> Arrangement:
    """Return the layout of a graph. The same arguments always give the same layout.

    Args:
        graph: directed graph without self-loops; edges that close a cycle point upwards.
        widths: width of each box.
        wide: preferred width of the drawing; None to choose a good ratio of width to height.

    >>> place = arrange(nx.DiGraph([("a", "b"), ("a", "c")]), dict.fromkeys("abc", 40.0)).place
    >>> place["a"][1] < place["b"][1] == place["c"][1]
    True
    """
    index = {name: at for at, name in enumerate(graph)}
    parts = [sorted(part, key=index.__getitem__) for part in nx.weakly_connected_components(graph)]
    parts.sort(key=lambda part: (-len(part), index[part[0]]))
    drawn = [_arrange_component(graph, part, widths) for part in parts if len(part) > 1]
    lone = [part[0] for part in parts if len(part) == 1]
    sizes = [_size(layout, widths) for layout in drawn]
    area = sum((w + _BETWEEN) * (h + ROW) for w, h in sizes) + sum((widths[name] + GAP) * _LONE for name in lone)
    guesses = [(area * _SHAPE * factor) ** 0.5 for factor in (1.0, 1.5, 2.2)]
    totals = [*guesses, *accumulate(w + _BETWEEN for w, _ in sizes)] if wide is None else [wide]
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


def _arrange_component(graph: nx.DiGraph, names: Sequence[str], widths: Mapping[str, float]) -> Arrangement:
    """Return the layout of the connected component that contains the variables `names`."""
    layered = layers(graph_from_edges(names, ((name, child) for name in names for child in graph[name] if child != name)))
    sizes = [widths[name] for name in names] + [_LANE] * (len(layered.above) - len(names))
    x = _x_positions(layered, sizes, len(names))
    y = {point: level * ROW for level, row in enumerate(layered.rows) for point in row}
    left = min(x[point] - sizes[point] / 2 for row in layered.rows for point in row[:1])
    place = {name: (x[i] - left, y[i]) for i, name in enumerate(names)}
    free = _free_ranges(layered, x, sizes, len(names))
    bends = {}
    for (parent, child), points in layered.passed.items():
        rooms = {y[point]: (free[point][0] - left, free[point][1] - left) for point in points}
        line = (place[parent], *((x[point] - left, y[point]) for point in points), place[child])
        bends[parent, child] = _straighten(line, rooms)
    return Arrangement(place, {edge: points for edge, points in bends.items() if points})


def _free_ranges(layered: Layers, x: Sequence[float], sizes: Sequence[float], variables: int) -> dict[int, Point]:
    """Return for each point where an edge crosses a row the horizontal range between the nearest boxes of this row."""
    free: dict[int, Point] = {}
    for row in layered.rows:
        boxes = [point for point in row if point < variables]
        ends = [-inf, *(x[point] + sizes[point] / 2 + GAP / 2 for point in boxes)]
        starts = [*(x[point] - sizes[point] / 2 - GAP / 2 for point in boxes), inf]
        passed = 0
        for point in row:
            if point < variables:
                passed += 1
            else:
                free[point] = (ends[passed], starts[passed])
    return free


def _straighten(points: Sequence[Point], rooms: Mapping[float, Point]) -> list[Point]:
    """Straighten the line of an edge and return the remaining bends.

    `rooms` maps the y coordinate of each crossed row to the horizontal range in which the line must stay.
    """

    def clear(a: Point, b: Point, row: float) -> bool:
        steep = (b[0] - a[0]) / (b[1] - a[1])
        x, beside = a[0] + steep * (row - a[1]), abs(steep) * _BESIDE
        return rooms[row][0] <= x - beside and x + beside <= rooms[row][1]

    kept = [0]
    while kept[-1] < len(points) - 1:
        at = kept[-1]
        reach = range(len(points) - 1, at, -1)  # the adjacent point is always reachable
        kept.append(next(to for to in reach if all(clear(points[at], points[to], y) for _, y in points[at + 1 : to])))
    return [points[at] for at in kept[1:-1]]


def _x_positions(layered: Layers, sizes: Sequence[float], variables: int) -> list[float]:
    """Return the horizontal position of each point. Points are near their neighbours on other rows, and do not overlap.

    The sum of squared horizontal edge lengths is reduced row by row. A segment between two points where the same edge
    crosses rows has a larger weight, which makes long edges straight.
    """
    x = [0.0] * len(sizes)
    apart: dict[int, float] = {}  # smallest distance from the point on the left
    for row in layered.rows:
        for left, right in pairwise(row):
            gap = GAP if left < variables and right < variables else GAP / 2
            apart[right] = (sizes[left] + sizes[right]) / 2 + gap
            x[right] = x[left] + apart[right]
        middle = (x[row[0]] + x[row[-1]]) / 2
        for point in row:
            x[point] -= middle

    def weight(a: int, b: int) -> float:
        return (1.0, 2.0, 8.0)[(a >= variables) + (b >= variables)]

    one_sided = [near for _ in range(2) for near in ((layered.above,), (layered.below,))]
    both = [(layered.above, layered.below)] * sweeps(len(sizes), _SWEEPS)
    for sweep, sides in enumerate([*one_sided, *both]):
        for row in layered.rows if sweep % 2 == 0 else layered.rows[::-1]:
            wanted, weights = [], []
            for point in row:
                joined = [(weight(point, other), x[other]) for near in sides for other in near[point]] or [(0.1, x[point])]
                weights.append(sum(w for w, _ in joined))
                wanted.append(sum(w * at for w, at in joined) / weights[-1])
            for point, at in zip(row, _spread(wanted, weights, [apart.get(point, 0.0) for point in row]), strict=True):
                x[point] = at
    return x


def _spread(wanted: Sequence[float], weights: Sequence[float], apart: Sequence[float]) -> list[float]:
    """Return the positions that minimise the weighted sum of squared distances from the wanted positions.

    Position i must be at least `apart[i]` to the right of position i - 1. If apart[1] + ... + apart[i] is subtracted from
    each position i, the positions only have to be in ascending order. This problem is a monotone regression, which the
    pool-adjacent-violators algorithm solves.
    """
    room = 0.0
    rooms: list[float] = []
    pools: list[tuple[float, float, int]] = []  # mean, weight and number of members
    for want, weight, gap in zip(wanted, weights, apart, strict=True):
        room += gap if rooms else 0.0
        rooms.append(room)
        mean, total, count = want - room, weight, 1
        while pools and pools[-1][0] > mean:
            before, heavy, members = pools.pop()
            mean, total = (before * heavy + mean * total) / (heavy + total), heavy + total
            count += members
        pools.append((mean, total, count))
    means = [mean for mean, _, count in pools for _ in range(count)]
    return [mean + room for mean, room in zip(means, rooms, strict=True)]


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
