"""Drawing the figures of a report."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import networkx as nx

import dagneal as dn

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from dagneal.paper.items import Figure

RIGHT, TURNED, WRONG, MISSING = "#222222", "#e69f00", "#d62728", "#999999"


def check_matplotlib() -> None:
    """Say how to install what figures need, if it is not there."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError as error:
        raise dn.InputError("figures need matplotlib: pip install 'dagneal[plot,qpu]'") from error


def render_figure(figure: Figure) -> dict[str, bytes]:
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
        FigureCanvasAgg(canvas).draw()  # boxes get their size, which arrows end at
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
    box = {"boxstyle": "round,pad=0.35", "facecolor": "#eef3fa", "edgecolor": "#4c72b0"}
    boxes = {
        name: axes.text(x, y, name, ha="center", va="center", bbox=box, zorder=3, fontsize=8).get_bbox_patch()
        for name, (x, y) in place.items()
    }
    learned, true = set(graph.edges), set(truth.edges)
    turned = {(a, b) for a, b in learned - true if (b, a) in true}
    for label, edges, colour, style in (
        ("right", learned & true, RIGHT, "-"),
        ("turned round", turned, TURNED, "-"),
        ("wrong", learned - true - turned, WRONG, "-"),
        ("missing", {(a, b) for a, b in true - learned if (b, a) not in turned}, MISSING, "--"),
    ):
        if edges:
            axes.plot([], [], color=colour, linestyle=style, label=label)
        for parent, child in sorted(edges):
            bend = 0.0 if abs(place[parent][1] - place[child][1]) == 1 else 0.15
            arrow = {"arrowstyle": "-|>", "color": colour, "linestyle": style, "linewidth": 1.2, "mutation_scale": 12}
            arrow |= {"patchA": boxes[parent], "patchB": boxes[child], "shrinkA": 1, "shrinkB": 1}
            arrow |= {"connectionstyle": f"arc3,rad={bend}"}
            axes.annotate("", xy=place[child], xytext=place[parent], arrowprops=arrow, zorder=2)
    axes.legend(fontsize=8, loc="lower right")
    for axis, at in ((axes.set_xlim, 0), (axes.set_ylim, 1)):
        values = [point[at] for point in place.values()]
        axis(min(values) - 0.6, max(values) + 0.6)


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
