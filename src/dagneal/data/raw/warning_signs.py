"""Warnings about raw columns: row counts, censored times, and lost rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from dagneal.data.cautions import Caution
from dagneal.data.dataset import merge_rows
from dagneal.data.raw.profile import FEW, Profile
from dagneal.data.roles import may_be_counts, split_words

LOST_ROWS = 0.2  # a larger share of lost rows is a warning
_LEAST_ROWS = 4  # a table of counts has at least this many rows
_GRID = 4  # a table of counts has at least one row per this many combinations of states

_COUNTS = "freq freqs frequency frequencies count counts occurrences multiplicity anzahl nobs"
_DURATIONS = (
    "time times duration durations survival survtime tenure lifetime futime followup stop t week weeks month months days "
    "day years hours spell minutes los ttr dtime surv os pfs dfs rfs"
)
_EVENTS = (
    "event events status death dead died censor censored censoring cens cen observed arrest failure failed fail relapse "
    "recurrence rec delta churn churned fustat dth rearrest mortality endpoint uncensored"
)


def find_row_counts(profiles: Sequence[Profile]) -> tuple[str | None, bool]:
    """Return the name of a column that seems to hold row counts, and whether this is certain.

    No two rows are equal in all other columns, and the column holds whole numbers that are not all 1. It is certain if all
    other columns have few states, and most combinations of these states occur.

    Args:
        profiles: profile of each column. Columns whose rows all differ, such as row numbers, are ignored.
    """
    repeating = [profile for profile in profiles if 1 < len(profile.texts) < profile.rows]
    for profile in profiles:
        others = [other for other in repeating if other.name != profile.name]
        if not _may_count(profile) or not others or not _rows_differ(profile.rows, others):
            continue
        few = all(len(other.texts) <= FEW for other in others)
        combinations = float(np.prod([len(other.texts) for other in others], dtype=np.float64))
        if few or "".join(split_words(profile.name)) in _COUNTS.split():
            return profile.name, few and len(others) > 1 and combinations <= _GRID * profile.rows
    return None, False


def _may_count(profile: Profile) -> bool:
    """Return whether a column has a typical name of counts, and holds whole numbers of at least 0 that are not all 1."""
    if not may_be_counts(profile.name) or profile.kind != "numbers" or profile.filled < profile.rows:
        return False
    numbers = profile.distinct[0]
    row_numbers = len(numbers) == profile.rows == numbers[-1] - numbers[0] + 1
    return bool(profile.whole and len(numbers) and numbers[0] >= 0 and numbers[-1] > 1 and not row_numbers)


def _rows_differ(rows: int, others: Sequence[Profile]) -> bool:
    """Return whether all rows differ in the other columns."""
    codes = np.array([other.codes + 1 for other in others])
    arities = [len(other.texts) + 1 for other in others]
    return rows >= _LEAST_ROWS and merge_rows(codes, arities)[0].shape[1] == rows


def row_count_caution(name: str, as_weights: bool) -> Caution:
    """Return the warning about a column of row counts.

    Args:
        name: name of the column.
        as_weights: whether the column was used as weights.
    """
    if as_weights:
        text = f"{name} counts rows, so each row counts as often as {name} says; if it is a variable, give keep=[{name!r}]"
    else:
        text = f"{name} may hold row counts: no two rows are equal in all other columns; if so, give weights={name!r}"
    return Caution("row counts", (name,), text)


def find_censored_times(profiles: Sequence[Profile], used: Collection[str]) -> list[Caution]:
    """Return a warning for each time that may be censored: a duration beside an indicator of the event.

    Args:
        profiles: profile of each column.
        used: names of the columns that are used.
    """
    events = [p for p in profiles if p.name in used and _is_event(p)]
    times = [p for p in profiles if p.name in used and _is_duration(p)]
    if not events or not times:
        return []
    event = events[0].name
    return [
        Caution(
            "censored time",
            (time.name, event),
            f"{time.name} may be a censored time, and {event} may say whether the event was observed: without the event, a "
            f"time is only a lower limit, but it is treated like an observed time; if so, give drop=[{time.name!r}]",
        )
        for time in times[:1]
    ]


def _is_event(profile: Profile) -> bool:
    """Return whether a column may indicate an event: it has two or three values and a typical name."""
    words = split_words(profile.name)
    short = profile.name in ("E", "d", "event", "C", "delta")
    values = len(profile.texts) if profile.kind != "numbers" else len(profile.distinct[0])
    return 2 <= values <= 3 and (short or bool(set(words) & set(_EVENTS.split())) or "".join(words) in _EVENTS.split())


def _is_duration(profile: Profile) -> bool:
    """Return whether a column may hold durations: positive numbers, many of them different, and a typical name."""
    if profile.kind != "numbers":
        return False
    numbers = profile.distinct[0]
    words = split_words(profile.name)
    named = bool(set(words) & set(_DURATIONS.split())) or "".join(words) in _DURATIONS.split() or profile.name in ("T", "Y")
    return named and len(numbers) > FEW and numbers[0] >= 0


def lost_rows_caution(rows: int, used: int, missing: Mapping[str, int]) -> list[Caution]:
    """Return a warning if many rows were lost.

    Args:
        rows: number of rows of the table.
        used: number of rows that were used.
        missing: number of missing values of each column whose rows were left out.
    """
    if rows - used <= LOST_ROWS * rows:
        return []
    costly = sorted(missing, key=lambda name: -missing[name])[:3]
    which = f"; most missing values: {', '.join(f'{name} ({missing[name]:,})' for name in costly)}" if costly else ""
    text = (
        f"only {used:,} of {rows:,} rows ({used / rows:.0%}) were used{which}; keep all rows with missing='state', or drop "
        f"these columns with drop={list(costly)!r}"
        if costly
        else f"only {used:,} of {rows:,} rows ({used / rows:.0%}) were used; correct the file"
    )
    return [Caution("lost rows", tuple(costly), text)]
