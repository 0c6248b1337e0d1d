"""Compare our layout with dagre, d3-dag, Graphviz and ELK, which run in Node.

The benchmark needs node and npm. Run `npm install --no-package-lock` in this folder first. It prints tables in Markdown. All
tools get the same sizes of nodes and the same distances. `measures.py` measures the drawings of all tools in the same way.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import networkx as nx
import numpy as np
from measures import Measures, flatten, measure

import dagneal as dn
from dagneal.report.drawing import edge_paths, lay_out
from dagneal.report.layout import GAP, ROW

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from networks import OPTION, fetch_networks  # noqa: E402

BUNDLED = ("lung-cancer", "waste", "alarm-15")
FETCHED = ("asia", "sachs", "child", "insurance", "alarm", "barley", "hailfinder", "hepar2", "win95pts")
OUTLOOK = ("pathfinder", "andes")  # more than 100 variables
OURS = "dagneal"
SUMMED = ("crossings", "edges through nodes", "total length", "longest edge", "area")


@dataclass(frozen=True)
class Entry:
    """Measures of a tool on a network, and its CPU times in milliseconds: the first call, and the median of the others."""

    measures: Measures
    first: float
    median: float


def main() -> None:
    """Run the benchmark and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    option, settings = OPTION
    parser.add_argument(option, **settings)
    parser.add_argument("--only", metavar="NAMES", help="names of networks, separated by commas")
    parser.add_argument("--ours", action="store_true", help="run only our layout")
    parser.add_argument("--modules", type=Path, default=HERE, metavar="FOLDER", help="folder that has node_modules")
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="number of timed calls after the first")
    args = parser.parse_args()
    names = args.only.split(",") if args.only else [*BUNDLED, *FETCHED, *OUTLOOK]
    fetched = fetch_networks([name for name in names if name not in BUNDLED], args.networks)
    graphs = {name: dn.load(name).dag if name in BUNDLED else fetched[name].dag for name in names}
    graphs = dict(sorted(graphs.items(), key=lambda item: len(item[1])))
    entries = {OURS: {name: draw_ours(dag, args.repeats) for name, dag in graphs.items()}}
    facts: dict[str, Any] = {}
    if not args.ours:
        others, facts = draw_others(graphs, args.modules, args.repeats)
        entries |= others
    print_tables(graphs, entries, facts)


def draw_ours(dag: nx.DiGraph, repeats: int) -> Entry:
    """Return the measures and times of our layout."""
    seconds = []
    for _ in range(repeats + 1):
        begin = process_time()
        picture = lay_out(dag)
        seconds.append(1000 * (process_time() - begin))
    names = list(dag)
    boxes = [picture.boxes[name] for name in names]
    number = {name: at for at, name in enumerate(names)}
    edges = [(number[a], number[b]) for a, b in dag.edges]
    curves = []
    for parent, child in dag.edges:
        path, _ = edge_paths(picture.boxes[parent], picture.boxes[child], picture.bends.get((parent, child), []))
        curves.append(parse_path(path))
    measures = measure([(box.w, box.h) for box in boxes], [(box.x, box.y) for box in boxes], edges, curves)
    return Entry(measures, seconds[0], statistics.median(seconds[1:] or seconds))


def parse_path(path: str) -> Any:
    """Return the polyline that approximates an SVG path of straight lines and parabolas."""
    lines = []
    at: tuple[float, float] = (0.0, 0.0)
    for letter, text in re.findall(r"([MLQ])([^MLQ]*)", path):
        numbers = [float(number) for number in re.findall(r"-?\d+\.?\d*", text)]
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        lines.append(flatten(points if letter == "M" else [at, *points], "quadratic" if letter == "Q" else "polyline"))
        at = points[-1]
    return np.concatenate([lines[0], *(line[1:] for line in lines[1:])])


def draw_others(
    graphs: Mapping[str, nx.DiGraph], modules: Path, repeats: int
) -> tuple[dict[str, dict[str, Entry | None]], dict[str, Any]]:
    """Run the JavaScript tools. Return the entries by tool and network, and facts about the tools."""
    sizes = {name: {v: (box.w, box.h) for v, box in lay_out(dag).boxes.items()} for name, dag in graphs.items()}
    task: dict[str, Any] = {"gap": GAP, "row": ROW - 30, "repeats": repeats, "graphs": []}
    edges = {}
    for name, dag in graphs.items():
        number = {variable: at for at, variable in enumerate(dag)}
        edges[name] = [(number[a], number[b]) for a, b in dag.edges]
        nodes = [{"name": variable, "w": sizes[name][variable][0], "h": sizes[name][variable][1]} for variable in dag]
        task["graphs"].append({"nodes": nodes, "edges": edges[name]})
    script = (HERE / "tools.mjs").read_text()
    command = ["node", "--input-type=module", "--eval", script]
    reply = subprocess.run(command, input=json.dumps(task), capture_output=True, text=True, check=True, cwd=modules)
    result = json.loads(reply.stdout)
    entries: dict[str, dict[str, Entry | None]] = {}
    for tool, answers in result["answers"].items():
        entries[tool] = {}
        for name, answer in zip(graphs, answers, strict=True):
            if "error" in answer:
                entries[tool][name] = None
                continue
            curves = [flatten(points, answer["kind"]) for points in answer["curves"]]
            box_sizes = [sizes[name][variable] for variable in graphs[name]]
            measures = measure(box_sizes, answer["place"], edges[name], curves)
            entries[tool][name] = Entry(measures, answer["first"], answer["median"])
    return entries, result["facts"] | {"node": result["node"]}


def print_tables(
    graphs: Mapping[str, nx.DiGraph], entries: Mapping[str, Mapping[str, Entry | None]], facts: Mapping[str, Any]
) -> None:
    """Print a table for each measure, with a row for each network, and a table of facts about the tools."""
    tables: dict[str, Callable[[Entry], float]] = {
        "crossings": lambda e: e.measures.crossings,
        "edges through nodes": lambda e: e.measures.through,
        "total length": lambda e: round(e.measures.total),
        "longest edge": lambda e: round(e.measures.longest, 1),
        "width": lambda e: round(e.measures.width),
        "height": lambda e: round(e.measures.height),
        "area": lambda e: round(e.measures.area),
        "letters": lambda e: round(e.measures.letters, 1),
        "CPU milliseconds": lambda e: round(e.median, 1 if e.median < 10 else None),
    }
    tools = list(entries)
    for title, figure in tables.items():
        print(f"\n{title}\n\n| network | variables | edges | {' | '.join(tools)} |\n|{'---|' * (len(tools) + 3)}")
        for name, dag in graphs.items():
            cells = ["-" if (entry := entries[tool][name]) is None else str(figure(entry)) for tool in tools]
            print(f"| {name} | {len(dag)} | {dag.number_of_edges()} | {' | '.join(cells)} |")
        if title in SUMMED:
            some = [name for name in graphs if name not in OUTLOOK]
            sums = []
            for tool in tools:
                drawn = [entry for name in some if (entry := entries[tool][name]) is not None]
                sums.append(f"{sum(figure(entry) for entry in drawn):.0f}" if len(drawn) == len(some) else "-")
            print(f"| sum of the first {len(some)} | | | {' | '.join(sums)} |")
    if facts:
        print("\n| tool | version | licence | bytes of the minified file | first call, CPU ms |\n|---|---|---|---|---|")
        for tool in tools[1:]:
            entry, fact = next(iter(entries[tool].values())), facts[tool]
            first = "-" if entry is None else f"{entry.first:.0f}"
            print(f"| {tool} | {fact['version']} | {fact['license']} | {fact['bytes']:,} | {first} |")
        print(f"\nNode {facts['node']}, Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
