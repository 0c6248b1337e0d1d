"""Compare both models of the emulator with the quantum annealer of the paper.

python benchmarks/emulator.py screen MODEL --records FILE   Table 6 with fewer reads, with one setting or on a grid
python benchmarks/emulator.py draw MODEL --records FILE     Tables 4, 6 and 9 to 11 with one setting, 40 draws per cell
python benchmarks/emulator.py report --records FILE         tables in Markdown, and with `-o FOLDER` emulator.svg

MODEL is thermal or spin-vectors, optionally with settings, such as spin-vectors,noise=0.04. A draw is one run of a cell:
new control errors in each call, and one of ten embeddings, which the seed selects. The file stores each draw, so a run can
be interrupted and continued. `--runs FOLDER` takes the runs of `dagneal reproduce --scale paper` as draws, because these are
runs of the same cells with the same seeds.

The settings are chosen by the log-likelihood of Table 6; see `log_likelihood`. All other tables are held out.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from itertools import product
from math import log, pi
from pathlib import Path
from typing import Any

import dimod
import numpy as np

import dagneal as dn
from dagneal.paper.annealers import emulator_model
from dagneal.paper.direct_runs import DirectRuns
from dagneal.paper.published import TABLE_4, TABLE_4_MISPRINTS, TABLE_6, TABLE_9, TABLE_10, TABLE_11
from dagneal.paper.records import Records
from dagneal.qpu.chip_models import MODELS, make_model

SCORE, MAX_PARENTS, ENCODING = dn.BDeu(1.0), 2, dn.PAPER
SYSTEM, EMBEDDINGS, DRAWS = "Advantage_system4", 10, 40
LARGE_EMBEDDINGS = 3  # for alarm-15 without division, whose embeddings take a minute each
GRIDS = {  # settings for the screening
    "thermal": {"noise": (0.03, 0.04, 0.06), "sweeps": (30.0, 60.0, 120.0), "cold": (2.0, 2.5, 3.0)},
    "spin-vectors": {"noise": (0.03, 0.06, 0.08), "sweeps": (30.0, 60.0, 120.0), "readout": (0.65, 0.8, 1.0)},
}
STORED = Path(__file__).parent / "results" / "emulator-draws.jsonl"
SCREENED = 6  # draws per cell of the grid

Draw = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """A cell of the paper's tables: a problem solved directly, or a division with k variables per subproblem.

    Attributes:
        table: number of the table.
        network: name of a bundled network.
        reads: reads per call.
        microseconds: annealing time of a read.
        k: variables per subproblem; 0 for a problem that is solved directly.
    """

    table: int
    network: str
    reads: int
    microseconds: int
    k: int = 0

    @property
    def label(self) -> str:
        """Short description of the cell."""
        if self.k:
            return f"{self.network}, k = {self.k}"
        return f"{self.network}, {self.reads:,} reads of {self.microseconds} us"

    def published(self) -> dict[str, float]:
        """Return the paper's figures: `success`, `result` and `solutions`, or `correct` and `wrong`."""
        if self.table == 4:
            key = (self.reads, self.microseconds)
            return {"success": TABLE_4_MISPRINTS.get(key, TABLE_4[key])}
        if self.table == 6:
            cell = TABLE_6[self.microseconds][self.network]
            large = self.network.startswith("waste")
            return {"result": cell.result} if large else {"success": cell.success, "solutions": cell.solutions}
        row = {9: TABLE_9, 10: TABLE_10, 11: TABLE_11}[self.table][self.k, "qa"]
        return dict(zip(("correct", "wrong"), row.means, strict=True))


def list_cells() -> list[Cell]:
    """Return all cells: 12 of Table 6, 7 of Table 4 and 11 of Tables 9 to 11."""
    cells = [Cell(6, network, 10_000, time) for time, networks in TABLE_6.items() for network in networks]
    cells += [Cell(4, "lung-cancer", reads, time) for reads, time in TABLE_4]
    tables = ((9, "lung-cancer", TABLE_9), (10, "waste", TABLE_10), (11, "alarm-15", TABLE_11))
    return cells + [Cell(table, name, 100, 1, k) for table, name, rows in tables for k, method in rows if method == "qa"]


@cache
def problem(network: str) -> tuple[dn.BayesianNetwork, dn.scoring.ScoreTable]:
    """Return a network and the score table of its expected data, with the arities of the paper's runs."""
    truth = dn.load(network)
    data = truth.expected_data(10_000)
    padded = data.with_equal_arities() if network == "alarm-15" else data
    return truth, dn.scoring.score_table(padded, SCORE, MAX_PARENTS)


@cache
def encoded(network: str) -> tuple[dimod.BinaryQuadraticModel, float]:
    """Return the QUBO of a network, and the energy of the expected solution without the offset."""
    truth, table = problem(network)
    bqm = dn.qubo.encode(table, ENCODING)
    return bqm, dn.qubo.result_value(bqm, dn.qubo.qubo_vector(table, truth.dag, ENCODING))


def sample_directly(cell: Cell, sampler: Any, seed: int, reads: int) -> Draw:
    """Return the result value of the best read and the number of reads with the energy of the expected solution."""
    bqm, value = encoded(cell.network)
    samples = sampler.sample(bqm, num_reads=reads, annealing_time=float(cell.microseconds), seed=seed)
    energies = samples.record.energy - float(bqm.offset)
    hits = int((np.abs(energies - value) < 1e-6).sum())
    draw = {"solutions": hits * cell.reads / reads, "result": float(energies.min() / value), "success": float(hits > 0)}
    return draw if reads == cell.reads else draw | {"scaled": True}


class OneByOne(dimod.Sampler):
    """A sampler without tiling: one call per subproblem, as in the paper."""

    parameters, properties = None, None

    def __init__(self, sampler: Any) -> None:
        self.sampler = sampler
        self.parameters, self.properties = sampler.parameters, sampler.properties

    def sample(self, bqm: dimod.BinaryQuadraticModel, **parameters: Any) -> dimod.SampleSet:
        """Sample with the wrapped sampler."""
        return self.sampler.sample(bqm, **parameters)


def add_runs(stored: dict[str, Draw], folder: Path, path: Path) -> None:
    """Add the direct runs of `dagneal reproduce --scale paper` to the stored draws.

    Args:
        stored: stored draws, by key.
        folder: output folder of `dagneal reproduce`.
        path: file of draws.
    """
    new, records, model = {}, Records(folder / "records.jsonl"), emulator_model()
    for cell in (cell for cell in list_cells() if not cell.k):
        runs = DirectRuns(cell.network, "qa", cell.reads, tuple(range(1, DRAWS + 1)), cell.microseconds)
        for seed, case in zip(runs.seeds, runs.cases(), strict=True):
            key, record = draw_key(model, cell, cell.reads, seed), records.get(case)
            if record is not None and key not in stored:
                result, hits = record.result, float(record.result["equivalent_hits"])
                value = result["value"] / result["expected_value"]
                new[key] = {"solutions": hits, "result": value, "success": float(hits > 0)}
    stored |= new
    write_draws(path, new)


def divide(cell: Cell, sampler: Any, seed: int, _: int) -> Draw:
    """Return the numbers of correct and of wrong edges of a division."""
    truth, table = problem(cell.network)
    parameters = {"annealing_time": float(cell.microseconds)}
    encoding = replace(ENCODING, precision="single")  # as in the paper
    annealer = dn.Anneal(OneByOne(sampler), cell.reads, encoding=encoding, repair=False, parameters=parameters)
    solution = dn.Divide(annealer, cell.k, combine="penalty").solve(dn.Problem(table), dn.Run(seed=seed))
    comparison = dn.compare(solution.dag, truth.dag)
    return {"correct": float(comparison.true_positives), "wrong": float(comparison.false_positives)}


def collect(name: str, cells: list[Cell], draws: int, path: Path, fewest: dict[int, int] | None = None) -> list[list[Draw]]:
    """Return draws of each cell with one model. Draws that the file already has are not repeated.

    Args:
        name: model with its settings, such as `thermal,noise=0.02`.
        cells: cells to run.
        draws: number of draws of each cell.
        path: file of draws.
        fewest: reads to use instead of the cell's reads, by annealing time; counts are scaled to the cell's reads.
    """
    kind, *settings = name.split(",")
    model = make_model(kind, **{key: float(value) for key, value in (setting.split("=") for setting in settings)})
    stored = read_draws(path)
    result = []
    for cell in cells:
        own = []
        reads = (fewest or {}).get(cell.microseconds, cell.reads)
        large = cell.network == "alarm-15"
        sampler = dn.qpu.emulated(SYSTEM, model, spin_reversal=False, embeddings=LARGE_EMBEDDINGS if large else EMBEDDINGS)
        run = partial(divide if cell.k else sample_directly, cell, sampler)
        for seed in range(1, draws + 1):
            key = draw_key(repr(model), cell, reads, seed)
            if key not in stored:
                stored[key] = run(seed, reads)
                write_draws(path, {key: stored[key]})
            own.append(stored[key])
        result.append(own)
        print(f"{model!r}: {cell.label}: {summary(cell, own)}", flush=True)
    return result


def draw_key(model: str, cell: Cell, reads: int, seed: int) -> str:
    """Return the key of a draw in the file. Tables 4 and 6 share cells."""
    return f"{model}: {cell.label}: {reads} reads, seed {seed}"


def read_draws(path: Path) -> dict[str, Draw]:
    """Return the stored draws by key."""
    if not path.exists():
        return {}
    return {entry["key"]: entry["draw"] for entry in map(json.loads, path.read_text(encoding="utf-8").splitlines())}


def write_draws(path: Path, draws: dict[str, Draw]) -> None:
    """Add draws to the file of draws."""
    path.parent.mkdir(exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps({"key": key, "draw": draw}) + "\n" for key, draw in draws.items())


def select_draws(stored: dict[str, Draw], model: str) -> dict[Cell, list[Draw]]:
    """Return the draws of each cell with one model, for the cells that have draws."""
    selected = {}
    for cell in list_cells():
        keys = {seed: draw_key(model, cell, cell.reads, seed) for seed in range(1, DRAWS + 1)}
        draws = [
            stored[key] | ({} if cell.k else {"embedding": seed % EMBEDDINGS}) for seed, key in keys.items() if key in stored
        ]
        if draws:
            selected[cell] = draws
    return selected


def log_likelihood(cell: Cell, draws: list[Draw]) -> float:
    """Return the log-likelihood of the paper's figures of a cell, given draws of a model.

    A success rate of ten runs is binomial; the model's rate is (hits + 0.5) / (draws + 1). Every other figure is a mean of
    ten runs (Tables 4 and 6) or of five runs (Tables 9 to 11). It is normally distributed around the mean of the draws. Its
    variance is the variance of the draws divided by the number of runs, plus a squared tolerance: 0.005 for result values
    and 0.3 edges. Counts of expected solutions are compared as log(count + 0.5), with a tolerance of 0.2. Success rates of
    draws with fewer reads than in the paper are left out.
    """
    total = 0.0
    for name, value in cell.published().items():
        values = np.array([draw[name] for draw in draws])
        if name == "success":
            if "scaled" in draws[0]:  # fewer reads than the paper's find fewer solutions
                continue
            rate = (values.sum() + 0.5) / (len(values) + 1)
            hits = round(10 * value)
            ways = np.prod([(10 - i) / (i + 1) for i in range(hits)])
            total += log(ways) + hits * log(rate) + (10 - hits) * log(1 - rate)
            continue
        runs = 5 if cell.k else 10
        centre, variance = values.mean(), values.var(ddof=1) / runs
        if name == "solutions":  # the standard error of log(mean + 0.5)
            variance /= (centre + 0.5) ** 2
            centre, value = log(centre + 0.5), log(value + 0.5)
        variance += {"result": 0.005, "solutions": 0.2, "correct": 0.3, "wrong": 0.3}[name] ** 2
        total -= 0.5 * log(2 * pi * variance) + (value - centre) ** 2 / (2 * variance)
    return total


def interval(draws: list[Draw], name: str) -> tuple[float, float, float]:
    """Return the mean of draws, and its 95% interval by resampling.

    Draws with the same embedding depend on each other. So embeddings are resampled, and then the draws of each embedding.
    Each subproblem of a division selects its own embedding, so the draws of a division are resampled one by one.
    """
    groups: dict[Any, list[float]] = {}
    for number, draw in enumerate(draws):
        groups.setdefault(draw.get("embedding", -number), []).append(draw[name])
    generator, values = np.random.default_rng(0), [np.array(group) for group in groups.values()]
    chosen = generator.integers(len(values), size=(4000, len(values)))
    totals, sizes = np.zeros(chosen.shape), np.array([len(group) for group in values])
    for number, group in enumerate(values):
        places = chosen == number
        totals[places] = generator.choice(group, (int(places.sum()), len(group))).sum(axis=1)
    means = totals.sum(axis=1) / sizes[chosen].sum(axis=1)
    return float(np.concatenate(values).mean()), *np.quantile(means, (0.025, 0.975)).tolist()


def summary(cell: Cell, draws: list[Draw]) -> str:
    """Return the paper's figures next to the means of the draws with their intervals."""
    texts = []
    for name, value in cell.published().items():
        texts.append(f"{name} {value:g} / " + "{:.4g} ({:.4g} to {:.4g})".format(*interval(draws, name)))
    return "; ".join(texts)


def screen(options: argparse.Namespace) -> None:
    """Print the log-likelihood of Table 6 for one setting, or for each setting of a grid.

    To save time, the grid uses few draws, 2,000 of the 10,000 reads for 99 microseconds, and no `waste` networks with 99
    microseconds.
    """
    quick = {cell for cell in list_cells() if cell.microseconds == 1 or not cell.network.startswith("waste")}
    cells = [cell for cell in list_cells() if cell.table == 6 and cell in quick]

    def fit(name: str) -> float:
        results = collect(name, cells, options.draws or SCREENED, options.records, {99: 2_000})
        return sum(map(log_likelihood, cells, results))

    if options.model not in GRIDS:
        print(f"\nlog-likelihood of Table 6: {fit(options.model):.1f}")
        return
    *names, last = GRIDS[options.model]
    *rows, columns = GRIDS[options.model].values()
    settings = [dict(zip(names, values, strict=True)) for values in product(*rows)]
    fits = [
        [
            fit(",".join([options.model, *(f"{key}={value:g}" for key, value in (*row.items(), (last, column)))]))
            for column in columns
        ]
        for row in settings
    ]
    print(
        "\n| "
        + " | ".join([*names, *(f"{last} {column:g}" for column in columns)])
        + " |\n"
        + "|---" * (len(names) + len(columns))
        + "|"
    )
    for row, values in zip(settings, fits, strict=True):
        print("| " + " | ".join([*(f"{value:g}" for value in row.values()), *(f"{value:.1f}" for value in values)]) + " |")


def draw(options: argparse.Namespace) -> None:
    """Draw all cells with one setting."""
    if options.runs is not None:
        add_runs(read_draws(options.records), options.runs, options.records)
    cells = [cell for cell in list_cells() if not options.tables or cell.table in options.tables]
    collect(options.model, cells, options.draws or DRAWS, options.records)


def report(options: argparse.Namespace) -> None:
    """Print a table for each table of the paper, and the log-likelihoods of both models; draw a figure."""
    stored = read_draws(options.records)
    models = [repr(make_model(name)) for name in MODELS]
    results = {model: select_draws(stored, model) for model in models}
    for tables, names in (
        ((6,), "Table 6 (calibration)"),
        ((4,), "Table 4 (held out, except 10,000 reads of 1 and 99 us)"),
        ((9, 10, 11), "Tables 9 to 11"),
    ):
        print(f"\n{names}\n\n| cell | figure | the paper | {' | '.join(map(_plain, models))} | draws |")
        print("|---|---|---|" + "---|" * len(models) + "---|")
        for cell in [cell for cell in list_cells() if cell.table in tables]:
            for name, value in cell.published().items():
                texts, counts = [], []
                for model in models:
                    draws = results.get(model, {}).get(cell, [])
                    counts.append(str(len(draws)))
                    texts.append("{:.4g} ({:.4g} to {:.4g})".format(*interval(draws, name)) if draws else "—")
                print(f"| {cell.label} | {name} | {value:g} | {' | '.join(texts)} | {' / '.join(counts)} |")
        calibration = {cell.label for cell in list_cells() if cell.table == 6 and 6 not in tables}
        for model in models:
            # Tables 4 and 6 share two cells, which are not held out.
            done = [cell for cell in results.get(model, {}) if cell.table in tables and cell.label not in calibration]
            total = sum(log_likelihood(cell, results[model][cell]) for cell in done)
            print(f"\n{_plain(model)}: log-likelihood {total:.1f} of {len(done)} cells")
    if options.output:
        _plot(results, options.output / "emulator.svg")


def _plain(model: str) -> str:
    return "thermal" if model.startswith("Thermal") else "spin vectors"


def _plot(results: dict[str, dict[Cell, list[Draw]]], path: Path) -> None:
    """Draw the paper's figures against the means of each model, with 95% intervals."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "dagneal"
    panels = {
        "Table 6: expected solutions": (6, "solutions"),
        "Table 6: result value": (6, "result"),
        "Tables 4 and 6: success": (0, "success"),
        "Tables 9 to 11: correct edges": (9, "correct"),
        "Tables 9 to 11: wrong edges": (9, "wrong"),
    }
    figure, axes = pyplot.subplots(1, len(panels), figsize=(16, 3.6), layout="constrained")
    for panel, (title, (table, name)) in zip(axes, panels.items(), strict=True):
        ends: list[float] = []
        for number, (model, cells) in enumerate(results.items()):
            chosen = [cell for cell in cells if name in cell.published() and (cell.table >= table or not table)]
            paper = [cell.published()[name] for cell in chosen]
            ours = np.array([interval(cells[cell], name) for cell in chosen]).reshape(-1, 3)
            errors = [ours[:, 0] - ours[:, 1], ours[:, 2] - ours[:, 0]]
            panel.errorbar(paper, ours[:, 0], errors, fmt="os"[number], ms=4, label=_plain(model), alpha=0.8)
            ends += [*paper, *ours[:, 0]]
        if ends:
            panel.plot([min(ends), max(ends)], [min(ends), max(ends)], color="#999999", lw=0.8)
        if name == "solutions":
            panel.set_xscale("symlog")
            panel.set_yscale("symlog")
        panel.set_title(title, fontsize=9)
        panel.set_xlabel("the paper")
    axes[0].set_ylabel("emulated")
    axes[0].legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Run the command of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    settings = {name: [field.name for field in fields(kind)] for name, kind in MODELS.items()}
    for function, needs_model in ((screen, True), (draw, True), (report, False)):
        command = commands.add_parser(function.__name__)
        if needs_model:
            command.add_argument("model", help=f"model with settings: {settings}")
            command.add_argument("--draws", type=int, help="number of draws of each cell")
        command.add_argument("--records", type=Path, default=STORED, help="file of draws")
        command.add_argument("--runs", type=Path, help="output folder of `dagneal reproduce --scale paper`")
        command.add_argument("--tables", type=int, nargs="*", help="only these tables")
        command.add_argument("-o", "--output", type=Path, help="folder of the figure")
        command.set_defaults(run=function)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
