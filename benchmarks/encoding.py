"""Compute the tables of docs/results/encoding.md: simulated annealing with each encoding.

python benchmarks/encoding.py sampling [FOLDER]    variables, gaps, hits, time to solution; asia and sachs from .bif files
python benchmarks/encoding.py pipeline             alarm-15 with four parents, solved only by simulated annealing
python benchmarks/encoding.py speed [FOLDER]       time of the encoding; alarm and hailfinder from .bif files
"""

import time
from math import inf, log

import harness
import numpy as np
from division import read_network
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal.divide.candidates import allowed_by_margin, collect_evidence, named_candidates

SCORE = dn.BDeu(1.0)
ENCODINGS = (dn.PAPER, dn.Encoding("tight", "complete", prune=True), dn.TIGHT, dn.Encoding("gap", "chordal", prune=True))


def interval(hits: int, reads: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of a proportion."""
    z = 1.96
    share = hits / reads
    middle = (share + z * z / (2 * reads)) / (1 + z * z / reads)
    half = z * np.sqrt(share * (1 - share) / reads + z * z / (4 * reads * reads)) / (1 + z * z / reads)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def time_to_solution(hits: int, reads: int, seconds: float) -> str:
    """Return the time in which sequential reads find the optimum with probability 99%, with its 95% interval."""

    def at(share: float) -> float:
        per_read = seconds / reads
        return inf if share <= 0 else per_read * max(1.0, log(0.01) / log(1 - share)) if share < 1 else per_read

    low, high = interval(hits, reads)
    if not hits:
        return f"above {at(high):.2g} s"
    return f"{at(hits / reads):.2g} s ({at(high):.2g} to {at(low):.2g})"


def sampling(bench: harness.Benchmark, folder: str | None) -> None:
    """Compare the reads of all encodings of the same scores."""
    harness.use_one_core()
    bundled = ("monty-hall",) if bench.small else ("waste", "waste-2p-dep", "alarm-15")
    tables = {name: dn.scoring.score_table(dn.load(name).expected_data(10_000), SCORE, 2) for name in bundled}
    if folder:
        standard = {name: read_network(folder, name).sample(10_000, 1) for name in ("asia", "sachs")}
        tables |= {name: dn.scoring.score_table(data, SCORE, 2) for name, data in standard.items()}
    if not bench.small:
        tables["alarm-15, candidates"] = with_candidates(
            dn.scoring.Scorer(dn.load("alarm-15").expected_data(10_000), SCORE), 2
        )
    heads = ("network", "encoding", "variables", "h / J", "reads", "raw gap", "hits", "repaired gap", "hits", "baseline gap")
    printed = harness.Table(bench, (*heads, "raw", "repaired"))
    for name, table in tables.items():
        best = dn.solvers.exact(table).score
        for encoding in ENCODINGS:
            compare_reads(printed, name, table, best, encoding)


def with_candidates(scorer: dn.scoring.Scorer, max_parents: int) -> dn.scoring.ScoreTable:
    """Return the score table on the candidate parents that all triples suggest."""
    names = scorer.data.names
    margins, _, _ = collect_evidence(scorer.table(2), dn.divide.choose_subproblems(len(names), 3, "all", 0))
    return scorer.table(max_parents, named_candidates(allowed_by_margin(margins), names))


def compare_reads(
    printed: harness.Table, name: str, table: dn.scoring.ScoreTable, best: float, encoding: dn.Encoding
) -> None:
    """Print the results of one encoding."""
    small = printed.benchmark.small
    seeds, most = (range(1, 2), 100) if small else (range(1, 6), 1000)
    bqm = dn.qubo.encode(table, encoding)
    spins = bqm.spin
    reads, spent = [], 0.0
    for seed in seeds:
        start = time.perf_counter()
        samples = SimulatedAnnealingSampler().sample(bqm, num_reads=most, seed=seed)
        spent += time.perf_counter() - start
        reads.append(dn.qubo.decode(table, samples))
    raw = np.array([decoded.raw_scores for decoded in reads])
    repaired = np.array([decoded.repaired_scores for decoded in reads])
    solved = [
        time_to_solution(int((np.abs(scores - best) < 1e-6).sum()), most * len(seeds), spent) for scores in (raw, repaired)
    ]
    for count in sorted({100, most}):  # the first 100 reads of a seed are the same in both cases
        sizes = f"{max(map(abs, spins.linear.values())):,.0f} / {max(map(abs, spins.quadratic.values())):,.0f}"
        figures = []
        for scores in (raw, repaired):
            top = np.nan_to_num(scores[:, :count], nan=-np.inf).max(axis=1)
            figures += [f"{np.mean(best - top):.1f}", f"{int((best - top < 1e-6).sum())} of {len(seeds)}"]
        orders = [np.concatenate(list(dn.scoring.random_orders(len(table.names), count, seed))) for seed in seeds]
        figures.append(f"{np.mean([best - dn.scoring.score_orders(table, drawn).max() for drawn in orders]):.1f}")
        last = count == most
        cells = (name, encoding.name, bqm.num_variables, sizes, f"{count:,}", *figures, *(solved if last else ("", "")))
        exact = (bqm.num_variables, sizes, *figures)
        printed.row(f"{name}, {encoding.name}, {count:,} reads", cells, spent if last else None, exact)


def pipeline(bench: harness.Benchmark, folder: str | None) -> None:
    """Solve subproblems and the global problem by simulated annealing."""
    heads = ("seed", "CPDAG distance", "optimal", "variables", "global solves", "baseline gap", "raw gap", "s")
    printed = harness.Table(bench, heads)
    truth = dn.load("lung-cancer" if bench.small else "alarm-15")
    annealer = dn.Anneal(SimulatedAnnealingSampler(), num_reads=1000, encoding=dn.TIGHT)
    solver = dn.Divide(annealer, 3, combine="conquer", subproblem_parameters={"num_reads": 100})
    for seed in range(1, 2 if bench.small else 6):
        data = truth.sample(10_000, seed)
        seconds, result = harness.time_of(
            lambda: dn.learn(data, solver, score=SCORE, max_parents=4, seed=seed)  # noqa: B023
        )
        reads = result.reads
        figures = (
            dn.compare(result.dag, truth.dag).cpdag_shd,
            "yes" if result.optimal else "no",
            reads.qubo_variables,
            result.division.global_solves,
            f"{reads.optimum - reads.baseline:.1f}",
            f"{reads.optimum - reads.raw.score:.1f}" if reads.raw else "none",
        )
        printed.row(f"seed {seed}", (seed, *figures, f"{seconds:.1f}"), seconds, exact=figures)


def speed(bench: harness.Benchmark, folder: str | None) -> None:
    """Measure the time of the encoding."""
    harness.use_one_core()
    heads = ("network", "variables", "parent limit", "candidates", "encoding", "QUBO variables", "interactions", "s")
    printed = harness.Table(bench, heads)
    cases = [("alarm-15", dn.load("alarm-15"), limit) for limit in ((2,) if bench.small else (2, 3, 4))]
    if folder:
        cases += [(name, read_network(folder, name), 3) for name in ("alarm", "hailfinder")]
    for name, truth, limit in cases:
        scorer = dn.scoring.Scorer(truth.sample(10_000, 1), SCORE)
        for kind, table in (("triples", with_candidates(scorer, limit)), ("all", scorer.table(limit))):
            if kind == "all" and len(truth.names) > 15:
                continue
            for encoding in (dn.TIGHT, dn.Encoding("tight", "chordal", prune=False)):
                seconds, bqm = harness.time_of(lambda: dn.qubo.encode(table, encoding))  # noqa: B023
                size = (bqm.num_variables, bqm.num_interactions)
                cells = (name, len(truth.names), limit, kind, encoding.name, *size, f"{seconds:.2f}")
                printed.row(f"{name}, {limit} parents, {kind}, {encoding.name}", cells, seconds, exact=size)


TABLES = {"sampling": sampling, "pipeline": pipeline, "speed": speed}

if __name__ == "__main__":
    options = harness.parse_options(__doc__, ("table", {"choices": list(TABLES)}), ("folder", {"nargs": "?"}))
    with harness.Benchmark(f"encoding-{options.table}", options) as bench:
        TABLES[options.table](bench, options.folder)
