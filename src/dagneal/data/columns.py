"""Functions that find, sort and check the states of each column of a table, before the table becomes a `Dataset`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from dagneal.base.errors import InputError, first_few
from dagneal.data.dataset import BOOLEANS, MAX_STATES, MISSING_STATE, OTHER_STATE, Dataset
from dagneal.data.roles import MANY_NUMBERS, is_identifier

if TYPE_CHECKING:
    from dagneal.base.kernels import Floats, Ints

_COMMA = re.compile(r"[+-]?\d*,(\d+)")  # a decimal comma, such as 1,5


@dataclass(frozen=True)
class Column:
    """A column of a `RawTable`.

    Attributes:
        name: name of the column.
        labels: distinct values, as written in the source.
        codes: for each row, the index of its value in `labels`; -1 for a missing value.
        declared: True if the source defines `labels` as categories. Categories keep their order, and need not occur.
            False if `labels` are the values that occur.
    """

    name: str
    labels: tuple[str, ...]
    codes: Ints
    declared: bool


@dataclass(frozen=True)
class RawTable:
    """A table that has been read, but whose columns have not been checked.

    Attributes:
        where: name of the source, for errors.
        columns: the columns.
        weights: number of times each row counts; None if each row counts once.
        first_missing: function of a column name and of the texts that mark a missing value. It returns the number of the
            first row with a missing value in this column, as text. `first_missing` is None if `columns` holds all rows in
            their original order.
        notes: notes about changes made while reading.
        count_columns: names of columns that may hold row counts (the number of times each row occurs).
    """

    where: str
    columns: tuple[Column, ...]
    weights: Ints | None
    first_missing: Callable[[str, Sequence[str]], str | None] | None = None
    notes: tuple[str, ...] = ()
    count_columns: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The column names."""
        return [column.name for column in self.columns]


def to_dataset(raw: RawTable, declared: Mapping[str, Sequence[str]]) -> Dataset:
    """Convert a table without missing values to a dataset.

    The states of a column are its declared states. If it has none, they are the values that occur.
    """
    rows = len(raw.columns[0].codes) if raw.weights is None else int(raw.weights.sum())
    filled = [rows_with_value(column, raw.weights) for column in raw.columns]
    if problems := find_problems(raw.columns, rows, filled, declared, raw.count_columns):
        raise InputError(f"{raw.where}: {'; '.join(problems)}")
    columns = [sort_labels(raw.where, column, declared) for column in raw.columns]
    codes = np.array([column.codes for column in columns])
    dataset = Dataset.from_codes(raw.names, [column.labels for column in columns], codes, raw.weights)
    return add_notes(dataset, raw.notes)


def add_notes(dataset: Dataset, notes: Sequence[str]) -> Dataset:
    """Return the dataset with `notes`, and with more notes about constant columns and columns with many states.

    Args:
        dataset: dataset without notes.
        notes: notes about changes made while reading.
    """
    warnings = [f"{name}: the same state in all rows" for name in dataset.constant]
    for name, states in zip(dataset.names, dataset.states, strict=True):
        if len(states) > MANY_NUMBERS:
            warnings.append(f"{name}: {len(states):,} states with few rows each; group its values, or drop the column")
    return replace(dataset, prepared=(*notes, *warnings))


def _recode(where: str, column: Column, labels: Sequence[str]) -> Column:
    """Replace the labels of a column by `labels`, and adapt its codes. Raise an error if a value is not in `labels`.

    The letter case of booleans does not matter: the value `TRUE` matches the label `True`. If `labels` contains
    `(other)`, values that match no label become `(other)`.
    """
    place = {label: position for position, label in enumerate(labels)}
    if len(place) != len(labels):
        twice = Counter(labels).most_common(1)[0][0]
        raise InputError(f"{where}: state {twice!r} of column {column.name!r} is declared twice; declare it once")
    spellings: dict[str, list[int]] = {}
    for label in labels:
        if label.lower() in BOOLEANS:
            spellings.setdefault(label.lower(), []).append(place[label])
    booleans = {label: positions[0] for label, positions in spellings.items() if len(positions) == 1}
    used = np.bincount(column.codes, minlength=len(column.labels)) > 0
    other = place.get(OTHER_STATE)  # a label of merged rare states, if the labels come from a network learned with `rare`
    new = np.zeros(len(column.labels), dtype=np.int64)
    for i, label in enumerate(map(str.strip, column.labels)):
        position = place.get(label, booleans.get(label.lower(), other))
        if position is None and used[i]:
            raise InputError(
                f"{where}: column {column.name!r} has the value {column.labels[i]!r}, which is not a declared state "
                f"(declared: {first_few(labels)}); declare it, or correct the data"
            )
        new[i] = position or 0
    return replace(column, labels=tuple(labels), codes=new[column.codes])


def rows_with_value(column: Column, weights: Ints | None) -> int:
    """Count the rows in which a column has a value.

    Args:
        column: column in which missing values have the code -1 or the state `(missing)`.
        weights: number of times each row counts; None if each row counts once.
    """
    present = column.codes >= 0
    if MISSING_STATE in column.labels and not column.declared:
        present &= column.codes != column.labels.index(MISSING_STATE)
    return int(present.sum() if weights is None else weights[present].sum())


def find_problems(
    columns: Sequence[Column],
    rows: int,
    filled: Sequence[int],
    declared: Collection[str],
    count_columns: Collection[str] = (),
) -> list[str]:
    """Return a message for each column that looks like an identifier, a measurement or row counts.

    Args:
        columns: columns without missing values.
        rows: number of rows.
        filled: number of rows with a value, for each column.
        declared: names of columns with declared states. These columns are always accepted.
        count_columns: names of columns that may hold row counts (the number of times each row occurs).
    """
    problems = []
    for column, with_value in zip(columns, filled, strict=True):
        if column.declared or column.name in declared:
            continue
        labels = {label.strip() for label in column.labels} - {MISSING_STATE}
        values = np.array([value for value in map(_number, decimal(labels)) if value is not None])
        numbers = len(values) == len(labels) > 0
        identifier = numbers and is_identifier(column.name, values, with_value, len(labels))
        name = column.name
        if column.name in count_columns and (identifier or (numbers and is_continuous(values, rows))):
            problems.append(
                f"column {name!r} looks like row counts ({len(labels):,} distinct numbers in {rows:,} rows); "
                f"if it holds counts, give weights={name!r}; otherwise bin it with bins={{{name!r}: 'quantile:4'}}, "
                f"or drop it with drop=[{name!r}]"
            )
        elif identifier:
            problems.append(
                f"column {name!r} looks like an identifier ({len(labels):,} distinct whole numbers in {rows:,} rows); "
                f"drop it with drop=[{name!r}], or bin it with bins={{{name!r}: 'quantile:4'}} if it is a measurement"
            )
        elif numbers and is_continuous(values, rows):
            problems.append(
                f"column {name!r} looks continuous ({len(values):,} distinct numbers in {rows:,} rows); "
                f"bin such columns with bins='quantile:4', or drop it with drop=[{name!r}]"
            )
        elif not numbers and len(labels) > MANY_NUMBERS and 2 * len(labels) > rows:
            merge = ", or merge its rare values with rare=0.01" if len(labels) < rows else ""
            problems.append(
                f"column {name!r} looks like an identifier ({len(labels):,} distinct values in {rows:,} rows); "
                f"drop it with drop=[{name!r}]{merge}"
            )
    return problems


def sort_labels(where: str, column: Column, declared: Mapping[str, Sequence[str]]) -> Column:
    """Return the column with sorted labels, and without spaces around them.

    Labels are sorted as numbers if all of them are numbers, else as text. Declared states keep their declared order.

    Args:
        where: name of the source, for errors.
        column: column without missing values.
        declared: mapping from column names to declared states.
    """
    if column.name in declared:
        labels = list(declared[column.name])
        if MISSING_STATE in column.labels and MISSING_STATE not in labels:
            labels.append(MISSING_STATE)
        return _recode(where, column, labels)
    if column.declared:
        return column
    labels = sort_states({label.strip() for label in column.labels} - {MISSING_STATE})
    return _recode(where, column, [*labels, MISSING_STATE] if MISSING_STATE in column.labels else labels)


def sort_states(labels: Collection[str]) -> list[str]:
    """Sort states as numbers if all of them are numbers, else as text.

    Args:
        labels: different states.

    >>> sort_states(["10", "9"]), sort_states(["10", "9", "x"])
    (['9', '10'], ['10', '9', 'x'])
    """
    ordered = sorted(labels)
    values = [value for value in map(_number, ordered) if value is not None]
    if len(values) == len(ordered):
        return [label for _, label in sorted(zip(values, ordered, strict=True))]
    return ordered


def decimal(labels: Collection[str]) -> Collection[str]:
    """Replace decimal commas by points, if all labels are numbers and the commas cannot be thousands separators.

    Otherwise, return the labels unchanged.

    Args:
        labels: distinct labels of a column.

    >>> decimal(["1,5", "-0,25", "3"]), decimal(["1,500", "2"]), decimal(["1,5", "x"])
    (['1.5', '-0.25', '3'], ['1,500', '2'], ['1,5', 'x'])
    """
    digits = [match.group(1) for label in labels if (match := _COMMA.fullmatch(label))]
    if not digits or all(len(text) == 3 for text in digits):
        return labels
    pointed = [label.replace(",", ".") if _COMMA.fullmatch(label) else label for label in labels]
    return pointed if all(_number(label) is not None for label in pointed) else labels


def is_continuous(values: Floats, rows: int) -> bool:
    """Return whether the numbers of a column look like a measurement rather than codes of categories.

    Args:
        values: distinct numbers of the column.
        rows: number of rows.
    """
    return len(values) > MANY_NUMBERS and (bool((values != np.floor(values)).any()) or 20 * len(values) > rows)


def _number(label: str) -> float | None:
    """Convert a label to a finite number. Return None if it is not a finite number."""
    try:
        value = float(label)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _strip(column: Column) -> Column:
    """Remove spaces around labels, and merge labels that become equal. Declared labels stay unchanged."""
    if column.declared:
        return column
    labels = list(dict.fromkeys(label.strip() for label in column.labels))
    place = {label: i for i, label in enumerate(labels)}
    new = np.array([place[label.strip()] for label in column.labels], dtype=np.int64)
    return replace(column, labels=tuple(labels), codes=new[column.codes])


def unify_booleans(column: Column, declared: Collection[str]) -> Column:
    """Spell booleans as `True` and `False`, if the column holds only booleans.

    Args:
        column: column without unused labels.
        declared: names of columns with declared states. These columns keep their spelling.
    """
    if column.declared or column.name in declared:
        return column
    labels = [label if label == MISSING_STATE else BOOLEANS.get(label.strip().lower()) for label in column.labels]
    return column if None in labels else replace(column, labels=tuple(map(str, labels)))


def merge_rare(raw: RawTable, share: float, declared: Collection[str]) -> RawTable:
    """Merge the rare states of each column into the state `(other)`. A column with a single rare state stays unchanged.

    Args:
        raw: table without missing values.
        share: fraction of rows below which a state is rare.
        declared: names of columns with declared states. These columns stay unchanged.
    """
    if not 0 <= share < 1:
        raise InputError(f"rare is {share}; give a fraction of rows: at least 0 and less than 1, such as 0.01")
    if share == 0 or not raw.columns:
        return raw
    rows = np.ones(len(raw.columns[0].codes)) if raw.weights is None else raw.weights.astype(np.float64)
    columns, notes = [], []
    for column in map(_strip, raw.columns):
        counts = np.bincount(column.codes, rows, len(column.labels))
        rare = (counts < share * rows.sum()) & (counts > 0)
        if MISSING_STATE in column.labels:
            rare[column.labels.index(MISSING_STATE)] = False
        if column.declared or column.name in declared or rare.sum() < 2:
            columns.append(column)
            continue
        kept = np.flatnonzero(~rare)
        place = np.full(len(column.labels), len(kept), dtype=np.int64)
        place[kept] = np.arange(len(kept))
        labels = (*(column.labels[i] for i in kept), OTHER_STATE)
        columns.append(replace(column, labels=labels, codes=place[column.codes]))
        notes.append(
            f"{column.name}: {int(rare.sum()):,} rare states ({int(counts[rare].sum()):,} rows) merged into {OTHER_STATE}"
        )
    return replace(raw, columns=tuple(columns), notes=(*raw.notes, *notes))


def check_states(where: str, name: str, count: int) -> None:
    """Raise an error if a column has too many distinct values."""
    if count > MAX_STATES:
        raise InputError(
            f"{where}: column {name!r} has {count:,} distinct values (limit: {MAX_STATES:,}); "
            f"drop it with drop=[{name!r}] if it is an identifier; otherwise bin or group its values"
        )
