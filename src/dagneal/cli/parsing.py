"""The parser of the command line, and how values are written there. Nothing heavy is imported here."""

from __future__ import annotations

import argparse
import shutil
import sys
from typing import Any, NoReturn

from dagneal.cli.streams import write_message

_WIDEST = 110  # columns of a help text
_INDENT = 26  # columns left of the explanation of an option


class Help(argparse.RawDescriptionHelpFormatter):
    """Help text with one line for most options."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=_INDENT, width=min(shutil.get_terminal_size().columns, _WIDEST))


class Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line."""

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help; unlike argparse, do not hide a failure to write it."""
        (file or sys.stdout).write(message)

    def error(self, message: str) -> NoReturn:
        """Report an error, and end with status 2."""
        write_message(f"{self.prog}: {message}; see {self.prog} --help")
        raise SystemExit(2)


class Once(argparse.Action):
    """Stores the value of an option that may be given once: a second file would silently replace the first."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """Store the value, or complain that there is one already."""
        if getattr(namespace, self.dest, None) is not None:
            raise argparse.ArgumentError(self, "give it once")
        setattr(namespace, self.dest, values)


def split_numbers(text: str) -> list[int]:
    """Parse whole numbers with commas between.

    Args:
        text: such as `3,4,5`.
    """
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of whole numbers such as 3,4,5") from error


def split_sizes(text: str) -> list[float]:
    """Parse numbers with commas between.

    Args:
        text: such as `0.1,1,10`.
    """
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers such as 0.1,1,10") from error


def split_names(text: str) -> list[str]:
    """Parse names with commas between; a name with a comma is in quotes.

    Args:
        text: such as `age,"height, cm"`; an empty text is the name of a column without one.
    """
    import csv

    return [part.strip() for part in next(csv.reader([text], skipinitialspace=True), None) or [""]]


def join_names(names: list[Any]) -> str:
    """Write names as `split_names` reads them.

    Args:
        names: the names.

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
    """Parse NAME=VALUE: a value of Python or TOML, or else a text.

    Args:
        text: such as `num_sweeps=5000`.

    >>> parse_setting("acyclic=true"), parse_setting("encoding=paper")
    (('acyclic', True), ('encoding', 'paper'))
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{text!r} has no value; write NAME=VALUE, such as num_sweeps=5000")
    return name, parse_value(value)


def parse_value(text: str) -> Any:
    """Parse a value of Python or TOML; anything else is a text.

    Args:
        text: such as `5000`, `true` or `paper`.
    """
    import ast
    import json

    try:
        value = ast.literal_eval({"true": "True", "false": "False"}.get(text, text))
        return json.loads(json.dumps(value))  # as a journal stores it: a tuple is a list
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return text
