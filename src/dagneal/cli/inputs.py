"""Data and networks on the command line: their options, and how they are read."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from dagneal.base.defaults import MERGE, MISSING, NETWORK_PARENTS, PAPER_PARENTS, RARE, SCORE
from dagneal.base.errors import InputError
from dagneal.cli import show
from dagneal.cli.parsing import Parser, split_names
from dagneal.cli.translation import translate

if TYPE_CHECKING:
    from dagneal.data.dataset import Dataset

NETWORK_HELP = "a .bif, .json or .graphml file, or a bundled name"


def add_data(command: Parser, **more: Any) -> None:
    """Add the data and the parent limit of a command that learns from data.

    Args:
        command: a parser.
        **more: further arguments of the positional.
    """
    description = f"{command.description} DATA is a CSV, TSV or Parquet file with column names; - for standard input."
    command.description = description
    command.add_argument("data", metavar="DATA", help=argparse.SUPPRESS, **more)
    most = f"most parents of a variable (default {NETWORK_PARENTS}; direct {PAPER_PARENTS})"
    command.add_argument("--max-parents", type=int, metavar="M", help=most)


def add_network_and_data(command: Parser) -> None:
    """Add a network and data over its variables.

    Args:
        command: a parser.
    """
    command.add_argument("network", metavar="NETWORK", help=NETWORK_HELP)
    command.add_argument("data", metavar="DATA", help="a data file with the same variables; - for standard input")


def add_safe_labels(command: Parser | argparse._ArgumentGroup) -> None:
    """Add the option that makes names plain words.

    Args:
        command: a parser, or a group of options.
    """
    command.add_argument("--safe-labels", action="store_true", help="make names and states plain words, for other tools")


def add_reading_options(command: Parser, score: bool = True) -> None:
    """Add the options of a command that reads data.

    Args:
        command: a parser.
        score: also add the score.
    """
    group = command.add_argument_group("data")
    group.add_argument("--columns", metavar="A,B", type=split_names, help="use only these columns")
    group.add_argument("--drop", metavar="A,B", type=split_names, default=[], help="leave these columns out")
    bins = "bin numbers: quantile:4, uniform:5, kmeans:3, at:18,65"
    group.add_argument("--bins", action="append", default=[], metavar="[A=]KIND:N", help=bins)
    group.add_argument("--rare", type=float, default=RARE, metavar="SHARE", help="merge states that fewer rows show")
    group.add_argument("--weights", metavar="COLUMN", help="the column that holds how often each row counts")
    group.add_argument("--states", metavar="NETWORK", help="take the states from this network")
    missing = ("refuse", "drop", "state")
    group.add_argument(
        "--missing", choices=missing, default=MISSING, metavar="HOW", help="missing values: refuse, drop or state"
    )
    merge = ("auto", "yes", "no")
    group.add_argument("--merge", choices=merge, default=MERGE, metavar="HOW", help="merge equal rows: auto, yes or no")
    if score:
        names = f"bdeu:ESS (default {SCORE}), bdeu-rows, k2, perks or bic"
        group.add_argument("--score", default=SCORE, metavar="NAME", help=names)


def read_data(options: argparse.Namespace) -> Dataset:
    """Read the data of a command, and write notes about what was done to them.

    Args:
        options: of the command.
    """
    from dagneal.base import kernels
    from dagneal.data.reading import read
    from dagneal.networks.formats import read_network

    if not options.quiet:
        kernels.on_first_compilation(lambda: show.note("compiling what this needs, once after installation (some seconds)"))
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
    """Read the columns that are variables of a network, whatever others there are.

    Args:
        dag: the graph of the network.
        options: of the command, which has an argument NETWORK.
    """
    from dagneal.graphs.dags import check_variables

    if options.columns is None:
        options.columns = [name for name in dag if name not in options.drop]
    data = read_data(options)
    check_variables(dag, data.names, options.network)
    return data


def read_graph(source: str) -> Any:
    """Read the graph of a network, of a saved result or of a graph file.

    Args:
        source: a file or a bundled name.
    """
    from dagneal.networks.formats import read_structure, structure_of

    return structure_of(read_structure(source))


def _bins(given: list[str]) -> dict[str, str] | None:
    """Return bins by column; those for all under an empty name."""
    bins: dict[str, str] = {}
    for text in given:
        name, equals, how = text.rpartition("=")
        if name in bins or (equals and not name):
            raise InputError(f"--bins {text}: give each column once, as NAME=quantile:4")
        bins[name] = how
    return bins or None
