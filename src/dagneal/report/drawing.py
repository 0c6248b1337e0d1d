"""SVG drawings for the page: the network and the histogram of read energies. The drawings work without JavaScript."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from math import atan2, copysign, cos, hypot, sin
from typing import Any

import networkx as nx
import numpy as np

from dagneal.base.kernels import Floats, Ints
from dagneal.base.text import display_width, fit_text
from dagneal.graphs.dags import graph_from_edges
from dagneal.report.edges import ABSENT, FIXED
from dagneal.report.layout import arrange
from dagneal.report.neighbourhood import most_connected, nearest

_LETTER, _CAPITAL = 7.6, 1.6  # width of a letter, and extra width of a capital
_PAD, _HEIGHT = 22.0, 30.0  # padding of the name in a box, and height of a box
_LONGEST = 26  # longest name in a box, in columns
_MARGIN = 24.0  # margin around the drawing
_LEAST = (420.0, 240.0)  # smallest width and height of the view; a smaller view would show huge letters
WIDEST = 1320.0 - 2 * _MARGIN  # preferred largest width: letters of 13 units have 11 pixels if the view has 1120 pixels
MOST, NEARBY = 100, 50  # a drawing with more than MOST variables shows the NEARBY variables nearest to one of them
_FONT, _SMALLEST, _LARGEST = 13.0, 11.0, 15.0  # size of the letters: in units; in pixels on a screen
_COLUMN = 1116.0  # width of the drawing on a wide screen, in pixels
_LANE, _LEAN = 18.0, 0.5  # vertical distance of the corners from a bend, and largest slope of the line at a bend
_ROUND = 28.0  # longest distance from a corner to where its rounding begins
_BARS, _TALLEST = 40, 95  # number of bars of the histogram, and height of the tallest bar
_NARROW = 1e-12  # relative width of an energy range that floating point cannot divide into bars

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """The box of a variable in a drawing, with the centre (`x`, `y`), the width `w` and the height `h`."""

    x: float
    y: float
    w: float
    h: float


@dataclass(frozen=True)
class Picture:
    """Positions of the boxes and edges of a network.

    Attributes:
        boxes: box of each variable.
        bends: for each edge that is not straight, the points where the edge bends.
        centre: variable whose neighbourhood is shown; None if all variables are shown.
        shown: variables that are shown. The other boxes have a size but no position.
    """

    boxes: dict[str, Box]
    bends: dict[tuple[str, str], list[Point]]
    centre: str | None = None
    shown: frozenset[str] = frozenset()

    def shows(self, *names: str) -> bool:
        """Return whether all of some variables are shown."""
        return self.centre is None or self.shown.issuperset(names)


def lay_out(dag: nx.DiGraph, collapse: bool = False) -> Picture:
    """Return the positions of the boxes and edges of a network.

    Args:
        dag: graph of the network.
        collapse: True to show only the neighbourhood of the most connected variable if there are more than `MOST` variables.
    """
    widths = {name: _text_width(shorten_name(name)) + _PAD for name in dag}
    centre, shown, part = None, frozenset[str](), dag
    if collapse and len(dag) > MOST:
        centre = most_connected(dag)
        shown = frozenset(nearest(dag, centre, NEARBY))
        part = graph_from_edges((name for name in dag if name in shown), (e for e in dag.edges if shown.issuperset(e)))
    layout = arrange(part, widths, most=WIDEST)
    place = {name: layout.place.get(name, (0.0, 0.0)) for name in dag}
    boxes = {name: Box(x, y, widths[name], _HEIGHT) for name, (x, y) in place.items()}
    return Picture(boxes, layout.bends, centre, shown)


def shorten_name(name: str) -> str:
    """Return a name, shortened if it is too long for a box. The tooltip of the box shows the full name.

    Args:
        name: full name.
    """
    return fit_text(name, _LONGEST)


def _text_width(text: str) -> float:
    """Estimate the width of a text. Capitals are wider than small letters in every font."""
    return _LETTER * display_width(text) + _CAPITAL * sum(letter.isupper() for letter in text)


def network_svg(picture: Picture, edges: list[dict[str, Any]]) -> str:
    """Return the drawing of a network as SVG.

    Args:
        picture: positions of boxes and edges.
        edges: descriptions of the edges from `describe_edges`.
    """
    boxes = picture.boxes
    hidden = _hidden_neighbours(picture, edges)
    lines = [f'<svg id="network" role="group" aria-label="the network" viewBox="{_view(picture)}">']
    number = {name: i for i, name in enumerate(boxes)}
    for edge in edges:
        parent, child = edge["from"], edge["to"]
        away = "" if picture.shows(parent, child) else " away"
        line, head = edge_paths(boxes[parent], boxes[child], picture.bends.get((parent, child), []), edge["head"] == FIXED)
        arrow = f'<path class="head" d="{head}"/>' if edge["arrow"] else ""
        lines.append(
            f'<g class="{edge["class"]}{away}" tabindex="0" role="img" '
            f'data-from="{escape(parent)}" data-to="{escape(child)}" data-a="{number[parent]}" data-b="{number[child]}" '
            f'data-tip="{escape(edge["tip"])}" aria-label="{escape(edge["label"])}">'
            f'<path class="hit" d="{line}"/><path class="line" d="{line}"/>{arrow}</g>'
        )
    neighbours = _neighbour_text(boxes, edges)
    for name, box in boxes.items():
        more = (" centre" if name == picture.centre else "") + (" more" if name in hidden else "")
        state = more if picture.shows(name) else " away"
        lines.append(
            f'<g class="node{state}" tabindex="0" role="img" data-i="{number[name]}" data-name="{escape(name)}" '
            f'data-tip="{escape(shorten_name(name) + neighbours[name])}" '
            f'aria-label="{escape("variable " + name + neighbours[name])}" '
            f'transform="translate({box.x:.1f} {box.y:.1f})">'
            f"<title>{escape(name)}</title>"
            f'<rect x="{-box.w / 2:.1f}" y="{-box.h / 2:.1f}" width="{box.w:.1f}" height="{box.h:.1f}" rx="7"/>'
            f'<text text-anchor="middle" dy=".35em">{escape(shorten_name(name))}</text></g>'
        )
    return "\n".join([*lines, "</svg>"])


def _hidden_neighbours(picture: Picture, edges: list[dict[str, Any]]) -> set[str]:
    """Return the variables that have neighbours which are not shown."""
    return {edge[end] for edge in edges for end in ("from", "to") if not picture.shows(edge["from"], edge["to"])}


def screen_style(picture: Picture) -> str:
    """Return a CSS rule with the least width and the largest height of the drawing on a screen.

    Letters are neither tiny nor huge: a narrow window scrolls, and a small network does not fill a wide window.

    Args:
        picture: positions of boxes and edges.
    """
    width, height = (float(text) for text in _view(picture).split()[2:])
    least = min(width * _SMALLEST / _FONT, _COLUMN)
    return f"#network {{ --least: {least:.0f}px; --most: {height * _LARGEST / _FONT:.0f}px; }}\n"


def _view(picture: Picture) -> str:
    """Return the SVG view box. It contains the complete drawing and has at least the size `_LEAST`."""
    boxes = [box for name, box in picture.boxes.items() if picture.shows(name)]
    across = [box.x + side * box.w / 2 for box in boxes for side in (-1, 1)]
    across += [x for points in picture.bends.values() for x, _ in points]
    down = [box.y + side * box.h / 2 for box in boxes for side in (-1, 1)]
    width = max(max(across) - min(across) + 2 * _MARGIN, _LEAST[0])
    height = max(max(down) - min(down) + 2 * _MARGIN, _LEAST[1])
    left, top = (max(across) + min(across) - width) / 2, (max(down) + min(down) - height) / 2
    return f"{left:.1f} {top:.1f} {width:.1f} {height:.1f}"


def _neighbour_text(boxes: Mapping[str, Box], edges: list[dict[str, Any]]) -> dict[str, str]:
    """Return the parents, children and other neighbours of each variable as text, without edges that the network lacks."""
    parents: dict[str, list[str]] = {name: [] for name in boxes}
    children: dict[str, list[str]] = {name: [] for name in boxes}
    others: dict[str, list[str]] = {name: [] for name in boxes}  # neighbours by edges of undetermined direction
    for edge in edges:
        if edge["kind"] not in ABSENT:
            above, below = (parents, children) if edge["arrow"] else (others, others)
            above[edge["to"]].append(shorten_name(edge["from"]))
            below[edge["from"]].append(shorten_name(edge["to"]))
    sides = (("parents", parents), ("children", children), ("linked in undetermined direction with", others))
    return {name: "".join(f"; {side} {', '.join(names[name])}" for side, names in sides if names[name]) for name in boxes}


def _exit_point(box: Box, to: Point) -> Point:
    """Return the point where a line from the centre of a box to another point leaves the box.

    If the other point is well below or above the box, the line leaves through the lower or upper side.
    """
    dx, dy = to[0] - box.x, to[1] - box.y
    if abs(dy) > box.h:
        most = box.w / 2 - 8
        return box.x + min(max(dx * box.h / 2 / abs(dy), -most), most), box.y + (box.h / 2 if dy > 0 else -box.h / 2)
    t = min(abs(box.w / 2 / (dx or 1e-9)), abs(box.h / 2 / (dy or 1e-9)), 1.0)
    return box.x + dx * t, box.y + dy * t


def _corners(start: Box, end: Box, bends: list[Point]) -> list[Point]:
    """Return two corners for each bend of an edge: the edge passes the row of the bend almost vertically."""
    lane = _LANE if start.y < end.y else -_LANE
    top, bottom = min(start.y, end.y) + _LANE, max(start.y, end.y) - _LANE
    line = [(start.x, start.y), *(bend for bend in bends if top < bend[1] < bottom), (end.x, end.y)]
    corners = []
    for before, (x, y), after in zip(line, line[1:], line[2:], strict=False):
        come, go = (x - before[0]) / (y - before[1]), (after[0] - x) / (after[1] - y)
        lean = copysign(min(abs(come), abs(go), _LEAN), come) if come * go > 0 else 0.0
        corners += [(x - lean * lane, y - lane), (x + lean * lane, y + lane)]
    return corners


def _towards(start: Point, end: Point) -> Point:
    """Return the point on a segment where the rounding of the corner `start` ends: at most in the middle of the segment."""
    share = min(0.5, _ROUND / (hypot(end[0] - start[0], end[1] - start[1]) or 1.0))
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])


def edge_paths(start: Box, end: Box, bends: list[Point], bar: bool = False) -> tuple[str, str]:
    """Return two SVG paths: the line of an edge, with rounded corners, and its arrowhead, with a bar behind it if requested.

    `page.js` uses the same formulas to redraw the edge when a user drags a box.

    Args:
        start: box of the parent.
        end: box of the child.
        bends: points where the edge bends.
        bar: True for a bar behind the arrowhead.
    """
    corners = _corners(start, end, bends)
    p = _exit_point(start, corners[0] if corners else (end.x, end.y))
    q = _exit_point(end, corners[-1] if corners else (start.x, start.y))
    points = [p, *corners, q]
    line = f"M{p[0]:.1f} {p[1]:.1f}"
    for before, corner, after in zip(points, corners, points[2:], strict=False):
        (a, b), (c, d) = _towards(corner, before), _towards(corner, after)
        line += f"L{a:.1f} {b:.1f}Q{corner[0]:.1f} {corner[1]:.1f} {c:.1f} {d:.1f}"
    line += f"L{q[0]:.1f} {q[1]:.1f}"
    angle = atan2(q[1] - points[-2][1], q[0] - points[-2][0])

    def barb(turn: float, far: float = 11) -> str:
        return f"{q[0] - far * cos(angle + turn):.1f} {q[1] - far * sin(angle + turn):.1f}"

    head = f"M{q[0]:.1f} {q[1]:.1f}L{barb(0.4)}L{barb(-0.4)}Z"
    head += f"M{barb(0.35, 15)}L{barb(-0.35, 15)}" if bar else ""
    return line, head


def energies_svg(energies: Floats, occurrences: Ints, optimum: float | None, baseline: float) -> str:
    """Return a histogram of read energies as SVG, with marks for the optimum and the random-order baseline.

    Args:
        energies: energy of each read. If a read is a network, its energy is minus the log score of the network.
        occurrences: number of times that each read occurs.
        optimum: log score of the proved optimum; None if unknown.
        baseline: best log score of random variable orders. There are as many random orders as reads.
    """
    marks = [(-baseline, "random orders")] + ([] if optimum is None else [(-optimum, "optimum")])
    low = min([float(energies.min()), *(value for value, _ in marks)])
    high = max([float(energies.max()), *(value for value, _ in marks)])
    span = high - low
    if span <= _NARROW * max(abs(low), abs(high), 1.0):  # the energies are equal up to rounding, but bars need a width
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
        f'<line x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{22 + 14 * row}" y2="{height - 20}" stroke="var(--red)" '
        f'stroke-dasharray="4 3"/><text x="{min(x(value) + 4, width - 90):.1f}" y="{30 + 14 * row}">{label}</text>'
        for row, (value, label) in enumerate(marks)
    ]
    below = height - 4
    axis = f'<text x="10" y="{below}">{low:.1f}</text>'
    axis += f'<text x="{width - 10}" y="{below}" text-anchor="end">{low + span:.1f}</text>'
    label = "histogram of the energies of the reads, with marks for the optimum and for the best random order"
    view = f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{label}"'
    return f'<svg class="plot" {view}>{"".join(bars + lines)}{axis}</svg>'
