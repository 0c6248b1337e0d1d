"""Table 7: speedup of our code over plain Python in constructing subproblems."""

from __future__ import annotations

from math import comb
from statistics import fmean

from dagneal.paper.items import Item, Section, Setting, Table, format_number, verdict
from dagneal.paper.problems import true_network
from dagneal.paper.published import TABLE_7, TITLES
from dagneal.paper.records import Case, Records


def _rows(network: str, setting: Setting) -> int:
    return 10_000 if network == "lung-cancer" else setting.choose(1_000, 10_000)


def _case(network: str, k: int, setting: Setting) -> Case:
    return Case("plain", {"network": network, "data": f"expected {_rows(network, setting)}", "k": k})


def cases(setting: Setting) -> list[Case]:
    """Return runs that measure the time of plain Python and of our code, for each subproblem size k."""
    return [_case(network, k, setting) for network, sizes in TABLE_7.items() for k in sizes]


def section(records: Records, setting: Setting) -> Section:
    """Return the report section for Table 7: seconds without and with speedup, in the paper and in our runs."""
    rows, reasons = [], []
    speedups: dict[str, list[float]] = {}
    for network, sizes in TABLE_7.items():
        n = len(true_network(network).names)
        for k, (slow, fast) in sizes.items():
            r = records.get(_case(network, k, setting))
            ratio = r.seconds["plain"] / r.seconds["ours"] if r else None
            if ratio is not None:
                speedups.setdefault(network, []).append(ratio)
            if ratio is not None and ratio < slow / fast:
                reasons.append(f"{TITLES[network]}, k = {k}: {ratio:.0f} times faster, the paper {slow / fast:.0f}")
            rows.append(
                (
                    TITLES[network],
                    f"{k}" + (" (direct)" if k == n else ""),
                    str(comb(n, k)),
                    f"{slow:g}",
                    f"{fast:g}",
                    f"{slow / fast:.1f}",
                    f"{_rows(network, setting):,}",
                    format_number(r.seconds["plain"] if r else None, ".2f"),
                    format_number(r.seconds["ours"] if r else None, ".4f"),
                    format_number(ratio, ",.0f"),
                )
            )
    table = Table(
        "Seconds to construct all subproblems from rows in memory, one run, expected data. Our baseline is the paper's "
        "algorithm in plain Python",
        (
            "problem",
            "k",
            "subproblems",
            "the paper, without speedup",
            "the paper, with speedup",
            "speedup, the paper",
            "rows in our runs",
            "plain Python",
            "ours",
            "speedup, ours",
        ),
        rows,
    )
    notes = []
    if setting.scale == "quick":
        notes.append(
            "Our times for Waste are measured on 1,000 rows. The time of plain Python grows with the rows, ours hardly does."
        )
    means = {network: fmean(ratios) for network, ratios in speedups.items()}
    shape = []
    if len(means) == len(TABLE_7) and means["waste"] <= means["lung-cancer"]:
        shape.append(f"the mean speedup is {means['waste']:.0f} for Waste, but {means['lung-cancer']:.0f} for LC")
    return Section(*verdict(shape, reasons), [table], notes=notes)


ITEM = Item(
    "speedup",
    "Table 7",
    "Speedup of constructing subproblems",
    "Reproduced: (1) in every row, our speedup over plain Python is at least the paper's speedup; (2) as in the paper, "
    "the mean speedup is higher for Waste than for LC. In shape: condition 2.",
    cases,
    section,
)
