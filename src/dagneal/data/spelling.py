"""Detection of states that two files spell differently, such as `0` and `1` in one file, but `no` and `yes` in another."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dagneal.base.errors import first_few
from dagneal.data.dataset import spell_booleans
from dagneal.data.missing import MISSING_MARKS
from dagneal.data.roles import MANY_NUMBERS

if TYPE_CHECKING:
    import polars

_MAX_FILES = 256  # maximum number of files to compare, evenly spread over all files
_CELLS = 1 << 22  # number of values to read from all files together
_LEAST_ROWS = 64  # number of rows to read from each file, even if _CELLS is exceeded
_MAX_SETS = 32  # maximum number of different sets of states to compare for a column
_MAX_NOTES = 8  # maximum number of notes about single columns
_COMMA = re.compile(r"[+-]?\d*,\d+")
_POINT = re.compile(r"[+-]?\d*\.\d+")


def spelling_notes(
    parts: Sequence[polars.LazyFrame], titles: Sequence[str], chosen: Mapping[str, str], binned: Collection[str]
) -> list[str]:
    """Return notes about columns whose states two files seem to spell differently.

    At first, only the first rows of each file are compared. If two files have no common state of a column in these rows,
    all rows of the two files are compared.

    Args:
        parts: rows of each file.
        titles: name of each file.
        chosen: mapping from the name of each selected column to its name in the frame (`0`, `1` and so on).
        binned: names of binned columns. Binned columns are only checked for decimal commas, because two files may hold
            different numbers.
    """
    if not chosen:
        return []
    files = np.unique(np.linspace(0, len(parts) - 1, min(len(parts), _MAX_FILES)).astype(int)).tolist()
    rows = max(_LEAST_ROWS, _CELLS // (len(files) * len(chosen)))
    samples = {at: parts[at].select(*chosen.values()).head(rows).collect(engine="streaming") for at in files}
    notes, disjoint = [], {}
    for name, place in chosen.items():
        states = {at: _states(sample[place]) for at, sample in samples.items()}
        if pair := _find_commas_and_points(states):
            one, other = (_file_name(titles, at) for at in pair)
            notes.append(f"{name}: {one} has decimal commas, but {other} has decimal points; use one format")
        elif name not in binned and (pair := _find_disjoint(states)):
            disjoint[name] = pair
    for name, pair in _confirm(parts, chosen, disjoint, {at for at in files if samples[at].height >= rows}):
        first, second = (
            f"{_file_name(titles, at)} has {first_few([repr(s) for s in sorted(_states(samples[at][chosen[name]]))])}"
            for at in pair
        )
        notes.append(f"{name}: {first}, but {second}; if they mean the same, use one spelling")
    more = len(notes) - _MAX_NOTES
    return [*notes[:_MAX_NOTES], *([f"{more} more columns may have different spellings in some files"] if more > 0 else [])]


def _states(values: polars.Series) -> frozenset[str]:
    """Return the states of a column, except for missing values.

    Spaces around states are removed, and booleans are spelled `True` and `False`.
    """
    import polars as pl

    try:
        texts = values.unique().cast(pl.String).drop_nulls().to_list()
    except pl.exceptions.PolarsError:
        return frozenset()
    return frozenset(spell_booleans(sorted({text.strip() for text in texts} - MISSING_MARKS)))


def _find_commas_and_points(by_file: Mapping[int, frozenset[str]]) -> tuple[int, int] | None:
    """Return two file indices: a file with decimal commas and a file with decimal points. Return None unless both exist."""
    commas = [at for at, states in by_file.items() if _all_numbers(states, _COMMA)]
    points = [at for at, states in by_file.items() if _all_numbers(states, _POINT)]
    return (commas[0], points[0]) if commas and points else None


def _all_numbers(states: Collection[str], fraction: re.Pattern[str]) -> bool:
    """Return whether each state is a whole number or matches the pattern `fraction`, and at least one matches it."""
    matching = sum(fraction.fullmatch(state) is not None for state in states)
    whole = sum(re.fullmatch(r"[+-]?\d+", state) is not None for state in states)
    return 0 < matching == len(states) - whole


def _find_disjoint(by_file: Mapping[int, frozenset[str]]) -> tuple[int, int] | None:
    """Return the indices of two files that have no state of one column in common, or None if there are no such files.

    Two files with only one state each are not returned, because the table may have been split into files by the column.

    Args:
        by_file: mapping from the index of each file to the states of the column in the file.
    """
    first: dict[frozenset[str], int] = {}
    for at, states in by_file.items():
        if 0 < len(states) <= MANY_NUMBERS and len(first) < _MAX_SETS:
            first.setdefault(states, at)
    for one, other in combinations(first, 2):
        if one.isdisjoint(other) and len(one) + len(other) > 2:
            return first[one], first[other]
    return None


def _confirm(
    parts: Sequence[polars.LazyFrame],
    chosen: Mapping[str, str],
    disjoint: Mapping[str, tuple[int, int]],
    longer: Collection[int],
) -> list[tuple[str, tuple[int, int]]]:
    """Check all rows of the pairs of files in `disjoint`. Return the pairs that have no common state in any row.

    A pair is returned as the tuple (column name, (index of one file, index of the other file)).

    Args:
        parts: rows of each file.
        chosen: mapping from column names to names in the frame.
        disjoint: mapping from column names to two file indices. The files have no common state in their first rows.
        longer: indices of the files that may have more than these first rows.
    """
    import polars as pl

    states: dict[tuple[str, int], frozenset[str]] = {}
    suspects = {name: pair for name, pair in disjoint.items() if set(pair) & set(longer)}
    for at in {at for pair in suspects.values() for at in pair}:
        names = [name for name, pair in suspects.items() if at in pair]
        table = parts[at].select(pl.col(chosen[name]).unique().implode() for name in names).collect(engine="streaming")
        states |= {(name, at): _states(table[chosen[name]].explode()) for name in names}
    return [
        (name, pair)
        for name, pair in disjoint.items()
        if name not in suspects or states[name, pair[0]].isdisjoint(states[name, pair[1]])
    ]


def _file_name(titles: Sequence[str], at: int) -> str:
    """Return the name of a file without its folder."""
    return Path(titles[at]).name
