"""The page: one file, no network access, with the drawing, the edges, the data, the score, the reads and the votes."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from html import escape
from importlib.resources import files
from typing import Any

import networkx as nx

from dagneal.base.files import replacing
from dagneal.base.version import __version__
from dagneal.confidence.finding import Confidence, Finding
from dagneal.confidence.measures import compare_classes
from dagneal.graphs.dags import graph_of
from dagneal.networks.comparison import compare
from dagneal.report.drawing import energies_svg, network_svg, picture_of
from dagneal.report.edges import edges_of
from dagneal.report.summary import bootstrap_line
from dagneal.report.tables import edge_table, region, table, vote_table

_KEYS = (
    ("--right", "solid", "right"),
    ("--equal", "solid", "turned round, but equivalent: the data cannot tell"),
    ("--weak", "solid", "turned round"),
    ("--wrong", "solid", "wrong"),
    ("--missing", "dashed", "missing"),
)
_STATES = 12  # of a variable that are listed
_MOST_VOTES = 40  # variables up to which the votes are shown


def write_page(
    found: Finding, path: str | os.PathLike[str], truth: nx.DiGraph | None = None, title: str = "", command: str = ""
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
        file.write(page(found, truth, title, command).encode(errors="replace"))


def page(found: Finding, truth: nx.DiGraph | None = None, title: str = "", command: str = "") -> str:
    """The page of a learned network, as HTML.

    Args:
        found: the network.
        truth: to compare with.
        title: what the data are called.
        command: that repeats the run.

    >>> from dagneal.networks.bundled import load
    >>> "<svg" in page(Finding(load("lung-cancer").dag, -21036.862, 2, "exact"))
    True
    """
    edges = edges_of(found, truth)
    picture = picture_of(graph_of(found.dag, ((edge["from"], edge["to"]) for edge in edges)))
    nodes = [{"name": name, **asdict(box)} for name, box in picture.boxes.items()]
    bends = [picture.bends.get((edge["from"], edge["to"]), []) for edge in edges]
    heading = f"The network of {title}" if title else "The learned network"
    parts = [
        f"<h1>{escape(heading)}</h1>",
        f"<p>{escape(_standing(found))}</p>",
        *([] if truth is None else [f"<p>{escape(_against(found.dag, truth))}</p>"]),
        _drawing(network_svg(picture, edges), truth is not None, any(edge["weak"] for edge in edges)),
        '<h2 id="edge-table" tabindex="-1">Edges</h2>',
        edge_table(edges) if edges else _without_edges(found),
        *_confidence(found),
        *_data(found),
        *_reads(found),
        *_votes(found),
        *_run(found, command),
    ]
    style, script = ((files("dagneal.report") / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    # "</" cannot occur inside the data, whatever the names are.
    data = (
        json.dumps({"nodes": nodes, "bends": bends}).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(heading)}</title>\n<style>\n{style}</style></head>\n<body><main>\n"
        + "\n".join(parts)
        + f'\n<div id="tip" role="status" hidden></div></main>\n<script type="application/json" id="data">{data}</script>\n'
        f"<script>\n{script}</script>\n</body></html>\n"
    )


def draw_html(found: Finding) -> str:
    """Return the drawing of a learned network with its styles, as HTML for a notebook.

    Args:
        found: the network.
    """
    edges = edges_of(found, None)
    picture = picture_of(graph_of(found.dag, ((edge["from"], edge["to"]) for edge in edges)))
    style = (files("dagneal.report") / "notebook.css").read_text(encoding="utf-8")
    svg = network_svg(picture, edges).replace(' id="network"', "")  # a notebook may show several
    return f'<div class="dagneal"><style>{style}</style>{svg}<p>{escape(_standing(found))}</p></div>'


def _standing(found: Finding) -> str:
    if found.score != found.score:
        return f"Not a network: what {found.solver} found has a cycle or too many parents."
    how = "no network within the limits scores higher (proved)" if found.optimal else "not proved optimal"
    parents = "1 parent" if found.max_parents == 1 else f"{found.max_parents} parents"
    limits = f"at most {parents}; found by {found.solver}"
    words = f"{found.score_name} log score {found.score:,.3f}, {how}; {limits}."
    if found.reads is not None and found.reads.optimum is not None:
        words += f" The proved optimum is {found.reads.optimum:,.3f}."
    if found.bound is not None:
        words += f" No network with at most {found.bound.max_parents} parents scores more than {found.bound.score:,.3f}."
    return words


def _against(found: nx.DiGraph, truth: nx.DiGraph) -> str:
    """The same figures as on the command line."""
    against = compare(found, truth)
    distance = "" if against.cpdag_shd is None else f"; the equivalence classes differ in {against.cpdag_shd} pairs"
    return (
        f"Against the truth {against.right} edges are right, {against.wrong} wrong and {against.missing} missing, "
        f"a turned one counting as both{distance}."
    )


def _drawing(svg: str, compared: bool, weak: bool) -> str:
    keys = [("--soft", "solid", "direction decided: arrow; open: plain line")]
    if compared:
        keys = [*_KEYS, *keys]
    if weak:
        keys.append(("--soft", "dotted", "in few of the resamples"))
    legend = "".join(
        f'<span class="key"><i aria-hidden="true" style="border-color: var({colour}); border-top-style: {style}"></i>'
        f"{escape(text)}</span>"
        for colour, style, text in keys
    )
    buttons = "".join(
        f'<button type="button" id="{name}">{text}</button>'
        for name, text in (("in", "Larger"), ("out", "Smaller"), ("fit", "Whole"))
    )
    hint = (
        "Drag a variable or the paper; point at an edge, or go to it with the tabulator key. "
        "Arrow keys move the variable that has the focus."
    )
    skip = '<a class="skip" href="#edge-table">Skip the drawing</a>'
    return f'<div class="bar">{skip}{buttons}{legend}</div>\n{svg}\n<p class="soft hint">{hint}</p>'


def _without_edges(found: Finding) -> str:
    """Why there are no edges, which need not be because of the data."""
    names = list(found.dag)
    every = len(names) * (len(names) - 1)
    possible = every
    if found.knowledge:
        rules = found.knowledge.constraints(names, found.max_parents)
        possible = int((rules.allowed & (rules.limits > 0)).sum())
    if not every:
        why = "there is only one variable"
    elif found.division is not None and found.division.combine in ("penalty", "count"):
        why = "the votes of the blocks leave none"  # max_parents is then what occurs, and no limit
    elif found.max_parents == 0:
        why = "at most 0 parents were allowed"
    elif not possible:
        why = "what was known before allows none"
    elif possible < every:
        raises = "raises the score" if found.optimal else "was found to raise the score"
        why = f"none that what was known before allows {raises}"
    elif found.optimal:
        why = "no variable tells enough about another to raise the score"
    else:
        why = "none was found that raises the score"
    return f"<p>There are no edges: {why}.</p>"


def _confidence(found: Finding) -> list[str]:
    """Return the bootstrap samples, the rows held out, and other priors."""
    sure = found.confidence or Confidence()
    parts = []
    if sure.bootstrap is not None:
        parts.append(f"<p>{escape(bootstrap_line(sure.bootstrap))}</p>")
    if held := sure.holdout:
        text = (
            f"{held.rows:,} rows held out have a log-likelihood of {held.log_likelihood:.4f} a row, "
            f"{held.without_edges:.4f} under a network without edges."
        )
        parts.append(f"<p>{escape(text)}</p>")
    if others := sure.sensitivity:
        ways = compare_classes([graph_of(found.dag, edges) for edges in others.values()], found.knowledge)
        head = [("of", False), ("and", False), *((f"equivalent sample size {size:g}", False) for size in others)]
        rows = [[*pair, *its] for pair, its in ways.items()]
        parts.append(table(head, rows, "priors", "edges with other priors"))
    return ["<h2>Other rows, other priors</h2>", *parts] if parts else []


def _data(found: Finding) -> list[str]:
    """Return what is known of the data; of a result that was read from a file that is less than of a new one."""
    data = found.data or found.stored_data
    if data is None:
        return []
    told = "".join(f"<li>{escape(text)}</li>" for text in data.prepared) or "<li>nothing</li>"
    known = ""
    if found.knowledge:
        listed = "; ".join(
            f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in found.knowledge.to_dict().items()
        )
        known = f"<p>Known before: {escape(listed)}</p>"
    different, variables = "", []
    if found.data is not None:
        rows = []
        for name, states in zip(found.data.names, found.data.states, strict=True):
            rows.append([name, len(states), [*states[:_STATES], *(["…"] if len(states) > _STATES else [])]])
        different = f" ({found.data.different})"
        variables = [table([("variable", False), ("states", True), ("which", False)], rows, "variables", "variables")]
    about = f"{len(found.dag)} variables, {data.rows:,} rows{different}"
    return ["<h2>Data</h2>", f"<p>{about}. What was done to them:</p><ul>{told}</ul>{known}", *variables]


def _reads(found: Finding) -> list[str]:
    figures = found.reads
    if figures is None:
        return []
    raw = (
        "no read is a network"
        if figures.raw is None
        else f"best raw read {figures.raw.score:,.3f} in {figures.raw.hits:,} reads"
    )
    words = (
        f"{figures.reads:,} reads, {figures.distinct:,} distinct, of a QUBO of {figures.bits} bits, "
        f"{figures.interactions} products ({figures.encoding}); {figures.feasible:.1%} are networks without repair; {raw}; "
        f"best repaired read {figures.repaired.score:,.3f}; best of as many random orders {figures.baseline:,.3f}."
    )
    parts = ["<h2>Reads of the annealer</h2>", f"<p>{escape(words)}</p>"]
    if figures.sampleset is not None:
        record = figures.sampleset.record
        parts.append(energies_svg(record.energy, record.num_occurrences, figures.optimum, figures.baseline))
    return parts


def _votes(found: Finding) -> list[str]:
    division = found.division
    if division is None or division.votes is None or division.against is None or len(found.dag) > _MOST_VOTES:
        return []
    words = (
        f"In how many of {division.subproblems:,} blocks of {division.size} variables each edge (row to column) is; "
        "the darker, the larger the share of the blocks that hold both."
    )
    heat = vote_table(list(found.dag), division.votes, division.against)
    return ["<h2>Votes of the blocks</h2>", f"<p>{escape(words)}</p>", heat]


def _run(found: Finding, command: str) -> list[str]:
    plain: dict[str, Any] = {
        "score_name": found.score_name,
        "max_parents": found.max_parents,
        "solver": found.solver,
        "seed": found.seed,
        "seconds": {stage: round(value, 6) for stage, value in found.seconds.items()},
    }
    if found.hardware is not None:
        plain["hardware"] = found.hardware.summary()
    lines = [*([command] if command else []), json.dumps(plain, ensure_ascii=False)]
    text = escape("\n".join(lines))
    return [
        "<h2>To repeat it</h2>",
        region(f"<pre>{text}</pre>", "command and parameters"),
        f'<p class="soft">dagneal {escape(__version__)}</p>',
    ]
