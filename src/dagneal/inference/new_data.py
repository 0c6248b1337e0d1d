"""Read new rows with the states of a network. Rows keep their order, and unknown values have the code -1.

This is the only place where new data are prepared for a network: columns are matched by name and values by state, and
numbers are binned if the states are intervals.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Literal

import numpy as np

from dagneal.base.errors import InputError, first_few, hint
from dagneal.data import datafile
from dagneal.data.dataset import MISSING_STATE, OTHER_STATE, Dataset, spell_booleans
from dagneal.data.reading import read
from dagneal.inference.elimination import UNKNOWN, Codes
from dagneal.networks.network import BayesianNetwork

Unseen = Literal["refuse", "missing"]


def read_codes(network: BayesianNetwork, data: Any, unseen: Unseen = "refuse", optional: Sequence[str] = ()) -> Codes:
    """Return the rows of data as codes of shape (variables, rows); -1 for unknown values.

    Args:
        network: network whose states the codes refer to.
        data: a file, a frame, an array with the columns in the order of the variables, or a `Dataset`.
        unseen: `"refuse"` raises an error for values that are not states and for absent columns; `"missing"` treats them as
            unknown.
        optional: variables that may be absent.
    """
    if unseen not in ("refuse", "missing"):
        raise InputError(f"unseen is {unseen!r}; give 'refuse' or 'missing'")
    if not isinstance(data, str | os.PathLike):
        return _match(network, data, unseen, optional)
    with datafile.regular_files(data) as paths:  # standard input and pipes are copied, because they are read twice
        return _match(network, paths[0] if len(paths) == 1 else data, unseen, optional)


def _match(network: BayesianNetwork, data: Any, unseen: Unseen, optional: Sequence[str]) -> Codes:
    """Return the rows of data as codes; see `read_codes`."""
    present = [name for name in network.names if name in set(_column_names(network, data))]
    absent = [name for name in network.names if name not in present and name not in optional]
    if not present or (absent and unseen == "refuse"):
        what = f"there is no column {absent[0]!r}" if present else "no column is a variable of the network"
        close = hint(absent[0], _column_names(network, data)) if absent else ""
        more = f" (and {len(absent) - 1} more are absent)" if len(absent) > 1 else ""
        raise InputError(f"{_title(data)}: {what}{more}{close}; add it, or treat it as unknown with unseen='missing'")
    try:
        table = data if isinstance(data, Dataset) else _read(network, data, present, unseen, optional)
    except InputError as error:
        problem, unknown, _ = str(error).partition("; declare it, or correct the data")
        advice = "; correct the data, or treat such values as unknown with unseen='missing'"
        raise InputError(problem + (advice if unknown else "")) from error
    codes = np.full((len(network.names), len(table.weights)), UNKNOWN, dtype=np.int32)
    place = {name: at for at, name in enumerate(table.names)}
    for at, name in enumerate(network.names):
        if name in present:
            translation = _translation(network.states[name], table.states[place[name]], name, unseen, name in optional)
            codes[at] = translation[np.asarray(table.codes[place[name]])]
    return codes


def _column_names(network: BayesianNetwork, data: Any) -> list[str]:
    """Return the names of the columns of data."""
    if isinstance(data, Dataset):
        return list(data.names)
    if isinstance(data, np.ndarray):
        return list(network.names)
    if isinstance(data, str | os.PathLike):
        with (
            ExitStack() as temporary,
            datafile.regular_files(data) as paths,
            datafile.diagnose(paths, str(data)),
        ):
            return list(datafile.scan(paths, str(data), network.names, temporary).names)
    if hasattr(data, "lazy"):  # polars
        return list(data.lazy().collect_schema().names())
    return list(map(str, getattr(data, "columns", ())))


def _title(data: Any) -> str:
    """Return the name of data for error messages."""
    return str(data) if isinstance(data, str | os.PathLike) else "the data"


def _read(network: BayesianNetwork, data: Any, present: Sequence[str], unseen: Unseen, optional: Sequence[str]) -> Dataset:
    """Read the columns that are present. Values that are not states become `(other)` where they may be unknown."""
    states = {}
    for name in present:
        labels = _stripped(network.states[name])
        other = (unseen == "missing" or name in optional) and OTHER_STATE not in labels
        states[name] = [*labels, *([OTHER_STATE] if other else [])]
    if isinstance(data, np.ndarray):
        return read(data, names=list(network.names), states=states, missing="state", merge="no")
    if len(present) == 1:
        data, padding = _add_column(data, present[0])
        return read(data, columns=[*present, padding], states=states, missing="state", merge="no")
    return read(data, columns=list(present), states=states, missing="state", merge="no")


def _stripped(states: Sequence[str]) -> Sequence[str]:
    """Return states without spaces around them, as `read` removes them from values. If states would be equal, keep them."""
    labels = [state.strip() for state in states]
    return labels if len(set(labels)) == len(labels) else states


def _add_column(data: Any, name: str) -> tuple[Any, str]:
    """Return a frame with the given column and a constant column, because `read` needs two columns; also its name."""
    import polars

    padding = "constant" if name != "constant" else "padding"
    if isinstance(data, str | os.PathLike):
        with (
            ExitStack() as temporary,
            datafile.regular_files(data) as paths,
            datafile.diagnose(paths, str(data)),
        ):
            source = datafile.scan(paths, str(data), [name], temporary)
            column = source.frame.select(str(source.names.index(name))).collect().to_series().alias(name)
        frame: Any = polars.DataFrame([column])
    else:
        frame = data.select(name) if hasattr(data, "lazy") else data[[name]]
    if hasattr(frame, "assign"):  # pandas
        return frame.assign(**{padding: "0"}), padding
    return frame.with_columns(polars.lit("0").alias(padding)), padding


def _translation(
    own: Sequence[str], given: Sequence[str], name: str, unseen: Unseen, optional: bool
) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return the code of each given state among the own states of a variable; -1 for unknown values."""
    place = {state: code for code, state in enumerate(_stripped(own))} | {state: code for code, state in enumerate(own)}
    spelling = {state: code for code, state in enumerate(spell_booleans(own))}
    codes, strange = [], []
    for state, spelt in zip(given, spell_booleans(given), strict=True):
        code = place.get(state, spelling.get(spelt))
        if code is None and state not in (MISSING_STATE, OTHER_STATE):
            strange.append(state)
        codes.append(UNKNOWN if code is None else code)
    if strange and unseen == "refuse" and not optional:
        states = first_few([repr(state) for state in own])
        raise InputError(
            f"the data have the state {strange[0]!r} of {name!r}, but the network has only {states}; correct the data, or "
            "treat it as unknown with unseen='missing'"
        )
    return np.array(codes, dtype=np.int32)
