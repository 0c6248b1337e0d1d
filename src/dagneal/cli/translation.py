"""Messages of the library in the words of the command line: arguments become options."""

from __future__ import annotations

import ast
import re
import shlex
from typing import Any

OPTIONS = {
    **{
        name: f"--{name.replace('_', '-')}"
        for name in ("columns", "drop", "bins", "rare", "weights", "states", "missing", "merge")
    },
    **{
        name: f"--{name.replace('_', '-')}" for name in ("score", "max_parents", "knowledge", "seed", "time_limit", "solver")
    },
    **{name: f"--{name}" for name in ("memory", "jobs", "journal", "reads")},
    "num_reads": "--reads",
    "initial": "--start",
    "combine": "--rule",
    "size": "--divide",
    "samples": "--bootstrap",
    "safe": "--safe-labels",
}
SETTINGS = (
    "direct",
    "repair",
    "encoding",
    "acyclic",
    "subproblems",
    "bound",
    "rounds",
    "chain_strength",
    "noise",
    "annealing_time",
)
_VALUE = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\[[^\]]*\]|\{[^}]*\}|[\w.:]+"""
_GIVEN = re.compile(rf"\b({'|'.join([*OPTIONS, *SETTINGS])})=({_VALUE})")
_SUBJECT = re.compile(rf"^({'|'.join([*OPTIONS, *SETTINGS])}) (?=is |are |must )")


def translate(message: str) -> str:
    """Return a message with options of the command line in place of arguments.

    Args:
        message: of the library.

    >>> translate("max_parents is 9; leave it out, or drop a column with drop=['a b'] or missing='drop'")
    "--max-parents is 9; leave it out, or drop a column with --drop 'a b' or --missing drop"
    >>> translate("cut it with bins={'age': 'quantile:4'}, or set acyclic=True")
    'cut it with --bins age=quantile:4, or set --set acyclic=true'
    """
    message = _SUBJECT.sub(lambda match: f"{OPTIONS.get(match[1], f'--set {match[1]}')} ", message)
    return _GIVEN.sub(_option, message)


def _option(match: re.Match[str]) -> str:
    """Return an argument and its value as words of the command line."""
    name, text = match[1], match[2]
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        value = text
    words = _words(value)
    if name not in OPTIONS:
        return f"--set {name}={words}"
    return f"{OPTIONS[name]} {words}".rstrip() if value is not True else OPTIONS[name]


def _words(value: Any) -> str:
    """Return a value as it is written on the command line; nothing where the message leaves it open."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return " ".join(shlex.quote(f"{key}={its}") for key, its in value.items())
    if isinstance(value, list):
        return "" if ... in value else shlex.quote(",".join(map(str, value)))
    return "" if value is ... else shlex.quote(str(value))
