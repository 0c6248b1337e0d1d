"""What the commands' arguments have in common. Nothing heavy is imported here, so that --help answers at once."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn

from dagneal.cli.streams import write_message


class Parser(argparse.ArgumentParser):
    """A parser whose complaint is one line."""

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help; unlike argparse, do not hide a failure to write it."""
        (file or sys.stdout).write(message)

    def error(self, message: str) -> NoReturn:
        """Complain, and end with status 2."""
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


def command_named(commands: argparse._SubParsersAction[Parser], name: str, summary: str, epilog: str) -> Parser:
    """A command with the options that all have."""
    command = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    command.add_argument("--quiet", action="store_true", help="no progress and no notes on standard error")
    command.add_argument("--jobs", type=int, metavar="N", help="cores to use (default: all)")
    command.add_argument("--memory", metavar="SIZE", help="memory to use, such as 2GB (default: what is free)")
    return command


def reading_options(command: Parser) -> None:
    """Options of every command that reads data."""
    group = command.add_argument_group("data")
    group.add_argument(
        "--columns", metavar="A,B,C", type=listed, help="use only these columns (a name with a comma in quotes)"
    )
    group.add_argument("--drop", metavar="A,B,C", type=listed, default=[], help="leave these columns out")
    group.add_argument(
        "--bins",
        action="append",
        default=[],
        metavar="[A=]KIND:N",
        help="cut numbers into N states: quantile:4, uniform:5, kmeans:3 or at:18,65, for all columns with more "
        "than 12 different numbers or for one",
    )
    group.add_argument(
        "--rare", type=float, default=0.0, metavar="SHARE", help="merge states that fewer rows show (such as 0.01)"
    )
    group.add_argument("--weights", metavar="COLUMN", help="a column that says how often each row counts")
    group.add_argument("--states", metavar="NETWORK", help="take the states, unseen ones too, from a .bif file or network")
    group.add_argument(
        "--missing", choices=("refuse", "drop", "state"), default="refuse", help="what to do with missing values"
    )
    group.add_argument(
        "--merge",
        choices=("auto", "yes", "no"),
        default="auto",
        help="merge equal rows; by default a sample decides where there are many",
    )
    group.add_argument(
        "--score", default="bdeu:1", metavar="NAME", help="bdeu:ESS (default bdeu:1), bdeu-rows, k2, perks or bic"
    )


def data_options(command: Parser) -> None:
    """The data and options of every command that learns from them."""
    command.add_argument(
        "data", metavar="DATA", help="a CSV, TSV or Parquet file of discrete data, with column names; - for standard input"
    )
    reading_options(command)
    command.add_argument(
        "--max-parents", type=int, metavar="M", help="most parents of a variable (default 4; encode and --direct: 2)"
    )
    group = command.add_argument_group("knowledge")
    group.add_argument(
        "--require", action="append", default=[], metavar="A:B", help="the edge from A to B is there (as often as needed)"
    )
    group.add_argument("--forbid", action="append", default=[], metavar="A:B", help="the edge from A to B is not there")
    group.add_argument("--tiers", metavar="FILE", help="TOML with tiers = [[...], ...]: no edge from a later to an earlier")
    group.add_argument(
        "--knowledge", metavar="FILE", help="TOML with any of required, forbidden, tiers, roots, leaves, limits"
    )


def numbers(text: str) -> list[int]:
    """Whole numbers with commas between."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of whole numbers such as 3,4,5") from error


def sizes(text: str) -> list[float]:
    """Numbers with commas between."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers such as 0.1,1,10") from error


def listed(text: str) -> list[str]:
    """Names with commas between; a name with a comma in quotes. An empty text is the name of a column without one."""
    import csv

    return [part.strip() for part in next(csv.reader([text], skipinitialspace=True), None) or [""]]
