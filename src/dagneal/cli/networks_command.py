"""`dagneal networks`: list the bundled networks or print one of them."""

from __future__ import annotations

import argparse

from dagneal.cli import show
from dagneal.cli.parsing import Parser
from dagneal.cli.streams import write_data

SUMMARY = "list the bundled networks or print one of them"
USAGE = "[NETWORK] [options]"
EXAMPLES = """\
examples:
  dagneal networks
  dagneal networks lung-cancer > lung-cancer.bif
"""


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: parser of the command.
    """
    command.add_argument(
        "network", nargs="?", metavar="NETWORK", help="print this network as BIF; with --json, print only its structure"
    )


def run(options: argparse.Namespace) -> None:
    """List the bundled networks or print one of them.

    Args:
        options: parsed options of the command.
    """
    from dagneal.networks.bif import format_bif
    from dagneal.networks.bundled import NAMES, load

    if options.network:
        network = load(options.network)
        report = {"name": network.name, "states": dict(network.states), "edges": [list(edge) for edge in network.dag.edges]}
        if options.json:
            show.result(report, "", options)
        else:
            write_data(format_bif(network))
        return
    rows = [
        {
            "name": name,
            "variables": len(network.names),
            "edges": network.dag.number_of_edges(),
            "most_parents": max(degree for _, degree in network.dag.in_degree),
            "most_states": max(map(len, network.states.values())),
        }
        for name, network in ((name, load(name)) for name in NAMES)
    ]
    head = f"{'name':14} {'variables':>9} {'edges':>6} {'most parents':>13} {'most states':>12}"
    lines = [f"{r['name']:14} {r['variables']:9} {r['edges']:6} {r['most_parents']:13} {r['most_states']:12}" for r in rows]
    show.result({"networks": rows}, "\n".join([head, *lines]), options)
