"""Table 6: quantum annealing with annealing times of 1 and 99 microseconds."""

from __future__ import annotations

from dagneal.paper.annealers import emulator_model
from dagneal.paper.direct_runs import DirectRuns, DirectSummary, shares_differ
from dagneal.paper.items import Item, Section, Setting, Table, format_number, format_numbers, verdict
from dagneal.paper.published import SMALL, TABLE_6, TITLES
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
        "Cells with a slash: the paper / ours. The paper used 10,000 reads. Gaps are those of the worst run",
        (
            "problem",
            "us",
            f"success, {setting.annealer}",
            "result value",
            "access time, s",
            "expected solutions per run",
            "result value of the optimum",
            "gap, repaired",
            "gap, random orders",
            "CPDAG distance of the lowest-energy read, by run",
            "runs",
        ),
        rows,
    )
    notes = [
        "The paper ran Tables 3 to 6 on Advantage 1.1 with a new embedding for each call. Here each of the ten runs has its "
        "own embedding, and access times are those of Advantage_system4."
    ]
    if setting.quantum == "qa":
        notes.append(
            f"The settings of the emulator, {emulator_model()}, were fitted to this table. It shows the quality of the fit, "
            "not of predictions. The page Results of the emulator in the documentation (docs/results/emulator.md) has 40 "
            "runs of each cell for two models."
        )
    return Section(*verdict(shape, reasons), [table], notes=notes)


def _row(network: str, time: int, s: DirectSummary | None) -> tuple[str, ...]:
    paper = TABLE_6[time][network]
    return (
        TITLES[network],
        str(time),
        f"{paper.success:.2f} / {format_number(s.expected_runs / s.runs if s else None, '.2f')}",
        f"{format_number(paper.result, '.4f')} / {format_number(s.ratio if s else None, '.4f')}",
        f"{paper.seconds:.2f} / {format_number(s.seconds if s else None, '.2f')}",
        f"{format_number(paper.solutions, '.2f')} / {format_number(s.expected_reads if s else None, '.2f')}",
        format_number(s.best_ratio if s else None, ".4f"),
        format_number(s.repaired_gap if s else None, ".1f"),
        format_number(s.baseline_gap if s else None, ".1f"),
        format_numbers(s.cpdag_distances) if s else format_numbers(()),
        f"{s.runs} of {s.reads:,} reads" if s else "0",
    )


ITEM = Item(
    "annealing-time",
    "Table 6",
    "1 and 99 microseconds",
    "Reproduced: (1) with the paper's runs and reads, Fisher's exact test at 1% finds no difference between our success "
    "rates and the paper's; (2) all result values are within 0.02 of the paper's; (3) 99 microseconds give at least the "
    "result value of 1 microsecond, minus 0.001. In shape: condition 3.",
    cases,
    section,
)
