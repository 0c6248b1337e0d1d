"""Binning: columns of numbers, of a polars frame or in memory, cut into states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dagneal.columns import Column, decimal, row_numbers
from dagneal.discretize import EVERY, Bins, state_names, told
from dagneal.errors import InputError
from dagneal.missing import MISSING_MARKS

if TYPE_CHECKING:
    import polars

    from dagneal.kernels import Ints

_FEW = 12  # different numbers that are left as they are where all columns are to be cut


def binned_frame(
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
        if how is None or isinstance(kinds[place], pl.Enum):
            continue
        if not kinds[place].is_numeric() and kinds[place] not in (pl.String, pl.Null):
            if name in bins and not how.implied:
                raise InputError(f"{where}: column {name!r} cannot be cut: it holds {kinds[place]}, not numbers")
            continue
        given = pl.col(place).str.strip_chars() if kinds[place] == pl.String else pl.col(place)
        number, found = _numbers(frame, given)
        wrong = _not_numbers(found)
        commas = bool(wrong) and decimal(wrong) != wrong
        if commas:
            number, found = _numbers(frame, given.str.replace(",", ".", literal=True))
            wrong = _not_numbers(found)
        if wrong and not how.implied and (name in bins or 20 * len(wrong) < len(found)):
            some = f"{wrong[0]!r} is not a number" + (f", nor are {len(wrong) - 1:,} other values" if len(wrong) > 1 else "")
            raise InputError(f"{where}: column {name!r} cannot be cut: {some}; correct it, or declare states")
        if wrong:
            continue
        totals = found.drop_nulls("value").group_by("value").agg(pl.col("weight").sum()).sort("value")
        values, weights = totals["value"].to_numpy(), totals["weight"].to_numpy()
        if name not in bins and not measured(values, int(found["weight"].sum())):
            continue
        cuts = how.cuts(values, weights)
        labels = state_names(cuts)
        above = pl.sum_horizontal([pl.lit(0), *((number >= cut).cast(pl.Int64) for cut in cuts)])
        state = above.replace_strict(list(range(len(labels))), labels, return_dtype=pl.Enum(labels))
        frame = frame.with_columns(pl.when(number.is_not_null()).then(state).alias(place))
        notes.append(told(name, how, cuts) + (" (decimal commas)" if commas else ""))
    return frame, tuple(notes)


def measured(values: NDArray[np.float64], rows: int) -> bool:
    """Whether different numbers are cut where all are to be: many of them, which do not merely count the rows.

    Args:
        values: the different numbers.
        rows: how many rows there are.
    """
    return len(values) > _FEW and not row_numbers(values, rows)


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


def binned_column(name: str, values: NDArray[np.float64], weights: Ints | None, how: Bins) -> tuple[Column, str]:
    """A column of numbers cut into states, and what was done.

    Args:
        name: of the column.
        values: its numbers, NaN where there is none.
        weights: how often each row counts.
        how: it is cut.
    """
    known = np.isfinite(values)
    different, inverse = np.unique(values[known], return_inverse=True)
    counts = np.bincount(inverse, None if weights is None else weights[known], len(different)).astype(np.float64)
    cuts = how.cuts(different, counts)
    codes = np.where(known, np.searchsorted(cuts, np.where(known, values, 0.0), side="right"), -1)
    return Column(name, tuple(state_names(cuts)), codes.astype(np.int64), declared=True), told(name, how, cuts)
