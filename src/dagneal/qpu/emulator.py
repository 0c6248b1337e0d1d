"""The emulator: a model of a chip with the qubit graph, ranges, control errors and timing of a quantum annealer.

All results are marked as emulated. Each call adds new, independent Gaussian errors to every field and coupling. Problems
that share a tiled call therefore have independent errors. A model (see `dagneal.qpu.chip_models`) then samples the changed
problem on the qubit graph. docs/results/emulator.md compares the models with the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import dimod
import numpy as np
from numpy.typing import NDArray

from dagneal.base.defaults import ANNEALING_TIME, SYSTEM
from dagneal.base.errors import InputError, short_repr
from dagneal.qpu.backend import LocalBackend
from dagneal.qpu.chip_models import DEFAULT, SETTINGS, AnnealPath, ChipModel, make_model
from dagneal.qpu.chips import check_installed, find_system
from dagneal.qpu.embedding import graph_name
from dagneal.qpu.parameters import annealing_duration, check_call, check_names
from dagneal.qpu.sampler import QPU, check_option_names
from dagneal.qpu.targets import Target, find_target
from dagneal.solvers.ising import IsingModels

_PARAMETERS = (
    *("num_reads", "annealing_time", "anneal_schedule", "initial_state", "reinitialize_state", "answer_mode", "max_answers"),
    *("programming_thermalization", "readout_thermalization", "reduce_intersample_correlation"),
    *("seed", "label", "interrupt_function"),
)


class EmulatedChip(dimod.Sampler, dimod.Structured):  # type: ignore[misc]
    """An emulated chip: a dimod sampler with the qubits, couplers and properties of a quantum annealer.

    Args:
        system: name of a system, or a topology such as `pegasus`. With `:working` at its end, the chip has as many working
            qubits as D-Wave published.
        model: model of the chip; see `chip_models.make_model`.
        broken: indices of the qubits that do not work.
        **settings: settings of the model.
    """

    def __init__(
        self, system: str = SYSTEM, model: str | ChipModel = DEFAULT, broken: Sequence[int] = (), **settings: float
    ) -> None:
        self.model = make_model(model, **settings)
        check_installed()
        kind, colon, rest = system.partition(":")
        name, self.system = find_system(kind)
        target = find_target(name + colon + rest)
        self.name = target.name
        self.broken = _check_qubits(broken, target)
        graph = target.graph.copy()
        graph.remove_nodes_from(self.broken)
        self._nodes = sorted(graph)
        self._edges = sorted((min(a, b), max(a, b)) for a, b in graph.edges)

    @property
    def nodelist(self) -> list[int]:
        """Indices of the working qubits."""
        return self._nodes

    @property
    def edgelist(self) -> list[tuple[int, int]]:
        """Working couplers, as pairs of qubits."""
        return self._edges

    @property
    def parameters(self) -> dict[str, Any]:
        """Dict whose keys are the names of the arguments of `sample`. The values are empty lists."""
        return {name: [] for name in _PARAMETERS}

    @property
    def properties(self) -> dict[str, Any]:
        """Properties of the chip, in the format of a D-Wave QPU."""
        return self.system.properties | {
            "chip_id": f"emulated {self.name}",
            "emulated": True,
            "emulator": repr(self.model),
        }

    @property
    def fingerprint(self) -> str:
        """Text that identifies the chip and the settings that affect the reads."""
        return f"{self.name}, {self.properties['emulator']}, broken {self.broken}"

    def sample(
        self,
        bqm: dimod.BinaryQuadraticModel,
        num_reads: int = 1,
        annealing_time: float = ANNEALING_TIME,
        seed: int | None = None,
        answer_mode: str = "raw",
        label: str | None = None,
        interrupt_function: Callable[[], bool] | None = None,
        anneal_schedule: Sequence[Sequence[float]] | None = None,
        initial_state: Sequence[int] | Mapping[int, int] | None = None,
        **options: Any,
    ) -> dimod.SampleSet:
        """Sample a problem whose variables are qubits.

        Args:
            bqm: Ising model with coefficients within the ranges of the chip.
            num_reads: number of reads.
            annealing_time: annealing time of one read, in microseconds.
            seed: seed of the control errors and reads.
            answer_mode: `raw` for one row per read, `histogram` to merge equal reads.
            label: text stored in the `info` of the answer.
            interrupt_function: function that is called from time to time. If it returns True, sampling stops with a
                `CancelledError`.
            anneal_schedule: points (t, s) of the annealing schedule, with times in microseconds.
            initial_state: initial value of each qubit, for reverse annealing.
            **options: `reinitialize_state` and `max_answers`, as on a chip. `programming_thermalization`,
                `readout_thermalization` and `reduce_intersample_correlation` change only the access time, because the reads
                of the emulator are independent of each other.
        """
        check_names(list(options), _PARAMETERS, self.name)
        given = {"anneal_schedule": anneal_schedule, "initial_state": initial_state} | options
        call = {name: value for name, value in given.items() if value is not None}
        protocol = {"annealing_time": annealing_time} if anneal_schedule is None else {}
        check_call(self.properties, {"num_reads": num_reads, "seed": seed, "answer_mode": answer_mode} | protocol | call)
        annealing_time = annealing_duration(self.properties, protocol | call)
        generator = np.random.default_rng(None if seed is None else int(seed))
        names = list(bqm.variables)
        fields, (rows, columns, couplings), _ = bqm.spin.to_numpy_vectors(variable_order=names)
        noise = self.model.noise
        programmed = IsingModels.of(
            (fields + generator.normal(0.0, noise, len(fields)))[None],
            np.asarray(rows, dtype=np.int64),
            np.asarray(columns, dtype=np.int64),
            (couplings + generator.normal(0.0, noise, len(couplings)))[None],
        )
        is_cancelled = interrupt_function or bool
        read = partial(self.model.anneal, programmed, annealing_time)
        if anneal_schedule is None:
            spins = read(num_reads, int(generator.integers(2**63)), is_cancelled)
        elif initial_state is None or call.get("reinitialize_state", True):
            state = None if initial_state is None else np.tile(_qubit_spins(initial_state, names), (num_reads, 1))
            spins = read(num_reads, int(generator.integers(2**63)), is_cancelled, AnnealPath(anneal_schedule, state))
        else:
            state, parts = _qubit_spins(initial_state, names)[None], []
            for number in generator.integers(2**63, size=num_reads).tolist():
                state = read(1, number, is_cancelled, AnnealPath(anneal_schedule, state))
                parts.append(state)
            spins = np.concatenate(parts)
        answer = dimod.SampleSet.from_samples_bqm((spins, names), bqm.spin)
        qubits = len(names)
        timing = self.system.timing
        answer.info.update(
            emulated=True,
            problem_label=label,
            timing={
                "qpu_access_time": timing.access_time(qubits, num_reads, annealing_time, **call),
                "qpu_programming_time": timing.programming_time(**call),
                "qpu_sampling_time": num_reads * timing.per_read(qubits, annealing_time, **call),
                "qpu_anneal_time_per_sample": annealing_time,
                "qpu_delay_time_per_sample": timing.delay_time(annealing_time, **call),
                "qpu_readout_time_per_sample": timing.readout_time(qubits),
            },
        )
        if answer_mode == "histogram":
            answer = answer.aggregate()
            answer = answer.truncate(len(answer), "energy")
        return answer.truncate(call.get("max_answers", len(answer)), None)


def _check_qubits(broken: Any, target: Target) -> list[int]:
    """Return the qubits of a chip that do not work, in ascending order.

    Args:
        broken: indices of qubits.
        target: the chip, which may lack further qubits.
    """
    if isinstance(broken, str) or not isinstance(broken, Iterable):
        raise InputError(f"broken is {short_repr(broken)}; give a list of qubits, such as [17, 18]")
    qubits = set(target.ideal)
    given = list(broken)
    for qubit in given:
        if isinstance(qubit, bool) or not isinstance(qubit, Hashable) or qubit not in qubits:
            raise InputError(f"broken has {short_repr(qubit)}, which is not a qubit of {target.name}")
    return sorted({int(qubit) for qubit in given} | (qubits - set(target.graph)))


def _qubit_spins(state: Sequence[int] | Mapping[int, int], qubits: Sequence[int]) -> NDArray[np.int8]:
    """Return the initial spins of the qubits in use. A list has the value 3 for other qubits."""
    if not isinstance(state, Mapping | Sequence | np.ndarray):
        raise InputError(f"initial_state is {short_repr(state)}; give a dict from each qubit to -1 or 1, or a list")
    values: Mapping[int, Any] = state if isinstance(state, Mapping) else dict(enumerate(state))
    for qubit in qubits:
        if qubit not in values:
            raise InputError(f"initial_state has no value for qubit {qubit}; give -1 or 1")
        if values[qubit] not in (-1, 1):
            raise InputError(f"initial_state has the value {short_repr(values[qubit])} for qubit {qubit}; give -1 or 1")
    return np.array([values[qubit] for qubit in qubits], dtype=np.int8)


class EmulatedQPU(QPU):
    """A QPU on an emulated chip. Results contain the name `EmulatedQPU`, which marks them as emulated."""


def emulated(
    system: str = SYSTEM, model: str | ChipModel = DEFAULT, broken: Sequence[int] = (), **options: Any
) -> EmulatedQPU:
    """Return a quantum annealer that is emulated on this computer.

    Args:
        system: name of a system, or a topology such as `pegasus`. With `:working` at its end, the chip has as many working
            qubits as D-Wave published for the system; the others are chosen at random, always the same.
        model: model of the chip: `"thermal"`, `"spin-vectors"`, or an object such as `Thermal(noise=0.02)`.
        broken: indices of qubits that do not work.
        **options: settings of the model, such as `noise`, and further arguments of `QPU`.
    """
    check_option_names(options, ("system", "model", "broken", *SETTINGS))
    settings = {name: options.pop(name) for name in SETTINGS if name in options}
    chip = EmulatedChip(system, model, broken, **settings)
    # Stored embeddings are found by the name of the chip, so it identifies the working qubits.
    working = f"-{graph_name(chip.to_networkx_graph())}" if chip.broken else ""
    return EmulatedQPU(LocalBackend(chip, f"emulated-{chip.name}{working}"), **options)
