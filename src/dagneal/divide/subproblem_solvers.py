"""Subproblem solvers: what solves the subproblems of a division, many at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import dimod
import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.defaults import SEED
from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats
from dagneal.divide.subproblems import solve_exactly
from dagneal.qubo.decode import Reads, decode_bits
from dagneal.qubo.encode import TIGHT, Encoding, qubos
from dagneal.qubo.hamiltonian import Qubos
from dagneal.runtime.run import Run, derive_seed
from dagneal.scoring.table import Subproblems
from dagneal.solvers.annealing import check_parameters, sample_model
from dagneal.solvers.checks import check_solution
from dagneal.solvers.problem import Problem, Solver
from dagneal.solvers.samplers import ADDRESS, TELL_APART, parameters_of, sampler_fingerprint


@dataclass(frozen=True, eq=False)
class Solutions:
    """What a subproblem solver found.

    Attributes:
        adjacency: shape (subproblems, parent, child); perhaps with cycles where reads are taken raw.
        scores: the log score of each; NaN where the graph is not a network.
        failed: for the lines of subproblems that could not be solved, why.
    """

    adjacency: NDArray[np.bool_]
    scores: Floats
    failed: dict[int, str] = field(default_factory=dict)


@runtime_checkable
class SubproblemSolver(Protocol):
    """Solves many subproblems of one size; it may also be a `BatchSolver` or `Cancellable`.

    A `Solver` solves one problem, and a division gives it the subproblems one by one. This is for solvers that are faster
    with many at once.
    """

    @property
    def name(self) -> str:
        """The name in results."""
        ...

    def solve_many(self, subproblems: Subproblems) -> Solutions:
        """Solve subproblems; the solution of each must not depend on the others.

        Args:
            subproblems: their scores.
        """
        ...

    def fingerprint(self) -> str:
        """Return what the solutions depend on besides the scores, for a journal."""
        ...


@runtime_checkable
class BatchSolver(Protocol):
    """A subproblem solver that solves many subproblems in one call and decides how many."""

    @property
    def in_flight(self) -> int:
        """The number of calls at a time."""
        ...

    def batch_size(self, subproblems: Subproblems) -> int:
        """Return the number of subproblems in a call.

        Args:
            subproblems: the first of those that will come.
        """
        ...


@runtime_checkable
class Batching(Protocol):
    """A sampler that brings a subproblem solver of its own."""

    def subproblem_solver(
        self, parameters: dict[str, Any], repair: bool, seed: int | None, encoding: Encoding
    ) -> SubproblemSolver:
        """Return what solves subproblems with this sampler.

        Args:
            parameters: of `sample`.
            repair: take the best repaired read of a subproblem; otherwise the read of lowest energy.
            seed: of the samples.
            encoding: of the subproblems.
        """
        ...


@dataclass(frozen=True)
class ExactSubproblems:
    """Dynamic programming, compiled, over all subproblems at once."""

    name: str = "exact"

    def solve_many(self, subproblems: Subproblems) -> Solutions:
        """Solve subproblems; see `SubproblemSolver`."""
        return Solutions(*solve_exactly(subproblems.scores, subproblems.masks))

    def fingerprint(self) -> str:
        """Nothing but the name."""
        return self.name


@dataclass(frozen=True)
class SolvedSubproblems:
    """Any solver, one subproblem after the other.

    Args:
        solver: solves each subproblem as a problem of its own.
        seed: of every subproblem.
    """

    solver: Solver
    seed: int = SEED

    @property
    def name(self) -> str:
        """The name of the solver."""
        return type(self.solver).__name__

    def solve_many(self, subproblems: Subproblems) -> Solutions:
        """Solve subproblems; see `SubproblemSolver`."""
        count, size = subproblems.members.shape
        adjacency = np.zeros((count, size, size), dtype=bool)
        scores = np.full(count, np.nan)
        failed = {}
        own = Run(self.seed)  # nothing of a run but its seed belongs to a single subproblem
        for line in range(count):
            try:
                problem = Problem(subproblems.table(line))
                found = check_solution(self.solver.solve(problem, own), problem, self.solver)
                adjacency[line] = nx.to_numpy_array(found.dag, nodelist=subproblems.names(line)) > 0
                scores[line] = found.score
            except Exception as error:  # whatever a solver raises; the subproblem is named, the others go on
                failed[line] = str(error) or type(error).__name__
        return Solutions(adjacency, scores, failed)

    def fingerprint(self) -> str:
        """Return the solver as it is written in code, and the seed."""
        return f"{fingerprint_of(self.solver)} seed={self.seed}"


@dataclass(frozen=True)
class Annealing:
    """A dimod sampler and how it is used, on subproblems or on the whole.

    Args:
        sampler: what solves the QUBOs.
        parameters: passed to the sampler.
        repair: take the best repaired read; otherwise a raw one, as it stands.
        seed: each problem gets a seed of its own from it, if the sampler takes one.
        encoding: how problems are encoded.
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
        """The name of the sampler."""
        return type(self.sampler).__name__

    def with_seed(self, names: Sequence[str]) -> dict[str, Any]:
        """The parameters with the seed of one problem.

        Args:
            names: what tells the problem from others.
        """
        if self.seed is None or "seed" not in parameters_of(self.sampler):
            return dict(self.parameters)
        return {"seed": derive_seed(self.seed, names)} | self.parameters


@dataclass(frozen=True)
class AnnealedSubproblems(Annealing):
    """Any dimod sampler on the QUBO of each subproblem; raw reads are those of lowest energy, as in the paper."""

    def solve_many(self, subproblems: Subproblems) -> Solutions:
        """Solve subproblems; see `SubproblemSolver`."""
        count, size = subproblems.members.shape
        adjacency = np.zeros((count, size, size), dtype=bool)
        scores = np.full(count, np.nan)
        failed = {}
        for line, reads in enumerate(self.reads(subproblems)):
            if isinstance(reads, str):
                failed[line] = reads
            else:
                adjacency[line], scores[line] = best_edges(reads, self.repair)
        return Solutions(adjacency, scores, failed)

    def reads(self, subproblems: Subproblems) -> Iterator[Reads | str]:
        """The reads of each subproblem, decoded; or why there are none.

        Args:
            subproblems: their scores.
        """
        # Without pruning all subproblems have the same bits, and are encoded at once.
        together = None if self.encoding.prune else qubos(subproblems, self.encoding)
        for line in range(len(subproblems.members)):
            try:
                table = subproblems.table(line)
                encoded, problem = (qubos(table, self.encoding), 0) if together is None else (together, line)
                parameters = self._parameters(encoded, problem, subproblems.names(line))
                samples = sample_model(self.sampler, encoded.model(problem), parameters)
                yield decode_bits(table, encoded.layout, samples)
            except Exception as error:  # whatever a sampler raises; the subproblem is named, the others go on
                yield str(error) or type(error).__name__

    def _parameters(self, encoded: Qubos, problem: int, names: Sequence[str]) -> dict[str, Any]:
        """The parameters for one subproblem: with its own seed, and with its temperatures, costly to find one by one."""
        found = self.with_seed(names)
        takes_range = "beta_range" in parameters_of(self.sampler) and encoded.layout.bits > 0
        if takes_range and not {"beta_range", "beta_schedule"} & set(found):
            found["beta_range"] = encoded.beta_ranges[problem].tolist()
        return found

    def fingerprint(self) -> str:
        """All that the reads depend on."""
        kind = sampler_fingerprint(self.sampler)
        return f"{kind} {sorted(self.parameters.items())} repair={self.repair} seed={self.seed} {self.encoding}"


def best_edges(reads: Reads, repair: bool) -> tuple[NDArray[np.bool_], float]:
    """Return the edges of the best of a subproblem's reads, and their score.

    Args:
        reads: of one subproblem.
        repair: take the best repaired read; otherwise the read of lowest energy as it stands, as in the paper.
    """
    if repair:
        best = int(np.argmax(reads.repaired_scores))
        edges = nx.to_numpy_array(reads.repaired_dag(best), nodelist=reads.table.names) > 0
        return edges, float(reads.repaired_scores[best])
    best = int(np.argmin(reads.energies))
    return reads.edges[best], float(reads.raw_scores[best])


def fingerprint_of(solver: Solver) -> str:
    """Return a text that tells a solver from others in every process.

    Args:
        solver: one whose `repr` says what it is.
    """
    text = repr(solver)
    if ADDRESS in text or "<locals>" in text:
        inside = text[0] != "<" and "<locals>" not in text  # the address of a sampler, as a rule
        how = TELL_APART if inside else "make it a frozen dataclass of a module"
        raise InputError(f"a journal cannot tell {text} from another solver; {how}")
    return f"{type(solver).__module__}.{text}"
