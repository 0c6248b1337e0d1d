"""`dagneal score`: compute the score of a network on data."""

from __future__ import annotations

import argparse
from typing import Any

from dagneal.base.text import display_width, pad_text
from dagneal.cli import show
from dagneal.cli.inputs import add_network_and_data, add_reading_options, read_data_of
from dagneal.cli.parsing import Parser

SUMMARY = "compute the score of a network on data"
USAGE = "NETWORK DATA [options]"
EXAMPLES = """\
examples:
  dagneal score network.bif patients.csv
  dagneal score lung-cancer lc.csv --score bic --json
"""


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: parser of the command.
    """
    add_network_and_data(command)
    add_reading_options(command)


def run(options: argparse.Namespace) -> None:
    """Print the log score of a network on data, and the log-likelihood if the network has probabilities.

    Args:
        options: parsed options of the command.
    """
    from dagneal.confidence.measures import log_likelihood, same_states
    from dagneal.graphs.dags import check_acyclic
    from dagneal.networks.formats import get_dag, read_structure
    from dagneal.networks.network import BayesianNetwork
    from dagneal.report.summary import shorten
    from dagneal.scoring.scorer import Scorer
    from dagneal.scoring.scores import parse_score

    rule = parse_score(options.score)
    network = read_structure(options.network)
    dag = get_dag(network)
    check_acyclic(dag, options.network)
    data = read_data_of(dag, options)
    scorer = Scorer(data, rule)
    local = {name: scorer.local(name, dag.predecessors(name)) for name in data.names}
    report: dict[str, Any] = {"score_name": rule.name, "score": sum(local.values()), "local": local, "rows": data.rows}
    width = max(display_width(shorten(name)) for name in local)
    lines = [f"  {pad_text(shorten(name), width)} {value:16.4f}" for name, value in local.items()]
    lines += ["", f"{rule.name} log score {report['score']:.4f} on {data.rows:,} rows"]
    if isinstance(network, BayesianNetwork) and same_states(network, data):
        report["log_likelihood"] = log_likelihood(network, data)
        lines.append(f"log-likelihood with the probabilities of the network {report['log_likelihood']:.4f}")
    elif isinstance(network, BayesianNetwork):
        lines.append(
            "no log-likelihood: the data and the network have different states, or the same states in another order; "
            f"add --states {options.network}"
        )
    show.result(report, "\n".join(lines), options)
