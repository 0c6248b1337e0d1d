"""Block solvers: what solves the sub-problems of a division, many at a time."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, runtime_checkable

import dimod
import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats
from dagneal.divide.subproblems import solve_exactly
from dagneal.qubo.decode import Reads, decode_bits
from dagneal.qubo.encode import TIGHT, Encoding, qubos
from dagneal.qubo.hamiltonian import Qubos
from dagneal.result import Learned
from dagneal.scoring.table import Blocks
from dagneal.solvers.annealing import check_parameters, sampled
from dagneal.solvers.samplers import parameters_of, with_defaults


@dataclass(frozen=True, eq=False)
class Solutions:
    """What a block solver found.

    Attributes:
        adjacency: shape (blocks, parent, child); perhaps with cycles where reads are taken raw.
        scores: the log score of each; NaN where the graph is not a network.
        failed: for the lines of blocks that could not be solved, why.
    """

    adjacency: NDArray[np.bool_]
    scores: Floats
    failed: dict[int, str] = field(default_factory=dict)


@runtime_checkable
class BlockSolver(Protocol):
    """Solves many blocks of one size.

    One that solves many in one call may also have `piece(blocks) -> int`, how many it wants at once, `in_flight`, how many
    calls to make at a time, and `cancel()`, called on Ctrl-C before what has begun is waited for. A sampler may offer one of
    its own with `block_solver(parameters, repair, seed, encoding)`.
    """

    @property
    def name(self) -> str:
        """What to call it in results."""
        ...

    def solve(self, blocks: Blocks) -> Solutions:
        """Solve blocks; the solution of a block must not depend on the others that it comes with.

        Args:
            blocks: their scores.
        """
        ...

    def fingerprint(self) -> str:
        """What the solutions depend on besides the scores, for a journal."""
        ...


@dataclass(frozen=True)
class ExactBlocks:
    """Dynamic programming, compiled, over all blocks at once."""

    name: str = "exact"

    def solve(self, blocks: Blocks) -> Solutions:
        """Solve blocks; see `BlockSolver`."""
        return Solutions(*solve_exactly(blocks.scores, blocks.masks))

    def fingerprint(self) -> str:
        """Nothing but the name."""
        return self.name


@dataclass(frozen=True)
class LearnedBlocks:
    """Any learner, one block after the other.

    Args:
        learner: a function from a table to a `Learned`.
        parameters: further arguments of the learner.
    """

    learner: Callable[..., Learned]
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the learner."""
        return getattr(self.learner, "__name__", type(self.learner).__name__)

    def solve(self, blocks: Blocks) -> Solutions:
        """Solve blocks; see `BlockSolver`."""
        count, size = blocks.members.shape
        adjacency = np.zeros((count, size, size), dtype=bool)
        scores = np.full(count, np.nan)
        failed = {}
        for line in range(count):
            try:
                found = self.learner(blocks.table(line), **self.parameters)
                adjacency[line] = nx.to_numpy_array(found.dag, nodelist=blocks.names(line)) > 0
                scores[line] = found.score
            except Exception as error:  # whatever a learner raises; the block is named, the others go on
                failed[line] = str(error) or type(error).__name__
        return Solutions(adjacency, scores, failed)

    def fingerprint(self) -> str:
        """Where the learner is defined, and its parameters."""
        return f"{address(self.learner)} {sorted(self.parameters.items())}"


@dataclass(frozen=True)
class Annealing:
    """A dimod sampler and how it is used, on blocks or on the whole.

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

    def seeded(self, names: Sequence[str]) -> dict[str, Any]:
        """The parameters with the seed of one problem.

        Args:
            names: what tells the problem from others.
        """
        if self.seed is None or "seed" not in parameters_of(self.sampler):
            return dict(self.parameters)
        return {"seed": block_seed(self.seed, names)} | self.parameters


@dataclass(frozen=True)
class AnnealedBlocks(Annealing):
    """Any dimod sampler on the QUBO of each block; raw reads are those of lowest energy, as in the paper."""

    def solve(self, blocks: Blocks) -> Solutions:
        """Solve blocks; see `BlockSolver`."""
        count, size = blocks.members.shape
        adjacency = np.zeros((count, size, size), dtype=bool)
        scores = np.full(count, np.nan)
        failed = {}
        for line, reads in enumerate(self.reads(blocks)):
            if isinstance(reads, str):
                failed[line] = reads
            else:
                adjacency[line], scores[line] = taken(reads, self.repair)
        return Solutions(adjacency, scores, failed)

    def reads(self, blocks: Blocks) -> Iterator[Reads | str]:
        """The reads of each block, decoded; or why there are none.

        Args:
            blocks: their scores.
        """
        # Without pruning all blocks have the same bits, and are encoded at once.
        together = None if self.encoding.prune else qubos(blocks, self.encoding)
        for line in range(len(blocks.members)):
            try:
                table = blocks.table(line)
                encoded, problem = (qubos(table, self.encoding), 0) if together is None else (together, line)
                parameters = self._parameters(encoded, problem, blocks.names(line))
                samples = sampled(self.sampler, encoded.model(problem), parameters)
                yield decode_bits(table, encoded.layout, samples)
            except Exception as error:  # whatever a sampler raises; the block is named, the others go on
                yield str(error) or type(error).__name__

    def _parameters(self, encoded: Qubos, problem: int, names: Sequence[str]) -> dict[str, Any]:
        """The parameters for one block: with its own seed, and with its temperatures, costly to find one by one."""
        found = self.seeded(names)
        takes_range = "beta_range" in parameters_of(self.sampler) and encoded.layout.bits > 0
        if takes_range and not {"beta_range", "beta_schedule"} & set(found):
            found["beta_range"] = encoded.beta_ranges[problem].tolist()
        return found

    def fingerprint(self) -> str:
        """All that the reads depend on."""
        inner = [f"{type(child).__module__}.{type(child).__qualname__}" for child in getattr(self.sampler, "children", [])]
        kind = f"{type(self.sampler).__module__}.{type(self.sampler).__qualname__} {inner}"
        return f"{kind} {sorted(self.parameters.items())} repair={self.repair} seed={self.seed} {self.encoding}"


def taken(reads: Reads, repair: bool) -> tuple[NDArray[np.bool_], float]:
    """The edges that are taken from a block's reads, and their score.

    Args:
        reads: of one block.
        repair: take the best repaired read; otherwise the read of lowest energy as it stands, as in the paper.
    """
    if repair:
        best = int(np.argmax(reads.repaired_scores))
        edges = nx.to_numpy_array(reads.repaired_dag(best), nodelist=reads.table.names) > 0
        return edges, float(reads.repaired_scores[best])
    best = int(np.argmin(reads.energies))
    return reads.edges[best], float(reads.raw_scores[best])


def block_seed(seed: int, names: Sequence[str]) -> int:
    """A seed for one block, the same whoever solves it and whatever other blocks there are."""
    text = "\0".join([str(seed), *names])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big") >> 1


def address(learner: Any) -> str:
    """Where a learner is defined, so that a journal can tell it from others.

    Args:
        learner: a function of a module, or a partial of one.
    """
    if isinstance(learner, partial):
        return f"{address(learner.func)} {learner.args} {sorted(learner.keywords.items())}"
    found = f"{getattr(learner, '__module__', '')}.{getattr(learner, '__qualname__', '')}"
    if "<" in found or not getattr(learner, "__qualname__", ""):
        raise InputError("a journal cannot tell a nameless learner from another; define it as a function of a module")
    return found


def seeded(learner: Callable[..., Learned], seed: int | None, parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a learner with the seed, if there is one and the learner takes it."""
    if seed is None or "seed" not in inspect.signature(learner).parameters:
        return parameters
    return {"seed": seed} | parameters


def block_solver(
    solver: Any, seed: int | None = None, repair: bool = True, encoding: Encoding = TIGHT, **parameters: Any
) -> BlockSolver:
    """Make a block solver of a block solver, a sampler, a learner, or nothing (exact search).

    Args:
        solver: what should solve the blocks.
        seed: for samplers.
        repair: for samplers.
        encoding: for samplers.
        **parameters: of the sampler or the learner; a sampler gets those of `dagneal.solvers.samplers` where none are given.
    """
    from dagneal.solvers.exact import exact

    if isinstance(solver, dimod.Sampler):
        check_parameters(solver, parameters)
        parameters = with_defaults(solver, parameters, blocks=True)
        if hasattr(solver, "block_solver"):  # it can solve many in one call
            ready: BlockSolver = solver.block_solver(parameters, repair, seed, encoding)
            return ready
        return AnnealedBlocks(solver, parameters, repair, seed, encoding)
    if solver is None or solver is exact or isinstance(solver, BlockSolver):
        if parameters:
            raise InputError(f"exact search and block solvers take no parameters such as {next(iter(parameters))!r}")
        return solver if isinstance(solver, BlockSolver) else ExactBlocks()
    if callable(solver):
        return LearnedBlocks(solver, seeded(solver, seed, parameters))
    raise InputError(f"solver is {type(solver).__name__}; give a dimod sampler, a learner, a block solver or nothing")
