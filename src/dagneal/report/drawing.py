"""The drawings of the page, as SVG that needs no script: the network, the energies of the reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from math import atan2, cos, hypot, sin
from typing import Any

import networkx as nx
import numpy as np

from dagneal.kernels import Floats, Ints
from dagneal.report.layout import layered

_LETTER, _PAD, _HEIGHT, _LONGEST = 7.6, 22.0, 30.0, 26
_BARS = 40


@dataclass(frozen=True)
class Box:
    """A variable on the drawing: its middle and its size."""

    x: float
    y: float
    w: float
    h: float


def boxes_of(dag: nx.DiGraph) -> dict[str, Box]:
    """Where each variable is drawn.

    Args:
        dag: the graph.
    """
    widths = {name: _LETTER * len(shortened(name)) + _PAD for name in dag}
    return {name: Box(x, y, widths[name], _HEIGHT) for name, (x, y) in layered(dag, widths).items()}


def shortened(name: str) -> str:
    """A name that fits into a box; the whole one is in its title.

    Args:
        name: the name.
    """
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def network_svg(boxes: Mapping[str, Box], edges: list[dict[str, Any]]) -> str:
    """The network.

    Args:
        boxes: the variables.
        edges: each with `from`, `to`, `class`, `label` and whether it has an `arrow`.
    """
    left = min((box.x - box.w / 2 for box in boxes.values()), default=0.0) - 24
    right = max((box.x + box.w / 2 for box in boxes.values()), default=1.0) + 24
    top = min((box.y - box.h / 2 for box in boxes.values()), default=0.0) - 24
    bottom = max((box.y + box.h / 2 for box in boxes.values()), default=1.0) + 24
    view = f"{left:.1f} {top:.1f} {right - left:.1f} {bottom - top:.1f}"
    lines = [f'<svg id="network" role="group" aria-label="the network" viewBox="{view}">']
    number = {name: i for i, name in enumerate(boxes)}
    for edge in edges:
        line, head = _paths(boxes[edge["from"]], boxes[edge["to"]])
        arrow = f'<path class="head" d="{head}"/>' if edge["arrow"] else ""
        lines.append(
            f'<g class="{edge["class"]}" tabindex="0" role="img" data-from="{escape(edge["from"])}" '
            f'data-to="{escape(edge["to"])}" data-a="{number[edge["from"]]}" data-b="{number[edge["to"]]}" '
            f'aria-label="{escape(edge["label"])}">'
            f'<path class="hit" d="{line}"/><path class="line" d="{line}"/>{arrow}</g>'
        )
    for name, box in boxes.items():
        lines.append(
            f'<g class="node" data-i="{number[name]}" data-name="{escape(name)}" '
            f'transform="translate({box.x:.1f} {box.y:.1f})">'
            f"<title>{escape(name)}</title>"
            f'<rect x="{-box.w / 2:.1f}" y="{-box.h / 2:.1f}" width="{box.w:.1f}" height="{box.h:.1f}" rx="7"/>'
            f'<text text-anchor="middle" dy=".35em">{escape(shortened(name))}</text></g>'
        )
    return "\n".join([*lines, "</svg>"])


def _border(box: Box, other: Box) -> tuple[float, float]:
    """Where the line from one box to another leaves it."""
    dx, dy = other.x - box.x, other.y - box.y
    t = min(abs(box.w / 2 / (dx or 1e-9)), abs(box.h / 2 / (dy or 1e-9)), 1.0)
    return box.x + dx * t, box.y + dy * t


def _paths(start: Box, end: Box) -> tuple[str, str]:
    """The line of an edge and its arrowhead; page.js has the same formulas for boxes that are dragged."""
    (px, py), (qx, qy) = _border(start, end), _border(end, start)
    cx, cy = (px + qx) / 2 + (40 if abs(start.y - end.y) > 150 else 0), (py + qy) / 2
    angle = atan2(qy - cy, qx - cx) if hypot(qy - cy, qx - cx) else 0.0

    def at(turn: float, far: float) -> str:
        return f"{qx - far * cos(angle + turn):.1f} {qy - far * sin(angle + turn):.1f}"

    return f"M{px:.1f} {py:.1f}Q{cx:.1f} {cy:.1f} {qx:.1f} {qy:.1f}", f"M{qx:.1f} {qy:.1f}L{at(0.4, 11)}L{at(-0.4, 11)}Z"


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
    span = (high - low) or 1.0
    counts, edges = np.histogram(energies, _BARS, (low, low + span), weights=occurrences)
    width, height, most = 640.0, 170.0, float(counts.max()) or 1.0

    def x(value: float) -> float:
        return 10 + (value - low) / span * (width - 20)

    bars = [
        f'<rect x="{x(a):.1f}" y="{height - 20 - 120 * count / most:.1f}" width="{(width - 20) / _BARS - 1:.1f}" '
        f'height="{120 * count / most:.1f}" fill="var(--accent)">'
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
