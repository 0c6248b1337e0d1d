"""Table 6: quantum annealing with annealing times of 1 and 99 microseconds."""

from __future__ import annotations

from dagneal.paper.annealers import emulator_model
from dagneal.paper.direct_runs import DirectRuns, DirectSummary, format_differing, shares_differ
from dagneal.paper.items import (
    DASH,
    NOT_JUDGED,
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
from dagneal.paper.published import DOCUMENTATION, SMALL, TABLE_6, TITLES
from dagneal.paper.records import Case, Records

NEAR = 0.02  # largest difference of result values that counts as equal


def runs(setting: Setting) -> dict[int, dict[str, DirectRuns]]:
    """Return the runs of quantum annealing, by annealing time in microseconds and then by name of the network.

    The quick scale has fewer runs and reads than the paper's scale.
    """
    cells: dict[int, dict[str, DirectRuns]] = {}
    for time, networks in TABLE_6.items():
        for network in networks:
            small = network in SMALL
            reads = setting.choose(10_000 if small else 300, 10_000)
            count = setting.choose((10 if small else 2) if time == 1 else (1 if network == "lung-cancer" else 2), 10)
            solver = setting.quantum
            cells.setdefault(time, {})[network] = DirectRuns(network, solver, reads, tuple(range(1, count + 1)), time)
    return cells


def cases(setting: Setting) -> list[Case]:
    """Return all runs that Table 6 needs."""
    return [case for networks in runs(setting).values() for direct in networks.values() for case in direct.cases()]


def section(records: Records, setting: Setting) -> Section:
    """Return the report section for Table 6: success rates, result values, access times and counts of expected solutions."""
    rows, reasons, shape = [], [], []
    summaries = {time: {n: direct.summary(records) for n, direct in cell.items()} for time, cell in runs(setting).items()}
    for network in TABLE_6[1]:
        for time in TABLE_6:
            paper, s = TABLE_6[time][network], summaries[time][network]
            rows.append(_row(network, time, s))
            if s and shares_differ(s.expected_runs, s.runs, paper.success):
                reasons.append(
                    f"{TITLES[network]}, {time} us: success {s.expected_runs} of {s.runs}, the paper {paper.success:.2f}"
                )
            if s and paper.result is not None and abs(s.ratio - paper.result) > NEAR:
                reasons.append(f"{TITLES[network]}, {time} us: result value {s.ratio:.4f}, the paper {paper.result:.4f}")
        short, long = summaries[1][network], summaries[99][network]
        if short and long and long.ratio < short.ratio - 0.001:
            shape.append(f"{TITLES[network]}: result value {long.ratio:.4f} at 99 us, but {short.ratio:.4f} at 1 us")
    if setting.scale == "quick":
        reasons.append("fewer runs than in the paper, and fewer reads for the large problems")
    table = Table(
        "Cells with a slash: the paper / ours. The paper used 10,000 reads. Our result values: mean (standard deviation). "
        "Raw gaps: median (smallest to largest) over the runs, in nats. A cell differs if our number of successes is in the "
        "column after the success (Fisher's exact test at 1%)",
        (
            "problem",
            "us",
            f"success, {setting.annealer}",
            "successes that would differ",
            "result value",
            "access time, s",
            "expected solutions per run",
            "result value of the optimum",
            "raw gap",
            "CPDAG distance of the lowest-energy read, by run",
            "runs",
        ),
        rows,
    )
    notes = [
        "The paper ran Tables 3 to 6 on Advantage 1.1 [Paper] with a new embedding for each call. Here each of "
        "the ten runs has its own embedding, and access times are those of Advantage_system4. The seeds, and so the "
        "embeddings of a problem, are the same in all cells, so the cells are not independent."
    ]
    if setting.quantum == "qa":
        notes.append(
            f"The settings of the emulator, {emulator_model()}, were fitted to this table. It shows the quality of the fit, "
            "not of predictions, so it gets no verdict. The [results of the emulator]"
            f"({DOCUMENTATION}/results/emulator.md) describe the fit."
        )
        deviations = "; ".join(shape + reasons)
        why = "the emulator was fitted to this table"
        why += f". Deviations of the fit by the rule for D-Wave's annealer: {deviations}" if deviations else ""
        return Section(NOT_JUDGED, why, [table], notes=notes, basis=setting.emulated)
    return Section(*verdict(shape, reasons), [table], notes=notes)


def _row(network: str, time: int, s: DirectSummary | None) -> tuple[str, ...]:
    paper = TABLE_6[time][network]
    return (
        TITLES[network],
        str(time),
        f"{paper.success:.2f} / {format_number(s.expected_runs / s.runs if s else None, '.2f')}",
        format_differing(s.runs, paper.success) if s else DASH,
        f"{format_number(paper.result, '.4f')} / {format_spread(s.ratios, '.4f') if s else DASH}",
        f"{paper.seconds:.2f} / {format_number(s.seconds if s else None, '.2f')}",
        f"{format_number(paper.solutions, '.2f')} / {format_number(s.expected_reads if s else None, '.2f')}",
        format_number(s.best_ratio if s else None, ".4f"),
        format_range(s.raw_gaps, ",.0f") if s else DASH,
        format_numbers(s.cpdag_distances) if s else format_numbers(()),
        f"{s.runs} of {s.reads:,} reads" if s else "0",
    )


ITEM = Item(
    "annealing-time",
    "Table 6",
    "1 and 99 microseconds",
    "With the emulator, this table gets no verdict, because the emulator was fitted to it. With D-Wave's annealer: "
    "Reproduced: (1) with the paper's runs and reads, Fisher's exact test at 1% finds no difference between our success "
    "rates and the paper's; (2) all result values are within 0.02 of the paper's; (3) 99 microseconds give at least the "
    "result value of 1 microsecond, minus 0.001. In shape: condition 3.",
    cases,
    section,
)
