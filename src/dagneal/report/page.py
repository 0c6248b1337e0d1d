"""The HTML page of a learned network: one file that works offline.

It contains the drawing, the edges, the score, the data, the reads of the annealer, the votes of the subproblems and the
progress of the search.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from html import escape
from importlib.resources import files
from typing import Any

import networkx as nx

from dagneal.base.files import atomic_write
from dagneal.base.text import plural
from dagneal.base.version import __version__
from dagneal.confidence.annotated import AnnotatedSolution, Confidence
from dagneal.confidence.measures import compare_classes
from dagneal.graphs.dags import graph_from_edges
from dagneal.graphs.directions import Direction
from dagneal.networks.comparison import compare
from dagneal.report.drawing import NEARBY, WIDEST, Box, Picture, edge_paths, energies_svg, lay_out, network_svg, screen_style
from dagneal.report.edges import FIXED, KINDS, LIGHT, NEAR_MISS, describe_edges
from dagneal.report.explanations import explain_score
from dagneal.report.overview import explain_no_edges, overview
from dagneal.report.preparation import preparation_html
from dagneal.report.summary import bootstrap_line, holdout_line, optimality_text, posterior_lines, prior_lines
from dagneal.report.tables import definition_list, edge_table, explain_edge_table, region, table, vote_table
from dagneal.report.trace_plot import group_stages, trace_svg

_COLOURS = {
    "true-positive": "--green",
    "equivalent": "--violet",
    "reversed": "--amber",
    "false-positive": "--red",
    "missing": "--grey",
}
_HEAD_KEYS: dict[str, tuple[str, str]] = {  # legend for each judgement of a direction: CSS class and text
    Direction.FIXED: (FIXED, "direction fixed by knowledge"),
    Direction.SUPPORTED: ("", "direction supported by the data"),
    Direction.COMPELLED: (LIGHT, "direction compelled, stability unknown"),
    Direction.UNDETERMINED: ("none", "direction undetermined"),
}
_STATES = 12  # largest number of states that the table of variables lists for a variable
_NEAR_MISSES = 50  # near misses in the table
_MOST_VOTES = 40  # largest number of variables of a network whose votes are shown


def write_page(
    solution: AnnotatedSolution,
    path: str | os.PathLike[str],
    truth: nx.DiGraph | None = None,
    title: str = "",
    command: str = "",
    near_misses: bool = False,
) -> None:
    """Write the page of a learned network to a file.

    Args:
        solution: learned network with its data and measures.
        path: file to write.
        truth: true graph to compare with; None for no comparison.
        title: name of the data for the heading; empty for a general heading.
        command: command line that reproduces the result; empty if unknown.
        near_misses: True to draw edges that are frequent in the bootstrap but absent from the network.
    """
    with atomic_write(path) as file:
        file.write(page(solution, truth, title, command, near_misses).encode(errors="replace"))


def page(
    solution: AnnotatedSolution,
    truth: nx.DiGraph | None = None,
    title: str = "",
    command: str = "",
    near_misses: bool = False,
) -> str:
    """Return the page of a learned network as HTML.

    Args:
        solution: learned network with its data and measures.
        truth: true graph to compare with; None for no comparison.
        title: name of the data for the heading; empty for a general heading.
        command: command line that reproduces the result; empty if unknown.
        near_misses: True to draw edges that are frequent in the bootstrap but absent from the network.

    >>> from dagneal.networks.bundled import load
    >>> "<svg" in page(AnnotatedSolution(load("lung-cancer").dag, -21036.862, 2, "exact"))
    True
    """
    edges = describe_edges(solution, truth, near_misses)
    picture = lay_out(graph_from_edges(solution.dag, ((edge["from"], edge["to"]) for edge in edges)), collapse=True)
    nodes = [{"name": name, **asdict(box)} for name, box in picture.boxes.items()]
    bends = [picture.bends.get((edge["from"], edge["to"]), []) for edge in edges]
    heading = f"Network learned from {title}" if title else "Learned network"
    terms = [*(explain_edge_table(edges) if edges else []), *explain_score(solution)]
    parts = [
        f"<h1>{escape(heading)}</h1>",
        f'<p class="overview">{escape(" ".join(overview(solution, bool(command), "→")))}</p>',
        *_warnings(solution),
        f"<p>{escape(_score_text(solution))}</p>",
        *([] if truth is None else [f"<p>{escape(_comparison_text(solution.dag, truth))}</p>"]),
        *preparation_html(solution.data or solution.stored_data),
        *_neighbourhood(picture),
        _drawing(network_svg(picture, edges), truth is not None, edges),
        '<h2 id="edge-table" tabindex="-1">Edges</h2>',
        edge_table(edges) if edges else f"<p>There are no edges: {escape(explain_no_edges(solution))}.</p>",
        *(["<h3>Explanation</h3>", definition_list(terms)] if terms else []),
        *_confidence(solution),
        *_data(solution),
        *_knowledge(solution),
        *_reads(solution),
        *_votes(solution),
        *_search(solution),
        *_reproduction(solution, command),
    ]
    names = ("page.css", "browser/neighbourhood.js", "page.js")
    style, neighbourhood, script = ((files("dagneal.report") / name).read_text(encoding="utf-8") for name in names)
    style += screen_style(picture)
    nearby = None
    if picture.centre is not None:
        script = neighbourhood + script
        nearby = {"centre": list(picture.boxes).index(picture.centre), "most": NEARBY, "wide": WIDEST}
    # Escape the data, so that the name of a variable cannot end the script element.
    data = json.dumps({"nodes": nodes, "bends": bends, "nearby": nearby})
    data = data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(heading)}</title>\n<style>\n{style}</style></head>\n<body><main>\n"
        + "\n".join(parts)
        + f'\n<div id="tip" role="status" hidden></div></main>\n<script type="application/json" id="data">{data}</script>\n'
        f"<script>\n{script}</script>\n</body></html>\n"
    )


def draw_html(solution: AnnotatedSolution) -> str:
    """Return the drawing of a learned network with its styles, as HTML for a notebook.

    Args:
        solution: learned network with its data and measures.
    """
    edges = describe_edges(solution, None)
    picture = lay_out(graph_from_edges(solution.dag, ((edge["from"], edge["to"]) for edge in edges)), collapse=True)
    style = (files("dagneal.report") / "notebook.css").read_text(encoding="utf-8")
    svg = network_svg(picture, edges).replace(' id="network"', "")  # a notebook may show several drawings
    part = "".join(_neighbourhood(picture)).replace(' id="nearby"', "")
    return f'<div class="dagneal"><style>{style}</style>{svg}{part}<p>{escape(_score_text(solution))}</p></div>'


def _neighbourhood(picture: Picture) -> list[str]:
    """Return the sentence that says which part of a large network is drawn. The page can draw other parts."""
    if picture.centre is None:
        return []
    number = f"{len(picture.shown)} of {len(picture.boxes):,} variables"
    text = f"The drawing shows the {number} that are nearest to {picture.centre}. Dashed boxes have more neighbours."
    return [f'<p id="nearby">{escape(text)}</p>']


def _warnings(solution: AnnotatedSolution) -> list[str]:
    """Return the box with the warnings, if there are any."""
    if not solution.warnings:
        return []
    items = "".join(f"<li>{escape(warning.text)}</li>" for warning in solution.warnings)
    return [f'<section class="warnings"><h2>Warnings</h2><ul>{items}</ul></section>']


def _score_text(solution: AnnotatedSolution) -> str:
    if solution.score != solution.score:
        return f"Not a network: the graph found by {solution.solver} has a cycle or too many parents."
    optimality = optimality_text(solution, f"at most {plural(solution.max_parents, 'parent')}")
    text = f"{solution.score_name} log score {solution.score:.3f}, {optimality}; solver {solution.solver}."
    if solution.reads is not None and solution.reads.optimum is not None and not solution.optimal:
        text += f" The highest score of all networks is {solution.reads.optimum:.3f} (proved)."
    return text


def _comparison_text(dag: nx.DiGraph, truth: nx.DiGraph) -> str:
    comparison = compare(dag, truth)
    distance = ""
    if comparison.cpdag_shd is not None:
        pairs = plural(comparison.cpdag_shd, "pair")
        distance = f" The equivalence classes connect {pairs} of variables differently (CPDAG distance)."
    return (
        f"Compared with the truth: {plural(comparison.true_positives, 'true positive')}, "
        f"{plural(comparison.false_positives, 'false positive')}, {plural(comparison.missing, 'missing edge')}. "
        f"A reversed edge counts as a false positive and as a missing edge.{distance}"
    )


def _head_key(name: str, text: str) -> str:
    """Return an entry of the legend: an edge with its arrowhead, and a text."""
    line, head = edge_paths(Box(0, 0, 0, 0), Box(34, 0, 0, 0), [], name == FIXED)
    arrow = f'<path class="head" d="{head}"/>' if name != "none" else ""
    edge = f'<g class="edge {name}"><path class="line" d="{line}"/>{arrow}</g>'
    return f'<span class="key"><svg viewBox="0 -6 34 12" aria-hidden="true">{edge}</svg>{escape(text)}</span>'


def _drawing(svg: str, compared: bool, edges: list[dict[str, Any]]) -> str:
    """Return the drawing of the network as HTML, with buttons, a legend and a hint."""
    keys = []
    if compared:
        keys = [(colour, "dashed" if kind == "missing" else "solid", KINDS[kind]) for kind, colour in _COLOURS.items()]
    if any(edge["weak"] for edge in edges):
        keys.append(("--soft", "dotted", "low bootstrap frequency"))
    if any(edge["kind"] == NEAR_MISS for edge in edges):
        keys.append(("--grey", "dotted", KINDS[NEAR_MISS]))
    legend = "".join(
        f'<span class="key"><i aria-hidden="true" style="border-color: var({colour}); border-top-style: {style}"></i>'
        f"{escape(text)}</span>"
        for colour, style, text in keys
    )
    present = {edge["direction"] for edge in edges}
    legend = "".join(_head_key(*key) for direction, key in _HEAD_KEYS.items() if direction in present) + legend
    buttons = "".join(
        f'<button type="button" id="{name}">{text}</button>'
        for name, text in (("in", "Zoom in"), ("out", "Zoom out"), ("fit", "Fit"))
    )
    hint = (
        "Drag a variable or the background to move it. Point at an edge, or select it with the Tab key, for details. "
        "Arrow keys move the selected variable."
    )
    skip = '<a class="skip" href="#edge-table">Skip the drawing</a>'
    return (
        f'<div class="bar">{skip}{buttons}{legend}</div>\n<div class="canvas">{svg}</div>\n<p class="soft hint">{hint}</p>'
    )


def _confidence(solution: AnnotatedSolution) -> list[str]:
    """Return the section on confidence: bootstrap samples, posteriors, hold-out and sensitivity to the prior."""
    confidence = solution.confidence or Confidence()
    parts = []
    if confidence.bootstrap is not None:
        text = bootstrap_line(confidence.bootstrap)
        parts.append(f"<p>{escape(text[0].upper() + text[1:])}.</p>")
    if misses := solution.near_misses:
        head = [("variable", False), ("other variable", False), ("bootstrap frequency", True)]
        head += [("frequency of this direction", True)]
        rows = [[miss.parent, miss.child, miss.frequency, miss.forward] for miss in misses[:_NEAR_MISSES]]
        more = f"; the first {_NEAR_MISSES} of {len(misses):,}" if len(misses) > _NEAR_MISSES else ""
        parts.append(f"<p>Frequent in the bootstrap, but not in the network{more}:</p>")
        parts.append(table(head, rows, "absent", "near misses"))
    if confidence.posteriors is not None:
        sentences = (f"{line[0].upper()}{line[1:]}." for line in posterior_lines(confidence.posteriors))
        parts.append(f"<p>{escape(' '.join(sentences))}</p>")
    if holdout := confidence.holdout:
        parts.append(f"<p>{escape(holdout_line(holdout))}.</p>")
    if edges_by_size := confidence.sensitivity:
        graphs = [graph_from_edges(solution.dag, edges) for edges in edges_by_size.values()]
        directions = compare_classes(graphs, solution.knowledge)
        sizes = [(f"equivalent sample size {size:g}", False) for size in edges_by_size]
        rows = [[*pair, *words] for pair, words in directions.items()]
        parts.append("<p>Edges and directions if another equivalent sample size is used:</p>")
        parts.append(table([("variable", False), ("other variable", False), *sizes], rows, "priors", "other priors"))
    return ["<h2>Confidence</h2>", *parts] if parts else []


def _data(solution: AnnotatedSolution) -> list[str]:
    """Return the section on the data. It has no table of variables if the result was loaded from a file."""
    data = solution.data or solution.stored_data
    if data is None:
        return []
    rows_text, variables = plural(data.rows, "row"), []
    if solution.data is not None:
        rows = []
        for name, states in zip(solution.data.names, solution.data.states, strict=True):
            rows.append([name, len(states), [*states[:_STATES], *(["…"] if len(states) > _STATES else [])]])
        rows_text = solution.data.describe_rows()
        head = [("variable", False), ("number of states", True), ("states", False)]
        variables = [table(head, rows, "variables", "variables")]
    text = f"{plural(len(solution.dag), 'variable')}, {rows_text}."
    steps = "".join(f"<li>{escape(step)}</li>" for step in data.prepared)
    changes = f" Changes during reading:</p><ul>{steps}</ul>" if steps else " The data were not changed during reading.</p>"
    return ["<h2>Data</h2>", f"<p>{escape(text)}{changes}", *variables]


def _knowledge(solution: AnnotatedSolution) -> list[str]:
    if not solution.knowledge:
        return []
    rules = solution.knowledge.to_dict().items()
    items = "".join(f"<li>{escape(f'{name}: {json.dumps(value, ensure_ascii=False)}')}</li>" for name, value in rules)
    prior = "".join(f"<p>{escape(line[0].upper() + line[1:])}.</p>" for line in prior_lines(solution))
    return ["<h2>Background knowledge</h2>", f"<ul>{items}</ul>{prior}"]


def _reads(solution: AnnotatedSolution) -> list[str]:
    reads = solution.reads
    if reads is None:
        return []
    raw = "best raw read undefined (none is a network)"
    if reads.raw is not None:
        raw = f"best raw read {reads.raw.score:.3f} (in {plural(reads.raw.hits, 'read')})"
    text = (
        f"QUBO with {plural(reads.qubo_variables, 'variable')} and {plural(reads.interactions, 'interaction')} "
        f"({reads.encoding}). {plural(reads.reads, 'read')}, {reads.distinct:,} distinct; "
        f"{reads.feasible:.1%} are networks without repair. Log scores: {raw}, "
        f"best repaired read {reads.repaired.score:.3f}, best of {reads.reads:,} random orders {reads.baseline:.3f}."
    )
    parts = ["<h2>Reads of the annealer</h2>", f"<p>{escape(text)}</p>"]
    if reads.sampleset is not None:
        record = reads.sampleset.record
        parts.append("<p>Energies of the reads; the energy of a network is minus its log score.</p>")
        parts.append(energies_svg(record.energy, record.num_occurrences, reads.optimum, reads.baseline))
    return parts


def _votes(solution: AnnotatedSolution) -> list[str]:
    division = solution.division
    if division is None or division.votes is None or division.against is None or len(solution.dag) > _MOST_VOTES:
        return []
    text = (
        "Each number counts the subproblems whose solution has the edge from the row to the column. The shade shows this "
        "number as a fraction of the subproblems that contain both variables. "
        f"There are {division.subproblems:,} subproblems of {division.size} variables."
    )
    heat = vote_table(list(solution.dag), division.votes, division.against)
    return ["<h2>Votes of the subproblems</h2>", f"<p>{escape(text)}</p>", heat]


def _search(solution: AnnotatedSolution) -> list[str]:
    """Return the section on the anytime search: a plot, and a table that gives the same figures without the plot."""
    if solution.search is None or len(solution.search.trace) < 2:
        return []
    rows, before = [], solution.search.trace[0].score
    for points in group_stages(solution.search.trace):
        rows.append([points[0].stage, points[-1].seconds, points[-1].score, points[-1].score - before])
        before = points[-1].score
    head = [("stage", False), ("seconds until its last improvement", True), ("log score", True), ("gain", True)]
    text = "The best log score so far, and the stages that improved it. The scale is logarithmic beyond 1 nat."
    return [
        "<h2>Progress of the search</h2>",
        f"<p>{text}</p>",
        trace_svg(solution.search.trace, sum(solution.seconds.values())),
        table(head, rows, "stages", "stages of the search"),
    ]


def _reproduction(solution: AnnotatedSolution, command: str) -> list[str]:
    """Return the section with the command and the parameters of the run."""
    parameters: dict[str, Any] = {
        "score_name": solution.score_name,
        "max_parents": solution.max_parents,
        "solver": solution.solver,
        "seed": solution.seed,
        "seconds": {stage: round(value, 6) for stage, value in solution.seconds.items()},
    }
    if solution.hardware is not None:
        summary = solution.hardware.summary()  # without its log, which can have hundreds of calls
        parameters["hardware"] = {name: value for name, value in summary.items() if name != "log"}
    lines = [*([command] if command else []), json.dumps(parameters, ensure_ascii=False)]
    text = escape("\n".join(lines))
    return [
        "<h2>Reproduce this result</h2>",
        region(f"<pre>{text}</pre>", "command and parameters"),
        f'<p class="soft">dagneal {escape(__version__)}</p>',
    ]
