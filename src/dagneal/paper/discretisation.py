"""Section 5.1: the Waste network from the conditional-Gaussian one of Lauritzen (1992)."""

from __future__ import annotations

from decimal import Decimal
from itertools import product
from time import perf_counter

import dagneal as dn
from dagneal.networks import Discrete, Gaussian, discretise_network
from dagneal.paper.experiments import Outcome
from dagneal.paper.items import NOTHING, Item, Section, Setting, Table, verdict
from dagneal.paper.problems import true_network
from dagneal.paper.records import Case, Records

LOST = "WasteType -> FilterEfficiency"
NEAR, MOST = 0.02, 0.75
S, U, IND, HOUSE, OK, DEF = "Stable", "Unstable", "Industrial", "Household", "Intact", "Defective"
LAURITZEN: dict[str, Discrete | Gaussian] = {
    "BurningRegimen": Discrete({S: 0.85, U: 0.15}),
    "FilterState": Discrete({OK: 0.95, DEF: 0.05}),
    "WasteType": Discrete({IND: 2 / 7, HOUSE: 5 / 7}),
    # The logarithm of what the filter lets through: a high efficiency is a low value.
    "FilterEfficiency": Gaussian(
        ("FilterState", "WasteType"),
        {(OK, IND): (-3.9, 2e-5), (OK, HOUSE): (-3.2, 2e-5), (DEF, IND): (-0.4, 1e-4), (DEF, HOUSE): (-0.5, 1e-4)},
        states=("Low", "High"),
    ),
    "CO2Concentration": Gaussian(("BurningRegimen",), {(S,): (-2.0, 0.1), (U,): (-1.0, 0.3)}),
    "MetalsInWaste": Gaussian(("WasteType",), {(IND,): (0.5, 0.01), (HOUSE,): (-0.5, 0.005)}),
    "DustEmission": Gaussian(
        ("BurningRegimen", "WasteType"),
        {(S, IND): (6.5, 0.03), (S, HOUSE): (6.0, 0.04), (U, IND): (7.5, 0.1), (U, HOUSE): (7.0, 0.1)},
        {"FilterEfficiency": 1.0},
    ),
    "LightPenetrability": Gaussian((), {(): (3.0, 0.25)}, {"DustEmission": -0.5}),
    "MetalsEmission": Gaussian((), {(): (0.0, 0.002)}, {"DustEmission": 1.0, "MetalsInWaste": 1.0}),
}


def discretise() -> Outcome:
    """Follow the procedure on Lauritzen's network, beside the published tables.

    Returns:
        - `cells`: for each probability its name, the published value and ours.
        - `lost`: edges of the original that the procedure does not keep.
        - `edges`, `published_edges`: of our network and of the published one.
        - `cuts`: by variable its lowest and its highest value; the cut is in the middle.

        Seconds: `discretise`.
    """
    begun = perf_counter()
    network, cuts = discretise_network(LAURITZEN, "waste")
    published = true_network("waste")
    cells = []
    for name in published.names:
        own, theirs = network.parents[name], published.parents[name]
        union = [*theirs, *(parent for parent in own if parent not in theirs)]
        for setting in product(*(published.states[parent] for parent in union)):
            given = dict(zip(union, setting, strict=True))
            state = published.states[name][0]
            both = [_cell(each, name, state, given) for each in (published, network)]
            words = ", ".join(f"{parent} {value}" for parent, value in given.items())
            cells.append([f"P({name} {state}{' | ' + words if words else ''})", *both])
    lost = sorted(
        [parent, child]
        for child, about in LAURITZEN.items()
        if isinstance(about, Gaussian)
        for parent in (*about.parents, *about.slopes)
        if parent not in network.parents[child]
    )
    result = {
        "cells": cells,
        "lost": lost,
        "edges": sorted(list(edge) for edge in network.dag.edges),
        "published_edges": sorted(list(edge) for edge in published.dag.edges),
        "cuts": {name: [cut.lowest, cut.highest] for name, cut in cuts.items()},
    }
    return Outcome(result, {"discretise": perf_counter() - begun})


def _cell(network: dn.BayesianNetwork, name: str, state: str, given: dict[str, str]) -> float:
    line = tuple(network.states[parent].index(given[parent]) for parent in network.parents[name])
    return float(network.cpts[name][line][network.states[name].index(state)])


def cases(setting: Setting) -> list[Case]:
    """One."""
    return [Case("discretisation", {})]


def section(records: Records, setting: Setting) -> Section:
    """Cell by cell, where they agree and where they do not."""
    r = records.get(Case("discretisation", {}))
    if r is None:
        return Section(NOTHING)
    rows = [
        (name, f"{theirs:g}", f"{ours:.5g}", f"{round(ours - theirs, 4) + 0.0:+.4f}", "yes" if same(theirs, ours) else "no")
        for name, theirs, ours in r.result["cells"]
    ]
    differ = [row[0] for row in rows if row[-1] == "no"]
    far = [name for name, theirs, ours in r.result["cells"] if abs(theirs - ours) > NEAR]
    lost = [" -> ".join(edge) for edge in r.result["lost"]]
    where = [
        (name, f"{low:.5g}", f"{high:.5g}", f"{(low + high) / 2:.5g}") for name, (low, high) in r.result["cuts"].items()
    ]
    tables = [
        Table(
            "Cells of the published tables and of the procedure; the same if ours, rounded to the decimals of the "
            "published cell, is that cell",
            ("cell", "the paper", "ours", "difference", "the same"),
            rows,
        ),
        Table("Where variables are cut", ("variable", "lowest", "highest", "threshold"), where),
    ]
    reasons = [f"{len(differ)} of {len(rows)} cells do not round to the published ones"] if differ else []
    if far:
        reasons.append("cells that contradict the paper: " + ", ".join(far))
    if more := [edge for edge in lost if edge != LOST]:
        reasons.append(f"{', '.join(more)} is lost too, which the published network has")
    shape = [] if LOST in lost else [f"{LOST} is not lost"]
    if len(far) > (1 - MOST) * len(rows):
        shape.append(f"{len(far)} of {len(rows)} cells differ by more than {NEAR}")
    notes = [
        f"Edges that are lost because they make no difference any more: {', '.join(lost) or 'none'}. The paper names "
        f"WasteType -> "
        "FilterEfficiency.",
        "Metals in emission are dust plus metals in waste, and dust varies ten times as much: by the procedure they "
        "follow the dust alone. "
        "The published table has them follow the metals in waste alone.",
    ]
    return Section(*verdict(shape, reasons), tables, notes=notes)


def same(published: float, ours: float) -> bool:
    """Whether a number rounds to a published one, in as many decimals as that has.

    Args:
        published: the number in print.
        ours: the other.

    >>> same(0.03, 0.0289), same(0.99, 0.9999)
    (True, False)
    """
    decimals = max(2, -int(Decimal(repr(published)).as_tuple().exponent))
    return round(ours, decimals) == published


ITEM = Item(
    "discretisation",
    "Section 5.1",
    "The Waste network from its conditional-Gaussian original",
    "Reproduced: WasteType -> FilterEfficiency is lost as the paper says, the edges are the published network's, and every "
    "cell rounds to the published one. In shape: that edge is lost, and three quarters of the cells differ by at most 0.02.",
    cases,
    section,
)
