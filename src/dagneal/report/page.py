"""The HTML page of a learned network: one file that works offline.

It contains the drawing, the edges, the score, the data, the reads of the annealer, the votes of the subproblems and the
progress of the search. In the browser, it answers questions to the network; see `scripts`, `controls` and `question_data`.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict
from html import escape
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
from dagneal.report.controls import question_panel, toolbar
from dagneal.report.drawing import NEARBY, WIDEST, Box, Picture, edge_paths, energies_svg, lay_out, network_svg, screen_style
from dagneal.report.edges import ABSENT, FIXED, FREQUENT, KINDS, LIGHT, NEAR_MISS, WIDTH_STEPS, describe_edges
from dagneal.report.explanations import explain_score
from dagneal.report.overview import NEXT, explain_no_edges, overview_parts
from dagneal.report.preparation import preparation_html
from dagneal.report.question_data import question_data
from dagneal.report.scripts import notebook_style, page_script, page_style, security_policy, worker_script
from dagneal.report.summary import bootstrap_line, holdout_line, optimality_text, posterior_lines, prior_lines
from dagneal.report.tables import definition_list, edge_table, explain_edge_table, region, table, vote_table
from dagneal.report.trace_plot import group_stages, trace_svg

_COMPARED = ("true-positive", "equivalent", "reversed", "false-positive", "missing")
_LINE_KEYS = {  # legend for the lines: CSS class and text
    "w5": f"strong: score drop {WIDTH_STEPS[-1]:g} or more",
    "w1": f"weak: score drop below {WIDTH_STEPS[0]:g}",
    "fair": f"in less than {FREQUENT:.0%} of bootstrap samples",
    "weak": "low bootstrap frequency",
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
    drawn = _drawn_edges(solution, truth, near_misses)
    edges = drawn if near_misses else [edge for edge in drawn if edge["kind"] != NEAR_MISS]
    picture = lay_out(graph_from_edges(solution.dag, ((edge["from"], edge["to"]) for edge in edges)), collapse=True)
    heading = f"Network learned from {title}" if title else "Learned network"
    terms = [*(explain_edge_table(edges) if edges else []), *explain_score(solution)]
    parts = [
        f"<h1>{escape(heading)}</h1>",
        _summary(solution, truth, bool(command)),
        *_warnings(solution),
        *preparation_html(solution.data or solution.stored_data),
        *_neighbourhood(picture),
        _drawing(network_svg(picture, drawn), truth is not None, drawn, near_misses),
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
    style, script = page_style() + screen_style(picture), page_script(picture.centre is not None)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n{security_policy(style, script)}\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(heading)}</title>\n<style>{style}</style></head>\n<body><main>\n"
        + "\n".join(parts)
        + '\n<div id="tip" role="status" hidden></div></main>\n'
        f'<script type="application/json" id="data">{_page_data(solution, picture, drawn)}</script>\n'
        f'<script type="text/plain" id="inference">{worker_script()}</script>\n'
        f"<script>{script}</script>\n</body></html>\n"
    )


def _drawn_edges(solution: AnnotatedSolution, truth: nx.DiGraph | None, near_misses: bool) -> list[dict[str, Any]]:
    """Return the edges of the drawing. Near misses that were not requested are hidden, and few; the page can show them."""
    edges, hidden = [], 0
    for edge in describe_edges(solution, truth, near_misses=True):
        if edge["kind"] == NEAR_MISS and not near_misses:
            hidden += 1
            if hidden > _NEAR_MISSES:
                continue
            edge["class"] += " off"
        edges.append(edge)
    return edges


def _page_data(solution: AnnotatedSolution, picture: Picture, edges: list[dict[str, Any]]) -> str:
    """Return the data of the page as JSON that cannot end the script element and contains only ASCII characters."""
    index = {name: i for i, name in enumerate(picture.boxes)}
    questions, reason = question_data(solution, list(index))
    data = {
        "nodes": [{"name": name, **asdict(box)} for name, box in picture.boxes.items()],
        "bends": [picture.bends.get((edge["from"], edge["to"]), []) for edge in edges],
        "edges": [
            {
                "from": index[edge["from"]],
                "to": index[edge["to"]],
                "absent": edge["kind"] in ABSENT,
                "near": edge["kind"] == NEAR_MISS,
                "arrow": edge["arrow"],
                "frequency": edge["frequency"],
            }
            for edge in edges
        ],
        "nearby": None if picture.centre is None else {"centre": index[picture.centre], "most": NEARBY, "wide": WIDEST},
        "questions": questions,
        "reason": reason,
    }
    return json.dumps(data).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def draw_html(solution: AnnotatedSolution) -> str:
    """Return the drawing of a learned network with its styles, as HTML for a notebook.

    Args:
        solution: learned network with its data and measures.
    """
    edges = describe_edges(solution, None)
    picture = lay_out(graph_from_edges(solution.dag, ((edge["from"], edge["to"]) for edge in edges)), collapse=True)
    style = notebook_style()
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


def _summary(solution: AnnotatedSolution, truth: nx.DiGraph | None, command_line: bool) -> str:
    """Return the summary as HTML: labels such as "Strong" and "Doubtful", each with its sentences."""
    rows: dict[str, list[str]] = {}
    for label, sentence in overview_parts(solution, command_line, "→", "\N{EN DASH}"):
        text = sentence.removeprefix(f"{label}: ")
        rows.setdefault(label, []).append(text[0].upper() + text[1:])
    last = rows.pop(NEXT, [])
    rows["Score"] = [_score_text(solution)]
    if truth is not None:
        rows["Compared"] = [_comparison_text(solution.dag, truth)]
    if last:
        rows[NEXT] = last
    entries = (
        f'<div class="{label.lower()}"><dt>{label}</dt><dd>{_keep_options(escape(" ".join(texts)))}</dd></div>'
        for label, texts in rows.items()
    )
    return f'<dl class="overview">{"".join(entries)}</dl>'


def _keep_options(text: str) -> str:
    """Mark the options of the command line in HTML, so that no line ends inside of them."""
    return re.sub(r"(?<= )--[a-z-]{1,20}", r'<span class="option">\g<0></span>', text)


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
        f"Against the truth: {plural(comparison.true_positives, 'true positive')}, "
        f"{plural(comparison.false_positives, 'false positive')}, {plural(comparison.missing, 'missing edge')}. "
        f"A reversed edge counts as a false positive and as a missing edge.{distance}"
    )


def _edge_key(classes: str, text: str, arrow: bool = False) -> str:
    """Return an entry of the legend: an edge with the given CSS classes, and a text."""
    line, head = edge_paths(Box(0, 0, 0, 0), Box(34, 0, 0, 0), [], classes == FIXED)
    tip = f'<path class="head" d="{head}"/>' if arrow else ""
    edge = f'<g class="edge {classes}"><path class="line" d="{line}"/>{tip}</g>'
    return f'<span class="key"><svg viewBox="0 -6 34 12" aria-hidden="true">{edge}</svg>{escape(text)}</span>'


def _legend(compared: bool, edges: list[dict[str, Any]]) -> str:
    """Return the legend of the lines and arrowheads that the drawing has, as HTML."""
    present = {edge["direction"] for edge in edges}
    used = {name for edge in edges for name in edge["class"].split()}
    keys = [_edge_key(name, text, name != "none") for direction, (name, text) in _HEAD_KEYS.items() if direction in present]
    keys += [_edge_key(kind, KINDS[kind], True) for kind in _COMPARED if compared]
    keys += [_edge_key(name, text) for name, text in _LINE_KEYS.items() if name in used]
    if NEAR_MISS in used:
        keys.append(_edge_key(NEAR_MISS, KINDS[NEAR_MISS]))
    return "".join(keys)


def _drawing(svg: str, compared: bool, edges: list[dict[str, Any]], near_misses: bool) -> str:
    """Return the drawing of the network as HTML, with controls, a legend, a hint and the panel for questions."""
    count = sum(edge["kind"] == NEAR_MISS for edge in edges)
    has_bootstrap = any(edge["frequency"] is not None for edge in edges)
    hint = (
        "Click on a variable, or select it with the Tab key and press Enter, to ask about it. Drag it, or use the arrow "
        "keys, to move it. Point at an edge for details. Zoom with Ctrl and the wheel; on a touch screen, use two fingers."
    )
    skip = '<a class="skip" href="#edge-table">Skip the drawing</a>'
    below = f'<p id="highlighted"></p><div class="legend">{_legend(compared, edges)}</div>\n<p class="soft hint">{hint}</p>'
    stage = f'<div class="stage">\n<div class="canvas">{svg}</div>\n{below}</div>'
    tools = toolbar(has_bootstrap, count, near_misses)
    return f'{skip}{tools}\n<div class="explorer">{stage}\n{question_panel()}</div>'


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
