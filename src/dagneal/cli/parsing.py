"""The parser of the command line, and the syntax of option values. This module imports no large libraries."""

from __future__ import annotations

import argparse
import shutil
import sys
from typing import Any, NoReturn

from dagneal.cli.streams import write_message

_WIDEST = 110  # largest width of a help text, in columns
_INDENT = 26  # column where the explanation of an option starts


class Help(argparse.RawDescriptionHelpFormatter):
    """Formatter of help texts that prints most options on one line."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=_INDENT, width=min(shutil.get_terminal_size().columns, _WIDEST))

    def add_argument(self, action: argparse.Action) -> None:
        """Add an argument to the help text. Widen the list of commands by its indent, which argparse forgets."""
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):
            self._action_max_length += self._indent_increment


class Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line."""

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write the help text; unlike argparse, raise an error if the text cannot be written."""
        (file or sys.stdout).write(message)

    def error(self, message: str) -> NoReturn:
        """Report an error and exit with status 2."""
        write_message(f"{self.prog}: {message}; see {self.prog} --help")
        raise SystemExit(2)


class Once(argparse.Action):
    """An argparse action for an option that may be given only once."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """Store the value; raise an error if the option already has a value."""
        if getattr(namespace, self.dest, None) is not None:
            raise argparse.ArgumentError(self, "give this option only once")
        setattr(namespace, self.dest, values)


def split_numbers(text: str) -> list[int]:
    """Parse comma-separated whole numbers.

    Args:
        text: text such as `3,4,5`.
    """
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers such as 3,4,5") from error


def split_sizes(text: str) -> list[float]:
    """Parse comma-separated numbers.

    Args:
        text: text such as `0.1,1,10`.
    """
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers such as 0.1,1,10") from error


def split_names(text: str) -> list[str]:
    """Parse comma-separated names; a name that contains a comma must be in quotes.

    Args:
        text: text such as `age,"height, cm"`; an empty text gives one empty name.
    """
    import csv

    return [part.strip() for part in next(csv.reader([text], skipinitialspace=True), None) or [""]]


def join_names(names: list[Any]) -> str:
    """Join names with commas to a text that `split_names` can parse.

    Args:
        names: list of names.

    >>> join_names(["age", "height, cm"])
    'age,"height, cm"'
    """
    import csv
    import io

    if names == [""]:
        return ""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([str(name) for name in names])
    return line.getvalue()


def parse_setting(text: str) -> tuple[str, Any]:
    """Parse NAME=VALUE and return the pair (name, value). `parse_value` parses the value.

    Args:
        text: text such as `num_sweeps=5000`.

    >>> parse_setting("acyclic=true"), parse_setting("encoding=paper")
    (('acyclic', True), ('encoding', 'paper'))
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{text!r} has no value; write NAME=VALUE, such as num_sweeps=5000")
    return name, parse_value(value)


def parse_value(text: str) -> Any:
    """Parse a Python literal, `true` or `false`; return any other text unchanged.

    Args:
        text: text such as `5000`, `true` or `paper`.
    """
    import ast
    import json

    try:
        value = ast.literal_eval({"true": "True", "false": "False"}.get(text, text))
        return json.loads(json.dumps(value))  # as stored in a journal: a tuple becomes a list
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return text
