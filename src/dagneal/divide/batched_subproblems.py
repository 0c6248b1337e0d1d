"""Solve thousands of subproblems in one call of the compiled annealer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import dimod
import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Masks
from dagneal.divide.subproblem_solvers import AnnealedSubproblems, Annealing, Batching, Solutions, SubproblemSolver
from dagneal.qubo.decode import best_graphs
from dagneal.qubo.encode import Encoding, QuboGroup, qubo_groups
from dagneal.runtime.run import derive_seed
from dagneal.scoring.table import Subproblems
from dagneal.solvers.ising import IsingModels
from dagneal.solvers.simulated_annealing import SWEEPS, SimulatedAnnealing, check_seed

_LARGEST_BATCH = 4096  # subproblems per call
_UPDATES_PER_CALL = 1 << 30  # proposed flips per call, which take about a second


def annealed_subproblems(
    sampler: dimod.Sampler, parameters: dict[str, Any], repair: bool, seed: int | None, encoding: Encoding
) -> SubproblemSolver:
    """Return the fastest subproblem solver for a sampler.

    Args:
        sampler: dimod sampler.
        parameters: parameters of the sampler.
        repair: True to use the best repaired read of a subproblem, False to use the raw read of lowest energy.
        seed: base seed, from which the seed of each subproblem is derived.
        encoding: QUBO encoding of the subproblems.
    """
    if isinstance(sampler, Batching):
        return sampler.subproblem_solver(parameters, repair, seed, encoding)
    # A subclass may change the method `sample`, and only that method takes initial states.
    batched = type(sampler) is SimulatedAnnealing and "initial_states" not in parameters
    kind = BatchedSubproblems if batched else AnnealedSubproblems
    return kind(sampler, parameters, repair, seed, encoding)


@dataclass(frozen=True)
class BatchedSubproblems(Annealing):
    """A subproblem solver that encodes, anneals and decodes many subproblems together.

    The sampler must be `SimulatedAnnealing`. The reads are those of `AnnealedSubproblems`.
    """

    @property
    def in_flight(self) -> None:
        """Always None: one call per worker."""

    def batch_size(self, subproblems: Subproblems) -> int:
        """Return the number of subproblems that one call should get; see `BatchSolver`."""
        reads, sweeps = self.parameters.get("num_reads", 1), self.parameters.get("num_sweeps", SWEEPS)
        if not (isinstance(reads, int) and isinstance(sweeps, int)):
            return _LARGEST_BATCH  # a custom schedule, or an error that `solve_many` reports
        updates = max(1, reads * sweeps * int(subproblems.members.shape[1]) ** 2)
        return min(max(1, _UPDATES_PER_CALL // updates), _LARGEST_BATCH)

    def solve_many(self, subproblems: Subproblems) -> Solutions:
        """Solve subproblems; see `SubproblemSolver`."""
        count, size = subproblems.members.shape
        adjacency = np.zeros((count, size, size), dtype=bool)
        scores = np.full(count, np.nan)
        for group, spins in self.reads(subproblems):
            adjacency[group.rows], scores[group.rows] = best_graphs(group.subproblems, group.qubos, spins, self.repair)
        return Solutions(adjacency, scores)

    def reads(self, subproblems: Subproblems) -> Iterator[tuple[QuboGroup, NDArray[np.int8]]]:
        """Yield groups of subproblems that have the same QUBO variables, with their reads.

        Reads are spins, shape (subproblems of the group, reads, QUBO variables).

        Args:
            subproblems: subproblems to solve, with their log scores.
        """
        groups = list(qubo_groups(subproblems, self.encoding))
        models = [
            IsingModels.of(fields, group.qubos.rows, group.qubos.columns, couplings)
            for group in groups
            for fields, couplings in [group.qubos.ising]
        ]
        seeds = self._seeds(subproblems)[np.concatenate([group.rows for group in groups])]
        parameters = {"num_reads": 1} | {name: value for name, value in self.parameters.items() if name != "seed"}
        spins = self.sampler.sample_many(IsingModels.join(models), seeds, **parameters)
        begin = 0
        for group in groups:
            end = begin + len(group.rows)
            yield group, np.stack(spins[begin:end])
            begin = end

    def _seeds(self, subproblems: Subproblems) -> Masks:
        """Return the seed of each subproblem."""
        count = len(subproblems.members)
        if "seed" in self.parameters:
            return np.full(count, check_seed(self.parameters["seed"]), dtype=np.uint64)
        if self.seed is None:
            return np.array([check_seed(None) for _ in range(count)], dtype=np.uint64)
        return np.array([derive_seed(self.seed, subproblems.names(row)) for row in range(count)], dtype=np.uint64)
