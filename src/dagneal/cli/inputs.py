"""Command-line options for data and networks, and functions that read data and networks."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagneal.base.defaults import MERGE, MISSING, RARE, SCORE
from dagneal.base.errors import InputError
from dagneal.base.files import SCORE_FILES
from dagneal.cli import show
from dagneal.cli.configuration import option_names, to_arguments
from dagneal.cli.parsing import Parser, split_names
from dagneal.cli.translation import translate

if TYPE_CHECKING:
    from dagneal.data.dataset import Dataset
    from dagneal.data.raw.prepare import Prepared
    from dagneal.data.recipe import Recipe
    from dagneal.scoring.table import ScoreTable

NETWORK_HELP = ".bif, .json or .graphml file, or name from `dagneal networks`"
MODEL_HELP = ".bif file, .json file of a result or an ensemble, or name from `dagneal networks`"
# Options that change the data, the score or the parent sets, so they cannot be used with a score file.
_DATA_OPTIONS = (
    *(
        "strict",
        "apply",
        "keep",
        "columns",
        "drop",
        "bins",
        "rare",
        "weights",
        "states",
        "missing",
        "merge",
        "codes",
        "score",
        "max_parents",
    ),
    *("required", "forbidden", "probabilities", "roots", "leaves", "tiers", "knowledge", "bootstrap", "within"),
    "posteriors",
)
_READING = ("strict", "keep", "columns", "drop", "bins", "rare", "weights", "states", "missing", "codes")


def add_data(command: Parser, limit: str, **more: Any) -> None:
    """Add the arguments of a command that learns from data or scores: the file and the parent limit.

    Args:
        command: parser of the command.
        limit: help text of `--max-parents`.
        **more: additional keyword arguments of `add_argument` for the argument DATA.
    """
    files = "CSV, TSV or Parquet file with column names, or scores (.jkl, .scores, .jaa); - for standard input"
    command.description = f"{command.description} DATA: {files}."
    command.add_argument("data", metavar="DATA", help=argparse.SUPPRESS, **more)
    command.add_argument("--max-parents", type=int, metavar="M", help=limit)


def add_network_and_data(command: Parser) -> None:
    """Add the arguments NETWORK and DATA.

    Args:
        command: parser of the command.
    """
    command.add_argument("network", metavar="NETWORK", help=NETWORK_HELP)
    command.add_argument("data", metavar="DATA", help="data file with the variables of the network; - for standard input")


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
        score: True to add the option `--score`.
    """
    group = command.add_argument_group("data")
    group.add_argument(
        "--strict", action="store_true", help="refuse a raw table instead of preparing it; see dagneal prepare"
    )
    group.add_argument("--apply", metavar="FILE", help="prepare like this recipe or saved result")
    group.add_argument("--keep", metavar="A,B", type=split_names, default=[], help="use these columns as they are")
    group.add_argument("--columns", metavar="A,B", type=split_names, help="use only these columns")
    group.add_argument("--drop", metavar="A,B", type=split_names, default=[], help="omit these columns")
    bins = "bin numbers: quantile:4, uniform:5, kmeans:3 or at:18,65 (cut points)"
    group.add_argument("--bins", action="append", default=[], metavar="[A=]KIND:N", help=bins)
    group.add_argument(
        "--rare", type=float, default=RARE, metavar="P", help="merge states that occur in less than a fraction P of the rows"
    )
    group.add_argument("--weights", metavar="COLUMN", help="column that states how many times each row counts")
    group.add_argument("--states", metavar="NETWORK", help="use the states of this network (file or bundled name)")
    missing = ("auto", "refuse", "drop", "state", "em")
    group.add_argument(
        "--missing",
        choices=missing,
        default="auto",
        metavar="HOW",
        help="missing values: auto (default), refuse, drop, state (a new state) or em",
    )
    merge = ("auto", "yes", "no")
    group.add_argument(
        "--merge",
        choices=merge,
        default=MERGE,
        metavar="HOW",
        help="store identical rows once, with a count: auto (default), yes or no",
    )
    group.add_argument("--codes", action="store_true", help="the file has integers and no column names")
    if score:
        names = f"bdeu, bds, bdeu-rows, k2, perks, bic, aic, qnml, fnml (default {SCORE})"
        group.add_argument("--score", default=SCORE, metavar="NAME[:ESS]", help=names)


def read_table(options: argparse.Namespace) -> ScoreTable | None:
    """Read the scores if the argument DATA is a score file; return None if it is a data file.

    Args:
        options: parsed options of the command.
    """
    from dagneal.scoring.scorefiles import read_scores

    if not has_scores(options):
        return None
    announce_compilation(options)
    return read_scores(options.data)


def has_scores(options: argparse.Namespace) -> bool:
    """Return whether the argument DATA is a score file. Raise an error if an option does not fit a score file.

    Args:
        options: parsed options of the command.
    """
    if Path(options.data).suffix.lower() not in SCORE_FILES:
        return False
    for name in _DATA_OPTIONS:
        if name in options.configuration:
            option = option_names(options.command)[name]
            raise InputError(f"{option} cannot be used with {options.data}, a file of scores; omit it, or give the data")
    return True


def announce_compilation(options: argparse.Namespace) -> None:
    """Print a note when code is compiled for the first time, unless the command is quiet.

    Args:
        options: parsed options of the command.
    """
    from dagneal.base import kernels

    if not options.quiet:
        kernels.on_first_compilation(lambda: show.note("compiling code for its first use (some seconds)"))


def read_data(options: argparse.Namespace, network: str | None = None) -> Dataset:
    """Read the data file of a command, and print a note about each change of the data.

    Raw data are prepared with the recipe of `--apply` or of the network, or else by the rules. Options that change the data
    replace the recipe of the network.

    Args:
        options: parsed options of the command.
        network: network file, if the data must be prepared like its training data. Without a recipe, the data are read as
            they are.
    """
    announce_compilation(options)
    fixed = any(name in options.configuration for name in _READING)
    if network is not None and options.apply is None and not fixed and (recipe := _recipe_of(network)) is not None:
        with _suggest(options):
            data = recipe.apply(options.data).data
    elif options.apply is None and (network is not None or options.strict or options.codes):
        with _suggest(options):
            data = _read_strictly(options)
    else:
        data = prepare_data(options).data
    if not options.quiet:
        shown = options.command in ("learn", "confidence")  # these print all warnings of a result
        cautions = () if data.preparation is None or shown else data.preparation.cautions
        for text in (*data.prepared, *(caution.text for caution in cautions)):
            show.note(translate(text, options.command))
    return data


def _recipe_of(source: str) -> Recipe | None:
    """Return the recipe in a file of a result or a network; None if it has none."""
    from dagneal.data.recipe import recipe_of_result
    from dagneal.networks.bif import read_bif

    if Path(source).suffix.lower() != ".bif":
        return recipe_of_result(source)
    try:
        return read_bif(source).recipe
    except InputError:
        return None  # reading the network reports the error


def prepare_data(options: argparse.Namespace) -> Prepared:
    """Prepare the data file of a command, by the rules or with the recipe of `--apply`.

    Args:
        options: parsed options of the command.
    """
    from dagneal.data.recipe import Recipe

    with _suggest(options):
        if options.apply is None:
            return _prepare_by_rules(options)
        if changed := [name for name in _READING if name in options.configuration]:
            other = option_names(options.command)[changed[0]]
            raise InputError(f"--apply fixes how the data are prepared; omit {other}, or omit --apply")
        return Recipe.load(options.apply).apply(options.data)


def _prepare_by_rules(options: argparse.Namespace) -> Prepared:
    """Prepare the data file of a command by the rules. Options override the rules."""
    from dagneal.data.raw.prepare import prepare
    from dagneal.networks.formats import read_network

    return prepare(
        options.data,
        columns=options.columns,
        drop=options.drop,
        keep=options.keep,
        bins=_bins(options.bins),
        states=read_network(options.states) if options.states else None,
        weights=options.weights,
        missing=options.missing,
        rare=options.rare,
        merge=options.merge,
    )


def _read_strictly(options: argparse.Namespace) -> Dataset:
    """Read the data file of a command without preparation."""
    from dagneal.data.reading import read
    from dagneal.networks.formats import read_network

    if options.keep:
        raise InputError("--keep has no effect without preparation; omit --keep")
    return read(
        options.data,
        weights=options.weights,
        columns=options.columns,
        states=read_network(options.states) if options.states else None,
        missing=MISSING if options.missing == "auto" else options.missing,
        bins=_bins(options.bins),
        rare=options.rare,
        drop=options.drop,
        merge=options.merge,
        names="index" if options.codes else None,
    )


@contextmanager
def _suggest(options: argparse.Namespace) -> Iterator[None]:
    """End the error for data that were refused with a command to copy."""
    from dagneal.data.raw.prepare import UnusableTableError

    try:
        yield
    except UnusableTableError as error:
        if not error.options:
            raise InputError(f"{error}; {_suggestion(options, str(error))}") from error
        raise InputError(f"{error}; run: {_command(options)} {error.options}") from error
    except InputError as error:
        raise InputError(f"{error}; {_suggestion(options, str(error))}") from error


def _suggestion(options: argparse.Namespace, message: str) -> str:
    """Return what to do about data that were refused, with a command to copy.

    If the source can be read at all, an option may be at fault. The command then omits the options of reading.
    """
    from dagneal.data.remedies import find_remedy

    remedy = find_remedy(options.data, message)
    given = {name for name in (*_READING, "apply") if name in options.configuration}
    if not remedy.certain and "strict" in given and options.command in ("learn", "encode"):
        return f"to prepare the table automatically, run: {_command(options, without={'strict'})}"
    if not remedy.certain and given:
        return f"without options of reading, run: {_command(options, without=given)}"
    again = [_command(options, without={"strict"}, data=remedy.data)] if remedy.data else []
    return f"{remedy.purpose}, run: {' && '.join([*filter(None, [remedy.before]), *again])}"


def _command(options: argparse.Namespace, without: Collection[str] = (), data: str = "") -> str:
    """Return the command line of a run, to copy.

    Args:
        options: parsed options of the command.
        without: names of the options to omit.
        data: source of the data in place of the given one.
    """
    configuration = {name: value for name, value in options.configuration.items() if name not in without}
    configuration |= {"data": data} if data else {}
    return shlex.join(["dagneal", *to_arguments(options.command, configuration)])


def read_data_of(dag: Any, options: argparse.Namespace) -> Dataset:
    """Read the columns of a data file that are variables of a network; other columns are ignored.

    Raw data are prepared like the training data of the network, if the network file has a recipe.

    Args:
        dag: graph of the network.
        options: parsed options of a command with the argument NETWORK.
    """
    from dagneal.graphs.dags import check_variables

    given = options.columns is not None
    options.columns = options.columns if given else [name for name in dag if name not in options.drop]
    data = read_data(options, options.network)
    check_variables(dag, data.names, options.network)
    return data


def read_graph(source: str) -> Any:
    """Return the graph of a network, which may be a network file, a saved result, a graph file or a bundled network.

    Args:
        source: path of a file, or name of a bundled network.
    """
    from dagneal.networks.formats import get_dag, read_structure

    return get_dag(read_structure(source))


def read_model(source: str) -> Any:
    """Return a model that can be asked: a network, a result with probabilities, or an ensemble.

    Args:
        source: path of a .bif or .json file, or name of a bundled network.
    """
    from dagneal.networks.formats import read_network

    if Path(source).suffix.lower() == ".json":
        try:
            plain = json.loads(Path(source).read_text(encoding="utf-8-sig"))
        except (OSError, ValueError, RecursionError):
            return read_network(source)  # it reports the error
        if isinstance(plain, dict) and plain.get("kind") == "ensemble":
            from dagneal.confidence.ensemble import load_ensemble

            return load_ensemble(source)
        if isinstance(plain, dict) and "cpts" in plain and "format_version" in plain:
            from dagneal.result import load_result

            return load_result(source)
    return read_network(source)


def add_unseen(command: Parser) -> None:
    """Add the option `--unseen`.

    Args:
        command: parser of the command.
    """
    command.add_argument(
        "--unseen",
        choices=("refuse", "missing"),
        default="refuse",
        metavar="HOW",
        help="values that are not states of the network, and absent columns: refuse (default), or missing (unknown)",
    )


def _bins(given: list[str]) -> dict[str, str] | None:
    """Parse the values of `--bins`. Return the bins by column name; the empty name stands for all columns."""
    bins: dict[str, str] = {}
    for text in given:
        name, equals, how = text.rpartition("=")
        if name in bins or (equals and not name):
            raise InputError(f"--bins {text}: give each column only once, as NAME=quantile:4")
        bins[name] = how
    return bins or None
