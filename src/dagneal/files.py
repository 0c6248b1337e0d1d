"""Reading: files and frames and arrays become a Dataset, bad ones get one clear line."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dagneal import datafile
from dagneal.binning import binned_frame
from dagneal.columns import (
    Column,
    Missing,
    Raw,
    check_states,
    checked,
    without_missing,
    without_rare,
)
from dagneal.data import Dataset
from dagneal.discretize import Bins, bins_of, check_columns
from dagneal.errors import InputError
from dagneal.memory import as_weights, integer_array, pandas_frame, selected

if TYPE_CHECKING:
    import polars

    from dagneal.network import BayesianNetwork


def read(
    source: Any,
    *,
    names: Sequence[str] | None = None,
    weights: str | None = None,
    columns: Sequence[str] | None = None,
    states: Mapping[str, Sequence[Any]] | BayesianNetwork | None = None,
    missing: Missing = "refuse",
    bins: str | Bins | Mapping[str, str | Bins] | None = None,
    rare: float = 0.0,
    drop: Sequence[str] = (),
) -> Dataset:
    """Read discrete data from a file, a frame or an array; equal rows are merged.

    Args:
        source: path of a CSV, TSV or Parquet file, a pandas or polars frame, or an integer array (rows, columns).
        names: the columns of an array; `X1`, `X2` and so on by default.
        weights: a column that says how often each row counts.
        columns: read only these, in this order.
        states: all states of some columns, in order, also those that no row shows; a network gives those of its
            variables. Other columns have the states seen, sorted, numbers as numbers; a categorical keeps its own.
        missing: what to do with missing values: `"refuse"`, `"drop"` the row, or make them a `"state"` of their own.
        bins: cut numbers into a few states: `"quantile:4"`, `"uniform:5"` or `"kmeans:3"` for all columns that look
            continuous, or by column, `{"age": "at:18,65"}`. Declared states that are named by cuts are found in numbers.
        rare: merge the states of a column that fewer rows show than this share of them.
        drop: leave these columns out.

    Returns:
        The data, with one weight per distinct row.

    >>> import numpy as np
    >>> read(np.array([[0, 1], [0, 1], [1, 0]]), names=["rain", "wet"])
    Dataset(2 columns, 3 rows, 2 distinct)
    """
    if missing not in ("refuse", "drop", "state"):
        raise InputError(f"missing={missing!r} is unknown; give 'refuse', 'drop' or 'state'")
    if names is not None and not isinstance(source, np.ndarray):
        raise InputError("names are for arrays; files and frames have their own")
    cut = _implied(states) | bins_of(bins)
    if isinstance(source, np.ma.MaskedArray):
        raise InputError("masked arrays are not read; give a frame with missing values")
    if isinstance(source, np.ndarray):
        raw = integer_array(source, names, weights, columns, drop, cut)
    elif isinstance(source, str | os.PathLike):
        with datafile.regular(source) as path, datafile.diagnosed(path):
            raw = _frame(datafile.scan(path), weights, columns, drop, cut)
    elif type(source).__module__.split(".")[0] == "polars" and hasattr(source, "lazy"):
        raw = _frame(datafile.from_frame(source.lazy()), weights, columns, drop, cut)
    elif type(source).__module__.split(".")[0] == "pandas" and hasattr(source, "columns"):
        raw = pandas_frame(source, weights, columns, drop, cut)
    else:
        raise InputError(
            f"cannot read data from {type(source).__name__}; give a path, a pandas or polars frame or a NumPy array"
        )
    declared = _declared(states, raw)
    return checked(without_rare(without_missing(raw, missing, declared, rare), rare, declared), declared)


def _implied(states: Any) -> dict[str, Bins]:
    """The cuts that declared states tell by their names."""
    given = getattr(states, "states", states)
    found = {name: Bins.of_states(its) for name, its in given.items()} if isinstance(given, Mapping) else {}
    return {str(name): how for name, how in found.items() if how is not None}


def _declared(states: Any, raw: Raw) -> dict[str, list[str]]:
    """Declared states by column; a network declares those of its variables, and may have more of them than the data."""
    if hasattr(states, "states"):
        if not set(states.states) & set(raw.names):
            raise InputError(f"{raw.where}: none of the columns is a variable of the network that should give their states")
        return {name: list(its_states) for name, its_states in states.states.items()}
    if not isinstance(states, Mapping | None):
        raise InputError(f"states is {type(states).__name__}; give a mapping from columns to states, or a network")
    for name in states or {}:
        if name not in raw.names:
            raise InputError(f"{raw.where}: states are declared for {name!r}, which is not a column")
    return {name: [str(state) for state in its_states] for name, its_states in (states or {}).items()}


def _frame(
    source: datafile.Source,
    weights: str | None,
    columns: Sequence[str] | None,
    drop: Sequence[str],
    bins: Mapping[str, Bins],
) -> Raw:
    """Merge equal rows in polars, in one streaming pass, then code the few that are left."""
    import polars as pl

    where, frame = source.where, source.frame
    chosen = {name: str(source.names.index(name)) for name in selected(where, source.names, weights, columns, drop)}
    check_columns(where, bins, list(chosen))
    watched = frame.with_columns(pl.lit(1).alias("weight") if weights is None else _weight(source, weights).alias("weight"))
    if source.text is not None:  # a row without any value may be a blank line, one without the last may be too short
        watched = watched.with_columns(
            pl.all_horizontal(pl.nth(range(len(source.names))).is_null()).alias("empty"),
            pl.nth(len(source.names) - 1).is_null().alias("short"),
        )
    if weights is not None:
        given = watched.filter(~pl.col("empty")) if source.text else watched
        written = given.select("weight").collect().to_series()
        numbers = written.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
        as_weights(where, weights, numbers, written)
    figures = [
        pl.col("weight").cast(pl.Float64, strict=False).cast(pl.Int64).sum(),
        *([pl.col("empty", "short").sum()] if source.text else []),
    ]
    watched, notes = binned_frame(watched, where, chosen, bins)
    table = watched.group_by(*chosen.values()).agg(*figures).collect(engine="streaming")
    if source.text is not None and table["short"].sum():
        datafile.check_rectangular(source.text)
    if source.text is not None and table["empty"].sum():
        table = _without_blank_lines(table, source.text, list(chosen.values()), weights is None)
    if not table.height:
        raise InputError(f"{where}: there are no rows")

    def first_missing(name: str, marks: Sequence[str]) -> int | None:
        values = pl.col(chosen[name])
        missing = values.is_null() | values.cast(pl.String).str.strip_chars().is_in(list(marks))
        row = frame.select(pl.arg_where(missing).first()).collect().item()  # polars' arg_max may give a later one
        return None if row is None else int(row) + 1

    parts = tuple(_series(where, name, table[place]) for name, place in chosen.items())
    return Raw(where, parts, table["weight"].to_numpy().astype(np.int64), first_missing, notes)


def _weight(source: datafile.Source, name: str) -> polars.Expr:
    """The column of weights, as numbers or as the text that was given for one."""
    import polars as pl

    place = str(source.names.index(name))
    kind = source.frame.collect_schema()[place]
    if kind == pl.String:
        return pl.col(place).str.strip_chars()
    if not kind.is_numeric() and kind != pl.Null:
        raise InputError(f"{source.where}: the weights in column {name!r} are {kind}; give whole numbers")
    return pl.col(place)


def _without_blank_lines(table: polars.DataFrame, path: Path, chosen: list[str], by_row: bool) -> polars.DataFrame:
    """Take blank lines off the weight of the group that they were merged into, and the group if nothing is left."""
    import polars as pl

    blank = datafile.blank_lines(path)
    group = pl.all_horizontal(pl.col(chosen).is_null())
    left = pl.col("empty") > blank
    lighter = table.with_columns(pl.when(group).then(pl.col("weight") - blank).otherwise("weight").alias("weight"))
    return (lighter if by_row else table).filter(~group | left | (pl.col("weight") > 0))


def _series(where: str, name: str, values: polars.Series) -> Column:
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
