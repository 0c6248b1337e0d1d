"""Reading: files and frames and arrays become a Dataset, bad ones get one clear line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from dagneal.base.defaults import MERGE, MISSING, RARE
from dagneal.base.errors import InputError, short
from dagneal.data import datafile
from dagneal.data.arrays import array_source, pandas_source
from dagneal.data.columns import merge_rare, to_dataset
from dagneal.data.dataset import Dataset
from dagneal.data.discretize import Bins, bins_of
from dagneal.data.frames import SAMPLE, different_share, merge_frame, prepare_frame, worth_merging
from dagneal.data.missing import Missing, handle_missing


@runtime_checkable
class HasStates(Protocol):
    """Something that declares the states of variables, such as a `BayesianNetwork`."""

    @property
    def states(self) -> Mapping[str, Sequence[str]]:
        """The states of each variable, in order."""
        ...


def read(
    source: Any,
    *,
    names: Sequence[str] | None = None,
    weights: str | None = None,
    columns: Sequence[str] | None = None,
    states: Mapping[str, Sequence[Any]] | HasStates | None = None,
    missing: Missing = MISSING,
    bins: str | Bins | Mapping[str, str | Bins] | None = None,
    rare: float = RARE,
    drop: Sequence[str] = (),
    merge: Literal["auto", "yes", "no"] = MERGE,
) -> Dataset:
    """Read discrete data from files, a frame or an array.

    Args:
        source: path of a CSV, TSV or Parquet file, of a folder of them or a pattern such as `rows/*.parquet`, a pandas or
            polars frame, or an integer array (rows, columns).
        names: the columns of an array; `X1`, `X2` and so on by default.
        weights: a column that says how often each row counts; rows of weight 0 are as good as absent.
        columns: read only these, in this order.
        states: all states of some columns, in order, also those that no row shows; a network gives those of its
            variables. Other columns have the states seen, sorted, numbers as numbers; a categorical keeps its own.
        missing: what to do with missing values: `"refuse"`, `"drop"` the row, or make them a `"state"` of their own.
        bins: cut numbers into a few states: `"quantile:4"`, `"uniform:5"` or `"kmeans:3"` for all columns with more than 12
            different numbers, or by column, `{"age": "at:18,65"}`. Declared states that are named by cuts are found in
            numbers.
        rare: merge the states of a column that fewer rows show than this share of them.
        drop: leave these columns out.
        merge: whether equal rows are merged. `"auto"` decides by a sample where there are many rows: rows that mostly differ
            are kept one by one, as bits.

    Returns:
        The data, with one weight per distinct row.

    >>> import numpy as np
    >>> read(np.array([[0, 1], [0, 1], [1, 0]]), names=["rain", "wet"])
    Dataset(2 columns, 3 rows, 2 distinct)
    """
    _check_choices(source, names, missing, merge)
    _check_types(weights, columns, drop, states, rare)
    options = _Options(weights, columns, states, missing, _implied_bins(states) | bins_of(bins), rare, drop, merge)
    if isinstance(source, str | os.PathLike):
        with (
            ExitStack() as temporary,
            datafile.regular_files(source) as paths,
            datafile.diagnose(paths, str(source)),
        ):
            return options.to_dataset(datafile.scan(paths, str(source), options.mentioned, temporary))
    with datafile.diagnose((), "the array" if isinstance(source, np.ndarray) else "the frame"):
        given = _source_in_memory(source, names, options)
        return options.to_dataset(datafile.drop_row_numbers([given], options.mentioned)[0])


@dataclass(frozen=True)
class _Options:
    """The options of `read`, with all bins by column."""

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
        """The columns whose states are declared."""
        given = _states_of(self.states)
        return set(given) if isinstance(given, Mapping) else set()

    @property
    def mentioned(self) -> set[str]:
        """The columns that any option names; these are never taken for row numbers."""
        weights = [] if self.weights is None else [self.weights]
        return {*(self.columns or ()), *self.drop, *self.bins, *self.declared, *weights}

    def to_dataset(self, given: datafile.Source) -> Dataset:
        """Return the data of a source; rows that mostly differ are kept one by one."""
        ready = prepare_frame(given, self.weights, self.columns, self.drop, self.bins, self.declared)
        declared = _declared_states(self.states, given.where, list(ready.chosen))
        share = different_share(ready) if self.merge == "auto" and not ready.weighted else None
        if ready.weighted and self.merge == "no":
            raise InputError("rows with weights are merged; leave merge='no' out")
        told = "" if share is None else f"{share:.0%} of a sample of {SAMPLE:,} rows differ"
        if self.merge == "no" or not (share is None or worth_merging(share)):
            notes = (f"rows kept one by one, since {told}",) if told else ()
            from dagneal.data.streaming import pack_rows

            return pack_rows(replace(ready, notes=(*ready.notes, *notes)), self.missing, declared, self.rare)
        notes = (f"equal rows merged; {told}",) if told else ()
        raw = merge_frame(replace(ready, notes=(*ready.notes, *notes)))
        complete = handle_missing(raw, self.missing, declared, self.rare)
        return to_dataset(merge_rare(complete, self.rare, declared), declared)


def _source_in_memory(source: Any, names: Sequence[str] | None, options: _Options) -> datafile.Source:
    """Return a frame or an array as a source."""
    package = type(source).__module__.split(".")[0]
    if package == "polars" and hasattr(source, "lazy"):
        return datafile.from_frame(source.lazy())
    if isinstance(source, np.ndarray):
        if any(not how.implied for how in options.bins.values()):
            raise InputError("arrays hold integers, which are not cut; give a frame")
        merge = options.merge != "no" and options.weights is None
        return array_source(source, names, options.columns, options.drop, merge=merge)
    if package == "pandas" and hasattr(source, "columns"):
        return pandas_source(source, options.columns, options.drop, options.weights)
    raise InputError(
        f"cannot read data from {type(source).__name__}; give a path, a pandas or polars frame or a NumPy array"
    )


def _check_choices(source: Any, names: Any, missing: Any, merge: Any) -> None:
    """Refuse unknown choices, and options that do not fit the source."""
    if missing not in ("refuse", "drop", "state"):
        raise InputError(f"missing={missing!r} is unknown; give 'refuse', 'drop' or 'state'")
    if names is not None and not isinstance(source, np.ndarray):
        raise InputError("names are for arrays; files and frames have their own")
    if merge not in ("auto", "yes", "no"):
        raise InputError(f"merge={merge!r} is unknown; give 'auto', 'yes' or 'no'")
    if isinstance(source, np.ma.MaskedArray):
        raise InputError("masked arrays are not read; give a frame with missing values")


def _check_types(weights: Any, columns: Any, drop: Any, states: Any, rare: Any) -> None:
    """Refuse options of a type that cannot be used."""
    if weights is not None and not isinstance(weights, str):
        raise InputError(f"weights is {short(weights)}; give the name of a column")
    for name, value in (("columns", columns), ("drop", drop)):
        listed = isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(each, str) for each in value)
        if value is not None and not listed:
            raise InputError(f"{name} is {short(value)}; give a list of names of columns")
    if isinstance(rare, bool) or not isinstance(rare, Real):
        raise InputError(f"rare is {short(rare)}; give a share of the rows from 0 to below 1, such as 0.01")
    for name, its in states.items() if isinstance(states, Mapping) else ():
        if isinstance(its, str) or not isinstance(its, Iterable):
            raise InputError(f"the states of {name!r} are {short(its)}; give a list of states")


def _implied_bins(states: Any) -> dict[str, Bins]:
    """The cuts that declared states tell by their names."""
    given = _states_of(states)
    found = {name: Bins.of_states(its) for name, its in given.items()} if isinstance(given, Mapping) else {}
    return {str(name): how for name, how in found.items() if how is not None}


def _states_of(states: Any) -> Any:
    """Return the states as they were given, or those of a network."""
    return states.states if isinstance(states, HasStates) else states


def _declared_states(states: Any, where: str, names: Sequence[str]) -> dict[str, list[str]]:
    """Declared states by column; a network declares those of its variables, and may have more of them than the data."""
    if isinstance(states, HasStates):
        if not set(states.states) & set(names):
            raise InputError(f"{where}: none of the columns is a variable of the network that should give their states")
        return {name: list(its_states) for name, its_states in states.states.items()}
    if not isinstance(states, Mapping | None):
        raise InputError(f"states is {type(states).__name__}; give a mapping from columns to states, or a network")
    there = set(names)
    for name in states or {}:
        if name not in there:
            raise InputError(f"{where}: states are declared for {name!r}, which is not a column")
    return {name: [str(state) for state in its_states] for name, its_states in (states or {}).items()}
