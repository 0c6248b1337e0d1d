"""The QPU as a dimod sampler: embeddings from the cache, one problem or many in a call, answers as Ocean gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import dimod
import networkx as nx
import numpy as np

from dagneal.errors import InputError
from dagneal.journal import Journal
from dagneal.kernels import Ints
from dagneal.learners.block_solvers import Solutions, block_seed, taken
from dagneal.qpu.chips import check_installed
from dagneal.qpu.embed import Chains, EmbeddingCache, bit_graph, cache_folder, fault, find_embedding, graph_name
from dagneal.qpu.pack import CHAIN_STRENGTH, Copy, Ising, Ranges, packed
from dagneal.qpu.submit import Backend, Line, Patience
from dagneal.qpu.tile import check_copies, check_fits, find_copies
from dagneal.qubo.decode import decode_spins
from dagneal.qubo.encode import Encoding, qubos
from dagneal.table import Blocks

IN_FLIGHT = 4  # calls that are waited for at a time
SCAN = (0.7, 1.0, CHAIN_STRENGTH, 2.0, 3.0)


class QPU(dimod.Sampler):  # type: ignore[misc]
    """A quantum annealer behind a backend.

    Args:
        backend: where problems go.
        chain_strength: times the usual strength of Ocean (the root mean square of the couplings times the root of the mean
            degree); 1.414 by default; `"scan"` tries some with a few reads each and takes that with the lowest mean energy.
        gauges: turn spins at random, anew for each copy and call.
        embedding: an embedding of your own, from the labels of a model to its qubits.
        cache: keeps embeddings.
        journal: keeps the ids of problems that were sent.
        patience: how long to wait for answers, and how often to try again.
    """

    def __init__(
        self,
        backend: Backend,
        chain_strength: float | str | None = None,
        gauges: bool = True,
        embedding: Mapping[Any, Sequence[int]] | None = None,
        cache: Path | None = None,
        journal: Journal | None = None,
        patience: Patience | None = None,
    ) -> None:
        if isinstance(chain_strength, str) and chain_strength != "scan":
            raise InputError(f"chain_strength is {chain_strength!r}; give a number or 'scan'")
        if isinstance(chain_strength, int | float) and not 0 < chain_strength < inf:
            raise InputError(f"chain_strength is {chain_strength!r}; it must be above 0")
        self.backend = backend
        self.chain_strength = CHAIN_STRENGTH if chain_strength is None else chain_strength
        self.gauges = gauges
        self.embedding = embedding
        self.cache = EmbeddingCache(cache or cache_folder())
        self.line = Line(backend, journal, patience or Patience())
        self.ranges = Ranges.of(backend.properties)
        self.notes: list[str] = []  # what was noticed about cached embeddings
        self._copies: dict[tuple[str, str, bytes], list[Copy]] = {}

    @property
    def properties(self) -> dict[str, Any]:
        """Those of the chip."""
        return self.backend.properties

    @property
    def parameters(self) -> dict[str, Any]:
        """What `sample` takes."""
        return {"num_reads": [], "annealing_time": [], "seed": [], "label": []}

    def close(self) -> None:
        """Let go of the connection."""
        self.backend.close()

    def __enter__(self) -> QPU:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def sample(
        self,
        bqm: dimod.BinaryQuadraticModel,
        num_reads: int = 100,
        annealing_time: float | None = None,
        seed: int | None = None,
        label: str | None = None,
    ) -> dimod.SampleSet:
        """Sample a model.

        Args:
            bqm: any model that fits on the chip.
            num_reads: how many reads.
            annealing_time: of one read, in microseconds; the chip's own by default.
            seed: of the gauges, and of an emulator.
            label: shown by the service.
        """
        self.line.reopen()
        names = list(bqm.variables)
        linear, (rows, columns, quadratic), _ = bqm.binary.to_numpy_vectors(variable_order=names)
        problem = Ising.of(linear[None], rows, columns, quadratic[None])
        copies = self.copies(rows, columns, len(names), "one", names)
        parameters = _without_none(num_reads=num_reads, annealing_time=annealing_time, label=label)
        strength = self._strength(problem, copies, parameters, seed)
        spins, info = self.reads(problem, copies, parameters, strength, seed)
        bits = ((spins[0] + 1) // 2).astype(np.int8)
        found = dimod.SampleSet.from_samples_bqm((bits, names), bqm.binary)
        found.info.update(info | {"chain_strength": strength})
        return found.change_vartype(bqm.vartype, inplace=False)

    def reads(
        self, problems: Ising, copies: Sequence[Copy], parameters: dict[str, Any], strength: float, seed: int | None
    ) -> tuple[Any, dict[str, Any]]:
        """One call: the spins of each problem, shape (problems, reads, bits), and what is to be known about it.

        Args:
            problems: no more than there are copies.
            copies: where they lie.
            parameters: of the solver.
            strength: of the chains, times the usual.
            seed: of the gauges, and of an emulator.
        """
        # Without a seed the gauges come from the problem, so that a call that is repeated is the same call.
        number = seed if seed is not None else int(block_seed(0, [problems.fields.tobytes().hex()]))
        gauges = np.random.default_rng(number) if self.gauges else None
        laid = packed(problems, copies, self.ranges, strength, gauges)
        more = {"seed": number} if "seed" in self.backend.parameters else {}
        answer = self.line.answer(laid.bqm, {"answer_mode": "raw"} | parameters | more)
        spins, broken = laid.unpacked(answer)
        info = {key: answer.info[key] for key in ("timing", "problem_id", "parts") if key in answer.info}
        used = sum(len(copy.qubits) for copy in laid.copies)
        return spins, info | {"chain_break_fraction": broken.tolist(), "qubits": used, "emulated": self.backend.emulated}

    def copies(self, rows: Ints, columns: Ints, bits: int, kind: str, names: Sequence[Any] | None = None) -> list[Copy]:
        """Where problems of one layout lie on the chip: from the cache if that still holds, else found and kept.

        Args:
            rows: the first bit of each product.
            columns: the second.
            bits: how many bits there are.
            kind: `one`, or `copies` for as many as fit.
            names: what the bits are called, for an embedding of the user's own.
        """
        source = bit_graph(zip(rows, columns, strict=True), bits)
        graph = self.backend.graph
        key = (kind, graph_name(source), rows.tobytes() + columns.tobytes())  # copies number the products in their order
        if kind == "one" and self.embedding is not None and names is not None:
            chains = {bit: tuple(self.embedding.get(name, ())) for bit, name in enumerate(names)}
            if why := fault(chains, source, graph):
                raise InputError(f"the embedding that was given does not fit: {why}")
            return [Copy.of(chains, rows, columns, graph)]
        if key not in self._copies:
            found = self._cached(kind, source)
            self._copies[key] = [Copy.of(chains, rows, columns, graph) for chains in found]
        return self._copies[key]

    def _cached(self, kind: str, source: nx.Graph) -> list[Chains]:
        name, graph = self.backend.name, self.backend.graph
        kept = self.cache.get(name, kind, source)
        if kept is not None:
            good, why = check_copies(kept, source, graph)
            if kept and not why:
                return good
            self.notes.append(f"{self.cache.path(name, kind, source)}: {why or 'damaged'}; a new embedding was made")
        if kind == "one":
            found = [find_embedding(source, graph)]
        else:
            topology = self.properties["topology"]
            found = find_copies(source, graph, topology["type"], tuple(topology["shape"])[:1])
            check_fits(found, len(source))
        self.cache.put(name, kind, source, found)
        return found

    def _strength(self, problem: Ising, copies: Sequence[Copy], parameters: dict[str, Any], seed: int | None) -> float:
        """The chain strength that was given, or the best of some, tried with a tenth of the reads each."""
        if not isinstance(self.chain_strength, str):
            return float(self.chain_strength)
        if not len(copies[0].links):
            return CHAIN_STRENGTH
        few = parameters | {"num_reads": max(10, int(parameters["num_reads"]) // 10)}

        def energy(strength: float) -> float:
            spins = self.reads(problem, copies, few, strength, seed)[0][0].astype(np.float64)
            pairs = spins[:, problem.rows] * spins[:, problem.columns]
            return float((spins @ problem.fields[0] + pairs @ problem.couplings[0]).mean())

        return min(SCAN, key=energy)

    def block_solver(self, parameters: dict[str, Any], repair: bool, seed: int | None, encoding: Encoding) -> TiledBlocks:
        """Solve many blocks in one call.

        Args:
            parameters: of `sample`.
            repair: take the best repaired read of a block; otherwise that of lowest energy.
            seed: of the gauges, and of an emulator.
            encoding: of the blocks; nothing is pruned, since all must have the same bits.
        """
        self.line.reopen()
        return TiledBlocks(self, parameters, repair, seed, replace(encoding, prune=False))


class TiledBlocks:
    """Blocks on copies of one embedding, as many in a call as the chip holds.

    Args:
        qpu: the sampler.
        parameters: of `QPU.sample`.
        repair: take the best repaired read; otherwise that of lowest energy.
        seed: of the gauges, and of an emulator.
        encoding: of the blocks.
    """

    def __init__(self, qpu: QPU, parameters: dict[str, Any], repair: bool, seed: int | None, encoding: Encoding) -> None:
        self.qpu, self.parameters, self.repair, self.seed, self.encoding = qpu, parameters, repair, seed, encoding
        self.calls = 0
        self.in_flight = IN_FLIGHT

    @property
    def name(self) -> str:
        """The name of the sampler."""
        return type(self.qpu).__name__

    def piece(self, blocks: Blocks) -> int:
        """How many blocks go into one call.

        Args:
            blocks: some of those that will come.
        """
        encoded = qubos(blocks, self.encoding)
        return len(self.qpu.copies(encoded.rows, encoded.columns, encoded.layout.bits, "copies"))

    def solve(self, blocks: Blocks) -> Solutions:
        """Solve blocks; see `BlockSolver`."""
        encoded = qubos(blocks, self.encoding)
        layout = encoded.layout
        copies = self.qpu.copies(encoded.rows, encoded.columns, layout.bits, "copies")
        count, size = blocks.members.shape
        adjacency = np.zeros((count, size, size), dtype=bool)
        scores = np.full(count, np.nan)
        given = dict(self.parameters)
        strength = float(self.qpu.chain_strength) if not isinstance(self.qpu.chain_strength, str) else CHAIN_STRENGTH
        own_seed = given.pop("seed", self.seed)
        for begin in range(0, count, len(copies)):
            lines = slice(begin, min(begin + len(copies), count))
            problems = Ising.of(encoded.linear[lines], encoded.rows, encoded.columns, encoded.quadratic[lines])
            seed = None if own_seed is None else block_seed(own_seed, blocks.names(begin))
            spins, _ = self.qpu.reads(problems, copies, _without_none(**{"num_reads": 100} | given), strength, seed)
            self.calls += 1
            for place, line in enumerate(range(lines.start, lines.stop)):
                reads = decode_spins(blocks.table(line), encoded, line, spins[place])
                adjacency[line], scores[line] = taken(reads, self.repair)
        return Solutions(adjacency, scores)

    def cancel(self) -> None:
        """Give up what is pending."""
        self.qpu.line.cancel()

    def fingerprint(self) -> str:
        """All that the reads depend on."""
        emulator = self.qpu.properties.get("emulator", "")
        where = f"{self.qpu.backend.name} {emulator} {self.qpu.chain_strength} gauges={self.qpu.gauges}"
        return f"{self.name} {where} {sorted(self.parameters.items())} repair={self.repair} seed={self.seed} {self.encoding}"


def _without_none(**parameters: Any) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}


def qpu(profile: str | None = None, solver: str | dict[str, Any] | None = None, **options: Any) -> QPU:
    """D-Wave's quantum annealer, reached with your own configuration (`dwave setup`).

    Args:
        profile: of your `dwave.conf`; its default by default.
        solver: the name of a system, or features that it must have, such as `{"topology__type": "zephyr"}`.
        **options: of `QPU`.
    """
    check_installed()
    from dagneal.qpu.cloud import CloudBackend

    return QPU(CloudBackend.connected(profile, solver), **options)
