"""The table of docs/encoding.md: what simulated annealing makes of each encoding.

python benchmarks/encoding.py sampling [FOLDER]    bits, gaps, hits and time to solution; asia and sachs from .bif files
python benchmarks/encoding.py pipeline             alarm-15 with four parents, by simulated annealing alone
python benchmarks/encoding.py speed [FOLDER]       how long encoding takes; alarm and hailfinder from .bif files
"""

import sys
import time
from math import inf, log
from pathlib import Path

import numpy as np
from division import read
from dwave.samplers import SimulatedAnnealingSampler
from measure import one_core

import dagneal as dn
from dagneal.divide.candidates import allowed_by_margin, named_candidates, small_evidence
from dagneal.divide.subproblems import choose_subproblems
from dagneal.scoring.orders import random_orders, score_orders

ENCODINGS = (dn.PAPER, dn.Encoding("tight", "complete", prune=True), dn.TIGHT, dn.Encoding("gap", "chordal", prune=True))
SEEDS = range(1, 6)
READS = 1000


def interval(hits: int, reads: int) -> tuple[float, float]:
    """Wilson's 95% interval of a share."""
    z = 1.96
    share = hits / reads
    middle = (share + z * z / (2 * reads)) / (1 + z * z / reads)
    half = z * np.sqrt(share * (1 - share) / reads + z * z / (4 * reads * reads)) / (1 + z * z / reads)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def time_to_solution(hits: int, reads: int, seconds: float) -> str:
    """The time after which the optimum has been read with 99%, with its 95% interval, one read after the other."""

    def at(share: float) -> float:
        once = seconds / reads
        return inf if share <= 0 else once * max(1.0, log(0.01) / log(1 - share)) if share < 1 else once

    low, high = interval(hits, reads)
    if not hits:
        return f"above {at(high):.2g} s"
    return f"{at(hits / reads):.2g} s ({at(high):.2g} to {at(low):.2g})"


def sampling(folder: str | None = None) -> None:
    one_core()
    tables = {name: dn.scoring.score_table(dn.load(name).expected(10_000)) for name in ("waste", "waste-2p-dep", "alarm-15")}
    if folder:
        tables |= {name: dn.scoring.score_table(read(folder, name).sample(10_000, 1)) for name in ("asia", "sachs")}
    tables["alarm-15, candidates"] = with_candidates(dn.scoring.Scorer(dn.load("alarm-15").expected(10_000)), 2)
    head = "network | encoding | bits | h / J | reads | raw gap | hits | repaired gap | hits | baseline gap | raw | repaired"
    print(f"| {head} |\n|{'---|' * 12}", flush=True)
    for name, table in tables.items():
        best = dn.solvers.exact(table).score
        for encoding in ENCODINGS:
            report(name, table, best, encoding)


def with_candidates(scorer: dn.scoring.Scorer, max_parents: int) -> dn.scoring.ScoreTable:
    """The table on the candidate parents that all triples suggest."""
    names = scorer.data.names
    margins, _, _ = small_evidence(scorer.table(2), choose_subproblems(len(names), 3, "all", 0))
    return scorer.table(max_parents, named_candidates(allowed_by_margin(margins), names))


def report(name: str, table: dn.scoring.ScoreTable, best: float, encoding: dn.Encoding) -> None:
    bqm = dn.qubo.encode(table, encoding)
    spins = bqm.spin
    reads, spent = [], 0.0
    for seed in SEEDS:
        begun = time.perf_counter()
        samples = SimulatedAnnealingSampler().sample(bqm, num_reads=READS, seed=seed)
        spent += time.perf_counter() - begun
        reads.append(dn.qubo.decode(table, samples))
    raw = np.array([r.raw_scores for r in reads])
    repaired = np.array([r.repaired_scores for r in reads])
    solved = [
        time_to_solution(int((np.abs(scores - best) < 1e-6).sum()), READS * len(SEEDS), spent) for scores in (raw, repaired)
    ]
    for count in (100, READS):  # the first reads of a seed are the same however many there are
        cells = [name, encoding.name, bqm.num_variables]
        cells.append(f"{max(map(abs, spins.linear.values())):,.0f} / {max(map(abs, spins.quadratic.values())):,.0f}")
        cells.append(f"{count:,}")
        for scores in (raw, repaired):
            top = np.nan_to_num(scores[:, :count], nan=-np.inf).max(axis=1)
            gap = np.mean(best - top)
            cells += [f"{gap:.1f}", f"{int((best - top < 1e-6).sum())} of {len(SEEDS)}"]
        orders = [np.concatenate(list(random_orders(len(table.names), count, seed))) for seed in SEEDS]
        cells.append(f"{np.mean([best - score_orders(table, drawn).max() for drawn in orders]):.1f}")
        cells += solved if count == READS else ["", ""]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def pipeline() -> None:
    print(f"| seed | CPDAG distance | optimal | bits | rounds | baseline gap | raw gap | s |\n|{'---|' * 8}")
    truth = dn.load("alarm-15")
    for seed in SEEDS:
        data = truth.sample(10_000, seed)
        begun = time.perf_counter()
        found = dn.learn(
            data, solver=SimulatedAnnealingSampler(), seed=seed, num_reads=READS, subproblem_parameters={"num_reads": 100}
        )
        spent = time.perf_counter() - begun
        figures = found.reads
        cells = (
            seed,
            dn.compare(found.dag, truth.dag).cpdag_shd,
            "yes" if found.optimal else "no",
            figures.bits,
            found.division.rounds,
            f"{figures.optimum - figures.baseline:.1f}",
            f"{figures.optimum - figures.raw.score:.1f}" if figures.raw else "none",
            f"{spent:.1f}",
        )
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def speed(folder: str | None = None) -> None:
    one_core()
    print(f"| network | variables | most parents | candidates | encoding | bits | interactions | s |\n|{'---|' * 8}")
    cases = [("alarm-15", dn.load("alarm-15"), m) for m in (2, 3, 4)]
    if folder:
        cases += [(name, read(folder, name), 3) for name in ("alarm", "hailfinder")]
    for name, truth, limit in cases:
        scorer = dn.scoring.Scorer(truth.sample(10_000, 1))
        for kind, table in (("triples", with_candidates(scorer, limit)), ("all", scorer.table(limit))):
            if kind == "all" and len(truth.names) > 15:
                continue
            for encoding in (dn.TIGHT, dn.Encoding("tight", "chordal", prune=False)):
                begun = time.perf_counter()
                bqm = dn.qubo.encode(table, encoding)
                spent = time.perf_counter() - begun
                cells = (name, len(truth.names), limit, kind, encoding.name, bqm.num_variables, bqm.num_interactions)
                print("| " + " | ".join(map(str, (*cells, f"{spent:.2f}"))) + " |", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    {"sampling": sampling, "pipeline": pipeline, "speed": speed}[sys.argv[1]](*sys.argv[2:])
