"""Translation of library messages for the command line: argument names become options."""

from __future__ import annotations

import ast
import re
import shlex
from functools import lru_cache
from typing import Any

from dagneal.cli.configuration import COMMANDS, option_names
from dagneal.cli.parsing import join_names

# Library arguments whose option has another name in some commands.
_OTHER_NAMES = {
    "samples": ("bootstrap",),
    "safe": ("safe_labels",),
    "factor": ("within",),
    "size": ("size", "divide"),
    "combine": ("combine", "rule"),
    "num_reads": ("num_reads", "reads"),
}
# Solver settings, which are written as --set NAME=VALUE.
_SETTINGS = (
    *("direct", "repair", "encoding", "acyclic", "subproblems", "restarts", "parameters", "subproblem_parameters"),
    *("chain_strength", "spin_reversal", "annealing_time", "system", "profile", "embedding", "embeddings"),
    *("model", "noise", "sweeps", "cold", "readout", "temperature", "susceptibility"),
)
# A value in a message: a quoted text, a list, a dictionary, a constant or a number, but not a file name.
_VALUE = (
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\[[^\]]*\]|\{[^}]*\}|(?:True|False|None|\.\.\.|-?\d+(?:\.\d+)?)(?![\w./-])"""
)


def translate(message: str, command: str = "learn") -> str:
    """Replace argument names in a message by the options of a command.

    Args:
        message: message of the library.
        command: name of the command.

    >>> translate("max_parents is 9; leave it out, or drop a column with drop=['a b'] or missing='drop'")
    "--max-parents is 9; leave it out, or drop a column with --drop 'a b' or --missing drop"
    >>> translate("bin it with bins={'age': 'quantile:4'}, or set acyclic=True")
    'bin it with --bins age=quantile:4, or set --set acyclic=true'
    >>> translate("there is no file seed=5.csv"), translate("subproblems is 'x'", "plan")
    ('there is no file seed=5.csv', "--subproblems is 'x'")
    >>> translate("TabuSampler failed with seed=5, num_reads=3: no memory")
    'TabuSampler failed with seed=5, num_reads=3: no memory'
    """
    if command not in COMMANDS:
        return message
    words, subject, given = _patterns(command)
    # Parameters of a failed sampler call are not options, although they have the same names.
    message, failed, parameters = message.partition(" failed with ")
    message = subject.sub(lambda match: f"{words[match[1]]} ", message)
    return given.sub(lambda match: _option(words[match[1]], match[1], match[2]), message) + failed + parameters


@lru_cache
def _patterns(command: str) -> tuple[dict[str, str], re.Pattern[str], re.Pattern[str]]:
    """Return three values: a dictionary from argument names to options, and two patterns.

    The first pattern finds an argument name at the start of a message; the second finds NAME=VALUE.
    """
    options = option_names(command)
    words = {name: f"--set {name}" for name in _SETTINGS} if "settings" in options else {}
    words |= {name: options[other] for name, others in _OTHER_NAMES.items() for other in others if other in options}
    words |= {name: option for name, option in options.items() if name != "settings"}
    names = "|".join(words)
    subject = re.compile(rf"^({names}) (?=is |are |must )")
    return words, subject, re.compile(rf"""(?<![\w'"/.=-])(?<!--set )({names})=({_VALUE})""")


def _option(option: str, name: str, text: str) -> str:
    """Return the command-line option that corresponds to NAME=VALUE in a message."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        value = text
    if option.startswith("--set "):
        return f"--set {name}={_value_text(value)}"
    return option if value is True else f"{option} {_value_text(value)}".rstrip()


def _value_text(value: Any) -> str:
    """Return a value as a command-line text. An ellipsis stands for any value and gives an empty text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return " ".join(shlex.quote(f"{key}={item}") for key, item in value.items())
    if isinstance(value, list):
        return "" if ... in value else shlex.quote(join_names(value))
    return "" if value is ... else shlex.quote(str(value))
