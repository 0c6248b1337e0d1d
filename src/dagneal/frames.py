"""Frames: polars frames, of files too, on their way into a Dataset; equal rows are merged in one streaming pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dagneal import datafile
from dagneal.binning import binned_frame
from dagneal.columns import Column, Raw, check_states
from dagneal.discretize import Bins, check_columns
from dagneal.errors import InputError
from dagneal.memory import as_weights, selected

if TYPE_CHECKING:
    import polars

SAMPLE = 1 << 18  # rows that are looked at to see whether rows are mostly equal
_PLACES = 8  # from where they are taken, where that costs nothing
_DIFFERENT = 0.5  # the share of different rows, above which merging costs more than it saves


@dataclass(frozen=True)
class Prepared:
    """A frame that is ready to be read.

    Attributes:
        source: where it comes from.
        chosen: the columns to learn from, by name.
        frame: with numbers cut into states, and the columns `weight` and, of text, `empty` and `short`.
        weighted: whether there are weights.
        notes: what was done.
    """

    source: datafile.Source
    chosen: dict[str, str]
    frame: polars.LazyFrame
    weighted: bool
    notes: tuple[str, ...]


def prepared(
    source: datafile.Source,
    weights: str | None,
    columns: Sequence[str] | None,
    drop: Sequence[str],
    bins: Mapping[str, Bins],
) -> Prepared:
    """Choose columns, look at the weights, cut numbers into states.

    Args:
        source: the frame.
        weights: a column of weights.
        columns: those to learn from.
        drop: those to leave out.
        bins: how numbers are cut, by column.
    """
    import polars as pl

    where = source.where
    chosen = {name: str(source.names.index(name)) for name in selected(where, source.names, weights, columns, drop)}
    check_columns(where, bins, list(chosen))
    frame = source.frame.with_columns(
        pl.lit(1).alias("weight") if weights is None else _weight(source, weights).alias("weight")
    )
    if weights is not None:
        given = frame.filter(~pl.col("empty")) if source.texts else frame
        written = given.select("weight").collect().to_series()
        numbers = written.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
        as_weights(where, weights, numbers, written)
    frame, notes = binned_frame(frame, where, chosen, bins)
    return Prepared(source, chosen, frame, weights is not None, notes)


def different(ready: Prepared) -> float | None:
    """The share of different rows in a sample; None where there are so few rows that it does not matter.

    Args:
        ready: the frame.
    """
    import polars as pl

    frame = ready.frame.select(ready.chosen.values())
    if ready.source.texts:  # where rows further on can only be reached by reading all before
        if _few(ready.source):
            return None
        sample = frame.head(SAMPLE).collect(engine="streaming")
    else:
        rows = int(frame.select(pl.len()).collect().item())
        if rows < SAMPLE:
            return None
        step = max(rows // _PLACES, SAMPLE // _PLACES)
        sample = pl.concat([frame.slice(i * step, SAMPLE // _PLACES).collect(engine="streaming") for i in range(_PLACES)])
    return sample.n_unique() / SAMPLE if sample.height >= SAMPLE else None


def _few(source: datafile.Source) -> bool:
    """Whether text files have fewer rows than a sample for sure: a row has at least a letter for each column."""
    plain = all(path.suffix.lower() != ".gz" for path in source.texts)
    return plain and sum(path.stat().st_size for path in source.texts) < SAMPLE * len(source.names)


def merges(share: float) -> bool:
    """Whether merging is worth it.

    Args:
        share: of different rows in a sample.
    """
    return share <= _DIFFERENT


def merged(ready: Prepared) -> Raw:
    """Merge equal rows in polars, in one streaming pass, then code the few that are left.

    Args:
        ready: the frame.
    """
    import polars as pl

    source, chosen, places = ready.source, ready.chosen, list(ready.chosen.values())
    count = (
        pl.col("weight").cast(pl.Float64, strict=False).cast(pl.Int64).sum() if ready.weighted else pl.len().alias("weight")
    )
    flags = [pl.col("empty", "short").sum()] if source.texts else []
    table = ready.frame.group_by(*places).agg(count, *flags).collect(engine="streaming")
    if source.texts and table["short"].sum():
        source.check_rectangular()
    if source.texts and table["empty"].sum():
        table = _without_blank_lines(table, source, places, not ready.weighted)
    if not table.height:
        raise InputError(f"{source.where}: there are no rows")
    parts = tuple(series_column(source.where, name, table[place]) for name, place in chosen.items())
    weights = table["weight"].to_numpy().astype(np.int64)
    return Raw(source.where, parts, weights, lambda name, marks: first_missing(ready, name, marks), ready.notes)


def first_missing(ready: Prepared, name: str, marks: Sequence[str]) -> str | None:
    """The first row in which a column has no value or one of these marks, in words.

    Args:
        ready: the frame.
        name: the column.
        marks: what stands for a missing value.
    """
    import polars as pl

    values = pl.col(ready.chosen[name])
    missing = values.is_null() | values.cast(pl.String).str.strip_chars().is_in(list(marks))
    for number, part in enumerate(ready.source.parts):
        row = part.select(pl.arg_where(missing).first()).collect().item()  # polars' arg_max may give a later one
        if row is not None:
            return f"{row + 1:,}" + (f" of file {number + 1}" if len(ready.source.parts) > 1 else "")
    return None


def _weight(source: datafile.Source, name: str) -> polars.Expr:
    """The column of weights, as numbers or as the text that was given for one."""
    import polars as pl

    place, kind = str(source.names.index(name)), source.kinds[name]
    if kind == pl.String:
        return pl.col(place).str.strip_chars()
    if not kind.is_numeric() and kind != pl.Null:
        raise InputError(f"{source.where}: the weights in column {name!r} are {kind}; give whole numbers")
    return pl.col(place)


def _without_blank_lines(
    table: polars.DataFrame, source: datafile.Source, chosen: list[str], by_row: bool
) -> polars.DataFrame:
    """Take blank lines off the weight of the group that they were merged into, and the group if nothing is left."""
    import polars as pl

    blank = source.blank_lines()
    group = pl.all_horizontal(pl.col(chosen).is_null())
    left = pl.col("empty") > blank
    lighter = table.with_columns(pl.when(group).then(pl.col("weight") - blank).otherwise("weight").alias("weight"))
    return (lighter if by_row else table).filter(~group | left | (pl.col("weight") > 0))


def series_column(where: str, name: str, values: polars.Series) -> Column:
    """A polars series as a column: its labels, and codes into them.

    Args:
        where: it comes from, for errors.
        name: of the column.
        values: the series.
    """
    import polars as pl

    declared = isinstance(values.dtype, pl.Enum)
    if isinstance(values.dtype, pl.Enum):
        labels = values.dtype.categories.to_list()
    else:
        if values.dtype.is_nested():
            raise InputError(f"{where}: column {name!r} holds {values.dtype}, not single values; leave it out")
        if values.dtype.is_float():
            values = values.fill_nan(None)
        try:
            values = values.cast(pl.String)
        except pl.exceptions.PolarsError as error:
            raise InputError(f"{where}: column {name!r} holds {values.dtype}, which has no states; leave it out") from error
        labels = values.drop_nulls().unique().sort().to_list()
        check_states(where, name, len(labels))
    codes = values.cast(pl.Enum(labels)).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    return Column(name, tuple(labels), codes, declared)
