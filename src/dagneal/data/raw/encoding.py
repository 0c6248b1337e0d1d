"""Application of a recipe: raw columns become columns of states, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dagneal.base.errors import InputError, first_few, hint
from dagneal.data.dataset import BOOLEANS, MISSING_STATE, OTHER_STATE, SPACES
from dagneal.data.raw.notation import WEEKDAYS, clean_text, date_part, to_date, to_number
from dagneal.data.recipe import ColumnRecipe, Recipe

if TYPE_CHECKING:
    import polars


def check_source(recipe: Recipe, names: Sequence[str], where: str) -> None:
    """Raise an error if a table lacks a column that a recipe needs.

    Args:
        recipe: recipe to apply.
        names: column names of the table.
        where: name of the table, for errors.
    """
    needed = dict.fromkeys(each.column for each in recipe.variables)
    absent = [name for name in needed if name not in names]
    if absent:
        listed = first_few([repr(name) for name in absent])
        raise InputError(f"{where}: the recipe needs the column {listed}, which the table lacks{hint(absent[0], names)}")


def encode_frame(
    table: polars.DataFrame, places: Mapping[str, str], kinds: Mapping[str, polars.DataType], recipe: Recipe
) -> polars.DataFrame:
    """Return a frame with one column of states per variable of a recipe. Missing and unseen values are null.

    Args:
        table: rows with raw columns.
        places: mapping from the name of each raw column to its name in `table`.
        kinds: data type of each raw column, by its name.
        recipe: recipe with the states of each variable.
    """
    import polars as pl

    columns = [encode_column(table[places[each.column]], kinds[each.column], each) for each in recipe.variables]
    return pl.DataFrame(columns)


def encode_column(values: polars.Series, kind: polars.DataType, entry: ColumnRecipe) -> polars.Series:
    """Return the states of one variable. Missing and unseen values are null, unless the variable has a state for them.

    Args:
        values: values of the raw column.
        kind: data type of the values.
        entry: entry of the recipe with the states of the variable.
    """
    import polars as pl

    states = pl.Enum(list(entry.states))
    frame = values.rename("value").to_frame()
    value = pl.col("value")
    if entry.action in ("bin", "year", "month", "weekday"):
        if entry.action == "bin":
            number = to_number(value, kind, entry.format)
        else:
            number = date_part(to_date(value, kind, entry.format), entry.action)
        numbers = frame.select(number.alias("number")).to_series().fill_null(float("nan")).to_numpy()
        return pl.Series(entry.name, _interval_states(numbers, values, kind, entry), dtype=states)
    text = frame.select(clean_text(value, kind, entry.marks).alias("text")).to_series()
    distinct = text.unique().drop_nulls()
    place = {state: state for state in entry.states}
    place |= _spellings(entry.states)
    other = OTHER_STATE if OTHER_STATE in place else None
    matched = [_match(given, place, other) for given in distinct.to_list()]
    if len(distinct):
        result = text.to_frame("text").select(
            pl.col("text").replace_strict(
                distinct, pl.Series(matched, dtype=pl.String), default=None, return_dtype=pl.String
            )
        )
        text = result.to_series()
    if MISSING_STATE in place:
        text = text.fill_null(MISSING_STATE)
    return text.cast(states).rename(entry.name)


def _interval_states(
    numbers: np.ndarray, values: polars.Series, kind: polars.DataType, entry: ColumnRecipe
) -> list[str | None] | polars.Series:
    """Return the state of each number. The names of the states are accepted, too."""
    import polars as pl

    gap = MISSING_STATE if MISSING_STATE in entry.states else None
    plain = [state for state in entry.states if state != MISSING_STATE]
    known = np.isfinite(numbers)
    if entry.action == "weekday":
        names = [None, *(day if day in plain else None for day in WEEKDAYS), gap]
        codes = np.where(known, np.nan_to_num(numbers), 8).astype(np.int64)
    else:
        names = [*plain, gap]
        codes = np.where(known, np.searchsorted(entry.cuts, numbers, side="right"), len(plain))
        if entry.action != "bin":  # a year before the first or after the last year has no state
            only = np.array([float(name) if name.isdecimal() else np.nan for name in plain] + [np.nan])[codes]
            names = [*names, None]
            codes = np.where(np.isfinite(only) & (only != numbers), len(names) - 1, codes)
    states = pl.Series(names, dtype=pl.String).gather(codes.astype(np.uint32))
    if kind in (pl.String, pl.Enum, pl.Categorical) and not known.all():
        text = values.cast(pl.String).str.strip_chars(SPACES)
        named = text.is_in(plain)
        if named.any():
            states = states.zip_with(~(named.fill_null(False) & pl.Series(~known)), text)
    return states


def _spellings(states: Sequence[str]) -> dict[str, str]:
    """Return other spellings of states: other letter cases of booleans, and other notations of numbers such as `1.0`."""
    result: dict[str, str] = {}
    for state in states:
        if state.lower() in BOOLEANS:
            result |= {state.lower(): state, state.upper(): state, state.title(): state}
    numbers: dict[float, str] = {}
    for state in states:
        if state not in (MISSING_STATE, OTHER_STATE):
            number = _number(state)
            if number is None or number in numbers:
                return {key: value for key, value in result.items() if key not in states}
            numbers[number] = state
    return {key: value for key, value in result.items() if key not in states} | {_key(n): s for n, s in numbers.items()}


def _match(given: str, place: Mapping[str, str], other: str | None) -> str | None:
    """Return the state of a text: an equal state, a state of an equal number, or the state of rare values."""
    if given in place:
        return place[given]
    number = _number(given)
    return other if number is None else place.get(_key(number), other)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _key(number: float) -> str:
    """Return a key for a number that no state has as its name."""
    return f"\0{number!r}"


def unseen_values(
    values: polars.Series, kind: polars.DataType, entry: ColumnRecipe, encoded: polars.Series
) -> tuple[list[tuple[str, int]], polars.Series]:
    """Return the values that have no state, with their numbers of rows, the most frequent first; also which rows have them.

    A value has no state if its row has no state, or the state `(missing)` although the value is not missing.

    Args:
        values: values of the raw column.
        kind: data type of the values.
        entry: entry of the recipe.
        encoded: states of the variable.
    """
    import polars as pl

    text = values.rename("value").to_frame().select(clean_text(pl.col("value"), kind, entry.marks).alias("text")).to_series()
    lost = encoded.is_null() | (encoded.cast(pl.String) == MISSING_STATE)
    lost &= text.is_not_null() & (text != MISSING_STATE).fill_null(True)
    counts = text.filter(lost).value_counts(sort=True)
    return [(str(given), int(count)) for given, count in counts.rows()], lost
