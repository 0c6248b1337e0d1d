"""The class `QPU`, a dimod sampler for quantum annealers. It stores embeddings, and can solve many problems in one call."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from inspect import signature
from pathlib import Path
from typing import Any

import dimod
import numpy as np

from dagneal.base.caches import user_cache_folder
from dagneal.base.defaults import SUBPROBLEM_READS
from dagneal.base.errors import InputError, check_flag, finite_number, hint, short_repr, whole_number
from dagneal.base.kernels import Floats, Ints
from dagneal.qpu.backend import Backend
from dagneal.qpu.chain_breaks import Spins
from dagneal.qpu.chips import DEFAULT_SYSTEMS, check_installed
from dagneal.qpu.embedding import EmbeddingCache, embedding_error, graph_name, qubo_graph
from dagneal.qpu.finder import EmbeddingFinder
from dagneal.qpu.pack import CHAIN_STRENGTH, Copy, Ising, PhysicalProblem, Ranges, ancilla_interactions, pack, remove_ancilla
from dagneal.qpu.parameters import PER_QUBIT, WHOLE, accepted_parameters, check_call, check_names, is_fast, plain_parameters
from dagneal.qpu.submission import RetryPolicy, Submitter, split_reads
from dagneal.qpu.tiled_subproblems import TiledSubproblems
from dagneal.qubo.encode import Encoding
from dagneal.runtime.journal import Journal
from dagneal.runtime.run import derive_seed
from dagneal.solvers.solution import CallSummary, Hardware

LABEL = "dagneal"  # default label of problems in D-Wave's dashboard
ANCILLA = "ancilla"  # label of the ancilla in an embedding of the user
_FLUX_BIASES = (-0.005, 0.005)  # range of flux biases that hold an ancilla at one value, as in Ocean
_UNUSED = 3  # initial state of a qubit that is not in use
_UNRECORDED = ("initial_state", "seed", "label", "num_reads")  # seeds follow from that of the run
_EMBEDDING = "give a dict from each variable of the model to a list of qubits"
SCAN = (0.7, 1.0, CHAIN_STRENGTH, 2.0, 3.0)  # prefactors that chain_strength="scan" tries


@dataclass
class Usage:
    """Statistics of the calls to a QPU.

    Attributes:
        calls: number of calls that this run sent and that were answered.
        fetched: number of answers that this run fetched by id, because an earlier run had already paid for them.
        microseconds: QPU access time of the calls that this run sent. D-Wave charges for this time.
        chains: number of chains of two or more qubits, summed over all reads.
        broken: number of broken chains, summed over all reads.
        log: the calls, in the order of the answers.
    """

    calls: int = 0
    fetched: int = 0
    microseconds: float = 0.0
    chains: int = 0
    broken: int = 0
    log: list[CallSummary] = field(default_factory=list)


class QPU(dimod.Sampler):  # type: ignore[misc]
    """A quantum annealer as a dimod sampler.

    Args:
        backend: service or local sampler that solves the problems.
        chain_strength: prefactor of the chain strength, 1.414 by default. As in Ocean's `uniform_torque_compensation`, the
            prefactor is multiplied by the root mean square of the couplings and by the square root of the mean degree.
            `"scan"` tries several prefactors with a few reads each and uses the prefactor with the lowest mean energy.
        spin_reversal: whether each problem in each call gets a new random spin-reversal transform.
        embedding: your own embedding, as a dict from each variable of the model to a list of qubits. Only
            `sample` uses this embedding.
        embeddings: number of different embeddings that `sample` uses for one problem. With 1, all calls use the best
            embedding of several searches. With more, the seed of a call selects the embedding. Each embedding is the result
            of one search, like those of Ocean's `EmbeddingComposite`.
        cache: folder for embeddings; the user's cache folder by default.
        journal: journal that stores the ids of sent problems; None to store nothing.
        retry: limits for waiting for answers and for retrying failed calls; see `RetryPolicy`.
    """

    def __init__(
        self,
        backend: Backend,
        chain_strength: float | str | None = None,
        spin_reversal: bool = True,
        embedding: Mapping[Any, Sequence[int]] | None = None,
        embeddings: int = 1,
        cache: Path | None = None,
        journal: Journal | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        check_options(spin_reversal, embedding)
        self.backend = backend
        self.chain_strength = parse_chain_strength(chain_strength)
        self.spin_reversal = spin_reversal
        self.embedding = embedding
        self.embeddings = whole_number("embeddings", embeddings, least=1)
        self.submitter = Submitter(backend, journal, retry or RetryPolicy())
        self.ranges = Ranges.of(backend.properties)
        topology = backend.properties["topology"]
        cached = EmbeddingCache(cache or user_cache_folder())
        self.finder = EmbeddingFinder(backend.name, backend.graph, topology["type"], tuple(topology["shape"]), cached)
        self.used = Usage()
        self._copies: dict[tuple[str, str, bytes], list[Copy]] = {}
        self._seedless_calls = Counter[str]()  # number of calls without a seed, by problem
        self._lock = threading.Lock()

    @property
    def properties(self) -> dict[str, Any]:
        """Properties of the chip."""
        return self.backend.properties

    @property
    def parameters(self) -> dict[str, Any]:
        """Dict whose keys are the names of the arguments of `sample`. The values are empty lists.

        The arguments are those of this class, and the parameters that the solver lists.
        """
        return {name: [] for name in accepted_parameters(self.properties, self.backend.parameters)}

    @property
    def notes(self) -> list[str]:
        """Messages about problems with stored embeddings."""
        return self.finder.notes

    def close(self) -> None:
        """Close the connection to the chip."""
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
        chain_break_method: str = "majority_vote",
        **parameters: Any,
    ) -> dimod.SampleSet:
        """Sample a binary quadratic model.

        Args:
            bqm: any model that fits on the chip.
            num_reads: number of reads.
            annealing_time: annealing time of one read, in microseconds; the chip's default if None.
            seed: seed of the spin-reversal transforms, and also of the emulator if the chip is emulated.
            label: name of the problem in D-Wave's dashboard.
            chain_break_method: `"majority_vote"`, `"weighted_random"`, `"discard"` or `"minimize_energy"`, as in
                `dwave.embedding.chain_breaks` except in ties of the majority vote.
            **parameters: further parameters that the solver lists, with D-Wave's names. `initial_state` is a dict from each
                variable of the model to its value. With `fast_anneal=True`, an ancilla replaces linear coefficients.

        Returns:
            The reads. The data vector `chain_break_fraction` has the fraction of broken chains in each read.
        """
        given = {"num_reads": num_reads, "annealing_time": annealing_time, "seed": seed, "label": label} | parameters
        call = self.check(given | {"chain_break_method": chain_break_method})
        seed = call.pop("seed", None)
        names = list(bqm.variables)
        if not names:  # no variables: nothing to send
            return dimod.SampleSet.from_samples_bqm((np.empty((call["num_reads"], 0), dtype=np.int8), []), bqm)
        self.submitter.reopen()
        problem, copies = self._embed(bqm, names, call, seed)
        initial = _initial_spins(call.pop("initial_state"), names) if "initial_state" in call else None
        strength = self.strength(problem, copies, call, seed, initial)
        spins, broken, info = self.reads(problem, copies, call, strength, seed, initial)
        fractions = broken[0]
        if chain_break_method == "discard":
            fractions = fractions[fractions == 0]
        if not len(spins[0]):
            raise InputError(
                f"chain_break_method='discard' leaves none of {broken.shape[1]:,} reads, because all have broken chains; "
                "use another method or a larger chain_strength"
            )
        states = ((spins[0] + 1) // 2).astype(np.int8)
        samples = dimod.SampleSet.from_samples_bqm((states, names), bqm.binary, chain_break_fraction=fractions)
        samples.info.update(info | {"chain_strength": strength})
        return samples.change_vartype(bqm.vartype, inplace=False)

    def check(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given parameters as plain values, without those that are None. Raise an error if one is not valid.

        Args:
            parameters: keyword arguments of `sample`.
        """
        call = plain_parameters(parameters)
        check_names(list(call), list(self.parameters), self.backend.name)
        check_call(self.properties, call)
        return call | {name: int(call[name]) for name in WHOLE if name in call}

    def estimate_access_time(self, bqm: dimod.BinaryQuadraticModel, **parameters: Any) -> float:
        """Return an estimate of the QPU access time of `sample`, in seconds, without a call. D-Wave charges for this time.

        For a solver in the cloud, Ocean computes the estimate. A scan of chain strengths is not included.

        Args:
            bqm: model to sample.
            **parameters: keyword arguments of `sample`.
        """
        call = self.check({"num_reads": SUBPROBLEM_READS} | parameters)
        if not bqm.num_variables:
            return 0.0  # nothing to send
        _, copies = self._embed(bqm, list(bqm.variables), call, call.get("seed"))
        qubits = len(copies[0].qubits)
        sent = {name: value for name, value in call.items() if name not in ("seed", "label", "chain_break_method")}
        return sum(self.backend.access_time(qubits, part) for part in split_reads(self.properties, sent)) / 1e6

    def _embed(
        self, bqm: dimod.BinaryQuadraticModel, names: list[Any], call: Mapping[str, Any], seed: int | None
    ) -> tuple[Ising, list[Copy]]:
        """Return a model as an Ising problem, and an embedding of this problem."""
        linear, (rows, columns, quadratic), _ = bqm.binary.to_numpy_vectors(variable_order=names)
        problem = Ising.of(linear[None], rows, columns, quadratic[None])
        number = 0 if seed is None else seed % self.embeddings
        ancilla = is_fast(call) and bool(problem.fields.any())
        return problem, self.copies(rows, columns, len(names), names=names, number=number, ancilla=ancilla)

    def reads(
        self,
        problems: Ising,
        copies: Sequence[Copy],
        parameters: dict[str, Any],
        strength: float,
        seed: int | None,
        initial: Spins | None = None,
    ) -> tuple[list[Spins], Floats, dict[str, Any]]:
        """Sample several problems in one call.

        Args:
            problems: problems to solve.
            copies: disjoint embeddings. There must be at least as many embeddings as problems.
            parameters: keyword arguments of the solver, such as `num_reads`, and `chain_break_method`.
            strength: prefactor of the chain strength.
            seed: seed of the spin-reversal transforms, and also of the emulator if the chip is emulated.
            initial: initial spins for reverse annealing, shape (problems, variables).

        Returns:
            A tuple: the spins of each problem, shape (reads, variables); the fraction of broken chains, shape (problems,
            reads); and a dict with information about the call.
        """
        number = self._draw_seed(problems) if seed is None else seed
        generator = np.random.default_rng(number) if self.spin_reversal else None
        ancilla = len(copies[0].starts) > problems.fields.shape[1]
        physical = pack(problems.with_ancilla() if ancilla else problems, copies, self.ranges, strength, generator)
        call = {"answer_mode": "raw"} | ({} if self.backend.emulated else {"label": LABEL}) | parameters
        method = call.pop("chain_break_method", "majority_vote")
        if "seed" in self.backend.parameters:
            call["seed"] = number
        if initial is not None:
            call["initial_state"] = self._per_qubit(physical.qubit_values(initial), [_UNUSED] * self._qubits)
        if ancilla and "flux_biases" in self.parameters:
            call["flux_biases"] = self._hold_ancillas(physical, call.get("flux_biases"))
        answer = self.submitter.answer(physical.bqm, call)
        spins, broken = physical.unpack(answer, method, np.random.default_rng(derive_seed(number, ["chain breaks"])))
        if ancilla:
            spins = [remove_ancilla(own) for own in spins]
        # Ids of local samplers are random, so they would make equal results unequal.
        kept = ("timing",) if self.backend.emulated else ("timing", "problem_id", "parts")
        info = {key: answer.info[key] for key in kept if key in answer.info}
        self._record(answer, physical, broken, strength, call)
        qubits = sum(len(copy.qubits) for copy in physical.copies)
        means = broken.mean(axis=1).tolist()
        return spins, broken, info | {"chain_break_fraction": means, "qubits": qubits, "emulated": self.backend.emulated}

    @property
    def _qubits(self) -> int:
        """Number of qubits of the chip, including those that do not work."""
        return int(self.properties.get("num_qubits") or max(self.backend.graph) + 1)

    def _per_qubit(self, values: Mapping[int, Any], others: list[Any]) -> list[Any]:
        """Return a list with an entry for each qubit: its value, or the entry of `others`."""
        return [values.get(qubit, other) for qubit, other in enumerate(others)]

    def _hold_ancillas(self, physical: PhysicalProblem, given: list[float] | None) -> list[float]:
        """Return flux biases that hold the qubits of each ancilla at the value that stands for a = 1.

        This keeps the long chain of an ancilla in one piece. A positive flux bias favours the spin 1. Reads are also correct
        if an ancilla has the other value.
        """
        size = min(map(abs, self.properties.get("flux_bias_range", _FLUX_BIASES)))
        ones = np.zeros(physical.signs.shape, dtype=np.int8)
        ones[:, -1] = 1
        held = {qubit: size * value for qubit, value in physical.qubit_values(ones).items() if value}
        return self._per_qubit(held, given or [0.0] * self._qubits)

    def _record(
        self, answer: dimod.SampleSet, physical: PhysicalProblem, broken: Floats, strength: float, call: Mapping[str, Any]
    ) -> None:
        """Add a call to the statistics."""
        parts = answer.info.get("parts", [answer.info])
        sent = [part for part in parts if part["sent_now"]]
        timing = {name: float(time) for name, time in answer.info.get("timing", {}).items()}
        means = broken.mean(axis=1)
        summary = CallSummary(
            problem_ids=() if self.backend.emulated else tuple(str(part["problem_id"]) for part in parts),
            fetched=len(parts) - len(sent),
            problems=len(broken),
            reads=broken.shape[1],
            qubits=sum(len(copy.qubits) for copy in physical.copies),
            chain_strength=strength,
            chain_break_fraction=round(float(means.mean()), 6),
            largest_chain_break_fraction=round(float(means.max()), 6),
            timing=timing,
            parameters={name: value for name, value in call.items() if name not in (*PER_QUBIT, *_UNRECORDED)},
        )
        chains = physical.signs.shape[1]  # chains of one problem
        with self._lock:
            self.used.calls += len(sent)
            self.used.fetched += len(parts) - len(sent)
            self.used.microseconds += sum(float(part.get("timing", {}).get("qpu_access_time", 0.0)) for part in sent)
            self.used.chains += broken.shape[1] * sum(copy.long_chains for copy in physical.copies)
            self.used.broken += round(float(broken.sum()) * chains)
            self.used.log.append(summary)

    def _draw_seed(self, problems: Ising) -> int:
        """Return a seed for a call to which the caller gave no seed.

        The n-th call for a problem gets the same seed in every run. A repetition of an interrupted run therefore makes
        the same calls, and fetches the existing answers by id.
        """
        key = problems.fields.tobytes().hex()
        with self._lock:
            self._seedless_calls[key] += 1
            return derive_seed(self._seedless_calls[key], [key])

    def copies(
        self,
        rows: Ints,
        columns: Ints,
        variables: int,
        many: bool = False,
        names: Sequence[Any] | None = None,
        number: int = 0,
        ancilla: bool = False,
    ) -> list[Copy]:
        """Return one or more embeddings for problems with the same interactions.

        Args:
            rows: first variable of each interaction.
            columns: second variable of each interaction.
            variables: number of QUBO variables.
            many: True to return as many disjoint embeddings as fit on the chip, False to return one embedding.
            names: labels of the variables; needed only if the user gave an embedding.
            number: number of the embedding, if the sampler uses several embeddings for one problem.
            ancilla: True to add an ancilla as the last variable; see `Ising.with_ancilla`.
        """
        if ancilla:
            rows, columns = ancilla_interactions(rows, columns, variables)
            variables += 1
            names = None if names is None else [*names, ANCILLA]
        source = qubo_graph(zip(rows, columns, strict=True), variables)
        graph = self.backend.graph
        kind = "copies" if many else "one" if self.embeddings == 1 else f"single-{number}"
        key = (kind, graph_name(source), rows.tobytes() + columns.tobytes())  # copies depend on the order of interactions
        if not many and self.embedding is not None and names is not None:
            try:
                chains = {number: tuple(self.embedding[name]) for number, name in enumerate(names) if name in self.embedding}
            except TypeError as error:
                raise InputError(f"embedding is {short_repr(self.embedding)}; {_EMBEDDING}") from error
            if missing := [name for number, name in enumerate(names) if number not in chains]:
                raise InputError(f"the embedding has no qubits for {missing[0]!r}")
            if why := embedding_error(chains, source, graph):
                labels = [f"variable {i} is {name!r}" for i, name in enumerate(names) if f"variable {i} " in f"{why} "]
                raise InputError(f"the embedding is not valid: {why}" + (f" ({', '.join(labels)})" if labels else ""))
            return [Copy.of(chains, rows, columns, graph)]
        if key not in self._copies:
            embeddings = self.finder.find(source, kind)
            self._copies[key] = [Copy.of(chains, rows, columns, graph) for chains in embeddings]
        return self._copies[key]

    def strength(
        self,
        problems: Ising,
        copies: Sequence[Copy],
        parameters: dict[str, Any],
        seed: int | None,
        initial: Spins | None = None,
    ) -> float:
        """Return the prefactor of the chain strength.

        If `chain_strength` is `"scan"`, try several prefactors with a tenth of the reads each, and return the best.

        Args:
            problems: problems to solve.
            copies: disjoint embeddings. There must be at least as many embeddings as problems.
            parameters: keyword arguments of the solver, such as `num_reads`.
            seed: seed of the spin-reversal transforms, and also of the emulator if the chip is emulated.
            initial: initial spins for reverse annealing, shape (problems, variables).
        """
        if not isinstance(self.chain_strength, str):
            return self.chain_strength
        if not any(len(copy.links) for copy in copies):
            return CHAIN_STRENGTH
        # `discard` could leave no reads to compare.
        few = parameters | {"num_reads": max(10, int(parameters["num_reads"]) // 10), "chain_break_method": "majority_vote"}
        scale = np.abs(problems.couplings).max(axis=1, initial=0.0) + np.abs(problems.fields).max(axis=1)

        def energy(strength: float) -> float:
            """Return the total energy of the reads, divided by (largest |J| + largest |h|), as a mean over the problems."""
            scan_seed = (
                None if seed is None else derive_seed(seed, ["scan"])
            )  # the final call must not repeat the reads of the scan
            spins = np.stack(self.reads(problems, copies, few, strength, scan_seed, initial)[0]).astype(np.float64)
            pairs = spins[:, :, problems.rows] * spins[:, :, problems.columns]
            sums = np.einsum("prb,pb->p", spins, problems.fields) + np.einsum("prc,pc->p", pairs, problems.couplings)
            return float((sums / np.where(scale > 0, scale, 1.0)).mean())

        return min(SCAN, key=energy)

    def subproblem_solver(
        self, parameters: dict[str, Any], repair: bool, seed: int | None, encoding: Encoding
    ) -> TiledSubproblems:
        """Return a solver that solves many subproblems in one call.

        Args:
            parameters: keyword arguments of `sample`.
            repair: True to use the best repaired read of each subproblem, False to use the read with the lowest energy.
            seed: seed of the spin-reversal transforms, and also of the emulator if the chip is emulated.
            encoding: encoding of the subproblems. Pruning is switched off, so that all QUBOs have the same variables.
        """
        if self.embedding is not None:
            raise InputError("your own embedding works only without subproblems; add direct=True, or remove the embedding")
        call = self.check(parameters)
        self.submitter.reopen()
        return TiledSubproblems(self, call, repair, seed, replace(encoding, prune=False))

    @property
    def fingerprint(self) -> str:
        """Text that identifies the chip and the settings that affect the reads."""
        emulator = self.properties.get("emulator", "")
        embeddings = f" embeddings={self.embeddings}" if self.embeddings > 1 else ""
        return f"{self.backend.name} {emulator} {self.chain_strength} gauges={self.spin_reversal}{embeddings}"

    def usage(self) -> Hardware:
        """Return statistics of all calls so far."""
        used = self.used
        return Hardware(
            self.backend.name,
            self.backend.emulated,
            used.calls,
            used.fetched,
            used.microseconds / 1e6,
            used.chains,
            used.broken,
            sum(self.finder.seconds),
            self._settings,
            tuple(used.log),
        )

    @property
    def _settings(self) -> dict[str, Any]:
        """The settings that affect the reads, as plain values."""
        settings = {
            "chain_strength": self.chain_strength,
            "spin_reversal": self.spin_reversal,
            "embeddings": self.embeddings,
            "own_embedding": self.embedding is not None,
        }
        return settings | ({"model": self.properties["emulator"]} if "emulator" in self.properties else {})

    def cancel(self) -> None:
        """Cancel all calls that have no answer yet. Functions that wait for an answer raise `CancelledError`."""
        self.submitter.cancel()

    def with_journal(self, journal: Journal | None) -> QPU:
        """Return a copy of this sampler that uses `journal`. If this sampler already has a journal, return this sampler.

        Args:
            journal: journal that stores the ids of sent problems; None to return this sampler.
        """
        if journal is None or self.submitter.journal is not None:
            return self
        other = copy(self)
        other.submitter = replace(self.submitter, journal=journal)
        return other


def parse_chain_strength(value: Any) -> float | str:
    """Return a valid chain strength unchanged, and 1.414 for None. Raise an error for other values.

    Args:
        value: a number above 0, `"scan"` or None.

    >>> parse_chain_strength(None), parse_chain_strength("scan")
    (1.414, 'scan')
    """
    if value is None:
        return CHAIN_STRENGTH
    if isinstance(value, str) and value == "scan":
        return value
    try:
        return finite_number("chain_strength", value, above=True)
    except InputError as error:
        raise InputError(f"chain_strength is {short_repr(value)}; give a finite number above 0, or 'scan'") from error


def _initial_spins(state: Any, names: Sequence[Any]) -> Spins:
    """Return an initial state as spins, shape (1, variables).

    Args:
        state: dict from each variable to 0 or 1, or to -1 or 1.
        names: labels of the variables.
    """
    if not isinstance(state, Mapping):
        raise InputError(
            f"initial_state is {short_repr(state)}; give a dict from each variable of the model to its value, "
            "or give a DAG to dn.Anneal"
        )
    for name in names:
        if name not in state:
            raise InputError(f"initial_state has no value for the variable {name!r}")
        if state[name] not in (-1, 0, 1):
            raise InputError(f"initial_state has the value {short_repr(state[name])} for {name!r}; give 0 or 1, or -1 or 1")
    return np.array([[1 if state[name] > 0 else -1 for name in names]], dtype=np.int8)


def check_options(spin_reversal: Any, embedding: Any) -> None:
    """Raise an error if an option of a QPU is invalid.

    Args:
        spin_reversal: True or False.
        embedding: a dict from each variable to a list of qubits, or None.
    """
    check_flag("spin_reversal", spin_reversal)
    if embedding is not None and not isinstance(embedding, Mapping):
        raise InputError(f"embedding is {short_repr(embedding)}; {_EMBEDDING}")


def check_option_names(options: Mapping[str, Any], others: Sequence[str]) -> None:
    """Raise an error if an option is not an argument of `QPU` and not in `others`.

    Args:
        options: options by name.
        others: names of further options.
    """
    known = [*others, *(name for name in signature(QPU).parameters if name != "backend")]
    for name in options:
        if name not in known:
            raise InputError(f"there is no option {name!r}; the options are {', '.join(known)}{hint(name, known)}")


def connect(profile: str | None = None, solver: str | dict[str, Any] | None = None, **options: Any) -> QPU:
    """Connect to D-Wave's quantum annealer with your D-Wave configuration (made by `dwave setup`).

    Args:
        profile: profile in your `dwave.conf`; None for the default profile.
        solver: name of a system, a topology such as `zephyr`, or required features such as `{"num_qubits__gt": 5000}`.
        **options: further arguments of `QPU`.
    """
    check_installed()
    from dagneal.qpu.cloud import CloudBackend

    check_option_names(options, ("profile", "solver"))
    parse_chain_strength(options.get("chain_strength"))  # check the options before connecting
    check_options(options.get("spin_reversal", True), options.get("embedding"))
    wanted = {"topology__type": solver} if isinstance(solver, str) and solver in DEFAULT_SYSTEMS else solver
    return QPU(CloudBackend.connect(profile, wanted), **options)
