"""HTML tables of the page. Wide tables can be scrolled. Long names are shortened; a tooltip shows the full name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dagneal.base.text import fit_text
from dagneal.report.edges import KINDS
from dagneal.report.explanations import COLUMNS

_NAME, _LIST = 40, 160  # longest name and longest list of states, in columns
_SHADES = 9  # shades of the accent colour in the style sheet; numbers stay readable on the darkest in light and dark mode


def region(content: str, label: str) -> str:
    """Put HTML into a region. If the content is too wide, the mouse or the keyboard can scroll it sideways.

    Args:
        content: HTML inside the region.
        label: name of the region for screen readers.
    """
    return f'<div class="wide" tabindex="0" role="region" aria-label="{escape(label)}">{content}</div>'


def cell_text(value: str, longest: int = _NAME) -> str:
    """Return a text as HTML. A long text is shortened; tooltips and screen readers give the full text.

    Args:
        value: text without HTML.
        longest: largest width of the shown text, in characters.

    >>> cell_text("a<b")
    'a&lt;b'
    """
    short = fit_text(value, longest)
    if short == value:
        return escape(value)
    full = escape(value)
    return f'<span aria-hidden="true" title="{full}">{escape(short)}</span><span class="full">{full}</span>'


def table(head: Sequence[tuple[str, bool]], rows: Sequence[Sequence[Any]], name: str, label: str) -> str:
    """Return an HTML table that can be sorted.

    Args:
        head: for each column, a pair (heading, is_number). `is_number` is True if the column contains numbers.
        rows: values of each row. A value is a text, a number or a list of states.
        name: HTML id of the table.
        label: name of the table for screen readers.
    """
    heads = "".join(
        f'<th scope="col"{" class=n" if number else ""}><button type="button">{escape(text)}</button></th>'
        for text, number in head
    )
    lines = "\n".join(
        "<tr>" + "".join(_cell(value, number) for value, (_, number) in zip(row, head, strict=True)) + "</tr>"
        for row in rows
    )
    body = f"<thead><tr>{heads}</tr></thead><tbody>\n{lines}\n</tbody>"
    return region(f'<table class="sortable" id="{name}">{body}</table>', label)


def _cell(value: Any, number: bool) -> str:
    if isinstance(value, list):
        return f'<td class="list">{cell_text(", ".join(value), _LIST)}</td>'
    if not number:
        return f"<td>{cell_text(str(value))}</td>"
    if value is None:
        return '<td class="n" data-n="-1e300">-</td>'
    if isinstance(value, str):  # a word in a column of numbers is sorted last
        return f'<td class="n" data-n="1e300">{escape(value)}</td>'
    text = f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
    return f'<td class="n" data-n="{value!r}">{text}</td>'


def edge_table(edges: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of edges as HTML.

    Args:
        edges: descriptions of the edges from `describe_edges`.
    """
    measured = _measured_columns(edges)
    head = [("from", False), ("to", False)]
    head += [(COLUMNS[key][0], key != "kind") for key in measured] + [("direction", False)]
    rows = []
    for edge in edges:
        values = [KINDS.get(edge[key], "") if key == "kind" else edge[key] for key in measured]
        rows.append([edge["from"], edge["to"], *values, edge["direction"]])
    return table(head, rows, "edges", "edges")


def explain_edge_table(edges: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return pairs (heading, explanation) for the columns of the edge table.

    Args:
        edges: descriptions of the edges from `describe_edges`.
    """
    return [COLUMNS[key] for key in ("from", *_measured_columns(edges), "direction")]


def _measured_columns(edges: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the keys of the optional columns that have a value for at least one edge."""
    keys = (
        "drop_if_removed",
        "drop_if_reversed",
        "frequency",
        "forward",
        "posterior",
        "posterior_forward",
        "votes",
        "against",
    )
    kind = ["kind"] if any(edge["kind"] for edge in edges) else []
    return [*kind, *(key for key in keys if any(edge[key] is not None for edge in edges))]


def definition_list(terms: Sequence[tuple[str, str]]) -> str:
    """Return terms and their explanations as an HTML definition list.

    Args:
        terms: pairs (term, explanation).
    """
    entries = "\n".join(f"<div><dt>{escape(term)}</dt><dd>{escape(text)}</dd></div>" for term, text in terms)
    return f'<dl class="terms">\n{entries}\n</dl>'


def vote_table(names: Sequence[str], votes: Any, against: Any) -> str:
    """Return an HTML table that shows the votes of the subproblems as a heat map.

    Args:
        names: names of the variables.
        votes: matrix with the number of subproblems whose solution has the edge from the variable of the row to the variable
            of the column.
        against: matrix with the number of subproblems that contain both variables, but whose solution does not have
            that edge.
    """
    head = "".join(f'<th scope="col">{cell_text(name)}</th>' for name in names)
    lines = []
    for a, name in enumerate(names):
        cells = []
        for b in range(len(names)):
            total = votes[a, b] + against[a, b]
            shade = round(_SHADES * votes[a, b] / total) if total else 0
            cells.append(f'<td class="s{shade}">{votes[a, b]}</td>' if a != b else "<td></td>")
        lines.append(f'<tr><th scope="row">{cell_text(name)}</th>{"".join(cells)}</tr>')
    body = f"<thead><tr><td></td>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return region(f'<table class="heat">{body}</table>', "votes of the subproblems")
