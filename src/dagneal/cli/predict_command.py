"""`dagneal predict`: predict one variable for each row of a file."""

from __future__ import annotations

import argparse

from dagneal.base.text import plural
from dagneal.cli import show
from dagneal.cli.inputs import MODEL_HELP, add_unseen, announce_compilation, read_model
from dagneal.cli.parsing import Parser
from dagneal.cli.row_output import add_output, check_output, write_rows

SUMMARY = "predict one variable for each row of a file"
USAGE = "NETWORK DATA --target NAME [options]"
EXAMPLES = """\
examples:
  dagneal predict network.bif new.csv --target survived -o predicted.csv
  dagneal predict ensemble.json new.csv --target survived --unseen missing
"""


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: parser of the command.
    """
    command.add_argument("network", metavar="NETWORK", help=MODEL_HELP)
    command.add_argument("data", metavar="DATA", help="file with new rows; the target may be absent; - for standard input")
    command.add_argument("--target", required=True, metavar="NAME", help="variable to predict")
    add_unseen(command)
    add_output(command)


def run(options: argparse.Namespace) -> None:
    """Predict and write the most probable state and the probability of each state, row by row.

    Args:
        options: parsed options of the command.
    """
    from dagneal.inference.rows import predict

    check_output(options)
    model = read_model(options.network)
    announce_compilation(options)
    frame = predict(model, options.data, options.target, options.unseen)
    write_rows(frame, options.output)
    if options.output:
        report = {"file": options.output, "rows": frame.height, "target": options.target, "columns": frame.columns}
        show.result(report, f"predictions for {plural(frame.height, 'row')} written to {options.output}", options)
