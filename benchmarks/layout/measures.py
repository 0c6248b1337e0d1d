"""Measures of a drawing from the positions of its nodes and the curves of its edges, whatever tool made them.

All lengths are in units of the height of a node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_PIECES = 12  # straight pieces that stand for a curve
_DEPTH = 3.0  # an edge passes through a node if it is deeper inside than this; nodes have rounded corners
_FONT = 13.0  # size of the letters in the units of a drawing, in which a node is 30 high


@dataclass(frozen=True)
class Measures:
    """Measures of a drawing.

    Attributes:
        crossings: number of points where two edges cross. Edges that meet at a common node do not cross there.
        through: number of pairs of an edge and another node through which the edge passes.
        overlaps: number of pairs of nodes that overlap.
        total: total length of the edges.
        longest: length of the longest edge.
        width: width of the drawing.
        height: height of the drawing.
        upward: number of edges whose child is not below the parent.
        letters: height of the letters in pixels if the complete width of the drawing is shown on 1120 pixels, at most 13.
    """

    crossings: int
    through: int
    overlaps: int
    total: float
    longest: float
    width: float
    height: float
    upward: int
    letters: float

    @property
    def area(self) -> float:
        """Area of the drawing."""
        return self.width * self.height


def measure(
    sizes: Sequence[tuple[float, float]],
    place: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    curves: Sequence[Floats],
) -> Measures:
    """Return the measures of a drawing.

    Args:
        sizes: width and height of each node.
        place: centre of each node.
        edges: pairs of numbers of nodes, parent first.
        curves: for each edge its polyline; see `flatten` for other curves.
    """
    centre, half = np.array(place, dtype=float), np.array(sizes, dtype=float) / 2
    unit = 2 * half[:, 1].mean()
    lines = [
        _outside(_outside(curve, centre[a], half[a]), centre[b], half[b])
        for (a, b), curve in zip(edges, curves, strict=True)
    ]
    lengths = [float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum()) / unit for line in lines]
    everything = np.concatenate([centre - half, centre + half, *lines])
    width, height = everything.max(axis=0) - everything.min(axis=0)
    apart = np.abs(centre[:, None] - centre) - (half[:, None] + half)
    overlaps = int((np.triu((apart < -1e-6).all(axis=2), 1)).sum())
    return Measures(
        count_crossings(edges, lines, centre, half),
        sum(_passes(line, centre, half, edge) for edge, line in zip(edges, lines, strict=True)),
        overlaps,
        sum(lengths),
        max(lengths, default=0.0),
        float(width / unit),
        float(height / unit),
        sum(bool(centre[b, 1] <= centre[a, 1]) for a, b in edges),
        min(_FONT, _FONT * 1120 / (width + 2 * 24)),
    )


def flatten(points: Sequence[tuple[float, float]], kind: str) -> Floats:
    """Return the polyline that approximates a curve.

    Args:
        points: points of the curve.
        kind: `polyline`, or `quadratic` or `bezier` for a start and two or three points for each piece.
    """
    curve = np.array(points, dtype=float)
    if kind == "polyline":
        return curve
    t = np.linspace(0, 1, _PIECES + 1)[1:, None]
    parts = [curve[:1]]
    step = 2 if kind == "quadratic" else 3
    for at in range(0, len(curve) - 1, step):
        a, b, c = curve[at : at + 3]
        if step == 2:
            parts.append(a * (1 - t) ** 2 + 2 * b * t * (1 - t) + c * t**2)
        else:
            d = curve[at + 3]
            parts.append(a * (1 - t) ** 3 + 3 * b * t * (1 - t) ** 2 + 3 * c * t**2 * (1 - t) + d * t**3)
    return np.concatenate(parts)


def count_crossings(edges: Sequence[tuple[int, int]], lines: Sequence[Floats], centre: Floats, half: Floats) -> int:
    """Return the number of points where two edges cross.

    Points within a fifth of a node's height of a node that both edges share are not counted: the edges meet there.

    Args:
        edges: pairs of numbers of nodes.
        lines: polyline of each edge, without the parts inside its own nodes.
        centre: centre of each node.
        half: half the width and height of each node.
    """
    starts = np.concatenate([line[:-1] for line in lines])
    ends = np.concatenate([line[1:] for line in lines])
    owner = np.repeat(np.arange(len(lines)), [len(line) - 1 for line in lines])
    low, high = np.minimum(starts, ends), np.maximum(starts, ends)
    total = 0
    for i in range(len(starts)):
        near = np.flatnonzero((owner > owner[i]) & (low <= high[i]).all(axis=1) & (high >= low[i]).all(axis=1))
        a, b, c, d = starts[i], ends[i], starts[near], ends[near]
        one, two = _side(a, b, c), _side(a, b, d)
        three, four = _side(c, d, a), _side(c, d, b)
        for j in np.flatnonzero(((one > 0) != (two > 0)) & ((three > 0) != (four > 0))):
            shared = set(edges[owner[i]]) & set(edges[owner[near[j]]])
            share = one[j] / (one[j] - two[j])
            point = c[j] + share * (d[j] - c[j])
            margin = half[:, 1].mean() * 0.4
            total += not any((np.abs(point - centre[node]) <= half[node] + margin).all() for node in shared)
    return total


def _side(a: Floats, b: Floats, c: Floats) -> Floats:
    """Return a number that is positive on one side of the line from `a` to `b`, and negative on the other."""
    u, v = b - a, c - a
    return np.asarray(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0])


def _outside(line: Floats, centre: Floats, half: Floats) -> Floats:
    """Return a polyline without its part inside the node at one of its ends."""
    flipped = bool(np.abs(line[0] - centre).sum() > np.abs(line[-1] - centre).sum())
    line = line[::-1] if flipped else line
    inside = (np.abs(line - centre) < half - 1e-9).all(axis=1)
    if inside[0] and not inside.all():
        last = int(np.flatnonzero(~inside)[0]) - 1
        p, step = line[last], line[last + 1] - line[last]
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(step != 0, (centre + np.sign(step) * half - p) / step, np.inf)
        line = np.concatenate([[p + min(shares.min(), 1.0) * step], line[last + 1 :]])
    return line[::-1] if flipped else line


def _passes(line: Floats, centre: Floats, half: Floats, edge: tuple[int, int]) -> int:
    """Return the number of nodes, except its own, through which an edge passes."""
    parts = [np.linspace(a, b, 2 + int(np.linalg.norm(b - a) / 2), endpoint=False) for a, b in pairwise(line)]
    points = np.concatenate([*parts, line[-1:]])
    depth = (half[:, None] - np.abs(points[None] - centre[:, None])).min(axis=2).max(axis=1)
    depth[list(edge)] = -np.inf
    return int((depth > _DEPTH).sum())
