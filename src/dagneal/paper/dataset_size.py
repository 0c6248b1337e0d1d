"""Table 3: effect of the number of rows on the result of quantum annealing."""

from __future__ import annotations

from math import sqrt
from statistics import fmean, stdev

from dagneal.paper.direct_runs import DirectRuns, DirectSummary
from dagneal.paper.items import (
    DASH,
    Item,
    Section,
    Setting,
    Table,
    format_number,
    format_numbers,
    format_range,
    format_spread,
    verdict,
)
from dagneal.paper.published import TABLE_3
from dagneal.paper.records import Case, Records
from dagneal.paper.significance import LEVEL, adjust, outside_t, t_quantile

LARGE_GAIN = 0.02  # a larger gain from more rows contradicts the paper even in shape


def runs(setting: Setting) -> dict[int, DirectRuns]:
    """Return a dict from each number of rows to the runs of quantum annealing on waste-2p-dep."""
    reads, seeds = setting.choose((500, (1, 2, 3)), (10_000, tuple(range(1, 11))))
    return {rows: DirectRuns("waste-2p-dep", setting.quantum, reads, seeds, 20, f"expected {rows}") for rows in TABLE_3}


def cases(setting: Setting) -> list[Case]:
    """Return all runs that Table 3 needs."""
    return [case for direct in runs(setting).values() for case in direct.cases()]


def mean_test(ours: tuple[float, ...], paper: float, paper_runs: int = 10) -> tuple[float, float]:
    """Compare the mean of our runs with the paper's mean of ten runs by a t-test.

    The paper gives no spread. The test assumes that the paper's runs vary as much as ours.

    Args:
        ours: value of each of our runs; at least two.
        paper: mean of the paper's runs.
        paper_runs: number of the paper's runs.

    Returns:
        A tuple: the two-sided p-value, and the smallest difference that would be significant at 1%.

    >>> p_value, smallest = mean_test((0.96, 0.97, 0.98, 0.97), 0.965)
    >>> round(p_value, 2), round(smallest, 3)
    (0.38, 0.028)
    """
    error = stdev(ours) * sqrt(1 / len(ours) + 1 / paper_runs)
    degrees = len(ours) - 1
    return outside_t(abs(fmean(ours) - paper) / error, degrees), t_quantile(LEVEL, degrees) * error


def gain_interval(few: tuple[float, ...], many: tuple[float, ...]) -> tuple[float, float]:
    """Return the 95% interval of the mean gain from few to many rows. Runs with the same seed are compared.

    Args:
        few: value of each run with few rows.
        many: value of each run with many rows, in the same order.
    """
    gains = [after - before for before, after in zip(few, many, strict=True)]
    half = t_quantile(0.05, len(gains) - 1) * stdev(gains) / sqrt(len(gains))
    return fmean(gains) - half, fmean(gains) + half


def section(records: Records, setting: Setting) -> Section:
    """Return the report section for Table 3: result values by number of rows."""
    summaries = {rows: direct.summary(records) for rows, direct in runs(setting).items()}
    tested = {n: mean_test(s.ratios, TABLE_3[n]) for n, s in summaries.items() if s and s.runs > 1}
    adjusted = dict(zip(tested, adjust([p for p, _ in tested.values()]), strict=True))
    rows = [_row(n, s, tested.get(n)) for n, s in summaries.items()]
    table = Table(
        "Waste2PDep: result values of QA with 20 microseconds, mean (standard deviation). The p-value is that of a t-test "
        "against the paper's mean, not adjusted; the column after it has the smallest difference that would be significant "
        "at 1%. Raw gaps: median (smallest to largest) over the runs, in nats",
        (
            "rows",
            "the paper",
            setting.annealer,
            "p-value",
            "significant difference",
            "the optimum",
            "raw gap",
            "CPDAG distance of the lowest-energy read, by run",
            "runs",
        ),
        rows,
    )
    few, many = summaries[10_000], summaries[1_000_000]
    shape, rest, notes = [], [], []
    if few and many and few.runs == many.runs > 1:
        low, high = gain_interval(few.ratios, many.ratios)
        paper = TABLE_3[1_000_000] - TABLE_3[10_000]
        interval = f"{low:+.3f} to {high:+.3f}"
        notes.append(
            f"Gain from 10^4 to 10^6 rows: 95% interval {interval} over the seeds, the paper {paper:+.3f}. The paper "
            "concludes that more rows do not help."
        )
        if low > LARGE_GAIN:
            shape.append(f"more rows help: gain {interval} from 10^4 to 10^6 rows")
        if not low <= paper <= high:
            rest.append(f"the gain from 10^4 to 10^6 rows is {interval}, the paper {paper:+.3f}")
    rest += [
        f"{n:,} rows: the paper {TABLE_3[n]:.3f}, ours {s.ratio:.3f} (adjusted p = {adjusted[n]:.2g})"
        for n, s in summaries.items()
        if s and n in adjusted and adjusted[n] < LEVEL
    ]
    if setting.scale == "quick":
        rest.append("fewer reads than the paper's 10,000, which lowers the best result value")
    if setting.quantum == "qa":
        notes.append(
            "The emulator was not fitted to this table, but to Table 6, which has this problem with 10,000 rows at 1 and 99 "
            "microseconds. The first row is therefore an interpolation in time. All rows share seeds, so they are not "
            "independent."
        )
    return Section(*verdict(shape, rest), [table], notes=notes, basis=setting.emulated)


def _row(n: int, s: DirectSummary | None, test: tuple[float, float] | None) -> tuple[str, ...]:
    paper = f"{TABLE_3[n]:.3f}"
    if s is None:
        return (f"{n:,}", paper, *[DASH] * 6, "0")
    return (
        f"{n:,}",
        paper,
        format_spread(s.ratios, ".3f"),
        format_number(test[0] if test else None, ".2g"),
        format_number(test[1] if test else None, ".3f"),
        f"{s.best_ratio:.3f}",
        format_range(s.raw_gaps, ",.0f"),
        format_numbers(s.cpdag_distances),
        f"{s.runs} of {s.reads:,} reads",
    )


ITEM = Item(
    "dataset-size",
    "Table 3",
    "Rows and the quantum annealer's result",
    "Reproduced: (1) with the paper's reads, t-tests find no difference from the paper's mean result values (p-values "
    "adjusted by Holm's method, 1%; the paper gives no spread, so the tests assume that its runs vary as ours do); (2) the "
    "95% interval of the gain from 10^4 to 10^6 rows contains the paper's gain. In shape: this interval contains gains of "
    "at most 0.02.",
    cases,
    section,
)
