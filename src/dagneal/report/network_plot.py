"""Draw a network with matplotlib, for figures of papers and slides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx

from dagneal.base.errors import InputError
from dagneal.graphs.directions import Direction
from dagneal.report.drawing import lay_out, shorten_name

if TYPE_CHECKING:
    from dagneal.solvers.solution import Solution

_INCH = 72.0  # units of the layout per inch
_ARROWS: dict[Any, str] = {Direction.COMPELLED: "->", Direction.UNDETERMINED: "-"}  # styles of matplotlib; others are filled
_LARGEST = 30.0  # largest width and height of a new figure, in inches


def plot_network(solution: Solution, axes: Any = None) -> Any:
    """Draw the graph of a solution with matplotlib, and return the axes.

    An edge whose direction knowledge fixes or the data support has a filled arrowhead. A compelled edge whose stability is
    unknown has an open one, and an edge of undetermined direction is a dashed line without an arrowhead.

    Args:
        solution: learned network.
        axes: matplotlib axes to draw into; None for a new figure.
    """
    try:
        from matplotlib import pyplot
        from matplotlib.patches import FancyArrowPatch
        from matplotlib.path import Path
    except ImportError as error:
        raise InputError("plot needs matplotlib, which is not installed; run pip install 'dagneal[plot]'") from error

    dag = nx.DiGraph(solution.dag)
    picture = lay_out(dag)
    directions = getattr(solution, "directions", {})
    boxes = picture.boxes
    right = max(box.x + box.w / 2 for box in boxes.values())
    left = min(box.x - box.w / 2 for box in boxes.values())
    top = min(box.y - box.h for box in boxes.values())
    bottom = max(box.y + box.h for box in boxes.values())
    if axes is None:
        size = (min((right - left) / _INCH + 0.5, _LARGEST), min((bottom - top) / _INCH + 0.5, _LARGEST))
        _, axes = pyplot.subplots(figsize=size)
    drawn = {}
    for name, box in boxes.items():
        style = {"boxstyle": "round,pad=0.4", "facecolor": "white", "edgecolor": "0.4"}
        # A dollar sign would start a formula.
        text = shorten_name(name).replace("$", r"\$")
        drawn[name] = axes.text(box.x, box.y, text, ha="center", va="center", fontsize=9, zorder=2, bbox=style)
    for parent, child in dag.edges:
        a, b = boxes[parent], boxes[child]
        down = b.y >= a.y
        points = [
            (a.x, a.y + (a.h if down else -a.h) / 2),
            *picture.bends.get((parent, child), []),
            (b.x, b.y - (b.h if down else -b.h) / 2),
        ]
        arrow = _ARROWS.get(directions.get((parent, child)), "-|>")
        axes.add_patch(
            FancyArrowPatch(
                path=Path(points),
                arrowstyle=arrow,
                linestyle="--" if arrow == "-" else "-",
                mutation_scale=10,
                color="0.3",
                zorder=1,
            )
        )
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    axes.set_axis_off()
    return axes
