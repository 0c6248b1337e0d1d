"""`read`: the function that reads files, data frames and arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from dagneal.base.defaults import MERGE, MISSING, RARE
from dagneal.base.errors import InputError, first_few, hint, short_repr
from dagneal.data import datafile
from dagneal.data.arrays import array_source, pandas_source
from dagneal.data.codefile import read_codes
from dagneal.data.columns import merge_rare, to_dataset
from dagneal.data.dataset import Dataset
from dagneal.data.discretize import Bins, parse_bins
from dagneal.data.frames import SAMPLE, distinct_share, merge_frame, prepare_frame, worth_merging
from dagneal.data.missing import MISSING_CHOICES, Missing, handle_missing


@runtime_checkable
class HasStates(Protocol):
    """An object with the attribute `states`, such as a `BayesianNetwork`."""

    @property
    def states(self) -> Mapping[str, Sequence[str]]:
        """Mapping from each variable to its ordered states."""
        ...


def read(
    source: Any,
    *,
    names: Sequence[str] | Literal["index"] | None = None,
    weights: str | None = None,
    columns: Sequence[str] | None = None,
    states: Mapping[str, Sequence[Any]] | HasStates | None = None,
    missing: Missing = MISSING,
    bins: str | Bins | Mapping[str, str | Bins] | None = None,
    rare: float = RARE,
    drop: Sequence[str] = (),
    merge: Literal["auto", "yes", "no"] = MERGE,
) -> Dataset:
    """Read discrete data from files, a data frame or an array.

    Args:
        source: path of a CSV, TSV or Parquet file or of a folder of such files, pattern such as `rows/*.parquet`, pandas or
            polars data frame, or integer array of shape (rows, columns).
        names: column names of an array; `X1`, `X2` and so on by default. Also the column names of a text file of integers
            without a header, or `"index"` to name its columns `0`, `1`, `2` and so on. Commas, spaces or tabs separate the
            values. A .dat file of GOBNILP or BLIP may start with a line of names and a line of numbers of states; with
            `"index"`, its columns keep their names.
        weights: name of a column with the number of times each row counts; rows of weight 0 are ignored.
        columns: columns to read, in this order; all by default.
        states: mapping from column names to ordered lists of states, or a network that has states for the columns. The
            lists may include states that do not occur. The states of a column without a list are its categories if it is
            categorical, else the sorted values that occur.
        missing: treatment of missing values. `"refuse"` raises an error, `"drop"` drops rows with missing values,
            `"state"` turns missing values into the state `(missing)`, and `"em"` keeps them as unknown values: `learn` then
            uses structural EM.
        bins: method that divides numbers into a few states: `"quantile:4"`, `"uniform:5"` or `"kmeans:3"` for all columns
            with more than 12 distinct numbers, or a mapping from column names to methods, such as `{"age": "at:18,65"}`. If
            the states that `states` lists for a column are intervals, such as `below 18`, its numbers are binned into these
            intervals.
        rare: fraction of rows below which a state is rare. The rare states of a column are merged into the state `(other)`.
        drop: columns to leave out.
        merge: whether to merge equal rows: `"yes"`, `"no"` or `"auto"`. With `"auto"`, equal rows are merged unless most
            rows of a sample are distinct. Rows that are not merged are stored with a few bits per value.

    Returns:
        The data, with one weight per distinct row.

    >>> import numpy as np
    >>> read(np.array([[0, 1], [0, 1], [1, 0]]), names=["rain", "wet"])
    Dataset(2 columns, 3 rows (2 distinct))
    """
    _check_choices(source, names, missing, merge)
    check_types(weights, columns, drop, states, rare)
    options = _Options(weights, columns, states, missing, _implied_bins(states) | parse_bins(bins), rare, drop, merge)
    if isinstance(source, str | os.PathLike):
        with (
            ExitStack() as temporary,
            datafile.regular_files(source) as paths,
            datafile.diagnose(paths, str(source)),
        ):
            if names is not None:
                return options.to_dataset(datafile.join_sources([read_codes(path, names) for path in paths], str(source)))
            return options.to_dataset(datafile.scan(paths, str(source), options.mentioned, temporary))
    with datafile.diagnose((), "the array" if isinstance(source, np.ndarray) else "the frame"):
        table = _source_in_memory(source, names, options)
        return options.to_dataset(datafile.drop_row_numbers([table], options.mentioned)[0])


@dataclass(frozen=True)
class _Options:
    """The options of `read`. `bins` maps column names to binning methods."""

    weights: str | None
    columns: Sequence[str] | None
    states: Any
    missing: Missing
    bins: Mapping[str, Bins]
    rare: float
    drop: Sequence[str]
    merge: str

    @property
    def declared(self) -> set[str]:
        """The names of the columns with declared states."""
        given = states_of(self.states)
        return set(given) if isinstance(given, Mapping) else set()

    @property
    def mentioned(self) -> set[str]:
        """The names of all columns that occur in an option. These columns are never dropped as row numbers."""
        weights = [] if self.weights is None else [self.weights]
        return {*(self.columns or ()), *self.drop, *self.bins, *self.declared, *weights}

    def to_dataset(self, source: datafile.Source) -> Dataset:
        """Read a source into a dataset, with these options."""
        data = self._read(source)
        return replace(data, incomplete=True) if self.missing == "em" else data

    def _read(self, source: datafile.Source) -> Dataset:
        """Read a source into a dataset. Unknown values become the state `(missing)`."""
        ready = prepare_frame(source, self.weights, self.columns, self.drop, self.bins, self.declared)
        declared = declared_states(self.states, source.where, list(ready.chosen))
        share = distinct_share(ready) if self.merge == "auto" and not ready.weighted else None
        if ready.weighted and self.merge == "no":
            raise InputError(
                "merge='no' cannot be used with weights, because weighted rows are always merged; use merge='yes'"
            )
        reason = "" if share is None else f"{share:.0%} of a sample of {SAMPLE:,} rows are distinct"
        if self.merge == "no" or not (share is None or worth_merging(share)):
            notes = (f"equal rows were not merged, because {reason}",) if reason else ()
            from dagneal.data.streaming import pack_rows

            return pack_rows(replace(ready, notes=(*ready.notes, *notes)), self.missing, declared, self.rare)
        notes = (f"equal rows were merged, because only {reason}",) if reason else ()
        raw = merge_frame(replace(ready, notes=(*ready.notes, *notes)))
        complete = handle_missing(raw, self.missing, declared, self.rare)
        return to_dataset(merge_rare(complete, self.rare, declared), declared)


def _source_in_memory(source: Any, names: Sequence[str] | None, options: _Options) -> datafile.Source:
    """Convert a data frame or an array to a `Source`."""
    package = type(source).__module__.split(".")[0]
    if package == "polars" and hasattr(source, "lazy"):
        return datafile.from_frame(source.lazy())
    if isinstance(source, np.ndarray):
        if any(not method.implied for method in options.bins.values()):
            raise InputError("bins cannot be used with an array; give a data frame")
        merge = options.merge != "no" and options.weights is None
        return array_source(source, names, options.columns, options.drop, merge=merge)
    if package == "pandas" and hasattr(source, "columns"):
        return pandas_source(source, options.columns, options.drop, options.weights)
    raise InputError(
        f"cannot read data from {type(source).__name__}; give a path, a pandas or polars data frame, or a NumPy array"
    )


def _check_choices(source: Any, names: Any, missing: Any, merge: Any) -> None:
    """Raise an error for unknown values of `missing` and `merge`, for unsuitable `names`, and for masked arrays."""
    if missing == "auto":
        raise InputError(
            "missing is 'auto', but read follows no rules; use prepare, or give 'refuse', 'drop', 'state' or 'em'"
        )
    if missing not in MISSING_CHOICES:
        raise InputError(f"missing is {missing!r}; give 'refuse', 'drop', 'state' or 'em'")
    if names is not None and not isinstance(source, np.ndarray | str | os.PathLike):
        raise InputError("names can only be given for an array or a file of integers; data frames have column names")
    if isinstance(names, str) and (names != "index" or isinstance(source, np.ndarray)):
        raise InputError(f"names is {names!r}; give a list of column names, or 'index' for a file of integers")
    if merge not in ("auto", "yes", "no"):
        raise InputError(f"merge is {merge!r}; give 'auto', 'yes' or 'no'")
    if isinstance(source, np.ma.MaskedArray):
        raise InputError("masked arrays are not supported; give a data frame with missing values")


def check_types(weights: Any, columns: Any, drop: Any, states: Any, rare: Any) -> None:
    """Raise an error if an option of `read` has a wrong type."""
    if weights is not None and not isinstance(weights, str):
        raise InputError(f"weights is {short_repr(weights)}; give a column name")
    for name, value in (("columns", columns), ("drop", drop)):
        valid = isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(item, str) for item in value)
        if value is not None and not valid:
            raise InputError(f"{name} is {short_repr(value)}; give a list of column names")
    if isinstance(rare, bool) or not isinstance(rare, Real):
        raise InputError(f"rare is {short_repr(rare)}; give a fraction of rows: at least 0 and less than 1, such as 0.01")
    for name, labels in states.items() if isinstance(states, Mapping) else ():
        if isinstance(labels, str) or not isinstance(labels, Iterable):
            raise InputError(f"states[{name!r}] is {short_repr(labels)}; give a list of states")


def _implied_bins(states: Any) -> dict[str, Bins]:
    """Return the binning methods of the columns whose declared states are intervals, such as `below 18`."""
    given = states_of(states)
    bins = {name: Bins.from_states(labels) for name, labels in given.items()} if isinstance(given, Mapping) else {}
    return {str(name): method for name, method in bins.items() if method is not None}


def states_of(states: Any) -> Any:
    """Return the states of a network. If `states` is not a network, return it unchanged."""
    return states.states if isinstance(states, HasStates) else states


def declared_states(states: Any, where: str, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the declared states of each column. Raise an error if they do not fit the selected columns (`names`).

    A mapping must contain only selected columns. A network may have other variables too.
    """
    if isinstance(states, HasStates):
        if not set(states.states) & set(names):
            raise InputError(f"{where}: no column is a variable of the network given with states=...")
        return {name: list(labels) for name, labels in states.states.items()}
    if not isinstance(states, Mapping | None):
        raise InputError(
            f"states is of type {type(states).__name__}; give a dict from column names to lists of states, or a network"
        )
    available = set(names)
    for name in states or {}:
        if name not in available:
            columns = first_few([repr(column) for column in names])
            raise InputError(
                f"{where}: there are states for {name!r}, but the selected columns are {columns}{hint(str(name), names)}"
            )
    return {name: [str(label) for label in labels] for name, labels in (states or {}).items()}
