"""`dagneal compare`: compare a learned network with the true network."""

from __future__ import annotations

import argparse

from dagneal.cli import show
from dagneal.cli.inputs import NETWORK_HELP, add_reading_options, read_data, read_graph
from dagneal.cli.parsing import Parser

SUMMARY = "compare a learned network with the true network"
USAGE = "LEARNED TRUTH [options]"
EXAMPLES = """\
examples:
  dagneal compare learned.bif truth.bif
  dagneal compare learned.json lung-cancer --data lc.csv   # also compare the scores on data
"""


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: parser of the command.
    """
    command.add_argument("learned", metavar="LEARNED", help=f"learned network: {NETWORK_HELP}")
    command.add_argument("truth", metavar="TRUTH", help="true network: file or name, as for LEARNED")
    command.add_argument("--data", metavar="FILE", help="also score both networks on this data file")
    add_reading_options(command)


def run(options: argparse.Namespace) -> None:
    """Compare two networks and print the result.

    Args:
        options: parsed options of the command.
    """
    from dagneal.networks.comparison import compare
    from dagneal.report.summary import comparison_line
    from dagneal.scoring.scorer import Scorer
    from dagneal.scoring.scores import parse_score

    score = parse_score(options.score)
    learned, truth = read_graph(options.learned), read_graph(options.truth)
    comparison = compare(learned, truth, Scorer(read_data(options), score) if options.data else None)
    show.result(comparison.to_dict(), comparison_line(comparison), options)
