"""Many blocks in one call: the client's time on Ocean's mock, and what one call for all does for simulated annealing."""

import tempfile
import time
from itertools import combinations
from pathlib import Path

import dimod
import numpy as np
from dwave.samplers import SimulatedAnnealingSampler
from dwave.system.testing import MockDWaveSampler
from measure import line, one_core

import dagneal as dn
from dagneal.divide.subproblem_solvers import AnnealedSubproblems
from dagneal.qpu.backend import LocalBackend
from dagneal.qpu.sampler import QPU
from dagneal.qubo.encode import qubos

one_core()
table = dn.scoring.score_table(dn.load("alarm-15").expected(10_000))


class Instant(dimod.Sampler):
    """Random spins at once: what is left is the client's time."""

    parameters, properties = {"num_reads": [], "answer_mode": []}, {}

    def sample(self, bqm, num_reads=1, **_):
        spins = np.random.default_rng(0).integers(0, 2, (num_reads, bqm.num_variables)).astype(np.int8) * 2 - 1
        return dimod.SampleSet.from_samples((spins, bqm.variables), "SPIN", np.zeros(num_reads))


mock = MockDWaveSampler(topology_type="pegasus", topology_shape=[16], substitute_sampler=Instant(), parameter_warnings=False)
for size in (3, 4):
    qpu = QPU(LocalBackend(mock, "mock"), cache=Path(tempfile.mkdtemp()))
    blocks = table.gather(list(combinations(range(15), size)))
    for turn in ("embedding found", "embedding known"):
        solver = qpu.subproblem_solver({"num_reads": 100}, False, 1, dn.PAPER)
        begun = time.perf_counter()
        solver.solve(blocks)
        spent = time.perf_counter() - begun
        line(f"{len(blocks.members):,} blocks of {size} in {solver.calls} calls, client time, {turn}", f"{spent:.2f} s")

blocks = table.gather(list(combinations(range(15), 3)))
encoded = qubos(blocks, dn.Encoding("tight", "complete", prune=False))
scale = np.abs(encoded.quadratic).max(axis=1, keepdims=True)  # one schedule for all needs problems of one scale
count, bits = encoded.linear.shape
begin = np.arange(count)[:, None] * bits
together = dimod.BinaryQuadraticModel.from_numpy_vectors(
    (encoded.linear / scale).ravel(),
    ((begin + encoded.rows).ravel(), (begin + encoded.columns).ravel(), (encoded.quadratic / scale).ravel()),
    0.0,
    dimod.BINARY,
)
for reads in (10, 100):
    for encoding in (dn.Encoding("tight", "complete", prune=False), dn.TIGHT):
        begun = time.perf_counter()
        AnnealedSubproblems(SimulatedAnnealingSampler(), {"num_reads": reads}, True, 1, encoding).solve(blocks)
        alone = time.perf_counter() - begun
        line(f"455 triples, simulated annealing, {reads} reads, one by one, {encoding.name}", f"{alone:.2f} s")
    begun = time.perf_counter()
    SimulatedAnnealingSampler().sample(together, num_reads=reads, seed=1)
    line(
        f"the same in one block-diagonal call, unpruned, without decoding, {reads} reads",
        f"{time.perf_counter() - begun:.2f} s",
    )
