"""Table 7: how much quicker the sub-problems are made than in plain Python."""

from __future__ import annotations

from math import comb
from statistics import fmean

from dagneal.paper.items import Item, Section, Setting, Table, format_number, verdict
from dagneal.paper.problems import true_network
from dagneal.paper.published import CALLED, TABLE_7
from dagneal.paper.records import Case, Records


def _rows(network: str, setting: Setting) -> int:
    return 10_000 if network == "lung-cancer" else setting.choose(1_000, 10_000)


def _case(network: str, k: int, setting: Setting) -> Case:
    return Case("plain", {"network": network, "data": f"expected {_rows(network, setting)}", "k": k})


def cases(setting: Setting) -> list[Case]:
    """Plain Python, and ours beside it, for each size of sub-problems."""
    return [_case(network, k, setting) for network, sizes in TABLE_7.items() for k in sizes]


def section(records: Records, setting: Setting) -> Section:
    """Seconds without and with the speedup, the paper's and here."""
    rows, reasons = [], []
    times: dict[str, list[float]] = {}
    for network, sizes in TABLE_7.items():
        n = len(true_network(network).names)
        for k, (slow, quick) in sizes.items():
            r = records.get(_case(network, k, setting))
            ratio = r.seconds["plain"] / r.seconds["ours"] if r else None
            if ratio is not None:
                times.setdefault(network, []).append(ratio)
            if ratio is not None and ratio < slow / quick:
                reasons.append(f"{CALLED[network]}, k = {k}: {ratio:.0f} times, the paper {slow / quick:.0f}")
            rows.append(
                (
                    CALLED[network],
                    f"{k}" + (" (direct)" if k == n else ""),
                    str(comb(n, k)),
                    f"{slow:g}",
                    f"{quick:g}",
                    f"{slow / quick:.1f}",
                    f"{_rows(network, setting):,}",
                    format_number(r.seconds["plain"] if r else None, ".2f"),
                    format_number(r.seconds["ours"] if r else None, ".4f"),
                    format_number(ratio, ",.0f"),
                )
            )
    table = Table(
        "Seconds to make all sub-problems from rows in memory, one run, expected data; the baseline here is the paper's "
        "algorithm in plain Python",
        (
            "problem",
            "k",
            "sub-problems",
            "the paper, without",
            "with its speedup",
            "times",
            "rows here",
            "plain Python",
            "ours",
            "times",
        ),
        rows,
    )
    notes = []
    if setting.scale == "quick":
        notes.append(
            "Both columns of Waste are measured on 1,000 rows here; plain Python grows with the rows, ours hardly does."
        )
    means = {network: fmean(each) for network, each in times.items()}
    shape = []
    if len(means) == len(TABLE_7) and means["waste"] <= means["lung-cancer"]:
        shape.append(f"Waste gains {means['waste']:.0f} times in the mean, LC {means['lung-cancer']:.0f}")
    return Section(*verdict(shape, reasons), [table], notes=notes)


ITEM = Item(
    "speedup",
    "Table 7",
    "Speedup of making sub-problems",
    "Reproduced: in every row ours is at least as many times quicker than plain Python as the paper's speedup was, and as "
    "in the paper Waste gains more in the mean than LC. In shape: the second of these.",
    cases,
    section,
)
