"""The page: one file, no network access, with the drawing, the edges, the data, the score, the reads and the votes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

import networkx as nx

from dagneal import __version__
from dagneal.graphs import graph_of
from dagneal.learned import Learned
from dagneal.report.drawing import boxes_of, energies_svg, network_svg
from dagneal.report.edges import edges_of
from dagneal.writing import replacing

_LONG = 40  # letters of a cell, beyond which words may be broken anywhere
_MOST_VOTES = 40  # variables up to which the votes are shown


def write_page(
    found: Learned, path: str | os.PathLike[str], truth: nx.DiGraph | None = None, title: str = "", command: str = ""
) -> None:
    """Write the page of a learned network.

    Args:
        found: the network.
        path: where.
        truth: to compare with.
        title: what the data are called.
        command: that repeats the run.
    """
    with replacing(path) as file:
        file.write(page(found, truth, title, command).encode())


def page(found: Learned, truth: nx.DiGraph | None = None, title: str = "", command: str = "") -> str:
    """The page of a learned network, as HTML.

    Args:
        found: the network.
        truth: to compare with.
        title: what the data are called.
        command: that repeats the run.

    >>> from dagneal.learners.learn import learn
    >>> from dagneal.networks import load
    >>> "<svg" in page(learn(load("lung-cancer").expected(10_000)))
    True
    """
    edges = edges_of(found, truth)
    boxes = boxes_of(_together(found.dag, truth))
    nodes = [{"name": name, "x": box.x, "y": box.y, "w": box.w, "h": box.h} for name, box in boxes.items()]
    heading = f"The network of {title}" if title else "The learned network"
    parts = [
        f"<h1>{escape(heading)}</h1>",
        f"<p>{escape(_standing(found))}</p>",
        _drawing(network_svg(boxes, edges), truth is not None, any(edge["weak"] for edge in edges)),
        "<h2>Edges</h2>",
        _edge_table(edges),
        *_confidence(found),
        *_data(found),
        *_reads(found),
        *_votes(found),
        *_run(found, command),
    ]
    style, script = ((files("dagneal.report") / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    # "</" cannot occur inside the data, whatever the names are.
    data = json.dumps({"nodes": nodes}).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(heading)}</title>\n<style>\n{style}</style></head>\n<body><main>\n"
        + "\n".join(parts)
        + f'\n</main><div id="tip" role="status" hidden></div>\n<script type="application/json" id="data">{data}</script>\n'
        f"<script>\n{script}</script>\n</body></html>\n"
    )


def _together(dag: nx.DiGraph, truth: nx.DiGraph | None) -> nx.DiGraph:
    """What the layout is made for: the learned graph, with missing edges where they leave no cycle."""
    graph = graph_of(dag, dag.edges)
    for parent, child in truth.edges if truth is not None else ():
        if not graph.has_edge(parent, child) and not nx.has_path(graph, child, parent):
            graph.add_edge(parent, child)
    return graph


def _standing(found: Learned) -> str:
    if found.score != found.score:
        return f"Not a network: what {found.solver} found has a cycle or too many parents."
    how = "no network within the limits scores higher (proved)" if found.optimal else "not proved optimal"
    limits = f"at most {found.max_parents} parents; found by {found.solver}"
    words = f"{found.score_name} log score {found.score:,.3f}, {how}; {limits}."
    if found.annealed is not None and found.annealed.optimum is not None:
        words += f" The proved optimum is {found.annealed.optimum:,.3f}."
    if found.bound is not None:
        words += f" No network with at most {found.bound.max_parents} parents scores more than {found.bound.score:,.3f}."
    return words


def _drawing(svg: str, compared: bool, weak: bool) -> str:
    keys = [("--soft", "solid", "direction decided: arrow; open: plain line")]
    if compared:
        kinds = (("--right", "solid", "right"), ("--weak", "solid", "turned round"), ("--wrong", "solid", "wrong"))
        keys = [*kinds, ("--missing", "dashed", "missing"), *keys]
    if weak:
        keys.append(("--soft", "dotted", "in few of the resamples"))
    legend = "".join(
        f'<span class="key"><i style="border-color: var({colour}); border-top-style: {style}"></i>{escape(text)}</span>'
        for colour, style, text in keys
    )
    buttons = "".join(
        f'<button type="button" id="{name}">{text}</button>'
        for name, text in (("in", "Larger"), ("out", "Smaller"), ("fit", "Whole"))
    )
    hint = '<span class="soft">Drag a variable or the paper; point at an edge, or go to it with the tabulator key.</span>'
    return f'<div class="bar">{buttons}{legend}</div>\n{svg}\n<p>{hint}</p>'


def _table(head: Sequence[tuple[str, bool]], rows: Sequence[Sequence[Any]], name: str) -> str:
    """A table that can be sorted; numbers are told from text."""
    heads = "".join(
        f'<th scope="col"{" class=n" if number else ""}><button type="button">{escape(text)}</button></th>'
        for text, number in head
    )

    def cell(value: Any, number: bool) -> str:
        if not number:
            long = ' class="long"' if len(str(value)) > _LONG else ""
            return f"<td{long}>{escape(str(value))}</td>"
        if value is None:
            return '<td class="n" data-n="-1e300">-</td>'
        text = f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
        return f'<td class="n" data-n="{value!r}">{text}</td>'

    lines = "\n".join(
        "<tr>" + "".join(cell(value, number) for value, (_, number) in zip(row, head, strict=True)) + "</tr>" for row in rows
    )
    body = f"<thead><tr>{heads}</tr></thead><tbody>\n{lines}\n</tbody>"
    return f'<div class="wide"><table class="sortable" id="{name}">{body}</table></div>'


def _edge_table(edges: Sequence[Mapping[str, Any]]) -> str:
    columns: list[tuple[str, str, bool]] = [("from", "from", False), ("to", "to", False)]
    if any(edge["kind"] for edge in edges):
        columns.append(("kind", "against the truth", False))
    for key, text in (
        ("loss", "loses without it, nats"),
        ("turned", "loses turned round"),
        ("share", "share of resamples"),
        ("forward", "of these this way"),
        ("votes", "votes for"),
        ("against", "votes against"),
    ):
        if any(edge[key] is not None for edge in edges):
            columns.append((key, text, True))
    head = [(text, number) for _, text, number in columns] + [("direction", False)]
    rows = [
        [
            *(edge[key] for key, _, _ in columns),
            "" if edge["kind"] == "missing" or edge["cyclic"] else "open" if edge["open"] else "decided",
        ]
        for edge in edges
    ]
    return _table(head, rows, "edges") if edges else "<p>There are no edges: no variable tells anything about another.</p>"


def _confidence(found: Learned) -> list[str]:
    """Rows held out, and other priors."""
    sure = found.confidence or {}
    parts = []
    if held := sure.get("holdout"):
        text = (
            f"{held['rows']:,} rows held out have a log-likelihood of {held['log_likelihood']:.4f} a row, "
            f"{held['without_edges']:.4f} under a network without edges."
        )
        parts.append(f"<p>{escape(text)}</p>")
    if others := sure.get("sensitivity"):
        every = list(dict.fromkeys(tuple(edge) for edges in others.values() for edge in edges))
        head = [("from", False), ("to", False), *((f"equivalent sample size {size}", False) for size in others)]
        rows = [[*edge, *("yes" if list(edge) in edges else "-" for edges in others.values())] for edge in every]
        parts.append(_table(head, rows, "priors"))
    return ["<h2>Other rows, other priors</h2>", *parts] if parts else []


def _data(found: Learned) -> list[str]:
    if found.data is None:
        return []
    rows = []
    for name, states in zip(found.data.names, found.data.states, strict=True):
        rows.append([name, len(states), ", ".join(states[:12]) + (" …" if len(states) > 12 else "")])
    told = "".join(f"<li>{escape(text)}</li>" for text in found.data.prepared) or "<li>nothing</li>"
    known = ""
    if found.knowledge:
        listed = "; ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in found.knowledge.items())
        known = f"<p>Known before: {escape(listed)}</p>"
    about = f"{len(rows)} variables, {found.data.rows:,} rows ({found.data.codes.shape[1]:,} different)"
    return [
        "<h2>Data</h2>",
        f"<p>{about}. What was done to them:</p><ul>{told}</ul>{known}",
        _table([("variable", False), ("states", True), ("which", False)], rows, "variables"),
    ]


def _reads(found: Learned) -> list[str]:
    figures = found.annealed
    if figures is None:
        return []
    record = figures.sampleset.record
    raw = (
        "no read is a network"
        if figures.raw is None
        else f"best raw read {figures.raw.score:,.3f} in {figures.raw.hits:,} reads"
    )
    words = (
        f"{figures.reads:,} reads of a QUBO of {figures.bits} bits, {figures.interactions} products ({figures.encoding}); "
        f"{figures.feasible:.1%} are networks as they stand; {raw}; best repaired read {figures.repaired.score:,.3f}; "
        f"best of as many random orders {figures.baseline:,.3f}."
    )
    plot = energies_svg(record.energy, record.num_occurrences, figures.optimum, figures.baseline)
    return ["<h2>Reads of the annealer</h2>", f"<p>{escape(words)}</p>", plot]


def _votes(found: Learned) -> list[str]:
    division = found.division
    if division is None or division.votes is None or division.against is None or len(found.dag) > _MOST_VOTES:
        return []
    names = list(found.dag)
    total = division.votes + division.against
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    lines = []
    for a, name in enumerate(names):
        cells = []
        for b in range(len(names)):
            share = division.votes[a, b] / total[a, b] if total[a, b] else 0.0
            shade = (
                f' style="background: color-mix(in srgb, var(--accent) {round(70 * share)}%, transparent)"' if a != b else ""
            )
            text = f"{division.votes[a, b]}" if a != b else ""
            cells.append(f"<td{shade}>{text}</td>")
        lines.append(f'<tr><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>')
    words = (
        f"In how many of {division.blocks:,} blocks of {division.size} variables each edge (row to column) is; the darker, "
        "the larger the share of the blocks that hold both."
    )
    table = f'<table class="heat"><thead><tr><td></td>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    return ["<h2>Votes of the blocks</h2>", f"<p>{escape(words)}</p>", f'<div class="wide">{table}</div>']


def _run(found: Learned, command: str) -> list[str]:
    kept = ("solver", "seed", "max_parents", "score_name", "seconds", "hardware")
    plain = {key: value for key, value in found.to_dict().items() if key in kept}
    lines = [*([command] if command else []), json.dumps(plain, ensure_ascii=False)]
    text = escape("\n".join(lines))
    return ["<h2>To repeat it</h2>", f"<pre>{text}</pre>", f'<p class="soft">dagneal {escape(__version__)}</p>']
