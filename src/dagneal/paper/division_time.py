"""Table 8: seconds to make all sub-problems."""

from __future__ import annotations

from itertools import pairwise
from math import comb
from statistics import fmean, stdev

from dagneal.paper.items import NOTHING, Item, Section, Setting, Table, verdict
from dagneal.paper.problems import true_network
from dagneal.paper.published import CALLED, TABLE_8
from dagneal.paper.records import Case, Records

SEEDS = (1, 2, 3, 4)
STEADY = 0.05  # the paper's variation is always lower


def _cases(network: str, k: int) -> list[Case]:
    return [Case("construction", {"network": network, "data": f"sampled 10000 {seed}", "k": k}) for seed in SEEDS]


def cases(setting: Setting) -> list[Case]:
    """Four sampled datasets for each problem and size of sub-problems."""
    return [case for network, sizes in TABLE_8.items() for k in sizes for case in _cases(network, k)]


def section(records: Records, setting: Setting) -> Section:
    """Means, deviations and the time of one sub-problem."""
    rows, varied, shape = [], [], []
    for network, sizes in TABLE_8.items():
        n = len(true_network(network).names)
        each: list[float] = []
        for k, (paper, deviation, variation) in sizes.items():
            spent = [r.seconds["ours"] for r in records.of(_cases(network, k))]
            count = comb(n, k)
            published = (f"{paper:,.2f}", f"{deviation:.2f}", f"{variation:.3f}", f"{1e6 * paper / count:,.0f}")
            ours = [NOTHING] * 5
            if len(spent) > 1:
                mean = fmean(spent)
                own = stdev(spent) / mean
                each.append(mean / count)
                ours = [
                    f"{mean:.4f}",
                    f"{stdev(spent):.4f}",
                    f"{own:.3f}",
                    f"{1e6 * mean / count:.0f}",
                    f"{paper / mean:,.0f}",
                ]
                if own >= STEADY:
                    varied.append(f"{CALLED[network]}, k = {k}: variation {own:.3f}")
                elif mean > paper:
                    varied.append(f"{CALLED[network]}, k = {k}: slower than the paper")
            rows.append((CALLED[network], str(k), f"{count:,}", *published, *ours))
        if len(each) == len(sizes) and each[-1] <= each[0]:
            shape.append(f"{CALLED[network]}: a sub-problem of the largest k takes no longer than one of the smallest")
        elif any(second < first for first, second in pairwise(each)):
            varied.append(
                f"{CALLED[network]}: the time of a sub-problem does not grow with every k, since sub-problems share counts"
            )
    table = Table(
        "Seconds from 10,000 sampled rows in memory to the QUBOs of all sub-problems, four datasets: mean, standard "
        "deviation, coefficient of "
        "variation, microseconds of one sub-problem, and the paper's mean by ours",
        (
            "problem",
            "k",
            "sub-problems",
            "the paper, s",
            "deviation",
            "variation",
            "us of one",
            "ours, s",
            "deviation",
            "variation",
            "us of one",
            "the paper by ours",
        ),
        rows,
    )
    return Section(*verdict(shape, varied), [table])


ITEM = Item(
    "division-time",
    "Table 8",
    "Seconds to make all sub-problems",
    "Reproduced: as in the paper the variation over datasets is below 0.05 in every row and the time of one sub-problem "
    "grows with k, and ours is no slower. In shape: a sub-problem of the largest k takes longer than one of the smallest.",
    cases,
    section,
)
