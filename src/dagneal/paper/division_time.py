"""Table 8: seconds to construct all subproblems."""

from __future__ import annotations

from itertools import pairwise
from math import comb
from statistics import fmean, stdev

from dagneal.paper.items import DASH, Item, Section, Setting, Table, format_rounded, verdict
from dagneal.paper.problems import true_network
from dagneal.paper.published import TABLE_8, TITLES
from dagneal.paper.records import Case, Records

SEEDS = (1, 2, 3, 4)
MAX_VARIATION = 0.05  # all coefficients of variation in the paper are lower


def _cases(network: str, k: int) -> list[Case]:
    return [Case("construction", {"network": network, "data": f"sampled 10000 {seed}", "k": k}) for seed in SEEDS]


def cases(setting: Setting) -> list[Case]:
    """Return all runs that Table 8 needs, on four sampled datasets for each problem and each subproblem size k."""
    return [case for network, sizes in TABLE_8.items() for k in sizes for case in _cases(network, k)]


def section(records: Records, setting: Setting) -> Section:
    """Return the report section for Table 8: mean times, their standard deviations, and the times per subproblem."""
    rows, reasons, shape = [], [], []
    for network, sizes in TABLE_8.items():
        n = len(true_network(network).names)
        per_subproblem: list[float] = []
        for k, (paper, deviation, variation) in sizes.items():
            spent = [r.seconds["ours"] for r in records.select(_cases(network, k))]
            count = comb(n, k)
            published = (f"{paper:,.2f}", f"{deviation:.2f}", f"{variation:.3f}", format_rounded(1e6 * paper / count))
            ours = [DASH] * 5
            if len(spent) > 1:
                mean = fmean(spent)
                own_variation = stdev(spent) / mean
                per_subproblem.append(mean / count)
                ours = [
                    format_rounded(1e3 * mean),
                    format_rounded(1e6 * stdev(spent)),
                    f"{own_variation:.3f}",
                    format_rounded(1e6 * mean / count),
                    format_rounded(paper / mean),
                ]
                if own_variation >= MAX_VARIATION:
                    reasons.append(f"{TITLES[network]}, k = {k}: coefficient of variation {own_variation:.3f}")
                elif mean > paper:
                    reasons.append(f"{TITLES[network]}, k = {k}: slower than the paper")
            rows.append((TITLES[network], str(k), f"{count:,}", *published, *ours))
        if len(per_subproblem) == len(sizes) and per_subproblem[-1] <= per_subproblem[0]:
            shape.append(f"{TITLES[network]}: a subproblem of the largest k takes no longer than one of the smallest k")
        elif any(second < first for first, second in pairwise(per_subproblem)):
            reasons.append(
                f"{TITLES[network]}: the time per subproblem does not always grow with k, because subproblems share counts"
            )
    table = Table(
        "Time from 10,000 sampled rows in memory to the QUBOs of all subproblems, over four datasets: mean, standard "
        "deviation, coefficient of variation (deviation divided by mean), microseconds per subproblem, and the paper's mean "
        "divided by ours. The paper used another machine",
        (
            "problem",
            "k",
            "subproblems",
            "the paper: mean, s",
            "the paper: deviation, s",
            "the paper: variation",
            "the paper: us per subproblem",
            "ours: mean, ms",
            "ours: deviation, us",
            "ours: variation",
            "ours: us per subproblem",
            "times faster than the paper",
        ),
        rows,
    )
    return Section(*verdict(shape, reasons), [table])


ITEM = Item(
    "division-time",
    "Table 8",
    "Seconds to construct all subproblems",
    "Reproduced: (1) as in the paper, the coefficient of variation over the datasets is below 0.05 in every row; (2) as "
    "in the paper, the time per subproblem grows with k; (3) ours is not slower than the paper. In shape: a subproblem of "
    "the largest k takes longer than one of the smallest k.",
    cases,
    section,
)
