"""`dagneal impute`: fill the missing values of a file."""

from __future__ import annotations

import argparse

from dagneal.base.defaults import SEED
from dagneal.base.text import plural
from dagneal.cli import show
from dagneal.cli.inputs import MODEL_HELP, add_unseen, announce_compilation, read_model
from dagneal.cli.parsing import Parser
from dagneal.cli.row_output import add_output, check_output, write_rows

SUMMARY = "fill the missing values of a file"
USAGE = "NETWORK DATA [options]"
EXAMPLES = """\
examples:
  dagneal impute network.bif gaps.csv -o full.csv
  dagneal impute network.bif gaps.csv --method sample --seed 7 -o full.csv   # draw the values
"""


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: parser of the command.
    """
    command.add_argument("network", metavar="NETWORK", help=MODEL_HELP)
    command.add_argument("data", metavar="DATA", help="file with missing values; - for standard input")
    command.add_argument(
        "--method",
        choices=("joint", "each", "sample"),
        default="joint",
        metavar="HOW",
        help="joint (default): the most probable combination of all missing values of a row; each: the most probable state "
        "of each value; sample: draw them",
    )
    command.add_argument("--seed", type=int, default=SEED, metavar="S", help=f"random seed of sample (default {SEED})")
    add_unseen(command)
    add_output(command)


def run(options: argparse.Namespace) -> None:
    """Fill the missing values, and write the columns that are variables of the network.

    Args:
        options: parsed options of the command.
    """
    from dagneal.inference.rows import impute

    check_output(options)
    model = read_model(options.network)
    announce_compilation(options)
    frame = impute(model, options.data, options.method, options.seed, options.unseen)
    write_rows(frame, options.output)
    if options.output:
        report = {"file": options.output, "rows": frame.height, "columns": frame.columns}
        show.result(report, f"{plural(frame.height, 'row')} without missing values written to {options.output}", options)
