"""Solve many subproblems in one call: client time on Ocean's mock, and the effect on simulated annealing."""

import tempfile
from itertools import combinations
from pathlib import Path

import dimod
import harness
import numpy as np
from dwave.samplers import SimulatedAnnealingSampler
from dwave.system.testing import MockDWaveSampler

import dagneal as dn
from dagneal.qpu.backend import LocalBackend

UNPRUNED = dn.Encoding("tight", "complete", prune=False)


class Instant(dimod.Sampler):
    """Return random spins immediately, so that only the time of the client remains."""

    parameters, properties = {"num_reads": [], "answer_mode": []}, {}

    def sample(self, bqm, num_reads=1, **_):
        spins = np.random.default_rng(0).integers(0, 2, (num_reads, bqm.num_variables)).astype(np.int8) * 2 - 1
        return dimod.SampleSet.from_samples((spins, bqm.variables), "SPIN", np.zeros(num_reads))


def client_time(bench: harness.Benchmark, table: dn.scoring.ScoreTable, size: int) -> None:
    """Solve subproblems on a mock of the chip, with the paper's encoding."""
    mock = MockDWaveSampler(
        topology_type="pegasus", topology_shape=[16], substitute_sampler=Instant(), parameter_warnings=False
    )
    with tempfile.TemporaryDirectory() as cache:
        qpu = dn.qpu.QPU(LocalBackend(mock, "mock"), cache=Path(cache))
        subproblems = table.gather(list(combinations(range(15), size)))
        for state in ("new embedding", "stored embedding"):
            solver = qpu.subproblem_solver({"num_reads": 100}, False, 1, dn.PAPER)
            seconds, _ = harness.time_of(lambda solver=solver: solver.solve_many(subproblems))
            calls = f"{len(subproblems.members):,} subproblems of {size} in {solver.calls} calls"
            bench.seconds(f"{calls}, client time, {state}", seconds)


def joint_model(encoded) -> dimod.BinaryQuadraticModel:
    """Return all problems as one block-diagonal model."""
    scale = np.abs(encoded.quadratic).max(axis=1, keepdims=True)  # one schedule needs problems of equal scale
    count, variables = encoded.linear.shape
    begin = np.arange(count)[:, None] * variables
    return dimod.BinaryQuadraticModel.from_numpy_vectors(
        (encoded.linear / scale).ravel(),
        ((begin + encoded.rows).ravel(), (begin + encoded.columns).ravel(), (encoded.quadratic / scale).ravel()),
        0.0,
        dimod.BINARY,
    )


if __name__ == "__main__":
    with harness.start("tiles", __doc__) as bench:
        harness.use_one_core()
        table = dn.scoring.score_table(dn.load("alarm-15").expected_data(10_000), dn.BDeu(1.0), 2)
        for size in (3,) if bench.small else (3, 4):
            client_time(bench, table, size)
        triples = table.gather(list(combinations(range(15), 3)))
        together = joint_model(dn.qubo.qubos(triples, UNPRUNED))
        for reads in (1,) if bench.small else (10, 100):
            for encoding in (UNPRUNED, dn.TIGHT):
                solver = dn.divide.AnnealedSubproblems(SimulatedAnnealingSampler(), {"num_reads": reads}, True, 1, encoding)
                seconds, _ = harness.time_of(lambda solver=solver: solver.solve_many(triples))
                bench.seconds(f"455 triples, simulated annealing, {reads} reads, one by one, {encoding.name}", seconds)
            seconds, _ = harness.time_of(
                lambda reads=reads: SimulatedAnnealingSampler().sample(together, num_reads=reads, seed=1)
            )
            bench.seconds(f"the same in one call, unpruned, without decoding, {reads} reads", seconds)
