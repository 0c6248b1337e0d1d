"""Draw the figures of a report."""

from __future__ import annotations

import io
from importlib.util import find_spec
from typing import TYPE_CHECKING

import networkx as nx

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from dagneal.paper.items import Figure

CORRECT, REVERSED, WRONG, MISSING = "#222222", "#e69f00", "#d62728", "#999999"  # colours of edges


NO_FIGURES = (
    "This report has no figures, because matplotlib is not installed. Run `pip install 'dagneal[plot,qpu]'` and then the "
    "same command with `--report`"
)


def can_draw() -> bool:
    """Return whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def render_figure(figure: Figure) -> dict[str, bytes]:
    """Return a dict with a figure as `svg` and as `png`. The same figure always gives the same bytes.

    Args:
        figure: figure to render.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    files = {}
    with rc_context({"svg.hashsalt": "dagneal", "font.size": 9}):
        canvas = Canvas(figsize=figure.size, layout="constrained")
        figure.draw(canvas)
        FigureCanvasAgg(canvas).draw()  # computes the sizes of the boxes, at whose borders the arrows end
        for ending, backend, options in (
            ("svg", FigureCanvasSVG, {"metadata": {"Date": None}}),
            ("png", FigureCanvasAgg, {"dpi": 110}),
        ):
            buffer = io.BytesIO()
            backend(canvas).print_figure(buffer, format=ending, **options)
            files[ending] = buffer.getvalue()
    return files


def draw_network(canvas: Canvas, graph: nx.DiGraph, truth: nx.DiGraph) -> None:
    """Draw a learned network and mark the differences from the true network.

    Args:
        canvas: canvas to draw on.
        graph: learned network.
        truth: true network, which determines the layers of the drawing.
    """
    axes = canvas.subplots()
    axes.set_axis_off()
    positions = _layer_positions(truth)
    box = {"boxstyle": "round,pad=0.35", "facecolor": "#eef3fa", "edgecolor": "#4c72b0"}
    boxes = {
        name: axes.text(x, y, name, ha="center", va="center", bbox=box, zorder=3, fontsize=8).get_bbox_patch()
        for name, (x, y) in positions.items()
    }
    learned, true = set(graph.edges), set(truth.edges)
    reversed_edges = {(a, b) for a, b in learned - true if (b, a) in true}
    for label, edges, colour, style in (
        ("correct", learned & true, CORRECT, "-"),
        ("reversed", reversed_edges, REVERSED, "-"),
        ("wrong", learned - true - reversed_edges, WRONG, "-"),
        ("missing", {(a, b) for a, b in true - learned if (b, a) not in reversed_edges}, MISSING, "--"),
    ):
        if edges:
            axes.plot([], [], color=colour, linestyle=style, label=label)
        for parent, child in sorted(edges):
            bend = 0.0 if abs(positions[parent][1] - positions[child][1]) == 1 else 0.15
            arrow = {"arrowstyle": "-|>", "color": colour, "linestyle": style, "linewidth": 1.2, "mutation_scale": 12}
            arrow |= {"patchA": boxes[parent], "patchB": boxes[child], "shrinkA": 1, "shrinkB": 1}
            arrow |= {"connectionstyle": f"arc3,rad={bend}"}
            axes.annotate("", xy=positions[child], xytext=positions[parent], arrowprops=arrow, zorder=2)
    axes.legend(fontsize=8, loc="lower right")
    for axis, at in ((axes.set_xlim, 0), (axes.set_ylim, 1)):
        values = [point[at] for point in positions.values()]
        axis(min(values) - 0.6, max(values) + 0.6)


def _layer_positions(dag: nx.DiGraph) -> dict[str, tuple[float, float]]:
    """Return the coordinates of each variable. Parents are above children; each layer is sorted by the mean x of parents."""
    positions: dict[str, tuple[float, float]] = {}
    for depth, names in enumerate(nx.topological_generations(dag)):
        layer = sorted(names, key=lambda name: (_mean_of_parents(dag, name, positions), list(dag).index(name)))
        for at, name in enumerate(layer):
            positions[name] = ((at + 0.5) / len(layer) * 10, -float(depth))
    return positions


def _mean_of_parents(dag: nx.DiGraph, name: str, positions: dict[str, tuple[float, float]]) -> float:
    """Return the mean x coordinate of a variable's parents, or the middle if it has no parents."""
    parents = [positions[parent][0] for parent in dag.predecessors(name)]
    return sum(parents) / len(parents) if parents else 5.0
