"""Table 3: whether more rows help the quantum annealer."""

from __future__ import annotations

from dagneal.paper.direct_runs import DirectRuns
from dagneal.paper.items import Item, Section, Setting, Table, format_number, format_numbers, verdict
from dagneal.paper.published import TABLE_3
from dagneal.paper.records import Case, Records

NEAR = 0.02  # in result values


def runs(setting: Setting) -> dict[int, DirectRuns]:
    """QA on waste-2p-dep for three sizes of expected data."""
    reads, seeds = setting.choose((500, (1, 2, 3)), (10_000, tuple(range(1, 11))))
    return {rows: DirectRuns("waste-2p-dep", setting.quantum, reads, seeds, 20, f"expected {rows}") for rows in TABLE_3}


def cases(setting: Setting) -> list[Case]:
    """All of these."""
    return [case for each in runs(setting).values() for case in each.cases()]


def section(records: Records, setting: Setting) -> Section:
    """Result values by rows."""
    found = {rows: each.summary(records) for rows, each in runs(setting).items()}
    rows = [
        (
            f"{n:,}",
            f"{TABLE_3[n]:.3f}",
            format_number(s.ratio if s else None, ".4f"),
            format_number(s.best_ratio if s else None, ".4f"),
            format_number(s.repaired_gap if s else None, ".1f"),
            format_number(s.baseline_gap if s else None, ".1f"),
            format_numbers(s.cpdag) if s else format_numbers(()),
            f"{s.runs} of {s.reads:,} reads" if s else "0",
        )
        for n, s in found.items()
    ]
    table = Table(
        "Waste2PDep: result value of QA, 20 microseconds; that of the optimum; nats below it of the worst run, repaired, "
        "and of random orders",
        (
            "rows",
            "the paper",
            setting.annealer,
            "the optimum",
            "repaired, below it",
            "random orders, below it",
            "CPDAG distance of the lowest reads",
            "runs",
        ),
        rows,
    )
    few, many = found[10_000], found[1_000_000]
    shape = []
    if few and many and many.ratio > few.ratio + NEAR:
        shape.append(f"10^6 rows give {many.ratio:.3f}, 10^4 rows {few.ratio:.3f}: more rows helped")
    far = [
        f"{n:,} rows: the paper {TABLE_3[n]:.3f}, ours {s.ratio:.3f}"
        for n, s in found.items()
        if s and abs(s.ratio - TABLE_3[n]) > NEAR
    ]
    if setting.scale == "quick":
        far.append("fewer reads than the paper's 10,000, which lowers the best of them")
    return Section(*verdict(shape, far), [table])


ITEM = Item(
    "dataset-size",
    "Table 3",
    "Rows and the quantum annealer's result",
    "Reproduced: with the paper's reads each mean lies within 0.02 of the paper's, and 10^6 rows do not give more than 0.02 "
    "above 10^4. In shape: the second of these, that is, more rows do not help.",
    cases,
    section,
)
