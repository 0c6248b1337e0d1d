"""Frames: polars frames, of files too, on their way into a Dataset; equal rows are merged in one streaming pass."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dagneal.base.errors import InputError
from dagneal.data import datafile
from dagneal.data.arrays import as_weights, select_columns
from dagneal.data.binning import bin_columns
from dagneal.data.columns import Column, Raw, check_states
from dagneal.data.dataset import SPACES
from dagneal.data.discretize import Bins, check_columns
from dagneal.data.roles import MANY_NUMBERS, may_be_counts
from dagneal.data.spelling import different_spellings

if TYPE_CHECKING:
    import polars

SAMPLE = 1 << 18  # rows that are looked at to see whether rows are mostly equal
_PLACES = 8  # from where they are taken, where that costs nothing
_DIFFERENT = 0.5  # the share of different rows, above which merging costs more than it saves
_GLANCE = 1 << 10  # rows in which equal ones are looked for first
_CELLS = 1 << 23  # values that are looked at to see whether a table is one of counts


@dataclass(frozen=True)
class Prepared:
    """A frame that is ready to be read.

    Attributes:
        source: where it comes from.
        chosen: the columns to learn from, by name.
        frame: with numbers cut into states, and the columns `weight` and, of text, `empty` and `short`.
        weighted: whether there are weights.
        notes: what was done.
        counted: which rows of the source count, where there are weights.
        counts: columns that may say how often each row occurs, though they were not given as weights.
    """

    source: datafile.Source
    chosen: dict[str, str]
    frame: polars.LazyFrame
    weighted: bool
    notes: tuple[str, ...]
    counted: polars.Expr | None = None
    counts: tuple[str, ...] = ()


def prepare_frame(
    source: datafile.Source,
    weights: str | None,
    columns: Sequence[str] | None,
    drop: Sequence[str],
    bins: Mapping[str, Bins],
    declared: Collection[str] = (),
) -> Prepared:
    """Choose columns, look at the weights, leave out rows of weight 0, cut numbers into states.

    Args:
        source: the frame.
        weights: a column of weights.
        columns: those to learn from.
        drop: those to leave out.
        bins: how numbers are cut, by column.
        declared: columns whose states were declared.
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
            raise InputError(f"{where}: column {name!r} holds {kinds[name]}, not single values; leave it out")
    frame, notes = source.frame, list(source.notes)
    counted: polars.Expr | None = None
    counts: tuple[str, ...] = ()
    if weights is not None:
        weight = _weight(source, weights)
        _check_weights(source, weights, weight)
        frame, counted = frame.with_columns(weight.alias("weight")), weight.cast(pl.Float64, strict=False) > 0
        frame = frame.filter(counted)
    else:
        frame = frame.with_columns((pl.col("count") if source.counted else pl.lit(1)).alias("weight"))
        settled = {*declared, *bins}  # the user treats these as variables
        candidates = [name for name in chosen if name not in settled and may_be_counts(name)]
        counts = tuple(name for name in candidates if _counts_rows(source, frame, chosen, name))
        notes += [
            f"{name}: may say how often each row occurs, since no two rows agree in all other columns; "
            f"if so, give weights={name!r}"
            for name in counts
        ]
    frame, told = bin_columns(frame, where, chosen, bins)
    notes += told
    if len(source.parts) > 1:
        states = frame.collect_schema()
        cut = {name for name, at in chosen.items() if states[at] != kinds[name]}
        parts = [part if counted is None else part.filter(counted) for part in source.parts]
        undeclared = {name: at for name, at in chosen.items() if name not in declared}
        notes += different_spellings(parts, source.titles, undeclared, cut)
    weighted = weights is not None or source.counted
    return Prepared(source, chosen, frame, weighted, tuple(notes), counted, counts)


def _check_names(source: datafile.Source, columns: Sequence[str] | None, drop: Sequence[str]) -> None:
    """Refuse a column without a name, unless it is not read."""
    wanted = "" in columns if columns is not None else "" not in drop
    if wanted and "" in source.names:
        text = "of the header " if source.texts else ""
        where = source.titles[0] if source.titles else source.where
        raise InputError(
            f"{where}: column {source.names.index('') + 1} {text}has no name, and it does not hold row numbers "
            "from 0 or 1; name it, or leave it out with drop=['']"
        )


def _check_weights(source: datafile.Source, name: str, weight: polars.Expr) -> None:
    """Refuse weights that are not whole numbers from 0, or that are all 0, and rows of text that are too short."""
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
        raise InputError(f"{source.where}: there are no rows")
    if not as_weights(source.where, name, numbers, written).any():
        raise InputError(f"{source.where}: all weights in column {name!r} are 0, so there are no rows")


def _counts_rows(source: datafile.Source, frame: polars.LazyFrame, chosen: Mapping[str, str], name: str) -> bool:
    """Return whether a column may be the counts of a table of counts.

    Such a table has each combination of the other columns once, and whole numbers that are not all 1. Where there are too
    many rows to look at all of them, it is none.
    """
    import polars as pl

    kind = source.kinds[name]
    if len(chosen) < 3 or not (kind.is_numeric() or kind == pl.String):
        return False
    others = [place for other, place in chosen.items() if other != name]
    most = min(SAMPLE, _CELLS // len(chosen))
    for rows in (min(_GLANCE, most), most + 1):
        sample = frame.head(rows)
        if source.texts:
            sample = sample.filter(~pl.col("empty"))
        table = sample.select(chosen[name], *others, "weight").collect(engine="streaming")
        if table.height < 2 or bool((table["weight"] > 1).any()) or table.n_unique(subset=others) < table.height:
            return False
        if table.height < rows:
            break
    if table.height > most:
        return False
    if table.height > MANY_NUMBERS and any(table[place].n_unique() == table.height for place in others):
        return False  # the others do not repeat because one of them is an identifier or a measurement
    values = table[chosen[name]]
    numbers = (values.str.strip_chars(SPACES) if kind == pl.String else values).cast(pl.Float64, strict=False)
    whole = numbers.is_not_null() & (numbers >= 0) & (numbers == numbers.floor()) & numbers.is_finite()
    return bool(whole.all()) and bool((numbers != 1).any())


def different_share(ready: Prepared) -> float | None:
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


def worth_merging(share: float) -> bool:
    """Whether merging is worth it.

    Args:
        share: of different rows in a sample.
    """
    return share <= _DIFFERENT


def merge_frame(ready: Prepared) -> Raw:
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
        table = _drop_blank_lines(table, source, places)
    if not table.height:
        raise InputError(f"{source.where}: there are no rows")
    parts = tuple(series_column(source.where, name, table[place]) for name, place in chosen.items())
    weights = table["weight"].to_numpy().astype(np.int64)
    return Raw(
        source.where, parts, weights, lambda name, marks: first_missing(ready, name, marks), ready.notes, ready.counts
    )


def first_missing(ready: Prepared, name: str, marks: Sequence[str]) -> str | None:
    """The first row in which a column has no value or one of these marks, in words.

    Args:
        ready: the frame.
        name: the column.
        marks: what stands for a missing value.
    """
    import polars as pl

    values = pl.col(ready.chosen[name])
    missing = values.is_null() | values.cast(pl.String).str.strip_chars(SPACES).is_in(list(marks))
    if ready.counted is not None:
        missing &= ready.counted
    for number, part in enumerate(ready.source.parts):
        row = part.select(pl.arg_where(missing).first()).collect().item()  # polars' arg_max may give a later one
        if row is not None:
            return f"{row + 1:,}" + (f" of file {number + 1}" if len(ready.source.parts) > 1 else "")
    return None


def _weight(source: datafile.Source, name: str) -> polars.Expr:
    """The column of weights, as numbers or as the text that was given for one."""
    import polars as pl

    place, kind = str(source.names.index(name)), source.kinds[name]
    if kind in (pl.String, pl.Enum, pl.Categorical):
        return pl.col(place).cast(pl.String).str.strip_chars(SPACES)
    if kind == pl.Boolean:
        return pl.col(place).cast(pl.Int64)
    if not kind.is_numeric() and kind != pl.Null:
        raise InputError(f"{source.where}: the weights in column {name!r} are {kind}; give whole numbers")
    return pl.col(place)


def _drop_blank_lines(table: polars.DataFrame, source: datafile.Source, chosen: list[str]) -> polars.DataFrame:
    """Take blank lines off the weight of the group that they were merged into, and the group if nothing is left."""
    import polars as pl

    group = pl.all_horizontal(pl.col(chosen).is_null())
    weight = pl.when(group).then(pl.col("weight") - source.blank_lines()).otherwise("weight")
    return table.with_columns(weight.alias("weight")).filter(pl.col("weight") > 0)


def series_column(where: str, name: str, values: polars.Series) -> Column:
    """A polars series as a column: its labels, and codes into them.

    Args:
        where: it comes from, for errors.
        name: of the column.
        values: the series.
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
            raise InputError(f"{where}: column {name!r} holds {values.dtype}, which has no states; leave it out") from error
        labels = values.drop_nulls().unique().sort().to_list()
        check_states(where, name, len(labels))
    codes = values.cast(pl.Enum(labels)).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    return Column(name, tuple(labels), codes, declared)
