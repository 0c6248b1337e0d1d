"""The preparation table: what each raw column was, what it became, why, and how to change it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Protocol

from dagneal.base.text import display_width, fit_text, pad_text, plural, printable
from dagneal.data.recipe import Preparation
from dagneal.report.tables import table

_HEAD = ("column", "was", "became", "why", "change it with")
_WIDTHS = (18, 27, 36, 34)  # largest widths of all columns except the last, which holds text to copy
_NAMED = 6  # largest number of unchanged columns that are named
_MOST_LINES = 40  # largest number of lines of the table on the terminal


class HasPreparation(Protocol):
    """Data, or a summary of data, that may have been prepared."""

    @property
    def preparation(self) -> Preparation | None:
        """What automatic preparation did; None if the table was read as it is."""
        ...


def preparation_lines(preparation: Preparation, source: str = "", everything: bool = False) -> list[str]:
    """Return the preparation as lines of text: one line for unchanged data, else a table.

    Args:
        preparation: what was done with the raw columns.
        source: name of the file; the lines mention the command that prints all lines if it is given.
        everything: True to print all lines of a long table.

    >>> from dagneal.data.recipe import ColumnRecipe, Recipe
    >>> preparation_lines(Preparation(Recipe((ColumnRecipe("a", "a", "keep"), ColumnRecipe("b", "b", "keep"))), 9, 9))
    ['preparation: both columns used as they are']
    """
    rows, unchanged = preparation.table, preparation.unchanged
    if not rows:
        return [f"preparation: {_all(len(unchanged))} used as they are"]
    used = f"{preparation.used:,} of {plural(preparation.rows, 'row')} used"
    lines = [f"preparation: {used}; {_unchanged_text(unchanged)}"]
    shown = rows if everything else rows[:_MOST_LINES]
    cells = [list(_HEAD), *([printable(text.replace("\n", " ")) for text in row.values()] for row in shown)]
    cells = [[*(fit_text(text, most) for text, most in zip(line, _WIDTHS, strict=False)), line[-1]] for line in cells]
    widths = [max(display_width(line[at]) for line in cells) for at in range(len(_WIDTHS))]
    for *line, last in cells:
        lines.append("  " + "  ".join([*map(pad_text, line, widths), last]))
    if len(shown) < len(rows):
        hint = f"; dagneal prepare {source} prints all" if source else ""
        lines.append(f"  {len(rows) - len(shown):,} more columns{hint}")
    return lines


def preparation_html(data: HasPreparation | None) -> list[str]:
    """Return the preparation as HTML: one sentence for unchanged data, else a table.

    Args:
        data: data of the network, or their summary; None if there are none.
    """
    if data is None or data.preparation is None:
        return []
    preparation = data.preparation
    rows = [list(row.values()) for row in preparation.table]
    if not rows:
        return [f"<p>Preparation: {_all(len(preparation.unchanged))} used as they are.</p>"]
    text = f"{preparation.used:,} of {plural(preparation.rows, 'row')} used; {_unchanged_text(preparation.unchanged)}."
    return [
        f"<details><summary>Preparation of {plural(len({row[0] for row in rows}), 'column')}</summary>",
        f"<p>{escape(text)}</p>",
        table([(text, False) for text in _HEAD], rows, "preparation", "preparation of the columns"),
        "</details>",
    ]


def _all(columns: int) -> str:
    """Return the number of columns in words."""
    return "both columns" if columns == 2 else f"all {plural(columns, 'column')}"


def _unchanged_text(names: Sequence[str]) -> str:
    """Return how many columns are unchanged, and their names if they are few."""
    if not names:
        return "no column unchanged"
    listed = f" ({', '.join(printable(fit_text(name, 20)) for name in names)})" if len(names) <= _NAMED else ""
    return f"{plural(len(names), 'column')} unchanged{listed}"
