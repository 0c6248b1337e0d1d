"""Horizontal positions of the points of a layered drawing.

The weighted sum of the horizontal lengths of all edges is the smallest possible for the order of the points. Among such
positions, those are preferred in which a variable is in the middle of its neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dagneal.report.differences import minimise
from dagneal.report.layers import Layers

_PASSES = 8  # passes that centre points
_SAME = 1e-6  # positions that differ by less are the same
_WEIGHTS = (1.0, 1.0, 2.0)  # weights of a segment by the number of its ends where an edge crosses a row


_Neighbours = list[tuple[int, float]]


def place_points(layered: Layers, apart: Sequence[float], variables: int, ends: Sequence[float], wide: float) -> list[float]:
    """Return the horizontal position of each point.

    Args:
        layered: rows of the drawing.
        apart: for each point, the smallest distance from the point on its left.
        variables: number of variables, which are the first points.
        ends: half the size of each point.
        wide: largest width of the drawing.
    """
    segments = []
    for upper, others in enumerate(layered.below):
        for lower in others:
            segments.append((upper, lower, _WEIGHTS[(upper >= variables) + (lower >= variables)]))
    points = len(layered.below)
    costs = [0.0] * points
    constraints = [(left, right, apart[right]) for row in layered.rows for left, right in pairwise(row)]
    for upper, lower, weight in segments:  # |a - b| is a + b - 2 m for the largest m that is not above a and b
        left = len(costs)
        costs.append(-2 * weight)
        costs[upper] += weight
        costs[lower] += weight
        constraints += [(left, upper, 0.0), (left, lower, 0.0)]
    free = len(costs) - points
    lowest, highest = [*ends, *([0.0] * free)], [*(wide - end for end in ends), *([wide] * free)]
    x = minimise(costs, constraints, lowest, highest)[:points]
    _centre(x, layered, apart, variables, segments, ends, wide)
    return x


def _centre(
    x: list[float],
    layered: Layers,
    apart: Sequence[float],
    variables: int,
    segments: Sequence[tuple[int, int, float]],
    ends: Sequence[float],
    wide: float,
) -> None:
    """Move variables, and groups of points, to the middle of their neighbours where the total length stays the same.

    A group has points that are exactly above each other. They move together, so that straight edges stay straight.
    """
    near: list[_Neighbours] = [[] for _ in x]
    for upper, lower, weight in segments:
        near[upper].append((lower, weight))
        near[lower].append((upper, weight))
    left, right = _row_neighbours(layered, apart)
    singles = [[variable] for variable in range(variables)]
    for _ in range(_PASSES):
        before = list(x)
        for group in [*_straight_groups(x, segments), *singles]:
            inside = set(group)
            outside = [(x[other], weight) for point in group for other, weight in near[point] if other not in inside]
            if outside:
                least = max([*(ends[p] for p in group), *(x[q] + gap for p in group for q, gap in left[p])])
                most = min([*(wide - ends[p] for p in group), *(x[q] - gap for p in group for q, gap in right[p])])
                for point in group:
                    x[point] = min(max(_middle(outside), least), most)
        if max(abs(new - old) for new, old in zip(x, before, strict=True)) < _SAME:
            break


def _row_neighbours(layered: Layers, apart: Sequence[float]) -> tuple[list[_Neighbours], list[_Neighbours]]:
    """Return for each point its neighbour on the left, and on the right, with the smallest distance from it."""
    left: list[_Neighbours] = [[] for _ in layered.below]
    right: list[_Neighbours] = [[] for _ in layered.below]
    for row in layered.rows:
        for one, other in pairwise(row):
            left[other].append((one, apart[other]))
            right[one].append((other, apart[other]))
    return left, right


def _middle(values: Sequence[tuple[float, float]]) -> float:
    """Return the median of values with weights that is nearest to their mean."""
    low, high = _median(values)
    total = sum(weight for _, weight in values)
    return min(max(sum(value * weight for value, weight in values) / total, low), high)


def _straight_groups(x: Sequence[float], segments: Sequence[tuple[int, int, float]]) -> list[list[int]]:
    """Return the groups of points that vertical segments connect."""
    leader = list(range(len(x)))

    def find(point: int) -> int:
        while leader[point] != point:
            leader[point] = leader[leader[point]]
            point = leader[point]
        return point

    for upper, lower, _ in segments:
        if abs(x[upper] - x[lower]) < _SAME:
            leader[find(upper)] = find(lower)
    groups: dict[int, list[int]] = {}
    for point in range(len(x)):
        groups.setdefault(find(point), []).append(point)
    return list(groups.values())


def _median(values: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the range of the medians of values with weights."""
    ordered = sorted(values)
    half = sum(weight for _, weight in ordered) / 2
    total = 0.0
    for at, (value, weight) in enumerate(ordered):
        total += weight
        if total > half + _SAME:
            return value, value
        if total >= half - _SAME:
            return value, ordered[min(at + 1, len(ordered) - 1)][0]
    raise AssertionError
