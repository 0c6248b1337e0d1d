"""The drawings of the page, as SVG that needs no script: the network, the energies of the reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from math import atan2, copysign, cos, sin
from typing import Any

import networkx as nx
import numpy as np

from dagneal.base.kernels import Floats, Ints
from dagneal.base.text import columns, fit_text
from dagneal.report.layout import arrange

_LETTER, _CAPITAL, _PAD, _HEIGHT, _LONGEST = 7.6, 1.6, 22.0, 30.0, 26
_MARGIN, _LEAST = 24.0, (420.0, 240.0)  # around the boxes; a smaller drawing would have giant letters
_SHAPE, _STRETCH = 1.8, 2.4  # a drawing that is wider than this for its height has its rows drawn apart, so far at most
_LANE, _LEAN = 34.0, 0.5  # how far above and below a bend its corners are, and how oblique the line may be there
_BARS, _TALLEST = 40, 95
_NARROW = 1e-12  # a range of energies, relative to their size, that floating point cannot divide into bars

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A variable on the drawing: its middle and its size."""

    x: float
    y: float
    w: float
    h: float


@dataclass(frozen=True)
class Picture:
    """A network on the drawing.

    Attributes:
        boxes: the variables.
        bends: the points that an edge passes on its way, where it passes any.
    """

    boxes: dict[str, Box]
    bends: dict[tuple[str, str], list[Point]]


def picture_of(dag: nx.DiGraph) -> Picture:
    """Where each variable and each edge is drawn.

    Args:
        dag: the graph.
    """
    widths = {name: _wide(shorten_name(name)) + _PAD for name in dag}
    found = arrange(dag, widths)
    across, down = ([point[side] for point in found.place.values()] or [0.0] for side in (0, 1))
    height = max(down) - min(down)
    rows = min(max((max(across) - min(across)) / (_SHAPE * height), 1.0), _STRETCH) if height else 1.0
    return Picture(
        {name: Box(x, y * rows, widths[name], _HEIGHT) for name, (x, y) in found.place.items()},
        {edge: [(x, y * rows) for x, y in points] for edge, points in found.bends.items()},
    )


def shorten_name(name: str) -> str:
    """A name that fits into a box; the whole one is in its title.

    Args:
        name: the name.
    """
    return fit_text(name, _LONGEST)


def _wide(text: str) -> float:
    """About how wide a text is; fonts differ, capitals are wider in all."""
    return _LETTER * columns(text) + _CAPITAL * sum(letter.isupper() for letter in text)


def network_svg(picture: Picture, edges: list[dict[str, Any]]) -> str:
    """The network.

    Args:
        picture: where everything is.
        edges: each with `from`, `to`, `class`, `label`, a short `tip` and whether it has an `arrow`.
    """
    boxes = picture.boxes
    lines = [f'<svg id="network" role="group" aria-label="the network" viewBox="{_view(picture)}">']
    number = {name: i for i, name in enumerate(boxes)}
    for edge in edges:
        parent, child = edge["from"], edge["to"]
        line, head = _paths(boxes[parent], boxes[child], picture.bends.get((parent, child), []))
        arrow = f'<path class="head" d="{head}"/>' if edge["arrow"] else ""
        lines.append(
            f'<g class="{edge["class"]}" tabindex="0" role="img" data-from="{escape(parent)}" data-to="{escape(child)}" '
            f'data-a="{number[parent]}" data-b="{number[child]}" '
            f'data-tip="{escape(edge["tip"])}" aria-label="{escape(edge["label"])}">'
            f'<path class="hit" d="{line}"/><path class="line" d="{line}"/>{arrow}</g>'
        )
    joined = _neighbour_text(boxes, edges)
    for name, box in boxes.items():
        lines.append(
            f'<g class="node" tabindex="0" role="img" data-i="{number[name]}" data-name="{escape(name)}" '
            f'data-tip="{escape(shorten_name(name) + joined[name])}" '
            f'aria-label="{escape("variable " + name + joined[name])}" '
            f'transform="translate({box.x:.1f} {box.y:.1f})">'
            f"<title>{escape(name)}</title>"
            f'<rect x="{-box.w / 2:.1f}" y="{-box.h / 2:.1f}" width="{box.w:.1f}" height="{box.h:.1f}" rx="7"/>'
            f'<text text-anchor="middle" dy=".35em">{escape(shorten_name(name))}</text></g>'
        )
    return "\n".join([*lines, "</svg>"])


def _view(picture: Picture) -> str:
    """The part of the plane that is shown: everything, and not too little."""
    boxes = picture.boxes.values()
    across = [box.x + side * box.w / 2 for box in boxes for side in (-1, 1)]
    across += [x for points in picture.bends.values() for x, _ in points]
    down = [box.y + side * box.h / 2 for box in boxes for side in (-1, 1)]
    width = max(max(across) - min(across) + 2 * _MARGIN, _LEAST[0])
    height = max(max(down) - min(down) + 2 * _MARGIN, _LEAST[1])
    left, top = (max(across) + min(across) - width) / 2, (max(down) + min(down) - height) / 2
    return f"{left:.1f} {top:.1f} {width:.1f} {height:.1f}"


def _neighbour_text(boxes: Mapping[str, Box], edges: list[dict[str, Any]]) -> dict[str, str]:
    """The neighbours of each variable, in words; edges that are only in a truth are left out."""
    parents: dict[str, list[str]] = {name: [] for name in boxes}
    children: dict[str, list[str]] = {name: [] for name in boxes}
    for edge in edges:
        if edge["kind"] != "missing":
            parents[edge["to"]].append(shorten_name(edge["from"]))
            children[edge["from"]].append(shorten_name(edge["to"]))
    sides = (("parents", parents), ("children", children))
    return {name: "".join(f"; {side} {', '.join(of[name])}" for side, of in sides if of[name]) for name in boxes}


def _leaving(box: Box, to: Point) -> Point:
    """Where a line from a box to a point leaves it: at its lower or upper side if the point is well below or above."""
    dx, dy = to[0] - box.x, to[1] - box.y
    if abs(dy) > box.h:
        most = box.w / 2 - 8
        return box.x + min(max(dx * box.h / 2 / abs(dy), -most), most), box.y + (box.h / 2 if dy > 0 else -box.h / 2)
    t = min(abs(box.w / 2 / (dx or 1e-9)), abs(box.h / 2 / (dy or 1e-9)), 1.0)
    return box.x + dx * t, box.y + dy * t


def _corners(start: Box, end: Box, bends: list[Point]) -> list[Point]:
    """Two corners at each bend that lies between the ends, so that the line passes the bend in the direction it goes."""
    lane = _LANE if start.y < end.y else -_LANE
    top, bottom = min(start.y, end.y) + _LANE, max(start.y, end.y) - _LANE
    line = [(start.x, start.y), *(bend for bend in bends if top < bend[1] < bottom), (end.x, end.y)]
    corners = []
    for before, (x, y), after in zip(line, line[1:], line[2:], strict=False):
        come, go = (x - before[0]) / (y - before[1]), (after[0] - x) / (after[1] - y)
        lean = copysign(min(abs(come), abs(go), _LEAN), come) if come * go > 0 else 0.0
        corners += [(x - lean * lane, y - lane), (x + lean * lane, y + lane)]
    return corners


def _paths(start: Box, end: Box, bends: list[Point]) -> tuple[str, str]:
    """The line of an edge, a chain of parabolas, and its arrowhead; page.js has the same formulas, for dragged boxes."""
    corners = _corners(start, end, bends)
    p = _leaving(start, corners[0] if corners else (end.x, end.y))
    q = _leaving(end, corners[-1] if corners else (start.x, start.y))
    line = f"M{p[0]:.1f} {p[1]:.1f}"
    for at, (x, y) in enumerate(corners):
        to = q if at == len(corners) - 1 else ((x + corners[at + 1][0]) / 2, (y + corners[at + 1][1]) / 2)
        line += f"Q{x:.1f} {y:.1f} {to[0]:.1f} {to[1]:.1f}"
    before = corners[-1] if corners else p
    angle = atan2(q[1] - before[1], q[0] - before[0])

    def at_head(turn: float) -> str:
        return f"{q[0] - 11 * cos(angle + turn):.1f} {q[1] - 11 * sin(angle + turn):.1f}"

    head = f"M{q[0]:.1f} {q[1]:.1f}L{at_head(0.4)}L{at_head(-0.4)}Z"
    return line if corners else f"{line}L{q[0]:.1f} {q[1]:.1f}", head


def energies_svg(energies: Floats, occurrences: Ints, optimum: float | None, baseline: float) -> str:
    """A histogram of the energies of the reads, the optimum and the random-order baseline marked.

    Args:
        energies: of the reads; minus a log score where a read is a network.
        occurrences: of each.
        optimum: the log score of the proved optimum, where it is known.
        baseline: the log score of the best of as many random orders.
    """
    marks = [(-baseline, "random orders")] + ([] if optimum is None else [(-optimum, "optimum")])
    low = min([float(energies.min()), *(value for value, _ in marks)])
    high = max([float(energies.max()), *(value for value, _ in marks)])
    span = high - low
    if span <= _NARROW * max(abs(low), abs(high), 1.0):  # equal up to rounding: bars need some width
        span = max(1.0, 2 * _NARROW * abs(low))
    counts, edges = np.histogram(energies, _BARS, (low, low + span), weights=occurrences)
    width, height, most = 640.0, 170.0, float(counts.max()) or 1.0

    def x(value: float) -> float:
        return 10 + (value - low) / span * (width - 20)

    bars = [
        f'<rect x="{x(a):.1f}" y="{height - 20 - _TALLEST * count / most:.1f}" width="{(width - 20) / _BARS - 1:.1f}" '
        f'height="{_TALLEST * count / most:.1f}" fill="var(--accent)">'
        f"<title>{count:.0f} reads from {a:.1f} to {b:.1f}</title></rect>"
        for count, a, b in zip(counts, edges, edges[1:], strict=False)
        if count
    ]
    lines = [
        f'<line x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{22 + 14 * row}" y2="{height - 20}" stroke="var(--wrong)" '
        f'stroke-dasharray="4 3"/><text x="{min(x(value) + 4, width - 90):.1f}" y="{30 + 14 * row}">{label}</text>'
        for row, (value, label) in enumerate(marks)
    ]
    below = height - 4
    axis = f'<text x="10" y="{below}">{low:.1f}</text>'
    axis += f'<text x="{width - 10}" y="{below}" text-anchor="end">{low + span:.1f}</text>'
    label = "histogram of the energies of the reads, with the optimum and the best of as many random orders"
    view = f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{label}"'
    return f'<svg class="plot" {view}>{"".join(bars + lines)}{axis}</svg>'
