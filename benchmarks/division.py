"""Compute the tables of docs/results/division.md.

python benchmarks/division.py paper                   the paper's rule with simulated annealing, and the published results
python benchmarks/division.py networks FOLDER         default learning on standard networks (.bif or .bif.gz in a folder)
python benchmarks/division.py subproblems [FOLDER]    sizes and choices of subproblems; without FOLDER only alarm-15
"""

import gzip
import time
from pathlib import Path

import harness
import numpy as np
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal.networks.bif import parse_bif
from dagneal.paper.published import TABLE_9, TABLE_10, TABLE_11

SCORE = dn.BDeu(1.0)
SUBPROBLEM_PARENTS, GLOBAL_PARENTS = 2, 4
# Correct and wrong edges with simulated annealing, means of five runs (Tables 9 to 11 of the paper).
PUBLISHED = {
    name: {k: row.means for (k, method), row in table.items() if method == "sa"}
    for name, table in {"lung-cancer": TABLE_9, "waste": TABLE_10, "alarm-15": TABLE_11}.items()
}
PLAN = [
    # network, arities, reads, sizes of subproblems, number of seeds
    ("lung-cancer", "true", "raw", (3, 4, 5), 5),
    ("waste", "true", "raw", (3, 4, 5, 6, 7, 8, 9), 5),
    ("alarm-15", "true", "raw", (3, 4), 5),
    ("alarm-15", "padded", "raw", (3, 4), 5),
    ("alarm-15", "padded", "repaired", (4,), 5),
    ("alarm-15", "true", "raw", (5, 6), 1),
    ("alarm-15", "padded", "raw", (5, 6), 1),
]
SMALL_PLAN = [("lung-cancer", "true", "raw", (3,), 1)]
BUNDLED = ("lung-cancer", "waste-2p-dep", "alarm-15")
STANDARD = ("asia", "sachs", "child", "insurance", "alarm", "hailfinder")
CHOICES = ((3, "all"), (3, "cover:2"), (4, "all"), (4, "cover:2"), (4, "cover:3"), (3, "sample:0.2"), (6, "cover:2"))


def paper(bench: harness.Benchmark, folder: str | None) -> None:
    """Run the paper's rule with its encoding and raw reads."""
    heads = ("network", "arities", "reads", "k", "subproblems", "correct by seed", "wrong by seed")
    table = harness.Table(bench, (*heads, "correct / wrong", "paper", "acyclic", "s"))
    for name, kind, reads, sizes, seeds in SMALL_PLAN if bench.small else PLAN:
        truth = dn.load(name)
        data = truth.expected_data(10_000)
        scores = dn.scoring.score_table(data.with_equal_arities() if kind == "padded" else data, SCORE, SUBPROBLEM_PARENTS)
        for size in sizes:
            correct, wrong, acyclic, spent = [], [], [], []
            for seed in range(1, seeds + 1):
                start = time.perf_counter()
                annealer = dn.Anneal(
                    SimulatedAnnealingSampler(), num_reads=100, encoding=dn.PAPER, repair=reads == "repaired"
                )
                solution = dn.Divide(annealer, size, combine="penalty").solve(dn.Problem(scores), dn.Run(seed))
                spent.append(time.perf_counter() - start)
                comparison = dn.compare(solution.dag, truth.dag)
                correct.append(comparison.true_positives)
                wrong.append(comparison.false_positives)
                acyclic.append(solution.division.acyclic)
            by_seed = " ".join(map(str, correct)), " ".join(map(str, wrong))
            cells = (
                *(name, kind, reads, size, solution.division.subproblems, *by_seed),
                f"{np.mean(correct):.1f} / {np.mean(wrong):.1f}",
                "{} / {}".format(*PUBLISHED[name][size]),
                f"{sum(acyclic)} of {seeds}",
                f"{np.mean(spent):.1f}",
            )
            table.row(f"{name}, {kind} arities, {reads} reads, k = {size}", cells, float(np.mean(spent)), exact=by_seed)


def read_network(folder: str | None, name: str) -> dn.BayesianNetwork:
    """Read a network from a folder.

    Args:
        folder: folder of .bif or .bif.gz files.
        name: name of the network.
    """
    plain, packed = Path(folder or ".") / f"{name}.bif", Path(folder or ".") / f"{name}.bif.gz"
    text = plain.read_text() if plain.exists() else gzip.decompress(packed.read_bytes()).decode()
    return parse_bif(text, name)


def compile_kernels() -> None:
    """Run each solver once, so that no kernel is compiled during a measurement."""
    for n, rows in ((8, 100), (24, 100)):
        data = dn.read(np.random.default_rng(0).integers(0, 2, (rows, n)))
        dn.learn(data)
        dn.learn(data, dn.Divide(size=3))
        dn.learn(data, dn.Divide(size=4, subproblems="cover:2"))


def networks(bench: harness.Benchmark, folder: str | None) -> None:
    """Compare default learning with the true network and the optimum."""
    harness.use_one_core()
    compile_kernels()
    heads = (
        "network",
        "seed",
        "s",
        "solver",
        "score - true",
        "optimal",
        "true positives",
        "false positives",
        "CPDAG distance",
    )
    table = harness.Table(bench, heads)
    for name in BUNDLED[:1] if bench.small else (*BUNDLED, *(STANDARD if folder else ())):
        truth = dn.load(name) if name in BUNDLED else read_network(folder, name)
        limit = min(3 if name == "child" else GLOBAL_PARENTS, len(truth.names) - 1)
        for seed in range(1, 2 if bench.small else 6):
            data = truth.sample(10_000, seed)
            seconds, result = harness.time_of(
                lambda: dn.learn(data, dn.Auto(), score=SCORE, max_parents=limit, seed=seed)  # noqa: B023
            )
            scorer = dn.scoring.Scorer(data, SCORE)
            comparison = dn.compare(result.dag, truth.dag, scorer)
            equal = ""
            if len(truth.names) <= 20:
                best = dn.solvers.exact(scorer.table(limit))
                equal = "yes" if abs(best.score - result.score) < 1e-6 else f"no, {best.score - result.score:.3f} below"
            gap = f"{-comparison.score_gap:.1f}"
            distances = (comparison.true_positives, comparison.false_positives, comparison.cpdag_shd)
            cells = (name, seed, f"{seconds:.2f}", result.solver, gap, equal, *distances)
            table.row(f"{name}, seed {seed}", cells, seconds, exact=(repr(result.score), *distances))


def subproblems(bench: harness.Benchmark, folder: str | None) -> None:
    """Compare sizes and choices of subproblems, solved exactly."""
    harness.use_one_core()
    compile_kernels()
    heads = (
        "network",
        "k",
        "choice",
        "subproblems",
        "s",
        "score - true",
        "true positives",
        "false positives",
        "CPDAG distance",
    )
    table = harness.Table(bench, (*heads, "global solves"))
    for name in ("alarm-15", *(STANDARD[2:] if folder else ())):
        truth = dn.load(name) if name == "alarm-15" else read_network(folder, name)
        for size, choice in CHOICES[:1] if bench.small else CHOICES:
            if choice == "cover:3" and len(truth.names) > 40:
                continue
            rows = []
            for seed in (1,) if bench.small else (1, 2, 3):
                scorer = dn.scoring.Scorer(truth.sample(10_000, seed), SCORE)
                start = time.perf_counter()
                solver = dn.Divide(dn.Exact(), size, choice, combine="conquer")
                solution = solver.solve(dn.Problem(scorer, GLOBAL_PARENTS), dn.Run(seed))
                spent = time.perf_counter() - start
                comparison = dn.compare(solution.dag, truth.dag, scorer)
                distances = (comparison.true_positives, comparison.false_positives, comparison.cpdag_shd)
                rows.append((spent, -comparison.score_gap, *distances, solution.division.global_solves))
            mean = np.mean(rows, axis=0)
            figures = [f"{mean[0]:.2f}", *(f"{value:.1f}" for value in mean[1:])]
            cells = (name, size, choice, solution.division.subproblems, *figures)
            table.row(f"{name}, k = {size}, {choice}", cells, float(mean[0]), exact=figures[1:])


TABLES = {"paper": paper, "networks": networks, "subproblems": subproblems}

if __name__ == "__main__":
    options = harness.parse_options(__doc__, ("table", {"choices": list(TABLES)}), ("folder", {"nargs": "?"}))
    with harness.Benchmark(f"division-{options.table}", options) as bench:
        TABLES[options.table](bench, options.folder)
