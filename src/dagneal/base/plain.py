"""Read values of parsed JSON, and check their types."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import isfinite
from typing import Any

from dagneal.base.errors import short_repr


def take_text(plain: Mapping[str, Any], key: str) -> str:
    """Return the text under a key; raise ValueError if it is not text.

    Args:
        plain: JSON object.
        key: key of the value.
    """
    value = plain[key]
    if not isinstance(value, str):
        raise ValueError(f"{key} is {short_repr(value)}, not text")
    return value


def take_number(plain: Mapping[str, Any], key: str) -> float:
    """Return the number under a key; raise ValueError if it is not a finite number.

    Args:
        plain: JSON object.
        key: key of the value.

    >>> take_number({"score": -2}, "score")
    -2.0
    """
    value = plain[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"{key} is {short_repr(value)}, not a number")
    return float(value)


def take_numbers(plain: Mapping[str, Any], key: str) -> list[float]:
    """Return the list of numbers under a key; raise ValueError if it is not a list of finite numbers.

    Args:
        plain: JSON object.
        key: key of the value.
    """
    values = plain[key]
    if not isinstance(values, list):
        raise ValueError(f"{key} is {short_repr(values)}, not a list of numbers")
    return [take_number({key: value}, key) for value in values]


def take_count(plain: Mapping[str, Any], key: str) -> int:
    """Return the whole number under a key; raise ValueError if it is negative or not whole.

    Args:
        plain: JSON object.
        key: key of the value.
    """
    value = plain[key]
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{key} is {short_repr(value)}, not a whole number of at least 0")
    return value


def take_bool(plain: Mapping[str, Any], key: str) -> bool:
    """Return the boolean under a key; raise ValueError if it is not true or false.

    Args:
        plain: JSON object.
        key: key of the value.
    """
    value = plain[key]
    if not isinstance(value, bool):
        raise ValueError(f"{key} is {short_repr(value)}, not true or false")
    return value


def take_mapping(plain: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return the JSON object under a key; raise ValueError if it is not an object.

    Args:
        plain: JSON object.
        key: key of the value.
    """
    value = plain[key]
    if not isinstance(value, dict):
        raise ValueError(f"{key} is {short_repr(value)}, not a JSON object")
    return value


def take_names(value: Any, known: Collection[str], what: str) -> list[str]:
    """Check that a value is a list of known variable names, and return it; raise ValueError if not.

    Args:
        value: value to check.
        known: names of all variables.
        what: name of the list, used as the subject of the message.
    """
    if not isinstance(value, list) or not all(isinstance(name, str) and name in known for name in value):
        raise ValueError(f"{what} is {short_repr(value)}, not a list of known variables")
    return value


def take_edges(value: Any, known: Collection[str], what: str) -> list[tuple[str, str]]:
    """Check that a value is a list of edges, and return the edges as tuples; raise ValueError if not.

    Args:
        value: value to check; an edge is a list of two names, parent first.
        known: names of all variables.
        what: name of the list, used as the subject of the message.

    >>> take_edges([["a", "b"]], {"a", "b"}, "edges")
    [('a', 'b')]
    """
    if not isinstance(value, list):
        raise ValueError(f"{what} is {short_repr(value)}, not a list of edges")
    edges = []
    for item in value:
        pair = take_names(item, known, f"an edge of {what}")
        if len(pair) != 2 or pair[0] == pair[1]:
            raise ValueError(f"an edge of {what} is {short_repr(item)}, not a list of a parent and a child")
        edges.append((pair[0], pair[1]))
    return edges
