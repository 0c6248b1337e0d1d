"""Commands for networks that are there already: score, fit and convert."""

from __future__ import annotations

import argparse
import os
from typing import Any

from dagneal.base.errors import InputError
from dagneal.base.files import check_different
from dagneal.base.text import columns, padded
from dagneal.cli import reading, show
from dagneal.graphs.dags import check_acyclic, check_variables


def score(options: argparse.Namespace) -> None:
    """`dagneal score`: the log score of a structure on data, and what its own probabilities make of them."""
    from dagneal.confidence.measures import log_likelihood, same_states
    from dagneal.networks.formats import read_structure, structure_of
    from dagneal.networks.network import BayesianNetwork
    from dagneal.scoring.scorer import Scorer
    from dagneal.scoring.scores import score_named

    rule = score_named(options.score)
    found = read_structure(options.network)
    dag = structure_of(found)
    check_acyclic(dag, options.network)
    data = _read(options, dag)
    check_variables(dag, data.names, options.network)
    scorer = Scorer(data, rule)
    local = {name: scorer.local(name, dag.predecessors(name)) for name in data.names}
    report: dict[str, Any] = {"score_name": rule.name, "score": sum(local.values()), "local": local, "rows": data.rows}
    width = max(columns(show.plain(name)) for name in local)
    lines = [f"  {padded(show.plain(name), width)} {value:16.4f}" for name, value in local.items()]
    lines += ["", f"{rule.name} log score {report['score']:.4f} on {data.rows:,} rows"]
    if isinstance(found, BayesianNetwork) and same_states(found, data):
        report["log_likelihood"] = log_likelihood(found, data)
        lines.append(f"log-likelihood with its own probabilities {report['log_likelihood']:.4f}")
    elif isinstance(found, BayesianNetwork):
        lines.append(
            "its own probabilities are for other states, or for another order of them; "
            f"--states {options.network} takes its states"
        )
    show.result(report, "\n".join(lines), options)


def fit(options: argparse.Namespace) -> None:
    """`dagneal fit`: probabilities for a structure, from data."""
    from dagneal.networks.formats import check_format, read_structure, structure_of, write_network
    from dagneal.networks.network import fit
    from dagneal.scoring.scores import Dirichlet, score_named

    for path in options.output:
        check_format(path)
    check_different(options.output)
    prior = score_named(options.score)
    if not isinstance(prior, Dirichlet):
        raise InputError(f"{options.score} has no prior to fit with; give bdeu:ESS, bdeu-rows, k2 or perks")
    dag = structure_of(read_structure(options.network))
    data = _read(options, dag)
    check_variables(dag, data.names, options.network)
    network = fit(dag, data, prior)
    for path in options.output:
        write_network(network, path, options.safe_labels)
    parameters = sum(table.size - table.size // table.shape[-1] for table in network.cpts.values())
    report = {"file": options.output[0], "files": options.output, "rows": data.rows, "parameters": parameters}
    text = f"{parameters:,} free parameters fitted to {data.rows:,} rows, written to {', '.join(options.output)}"
    show.result(report, text, options)


def _read(options: argparse.Namespace, dag: Any) -> Any:
    """The data of a network: its columns, whatever others there are."""
    if options.columns is None:
        options.columns = [name for name in dag if name not in options.drop]
    return reading.data(options)


def convert(options: argparse.Namespace) -> None:
    """`dagneal convert`: a network in another format."""
    from dagneal.networks.formats import check_format, read_structure, structure_of, write_network

    check_format(options.target)
    if os.path.realpath(options.source) == os.path.realpath(options.target):
        raise InputError(f"{options.target} would be written over itself; give another name")
    found = read_structure(options.source)
    write_network(found, options.target, options.safe_labels)
    dag = structure_of(found)
    report = {"file": options.target, "variables": len(dag), "edges": dag.number_of_edges()}
    text = f"{show.many(len(dag), 'variable')} and {show.many(dag.number_of_edges(), 'edge')} written to {options.target}"
    show.result(report, text, options)
