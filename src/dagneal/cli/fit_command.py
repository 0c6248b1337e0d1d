"""`dagneal fit`: fit the probabilities of a network to data."""

from __future__ import annotations

import argparse

from dagneal.base.errors import InputError
from dagneal.base.files import check_distinct_paths, check_format
from dagneal.cli import show
from dagneal.cli.inputs import add_network_and_data, add_reading_options, add_safe_labels, read_data_of
from dagneal.cli.parsing import Parser

SUMMARY = "fit the probabilities of a network to data"
USAGE = "NETWORK DATA -o FILE [options]"
EXAMPLES = """\
examples:
  dagneal fit structure.json patients.csv -o network.bif
  dagneal fit network.bif new.csv --score bdeu:10 -o updated.bif
"""


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: parser of the command.
    """
    add_network_and_data(command)
    add_reading_options(command)
    add_safe_labels(command)
    output = "output file: .bif or .json; .graphml and .dot contain only edges (may be repeated)"
    command.add_argument("-o", "--output", action="append", required=True, metavar="FILE", help=output)


def run(options: argparse.Namespace) -> None:
    """Fit the probabilities and write the network.

    Args:
        options: parsed options of the command.
    """
    from dagneal.networks.formats import FORMATS, get_dag, read_structure, write_network
    from dagneal.networks.network import fit
    from dagneal.scoring.scores import Dirichlet, parse_score, score_names

    for path in options.output:
        check_format(path, FORMATS)
    check_distinct_paths(options.output)
    prior = parse_score(options.score)
    if not isinstance(prior, Dirichlet):
        names = ", ".join(score_names(Dirichlet))
        raise InputError(f"the fit needs a score with a prior, but --score is {options.score}; give one of: {names}")
    dag = get_dag(read_structure(options.network))
    data = read_data_of(dag, options)
    network = fit(dag, data, prior)
    for path in options.output:
        write_network(network, path, options.safe_labels or None)
    parameters = sum(table.size - table.size // table.shape[-1] for table in network.cpts.values())
    report = {"file": options.output[0], "files": options.output, "rows": data.rows, "parameters": parameters}
    text = f"{parameters:,} free parameters fitted to {data.rows:,} rows, written to {', '.join(options.output)}"
    show.result(report, text, options)
