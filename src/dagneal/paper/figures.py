"""Drawing the figures of a report."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import networkx as nx

from dagneal.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from dagneal.paper.items import Figure

RIGHT, TURNED, WRONG, MISSING = "#222222", "#e69f00", "#d62728", "#999999"


def check_installed() -> None:
    """Say how to install what figures need, if it is not there."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError as error:
        raise InputError("figures need matplotlib: pip install 'dagneal[plot,qpu]'") from error


def rendered(figure: Figure) -> dict[str, bytes]:
    """A figure as SVG and PNG; the same figure gives the same bytes.

    Args:
        figure: what to draw.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    found = {}
    with rc_context({"svg.hashsalt": "dagneal", "font.size": 9}):
        canvas = Canvas(figsize=figure.size, layout="constrained")
        figure.draw(canvas)
        for ending, backend, more in (
            ("svg", FigureCanvasSVG, {"metadata": {"Date": None}}),
            ("png", FigureCanvasAgg, {"dpi": 110}),
        ):
            buffer = io.BytesIO()
            backend(canvas).print_figure(buffer, format=ending, **more)
            found[ending] = buffer.getvalue()
    return found


def draw_network(canvas: Canvas, graph: nx.DiGraph, truth: nx.DiGraph) -> None:
    """Draw a learned network against the true one, in layers of the truth.

    Args:
        canvas: where.
        graph: what was learned.
        truth: what is true.
    """
    axes = canvas.subplots()
    axes.set_axis_off()
    place = _layers(truth)
    learned, true = set(graph.edges), set(truth.edges)
    turned = {(a, b) for a, b in learned - true if (b, a) in true}
    for edges, colour, style in (
        (learned & true, RIGHT, "-"),
        (turned, TURNED, "-"),
        (learned - true - turned, WRONG, "-"),
        ({(a, b) for a, b in true - learned if (b, a) not in turned}, MISSING, "--"),
    ):
        for parent, child in sorted(edges):
            _arrow(axes, place[parent], place[child], colour, style)
    for name, (x, y) in place.items():
        box = {"boxstyle": "round,pad=0.35", "facecolor": "#eef3fa", "edgecolor": "#4c72b0"}
        axes.text(x, y, name, ha="center", va="center", bbox=box, zorder=3, fontsize=8)
    width, height = (max(values) - min(values) for values in zip(*place.values(), strict=True))
    axes.set_xlim(
        min(x for x, _ in place.values()) - 0.08 * width - 0.1, max(x for x, _ in place.values()) + 0.08 * width + 0.1
    )
    axes.set_ylim(
        min(y for _, y in place.values()) - 0.1 * height - 0.1, max(y for _, y in place.values()) + 0.1 * height + 0.1
    )


def _layers(dag: nx.DiGraph) -> dict[str, tuple[float, float]]:
    """Parents above children; within a layer each variable near its parents."""
    place: dict[str, tuple[float, float]] = {}
    for depth, names in enumerate(nx.topological_generations(dag)):
        layer = sorted(names, key=lambda name: (_middle(dag, name, place), list(dag).index(name)))
        for at, name in enumerate(layer):
            place[name] = ((at + 0.5) / len(layer) * 10, -float(depth))
    return place


def _middle(dag: nx.DiGraph, name: str, place: dict[str, tuple[float, float]]) -> float:
    known = [place[parent][0] for parent in dag.predecessors(name)]
    return sum(known) / len(known) if known else 5.0


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str, style: str) -> None:
    from matplotlib.patches import FancyArrowPatch

    bend = 0.0 if abs(start[1] - end[1]) == 1 else 0.15
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=12,
            shrinkA=14,
            shrinkB=14,
            color=colour,
            linestyle=style,
            linewidth=1.2,
            connectionstyle=f"arc3,rad={bend}",
            zorder=2,
        )
    )
