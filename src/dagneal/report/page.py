"""The page: one file, no network access, with the drawing, the edges, the data, the score, the reads and the votes."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from html import escape
from importlib.resources import files

import networkx as nx

from dagneal.base.files import replacing
from dagneal.base.version import __version__
from dagneal.confidence.measures import side_by_side
from dagneal.graphs.dags import graph_of
from dagneal.graphs.knowledge import Knowledge
from dagneal.networks.comparison import compare
from dagneal.report.drawing import energies_svg, network_svg, picture_of
from dagneal.report.edges import edges_of
from dagneal.report.tables import edge_table, region, table, vote_table
from dagneal.result import Learned

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
        file.write(page(found, truth, title, command).encode(errors="replace"))


def page(found: Learned, truth: nx.DiGraph | None = None, title: str = "", command: str = "") -> str:
    """The page of a learned network, as HTML.

    Args:
        found: the network.
        truth: to compare with.
        title: what the data are called.
        command: that repeats the run.

    >>> from dagneal.learning import learn
    >>> from dagneal.networks.bundled import load
    >>> "<svg" in page(learn(load("lung-cancer").expected(10_000)))
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


def _standing(found: Learned) -> str:
    if found.score != found.score:
        return f"Not a network: what {found.solver} found has a cycle or too many parents."
    how = "no network within the limits scores higher (proved)" if found.optimal else "not proved optimal"
    parents = "1 parent" if found.max_parents == 1 else f"{found.max_parents} parents"
    limits = f"at most {parents}; found by {found.solver}"
    words = f"{found.score_name} log score {found.score:,.3f}, {how}; {limits}."
    if found.annealed is not None and found.annealed.optimum is not None:
        words += f" The proved optimum is {found.annealed.optimum:,.3f}."
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


def _without_edges(found: Learned) -> str:
    """Why there are no edges, which need not be because of the data."""
    names = list(found.dag)
    every = len(names) * (len(names) - 1)
    possible = every
    if found.knowledge:
        rules = Knowledge(**found.knowledge).constraints(names, found.max_parents)
        possible = int((rules.allowed & (rules.limits > 0)).sum())
    if not every:
        why = "there is only one variable"
    elif found.division is not None and found.division.rule in ("penalty", "count"):
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
        before = Knowledge(**found.knowledge) if found.knowledge else None
        ways = side_by_side([graph_of(found.dag, map(tuple, edges)) for edges in others.values()], before)
        head = [("of", False), ("and", False), *((f"equivalent sample size {size}", False) for size in others)]
        rows = [[*pair, *its] for pair, its in ways.items()]
        parts.append(table(head, rows, "priors", "edges with other priors"))
    return ["<h2>Other rows, other priors</h2>", *parts] if parts else []


def _data(found: Learned) -> list[str]:
    if found.data is None:
        return []
    rows = []
    for name, states in zip(found.data.names, found.data.states, strict=True):
        rows.append([name, len(states), [*states[:_STATES], *(["…"] if len(states) > _STATES else [])]])
    told = "".join(f"<li>{escape(text)}</li>" for text in found.data.prepared) or "<li>nothing</li>"
    known = ""
    if found.knowledge:
        listed = "; ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in found.knowledge.items())
        known = f"<p>Known before: {escape(listed)}</p>"
    about = f"{len(rows)} variables, {found.data.rows:,} rows ({found.data.different})"
    return [
        "<h2>Data</h2>",
        f"<p>{about}. What was done to them:</p><ul>{told}</ul>{known}",
        table([("variable", False), ("states", True), ("which", False)], rows, "variables", "variables"),
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
        f"{figures.reads:,} reads, {figures.distinct:,} distinct, of a QUBO of {figures.bits} bits, "
        f"{figures.interactions} products ({figures.encoding}); {figures.feasible:.1%} are networks without repair; {raw}; "
        f"best repaired read {figures.repaired.score:,.3f}; best of as many random orders {figures.baseline:,.3f}."
    )
    plot = energies_svg(record.energy, record.num_occurrences, figures.optimum, figures.baseline)
    return ["<h2>Reads of the annealer</h2>", f"<p>{escape(words)}</p>", plot]


def _votes(found: Learned) -> list[str]:
    division = found.division
    if division is None or division.votes is None or division.against is None or len(found.dag) > _MOST_VOTES:
        return []
    words = (
        f"In how many of {division.blocks:,} blocks of {division.size} variables each edge (row to column) is; the darker, "
        "the larger the share of the blocks that hold both."
    )
    heat = vote_table(list(found.dag), division.votes, division.against)
    return ["<h2>Votes of the blocks</h2>", f"<p>{escape(words)}</p>", heat]


def _run(found: Learned, command: str) -> list[str]:
    kept = ("solver", "seed", "max_parents", "score_name", "seconds", "hardware")
    plain = {key: value for key, value in found.to_dict().items() if key in kept}
    lines = [*([command] if command else []), json.dumps(plain, ensure_ascii=False)]
    text = escape("\n".join(lines))
    return [
        "<h2>To repeat it</h2>",
        region(f"<pre>{text}</pre>", "command and parameters"),
        f'<p class="soft">dagneal {escape(__version__)}</p>',
    ]
