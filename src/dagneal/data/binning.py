"""Binning: columns of numbers in a polars frame, cut into states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dagneal.base.errors import InputError
from dagneal.data.columns import decimal
from dagneal.data.dataset import SPACES
from dagneal.data.discretize import EVERY, Bins, describe_cuts, state_names
from dagneal.data.missing import MISSING_MARKS
from dagneal.data.roles import is_identifier

if TYPE_CHECKING:
    import polars

_FEW = 12  # different numbers that are left as they are where all columns are to be cut


def bin_columns(
    frame: polars.LazyFrame, where: str, chosen: Mapping[str, str], bins: Mapping[str, Bins]
) -> tuple[polars.LazyFrame, tuple[str, ...]]:
    """A frame with columns of numbers cut into states, and what was done.

    Args:
        frame: with a column `weight`.
        where: it comes from, for errors.
        chosen: the columns that are read, by name.
        bins: how they are cut, by name.
    """
    import polars as pl

    notes = []
    kinds = frame.collect_schema()
    for name, place in chosen.items() if bins else ():
        how = bins.get(name, bins.get(EVERY))
        if how is None:
            continue
        if not kinds[place].is_numeric() and kinds[place] not in (pl.String, pl.Null):
            if name in bins and not how.implied:
                held = "categories" if kinds[place] == pl.Enum else kinds[place]
                raise InputError(f"{where}: column {name!r} cannot be cut: it holds {held}, not numbers")
            continue
        given = pl.col(place).str.strip_chars(SPACES) if kinds[place] == pl.String else pl.col(place)
        number, found = _numbers(frame, given)
        wrong = _not_numbers(found)
        commas = bool(wrong) and decimal(wrong) != wrong
        if commas:
            number, found = _numbers(frame, given.str.replace(",", ".", literal=True))
            wrong = _not_numbers(found)
        if wrong and not how.implied and (name in bins or 20 * len(wrong) < len(found)):
            more = {1: "", 2: ", nor is one other value"}.get(len(wrong), f", nor are {len(wrong) - 1:,} other values")
            some = f"{wrong[0]!r} is not a number{more}"
            raise InputError(f"{where}: column {name!r} cannot be cut: {some}; correct it, or declare states")
        if wrong:
            continue
        found = found.drop_nulls("value")
        totals = found.group_by("value").agg(pl.col("weight").sum()).sort("value")
        values, weights = totals["value"].to_numpy(), totals["weight"].to_numpy()
        if name not in bins and (
            len(values) <= _FEW or is_identifier(name, values, int(found["weight"].sum()), found.height)
        ):
            continue
        cuts = how.cuts(values, weights)
        if not len(cuts):  # a constant has nothing to cut
            continue
        labels = state_names(cuts)
        above = pl.sum_horizontal([pl.lit(0), *((number >= cut).cast(pl.Int64) for cut in cuts)])
        state = above.replace_strict(list(range(len(labels))), labels, return_dtype=pl.Enum(labels))
        frame = frame.with_columns(pl.when(number.is_not_null()).then(state).alias(place))
        notes.append(describe_cuts(name, how, cuts, values) + (" (decimal commas)" if commas else ""))
    return frame, tuple(notes)


def _numbers(frame: polars.LazyFrame, given: polars.Expr) -> tuple[polars.Expr, polars.DataFrame]:
    """A column as numbers, and how often each occurs, beside what was written."""
    import polars as pl

    number = given.cast(pl.Float64, strict=False)
    number = pl.when(number.is_finite()).then(number)
    weight = pl.col("weight").cast(pl.Float64, strict=False)
    written = frame.select(number.alias("value"), given.alias("given"), weight.alias("weight"))
    return number, written.group_by("value", "given").agg(pl.col("weight").sum()).collect(engine="streaming")


def _not_numbers(found: polars.DataFrame) -> list[str]:
    import polars as pl

    strange = found.filter(pl.col("value").is_null() & pl.col("given").is_not_null())["given"].cast(pl.String)
    return sorted(value for value in strange.to_list() if value not in MISSING_MARKS)
