"""Compare raw reads, repaired reads and random orders with the optimum, on the paper's networks."""

from dwave.samplers import SimulatedAnnealingSampler, TabuSampler

import dagneal as dn

print(f"{'network':14} {'sampler':10} {'raw gap':>9} {'repaired gap':>13} {'random orders':>14} {'feasible':>9}")
for name in ("monty-hall", "lung-cancer-4", "lung-cancer", "waste", "waste-2p-dep"):
    table = dn.scoring.score_table(dn.load(name).expected_data(10_000), max_parents=2)
    for label, sampler in (("SA", SimulatedAnnealingSampler()), ("tabu", TabuSampler())):
        reads = dn.solvers.anneal(table, sampler, num_reads=100, seed=1).reads
        raw = f"{reads.optimum - reads.raw.score:.3f}" if reads.raw else "none"
        repaired, baseline = (reads.optimum - score for score in (reads.repaired.score, reads.baseline))
        print(f"{name:14} {label:10} {raw:>9} {repaired:13.3f} {baseline:14.3f} {reads.feasible:9.1%}")
