"""Preparation of polars frames: selection of columns, checks of weights, binning, and merging of equal rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dagneal.base.errors import InputError
from dagneal.data import datafile
from dagneal.data.arrays import parse_weights, select_columns
from dagneal.data.binning import bin_columns
from dagneal.data.columns import Column, RawTable, check_states
from dagneal.data.dataset import SPACES
from dagneal.data.discretize import Bins, check_columns
from dagneal.data.roles import MANY_NUMBERS, may_be_counts
from dagneal.data.spelling import spelling_notes

if TYPE_CHECKING:
    import polars

SAMPLE = 1 << 18  # number of rows in the sample that decides whether merging is worthwhile
_SLICES = 8  # number of slices of the table that form the sample; a sample of text files is the first rows
_MAX_DISTINCT = 0.5  # fraction of distinct rows above which merging costs more than it saves
_FIRST_ROWS = 1 << 10  # number of rows in the first, fast check for row counts
_CELLS = 1 << 23  # maximum number of values that the check for row counts reads


@dataclass(frozen=True)
class SelectedFrame:
    """A frame with selected and binned columns, ready to be read.

    Attributes:
        source: source of the rows.
        chosen: mapping from the name of each selected column to its name in the frame (`0`, `1` and so on).
        frame: rows with binned columns. The column `weight` holds the weight of each row. Frames of text files also have
            the columns `empty` and `short` (see `Source`).
        weighted: whether rows have weights, because of a weights column or because equal rows were merged.
        notes: notes about changes made while reading.
        positive_weight: expression that is true for rows of positive weight; None without a weights column.
        count_columns: names of columns that may hold row counts (the number of times each row occurs), but were not given
            as weights.
    """

    source: datafile.Source
    chosen: dict[str, str]
    frame: polars.LazyFrame
    weighted: bool
    notes: tuple[str, ...]
    positive_weight: polars.Expr | None = None
    count_columns: tuple[str, ...] = ()


def prepare_frame(
    source: datafile.Source,
    weights: str | None,
    columns: Sequence[str] | None,
    drop: Sequence[str],
    bins: Mapping[str, Bins],
    declared: Collection[str] = (),
) -> SelectedFrame:
    """Select columns, check weights, remove rows of weight 0, and bin numbers.

    Args:
        source: table to be read.
        weights: name of the weights column, if any.
        columns: columns to learn from; all by default.
        drop: columns to leave out.
        bins: mapping from column names to binning methods.
        declared: names of columns with declared states.
    """
    import polars as pl

    where = source.where
    _check_names(source, columns, drop)
    place = {name: str(at) for at, name in enumerate(source.names)}
    chosen = {name: place[name] for name in select_columns(where, source.names, weights, columns, drop)}
    check_columns(where, bins, chosen)
    kinds = source.kinds
    for name in chosen:
        if kinds[name].is_nested() or kinds[name] == pl.Object:
            raise _type_error(where, name, kinds[name])
    frame, notes = source.frame, list(source.notes)
    positive: polars.Expr | None = None
    count_columns: tuple[str, ...] = ()
    if weights is not None:
        weight = _weight(source, weights)
        _check_weights(source, weights, weight)
        frame, positive = frame.with_columns(weight.alias("weight")), weight.cast(pl.Float64, strict=False) > 0
        frame = frame.filter(positive)
    else:
        frame = frame.with_columns((pl.col("count") if source.merged else pl.lit(1)).alias("weight"))
        variables = {*declared, *bins}  # the user treats these columns as variables
        candidates = [name for name in chosen if name not in variables and may_be_counts(name)]
        count_columns = tuple(name for name in candidates if _holds_counts(source, frame, chosen, name))
        notes += [
            f"{name}: may hold row counts (no two rows are equal in all other columns); if so, give weights={name!r}"
            for name in count_columns
        ]
    frame, bin_notes = bin_columns(frame, where, chosen, bins)
    notes += bin_notes
    if len(source.parts) > 1:
        states = frame.collect_schema()
        binned = {name for name, at in chosen.items() if states[at] != kinds[name]}
        parts = [part if positive is None else part.filter(positive) for part in source.parts]
        undeclared = {name: at for name, at in chosen.items() if name not in declared}
        notes += spelling_notes(parts, source.titles, undeclared, binned)
    weighted = weights is not None or source.merged
    return SelectedFrame(source, chosen, frame, weighted, tuple(notes), positive, count_columns)


def _type_error(where: str, name: str, kind: polars.DataType) -> InputError:
    """Return the error for a column whose values cannot be states because of their data type."""
    return InputError(f"{where}: column {name!r} holds {kind} values, which cannot be states; drop it with drop=[{name!r}]")


def _check_names(source: datafile.Source, columns: Sequence[str] | None, drop: Sequence[str]) -> None:
    """Raise an error if an unnamed column is selected."""
    selected = "" in columns if columns is not None else "" not in drop
    if selected and "" in source.names:
        text = "of the header " if source.texts else ""
        where = source.titles[0] if source.titles else source.where
        raise InputError(
            f"{where}: column {source.names.index('') + 1} {text}has no name and does not hold row numbers; "
            "name it, or drop it with drop=['']"
        )


def _check_weights(source: datafile.Source, name: str, weight: polars.Expr) -> None:
    """Raise an error if a weight is not a whole number of at least 0, or if all weights are 0.

    Also raise an error if a row of a text file has too few values.
    """
    import polars as pl

    flags = ["empty", "short"] if source.texts else []
    table = source.frame.select(weight.alias("weight"), *flags).collect()
    if source.texts:
        table = table.filter(~pl.col("empty"))
        if table["short"].any():
            source.check_rectangular()
    written = table["weight"]
    numbers = written.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    if not len(numbers):
        raise InputError(f"{source.where}: the table has no rows")
    if not parse_weights(source.where, name, numbers, written).any():
        raise InputError(f"{source.where}: all weights in column {name!r} are 0, so there are no rows")


def _holds_counts(source: datafile.Source, frame: polars.LazyFrame, chosen: Mapping[str, str], name: str) -> bool:
    """Return whether a column may hold row counts (the number of times each row occurs).

    In a table of counts, each combination of values in the other columns occurs once, and the counts are whole numbers
    that are not all 1. A table with too many rows to check is not treated as a table of counts.
    """
    import polars as pl

    kind = source.kinds[name]
    if len(chosen) < 3 or not (kind.is_numeric() or kind == pl.String):
        return False
    others = [place for other, place in chosen.items() if other != name]
    limit = min(SAMPLE, _CELLS // len(chosen))
    for rows in (min(_FIRST_ROWS, limit), limit + 1):
        sample = frame.head(rows)
        if source.texts:
            sample = sample.filter(~pl.col("empty"))
        table = sample.select(chosen[name], *others, "weight").collect(engine="streaming")
        if table.height < 2 or bool((table["weight"] > 1).any()) or table.n_unique(subset=others) < table.height:
            return False
        if table.height < rows:
            break
    if table.height > limit:
        return False
    if table.height > MANY_NUMBERS and any(table[place].n_unique() == table.height for place in others):
        return False  # rows are distinct because another column is an identifier or a measurement
    values = table[chosen[name]]
    numbers = (values.str.strip_chars(SPACES) if kind == pl.String else values).cast(pl.Float64, strict=False)
    whole = numbers.is_not_null() & (numbers >= 0) & (numbers == numbers.floor()) & numbers.is_finite()
    return bool(whole.all()) and bool((numbers != 1).any())


def distinct_share(ready: SelectedFrame) -> float | None:
    """Return the fraction of distinct rows in a sample of the table. Return None if the table has too few rows.

    Args:
        ready: prepared frame.
    """
    import polars as pl

    frame = ready.frame.select(ready.chosen.values())
    if ready.source.texts:  # later rows of text can only be reached by reading all earlier rows
        if _has_few_rows(ready.source):
            return None
        sample = frame.head(SAMPLE).collect(engine="streaming")
    else:
        rows = int(frame.select(pl.len()).collect().item())
        if rows < SAMPLE:
            return None
        step = max(rows // _SLICES, SAMPLE // _SLICES)
        sample = pl.concat([frame.slice(i * step, SAMPLE // _SLICES).collect(engine="streaming") for i in range(_SLICES)])
    return sample.n_unique() / SAMPLE if sample.height >= SAMPLE else None


def _has_few_rows(source: datafile.Source) -> bool:
    """Return whether text files are too small to hold `SAMPLE` rows, with at least one byte per value."""
    plain = all(path.suffix.lower() != ".gz" for path in source.texts)
    return plain and sum(path.stat().st_size for path in source.texts) < SAMPLE * len(source.names)


def worth_merging(share: float) -> bool:
    """Return whether enough rows are equal to make merging worthwhile.

    Args:
        share: fraction of distinct rows in a sample.
    """
    return share <= _MAX_DISTINCT


def merge_frame(ready: SelectedFrame) -> RawTable:
    """Merge equal rows in one streaming pass of polars, and return the distinct rows as a `RawTable`.

    Args:
        ready: prepared frame.
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
        table = _drop_blank_lines(table, source, places)
    if not table.height:
        raise InputError(f"{source.where}: the table has no rows")
    parts = tuple(series_column(source.where, name, table[place]) for name, place in chosen.items())
    weights = table["weight"].to_numpy().astype(np.int64)
    return RawTable(
        source.where, parts, weights, lambda name, marks: first_missing(ready, name, marks), ready.notes, ready.count_columns
    )


def first_missing(ready: SelectedFrame, name: str, marks: Sequence[str]) -> str | None:
    """Return the number of the first row in which a column has a missing value. Return None if there is no such row.

    The result is a text such as `31`, or `31 of 2.csv` (row 31 of the file 2.csv) if there are several files.

    Args:
        ready: prepared frame.
        name: name of the column.
        marks: texts that mark a missing value.
    """
    import polars as pl

    values = pl.col(ready.chosen[name])
    missing = values.is_null() | values.cast(pl.String).str.strip_chars(SPACES).is_in(list(marks))
    if ready.positive_weight is not None:
        missing &= ready.positive_weight
    for number, part in enumerate(ready.source.parts):
        row = part.select(pl.arg_where(missing).first()).collect().item()  # not arg_max, which may return a later row
        if row is not None:
            return f"{row + 1:,}" + (f" of {Path(ready.source.titles[number]).name}" if len(ready.source.parts) > 1 else "")
    return None


def _weight(source: datafile.Source, name: str) -> polars.Expr:
    """Return an expression for the values of the weights column `name`. Spaces around text are removed."""
    import polars as pl

    place, kind = str(source.names.index(name)), source.kinds[name]
    if kind in (pl.String, pl.Enum, pl.Categorical):
        return pl.col(place).cast(pl.String).str.strip_chars(SPACES)
    if kind == pl.Boolean:
        return pl.col(place).cast(pl.Int64)
    if not kind.is_numeric() and kind != pl.Null:
        raise InputError(
            f"{source.where}: column {name!r} cannot be used as weights: it holds {kind} values, not whole numbers"
        )
    return pl.col(place)


def _drop_blank_lines(table: polars.DataFrame, source: datafile.Source, chosen: list[str]) -> polars.DataFrame:
    """Remove blank lines from a table of distinct rows.

    Polars reads blank lines as rows without values, which are merged into one row. The number of blank lines is subtracted
    from the weight of this row. If its weight is then 0, the row is dropped.
    """
    import polars as pl

    group = pl.all_horizontal(pl.col(chosen).is_null())
    weight = pl.when(group).then(pl.col("weight") - source.count_blank_lines()).otherwise("weight")
    return table.with_columns(weight.alias("weight")).filter(pl.col("weight") > 0)


def series_column(where: str, name: str, values: polars.Series) -> Column:
    """Convert a polars series to a `Column` of labels and codes.

    Args:
        where: name of the source, for errors.
        name: name of the column.
        values: values of the column.
    """
    import polars as pl

    if values.dtype.is_integer() and values.dtype not in (pl.Int128, pl.UInt128) and not values.null_count():
        numbers, codes = np.unique(values.to_numpy(), return_inverse=True)
        check_states(where, name, len(numbers))
        return Column(name, tuple(map(str, numbers.tolist())), codes.astype(np.int64, copy=False), declared=False)
    declared = isinstance(values.dtype, pl.Enum)
    if isinstance(values.dtype, pl.Enum):
        labels = values.dtype.categories.to_list()
    else:
        if values.dtype.is_float():
            values = values.fill_nan(None)
        try:
            values = values.cast(pl.String)
        except pl.exceptions.PolarsError as error:
            raise _type_error(where, name, values.dtype) from error
        labels = values.drop_nulls().unique().sort().to_list()
        check_states(where, name, len(labels))
    codes = values.cast(pl.Enum(labels)).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    return Column(name, tuple(labels), codes, declared)
