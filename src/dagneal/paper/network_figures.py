"""Figures 1 to 3: the paper's networks, and the networks learned from their data."""

from __future__ import annotations

from functools import partial

import dagneal as dn
from dagneal.paper.figures import draw_network
from dagneal.paper.items import DASH, Figure, Item, Section, Setting, Table, verdict
from dagneal.paper.problems import recorded_graph, true_network
from dagneal.paper.published import TITLES
from dagneal.paper.records import Case, Records

# Numbers of variables and edges in the paper's text or figures.
SIZES = {
    "monty-hall": (3, 2),
    "lung-cancer-4": (4, 3),
    "lung-cancer": (5, 4),
    "waste": (9, 9),
    "waste-2p": (9, 8),
    "waste-2p-dep": (9, 9),
    "alarm-15": (15, 15),
}


def _case(network: str) -> Case:
    return Case("learn", {"network": network, "data": "expected 10000"})


def cases(setting: Setting) -> list[Case]:
    """Return one run per network: learn the network from its expected data."""
    return [_case(network) for network in SIZES]


def section(records: Records, setting: Setting) -> Section:
    """Return the report section for Figures 1 to 3: sizes of the networks, and drawings of the learned networks."""
    rows, figures, reasons = [], [], []
    for network, (variables, edges) in SIZES.items():
        truth = true_network(network).dag
        if (len(truth), truth.number_of_edges()) != (variables, edges):
            reasons.append(f"{TITLES[network]} has {len(truth)} variables and {truth.number_of_edges()} edges")
        r = records.get(_case(network))
        if r is None:
            rows.append(
                (
                    TITLES[network],
                    network,
                    f"{variables}, {edges}",
                    f"{len(truth)}, {truth.number_of_edges()}",
                    *[DASH] * 4,
                )
            )
            continue
        graph = recorded_graph(network, r.result["edges"])
        comparison = dn.compare(graph, truth)
        rows.append(
            (
                TITLES[network],
                network,
                f"{variables}, {edges}",
                f"{len(truth)}, {truth.number_of_edges()}",
                f"{comparison.true_positives} / {comparison.false_positives}",
                str(comparison.cpdag_shd),
                f"{r.result['score'] - r.result['truth_score']:+.2f}",
                "yes" if r.result["optimal"] else "no",
            )
        )
        caption = f"{TITLES[network]}: correct (black), reversed (orange), other wrong (red) and missing edges (dashed)"
        figures.append(Figure(f"network-{network}", caption, partial(draw_network, graph=graph, truth=truth), (8.0, 5.0)))
    head = (
        "problem",
        "name in dagneal",
        "variables, edges: the paper",
        "variables, edges: ours",
        "learned edges: correct / wrong",
        "CPDAG distance",
        "log score minus that of the truth",
        "proved optimal",
    )
    table = Table(
        "The networks, and the results of `dagneal learn` on 10,000 expected rows (at most four parents)", head, rows
    )
    return Section(*verdict(reasons, []), [table], figures)


ITEM = Item(
    "networks",
    "Figures 1 to 3",
    "The networks",
    "Reproduced: every network has as many variables and edges as in the paper. Its figures are images, so this item does "
    "not compare single edges with them.",
    cases,
    section,
)
