"""Table 8: seconds to make all sub-problems."""

from __future__ import annotations

from math import comb
from statistics import fmean, stdev

from dagneal.networks import load
from dagneal.paper.items import NOTHING, Item, Section, Setting, Table, verdict
from dagneal.paper.published import CALLED, TABLE_8
from dagneal.paper.records import Case, Records

SEEDS = (1, 2, 3, 4)


def _cases(network: str, k: int) -> list[Case]:
    return [Case("construction", {"network": network, "data": f"sampled 10000 {seed}", "k": k}) for seed in SEEDS]


def cases(setting: Setting) -> list[Case]:
    """Four sampled datasets for each problem and size of sub-problems."""
    return [case for network, sizes in TABLE_8.items() for k in sizes for case in _cases(network, k)]


def section(records: Records, setting: Setting) -> Section:
    """Means, deviations and the time of one sub-problem."""
    rows, reasons = [], []
    complete = True
    for network, sizes in TABLE_8.items():
        n = len(load(network).names)
        for k, (paper, deviation) in sizes.items():
            spent = [r.seconds["ours"] for r in records.of(_cases(network, k))]
            count = comb(n, k)
            complete = complete and len(spent) == len(SEEDS)
            ours = [NOTHING] * 5
            if len(spent) > 1:
                mean = fmean(spent)
                ours = [
                    f"{mean:.4f}",
                    f"{stdev(spent):.4f}",
                    f"{stdev(spent) / mean:.3f}",
                    f"{1e6 * mean / count:.0f}",
                    f"{paper / mean:,.0f}",
                ]
                if mean > paper:
                    reasons.append(f"{CALLED[network]}, k = {k}: {mean:.2f} s, the paper {paper} s")
            rows.append(
                (CALLED[network], str(k), f"{count:,}", f"{paper:g}", f"{deviation:g}", f"{1e6 * paper / count:,.0f}", *ours)
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
            "us of one",
            "ours, s",
            "deviation",
            "variation",
            "us of one",
            "the paper by ours",
        ),
        rows,
    )
    return Section(*verdict(complete and not reasons, complete and len(reasons) < len(rows) / 2, reasons), [table])


ITEM = Item(
    "division-time",
    "Table 8",
    "Seconds to make all sub-problems",
    "Reproduced: ours takes no longer than the paper's mean in any row. In shape: in most rows.",
    cases,
    section,
)
