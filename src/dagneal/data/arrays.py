"""Data in memory, pandas frames and arrays of integers, as sources; columns that are chosen and weights that are checked."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError, some
from dagneal.base.kernels import Ints, kernel
from dagneal.data.columns import check_states
from dagneal.data.datafile import Source
from dagneal.data.dataset import DENSE, check_total, digits

if TYPE_CHECKING:
    import polars


MOST_COLUMNS = 10_000  # their pairs take about 5 GB and some minutes


def select_columns(
    where: str, names: Sequence[str], weights: str | None, columns: Sequence[str] | None, drop: Sequence[str]
) -> list[str]:
    """The columns to learn from: those chosen, without the weights and those left out."""
    there, out = set(names), {*drop, weights}
    for wanted in [*(columns or []), *drop, *([weights] if weights is not None else [])]:
        if wanted not in there:
            raise InputError(f"{where}: there is no column {wanted!r}; there are {some([repr(n) for n in names])}")
    chosen = [name for name in (names if columns is None else columns) if name not in out]
    if len(chosen) > MOST_COLUMNS:
        raise InputError(
            f"{where}: {len(chosen):,} columns are too many, since all pairs are looked at; at most {MOST_COLUMNS:,} are "
            "possible: choose some with columns=[...]"
        )
    if len(set(chosen)) < len(chosen):
        raise InputError(f"{where}: a column is chosen twice, or two have the same name: {some([repr(n) for n in chosen])}")
    if len(chosen) < 2:
        raise InputError(f"{where}: at least 2 columns are needed to learn a network; there are {len(chosen)}")
    return chosen


def as_weights(where: str, name: str, values: NDArray[np.float64], given: Any) -> Ints:
    """A column of weights as integers; `values` are the numbers, NaN where there is none, `given` what was written."""
    for bad, what in (
        (~np.isfinite(values), "is not a number"),
        (values < 0, "is negative"),
        (values != np.floor(values), "is not a whole number"),
    ):
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(
                f"{where}: the weight in column {name!r}, row {row + 1:,}, {what} ({given[row]}); "
                "weights say how often a row counts: give whole numbers from 0"
            )
    check_total(float(values.sum()))
    return values.astype(np.int64)


def pandas_source(frame: Any, columns: Sequence[str] | None, drop: Sequence[str], weights: str | None) -> Source:
    """Return a pandas frame as a source, with only those columns that are needed; others may hold anything.

    Args:
        frame: the pandas frame.
        columns: those to learn from.
        drop: those to leave out.
        weights: a column of weights.
    """
    import polars as pl

    where = "the frame"
    names = [str(name) for name in frame.columns]
    needed = {weights, *(names if columns is None else columns)} - {*drop} | {weights}
    parts = [_series(where, name, frame.iloc[:, at]).alias(str(at)) for at, name in enumerate(names) if name in needed]
    return Source(where, names, (pl.DataFrame(parts).lazy(),))


def _series(where: str, name: str, values: Any) -> polars.Series:
    """Return a pandas column as a polars series: numbers and truth values as they are, categories as an Enum, else text."""
    import polars as pl

    kind = getattr(values.dtype, "kind", "O")
    if kind in "iufb" and isinstance(values.dtype, np.dtype):
        return _numeric_series(values.to_numpy())
    if kind in "iufb":  # with a mask, sparse or of Arrow
        missing = values.isna().to_numpy(dtype=bool)
        zero = values.to_numpy(dtype={"i": np.int64, "u": np.uint64, "f": np.float64, "b": np.bool_}[kind], na_value=0)
        return _numeric_series(zero).set(pl.Series(missing), None)
    categories = getattr(values.dtype, "categories", None)
    if categories is not None:
        codes, given = values.cat.codes.to_numpy(), categories
    else:
        try:
            codes, given = values.factorize()
        except TypeError as error:
            raise InputError(f"{where}: column {name!r} does not hold single values; leave it out") from error
    labels = [str(label) for label in given]
    if categories is not None:
        check_states(where, name, len(labels))
        if len(set(labels)) < len(labels):
            raise InputError(f"{where}: two categories of column {name!r} have the same name; rename one")
    try:
        spelled = pl.Series(labels, dtype=pl.String if categories is None else pl.Enum(labels))
    except (UnicodeError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{where}: column {name!r} holds text that is not Unicode; leave it out") from error
    places = pl.Series(np.asarray(codes, dtype=np.int64))
    return spelled.gather(places.set(places < 0, None).cast(pl.UInt32))


def _numeric_series(values: NDArray[Any]) -> polars.Series:
    """Return numbers or truth values as a polars series, whatever their width and order of bytes."""
    import polars as pl

    kind = np.dtype(np.float32) if values.dtype == np.float16 else values.dtype.newbyteorder("=")
    if kind.kind == "f" and kind.itemsize > 8:
        kind = np.dtype(np.float64)
    return pl.Series(np.ascontiguousarray(values, dtype=kind))


def array_source(
    array: NDArray[Any], names: Sequence[str] | None, columns: Sequence[str] | None, drop: Sequence[str], merge: bool
) -> Source:
    """Return an array of integers as a source; see `read`.

    Args:
        array: of shape (rows, columns).
        names: of its columns.
        columns: those to learn from.
        drop: those to leave out.
        merge: merge equal rows first, where that is quick.
    """
    import polars as pl

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
    if not array.shape[1]:
        raise InputError(f"{where}: at least 2 columns are needed to learn a network; there are 0")
    if not len(array):
        raise InputError("the array has no rows")
    if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
        raise InputError("the array holds numbers above 2^63; use smaller codes")
    truth = array.dtype == np.bool_
    counts = None
    places = list(range(len(names)))
    if merge:
        chosen = set(select_columns(where, names, None, columns, drop))
        places = [at for at, name in enumerate(names) if name in chosen]
        array, counts = _merge_array(array if len(places) == len(names) else array[:, places])
    series = [_numeric_series(line.astype(np.bool_) if truth else line) for line in array.T]
    parts = [each.alias(str(at)) for at, each in zip(places, series, strict=True)]
    if counts is not None:
        parts.append(pl.Series("count", counts))
    return Source(where, names, (pl.DataFrame(parts).lazy(),), counted=counts is not None)


def _merge_array(array: NDArray[Any]) -> tuple[NDArray[Any], Ints | None]:
    """Merge equal rows of an integer array before anything else looks at it, where a histogram can do it."""

    if array.dtype not in (np.uint8, np.int64):  # the two types that the kernels are compiled for
        array = array.astype(np.uint8 if array.dtype == np.bool_ else np.int64)
    array = np.ascontiguousarray(array)
    low, high = column_ranges(array)
    spans = [int(last) - int(first) + 1 for first, last in zip(low, high, strict=True)]
    if sum(map(log2, spans)) > log2(DENSE) + 1e-9:
        return array, None
    counts = np.bincount(row_keys(array, low, np.array(spans, dtype=np.int64)))
    present = np.flatnonzero(counts)
    return digits(present, spans).T + low, counts[present]


@kernel
def column_ranges(array: NDArray[Any]) -> tuple[Ints, Ints]:
    """The smallest and the largest number in each column of a table of integers."""
    low = array[0].astype(np.int64)
    high = low.copy()
    for row in range(1, array.shape[0]):
        for column in range(array.shape[1]):
            value = np.int64(array[row, column])
            if value < low[column]:
                low[column] = value
            elif value > high[column]:
                high[column] = value
    return low, high


@kernel
def row_keys(array: NDArray[Any], low: Ints, spans: Ints) -> Ints:
    """Each row of a table of integers as one number in a mixed radix."""
    keys = np.empty(array.shape[0], dtype=np.int64)
    for row in range(array.shape[0]):
        key = np.int64(0)
        for column in range(array.shape[1]):
            key = key * spans[column] + (np.int64(array[row, column]) - low[column])
        keys[row] = key
    return keys
