"""`dagneal convert`: convert a network to another format."""

from __future__ import annotations

import argparse
import os

from dagneal.base.errors import InputError
from dagneal.base.files import check_format
from dagneal.base.text import plural
from dagneal.cli import show
from dagneal.cli.inputs import NETWORK_HELP, add_safe_labels
from dagneal.cli.parsing import Parser

SUMMARY = "convert a network to another format"
USAGE = "NETWORK FILE [options]"
EXAMPLES = """\
examples:
  dagneal convert network.bif network.json
  dagneal convert child.bif safe.bif --safe-labels
"""


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: parser of the command.
    """
    command.add_argument("source", metavar="NETWORK", help=NETWORK_HELP)
    command.add_argument("target", metavar="FILE", help="output file: .bif, .json, .graphml or .dot")
    add_safe_labels(command)


def run(options: argparse.Namespace) -> None:
    """Read a network, write it in another format, and print its size.

    Args:
        options: parsed options of the command.
    """
    from dagneal.networks.formats import FORMATS, get_dag, read_structure, write_network

    check_format(options.target, FORMATS)
    if os.path.realpath(options.source) == os.path.realpath(options.target):
        raise InputError(f"{options.target} is both input and output; give another output file")
    network = read_structure(options.source)
    write_network(network, options.target, options.safe_labels or None)
    dag = get_dag(network)
    edges = dag.number_of_edges()
    report = {"file": options.target, "variables": len(dag), "edges": edges}
    size = f"{plural(len(dag), 'variable')} and {plural(edges, 'edge')}"
    show.result(report, f"{size} written to {options.target}", options)
