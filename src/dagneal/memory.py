"""Data in memory: pandas frames and arrays of integers, and what all sources have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagneal.binning import binned_column, measured
from dagneal.columns import Column, Raw, check_states, in_memory, some
from dagneal.data import DENSE, check_total, digits
from dagneal.discretize import EVERY, Bins, check_columns
from dagneal.errors import InputError

if TYPE_CHECKING:
    from dagneal.kernels import Ints


def selected(
    where: str, names: Sequence[str], weights: str | None, columns: Sequence[str] | None, drop: Sequence[str]
) -> list[str]:
    """The columns to learn from: those chosen, without the weights and those left out."""
    for wanted in [*(columns or []), *drop, *([weights] if weights is not None else [])]:
        if wanted not in names:
            raise InputError(f"{where}: there is no column {wanted!r}; there are {some([repr(n) for n in names])}")
    chosen = [name for name in (names if columns is None else columns) if name != weights and name not in drop]
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


def pandas_frame(
    frame: Any, weights: str | None, columns: Sequence[str] | None, drop: Sequence[str], bins: Mapping[str, Bins]
) -> Raw:
    """A pandas frame; see `read`."""
    where = "the frame"
    names = [str(name) for name in frame.columns]
    position = {name: i for i, name in enumerate(names)}

    def column(name: str) -> Column:
        values = frame.iloc[:, position[name]]
        categories = getattr(values.dtype, "categories", None)
        if categories is not None:
            codes, labels = values.cat.codes.to_numpy(), categories
        else:
            try:
                codes, labels = values.factorize()
            except TypeError as error:
                raise InputError(f"{where}: column {name!r} does not hold single values; leave it out") from error
        check_states(where, name, len(labels))
        return Column(name, tuple(map(_label, labels)), np.asarray(codes, dtype=np.int64), categories is not None)

    chosen = selected(where, names, weights, columns, drop)
    check_columns(where, bins, chosen)
    counts = None
    if weights is not None:
        written = frame.iloc[:, position[weights]].tolist()
        counts = as_weights(where, weights, np.array([_number(value) for value in written]), written)
    parts, notes = [], []
    for name in chosen:
        values = frame.iloc[:, position[name]]
        how = bins.get(name, bins.get(EVERY))
        numeric = getattr(values.dtype, "kind", "O") in "iuf"
        if how is not None and name in bins and not (numeric or how.implied):
            raise InputError(f"{where}: column {name!r} cannot be cut: it holds {values.dtype}, not numbers")
        if how is not None and numeric:
            numbers = values.to_numpy(dtype=np.float64)
            different = np.unique(numbers[np.isfinite(numbers)])
            if name in bins or measured(different, len(numbers) if counts is None else int(counts.sum())):
                cut, note = binned_column(name, numbers, counts, how)
                parts.append(cut)
                notes.append(note)
                continue
        parts.append(column(name))
    return replace(in_memory(where, tuple(parts), counts), notes=tuple(notes))


def _label(value: Any) -> str:
    """A value as a state; truth values are spelled as in polars."""
    return str(value).lower() if isinstance(value, bool | np.bool_) else str(value)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


def integer_array(
    array: NDArray[Any],
    names: Sequence[str] | None,
    weights: str | None,
    columns: Sequence[str] | None,
    drop: Sequence[str],
    bins: Mapping[str, Bins],
) -> Raw:
    """An array of integers; see `read`."""
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
    chosen = selected(where, names, weights, columns, drop)
    check_columns(where, bins, chosen)
    if any(not how.implied for how in bins.values()):
        raise InputError("arrays hold integers, which are not cut; give a frame")
    if not len(array):
        raise InputError("the array has no rows")
    counts = None
    if weights is not None:
        written = array[:, names.index(weights)]
        counts = as_weights(where, weights, written.astype(np.float64), written)
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
    from dagneal.rowwise import column_ranges, row_keys

    if array.dtype not in (np.uint8, np.int64):  # the two types that the kernels are compiled for
        if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
            raise InputError("the array holds numbers above 2^63; use smaller codes")
        array = array.astype(np.uint8 if array.dtype == np.bool_ else np.int64)
    array = np.ascontiguousarray(array)
    low, high = column_ranges(array)
    spans = [int(last) - int(first) + 1 for first, last in zip(low, high, strict=True)]
    if np.prod([float(s) for s in spans]) > DENSE:
        return array, None
    counts = np.bincount(row_keys(array, low, np.array(spans, dtype=np.int64)))
    present = np.flatnonzero(counts)
    return digits(present, spans).T + low, counts[present]
