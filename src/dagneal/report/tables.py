"""The tables of the page: sorted by a click, scrolled by themselves, long names shortened with the whole text kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dagneal.base.text import fit_text

_NAME, _LIST = 40, 160  # columns beyond which a name or a list of states is shortened
_DARKEST = 45  # percent of the colour; the figures stay readable on it, light and dark


def region(inside: str, label: str) -> str:
    """A part of the page that is scrolled sideways where it is too wide, also with the keyboard.

    Args:
        inside: its HTML.
        label: what it is called.
    """
    return f'<div class="wide" tabindex="0" role="region" aria-label="{escape(label)}">{inside}</div>'


def text_of(value: str, most: int = _NAME) -> str:
    """A text in a cell: where it is long its beginning is shown, the whole is in its title and for screen readers.

    Args:
        value: the text.
        most: columns that are shown.

    >>> text_of("a<b")
    'a&lt;b'
    """
    short = fit_text(value, most)
    if short == value:
        return escape(value)
    whole = escape(value)
    return f'<span aria-hidden="true" title="{whole}">{escape(short)}</span><span class="whole">{whole}</span>'


def table(head: Sequence[tuple[str, bool]], rows: Sequence[Sequence[Any]], name: str, label: str) -> str:
    """A table that can be sorted.

    Args:
        head: the text of each column, and whether it holds numbers.
        rows: their values; a list is one of states.
        name: its id.
        label: what it is called.
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
        return f'<td class="list">{text_of(", ".join(value), _LIST)}</td>'
    if not number:
        return f"<td>{text_of(str(value))}</td>"
    if value is None:
        return '<td class="n" data-n="-1e300">-</td>'
    text = f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
    return f'<td class="n" data-n="{value!r}">{text}</td>'


def edge_table(edges: Sequence[Mapping[str, Any]]) -> str:
    """The table of edges.

    Args:
        edges: what is told of each.
    """
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
    return table(head, rows, "edges", "edges")


def vote_table(names: Sequence[str], votes: Any, against: Any) -> str:
    """The votes of blocks as a heat map.

    Args:
        names: the variables.
        votes: in how many blocks each edge (row to column) is.
        against: in how many it is not.
    """
    head = "".join(f'<th scope="col">{text_of(name)}</th>' for name in names)
    lines = []
    for a, name in enumerate(names):
        cells = []
        for b in range(len(names)):
            total = votes[a, b] + against[a, b]
            share = round(_DARKEST * votes[a, b] / total) if total else 0
            shade = f' style="background: color-mix(in srgb, var(--accent) {share}%, transparent)"'
            cells.append(f"<td{shade}>{votes[a, b]}</td>" if a != b else "<td></td>")
        lines.append(f'<tr><th scope="row">{text_of(name)}</th>{"".join(cells)}</tr>')
    body = f"<thead><tr><td></td>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return region(f'<table class="heat">{body}</table>', "votes of the blocks")
