"""Read new rows with the states of a network. Rows keep their order, and unknown values have the code -1.

This is the only place where new data are prepared for a network. If the network was learned from a raw table, its recipe
prepares the new rows like the training data. Columns without a recipe are matched by name and values by state, and numbers
are binned if the states are intervals. So rows that are already prepared can be read, too.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dagneal.base.errors import InputError, first_few, hint, short_repr
from dagneal.base.text import plural
from dagneal.data import datafile
from dagneal.data.dataset import MISSING_STATE, OTHER_STATE, Dataset, spell_booleans
from dagneal.data.raw.prepare import NewRows, encode_new
from dagneal.data.reading import read
from dagneal.data.recipe import Recipe
from dagneal.inference.elimination import UNKNOWN, Codes
from dagneal.networks.network import BayesianNetwork

if TYPE_CHECKING:
    import polars

Unseen = Literal["refuse", "missing"]


def read_codes(
    network: BayesianNetwork,
    data: Any,
    unseen: Unseen = "refuse",
    optional: Sequence[str] = (),
    gaps_unknown: bool = False,
) -> Codes:
    """Return the rows of data as codes of shape (variables, rows); -1 for unknown values.

    A missing value has the state `(missing)`, if its variable has this state. Otherwise it is unknown.

    Args:
        network: network whose states the codes refer to.
        data: a file, a frame, an array with the columns in the order of the variables, or a `Dataset`.
        unseen: `"refuse"` raises an error for values that are not states and for absent columns; `"missing"` treats them as
            unknown.
        optional: variables that may be absent.
        gaps_unknown: True to treat missing values as unknown even if their variable has the state `(missing)`.
    """
    if unseen not in ("refuse", "missing"):
        raise InputError(f"unseen is {unseen!r}; give 'refuse' or 'missing'")
    if isinstance(data, str | os.PathLike):
        with datafile.regular_files(data) as paths:  # standard input and pipes are copied, because they are read twice
            codes = _match(network, paths[0] if len(paths) == 1 else data, unseen, optional, _title(data))
    else:
        codes = _match(network, data, unseen, optional, _title(data))
    if gaps_unknown:
        for at, code in missing_states(network).items():
            codes[at, codes[at] == code] = UNKNOWN
    return codes


def missing_states(network: BayesianNetwork) -> dict[int, int]:
    """Return the index of the state `(missing)` of each variable that has it besides others, by the index of the variable.

    Args:
        network: the network.
    """
    labels = map(_strip_spaces, network.states.values())
    return {at: own.index(MISSING_STATE) for at, own in enumerate(labels) if MISSING_STATE in own and len(own) > 1}


def _match(network: BayesianNetwork, data: Any, unseen: Unseen, optional: Sequence[str], title: str) -> Codes:
    """Return the rows of data as codes; see `read_codes`."""
    prepared = _prepare(network, data)
    columns = _column_names(network, data) if prepared is None else prepared.names
    raw: Mapping[str, polars.Series] = {} if prepared is None else prepared.states
    plain = [name for name in network.names if name not in raw and name in set(columns)]
    _check_columns(network, [*raw, *plain], columns, unseen, optional, title)
    if prepared is None:
        return _match_states(network, data, plain, unseen, optional)
    codes: Codes = np.full((len(network.names), prepared.rows), UNKNOWN, dtype=np.int32)
    if plain:
        codes = _match_states(network, data, plain, unseen, optional)
    if codes.shape[1] != prepared.rows:
        raise InputError(f"{title}: {', '.join(map(repr, plain))} cannot be read; give the columns of the raw table")
    for name, states in raw.items():
        if unseen == "refuse" and name not in optional and name in prepared.unseen:
            column = _raw_columns(network)[name]
            raise _unseen_error(title, name, column, prepared.unseen[name], network.states[name])
        codes[network.names.index(name)] = _place_states(states, network.states[name])
    return codes


def _check_columns(
    network: BayesianNetwork,
    present: Collection[str],
    columns: Sequence[str],
    unseen: Unseen,
    optional: Sequence[str],
    title: str,
) -> None:
    """Raise an error if no variable is present, or if one is absent that may not be absent."""
    absent = [name for name in network.names if name not in present and name not in optional]
    if present and (not absent or unseen == "missing"):
        return
    source = _raw_columns(network)
    wanted = list(dict.fromkeys(source.get(name, name) for name in absent))
    what = f"there is no column {wanted[0]!r}" if present else "no column is a variable of the network"
    close = hint(wanted[0], columns) if wanted else ""
    more = f" (and {len(wanted) - 1} more are absent)" if len(wanted) > 1 else ""
    raise InputError(f"{title}: {what}{more}{close}; add it, or treat it as unknown with unseen='missing'")


def _prepare(network: BayesianNetwork, data: Any) -> NewRows | None:
    """Return the rows prepared with the recipe of a network; None without a recipe, or if there are no raw columns."""
    if network.recipe is None or isinstance(data, Dataset | np.ndarray):
        return None
    wanted = tuple(each for each in network.recipe.variables if each.name in network.states)
    prepared = encode_new(Recipe(wanted), data)
    return prepared if prepared.states else None


def _raw_columns(network: BayesianNetwork) -> dict[str, str]:
    """Return the name of the raw column of each variable that has a recipe."""
    return {} if network.recipe is None else {each.name: each.column for each in network.recipe.variables}


def _place_states(states: polars.Series, own: Sequence[str]) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return the code of each state among the states of a variable; -1 for null and for other states."""
    place = {state: code for code, state in enumerate(own)}
    import polars

    assert isinstance(states.dtype, polars.Enum)
    labels = states.dtype.categories.to_list()
    translation = np.array([*(place.get(label, UNKNOWN) for label in labels), UNKNOWN], dtype=np.int32)
    places = states.to_physical().cast(int).fill_null(len(labels)).to_numpy()
    codes: np.ndarray[Any, np.dtype[np.int32]] = translation[places]
    return codes


def _unseen_error(title: str, name: str, column: str, found: Sequence[tuple[str, int]], states: Sequence[str]) -> InputError:
    """Return the error for values that are not states."""
    values = ", ".join(f"{short_repr(value)} ({plural(count, 'row')})" for value, count in found[:3])
    more = f" and {plural(len(found) - 3, 'other value')}" if len(found) > 3 else ""
    known = first_few([repr(state) for state in states])
    which = f"the column {column!r}" if column == name else f"the column {column!r}, which becomes {name!r},"
    return InputError(
        f"{title}: {which} has values that are not states of the network: {values}{more}; its states are {known}; correct "
        "the data, or treat such values as unknown with unseen='missing'"
    )


def _match_states(
    network: BayesianNetwork, data: Any, present: Sequence[str], unseen: Unseen, optional: Sequence[str]
) -> Codes:
    """Return the rows of columns whose values are states; other variables are unknown."""
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
        labels = _strip_spaces(network.states[name])
        other = (unseen == "missing" or name in optional) and OTHER_STATE not in labels
        states[name] = [*labels, *([OTHER_STATE] if other else [])]
    if isinstance(data, np.ndarray):
        return read(data, names=list(network.names), states=states, missing="state", merge="no")
    if len(present) == 1:
        data, padding = _add_column(data, present[0])
        return read(data, columns=[*present, padding], states=states, missing="state", merge="no")
    return read(data, columns=list(present), states=states, missing="state", merge="no")


def _strip_spaces(states: Sequence[str]) -> Sequence[str]:
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
    place = {state: code for code, state in enumerate(_strip_spaces(own))} | {state: code for code, state in enumerate(own)}
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
