"""Subproblem solvers, which solve many subproblems of a division in one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.defaults import SEED
from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats
from dagneal.divide.subproblems import solve_exactly
from dagneal.qubo.decode import Reads, decode_numbered
from dagneal.qubo.encode import TIGHT, Encoding, qubos
from dagneal.qubo.hamiltonian import Qubos
from dagneal.runtime.run import Run, derive_seed
from dagneal.scoring.table import Subproblems
from dagneal.solvers.annealing import check_parameters, sample_model
from dagneal.solvers.checks import check_solution
from dagneal.solvers.initial_states import encode_initial_state
from dagneal.solvers.problem import Problem, Solver
from dagneal.solvers.samplers import ADDRESS, FINGERPRINT_ADVICE, parameters_of, sampler_fingerprint

if TYPE_CHECKING:
    import dimod


@dataclass(frozen=True, eq=False)
class Solutions:
    """The solutions of many subproblems.

    Attributes:
        adjacency: `adjacency[subproblem, parent, child]` is True for an edge; graphs of raw reads can have cycles.
        scores: log score of each solution; NaN if the graph has a cycle or a parent set without a score.
        failed: error message of each failed subproblem; the key is the index of the subproblem.
    """

    adjacency: NDArray[np.bool_]
    scores: Floats
    failed: dict[int, str] = field(default_factory=dict)


@runtime_checkable
class SubproblemSolver(Protocol):
    """The interface of solvers that solve many subproblems of the same size in one call.

    `Divide` also accepts a `Solver`, and calls it once for each subproblem. Implement `SubproblemSolver` if one call for
    many subproblems is faster. A subproblem solver can also implement `BatchSolver` and
    `Cancellable`.
    """

    @property
    def name(self) -> str:
        """The name of the solver in results."""
        ...

    def solve_many(self, subproblems: Subproblems) -> Solutions:
        """Solve subproblems. The solution of a subproblem must not depend on the other subproblems.

        Args:
            subproblems: subproblems to solve, with their log scores.
        """
        ...

    def fingerprint(self) -> str:
        """Return a text with all settings that affect the solutions. The text is part of the journal keys."""
        ...


@runtime_checkable
class BatchSolver(Protocol):
    """The interface of subproblem solvers that choose the number of subproblems per call."""

    @property
    def in_flight(self) -> int | None:
        """The maximum number of concurrent calls of the solver; None for one call per worker."""
        ...

    def batch_size(self, subproblems: Subproblems) -> int:
        """Return the number of subproblems that one call of the solver should get.

        Args:
            subproblems: some of the subproblems, as examples.
        """
        ...


@runtime_checkable
class Batching(Protocol):
    """The interface of samplers that provide their own subproblem solver."""

    def subproblem_solver(
        self, parameters: dict[str, Any], repair: bool, seed: int | None, encoding: Encoding
    ) -> SubproblemSolver:
        """Return a subproblem solver that uses this sampler.

        Args:
            parameters: parameters for the method `sample` of the sampler.
            repair: True to use the best repaired read of a subproblem, False to use the raw read of lowest energy.
            seed: seed of the sampler.
            encoding: QUBO encoding of the subproblems.
        """
        ...


@dataclass(frozen=True)
class ExactSubproblems:
    """A subproblem solver that solves all subproblems of a call exactly, by compiled dynamic programming."""

    name: str = "exact"

    def solve_many(self, subproblems: Subproblems) -> Solutions:
        """Solve subproblems; see `SubproblemSolver`."""
        return Solutions(*solve_exactly(subproblems.scores, subproblems.masks))

    def fingerprint(self) -> str:
        """Return the name of the solver, because it has no settings."""
        return self.name


@dataclass(frozen=True)
class SequentialSubproblems:
    """A subproblem solver that calls any `Solver` once for each subproblem.

    Args:
        solver: solver to call.
        seed: seed of every call.
    """

    solver: Solver
    seed: int = SEED

    @property
    def name(self) -> str:
        """The class name of `solver`."""
        return type(self.solver).__name__

    def solve_many(self, subproblems: Subproblems) -> Solutions:
        """Solve subproblems; see `SubproblemSolver`."""
        count, size = subproblems.members.shape
        adjacency = np.zeros((count, size, size), dtype=bool)
        scores = np.full(count, np.nan)
        failed = {}
        run = Run(self.seed)
        for row in range(count):
            try:
                problem = Problem(subproblems.table(row))
                solution = check_solution(self.solver.solve(problem, run), problem, self.solver)
                adjacency[row] = nx.to_numpy_array(solution.dag, nodelist=subproblems.names(row)) > 0
                scores[row] = solution.score
            except Exception as error:  # a solver can raise anything; report this subproblem and continue
                failed[row] = str(error) or type(error).__name__
        return Solutions(adjacency, scores, failed)

    def fingerprint(self) -> str:
        """Return one text with the fingerprint of `solver` and the seed."""
        return f"{fingerprint_of(self.solver)} seed={self.seed}"


@dataclass(frozen=True)
class Annealing:
    """A dimod sampler with its settings, for subproblems or for the global problem.

    Args:
        sampler: dimod sampler that solves the QUBOs.
        parameters: parameters of the sampler.
        repair: True to use the best repaired read, False to use a raw read as in the paper.
        seed: base seed, from which the seed of each problem is derived; ignored if the sampler has no seed parameter.
        encoding: QUBO encoding.
    """

    sampler: dimod.Sampler
    parameters: dict[str, Any] = field(default_factory=dict)
    repair: bool = True
    seed: int | None = None
    encoding: Encoding = TIGHT

    def __post_init__(self) -> None:
        check_parameters(self.sampler, self.parameters)

    @property
    def name(self) -> str:
        """The class name of the sampler."""
        return type(self.sampler).__name__

    def with_seed(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the sampler parameters for one problem. If the sampler has a parameter `seed`, a seed is included.

        Args:
            names: texts that identify the problem, such as the names of its variables. The seed is derived from them.
        """
        if self.seed is None or "seed" not in parameters_of(self.sampler):
            return dict(self.parameters)
        return {"seed": derive_seed(self.seed, names)} | self.parameters

    def fingerprint(self) -> str:
        """Return a text with all settings that affect the reads."""
        kind = sampler_fingerprint(self.sampler)
        return f"{kind} {sorted(self.parameters.items())} repair={self.repair} seed={self.seed} {self.encoding}"


@dataclass(frozen=True)
class AnnealedSubproblems(Annealing):
    """A subproblem solver that samples QUBOs. With `repair=False` it uses the raw read of lowest energy, as in the paper."""

    def solve_many(self, subproblems: Subproblems) -> Solutions:
        """Solve subproblems; see `SubproblemSolver`."""
        count, size = subproblems.members.shape
        adjacency = np.zeros((count, size, size), dtype=bool)
        scores = np.full(count, np.nan)
        failed = {}
        for row, reads in enumerate(self.reads(subproblems)):
            if isinstance(reads, str):
                failed[row] = reads
            else:
                adjacency[row], scores[row] = best_edges(reads, self.repair)
        return Solutions(adjacency, scores, failed)

    def reads(self, subproblems: Subproblems) -> Iterator[Reads | str]:
        """Yield the decoded reads of each subproblem. Yield an error message instead if the subproblem failed.

        Args:
            subproblems: subproblems to solve, with their log scores.
        """
        # Without pruning, all subproblems have the same QUBO variables and can be encoded in one call.
        shared = None if self.encoding.prune else qubos(subproblems, self.encoding)
        for row in range(len(subproblems.members)):
            try:
                table = subproblems.table(row)
                encoded, problem = (qubos(table, self.encoding), 0) if shared is None else (shared, row)
                parameters = self._parameters(encoded, problem, subproblems.names(row))
                parameters = encode_initial_state(
                    parameters, table, encoded.layout, range(encoded.layout.num_variables), self.encoding
                )
                samples = sample_model(self.sampler, encoded.model(problem), parameters)
                yield decode_numbered(table, encoded.layout, samples)
            except Exception as error:  # a sampler can raise anything; report this subproblem and continue
                yield str(error) or type(error).__name__

    def _parameters(self, encoded: Qubos, problem: int, names: Sequence[str]) -> dict[str, Any]:
        """Return the parameters for one subproblem, with `seed` and `beta_range` if the sampler has these parameters."""
        parameters = self.with_seed(names)
        takes_range = "beta_range" in parameters_of(self.sampler) and encoded.layout.num_variables > 0
        if takes_range and not {"beta_range", "beta_schedule"} & set(parameters):
            # The sampler could compute this range itself. Computing the ranges of all subproblems together is faster.
            parameters["beta_range"] = encoded.beta_ranges[problem].tolist()
        return parameters


def best_edges(reads: Reads, repair: bool) -> tuple[NDArray[np.bool_], float]:
    """Return the adjacency matrix of the best read of a subproblem, and the score of this read.

    Args:
        reads: reads of one subproblem.
        repair: True to use the best repaired read, False to use the raw read of lowest energy, as in the paper.
    """
    if repair:
        best = int(np.argmax(reads.repaired_scores))
        edges = nx.to_numpy_array(reads.repaired_dag(best), nodelist=reads.table.names) > 0
        return edges, float(reads.repaired_scores[best])
    best = int(np.argmin(reads.energies))
    return reads.edges[best], float(reads.raw_scores[best])


def fingerprint_of(solver: Solver) -> str:
    """Return a text that identifies a solver. The text is the same in every process.

    Args:
        solver: solver whose `repr` shows all settings.
    """
    text = repr(solver)
    if ADDRESS in text or "<locals>" in text:
        inside = text[0] != "<" and "<locals>" not in text  # usually a sampler in the settings of the solver has the address
        advice = FINGERPRINT_ADVICE if inside else "define it in a module as a frozen dataclass"
        raise InputError(f"a journal cannot identify the solver {text}; {advice}")
    return f"{type(solver).__module__}.{text}"
