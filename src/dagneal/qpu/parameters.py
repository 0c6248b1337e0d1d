"""Parameters of a call: which parameters exist, and checks before anything is sent.

The names and rules are those of D-Wave's solvers. Times are in microseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise, repeat
from math import inf, isclose, isfinite
from numbers import Real
from typing import Any

import numpy as np

from dagneal.base.defaults import ANNEALING_TIME
from dagneal.base.errors import InputError, check_flag, finite_number, hint, short_repr, whole_number

OWN = ("num_reads", "annealing_time", "seed", "label", "chain_break_method")  # parameters that every `QPU` has
CHAIN_BREAK_METHODS = ("majority_vote", "weighted_random", "discard", "minimize_energy")
_CHOICES = {"answer_mode": ("raw", "histogram"), "chain_break_method": CHAIN_BREAK_METHODS}
_INTERNAL = ("interrupt_function",)  # parameters of local samplers that only this package uses
_FLAGS = ("fast_anneal", "reinitialize_state", "flux_drift_compensation", "reduce_intersample_correlation", "auto_scale")
_TIMES = ("programming_thermalization", "readout_thermalization")
PER_QUBIT = ("anneal_offsets", "flux_biases")
WHOLE = {"num_reads": 1, "max_answers": 1, "seed": 0}  # parameters that are whole numbers, with the smallest number
_NOT_FAST = ("initial_state", "reinitialize_state", "h_gain_schedule")  # cannot be combined with fast_anneal
_REVERSE = "[[0, 1], [10, 0.45], [90, 0.45], [100, 1]]"


def accepted_parameters(properties: Mapping[str, Any], parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the parameters that a `QPU` accepts: its own, and those that the solver lists.

    Args:
        properties: properties of the solver. Their entry `parameters` lists the parameters of a solver in the cloud.
        parameters: parameters of the sampler that calls the solver; used if the properties list no parameters.
    """
    listed = properties.get("parameters") or parameters
    return tuple(dict.fromkeys([*OWN, *(name for name in listed if name not in _INTERNAL)]))


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters without those that are None. Arrays and tuples become lists, and NumPy numbers become numbers.

    Calls are identified by the text of their parameters, and NumPy abbreviates the text of long arrays.

    Args:
        parameters: keyword arguments of a call.

    >>> plain_parameters({"anneal_schedule": ((0, 0), (20, 1)), "label": None})
    {'anneal_schedule': [[0, 0], [20, 1]]}
    """

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic):
            return value.tolist()
        return [plain(entry) for entry in value] if isinstance(value, list | tuple) else value

    return {name: plain(value) for name, value in parameters.items() if value is not None}


def annealing_duration(properties: Mapping[str, Any], parameters: Mapping[str, Any]) -> float:
    """Return the annealing time of one read, in microseconds.

    Args:
        properties: properties of the solver.
        parameters: keyword arguments of the call.

    >>> annealing_duration({}, {"anneal_schedule": [[0, 0], [10, 0.5], [110, 0.5], [120, 1]]})
    120.0
    """
    schedule = parameters.get("anneal_schedule")
    if schedule is not None:
        return float(schedule[-1][0])
    return default_time("annealing_time", properties, parameters, ANNEALING_TIME)


def default_time(name: str, properties: Mapping[str, Any], parameters: Mapping[str, Any], default: float) -> float:
    """Return the value of a time: that of the call, that of the solver, or the given default.

    Args:
        name: name of the parameter, such as `readout_thermalization`.
        properties: properties of the solver.
        parameters: keyword arguments of the call.
        default: value if neither the call nor the solver has one.
    """
    key, timing = f"default_{name}", properties.get("problem_timing_data") or {}
    choices = (parameters.get(name), properties.get(key), timing.get(key), default)
    return float(next(choice for choice in choices if choice is not None))


def is_reverse(parameters: Mapping[str, Any]) -> bool:
    """Return whether a call anneals in reverse: its schedule starts at s = 1.

    Args:
        parameters: keyword arguments of the call.
    """
    schedule = parameters.get("anneal_schedule")
    return schedule is not None and float(schedule[0][1]) == 1.0


def is_fast(parameters: Mapping[str, Any]) -> bool:
    """Return whether a call uses the fast-anneal protocol.

    Args:
        parameters: keyword arguments of the call.
    """
    return bool(parameters.get("fast_anneal"))


def check_names(names: Sequence[str], accepted: Sequence[str], solver: str) -> None:
    """Raise an error if a parameter is not accepted.

    Args:
        names: names of the given parameters.
        accepted: names of the accepted parameters.
        solver: name of the solver.
    """
    for name in names:
        if name not in accepted:
            listed = ", ".join(sorted(accepted))
            raise InputError(f"{solver} has no parameter {name!r}; it has {listed}{hint(name, accepted)}")


def check_call(properties: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
    """Raise an error if a chip would not accept the parameters of a call.

    Args:
        properties: properties of the solver.
        parameters: keyword arguments of the call.

    >>> check_call({"annealing_time_range": [0.5, 2000.0]}, {"annealing_time": 0.0})
    Traceback (most recent call last):
    dagneal.base.errors.InputError: annealing_time is 0.0; this chip accepts 0.5 to 2000 microseconds
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    for name, least in WHOLE.items():
        whole_number(name, given.get(name, least), least)
    for name in _FLAGS:
        check_flag(name, given.get(name, False))
    for name, choices in _CHOICES.items():
        if given.get(name, choices[0]) not in choices:
            text = given[name] if isinstance(given[name], str) else ""
            names = ", ".join(map(repr, choices))
            raise InputError(f"{name} is {short_repr(given[name])}; give one of {names}{hint(text, choices)}")
    _check_lists(given, properties)
    _check_times(given, properties)
    _check_reverse(given)
    if "h_gain_schedule" in given:
        _check_gains(given["h_gain_schedule"], properties, annealing_duration(properties, given))


def _check_lists(given: Mapping[str, Any], properties: Mapping[str, Any]) -> None:
    """Raise an error if a parameter with a value for each qubit is not a list of the right length, or has a wrong value."""
    qubits = properties.get("num_qubits")
    for name in PER_QUBIT:
        if name not in given:
            continue
        values = given[name]
        if not isinstance(values, Sequence) or (qubits is not None and len(values) != qubits):
            count = "" if qubits is None else f"{qubits:,} "
            raise InputError(f"{name} is {short_repr(values)}; give a list with one number for each of the {count}qubits")
        for qubit, (value, (low, high)) in enumerate(zip(values, _limits(name, properties), strict=False)):
            if not _is_finite(value):
                raise InputError(f"{name} has the value {short_repr(value)} for qubit {qubit}; give a finite number")
            if value and not low <= value <= high:  # 0 is always accepted; it leaves the qubit unchanged
                raise InputError(
                    f"{name} has the value {value:g} for qubit {qubit}; this chip accepts {low:g} to {high:g} there"
                )


def _limits(name: str, properties: Mapping[str, Any]) -> Iterable[tuple[float, float]]:
    """Return the smallest and the largest value of a parameter for each qubit."""
    unlimited = (-inf, inf)
    if name == "anneal_offsets":
        return chain(properties.get("anneal_offset_ranges", ()), repeat(unlimited))
    return repeat(properties.get("flux_bias_range", unlimited))


def _is_finite(value: Any) -> bool:
    """Return whether a value is a finite number. Python counts True and False as numbers; this function does not."""
    return isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)


def _points(schedule: Any) -> list[tuple[float, float]]:
    """Return the points of a schedule, or [] if it is not a list of pairs of finite numbers."""
    try:
        pairs = [(t, value) for t, value in schedule]
    except (TypeError, ValueError):
        return []
    return [(float(t), float(value)) for t, value in pairs] if all(map(_is_finite, chain(*pairs))) else []


def _check_times(given: Mapping[str, Any], properties: Mapping[str, Any]) -> None:
    """Raise an error if a time or the annealing schedule is outside the limits of a chip."""
    for name in _TIMES:
        pause = finite_number(name, given.get(name, 0.0))
        low, high = properties.get(f"{name}_range", [0.0, inf])
        if name in given and not low <= pause <= high:
            raise InputError(f"{name} is {pause:g}; this chip accepts {low:g} to {high:g} microseconds")
    fast = is_fast(given)
    span = properties.get("fast_anneal_time_range") if fast else None
    low, high = span or properties.get("annealing_time_range", [0.0, inf])
    time = given.get("annealing_time")
    if time is not None and not (_is_finite(time) and low <= time <= high and time > 0):
        protocol = " with fast_anneal" if fast else ""
        raise InputError(f"annealing_time is {time}; this chip accepts {low:g} to {high:g} microseconds{protocol}")
    if "anneal_schedule" in given:
        if time is not None:
            raise InputError(f"anneal_schedule contains the annealing time; remove annealing_time={time}")
        _check_schedule(given["anneal_schedule"], properties, low, high, fast)


def _check_reverse(given: Mapping[str, Any]) -> None:
    """Raise an error if parameters of reverse annealing are missing, or combined with parameters that exclude them."""
    if is_fast(given) and (other := [name for name in _NOT_FAST if name in given]):
        raise InputError(f"fast_anneal=True cannot be combined with {other[0]}; remove one of them")
    reverse = is_reverse(given)
    if reverse and "initial_state" not in given:
        raise InputError(
            "anneal_schedule starts at s = 1, which is reverse annealing, but there is no initial state; "
            "add initial_state, such as a DAG, or start the schedule at s = 0"
        )
    for name in ("initial_state", "reinitialize_state"):
        if name in given and not reverse:
            raise InputError(f"{name} is only for reverse annealing; add an anneal_schedule such as {_REVERSE}")


def _check_schedule(schedule: Any, properties: Mapping[str, Any], shortest: float, longest: float, fast: bool) -> None:
    """Raise an error if an annealing schedule breaks one of D-Wave's rules.

    Args:
        schedule: points (t, s) of the schedule.
        properties: properties of the solver.
        shortest: shortest annealing time of the chip.
        longest: longest annealing time of the chip.
        fast: whether the call uses the fast-anneal protocol.
    """

    def refuse(reason: str) -> InputError:
        return InputError(f"anneal_schedule is {short_repr(schedule)}; {reason}")

    points = _points(schedule)
    if len(points) < 2:
        raise refuse("give a list of two or more pairs [t, s], such as [[0, 0], [10, 0.5], [110, 0.5], [120, 1]]")
    reverse = points[0][1] == 1.0
    # D-Wave allows one point more for reverse annealing. The fast-anneal protocol has no pauses.
    most = 2 if fast else properties.get("max_anneal_schedule_points", inf) + reverse
    if len(points) > most:
        raise refuse(f"give at most {most} points")
    if points[0] not in ((0.0, 0.0), (0.0, 1.0)) or points[-1][1] != 1.0:
        raise refuse("start at [0, 0], or at [0, 1] for reverse annealing, and end with s = 1")
    for (before, s0), (after, s1) in pairwise(points):
        if not (before < after and 0 <= s1 <= 1):
            raise refuse("times must increase, and s must be from 0 to 1")
        if not reverse and s1 < s0:
            raise refuse("s must not decrease, except in reverse annealing")
        if round(abs(s1 - s0) / (after - before) * shortest, 9) > 1:
            raise refuse(
                f"the step from {before:g} to {after:g} is too fast; s may change by 1 in {shortest:g} microseconds"
            )
    if points[-1][0] > longest:
        raise refuse(f"this chip accepts at most {longest:g} microseconds")


def _check_gains(schedule: Any, properties: Mapping[str, Any], duration: float) -> None:
    """Raise an error if a schedule of the gain of linear coefficients breaks one of D-Wave's rules.

    Solvers also limit the slope, which is not in their properties, and the product of gain and field.

    Args:
        schedule: points (t, gain) of the schedule.
        properties: properties of the solver.
        duration: annealing time of the call, in microseconds.
    """

    def refuse(reason: str) -> InputError:
        return InputError(f"h_gain_schedule is {short_repr(schedule)}; {reason}")

    points = _points(schedule)
    if len(points) < 2:
        raise refuse(f"give a list of two or more pairs [t, gain], such as [[0, 1], [{duration:g}, 1]]")
    most = properties.get("max_h_gain_schedule_points", inf)
    if len(points) > most:
        raise refuse(f"give at most {most} points")
    times = [t for t, _ in points]
    if times[0] != 0 or not isclose(times[-1], duration):
        raise refuse(f"the first time must be 0, and the last {duration:g}, the annealing time")
    if any(after <= before for before, after in pairwise(times)):
        raise refuse("times must increase")
    low, high = properties.get("h_gain_schedule_range", (-inf, inf))
    for t, gain in points:
        if not low <= gain <= high:
            raise refuse(f"the gain at {t:g} microseconds is {gain:g}, but this chip accepts {low:g} to {high:g}")
