"""Plot the records of `search.py anytime --records RECORDS`, and print them as a Markdown table.

Usage: python benchmarks/acceptance/anytime_plot.py RECORDS OUTPUT.svg

Each panel shows one network: the traces of our search on all samples, and the other tools as points. The vertical axis is
the distance to the best score that any record of the sample has.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import mean
from typing import Any

from search import PEERS, score_at

SMALLEST = 0.1  # nats; added to distances, because the axis is logarithmic

Record = dict[str, Any]


def read_records(path: Path) -> dict[str, dict[str, dict[str, Record]]]:
    """Return the last record of each network, sample and tool. Records with settings belong to other parts."""
    networks: dict[str, dict[str, dict[str, Record]]] = {}
    for line in path.read_text().splitlines():
        record = json.loads(line)
        network, _, _ = record["sample"].split("-")
        if not record["settings"]:
            networks.setdefault(network, {}).setdefault(record["sample"], {})[record["tool"]] = record
    compared = {name for name, samples in networks.items() for tools in samples.values() if set(PEERS) & set(tools)}
    return {name: samples for name, samples in networks.items() if name in compared}


def print_table(networks: dict[str, dict[str, dict[str, Record]]]) -> None:
    """Print the mean seconds of each tool, and our score minus its score at that moment: mean and lowest of the samples."""
    print("| network | " + " | ".join(PEERS) + " |\n|---|" + "---|" * len(PEERS))
    for network, samples in networks.items():
        cells = []
        for tool in PEERS:
            runs = [(tools["dagneal"], tools[tool]) for tools in samples.values() if tool in tools]
            if not runs:
                cells.append("")
                continue
            differences = [score_at(ours, theirs["seconds"]) - theirs["score"] for ours, theirs in runs]
            seconds = mean(theirs["seconds"] for _, theirs in runs)
            cells.append(f"{seconds:.2f} s: {mean(differences):+,.0f}, lowest {min(differences):+,.0f}")
        print(f"| {network} | " + " | ".join(cells) + " |")


def plot(networks: dict[str, dict[str, dict[str, Record]]], path: Path) -> None:
    """Draw one panel for each network."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "dagneal"
    figure, panels = pyplot.subplots(2, -(-len(networks) // 2), figsize=(13, 7), squeeze=False)
    for panel in panels.flat[len(networks) :]:
        panel.set_axis_off()
    for panel, (network, samples) in zip(panels.flat, networks.items(), strict=False):
        for tools in samples.values():
            best = max(record["score"] for record in tools.values())
            ours = tools["dagneal"]
            moments = [*(point[0] for point in ours["trace"]), ours["seconds"]]
            below = [best - point[1] + SMALLEST for point in ours["trace"]]
            panel.step(moments, [*below, below[-1]], where="post", color="C0", label="dagneal")
            for number, tool in enumerate(PEERS, 1):
                if tool in tools:
                    place = tools[tool]["seconds"], best - tools[tool]["score"] + SMALLEST
                    panel.scatter(*place, color=f"C{number}", marker=" osD"[number], label=tool, zorder=3)
        panel.set(title=network, xscale="log", yscale="log", xlabel="CPU seconds", ylabel="nats below the best + 0.1")
    found = [panel.get_legend_handles_labels() for panel in panels.flat]
    handles = {label: handle for both in found for handle, label in zip(*both, strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncols=4)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    records = read_records(Path(sys.argv[1]))
    print_table(records)
    plot(records, Path(sys.argv[2]))
