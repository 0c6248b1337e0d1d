"""Table 2: seconds to construct the QUBO, by number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagneal.paper.items import DASH, Figure, Item, Section, Setting, Table, format_rounded, format_spread, mean, verdict
from dagneal.paper.published import LARGE, SMALL, TABLE_2, TITLES
from dagneal.paper.records import Case, Records

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

ROWS = (10_000, 100_000, 1_000_000)
SEEDS = (1, 2, 3, 4)
# Ranges of the ratio of times, for ten times the rows, that count as linear and as nearly linear growth.
LINEAR, NEARLY = (7.0, 13.0), (5.0, 20.0)


def _ours(network: str, rows: int) -> list[Case]:
    data = [f"expected {rows}", *(f"sampled {rows} {seed}" for seed in SEEDS)]
    return [Case("construction", {"network": network, "data": text}) for text in data]


def _plain(setting: Setting) -> list[Case]:
    """Return two runs of plain Python for each problem. They have few rows because plain Python is slow."""
    sizes = dict.fromkeys(SMALL, (1000, 10000)) | {
        network: setting.choose((100, 1_000), (1_000, 10_000)) for network in LARGE
    }
    return [
        Case("plain", {"network": network, "data": f"sampled {rows} 1"}) for network, both in sizes.items() for rows in both
    ]


def cases(setting: Setting) -> list[Case]:
    """Return all runs that Table 2 needs, of our code and of plain Python.

    Our code runs on one expected and four sampled datasets for each problem and number of rows.
    """
    return [case for network in TABLE_2 for rows in ROWS for case in _ours(network, rows)] + _plain(setting)


def section(records: Records, setting: Setting) -> Section:
    """Return the report section for Table 2: seconds of the paper, of our code and of plain Python."""
    spent_by_us = {
        (network, rows): [r.seconds["ours"] for r in records.select(_ours(network, rows))]
        for network in TABLE_2
        for rows in ROWS
    }
    means = {key: mean(seconds) for key, seconds in spent_by_us.items()}
    rows = []
    for network, published in TABLE_2.items():
        cells = [f"{paper:g} / {format_spread(spent_by_us[network, n])}" for n, paper in zip(ROWS, published, strict=True)]
        few, million = means[network, ROWS[0]], means[network, ROWS[-1]]
        grown = f"{published[-1] / published[0]:.0f} / {format_rounded(million / few) if few and million else DASH}"
        rows.append((TITLES[network], *cells, grown, format_rounded(published[-1] / million) if million else DASH))
    compared: list[tuple[str, ...]] = []
    reasons: list[str] = []
    shape: list[str] = []
    for small, large in zip(_plain(setting)[::2], _plain(setting)[1::2], strict=True):
        first, second = records.get(small), records.get(large)
        if first is None or second is None:
            continue
        name = TITLES[large.inputs["network"]]
        n, spent, ours = second.result["rows"], second.seconds["plain"], second.seconds["ours"]
        paper = TABLE_2[large.inputs["network"]][0] * n / 10_000
        growth = spent / first.seconds["plain"]
        compared.append(
            (
                name,
                f"{n:,}",
                f"{paper:.2f}",
                f"{spent:.2f}",
                format_rounded(ours),
                format_rounded(spent / ours),
                f"{growth:.1f}",
            )
        )
        if not LINEAR[0] <= growth <= LINEAR[1]:
            far = not NEARLY[0] <= growth <= NEARLY[1]
            (shape if far else reasons).append(
                f"{name}: with ten times the rows, plain Python takes {growth:.1f} times as long"
            )
    for (network, n), seconds in means.items():
        if seconds is not None and seconds > TABLE_2[network][ROWS.index(n)]:
            reasons.append(f"{TITLES[network]}, {n:,} rows: slower than the paper")
    tables = [
        Table(
            "Seconds from rows in memory to the QUBO: the paper / ours, means of five datasets. In parentheses: the "
            "standard deviation of ours. The last columns are the time at 10^6 rows divided by that at 10^4 rows, and the "
            "paper's time divided by ours at 10^6 rows. The paper used another machine",
            ("problem", *(f"{n:,} rows" for n in ROWS), "growth, the paper / ours", "times faster than the paper"),
            rows,
        ),
        Table(
            "Seconds of plain Python, which follows the paper's pseudocode, and of our code, on the same rows in the same "
            "run. The paper's time is scaled to the number of rows. Ours is measured again here, on one dataset. It is a "
            "few milliseconds, which can vary by a factor of two between runs, so its ratios are rough",
            (
                "problem",
                "rows",
                "the paper",
                "plain Python",
                "ours",
                "plain Python / ours",
                "plain Python: time ratio for ten times the rows",
            ),
            compared,
        ),
    ]
    figure = Figure(
        "construction-time",
        "Seconds to construct the QUBO of Waste and LC, by number of rows: the paper, plain Python on our machine, ours",
        lambda canvas: _draw(canvas, means, records, setting),
    )
    notes = [
        "We merge equal rows first and compute each local score once, from counts. Only reading and merging take longer "
        "with more rows. Our time grows more slowly than the number of rows; the column about growth shows how much."
    ]
    return Section(*verdict(shape, reasons), tables, [figure], notes)


def _draw(canvas: Canvas, means: dict[tuple[str, int], float | None], records: Records, setting: Setting) -> None:
    """Draw the time to construct the QUBO against the number of rows, on logarithmic scales."""
    axes = canvas.subplots()
    axes.loglog(ROWS, TABLE_2["waste"], "o--", color="#7f7f7f", label="the paper, Waste")
    axes.loglog(ROWS, TABLE_2["lung-cancer"], "s--", color="#bbbbbb", label="the paper, LC")
    plain = [r for r in records.select(_plain(setting)) if r.case.inputs["network"] == "waste"]
    if plain:
        axes.loglog(
            [r.result["rows"] for r in plain],
            [r.seconds["plain"] for r in plain],
            "^-",
            color="#d62728",
            label="plain Python, Waste",
        )
    for network, colour, marker in (("waste", "#1f77b4", "o"), ("lung-cancer", "#17becf", "s")):
        points = [(n, means[network, n]) for n in ROWS if means[network, n] is not None]
        if points:
            axes.loglog(*zip(*points, strict=True), f"{marker}-", color=colour, label=f"ours, {TITLES[network]}")
    axes.set_xlabel("rows")
    axes.set_ylabel("seconds")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend()


ITEM = Item(
    "construction-time",
    "Table 2",
    "Seconds to construct the QUBO",
    "Reproduced: (1) with ten times the rows, plain Python takes 7 to 13 times as long for every problem, so the time grows "
    "linearly as in the paper; (2) ours is faster than the paper in every cell. In shape: condition 1 with 5 to 20 times.",
    cases,
    section,
)
