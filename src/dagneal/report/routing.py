"""Lines of edges that cross rows, with as few bends as possible."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dagneal.report.layers import Layers

BOX_MARGIN = 13.0  # horizontal distance of an edge from a box
_BESIDE = 20.0  # an edge must not touch a box within this distance above and below the centre of a row
_CORNER = 18.0  # vertical distance of the corners of other edges from the centre of a row
_TIGHT = 12.0  # smallest distance of two edges where they cross a row
_PULLS = 3  # passes that pull the bends of an edge towards a straight line
_SHARES = (0.8, 0.4, 0.2)  # by how much a bend is pulled, as a share of its distance from the straight line

Point = tuple[float, float]


def route_edges(
    layered: Layers, x: Sequence[float], y: Sequence[float], sizes: Sequence[float], variables: int
) -> dict[tuple[str, str], list[Point]]:
    """Return for each edge that crosses rows the points where it bends.

    An edge stays between the neighbours of its points on all rows, so that straight lines cross no more edges than before.

    Args:
        layered: rows of the drawing.
        x: horizontal position of each point.
        y: vertical position of each point.
        sizes: width of each point.
        variables: number of variables, which are the first points.
    """
    router = _Router(layered, x, y, sizes, variables)
    longest_first = sorted(layered.passed.items(), key=lambda item: -len(item[1]))
    return {edge: router.route(_complete(layered, points)) for edge, points in longest_first}


def _complete(layered: Layers, points: Sequence[int]) -> list[int]:
    """Return the points where an edge crosses rows, from its parent to its child, with these two."""
    first, last = points[0], points[-1]
    down = len(points) == 1 or points[1] in layered.below[first]
    start, end = (layered.above, layered.below) if down else (layered.below, layered.above)
    return [*start[first], *points, *end[last]]


class _Router:
    """Positions of the edges on the rows, which change as edges are routed one after another."""

    def __init__(
        self, layered: Layers, x: Sequence[float], y: Sequence[float], sizes: Sequence[float], variables: int
    ) -> None:
        self._x, self._y = list(x), y
        self._near: dict[int, list[tuple[int, int, float, float]]] = {point: [] for row in layered.rows for point in row}
        for row in layered.rows:
            for pair in pairwise(row):
                for side, (point, other) in ((1, pair), (-1, pair[::-1])):
                    box = other < variables
                    margin, beside = (sizes[other] / 2 + BOX_MARGIN, _BESIDE) if box else (_TIGHT, _CORNER)
                    self._near[point].append((side, other, margin, beside))

    def route(self, line: Sequence[int]) -> list[Point]:
        """Return the bends of an edge, given its points with its parent and its child."""
        spots = [(self._x[point], self._y[point]) for point in line]
        kept = [0]
        while kept[-1] < len(line) - 1:
            start = kept[-1]
            reach = range(len(line) - 1, start, -1)  # the adjacent point is always reachable
            kept.append(next(to for to in reach if self._clear(spots[start], spots[to], line[start + 1 : to])))
        for _ in range(_PULLS):
            for before, bend, after in zip(kept, kept[1:], kept[2:], strict=False):
                self._pull(line, spots, before, bend, after)
        for start, to in pairwise(kept):
            for between in range(start + 1, to + 1):
                self._x[line[between]] = _position(spots[start], spots[to], spots[between][1])
        return [spots[bend] for bend in kept[1:-1]]

    def _pull(self, line: Sequence[int], spots: list[Point], before: int, bend: int, after: int) -> None:
        """Move a bend towards the straight line from the previous to the next bend, as far as possible."""
        here, row = spots[bend]
        straight = _position(spots[before], spots[after], row)
        for share in _SHARES:
            spot = (here + share * (straight - here), row)
            free = self._fits(line[bend], spot[0], 0.0) and self._clear(spots[before], spot, line[before + 1 : bend])
            if free and self._clear(spot, spots[after], line[bend + 1 : after]):
                spots[bend] = spot
                return

    def _clear(self, start: Point, end: Point, between: Sequence[int]) -> bool:
        """Return whether a straight line may replace the points between its ends."""
        slope = abs((end[0] - start[0]) / (end[1] - start[1]))
        return all(self._fits(point, _position(start, end, self._y[point]), slope) for point in between)

    def _fits(self, point: int, here: float, slope: float) -> bool:
        """Return whether an edge may cross a row at `here` instead of at its point, between the neighbours of the point."""
        near = self._near[point]
        return all(side * (self._x[other] - here) >= margin + slope * beside for side, other, margin, beside in near)


def _position(start: Point, end: Point, row: float) -> float:
    """Return the horizontal position of a line at the height of a row."""
    return start[0] + (end[0] - start[0]) * (row - start[1]) / (end[1] - start[1])
