"""Binning of numeric columns of a polars frame."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dagneal.base.errors import InputError
from dagneal.data.columns import decimal
from dagneal.data.dataset import SPACES
from dagneal.data.discretize import EVERY, Bins, describe_cuts, state_names
from dagneal.data.missing import MISSING_MARKS
from dagneal.data.roles import is_identifier

if TYPE_CHECKING:
    import polars

    from dagneal.base.kernels import Floats

_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}([./])\d{1,2}\1\d{2,4}")
_FEW = 12  # a method for all columns does not bin a column with at most this many distinct numbers


def bin_columns(
    frame: polars.LazyFrame, where: str, chosen: Mapping[str, str], bins: Mapping[str, Bins]
) -> tuple[polars.LazyFrame, tuple[str, ...]]:
    """Bin numeric columns of a frame. Return the tuple (binned frame, notes), with one note per binned column.

    Args:
        frame: rows of the table; the column `weight` holds the weight of each row.
        where: name of the source, for errors.
        chosen: mapping from the name of each selected column to its name in the frame (`0`, `1` and so on).
        bins: mapping from column names to binning methods; the key `EVERY` holds the method for columns without an entry.
    """
    import polars as pl

    notes = []
    kinds = frame.collect_schema()
    for name, place in chosen.items() if bins else ():
        method = bins.get(name, bins.get(EVERY))
        named = name in bins
        if method is None or not _may_hold_numbers(where, name, kinds[place], named and not method.implied):
            continue
        given = pl.col(place).str.strip_chars(SPACES) if kinds[place] == pl.String else pl.col(place)
        number, counted = _count_numbers(frame, given)
        invalid = _not_numbers(counted)
        commas = bool(invalid) and decimal(invalid) != invalid
        if commas:
            number, counted = _count_numbers(frame, given.str.replace(",", ".", literal=True))
            invalid = _not_numbers(counted)
        if invalid:
            if not method.implied and (named or 20 * len(invalid) < len(counted)):
                raise InputError(f"{where}: column {name!r} cannot be binned: {_describe_invalid(invalid)}")
            continue
        counted = counted.drop_nulls("value")
        totals = counted.group_by("value").agg(pl.col("weight").sum()).sort("value")
        values, weights = totals["value"].to_numpy(), totals["weight"].to_numpy()
        if not named and (len(values) <= _FEW or is_identifier(name, values, int(counted["weight"].sum()), counted.height)):
            continue
        cuts = method.cuts(values, weights)
        if len(cuts):  # a constant column has no cut point
            frame = frame.with_columns(_states(number, cuts, method.labels).alias(place))
            notes.append(describe_cuts(name, method, cuts, values) + (" (decimal commas)" if commas else ""))
    return frame, tuple(notes)


def _may_hold_numbers(where: str, name: str, kind: polars.DataType, requested: bool) -> bool:
    """Return whether the type of a column is numeric or text. Only such a column may hold numbers.

    If the column has another type, and the user asked to bin it (`requested`), raise an error.
    """
    import polars as pl

    if kind.is_numeric() or kind in (pl.String, pl.Null):
        return True
    if requested:
        content = "categories" if kind == pl.Enum else f"{kind} values"
        raise InputError(f"{where}: column {name!r} cannot be binned: it holds {content}, not numbers")
    return False


def _describe_invalid(values: Sequence[str]) -> str:
    """Return a message about values that are not numbers. The message quotes the first value and counts the others."""
    if _DATE.match(values[0]):
        return f"{values[0]!r} is a date, not a number; replace the dates by years or weekdays, or drop the column"
    more = {1: "", 2: " (nor is 1 other value)"}.get(len(values), f" (nor are {len(values) - 1:,} other values)")
    return f"{values[0]!r} is not a number{more}; correct the data, or declare the states of the column with states=..."


def _states(number: polars.Expr, cuts: Floats, labels: Sequence[str] = ()) -> polars.Expr:
    """Return an expression that replaces each number by the name of its state. Missing values stay missing."""
    import polars as pl

    labels = list(labels) or state_names(cuts)
    above = pl.sum_horizontal([pl.lit(0), *((number >= cut).cast(pl.Int64) for cut in cuts)])
    state = above.replace_strict(list(range(len(labels))), labels, return_dtype=pl.Enum(labels))
    return pl.when(number.is_not_null()).then(state)


def _count_numbers(frame: polars.LazyFrame, given: polars.Expr) -> tuple[polars.Expr, polars.DataFrame]:
    """Return the tuple (expression that converts `given` to numbers, table of the distinct values of `given`).

    The table has the columns `given` (original value), `value` (the value as a finite number, or null) and `weight` (total
    weight of the rows with this value).
    """
    import polars as pl

    number = given.cast(pl.Float64, strict=False)
    number = pl.when(number.is_finite()).then(number)
    weight = pl.col("weight").cast(pl.Float64, strict=False)
    written = frame.select(number.alias("value"), given.alias("given"), weight.alias("weight"))
    return number, written.group_by("value", "given").agg(pl.col("weight").sum()).collect(engine="streaming")


def _not_numbers(counted: polars.DataFrame) -> list[str]:
    """Return the original values that are neither numbers nor marks of missing values such as `NA`."""
    import polars as pl

    invalid = counted.filter(pl.col("value").is_null() & pl.col("given").is_not_null())["given"].cast(pl.String)
    return sorted(value for value in invalid.to_list() if value not in MISSING_MARKS)
