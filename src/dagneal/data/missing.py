"""Functions that find missing values, and drop them or turn them into a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError, first_few
from dagneal.base.text import plural
from dagneal.data.columns import Column, RawTable, find_problems, rows_with_value, unify_booleans
from dagneal.data.dataset import MISSING_STATE

if TYPE_CHECKING:
    from dagneal.base.kernels import Ints

Missing = Literal["refuse", "drop", "state", "em"]
MISSING_CHOICES = get_args(Missing)

MISSING_MARKS = frozenset(["", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"])


def handle_missing(raw: RawTable, missing: Missing, declared: Mapping[str, Sequence[str]], rare: float = 0.0) -> RawTable:
    """Find missing values. Depending on `missing`, raise an error, drop their rows, or turn them into a state.

    With `"em"`, the state `(missing)` stands for an unknown value. A text such as `NA` marks a missing value, unless it is a
    declared state or a category of the column. If `rare` is 0, the error also lists other problems of the columns.
    Otherwise, merging rare states may solve these problems.
    """
    columns = [mark_missing(column, declared) for column in raw.columns]
    missing_rows = {column.name: column.codes < 0 for column in columns}
    missing_rows = {name: rows for name, rows in missing_rows.items() if rows.any()}
    if not missing_rows:
        return replace(raw, columns=tuple(clean_labels(c, declared) for c in columns))
    if missing == "refuse":
        raise _missing_error(raw, columns, missing_rows, declared, rare)
    notes = []
    weights = raw.weights
    if missing == "drop":
        kept = ~np.logical_or.reduce(list(missing_rows.values()))
        if not kept.any():
            raise no_rows_error(raw.where)
        weights = None if weights is None else weights[kept]
        columns = [replace(column, codes=column.codes[kept]) for column in columns]
        notes.append(dropped_note(_total(~kept, raw.weights)))
    else:
        columns = [missing_to_state(column) for column in columns]
        notes += [state_note(name, _total(rows, raw.weights), missing) for name, rows in missing_rows.items()]
    final = tuple(clean_labels(column, declared) for column in columns)
    return replace(raw, columns=final, weights=weights, notes=(*raw.notes, *notes))


def _missing_error(
    raw: RawTable,
    columns: Sequence[Column],
    missing_rows: Mapping[str, NDArray[np.bool_]],
    declared: Mapping[str, Sequence[str]],
    rare: float,
) -> InputError:
    """Return the error about missing values. If `rare` is 0, the error also lists other problems of the columns."""
    find = raw.first_missing or (lambda name, _: f"{int(np.argmax(missing_rows[name])) + 1:,}")
    found = {
        column.name: (
            _total(missing_rows[column.name], raw.weights),
            find(column.name, missing_marks(column, declared)),
        )
        for column in raw.columns
        if column.name in missing_rows
    }
    others: list[str] = []
    if not rare:
        total = len(columns[0].codes) if raw.weights is None else int(raw.weights.sum())
        filled = [rows_with_value(column, raw.weights) for column in columns]
        used = [drop_unused(present_values(column)) for column in columns]
        others = find_problems(used, total, filled, declared, raw.count_columns)
    return missing_values_error(raw.where, found, others)


def missing_values_error(where: str, found: Mapping[str, tuple[int, str | None]], others: Sequence[str]) -> InputError:
    """Return the error about missing values. It also lists other problems of the columns.

    Args:
        where: name of the source, for errors.
        found: mapping from the name of each column with missing values to the tuple (number of missing values, number of the
            first row with a missing value). The row number is a text; None if unknown.
        others: messages about other problems of the columns.
    """
    columns = [
        f"{count:,} in column {name!r}" + (f" (first in row {row})" if row else "") for name, (count, row) in found.items()
    ]
    total = sum(count for count, _ in found.values())
    text = (
        f"{plural(total, 'missing value')}: {first_few(columns)}; drop these rows with missing='drop', "
        "treat missing values as a state with missing='state', or as unknown with missing='em'"
    )
    return InputError(f"{where}: {'; '.join([text, *others])}")


def no_rows_error(where: str) -> InputError:
    """Return the error for a table in which every row has a missing value."""
    return InputError(f"{where}: every row has a missing value, so missing='drop' would drop all rows; use missing='em'")


def dropped_note(rows: int) -> str:
    """Return the note about rows that were dropped because of missing values."""
    return f"{plural(rows, 'row')} with missing values dropped"


def state_note(name: str, count: int, missing: Missing) -> str:
    """Return the note that missing values of a column were turned into a state, or are unknown."""
    if missing == "em":
        return f"{name}: {plural(count, 'missing value')} treated as unknown"
    return f"{name}: {plural(count, 'missing value')} turned into the state {MISSING_STATE}"


def missing_marks(column: Column, declared: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the texts that mark a missing value in a column, such as `NA`. Null values are always missing.

    Args:
        column: column of a table.
        declared: mapping from column names to declared states.
    """
    return [] if column.declared else sorted(MISSING_MARKS - set(declared.get(column.name, ())))


def mark_missing(column: Column, declared: Mapping[str, Sequence[str]]) -> Column:
    """Return the column with the code -1 for missing values.

    If `(missing)` is a declared state of the column, missing values get this state instead.

    Args:
        column: column of a table.
        declared: mapping from column names to declared states.
    """
    marks = missing_marks(column, declared)
    missing = [i for i, label in enumerate(column.labels) if label.strip() in marks]
    if missing:
        column = replace(column, codes=np.where(np.isin(column.codes, missing), -1, column.codes))
    return missing_to_state(column) if MISSING_STATE in declared.get(column.name, ()) else column


def missing_to_state(column: Column) -> Column:
    """Return the column with its missing values turned into the state `(missing)`.

    Args:
        column: column in which missing values have the code -1.
    """
    if not (column.codes < 0).any():
        return column
    codes = np.where(column.codes < 0, len(column.labels), column.codes)
    return replace(column, labels=(*column.labels, MISSING_STATE), codes=codes)


def present_values(column: Column) -> Column:
    """Return the column without the rows in which its value is missing.

    Args:
        column: column in which missing values have the code -1.
    """
    return replace(column, codes=column.codes[column.codes >= 0])


def clean_labels(column: Column, declared: Mapping[str, Sequence[str]]) -> Column:
    """Return the column without unused labels, and with booleans spelled `True` and `False`.

    Args:
        column: column without missing values.
        declared: mapping from column names to declared states.
    """
    return unify_booleans(drop_unused(column), declared)


def drop_unused(column: Column) -> Column:
    """Return the column without labels that do not occur, such as marks of missing values. Declared labels are kept.

    Args:
        column: column without missing values.
    """
    if column.declared:
        return column
    used = np.flatnonzero(np.bincount(column.codes, minlength=len(column.labels)))
    place = np.zeros(len(column.labels), dtype=np.int64)
    place[used] = np.arange(len(used))
    return replace(column, labels=tuple(column.labels[i] for i in used), codes=place[column.codes])


def _total(rows: NDArray[np.bool_], weights: Ints | None) -> int:
    """Return the total weight of the rows for which `rows` is true. Without weights, each row counts once."""
    return int(rows.sum() if weights is None else weights[rows].sum())
