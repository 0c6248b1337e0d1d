"""Files of one table that spell the states of a column differently, such as 0 and 1 in one and no and yes in another."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dagneal.base.errors import some
from dagneal.data.dataset import spell_truth
from dagneal.data.missing import MISSING_MARKS
from dagneal.data.roles import MANY_NUMBERS

if TYPE_CHECKING:
    import polars

_FILES = 256  # files that are looked at, spread over all of them
_CELLS = 1 << 22  # values that are looked at in all files
_LEAST = 64  # rows of a file that are looked at in any case
_SETS = 32  # different sets of states of a column that are compared with each other
_MOST = 8  # columns that are named
_COMMA = re.compile(r"[+-]?\d*,\d+")
_POINT = re.compile(r"[+-]?\d*\.\d+")


def different_spellings(
    parts: Sequence[polars.LazyFrame], titles: Sequence[str], chosen: Mapping[str, str], cut: Collection[str]
) -> list[str]:
    """Name the columns that two files seem to spell differently, for a note to the user.

    The first rows of each file are compared. Two files whose first rows have no state in common are read once more in these
    columns, so that a note is never due to the rows that were not looked at.

    Args:
        parts: the rows of each file.
        titles: the files.
        chosen: the columns, by name.
        cut: columns of numbers that are cut into states; these need not have numbers in common.
    """
    if not chosen:
        return []
    files = np.unique(np.linspace(0, len(parts) - 1, min(len(parts), _FILES)).astype(int)).tolist()
    rows = max(_LEAST, _CELLS // (len(files) * len(chosen)))
    samples = {at: parts[at].select(*chosen.values()).head(rows).collect(engine="streaming") for at in files}
    notes, apart = [], {}
    for name, place in chosen.items():
        shown = {at: _states(sample[place]) for at, sample in samples.items()}
        if pair := _commas_and_points(shown):
            one, other = (_file_name(titles, at) for at in pair)
            notes.append(f"{name}: {one} has decimal commas, and {other} has decimal points; write both alike")
        elif name not in cut and (pair := _disjoint(shown)):
            apart[name] = pair
    for name, pair in _confirm(parts, chosen, apart, {at for at in files if samples[at].height >= rows}):
        first, second = (
            f"{_file_name(titles, at)} has {some([repr(state) for state in sorted(_states(samples[at][chosen[name]]))])}"
            for at in pair
        )
        notes.append(f"{name}: {first}, and {second}; if these are the same states, spell them alike")
    more = len(notes) - _MOST
    return [*notes[:_MOST], *([f"{more} more columns are spelled differently in some files"] if more > 0 else [])]


def _states(values: polars.Series) -> frozenset[str]:
    """The states of a column in some rows of a file, as they are compared."""
    import polars as pl

    try:
        texts = values.unique().cast(pl.String).drop_nulls().to_list()
    except pl.exceptions.PolarsError:
        return frozenset()
    return frozenset(spell_truth(sorted({text.strip() for text in texts} - MISSING_MARKS)))


def _commas_and_points(shown: Mapping[int, frozenset[str]]) -> tuple[int, int] | None:
    """Two files, the first of which writes decimal commas and the second decimal points."""
    commas = [at for at, states in shown.items() if _all_numbers(states, _COMMA)]
    points = [at for at, states in shown.items() if _all_numbers(states, _POINT)]
    return (commas[0], points[0]) if commas and points else None


def _all_numbers(states: Collection[str], fraction: re.Pattern[str]) -> bool:
    """Return whether states are numbers of which some have a fraction that is written so."""
    matching = sum(fraction.fullmatch(state) is not None for state in states)
    whole = sum(re.fullmatch(r"[+-]?\d+", state) is not None for state in states)
    return 0 < matching == len(states) - whole


def _disjoint(shown: Mapping[int, frozenset[str]]) -> tuple[int, int] | None:
    """Two files without a common state; not those that have a single one each, by which a table may have been split."""
    first: dict[frozenset[str], int] = {}
    for at, states in shown.items():
        if 0 < len(states) <= MANY_NUMBERS and len(first) < _SETS:
            first.setdefault(states, at)
    for one, other in combinations(first, 2):
        if one.isdisjoint(other) and len(one) + len(other) > 2:
            return first[one], first[other]
    return None


def _confirm(
    parts: Sequence[polars.LazyFrame],
    chosen: Mapping[str, str],
    apart: Mapping[str, tuple[int, int]],
    longer: Collection[int],
) -> list[tuple[str, tuple[int, int]]]:
    """Those pairs of files that have no common state in all of their rows; files in `longer` have more than were seen."""
    import polars as pl

    states: dict[tuple[str, int], frozenset[str]] = {}
    suspects = {name: pair for name, pair in apart.items() if set(pair) & set(longer)}
    for at in {at for pair in suspects.values() for at in pair}:
        names = [name for name, pair in suspects.items() if at in pair]
        table = parts[at].select(pl.col(chosen[name]).unique().implode() for name in names).collect(engine="streaming")
        states |= {(name, at): _states(table[chosen[name]].explode()) for name in names}
    return [
        (name, pair)
        for name, pair in apart.items()
        if name not in suspects or states[name, pair[0]].isdisjoint(states[name, pair[1]])
    ]


def _file_name(titles: Sequence[str], at: int) -> str:
    return Path(titles[at]).name
