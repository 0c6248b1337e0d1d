"""Conversion of pandas data frames and integer arrays to a `Source`, selection of columns, and checks of weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log2
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError, first_few, hint
from dagneal.base.kernels import Ints, kernel_with_arrays
from dagneal.data.columns import check_states
from dagneal.data.datafile import Source
from dagneal.data.dataset import DENSE, check_total, digits

if TYPE_CHECKING:
    import polars


MAX_COLUMNS = 10_000  # computations for all pairs of 10,000 columns take about 5 GB and a few minutes


def select_columns(
    where: str, names: Sequence[str], weights: str | None, columns: Sequence[str] | None, drop: Sequence[str]
) -> list[str]:
    """Return the names in `columns` (all columns by default), except the columns in `drop` and the weights column."""
    excluded = {*drop, weights}
    check_names(where, names, [*(columns or []), *drop, *([weights] if weights is not None else [])])
    chosen = [name for name in (names if columns is None else columns) if name not in excluded]
    if len(chosen) > MAX_COLUMNS:
        raise InputError(
            f"{where}: {len(chosen):,} columns are too many (limit: {MAX_COLUMNS:,}); select fewer with columns=[...]"
        )
    name, count = Counter(chosen).most_common(1)[0] if chosen else ("", 0)
    if count > 1:
        problem = (
            f"two columns are named {name!r}; rename one"
            if columns is None
            else f"the column {name!r} is selected twice; select it once"
        )
        raise InputError(f"{where}: {problem}")
    if len(chosen) < 2:
        raise InputError(f"{where}: a network needs at least 2 columns; only {len(chosen)} can be used, so add columns")
    return chosen


def check_names(where: str, names: Sequence[str], given: Sequence[str]) -> None:
    """Raise an error if a table lacks a column.

    Args:
        where: name of the source, for errors.
        names: column names of the table.
        given: names that an option mentions.
    """
    available = set(names)
    for name in given:
        if name not in available:
            listed = first_few([repr(n) for n in names])
            raise InputError(f"{where}: there is no column {name!r}; the columns are {listed}{hint(name, names)}")


def parse_weights(where: str, name: str, values: NDArray[np.float64], written: Any) -> Ints:
    """Return weights as integers. Raise an error if a weight is not a whole number of at least 0.

    Args:
        where: name of the source, for errors.
        name: name of the weights column, for errors.
        values: weights as floats; NaN if the original value is not a number.
        written: original values, for errors.
    """
    for bad, problem in (
        (~np.isfinite(values), "is not a number"),
        (values < 0, "is negative"),
        (values != np.floor(values), "is not a whole number"),
    ):
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(
                f"{where}: the weight in row {row + 1:,} of column {name!r} {problem} ({written[row]}); "
                "weights must be whole numbers of at least 0"
            )
    check_total(float(values.sum()))
    return values.astype(np.int64)


def pandas_source(frame: Any, columns: Sequence[str] | None, drop: Sequence[str], weights: str | None) -> Source:
    """Convert a pandas data frame to a `Source`.

    Only the columns that are needed are converted. The other columns may hold any objects.

    Args:
        frame: pandas data frame.
        columns: columns to learn from; all by default.
        drop: columns to leave out.
        weights: name of the weights column, if any.
    """
    import polars as pl

    where = "the frame"
    names = [str(name) for name in frame.columns]
    needed = {weights, *(names if columns is None else columns)} - {*drop} | {weights}
    parts = [_to_series(where, name, frame.iloc[:, at]).alias(str(at)) for at, name in enumerate(names) if name in needed]
    return Source(where, names, (pl.DataFrame(parts).lazy(),))


def _to_series(where: str, name: str, values: Any) -> polars.Series:
    """Convert a pandas column to a polars series.

    Numbers and booleans stay unchanged. A categorical column gets the polars type `Enum`. All other values become text.
    """
    import polars as pl

    kind = getattr(values.dtype, "kind", "O")
    if kind in "iufb" and isinstance(values.dtype, np.dtype):
        return _numeric_series(values.to_numpy())
    if kind in "iufb":  # nullable, sparse or Arrow types
        missing = values.isna().to_numpy(dtype=bool)
        filled = values.to_numpy(dtype={"i": np.int64, "u": np.uint64, "f": np.float64, "b": np.bool_}[kind], na_value=0)
        return _numeric_series(filled).set(pl.Series(missing), None)
    categories = getattr(values.dtype, "categories", None)
    if categories is not None:
        codes, distinct = values.cat.codes.to_numpy(), categories
    else:
        try:
            codes, distinct = values.factorize()
        except TypeError as error:
            raise InputError(
                f"{where}: column {name!r} holds lists or other nested values; drop it with drop=[{name!r}]"
            ) from error
    labels = [str(label) for label in distinct]
    if categories is not None:
        check_states(where, name, len(labels))
        if len(set(labels)) < len(labels):
            raise InputError(f"{where}: two categories of column {name!r} have the same text; rename one")
    try:
        states = pl.Series(labels, dtype=pl.String if categories is None else pl.Enum(labels))
    except (UnicodeError, pl.exceptions.PolarsError) as error:
        raise InputError(
            f"{where}: column {name!r} holds text that is not valid Unicode; drop it with drop=[{name!r}]"
        ) from error
    places = pl.Series(np.asarray(codes, dtype=np.int64))
    return states.gather(places.set(places < 0, None).cast(pl.UInt32))


def _numeric_series(values: NDArray[Any]) -> polars.Series:
    """Convert an array of numbers or booleans to a polars series. The array may have any item size and byte order."""
    import polars as pl

    kind = np.dtype(np.float32) if values.dtype == np.float16 else values.dtype.newbyteorder("=")
    if kind.kind == "f" and kind.itemsize > 8:
        kind = np.dtype(np.float64)
    return pl.Series(np.ascontiguousarray(values, dtype=kind))


def array_source(
    array: NDArray[Any], names: Sequence[str] | None, columns: Sequence[str] | None, drop: Sequence[str], merge: bool
) -> Source:
    """Convert an integer array to a `Source`.

    Args:
        array: array of integers or booleans, shape (rows, columns).
        names: column names; `X1`, `X2` and so on by default.
        columns: columns to learn from; all by default.
        drop: columns to leave out.
        merge: True to merge equal rows. Rows are not merged if there are too many possible combinations of values.
    """
    import polars as pl

    where = "the array"
    if array.ndim != 2:
        raise InputError(f"the array is {array.ndim}-dimensional; give an array of shape (rows, columns)")
    if array.dtype.kind not in "iub":
        raise InputError(f"the array holds {array.dtype} values; give integers, or give a data frame and bin its columns")
    if names is None:
        names = [f"X{i + 1}" for i in range(array.shape[1])]
    if len(names) != array.shape[1]:
        raise InputError(
            f"names has length {len(names)}, but the array has {array.shape[1]} columns; give one name per column"
        )
    names = [str(name) for name in names]
    if not array.shape[1]:
        raise InputError(f"{where}: a network needs at least 2 columns; this table has 0")
    if not len(array):
        raise InputError("the array has no rows")
    if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
        raise InputError("the array holds numbers of 2^63 or more; use smaller numbers")
    boolean = array.dtype == np.bool_
    counts = None
    places = list(range(len(names)))
    if merge:
        chosen = set(select_columns(where, names, None, columns, drop))
        places = [at for at, name in enumerate(names) if name in chosen]
        array, counts = _merge_array(array if len(places) == len(names) else array[:, places])
    series = [_numeric_series(line.astype(np.bool_) if boolean else line) for line in array.T]
    parts = [values.alias(str(at)) for at, values in zip(places, series, strict=True)]
    if counts is not None:
        parts.append(pl.Series("count", counts))
    return Source(where, names, (pl.DataFrame(parts).lazy(),), merged=counts is not None)


def _merge_array(array: NDArray[Any]) -> tuple[NDArray[Any], Ints | None]:
    """Merge equal rows of an integer array. Return the tuple (distinct rows, counts).

    Each possible combination of values has a counter. If there are too many combinations, return (all rows, None).
    """
    if array.dtype not in (np.uint8, np.int64):  # the kernels are compiled for these two types
        array = array.astype(np.uint8 if array.dtype == np.bool_ else np.int64)
    array = np.ascontiguousarray(array)
    low, high = column_ranges(array)
    spans = [int(last) - int(first) + 1 for first, last in zip(low, high, strict=True)]
    if sum(map(log2, spans)) > log2(DENSE) + 1e-9:
        return array, None
    counts = np.bincount(row_keys(array, low, np.array(spans, dtype=np.int64)))
    present = np.flatnonzero(counts)
    return digits(present, spans).T + low, counts[present]


@kernel_with_arrays
def column_ranges(array: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return two arrays: the smallest and the largest number in each column of an integer array."""
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


@kernel_with_arrays
def row_keys(array: NDArray[Any], low: Ints, spans: Ints) -> Ints:
    """Return one integer (key) for each row of an integer array. Rows have the same key if and only if they are equal.

    The key is a mixed-radix number. Column `i` gives the digit `value - low[i]`, which has the radix `spans[i]`.
    """
    keys = np.empty(array.shape[0], dtype=np.int64)
    for row in range(array.shape[0]):
        key = np.int64(0)
        for column in range(array.shape[1]):
            key = key * spans[column] + (np.int64(array[row, column]) - low[column])
        keys[row] = key
    return keys
