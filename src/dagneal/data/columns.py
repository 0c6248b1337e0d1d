"""Columns on their way into a Dataset: missing values, states and their order, what looks wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from dagneal.base.errors import InputError, some
from dagneal.data.dataset import MISSING_STATE, MOST_STATES, OTHER_STATE, TRUTH, Dataset
from dagneal.data.roles import MANY_NUMBERS, is_identifier

if TYPE_CHECKING:
    from dagneal.base.kernels import Floats, Ints

_COMMA = re.compile(r"[+-]?\d*,(\d+)")  # 1,5 for one and a half


@dataclass(frozen=True)
class Column:
    """One column before it is checked: labels as they were found, codes into them, -1 for a missing value."""

    name: str
    labels: tuple[str, ...]
    codes: Ints
    declared: bool  # the labels are all states in their order, not just those seen


@dataclass(frozen=True)
class Raw:
    """A table before it is checked."""

    where: str
    columns: tuple[Column, ...]
    weights: Ints | None
    # Finds the first row in which a column has no value or one of these marks; None where the rows are at hand.
    first_missing: Callable[[str, Sequence[str]], str | None] | None = None
    notes: tuple[str, ...] = ()  # what was done to it
    counts: tuple[str, ...] = ()  # columns that may say how often each row occurs

    @property
    def names(self) -> list[str]:
        """The columns."""
        return [column.name for column in self.columns]


def to_dataset(raw: Raw, declared: Mapping[str, Sequence[str]]) -> Dataset:
    """The dataset that a table without missing values makes, its states declared or found."""
    rows = len(raw.columns[0].codes) if raw.weights is None else int(raw.weights.sum())
    filled = [rows_with_value(column, raw.weights) for column in raw.columns]
    if wrong := complaints(raw.columns, rows, filled, declared, raw.counts):
        raise InputError(f"{raw.where}: {'; '.join(wrong)}")
    tidy = [tidy_labels(raw.where, column, declared) for column in raw.columns]
    codes = np.array([column.codes for column in tidy])
    found = Dataset.from_codes(raw.names, [column.labels for column in tidy], codes, raw.weights)
    return add_notes(found, raw.notes)


def add_notes(found: Dataset, notes: Sequence[str]) -> Dataset:
    """The dataset with what was done to it, and what should be known of its columns.

    Args:
        found: the dataset.
        notes: what was done.
    """
    told = [f"{name}: the same state in all rows" for name in found.constant]
    for name, states in zip(found.names, found.states, strict=True):
        if len(states) > MANY_NUMBERS:
            told.append(f"{name}: {len(states):,} states; with so many, few rows show each of them")
    return replace(found, prepared=(*notes, *told))


def _recode(where: str, column: Column, labels: Sequence[str]) -> Column:
    """The column with these labels, in this order; every value must be among them.

    A truth value may be spelled otherwise than the label that stands for it.
    """
    place = {label: position for position, label in enumerate(labels)}
    if len(place) != len(labels):
        raise InputError(f"{where}: a state of column {column.name!r} is declared twice")
    spelled: dict[str, list[int]] = {}
    for label in labels:
        if label.lower() in TRUTH:
            spelled.setdefault(label.lower(), []).append(place[label])
    truth = {label: positions[0] for label, positions in spelled.items() if len(positions) == 1}
    used = np.bincount(column.codes, minlength=len(column.labels)) > 0
    other = place.get(OTHER_STATE)  # where rare states were merged when these were declared
    new = np.zeros(len(column.labels), dtype=np.int64)
    for i, label in enumerate(map(str.strip, column.labels)):
        position = place.get(label, truth.get(label.lower(), other))
        if position is None and used[i]:
            raise InputError(
                f"{where}: column {column.name!r} has the value {column.labels[i]!r}, which is not among its declared "
                f"states ({some(labels)})"
            )
        new[i] = position or 0
    return replace(column, labels=tuple(labels), codes=new[column.codes])


def rows_with_value(column: Column, weights: Ints | None) -> int:
    """Count the rows in which a column has a value.

    Args:
        column: may have missing values, also as a state of their own.
        weights: how often each row counts; once by default.
    """
    known = column.codes >= 0
    if MISSING_STATE in column.labels and not column.declared:
        known &= column.codes != column.labels.index(MISSING_STATE)
    return int(known.sum() if weights is None else weights[known].sum())


def complaints(
    columns: Sequence[Column], rows: int, filled: Sequence[int], declared: Collection[str], counts: Collection[str] = ()
) -> list[str]:
    """What is wrong with columns that do not look like states, all of it, and what to do.

    Args:
        columns: without missing values.
        rows: how many there are.
        filled: for each column, how many of them have a value.
        declared: columns whose states were declared; these are right.
        counts: columns that may say how often each row occurs.
    """
    found = []
    for column, with_value in zip(columns, filled, strict=True):
        if column.declared or column.name in declared:
            continue
        labels = {label.strip() for label in column.labels} - {MISSING_STATE}
        values = np.array([value for value in map(_number, decimal(labels)) if value is not None])
        numbers = len(values) == len(labels) > 0
        identifies = numbers and is_identifier(column.name, values, with_value, len(labels))
        name = column.name
        if column.name in counts and (identifies or (numbers and continuous(values, rows))):
            found.append(
                f"column {name!r} may say how often each row occurs ({len(labels):,} numbers in {rows:,} rows); "
                f"if so, give weights={name!r}, else cut it into states with bins={{{name!r}: 'quantile:4'}}, "
                f"or leave it out with drop=[{name!r}]"
            )
        elif identifies:
            found.append(
                f"column {name!r} looks like an identifier ({len(labels):,} different whole numbers in {rows:,} rows); "
                f"leave it out with drop=[{name!r}], or, if it is a measurement, cut it into states with "
                f"bins={{{name!r}: 'quantile:4'}}"
            )
        elif numbers and continuous(values, rows):
            found.append(
                f"column {name!r} looks continuous ({len(values):,} distinct numbers in {rows:,} rows); cut it into "
                f"states with bins='quantile:4', or leave it out with drop=[{name!r}]"
            )
        elif not numbers and len(labels) > MANY_NUMBERS and 2 * len(labels) > rows:
            found.append(
                f"column {name!r} looks like an identifier ({len(labels):,} different values in {rows:,} rows); "
                f"leave it out with drop=[{name!r}], or merge its rare values with rare=0.01"
            )
    return found


def tidy_labels(where: str, column: Column, declared: Mapping[str, Sequence[str]]) -> Column:
    """The column with its labels stripped and in order: the declared one, else sorted, numbers as numbers.

    Args:
        where: it comes from, for errors.
        column: without missing values.
        declared: states by column.
    """
    if column.name in declared:
        labels = list(declared[column.name])
        if MISSING_STATE in column.labels and MISSING_STATE not in labels:
            labels.append(MISSING_STATE)
        return _recode(where, column, labels)
    if column.declared:
        return column
    labels = sorted({label.strip() for label in column.labels} - {MISSING_STATE})
    values = [value for value in map(_number, labels) if value is not None]
    if len(values) == len(labels):
        labels = [label for _, label in sorted(zip(values, labels, strict=True))]
    return _recode(where, column, [*labels, MISSING_STATE] if MISSING_STATE in column.labels else labels)


def decimal(labels: Collection[str]) -> Collection[str]:
    """Numbers with decimal commas written with points; other labels, and numbers that may have thousands, as they are.

    Args:
        labels: different ones.

    >>> decimal(["1,5", "-0,25", "3"]), decimal(["1,500", "2"]), decimal(["1,5", "x"])
    (['1.5', '-0.25', '3'], ['1,500', '2'], ['1,5', 'x'])
    """
    digits = [match.group(1) for label in labels if (match := _COMMA.fullmatch(label))]
    if not digits or all(len(each) == 3 for each in digits):
        return labels
    pointed = [label.replace(",", ".") if _COMMA.fullmatch(label) else label for label in labels]
    return pointed if all(_number(label) is not None for label in pointed) else labels


def continuous(values: Floats, rows: int) -> bool:
    """Whether different numbers look like a measurement, not like codes.

    Args:
        values: the different numbers.
        rows: how many rows there are.
    """
    return len(values) > MANY_NUMBERS and (bool((values != np.floor(values)).any()) or 20 * len(values) > rows)


def _number(label: str) -> float | None:
    try:
        value = float(label)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _strip(column: Column) -> Column:
    """The column with labels that differ only in surrounding spaces made one."""
    if column.declared:
        return column
    labels = list(dict.fromkeys(label.strip() for label in column.labels))
    place = {label: i for i, label in enumerate(labels)}
    new = np.array([place[label.strip()] for label in column.labels], dtype=np.int64)
    return replace(column, labels=tuple(labels), codes=new[column.codes])


def unify_truth(column: Column, declared: Collection[str]) -> Column:
    """Return the column with truth values in one spelling, if it holds nothing else.

    Args:
        column: its labels are all in use, apart from those for missing values.
        declared: columns whose states were declared; these are spelled as declared.
    """
    if column.declared or column.name in declared:
        return column
    spelled = [label if label == MISSING_STATE else TRUTH.get(label.strip().lower()) for label in column.labels]
    return column if None in spelled else replace(column, labels=tuple(map(str, spelled)))


def merge_rare(raw: Raw, share: float, declared: Collection[str]) -> Raw:
    """Merge the states of a column that fewer rows show than a share of them; a single one stays as it is.

    Args:
        raw: a table without missing values.
        share: of the rows, below which a state is rare.
        declared: columns whose states were declared; these stay.
    """
    if not 0 <= share < 1:
        raise InputError(f"rare is {share}; give a share of the rows from 0 to below 1, such as 0.01")
    if share == 0 or not raw.columns:
        return raw
    rows = np.ones(len(raw.columns[0].codes)) if raw.weights is None else raw.weights.astype(np.float64)
    columns, told = [], []
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
        told.append(
            f"{column.name}: {int(rare.sum()):,} rare states ({int(counts[rare].sum()):,} rows) merged into {OTHER_STATE}"
        )
    return replace(raw, columns=tuple(columns), notes=(*raw.notes, *told))


def check_states(where: str, name: str, count: int) -> None:
    """Refuse a column with too many values."""
    if count > MOST_STATES:
        raise InputError(
            f"{where}: column {name!r} has {count:,} distinct values; at most {MOST_STATES:,} are possible: "
            f"leave it out with drop=[{name!r}] if it is an identifier, else group or bin its values"
        )
