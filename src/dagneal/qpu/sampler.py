"""The QPU as a dimod sampler: embeddings from the cache, one problem or many in a call, answers as Ocean gives them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dimod
import numpy as np

from dagneal.base.caches import user_cache_folder
from dagneal.base.defaults import SUBPROBLEM_READS
from dagneal.base.errors import InputError, check_flag, finite_number, short
from dagneal.base.kernels import Ints
from dagneal.qpu.backend import Backend
from dagneal.qpu.chips import USUAL, check_installed
from dagneal.qpu.embedding import EmbeddingCache, bit_graph, fault, graph_name
from dagneal.qpu.finder import EmbeddingFinder
from dagneal.qpu.pack import CHAIN_STRENGTH, Copy, Ising, Ranges, pack
from dagneal.qpu.submission import RetryPolicy, Submitter, check_call
from dagneal.qpu.tiled_subproblems import TiledSubproblems
from dagneal.qubo.encode import Encoding
from dagneal.runtime.journal import Journal
from dagneal.runtime.run import derive_seed
from dagneal.solvers.solution import Hardware

LABEL = "dagneal"  # of problems in D-Wave's dashboard, where none is given
_EMBEDDING = "give a dict from each label of a model to its list of qubits"
SCAN = (0.7, 1.0, CHAIN_STRENGTH, 2.0, 3.0)


@dataclass
class Usage:
    """What was asked of a QPU.

    Attributes:
        calls: that were sent and answered.
        fetched: answers that were paid for in an earlier run, and fetched by their ids.
        microseconds: of access time of the calls, which is what is charged for them.
        chains: of all reads together.
        broken: how many of them were broken.
    """

    calls: int = 0
    fetched: int = 0
    microseconds: float = 0.0
    chains: int = 0
    broken: int = 0


class QPU(dimod.Sampler):  # type: ignore[misc]
    """A quantum annealer behind a backend.

    Args:
        backend: where problems go.
        chain_strength: the prefactor of Ocean's `uniform_torque_compensation` (times the root mean square of the couplings
            and the root of the mean degree), 1.414 by default; `"scan"` tries some with a few reads each and takes that
            with the lowest mean energy.
        gauges: turn spins at random, anew for each copy and call.
        embedding: an embedding of your own, from the labels of a model to its qubits; for problems that are solved alone.
        cache: keeps embeddings.
        journal: keeps the ids of problems that were sent.
        retry: how long to wait for answers, and how often to try again.
    """

    def __init__(
        self,
        backend: Backend,
        chain_strength: float | str | None = None,
        gauges: bool = True,
        embedding: Mapping[Any, Sequence[int]] | None = None,
        cache: Path | None = None,
        journal: Journal | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        check_options(gauges, embedding)
        self.backend = backend
        self.chain_strength = as_chain_strength(chain_strength)
        self.gauges = gauges
        self.embedding = embedding
        self.submitter = Submitter(backend, journal, retry or RetryPolicy())
        self.ranges = Ranges.of(backend.properties)
        topology = backend.properties["topology"]
        cached = EmbeddingCache(cache or user_cache_folder())
        self.finder = EmbeddingFinder(backend.name, backend.graph, topology["type"], tuple(topology["shape"]), cached)
        self.used = Usage()
        self._copies: dict[tuple[bool, str, bytes], list[Copy]] = {}
        self._turns = Counter[str]()  # how often each problem came without a seed
        self._lock = threading.Lock()

    @property
    def properties(self) -> dict[str, Any]:
        """Those of the chip."""
        return self.backend.properties

    @property
    def parameters(self) -> dict[str, Any]:
        """What `sample` takes."""
        return {"num_reads": [], "annealing_time": [], "seed": [], "label": []}

    @property
    def notes(self) -> list[str]:
        """What was noticed about cached embeddings."""
        return self.finder.notes

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
        num_reads: int = SUBPROBLEM_READS,
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
        given = {"num_reads": num_reads, "annealing_time": annealing_time, "label": label}
        parameters = {name: value for name, value in given.items() if value is not None}
        check_call(self.properties, parameters)
        names = list(bqm.variables)
        if not names:  # nothing to ask
            return dimod.SampleSet.from_samples_bqm((np.empty((num_reads, 0), dtype=np.int8), []), bqm)
        self.submitter.reopen()
        linear, (rows, columns, quadratic), _ = bqm.binary.to_numpy_vectors(variable_order=names)
        problem = Ising.of(linear[None], rows, columns, quadratic[None])
        copies = self.copies(rows, columns, len(names), names=names)
        strength = self.strength(problem, copies, parameters, seed)
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
        number = self._draw_seed(problems) if seed is None else seed
        gauges = np.random.default_rng(number) if self.gauges else None
        laid = pack(problems, copies, self.ranges, strength, gauges)
        more = {"seed": number} if "seed" in self.backend.parameters else {}
        named = {} if self.backend.emulated else {"label": LABEL}
        answer = self.submitter.answer(laid.bqm, {"answer_mode": "raw"} | named | parameters | more)
        spins, broken = laid.unpack(answer)
        info = {key: answer.info[key] for key in ("timing", "problem_id", "parts") if key in answer.info}
        qubits = sum(len(copy.qubits) for copy in laid.copies)
        parts = answer.info.get("parts", [answer.info])
        sent = [part for part in parts if part["sent_now"]]
        with self._lock:
            self.used.calls += len(sent)
            self.used.fetched += len(parts) - len(sent)
            self.used.microseconds += sum(float(part.get("timing", {}).get("qpu_access_time", 0.0)) for part in sent)
            self.used.chains += spins.size
            self.used.broken += round(float(broken.sum()) * spins[0].size)
        return spins, info | {"chain_break_fraction": broken.tolist(), "qubits": qubits, "emulated": self.backend.emulated}

    def _draw_seed(self, problems: Ising) -> int:
        """A seed where none was given: another one each time that a problem comes, but in a run that is repeated the same.

        So a call that was interrupted is the same call when it is made again, and its answer is fetched by its id.
        """
        key = problems.fields.tobytes().hex()
        with self._lock:
            self._turns[key] += 1
            return derive_seed(self._turns[key], [key])

    def copies(
        self, rows: Ints, columns: Ints, bits: int, many: bool = False, names: Sequence[Any] | None = None
    ) -> list[Copy]:
        """Where problems of one layout lie on the chip.

        Args:
            rows: the first bit of each product.
            columns: the second.
            bits: how many bits there are.
            many: as many copies as fit; otherwise one.
            names: what the bits are called, for an embedding of the user's own.
        """
        source = bit_graph(zip(rows, columns, strict=True), bits)
        graph = self.backend.graph
        key = (many, graph_name(source), rows.tobytes() + columns.tobytes())  # copies number the products in their order
        if not many and self.embedding is not None and names is not None:
            try:
                chains = {bit: tuple(self.embedding[name]) for bit, name in enumerate(names) if name in self.embedding}
            except TypeError as error:
                raise InputError(f"embedding is {short(self.embedding)}; {_EMBEDDING}") from error
            if lacking := [name for bit, name in enumerate(names) if bit not in chains]:
                raise InputError(f"the embedding that was given has no qubits for {lacking[0]!r}")
            if why := fault(chains, source, graph):
                listed = ", ".join(f"bit {bit} is {name!r}" for bit, name in enumerate(names) if f"bit {bit} " in f"{why} ")
                raise InputError(f"the embedding that was given does not fit: {why}" + (f" ({listed})" if listed else ""))
            return [Copy.of(chains, rows, columns, graph)]
        if key not in self._copies:
            found = self.finder.find(source, many)
            self._copies[key] = [Copy.of(chains, rows, columns, graph) for chains in found]
        return self._copies[key]

    def strength(self, problems: Ising, copies: Sequence[Copy], parameters: dict[str, Any], seed: int | None) -> float:
        """The chain strength that was given, or the best of some, tried with a tenth of the reads each.

        Args:
            problems: no more than there are copies.
            copies: where they lie.
            parameters: of the solver.
            seed: of the gauges, and of an emulator.
        """
        if not isinstance(self.chain_strength, str):
            return self.chain_strength
        if not any(len(copy.links) for copy in copies):
            return CHAIN_STRENGTH
        few = parameters | {"num_reads": max(10, int(parameters["num_reads"]) // 10)}
        scale = np.abs(problems.couplings).max(axis=1, initial=0.0) + np.abs(problems.fields).max(axis=1)

        def energy(strength: float) -> float:
            """The mean over reads and problems, each problem in its own units."""
            own = None if seed is None else derive_seed(seed, ["scan"])  # other reads than those that count
            spins = self.reads(problems, copies, few, strength, own)[0].astype(np.float64)
            pairs = spins[:, :, problems.rows] * spins[:, :, problems.columns]
            sums = np.einsum("prb,pb->p", spins, problems.fields) + np.einsum("prc,pc->p", pairs, problems.couplings)
            return float((sums / np.where(scale > 0, scale, 1.0)).mean())

        return min(SCAN, key=energy)

    def subproblem_solver(
        self, parameters: dict[str, Any], repair: bool, seed: int | None, encoding: Encoding
    ) -> TiledSubproblems:
        """Solve many blocks in one call.

        Args:
            parameters: of `sample`.
            repair: take the best repaired read of a block; otherwise that of lowest energy.
            seed: of the gauges, and of an emulator.
            encoding: of the blocks; nothing is pruned, since all must have the same bits.
        """
        check_call(self.properties, parameters)
        self.submitter.reopen()
        return TiledSubproblems(self, parameters, repair, seed, replace(encoding, prune=False))

    @property
    def fingerprint(self) -> str:
        """What reads depend on besides the problem and the parameters of a call."""
        emulator = self.properties.get("emulator", "")
        return f"{self.backend.name} {emulator} {self.chain_strength} gauges={self.gauges}"

    def usage(self) -> Hardware:
        """Return what was asked of the chip so far."""
        used = self.used
        return Hardware(
            self.backend.name,
            self.backend.emulated,
            used.calls,
            used.fetched,
            used.microseconds / 1e6,
            used.chains,
            used.broken,
        )

    def cancel(self) -> None:
        """Give up what is pending; calls that have begun end soon."""
        self.submitter.cancel()

    def with_journal(self, journal: Journal | None) -> QPU:
        """Return this sampler with a journal, if it has none; the sampler itself does not change.

        Args:
            journal: stores the ids of problems that were sent.
        """
        if journal is None or self.submitter.journal is not None:
            return self
        other = copy(self)
        other.submitter = replace(self.submitter, journal=journal)
        return other


def as_chain_strength(value: Any) -> float | str:
    """A chain strength, or 1.414 for nothing.

    Args:
        value: a number above 0, `"scan"` or nothing.

    >>> as_chain_strength(None), as_chain_strength("scan")
    (1.414, 'scan')
    """
    if value is None:
        return CHAIN_STRENGTH
    if isinstance(value, str) and value == "scan":
        return value
    try:
        return finite_number("chain_strength", value, above=True)
    except InputError as error:
        raise InputError(f"chain_strength is {short(value)}; give a finite number above 0, or 'scan'") from error


def check_options(gauges: Any, embedding: Any) -> None:
    """Refuse options of a QPU that cannot be used.

    Args:
        gauges: True or False.
        embedding: a mapping, or nothing.
    """
    check_flag("gauges", gauges)
    if embedding is not None and not isinstance(embedding, Mapping):
        raise InputError(f"embedding is {short(embedding)}; {_EMBEDDING}")


def connect(profile: str | None = None, solver: str | dict[str, Any] | None = None, **options: Any) -> QPU:
    """D-Wave's quantum annealer, reached with your own configuration (`dwave setup`).

    Args:
        profile: of your `dwave.conf`; its default by default.
        solver: the name of a system, a topology such as `zephyr`, or features such as `{"num_qubits__gt": 5000}`.
        **options: of `QPU`.
    """
    check_installed()
    from dagneal.qpu.cloud import CloudBackend

    as_chain_strength(options.get("chain_strength"))  # before a connection is made
    check_options(options.get("gauges", True), options.get("embedding"))
    wanted = {"topology__type": solver} if isinstance(solver, str) and solver in USUAL else solver
    return QPU(CloudBackend.connect(profile, wanted), **options)
