"""Binning: columns of numbers in a polars frame, cut into states."""

from __future__ import annotations

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
        named = name in bins
        if how is None or not _may_hold_numbers(where, name, kinds[place], named and not how.implied):
            continue
        given = pl.col(place).str.strip_chars(SPACES) if kinds[place] == pl.String else pl.col(place)
        number, found = _numbers(frame, given)
        wrong = _not_numbers(found)
        commas = bool(wrong) and decimal(wrong) != wrong
        if commas:
            number, found = _numbers(frame, given.str.replace(",", ".", literal=True))
            wrong = _not_numbers(found)
        if wrong:
            if not how.implied and (named or 20 * len(wrong) < len(found)):
                raise InputError(f"{where}: column {name!r} cannot be cut: {_complaint(wrong)}")
            continue
        found = found.drop_nulls("value")
        totals = found.group_by("value").agg(pl.col("weight").sum()).sort("value")
        values, weights = totals["value"].to_numpy(), totals["weight"].to_numpy()
        if not named and (len(values) <= _FEW or is_identifier(name, values, int(found["weight"].sum()), found.height)):
            continue
        cuts = how.cuts(values, weights)
        if len(cuts):  # a constant has nothing to cut
            frame = frame.with_columns(_states(number, cuts).alias(place))
            notes.append(describe_cuts(name, how, cuts, values) + (" (decimal commas)" if commas else ""))
    return frame, tuple(notes)


def _may_hold_numbers(where: str, name: str, kind: polars.DataType, wanted: bool) -> bool:
    """Return whether a column holds numbers or text; refuse others that the user wants cut."""
    import polars as pl

    if kind.is_numeric() or kind in (pl.String, pl.Null):
        return True
    if wanted:
        held = "categories" if kind == pl.Enum else kind
        raise InputError(f"{where}: column {name!r} cannot be cut: it holds {held}, not numbers")
    return False


def _complaint(wrong: Sequence[str]) -> str:
    """Return what is wrong with a column of numbers, and what to do."""
    more = {1: "", 2: ", nor is one other value"}.get(len(wrong), f", nor are {len(wrong) - 1:,} other values")
    return f"{wrong[0]!r} is not a number{more}; correct it, or declare states"


def _states(number: polars.Expr, cuts: Floats) -> polars.Expr:
    """Return the state of each number; missing ones stay missing."""
    import polars as pl

    labels = state_names(cuts)
    above = pl.sum_horizontal([pl.lit(0), *((number >= cut).cast(pl.Int64) for cut in cuts)])
    state = above.replace_strict(list(range(len(labels))), labels, return_dtype=pl.Enum(labels))
    return pl.when(number.is_not_null()).then(state)


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
