"""Table 7: speedup of our code over plain Python in constructing subproblems."""

from __future__ import annotations

from math import comb
from statistics import fmean, median

from dagneal.paper.items import DASH, Item, Section, Setting, Table, format_number, format_rounded, verdict
from dagneal.paper.problems import true_network
from dagneal.paper.published import TABLE_7, TITLES
from dagneal.paper.records import Case, Records

FACTOR = 2.0  # largest factor between the cost of plain Python and the cost that the paper's times predict


def _rows(network: str, setting: Setting) -> int:
    return 10_000 if network == "lung-cancer" else setting.choose(1_000, 10_000)


def _case(network: str, k: int, setting: Setting) -> Case:
    return Case("plain", {"network": network, "data": f"expected {_rows(network, setting)}", "k": k})


def cases(setting: Setting) -> list[Case]:
    """Return runs that measure the time of plain Python and of our code, for each subproblem size k."""
    return [_case(network, k, setting) for network, sizes in TABLE_7.items() for k in sizes]


def section(records: Records, setting: Setting) -> Section:
    """Return the report section for Table 7: seconds without and with speedup, in the paper and in our runs."""
    rows, shape = [], []
    speedups: dict[str, list[float]] = {}
    slowness: dict[str, float] = {}  # seconds of plain Python on 10,000 rows, divided by the paper's seconds
    for network, sizes in TABLE_7.items():
        n = len(true_network(network).names)
        for k, (slow, fast) in sizes.items():
            r = records.get(_case(network, k, setting))
            ratio = r.seconds["plain"] / r.seconds["ours"] if r else None
            if ratio is not None:
                speedups.setdefault(network, []).append(ratio)
            if r:
                slowness[f"{TITLES[network]}, k = {k}"] = r.seconds["plain"] / slow * 10_000 / _rows(network, setting)
            if ratio is not None and ratio < slow / fast:
                shape.append(f"{TITLES[network]}, k = {k}: {ratio:.0f} times faster, the paper {slow / fast:.0f}")
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
                    format_rounded(r.seconds["ours"]) if r else DASH,
                    format_rounded(ratio) if ratio else DASH,
                )
            )
    table = Table(
        "Seconds to construct all subproblems from rows in memory, one run, expected data. Plain Python is our version of "
        "the paper's algorithm without speedup; ours is compiled code",
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
    notes = [
        "The two speedups are not the same. The paper's is that of a better algorithm in one Python program. Ours compares "
        "compiled code with plain Python, so that it is larger is no finding. The table shows two things: how the cost of "
        "the algorithm without speedup depends on k, and how long our code takes.",
        "We do not know on how many rows the paper's times were measured. Its times without speedup and without division "
        "are 15 times those of Table 2 for 10,000 rows, both for LC and for Waste. If the program is the same, this means "
        "about 150,000 rows; this is our inference. Our ratio of plain Python to our code grows with the number of rows.",
    ]
    if setting.scale == "quick":
        notes.append("Our times for Waste are measured on 1,000 rows, so its ratios are smaller than with 10,000 rows.")
    means = {network: fmean(ratios) for network, ratios in speedups.items()}
    middle = median(slowness.values()) if slowness else 0.0
    shape += [
        f"{row}: plain Python takes {value / middle:.1f} times as long as expected from the paper's time and the other rows"
        for row, value in slowness.items()
        if not 1 / FACTOR <= value / middle <= FACTOR
    ]
    if len(means) == len(TABLE_7) and means["waste"] <= means["lung-cancer"]:
        shape.append(f"the mean speedup is {means['waste']:.0f} for Waste, but {means['lung-cancer']:.0f} for LC")
    kind = ["the paper's speedup is that of an algorithm, ours is mainly that of compiled code"]
    return Section(*verdict(shape, kind), [table], notes=notes)


ITEM = Item(
    "speedup",
    "Table 7",
    "Speedup of constructing subproblems",
    "Reproduced: never, because the two speedups are not the same. In shape: (1) plain Python costs what the paper's "
    "program without speedup does: the ratio of both times, per row of data, is within a factor of 2 of its median in every "
    "row; (2) our speedup is at least the paper's; (3) as in the paper, the mean speedup is higher for Waste than for LC.",
    cases,
    section,
)
