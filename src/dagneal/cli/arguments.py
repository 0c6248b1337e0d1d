"""What can be said on the command line. Nothing heavy is imported here, so that --help answers at once."""

from __future__ import annotations

import argparse
from typing import Any

from dagneal.base.defaults import READS, SUBPROBLEM_READS
from dagneal.base.errors import InputError
from dagneal.base.version import __version__
from dagneal.cli.parsing import Once, Parser, command_named, data_options, listed, numbers, reading_options, sizes
from dagneal.strategies.names import LEARNERS as LEARNERS, SAMPLERS as SAMPLERS, check_name

_SAFE: dict[str, Any] = {
    "action": "store_true",
    "help": "make names and states plain words, for tools that take no others",
}

_SOLVERS = """\
solvers:
  auto        the best answer in seconds: exact up to 22 variables, the conquest beyond (the default)
  exact       dynamic programming, proved optimal, up to 28 variables
  order       ordering search over all sets of parents, up to 65 variables
  exhaustive  the paper's exhaustive search of the QUBO, up to 5 variables
  sa          simulated annealing            sqa     simulated quantum annealing (path integral)
  tabu        tabu search                    tree    exact on the QUBO, if its treewidth is at most 25
  greedy      steepest descent               random  random bits, the weakest baseline
  qpu         D-Wave's quantum annealer      qpu-emulated  the same, emulated on this machine
  leap-hybrid D-Wave's hybrid solver         (these three need pip install 'dagneal[qpu]')
Any other dimod sampler: --sampler package.module:NAME (a class, a function that returns a sampler, or a sampler)
A sampler solves blocks of three variables, then the whole on the candidate parents that these suggest, again and again with
more candidates until none is missing; --direct makes it solve the whole at once.
"""

_ENCODING = "tight (default), gap or paper; also complete or chordal, pruned or unpruned, with commas between"


def parser() -> argparse.ArgumentParser:
    """The parser of the command `dagneal`."""
    top = Parser(
        prog="dagneal",
        description="Learn the structure of Bayesian networks with annealers, and know how good the answer is.",
        epilog="Start with: dagneal sample lung-cancer -o lc.csv && dagneal learn lc.csv",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"dagneal {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    _learn(commands)
    _sample(commands)
    _encode(commands)
    _compare(commands)
    _tools(commands)
    _plan(commands)
    _reproduce(commands)
    _networks(commands)
    _resume(commands)
    return top


def _learn(commands: argparse._SubParsersAction[Parser]) -> None:
    command = command_named(
        commands,
        "learn",
        "learn the structure of a Bayesian network from data",
        _SOLVERS + "\nexamples:\n"
        "  dagneal learn patients.csv\n"
        "  dagneal learn patients.csv --solver sa --reads 100 --seed 7 -o patients.bif\n"
        "  dagneal learn lc.csv --solver sa --direct --set num_sweeps=5000 --truth lung-cancer\n"
        "  dagneal learn alarm.csv --solver sa --encoding paper --divide 4 --rule penalty --reads 100 --raw  # the paper's\n"
        "  dagneal learn lc.csv --json | python -m json.tool",
    )
    data_options(command)
    group = command.add_argument_group("solver")
    which = group.add_mutually_exclusive_group()
    which.add_argument("--solver", type=_solver, default="auto", metavar="NAME", help="see below (default auto)")
    which.add_argument("--sampler", metavar="MODULE:NAME", help="any dimod sampler, or what makes one without arguments")
    group.add_argument(
        "--reads",
        type=int,
        metavar="N",
        help=f"reads of a sampler (default {READS}; sqa, tabu and blocks {SUBPROBLEM_READS}; tree 1)",
    )
    group.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", dest="parameters", help="a parameter of the sampler"
    )
    group.add_argument("--raw", action="store_true", help="report the best raw read, without repair")
    group.add_argument("--encoding", default="tight", metavar="WORDS", help="how the QUBO is made: " + _ENCODING)
    group.add_argument("--direct", action="store_true", help="let a sampler solve the whole at once, without blocks")
    group.add_argument(
        "--divide", type=int, metavar="K", help="divide et impera: solve blocks of K variables first (samplers: default 3)"
    )
    group.add_argument(
        "--blocks", default="all", metavar="SCHEME", help="which blocks: all, cover:2, cover:3 or sample:F (default all)"
    )
    group.add_argument(
        "--rule", default="conquer", metavar="RULE", help="how to put them together: conquer (default), penalty or count"
    )
    group.add_argument("--acyclic", action="store_true", help="drop the weakest edge of each cycle that a rule leaves")
    _journal(group)
    _dask(group, "solve blocks, resample and count on a Dask cluster: a scheduler, or local:4")
    group.add_argument("--seed", type=int, metavar="S", help="same seed, same answer (default 0)")
    group.add_argument("--start", metavar="NETWORK", help="begin with this network (a file or a bundled name)")
    group.add_argument("--time-limit", type=float, metavar="S", help="seconds after which the best network so far is taken")
    group = command.add_argument_group("quantum annealer")
    group.add_argument("--annealing-time", type=float, metavar="US", help="microseconds of a read (default: the chip's)")
    group.add_argument("--chain-strength", metavar="X", help="prefactor of Ocean's strength (default 1.414), or scan")
    group.add_argument("--no-gauges", action="store_true", help="do not turn spins at random")
    group.add_argument("--profile", metavar="NAME", help="of your dwave.conf; tokens are read by Ocean alone")
    group.add_argument("--system", metavar="NAME", help="the chip: a solver's name, or pegasus, zephyr, chimera")
    group.add_argument(
        "--noise", type=float, metavar="X", help="control error of the emulator, the largest coupling being 1"
    )
    group.add_argument("--embedding", metavar="FILE", help="an embedding of your own, JSON, for --direct")
    group = command.add_argument_group("confidence")
    group.add_argument("--bootstrap", type=int, metavar="N", help="learn from N resamples of the rows, and count edges")
    group.add_argument("--threshold", type=float, metavar="SHARE", help="mark edges that fewer resamples have (default 0.5)")
    group.add_argument("--ess", type=sizes, metavar="X,...", help="learn with these equivalent sample sizes, side by side")
    group.add_argument("--holdout", type=float, metavar="SHARE", help="see how well rows held out are foretold, such as 0.2")
    group = command.add_argument_group("results")
    group.add_argument(
        "-o",
        "--output",
        action="append",
        default=[],
        metavar="FILE",
        help="save the result: .html (a page), .json, .bif, .graphml or .dot (may be repeated)",
    )
    group.add_argument("--safe-labels", **_SAFE)
    group.add_argument("--samples", metavar="FILE", help="save the reads of the whole, as a sampler gave them, as JSON")
    group.add_argument("--truth", metavar="NETWORK", help="compare with this network (a .bif file or a bundled name)")


def _solver(name: str) -> str:
    """The name of a solver; a wrong one is refused here, before anything heavy is imported."""
    try:
        check_name(name)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return name


def _sample(commands: argparse._SubParsersAction[Parser]) -> None:
    command = command_named(
        commands,
        "sample",
        "make data from a network",
        "examples:\n"
        "  dagneal sample lung-cancer --rows 10000 --seed 7 -o lc.csv\n"
        "  dagneal sample lung-cancer --rows 10000 --expected -o lc.csv   # the paper's data without variance\n"
        "  dagneal sample asia.bif --rows 1000000 --weights count -o asia.parquet   # equal rows merged",
    )
    command.add_argument("network", metavar="NETWORK", help="a .bif file or a bundled name (see dagneal networks)")
    command.add_argument("--rows", type=int, default=10_000, metavar="N", help="number of rows (default 10000)")
    command.add_argument("--seed", type=int, default=0, metavar="S", help="same seed, same rows (default 0)")
    command.add_argument("--expected", action="store_true", help="each combination of states as often as expected")
    command.add_argument(
        "--rounding", choices=("nearest", "floor"), default="nearest", help="of expected counts (default nearest)"
    )
    command.add_argument("--weights", metavar="COLUMN", help="write distinct rows with their number in this column")
    command.add_argument(
        "-o", "--output", action=Once, metavar="FILE", help=".csv, .tsv or .parquet (default: CSV to the terminal)"
    )


def _encode(commands: argparse._SubParsersAction[Parser]) -> None:
    command = command_named(
        commands,
        "encode",
        "write the search for the best network as a QUBO",
        "examples:\n"
        "  dagneal encode lc.csv --compare           # the encodings side by side\n"
        "  dagneal encode lc.csv -o lc.bqm           # dimod.BinaryQuadraticModel.from_file\n"
        "  dagneal encode lc.csv -o lc.bqm --encoding paper\n"
        "  dagneal encode lc.csv -o lc.coo --ising   # text: row, column, value, over spins\n"
        "  dagneal encode lc.csv -o lc.npz           # arrays row, column, value, offset, labels",
    )
    data_options(command)
    command.add_argument("--encoding", default="tight", metavar="WORDS", help="how: " + _ENCODING)
    command.add_argument("--compare", action="store_true", help="show what each encoding would need, and write nothing")
    command.add_argument("--ising", action="store_true", help="over spins -1 and +1 instead of bits")
    command.add_argument("-o", "--output", action=Once, metavar="FILE", help="where to write it: .bqm, .coo or .npz")


def _compare(commands: argparse._SubParsersAction[Parser]) -> None:
    command = command_named(
        commands,
        "compare",
        "compare a learned network with the truth",
        "examples:\n"
        "  dagneal compare learned.bif truth.bif\n"
        "  dagneal compare learned.json lung-cancer --data lc.csv   # and how their scores differ",
    )
    command.add_argument("found", metavar="FOUND", help="a .bif file, a .json file of `learn`, or a bundled name")
    command.add_argument("truth", metavar="TRUTH", help="likewise")
    command.add_argument("--data", metavar="FILE", help="score both networks on these data")
    reading_options(command)


def _tools(commands: argparse._SubParsersAction[Parser]) -> None:
    network: dict[str, Any] = {"metavar": "NETWORK", "help": "a .bif, .json or .graphml file, or a bundled name"}
    data: dict[str, Any] = {
        "metavar": "DATA",
        "help": "a CSV, TSV or Parquet file with the same variables; - for standard input",
    }
    command = command_named(
        commands,
        "score",
        "score a network on data",
        "examples:\n  dagneal score network.bif patients.csv\n  dagneal score lung-cancer lc.csv --score bic --json",
    )
    command.add_argument("network", **network)
    command.add_argument("data", **data)
    reading_options(command)
    command = command_named(
        commands,
        "fit",
        "give a structure probabilities, from data",
        "examples:\n  dagneal fit structure.json patients.csv -o network.bif\n"
        "  dagneal fit network.bif new.csv --score bdeu:10 -o updated.bif",
    )
    command.add_argument("network", **network)
    command.add_argument("data", **data)
    reading_options(command)
    command.add_argument("--safe-labels", **_SAFE)
    command.add_argument(
        "-o",
        "--output",
        action="append",
        required=True,
        metavar="FILE",
        help=".bif or .json; .graphml and .dot hold edges only (may be repeated)",
    )
    command = command_named(
        commands,
        "convert",
        "write a network in another format",
        "examples:\n  dagneal convert network.bif network.json\n  dagneal convert child.bif safe.bif --safe-labels",
    )
    command.add_argument("source", **network)
    command.add_argument("target", metavar="FILE", help="where: .bif, .json, .graphml or .dot")
    command.add_argument("--safe-labels", **_SAFE)


def _plan(commands: argparse._SubParsersAction[Parser]) -> None:
    command = command_named(
        commands,
        "plan",
        "work out what a quantum annealer would need, before anything is paid for",
        "examples:\n"
        "  dagneal plan --variables 15 --divide 3,4,5 --topology pegasus,zephyr\n"
        "  dagneal plan patients.csv --divide 4 --blocks cover:2 --reads 100 -o plan.svg",
    )
    command.add_argument(
        "data", nargs="?", metavar="DATA", help="a data file: the solve of the whole after the blocks is planned too"
    )
    command.add_argument("--variables", type=int, metavar="N", help="the number of variables")
    command.add_argument("--divide", type=numbers, metavar="K,...", help="sizes of blocks (default: the whole at once)")
    command.add_argument("--blocks", default="all", metavar="SCHEME", help="which blocks (default all)")
    command.add_argument(
        "--rule",
        choices=("conquer", "penalty", "count"),
        default="conquer",
        help="how they are put together (default conquer)",
    )
    command.add_argument(
        "--topology",
        type=listed,
        default=["pegasus"],
        metavar="NAME,...",
        help="chips: pegasus, zephyr, chimera, or names of systems (default pegasus)",
    )
    command.add_argument("--encoding", default="tight", metavar="WORDS", help="of blocks: tight (default), gap or paper")
    command.add_argument("--max-parents", type=int, metavar="M", help="most parents (default 2 in a block, 4 in the whole)")
    command.add_argument(
        "--reads", type=int, metavar="N", help=f"reads (default {SUBPROBLEM_READS} of a block, {READS} of the whole)"
    )
    command.add_argument("--annealing-time", type=float, default=20.0, metavar="US", help="of a read (default 20)")
    command.add_argument("-o", "--output", action=Once, metavar="FILE", help="draw the copies on the chip: .png or .svg")


def _journal(command: Parser | argparse._ArgumentGroup) -> None:
    command.add_argument("--journal", metavar="FILE", help="keep what is finished in this file; dagneal resume FILE goes on")


def _dask(command: Parser | argparse._ArgumentGroup, words: str) -> None:
    command.add_argument("--dask", metavar="ADDRESS", help=words)


def _reproduce(commands: argparse._SubParsersAction[Parser]) -> None:
    command = command_named(
        commands,
        "reproduce",
        "run the paper's evaluation again, its figures beside ours",
        "Runs are recorded as they end: Ctrl-C, and the same command goes on where it was.\n\nexamples:\n"
        "  dagneal reproduce --list                      # the items, and the time that each takes here\n"
        "  dagneal reproduce                             # all of them, quick\n"
        "  dagneal reproduce performance table-11 --scale paper\n"
        "  dagneal reproduce all --report                # the report again, from the records",
    )
    command.add_argument(
        "items", nargs="*", metavar="ITEM", help="names, or the paper's numbers such as 5 or table-5 (default all)"
    )
    command.add_argument("--list", action="store_true", help="show the items, and run nothing")
    command.add_argument(
        "--scale",
        choices=("quick", "paper"),
        default="quick",
        help="quick (default) or the paper's own sizes, runs and reads",
    )
    command.add_argument("--qpu", action="store_true", help="quantum annealing on D-Wave's hardware; emulated without it")
    command.add_argument("--k", type=numbers, metavar="K,...", help="only these sizes of blocks in Tables 9 to 11")
    command.add_argument("--report", action="store_true", help="run nothing, write the report from the records")
    command.add_argument(
        "-o", "--output", action=Once, metavar="FOLDER", help="where (default reproduction, or reproduction-paper)"
    )
    _journal(command)


def _networks(commands: argparse._SubParsersAction[Parser]) -> None:
    command = command_named(
        commands,
        "networks",
        "list the bundled networks, or print one",
        "examples:\n  dagneal networks\n  dagneal networks lung-cancer > lung-cancer.bif",
    )
    command.add_argument("network", nargs="?", metavar="NETWORK", help="print this one as BIF, or what it holds as JSON")


def _resume(commands: argparse._SubParsersAction[Parser]) -> None:
    command = command_named(
        commands,
        "resume",
        "go on with a run that was interrupted, from its journal",
        "examples:\n  dagneal learn big.csv --solver sa --divide 4 --journal run.db -o big.html\n  dagneal resume run.db\n"
        "  dagneal resume run.db --dask local:4          # where the cluster that it began on is gone\n"
        "  dagneal resume run.db --sampler mine:Sampler  # a run with --sampler mine:Sampler",
    )
    command.add_argument("file", metavar="JOURNAL", help="what --journal named")
    _dask(command, "continue on this cluster: a scheduler, or local:4; required if the run used a scheduler")
    command.add_argument("--sampler", metavar="MODULE:CLASS", help="repeat the --sampler of the run; required if it had one")
    command.add_argument("--profile", metavar="NAME", help="repeat the --profile of the run; required if it had one")
