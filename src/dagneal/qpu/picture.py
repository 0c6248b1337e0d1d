"""A picture of a plan. It shows the qubits of a chip, and the embeddings in different colours."""

from __future__ import annotations

import os
from pathlib import Path

from dagneal.base.files import atomic_write
from dagneal.qpu.embedding import Chains
from dagneal.qpu.plan import Plan
from dagneal.qpu.targets import Target

FORMATS = (".png", ".svg")


def write_picture(copies: list[Chains], target: Target, plan: Plan, path: str | os.PathLike[str]) -> None:
    """Draw the embeddings of a plan on the chip, and write the picture to a file.

    Args:
        copies: embeddings to draw.
        target: chip to draw; only its working qubits are drawn.
        plan: plan whose numbers appear in the title.
        path: file name ending in .png or .svg.
    """
    import dwave.graphs as graphs
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

    layouts = {"chimera": graphs.chimera_layout, "pegasus": graphs.pegasus_layout, "zephyr": graphs.zephyr_layout}
    graph = target.graph
    positions = layouts[target.topology](target.ideal)
    figure = Figure(figsize=(10, 10))
    axes = figure.add_axes((0.01, 0.01, 0.98, 0.94))
    x, y = zip(*(positions[qubit] for qubit in graph), strict=True)
    axes.scatter(x, y, s=1.5, color="#d0d0d0", linewidths=0)
    palette = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2")
    for number, chains in enumerate(copies):
        colour = palette[number % len(palette)]
        qubits = [qubit for chain in chains.values() for qubit in chain]
        x, y = zip(*(positions[qubit] for qubit in qubits), strict=True)
        axes.scatter(x, y, s=5, color=colour, linewidths=0)
        lines = [(positions[a], positions[b]) for a, b in graph.subgraph(qubits).edges]
        axes.add_collection(LineCollection(lines, colors=colour, linewidths=0.4))
    axes.set_axis_off()
    axes.set_aspect("equal")
    figure.suptitle(
        f"{plan.system}: {plan.copies} copies of {plan.size} variables "
        f"({plan.qubo_variables} QUBO variables, {plan.qubits:g} qubits each), "
        f"{plan.subproblems:,} subproblems in {plan.calls:,} calls",
        fontsize=11,
    )
    canvas = (FigureCanvasSVG if Path(path).suffix.lower() == ".svg" else FigureCanvasAgg)(figure)
    with atomic_write(path) as file:
        if isinstance(canvas, FigureCanvasSVG):
            canvas.print_svg(file)
        else:
            canvas.print_png(file)
