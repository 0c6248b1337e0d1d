"""Reading: files and frames and arrays become a Dataset, bad ones get one clear line."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagneal.columns import MISSING_MARKS, Column, Missing, Raw, check_states, checked, in_memory, some, without_missing
from dagneal.data import DENSE, Dataset
from dagneal.errors import InputError

if TYPE_CHECKING:
    import polars

    from dagneal.kernels import Ints
    from dagneal.network import BayesianNetwork


def read(
    source: Any,
    *,
    names: Sequence[str] | None = None,
    weights: str | None = None,
    columns: Sequence[str] | None = None,
    states: Mapping[str, Sequence[Any]] | BayesianNetwork | None = None,
    missing: Missing = "refuse",
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
    if isinstance(source, np.ndarray):
        raw = _array(source, names, weights, columns)
    elif isinstance(source, str | os.PathLike):
        from dagneal import datafile

        path = Path(source)
        frame = datafile.scan(path)
        with datafile.diagnosed(path):
            raw = _frame(str(path), frame, weights, columns)
        if (raw.columns[-1].codes < 0).any():  # polars fills up a row that is too short
            datafile.check_rectangular(path)
    elif type(source).__module__.split(".")[0] == "polars" and hasattr(source, "lazy"):
        raw = _frame("the frame", source.lazy(), weights, columns)
    elif type(source).__module__.split(".")[0] == "pandas" and hasattr(source, "columns"):
        raw = _pandas(source, weights, columns)
    else:
        raise InputError(
            f"cannot read data from {type(source).__name__}; give a path, a pandas or polars frame or a NumPy array"
        )
    if states is None or isinstance(states, Mapping):
        declared = dict(states or {})
        unknown = [name for name in declared if name not in raw.names]
    else:  # a network may have more variables than the data
        declared, unknown = dict(states.states), []
    if unknown:
        raise InputError(f"{raw.where}: states are declared for {unknown[0]!r}, which is not a column")
    return checked(without_missing(raw, missing), declared)


def _selected(where: str, names: Sequence[str], weights: str | None, columns: Sequence[str] | None) -> list[str]:
    """The columns to learn from: those chosen, without the weights."""
    for wanted in [*(columns or []), *([weights] if weights is not None else [])]:
        if wanted not in names:
            raise InputError(f"{where}: there is no column {wanted!r}; there are {some(names)}")
    return [name for name in (names if columns is None else columns) if name != weights]


def _as_weights(where: str, name: str, values: NDArray[Any]) -> Ints:
    """A column of weights as integers; `values` are floats, NaN where there is no number."""
    for bad, what in (
        (~np.isfinite(values), "is not a number"),
        (values < 0, "is negative"),
        (values != np.floor(values), "is not a whole number"),
    ):
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(
                f"{where}: the weight in column {name!r}, row {row + 1:,}, {what} ({values[row]:g}); "
                "weights say how often a row counts: give whole numbers from 0"
            )
    return values.astype(np.int64)


def _frame(where: str, frame: polars.LazyFrame, weights: str | None, columns: Sequence[str] | None) -> Raw:
    """Merge equal rows in polars, in one streaming pass, then code the few that are left."""
    import polars as pl

    schema = frame.collect_schema()
    chosen = _selected(where, schema.names(), weights, columns)
    if not chosen:
        raise InputError(f"{where}: at least 2 columns are needed to learn a network; there are none")
    if weights is None:
        total = pl.len()
    else:
        numbers = frame.select(pl.col(weights).cast(pl.Float64, strict=False)).collect().to_series()
        _as_weights(where, weights, numbers.fill_null(float("nan")).to_numpy())
        total = pl.col(weights).cast(pl.Float64).cast(pl.Int64).sum()
    table = frame.group_by(*chosen).agg(total.alias("\0weight")).collect(engine="streaming")
    if where != "the frame":  # a blank line of a text file is not a row
        table = table.filter(~pl.all_horizontal(pl.col(chosen).is_null()))
    if not table.height:
        raise InputError(f"{where}: there are no rows")

    def first_missing(name: str) -> int | None:
        empty = pl.col(name).is_null() | pl.col(name).cast(pl.String).str.strip_chars().is_in(sorted(MISSING_MARKS))
        found = frame.select(name).with_row_index("\0row").filter(empty).head(1).collect()
        return int(found["\0row"][0]) + 1 if found.height else None

    parts = tuple(_series(where, table[name]) for name in chosen)
    return Raw(where, parts, table["\0weight"].to_numpy().astype(np.int64), first_missing)


def _series(where: str, values: polars.Series) -> Column:
    import polars as pl

    declared = isinstance(values.dtype, pl.Enum)
    if isinstance(values.dtype, pl.Enum):
        labels = values.dtype.categories.to_list()
    else:
        if values.dtype.is_nested():
            raise InputError(f"{where}: column {values.name!r} holds {values.dtype}, not single values; leave it out")
        if values.dtype.is_float():
            values = values.fill_nan(None)
        values = values.cast(pl.String)
        labels = values.drop_nulls().unique().sort().to_list()
        check_states(where, values.name, len(labels))
    codes = values.cast(pl.Enum(labels)).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    return Column(values.name, tuple(labels), codes, declared)


def _pandas(frame: Any, weights: str | None, columns: Sequence[str] | None) -> Raw:
    where = "the frame"
    names = [str(name) for name in frame.columns]
    position = {name: i for i, name in enumerate(names)}
    if len(position) != len(names):
        raise InputError(f"{where}: two columns have the same name; rename one")

    def column(name: str) -> Column:
        values = frame.iloc[:, position[name]]
        categories = getattr(values.dtype, "categories", None)
        if categories is not None:
            codes, labels = values.cat.codes.to_numpy(), categories
        else:
            codes, labels = values.factorize()
        check_states(where, name, len(labels))
        return Column(name, tuple(map(str, labels)), np.asarray(codes, dtype=np.int64), categories is not None)

    parts = tuple(column(name) for name in _selected(where, names, weights, columns))
    if weights is None:
        counts = None
    else:
        given = frame.iloc[:, position[weights]].to_numpy(dtype=float, na_value=np.nan)
        counts = _as_weights(where, weights, given)
    return in_memory(where, parts, counts)


def _array(array: NDArray[Any], names: Sequence[str] | None, weights: str | None, columns: Sequence[str] | None) -> Raw:
    where = "the array"
    if array.ndim != 2:
        raise InputError(f"the array has {array.ndim} dimensions; give one of shape (rows, columns)")
    if array.dtype.kind not in "iub":
        raise InputError(f"the array holds {array.dtype}; give integers (bin measurements first)")
    if names is None:
        names = [f"X{i + 1}" for i in range(array.shape[1])]
    if len(names) != array.shape[1]:
        raise InputError(f"{len(names)} names are given for an array of {array.shape[1]} columns")
    names = [str(name) for name in names]
    chosen = _selected(where, names, weights, columns)
    if not len(array):
        raise InputError("the array has no rows")
    counts = None if weights is None else _as_weights(where, weights, array[:, names.index(weights)].astype(float))
    if chosen != names:
        array = array[:, [names.index(name) for name in chosen]]
    if counts is None:
        array, counts = _merged_array(array)
    parts = []
    for name, values in zip(chosen, array.T, strict=True):
        labels, codes = np.unique(values, return_inverse=True)
        check_states(where, name, len(labels))
        parts.append(Column(name, tuple(map(str, labels.tolist())), codes.astype(np.int64), declared=False))
    return in_memory(where, tuple(parts), counts)


def _merged_array(array: NDArray[Any]) -> tuple[NDArray[Any], Ints | None]:
    """Merge equal rows of an integer array before anything else looks at it, where a histogram can do it."""
    from dagneal.counts import column_ranges, row_keys

    if array.dtype not in (np.uint8, np.int64):  # the two types that the kernels are compiled for
        array = array.astype(np.uint8 if array.dtype == np.bool_ else np.int64)
    array = np.ascontiguousarray(array)
    low, high = column_ranges(array)
    spans = [int(last) - int(first) + 1 for first, last in zip(low, high, strict=True)]
    if np.prod([float(s) for s in spans]) > DENSE:
        return array, None
    counts = np.bincount(row_keys(array, low, np.array(spans, dtype=np.int64)))
    present = np.flatnonzero(counts)
    return np.array(np.unravel_index(present, spans)).T + low, counts[present]
