"""Compare the compiled annealer with D-Wave's: cost per spin update, and the distribution of the reads on 20 problems.

Usage: python benchmarks/annealer.py [NETWORK.bif ...] [--small] [--check] [--no-store]

Both samplers use their default schedule, 1,000 reads and one core. Three tests compare the reads of each problem: the
Mann-Whitney test the energies, and Fisher's exact test the numbers of hits (reads with the lowest energy that either sampler
found) and of feasible reads. Holm's method corrects all p-values together, and the level is 1%.

For each network file, `learn` with the solver `sa` learns from 10,000 rows.
"""

from __future__ import annotations

from time import process_time
from typing import Any

import dimod
import harness
import numpy as np
from dwave.samplers import SimulatedAnnealingSampler
from scipy import stats

import dagneal as dn

NETWORKS = ("lung-cancer-4", "lung-cancer", "waste", "waste-2p-dep", "alarm-15")
ENCODINGS = ("tight", "paper", "gap", "tight,complete,unpruned")
LEVEL = 0.01
RATIO = 4.0
SWEEPS = 1000  # default of both samplers


def problems(small: bool) -> dict[str, tuple[dn.scoring.ScoreTable, dimod.BinaryQuadraticModel]]:
    """Return the QUBOs of five networks in four encodings, with the score tables that they encode."""
    chosen = {}
    for network in NETWORKS[:1] if small else NETWORKS:
        table = dn.scoring.score_table(dn.load(network).sample(10_000, 1), dn.BDeu(1.0), 2)
        for encoding in ENCODINGS:
            chosen[f"{network}, {encoding}"] = table, dn.qubo.encode(table, dn.qubo.parse_encoding(encoding))
    return chosen


def nanoseconds(sampler: Any, bqm: dimod.BinaryQuadraticModel, reads: int, times: int) -> float:
    """Return the CPU time per spin update in nanoseconds, the best of several calls."""
    best = np.inf
    for seed in range(times):
        start = process_time()
        sampler.sample(bqm, num_reads=reads, seed=seed)
        best = min(best, process_time() - start)
    return float(best / (reads * SWEEPS * bqm.num_variables) * 1e9)


def p_values(table: dn.scoring.ScoreTable, bqm: dimod.BinaryQuadraticModel, reads: int, seed: int) -> dict[str, float]:
    """Return the p-value of each test that compares the reads of both samplers."""
    decoded = []
    for sampler in (dn.SimulatedAnnealing(), SimulatedAnnealingSampler()):
        samples = sampler.sample(bqm, num_reads=reads, seed=seed)
        decoded.append((bqm.energies(samples).round(6), dn.qubo.decode(table, samples).feasible))
    (ours, our_feasible), (theirs, their_feasible) = decoded
    lowest = min(ours.min(), theirs.min())

    def fisher(a: np.ndarray, b: np.ndarray) -> float:
        counts = [[int(a.sum()), int((~a).sum())], [int(b.sum()), int((~b).sum())]]
        return float(stats.fisher_exact(counts).pvalue)

    return {
        "energies": float(stats.mannwhitneyu(ours, theirs).pvalue),
        "hits": fisher(ours == lowest, theirs == lowest),
        "feasible share": fisher(our_feasible, their_feasible),
    }


def holm(p: np.ndarray) -> np.ndarray:
    """Return p-values corrected by Holm's method."""
    order = np.argsort(p)
    corrected = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    result = np.empty(len(p))
    result[order] = np.minimum(corrected, 1.0)
    return result


def learn_seconds(path: str) -> tuple[float, float]:
    """Return the CPU time of `learn` with `sa` on 10,000 rows of a network, and the score."""
    data = dn.read_bif(path).sample(10_000, 1)
    start = process_time()
    result = dn.learn(data, "sa")
    return process_time() - start, result.score


if __name__ == "__main__":
    with harness.start("annealer", __doc__, ("networks", {"nargs": "*", "metavar": "NETWORK.bif"})) as bench:
        harness.use_one_core()
        reads, times = (100, 1) if bench.small else (1000, 3)
        chosen = problems(bench.small)
        dn.SimulatedAnnealing().sample(next(iter(chosen.values()))[1])  # compiles the kernels
        ratios = []
        for name, (_, bqm) in chosen.items():
            ours = nanoseconds(dn.SimulatedAnnealing(), bqm, reads, times)
            theirs = nanoseconds(SimulatedAnnealingSampler(), bqm, reads, 1)
            ratios.append(theirs / ours)
            note = f"dwave-samplers {theirs:.2f} ns, ratio {ratios[-1]:.1f}, {bqm.num_variables} variables"
            bench.info(f"spin update, {name}", ours, "ns", note)
        bench.gain("dwave-samplers' time per spin update / ours, lowest of all problems", min(ratios), RATIO)
        bench.info("the same, geometric mean", float(np.exp(np.log(ratios).mean())))
        tests = {name: p_values(table, bqm, reads, 1) for name, (table, bqm) in chosen.items()}
        corrected = holm(np.array([p for row in tests.values() for p in row.values()])).reshape(len(tests), -1)
        for column, what in enumerate(next(iter(tests.values()))):
            bench.info(f"{what}: lowest p-value, corrected", float(corrected[:, column].min()))
        different = int((corrected < LEVEL).sum())
        bench.exact(f"differences at {LEVEL:.0%} in {corrected.size} tests of {len(tests)} problems", different, equal_to=0)
        dn.learn(dn.load("lung-cancer").sample(1000, 1), "sa")  # compiles the kernels
        for path in bench.options.networks:
            seconds, score = learn_seconds(path)
            bench.seconds(f"learn, solver sa, 10,000 rows of {path.rpartition('/')[2]}", seconds, note=f"score {score:.1f}")
