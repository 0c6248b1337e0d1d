"""Plain values of JSON, checked by type while a result is restored."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import isfinite
from typing import Any

from dagneal.base.errors import short


def take_text(plain: Mapping[str, Any], key: str) -> str:
    """Return a text, or raise ValueError.

    Args:
        plain: values by their keys.
        key: which of them.
    """
    value = plain[key]
    if not isinstance(value, str):
        raise ValueError(f"{key} is {short(value)}, not a text")
    return value


def take_number(plain: Mapping[str, Any], key: str) -> float:
    """Return a finite number, or raise ValueError.

    Args:
        plain: values by their keys.
        key: which of them.

    >>> take_number({"score": -2}, "score")
    -2.0
    """
    value = plain[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"{key} is {short(value)}, not a number")
    return float(value)


def take_whole(plain: Mapping[str, Any], key: str) -> int:
    """Return a whole number that is not negative, or raise ValueError.

    Args:
        plain: values by their keys.
        key: which of them.
    """
    value = plain[key]
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{key} is {short(value)}, not a whole number")
    return value


def take_truth(plain: Mapping[str, Any], key: str) -> bool:
    """Return a truth value, or raise ValueError.

    Args:
        plain: values by their keys.
        key: which of them.
    """
    value = plain[key]
    if not isinstance(value, bool):
        raise ValueError(f"{key} is {short(value)}, not true or false")
    return value


def take_mapping(plain: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return values by their keys, or raise ValueError.

    Args:
        plain: values by their keys.
        key: which of them.
    """
    value = plain[key]
    if not isinstance(value, dict):
        raise ValueError(f"{key} is {short(value)}, not a mapping")
    return value


def take_names(value: Any, known: Collection[str], what: str) -> list[str]:
    """Return a list of variables, or raise ValueError.

    Args:
        value: the list.
        known: all variables.
        what: it is, as the subject of the message.
    """
    if not isinstance(value, list) or not all(isinstance(name, str) and name in known for name in value):
        raise ValueError(f"{what} is {short(value)}, not a list of variables")
    return value


def take_edges(value: Any, known: Collection[str], what: str) -> list[tuple[str, str]]:
    """Return a list of edges between variables, or raise ValueError.

    Args:
        value: pairs of names, parent first.
        known: all variables.
        what: it is, as the subject of the message.

    >>> take_edges([["a", "b"]], {"a", "b"}, "edges")
    [('a', 'b')]
    """
    if not isinstance(value, list):
        raise ValueError(f"{what} is {short(value)}, not a list of edges")
    edges = []
    for each in value:
        pair = take_names(each, known, f"an edge of {what}")
        if len(pair) != 2 or pair[0] == pair[1]:
            raise ValueError(f"an edge of {what} is {short(each)}, not a parent and a child")
        edges.append((pair[0], pair[1]))
    return edges
