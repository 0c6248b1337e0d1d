"""Missing values: what stands for one, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError, some
from dagneal.data.columns import Column, Raw, complaints, rows_with_value, unify_truth
from dagneal.data.dataset import MISSING_STATE

if TYPE_CHECKING:
    from dagneal.base.kernels import Ints

Missing = Literal["refuse", "drop", "state"]

MISSING_MARKS = frozenset(["", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"])


def handle_missing(raw: Raw, missing: Missing, declared: Mapping[str, Sequence[str]], rare: float = 0.0) -> Raw:
    """Mark what stands for a missing value, then refuse it, drop its rows or make it a state.

    A mark such as `NA` that is declared as a state of its column, or is one of its categories, is no mark there. What is
    refused is told with all else that is wrong, unless rare states will be merged, which may put it right.
    """
    columns = [mark_missing(column, declared) for column in raw.columns]
    lost = {column.name: column.codes < 0 for column in columns}
    lost = {name: rows for name, rows in lost.items() if rows.any()}
    if not lost:
        return replace(raw, columns=tuple(settle_labels(c, declared) for c in columns))
    if missing == "refuse":
        raise _missing_error(raw, columns, lost, declared, rare)
    notes = []
    weights = raw.weights
    if missing == "drop":
        kept = ~np.logical_or.reduce(list(lost.values()))
        if not kept.any():
            raise InputError(f"{raw.where}: every row has a missing value; nothing would be left")
        weights = None if weights is None else weights[kept]
        columns = [replace(column, codes=column.codes[kept]) for column in columns]
        notes.append(f"{_total(~kept, raw.weights):,} rows with missing values left out")
    else:
        columns = [as_state(column) for column in columns]
        notes += [f"{name}: {_total(rows, raw.weights):,} missing values made a state" for name, rows in lost.items()]
    final = tuple(settle_labels(column, declared) for column in columns)
    return replace(raw, columns=final, weights=weights, notes=(*raw.notes, *notes))


def _missing_error(
    raw: Raw,
    columns: Sequence[Column],
    lost: Mapping[str, NDArray[np.bool_]],
    declared: Mapping[str, Sequence[str]],
    rare: float,
) -> InputError:
    """Return the complaint about missing values, with all else that is wrong."""
    find = raw.first_missing or (lambda name, _: f"{int(np.argmax(lost[name])) + 1:,}")
    first = {column.name: find(column.name, marks_of(column, declared)) for column in raw.columns if column.name in lost}
    others: list[str] = []
    if not rare:
        total = len(columns[0].codes) if raw.weights is None else int(raw.weights.sum())
        filled = [rows_with_value(column, raw.weights) for column in columns]
        shown = [drop_unused(known_values(column)) for column in columns]
        others = complaints(shown, total, filled, declared, raw.counts)
    return refusal(raw.where, {name: (_total(rows, raw.weights), first[name]) for name, rows in lost.items()}, others)


def refusal(where: str, lost: Mapping[str, tuple[int, str | None]], others: Sequence[str]) -> InputError:
    """The complaint about missing values, with all else that is wrong.

    Args:
        where: they are.
        lost: for each column that has some, how many, and in which row the first is.
        others: other complaints.
    """
    listed = [f"{count:,} in {name!r}" + (f" (first in row {row})" if row else "") for name, (count, row) in lost.items()]
    text = (
        f"{sum(count for count, _ in lost.values()):,} missing values: {some(listed)}; drop their rows with missing='drop' "
        "or make them a state of their own with missing='state'"
    )
    return InputError(f"{where}: {'; '.join([text, *others])}")


def marks_of(column: Column, declared: Mapping[str, Sequence[str]]) -> list[str]:
    """What stands for a missing value in a column, besides nothing at all.

    Args:
        column: the column.
        declared: states by column.
    """
    return [] if column.declared else sorted(MISSING_MARKS - set(declared.get(column.name, ())))


def mark_missing(column: Column, declared: Mapping[str, Sequence[str]]) -> Column:
    """The column with -1 as the code of every missing value, or that of a declared state for them.

    Args:
        column: the column.
        declared: states by column.
    """
    marks = marks_of(column, declared)
    found = [i for i, label in enumerate(column.labels) if label.strip() in marks]
    if found:
        column = replace(column, codes=np.where(np.isin(column.codes, found), -1, column.codes))
    return as_state(column) if MISSING_STATE in declared.get(column.name, ()) else column


def as_state(column: Column) -> Column:
    """The column with missing values as a state of their own.

    Args:
        column: the column.
    """
    if not (column.codes < 0).any():
        return column
    codes = np.where(column.codes < 0, len(column.labels), column.codes)
    return replace(column, labels=(*column.labels, MISSING_STATE), codes=codes)


def known_values(column: Column) -> Column:
    """The values of a column that are not missing.

    Args:
        column: the column.
    """
    return replace(column, codes=column.codes[column.codes >= 0])


def settle_labels(column: Column, declared: Mapping[str, Sequence[str]]) -> Column:
    """Return the column with the labels that rows show, truth values in one spelling.

    Args:
        column: without missing values.
        declared: states by column.
    """
    return unify_truth(drop_unused(column), declared)


def drop_unused(column: Column) -> Column:
    """Labels that no row shows, such as a mark for missing values, are not states unless they were declared.

    Args:
        column: without missing values.
    """
    if column.declared:
        return column
    used = np.flatnonzero(np.bincount(column.codes, minlength=len(column.labels)))
    place = np.zeros(len(column.labels), dtype=np.int64)
    place[used] = np.arange(len(used))
    return replace(column, labels=tuple(column.labels[i] for i in used), codes=place[column.codes])


def _total(rows: NDArray[np.bool_], weights: Ints | None) -> int:
    return int(rows.sum() if weights is None else weights[rows].sum())
