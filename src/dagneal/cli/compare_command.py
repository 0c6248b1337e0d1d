"""`dagneal compare`: compare a learned network with the truth."""

from __future__ import annotations

import argparse

from dagneal.cli import show
from dagneal.cli.inputs import add_reading_options, read_data, read_graph
from dagneal.cli.parsing import Parser

SUMMARY = "compare a learned network with the truth"
USAGE = "FOUND TRUTH [options]"
EXAMPLES = """\
examples:
  dagneal compare learned.bif truth.bif
  dagneal compare learned.json lung-cancer --data lc.csv   # and how their scores differ
"""


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: its parser.
    """
    command.add_argument("found", metavar="FOUND", help="a .bif file, a .json file of `learn`, or a bundled name")
    command.add_argument("truth", metavar="TRUTH", help="likewise")
    command.add_argument("--data", metavar="FILE", help="score both networks on these data")
    add_reading_options(command)


def run(options: argparse.Namespace) -> None:
    """Compare two networks, and print how they differ.

    Args:
        options: of the command.
    """
    from dagneal.networks.comparison import compare
    from dagneal.report.summary import comparison_line
    from dagneal.scoring.scorer import Scorer
    from dagneal.scoring.scores import score_named

    score = score_named(options.score)
    found, truth = read_graph(options.found), read_graph(options.truth)
    comparison = compare(found, truth, Scorer(read_data(options), score) if options.data else None)
    show.result(comparison.to_dict(), comparison_line(comparison), options)
