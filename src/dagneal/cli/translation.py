"""Messages of the library in the words of a command: arguments become options."""

from __future__ import annotations

import ast
import re
import shlex
from functools import lru_cache
from typing import Any

from dagneal.cli.configuration import COMMANDS, options_of
from dagneal.cli.parsing import join_names

# Arguments of the library whose options have another name in some command.
_OTHER_NAMES = {
    "samples": ("bootstrap",),
    "safe": ("safe_labels",),
    "size": ("size", "divide"),
    "combine": ("combine", "rule"),
    "num_reads": ("num_reads", "reads"),
}
# Settings of solvers; commands that take settings write them as --set NAME=VALUE.
_SETTINGS = (
    *("direct", "repair", "encoding", "acyclic", "subproblems", "bound", "rounds", "parameters", "subproblem_parameters"),
    *("chain_strength", "noise", "sweeps", "cold", "gauges", "annealing_time", "system", "profile", "embedding"),
)
# A value that messages show: a text in quotes, a list, a table, a constant or a number; not the name of a file.
_VALUE = (
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\[[^\]]*\]|\{[^}]*\}|(?:True|False|None|\.\.\.|-?\d+(?:\.\d+)?)(?![\w./-])"""
)


def translate(message: str, command: str = "learn") -> str:
    """Return a message with options of a command in place of arguments.

    Args:
        message: of the library.
        command: its name.

    >>> translate("max_parents is 9; leave it out, or drop a column with drop=['a b'] or missing='drop'")
    "--max-parents is 9; leave it out, or drop a column with --drop 'a b' or --missing drop"
    >>> translate("cut it with bins={'age': 'quantile:4'}, or set acyclic=True")
    'cut it with --bins age=quantile:4, or set --set acyclic=true'
    >>> translate("there is no file seed=5.csv"), translate("subproblems is 'x'", "plan")
    ('there is no file seed=5.csv', "--subproblems is 'x'")
    """
    if command not in COMMANDS:
        return message
    words, subject, given = _patterns(command)
    message = subject.sub(lambda match: f"{words[match[1]]} ", message)
    return given.sub(lambda match: _option(words[match[1]], match[1], match[2]), message)


@lru_cache
def _patterns(command: str) -> tuple[dict[str, str], re.Pattern[str], re.Pattern[str]]:
    """Return how a command writes each argument, and the patterns that find them in a message."""
    options = options_of(command)
    words = {name: f"--set {name}" for name in _SETTINGS} if "settings" in options else {}
    words |= {name: options[other] for name, others in _OTHER_NAMES.items() for other in others if other in options}
    words |= {name: option for name, option in options.items() if name != "settings"}
    names = "|".join(words)
    subject = re.compile(rf"^({names}) (?=is |are |must )")
    return words, subject, re.compile(rf"""(?<![\w'"/.=-])(?<!--set )({names})=({_VALUE})""")


def _option(option: str, name: str, text: str) -> str:
    """Return an argument and its value as words of the command line."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        value = text
    if option.startswith("--set "):
        return f"--set {name}={_words(value)}"
    return option if value is True else f"{option} {_words(value)}".rstrip()


def _words(value: Any) -> str:
    """Return a value as it is written on the command line; nothing where the message leaves it open."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return " ".join(shlex.quote(f"{key}={its}") for key, its in value.items())
    if isinstance(value, list):
        return "" if ... in value else shlex.quote(join_names(value))
    return "" if value is ... else shlex.quote(str(value))
