"""A layered layout: parents above children, long edges between boxes, parts side by side, lone variables in a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import inf

import networkx as nx

from dagneal.graphs.dags import graph_of
from dagneal.report.layers import Layers, layers, sweeps

ROW, GAP = 88.0, 26.0  # between layers, and between the boxes of one
_LONE = ROW / 2  # between rows of variables without edges
_LANE = 8.0  # the width that an edge takes where it passes a row
_BESIDE = 20.0  # how far above and below its row an edge is beside the boxes
_BETWEEN = 2 * GAP  # parts of the drawing
_SHAPE = 1.7  # width over height that is aimed at
_SWEEPS = 12

Point = tuple[float, float]


@dataclass(frozen=True)
class Arrangement:
    """Where a graph is drawn.

    Attributes:
        place: the middle of each variable's box.
        bends: where each edge that is longer than a row passes the rows between, from its parent to its child.
    """

    place: dict[str, Point]
    bends: dict[tuple[str, str], list[Point]]


def arrange(graph: nx.DiGraph, widths: Mapping[str, float], wide: float | None = None) -> Arrangement:
    """The layout of a graph; the same for the same graph.

    Args:
        graph: a directed graph without loops; edges that close a cycle lead upwards.
        widths: how wide each box is.
        wide: how wide the drawing should be where its parts can be put below each other; by its area if not given.

    >>> place = arrange(nx.DiGraph([("a", "b"), ("a", "c")]), dict.fromkeys("abc", 40.0)).place
    >>> place["a"][1] < place["b"][1] == place["c"][1]
    True
    """
    index = {name: at for at, name in enumerate(graph)}
    parts = [sorted(part, key=index.__getitem__) for part in nx.weakly_connected_components(graph)]
    parts.sort(key=lambda part: (-len(part), index[part[0]]))
    drawn = [_part(graph, part, widths) for part in parts if len(part) > 1]
    lone = [part[0] for part in parts if len(part) == 1]
    sizes = [_size(each, widths) for each in drawn]
    area = sum((w + _BETWEEN) * (h + ROW) for w, h in sizes) + sum((widths[name] + GAP) * _LONE for name in lone)
    squares = [(area * _SHAPE * more) ** 0.5 for more in (1.0, 1.5, 2.2)]
    tried = [*squares, *accumulate(w + _BETWEEN for w, _ in sizes)] if wide is None else [wide]
    packed = [_pack(sizes, lone, widths, max([each, *(w for w, _ in sizes)])) for each in tried]
    corners, place, _ = min(packed, key=lambda each: each[2])
    bends: dict[tuple[str, str], list[Point]] = {}
    for part, (left, top) in zip(drawn, corners, strict=True):
        place |= {name: (x + left, y + top) for name, (x, y) in part.place.items()}
        bends |= {edge: [(x + left, y + top) for x, y in points] for edge, points in part.bends.items()}
    return Arrangement({name: place[name] for name in graph}, bends)


def _pack(
    sizes: Sequence[Point], lone: Sequence[str], widths: Mapping[str, float], wide: float
) -> tuple[list[Point], dict[str, Point], float]:
    """Parts on shelves and lone variables below them, in the middle: corners of parts, lone variables, room taken."""
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


def _part(graph: nx.DiGraph, names: Sequence[str], widths: Mapping[str, float]) -> Arrangement:
    """The layout of a connected part."""
    found = layers(graph_of(names, ((name, child) for name in names for child in graph[name] if child != name)))
    sizes = [widths[name] for name in names] + [_LANE] * (len(found.above) - len(names))
    x = _across(found, sizes, len(names))
    y = {point: level * ROW for level, row in enumerate(found.rows) for point in row}
    left = min(x[point] - sizes[point] / 2 for row in found.rows for point in row[:1])
    place = {name: (x[i] - left, y[i]) for i, name in enumerate(names)}
    free = _free(found, x, sizes, len(names))
    bends = {}
    for (parent, child), points in found.passed.items():
        rooms = {y[point]: (free[point][0] - left, free[point][1] - left) for point in points}
        line = (place[parent], *((x[point] - left, y[point]) for point in points), place[child])
        bends[parent, child] = _straighten(line, rooms)
    return Arrangement(place, {edge: points for edge, points in bends.items() if points})


def _free(found: Layers, x: Sequence[float], sizes: Sequence[float], variables: int) -> dict[int, Point]:
    """From where to where each passing point could be moved before it came to a box."""
    free: dict[int, Point] = {}
    for row in found.rows:
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
    """The bends that a line needs to run between the boxes that it ran between: as few as straight pieces allow."""

    def clear(a: Point, b: Point, row: float) -> bool:
        steep = (b[0] - a[0]) / (b[1] - a[1])
        x, beside = a[0] + steep * (row - a[1]), abs(steep) * _BESIDE
        return rooms[row][0] <= x - beside and x + beside <= rooms[row][1]

    kept = [0]
    while kept[-1] < len(points) - 1:
        at = kept[-1]
        reach = range(len(points) - 1, at, -1)  # the next point is always clear
        kept.append(next(to for to in reach if all(clear(points[at], points[to], y) for _, y in points[at + 1 : to])))
    return [points[at] for at in kept[1:-1]]


def _across(found: Layers, sizes: Sequence[float], variables: int) -> list[float]:
    """Where on its row each point is: as near to those it is joined to as its neighbours on the row allow.

    The squares of the widths that edges span are made small, row by row. An edge that passes rows should be straight there,
    so it weighs more between its own points.
    """
    x = [0.0] * len(sizes)
    apart: dict[int, float] = {}  # from the point to its left
    for row in found.rows:
        for left, right in pairwise(row):
            gap = GAP if left < variables and right < variables else GAP / 2
            apart[right] = (sizes[left] + sizes[right]) / 2 + gap
            x[right] = x[left] + apart[right]
        middle = (x[row[0]] + x[row[-1]]) / 2
        for point in row:
            x[point] -= middle

    def weight(a: int, b: int) -> float:
        return (1.0, 2.0, 8.0)[(a >= variables) + (b >= variables)]

    one_sided = [near for _ in range(2) for near in ((found.above,), (found.below,))]
    both = [(found.above, found.below)] * sweeps(len(sizes), _SWEEPS)
    for sweep, sides in enumerate([*one_sided, *both]):
        for row in found.rows if sweep % 2 == 0 else found.rows[::-1]:
            wanted, weights = [], []
            for point in row:
                joined = [(weight(point, other), x[other]) for near in sides for other in near[point]] or [(0.1, x[point])]
                weights.append(sum(w for w, _ in joined))
                wanted.append(sum(w * at for w, at in joined) / weights[-1])
            for point, at in zip(row, _spread(wanted, weights, [apart.get(point, 0.0) for point in row]), strict=True):
                x[point] = at
    return x


def _spread(wanted: Sequence[float], weights: Sequence[float], apart: Sequence[float]) -> list[float]:
    """The places nearest to those wanted, in weighted squares, that keep their order and are so far apart.

    Less the room to their left, places may only rise: this is monotone regression, solved by pooling adjacent violators.
    """
    room = 0.0
    rooms: list[float] = []
    pools: list[tuple[float, float, int]] = []  # mean, weight, members
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
    """How wide a part is, boxes and bends, and how far its last row is from its first."""
    right = max(x + widths[name] / 2 for name, (x, _) in layout.place.items())
    bends = [x for points in layout.bends.values() for x, _ in points]
    return max([right, *bends]), max(y for _, y in layout.place.values())


def _grid(names: Sequence[str], widths: Mapping[str, float], wide: float, top: float) -> dict[str, Point]:
    """Variables without edges in columns, as many as fit."""
    narrowest = min((widths[name] for name in names), default=1.0) + GAP
    for columns in range(min(len(names), int(wide / narrowest) + 1), 0, -1):
        across = [max(widths[name] for name in names[at::columns]) for at in range(columns)]
        whole = sum(across) + GAP * (columns - 1)
        if whole <= wide or columns == 1:
            middles = [sum(across[:at]) + across[at] / 2 + GAP * at - whole / 2 for at in range(columns)]
            return {name: (middles[at % columns], top + at // columns * _LONE) for at, name in enumerate(names)}
    return {}
