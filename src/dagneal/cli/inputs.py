"""Options for data and networks, and functions that read them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from dagneal.base.defaults import MERGE, MISSING, RARE, SCORE
from dagneal.base.errors import InputError
from dagneal.cli import show
from dagneal.cli.parsing import Parser, split_names
from dagneal.cli.translation import translate

if TYPE_CHECKING:
    from dagneal.data.dataset import Dataset

NETWORK_HELP = ".bif, .json or .graphml file, or bundled name"


def add_data(command: Parser, limit: str, **more: Any) -> None:
    """Add the arguments of a command that learns from data: the data file and the parent limit.

    Args:
        command: parser of the command.
        limit: help text of the parent limit.
        **more: additional arguments for the parser of DATA.
    """
    description = f"{command.description} DATA: CSV, TSV or Parquet file with column names; - for standard input."
    command.description = description
    command.add_argument("data", metavar="DATA", help=argparse.SUPPRESS, **more)
    command.add_argument("--max-parents", type=int, metavar="M", help=limit)


def add_network_and_data(command: Parser) -> None:
    """Add the arguments NETWORK and DATA.

    Args:
        command: parser of the command.
    """
    command.add_argument("network", metavar="NETWORK", help=NETWORK_HELP)
    command.add_argument("data", metavar="DATA", help="data file with the same variables; - for standard input")


def add_safe_labels(command: Parser | argparse._ArgumentGroup) -> None:
    """Add the option `--safe-labels`.

    Args:
        command: parser or group of options.
    """
    command.add_argument(
        "--safe-labels", action="store_true", help="replace special characters in names and states, for other tools"
    )


def add_reading_options(command: Parser, score: bool = True) -> None:
    """Add the options of a command that reads data.

    Args:
        command: parser of the command.
        score: whether to add `--score`.
    """
    group = command.add_argument_group("data")
    group.add_argument("--columns", metavar="A,B", type=split_names, help="use only these columns")
    group.add_argument("--drop", metavar="A,B", type=split_names, default=[], help="omit these columns")
    bins = "bin numeric columns: quantile:4, uniform:5, kmeans:3, at:18,65"
    group.add_argument("--bins", action="append", default=[], metavar="[A=]KIND:N", help=bins)
    group.add_argument(
        "--rare", type=float, default=RARE, metavar="P", help="merge states that occur in less than this fraction of rows"
    )
    group.add_argument("--weights", metavar="COLUMN", help="name of the column with row weights")
    group.add_argument("--states", metavar="NETWORK", help="network that defines the states of each column")
    missing = ("refuse", "drop", "state")
    group.add_argument(
        "--missing",
        choices=missing,
        default=MISSING,
        metavar="HOW",
        help="handling of missing values: refuse, drop or state",
    )
    merge = ("auto", "yes", "no")
    group.add_argument("--merge", choices=merge, default=MERGE, metavar="HOW", help="merge identical rows: auto, yes or no")
    if score:
        names = f"bdeu:ESS (default {SCORE}), bdeu-rows, k2, perks or bic"
        group.add_argument("--score", default=SCORE, metavar="NAME", help=names)


def read_data(options: argparse.Namespace) -> Dataset:
    """Read the data of a command, and write a note about each change.

    Args:
        options: options of the command.
    """
    from dagneal.base import kernels
    from dagneal.data.reading import read
    from dagneal.networks.formats import read_network

    if not options.quiet:
        kernels.on_first_compilation(lambda: show.note("compiling code once after installation (some seconds)"))
    data = read(
        options.data,
        weights=options.weights,
        columns=options.columns,
        states=read_network(options.states) if options.states else None,
        missing=options.missing,
        bins=_bins(options.bins),
        rare=options.rare,
        drop=options.drop,
        merge=options.merge,
    )
    for text in () if options.quiet else data.prepared:
        show.note(translate(text, options.command))
    return data


def read_data_of(dag: Any, options: argparse.Namespace) -> Dataset:
    """Read the data of a network; other columns are ignored.

    Args:
        dag: graph of the network.
        options: options of a command with the argument NETWORK.
    """
    from dagneal.graphs.dags import check_variables

    if options.columns is None:
        options.columns = [name for name in dag if name not in options.drop]
    data = read_data(options)
    check_variables(dag, data.names, options.network)
    return data


def read_graph(source: str) -> Any:
    """Read the graph of a network, a saved result or a graph file.

    Args:
        source: path of a file, or bundled name.
    """
    from dagneal.networks.formats import get_dag, read_structure

    return get_dag(read_structure(source))


def _bins(given: list[str]) -> dict[str, str] | None:
    """Return the bins by column; the empty name stands for all columns."""
    bins: dict[str, str] = {}
    for text in given:
        name, equals, how = text.rpartition("=")
        if name in bins or (equals and not name):
            raise InputError(f"--bins {text}: give each column only once, as NAME=quantile:4")
        bins[name] = how
    return bins or None
