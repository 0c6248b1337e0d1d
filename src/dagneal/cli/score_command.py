"""`dagneal score`: score a network on data."""

from __future__ import annotations

import argparse
from typing import Any

from dagneal.base.text import columns, pad_text
from dagneal.cli import show
from dagneal.cli.inputs import add_network_and_data, add_reading_options, read_data_of
from dagneal.cli.parsing import Parser

SUMMARY = "score a network on data"
USAGE = "NETWORK DATA [options]"
EXAMPLES = """\
examples:
  dagneal score network.bif patients.csv
  dagneal score lung-cancer lc.csv --score bic --json
"""


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: its parser.
    """
    add_network_and_data(command)
    add_reading_options(command)


def run(options: argparse.Namespace) -> None:
    """Print the log score of a structure on data, and the log-likelihood under its own probabilities.

    Args:
        options: of the command.
    """
    from dagneal.confidence.measures import log_likelihood, same_states
    from dagneal.graphs.dags import check_acyclic
    from dagneal.networks.formats import read_structure, structure_of
    from dagneal.networks.network import BayesianNetwork
    from dagneal.report.summary import shorten
    from dagneal.scoring.scorer import Scorer
    from dagneal.scoring.scores import score_named

    rule = score_named(options.score)
    network = read_structure(options.network)
    dag = structure_of(network)
    check_acyclic(dag, options.network)
    data = read_data_of(dag, options)
    scorer = Scorer(data, rule)
    local = {name: scorer.local(name, dag.predecessors(name)) for name in data.names}
    report: dict[str, Any] = {"score_name": rule.name, "score": sum(local.values()), "local": local, "rows": data.rows}
    width = max(columns(shorten(name)) for name in local)
    lines = [f"  {pad_text(shorten(name), width)} {value:16.4f}" for name, value in local.items()]
    lines += ["", f"{rule.name} log score {report['score']:.4f} on {data.rows:,} rows"]
    if isinstance(network, BayesianNetwork) and same_states(network, data):
        report["log_likelihood"] = log_likelihood(network, data)
        lines.append(f"log-likelihood with its own probabilities {report['log_likelihood']:.4f}")
    elif isinstance(network, BayesianNetwork):
        lines.append(
            "its own probabilities are for other states, or for another order of them; "
            f"--states {options.network} takes its states"
        )
    show.result(report, "\n".join(lines), options)
