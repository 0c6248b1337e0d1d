"""The emulator: a chip's graph, ranges, control error and timing, with simulated annealing in place of physics.

It reproduces the shape of a quantum annealer's results, not its physics: everything it returns says that it is emulated. The
problem as programmed differs from the problem as meant by Gaussian errors on fields and couplings, drawn anew for each call
and for each qubit and coupler, so for each copy of a tiled call. What is programmed is then sampled by simulated annealing
on the physical graph, with sweeps in proportion to the annealing time, down to the temperature of the chip.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dimod
import numpy as np

from dagneal.base.defaults import ANNEALING_TIME, SYSTEM
from dagneal.base.errors import finite_number
from dagneal.qpu.backend import LocalBackend
from dagneal.qpu.chips import check_installed, chip_graph, system_named
from dagneal.qpu.sampler import QPU
from dagneal.qpu.submission import check_call

# The knobs, set on the paper's Table 6 (1 and 99 microseconds) and on nothing else; see docs/qpu.md.
NOISE = 0.04  # standard deviation of fields and couplings, in units of the largest coupling
SWEEPS = 30.0  # of simulated annealing for a microsecond
COLD = 2.0  # inverse temperature at the end, in units of the largest coupling
HOT = 0.1


class EmulatedChip(dimod.Sampler, dimod.Structured):  # type: ignore[misc]
    """A chip that is emulated: a structured sampler with the properties of a QPU.

    Args:
        system: which chip: the name of a system, or a topology.
        noise: standard deviation of the control error on fields and couplings, the largest coupling being 1.
        sweeps: of simulated annealing for each microsecond.
        cold: inverse temperature at the end.
        broken: qubits that do not work.
    """

    def __init__(
        self,
        system: str = SYSTEM,
        noise: float = NOISE,
        sweeps: float = SWEEPS,
        cold: float = COLD,
        broken: Sequence[int] = (),
    ) -> None:
        self.noise = finite_number("noise", noise)
        self.sweeps = finite_number("sweeps", sweeps, above=True)
        self.cold = finite_number("cold", cold, above=True)
        check_installed()
        self.name, self.system = system_named(system)
        graph = chip_graph(self.system.topology, self.system.shape)
        gone = set(broken)
        self.broken = sorted(gone)
        self._nodes = sorted(node for node in graph if node not in gone)
        self._edges = sorted((min(a, b), max(a, b)) for a, b in graph.edges if a not in gone and b not in gone)

    @property
    def nodelist(self) -> list[int]:
        """The working qubits."""
        return self._nodes

    @property
    def edgelist(self) -> list[tuple[int, int]]:
        """The working couplers."""
        return self._edges

    @property
    def parameters(self) -> dict[str, Any]:
        """What `sample` takes."""
        names = ("num_reads", "annealing_time", "seed", "answer_mode", "label", "interrupt_function")
        return {name: [] for name in names}

    @property
    def properties(self) -> dict[str, Any]:
        """Like a QPU's."""
        return self.system.properties | {
            "chip_id": f"emulated {self.name}",
            "emulated": True,
            "emulator": f"noise {self.noise:g}, sweeps {self.sweeps:g}, cold {self.cold:g}",
        }

    @property
    def fingerprint(self) -> str:
        """What reads depend on besides the problem and the parameters of a call."""
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
    ) -> dimod.SampleSet:
        """Sample a problem over the qubits.

        Args:
            bqm: within the ranges of the chip.
            num_reads: how many reads.
            annealing_time: of one read, in microseconds.
            seed: of errors and reads.
            answer_mode: `raw` or `histogram`.
            label: kept in the information of the answer.
            interrupt_function: asked now and then whether to stop with the reads that there are.
        """
        from dwave.samplers import SimulatedAnnealingSampler

        check_call(self.properties, {"num_reads": num_reads, "annealing_time": annealing_time})
        generator = np.random.default_rng(seed)
        names = list(bqm.variables)
        fields, (rows, columns, couplings), offset = bqm.spin.to_numpy_vectors(variable_order=names)
        programmed = dimod.BinaryQuadraticModel.from_numpy_vectors(
            fields + generator.normal(0.0, self.noise, len(fields)),
            (rows, columns, couplings + generator.normal(0.0, self.noise, len(couplings))),
            offset,
            dimod.SPIN,
            variable_order=names,
        )
        found = SimulatedAnnealingSampler().sample(
            programmed,
            num_reads=num_reads,
            num_sweeps=max(1, round(self.sweeps * annealing_time)),
            beta_range=[HOT, self.cold],
            beta_schedule_type="linear",
            seed=int(generator.integers(2**31)),
            interrupt_function=interrupt_function,
        )
        answer = dimod.SampleSet.from_samples_bqm((found.record.sample, found.variables), bqm.spin)
        qubits = len(names)
        each = self.system.timing
        answer.info.update(
            emulated=True,
            problem_label=label,
            timing={
                "qpu_access_time": each.access_time(qubits, num_reads, annealing_time),
                "qpu_programming_time": each.programming + each.thermalization,
                "qpu_sampling_time": num_reads * each.per_read(qubits, annealing_time),
                "qpu_anneal_time_per_sample": annealing_time,
                "qpu_delay_time_per_sample": each.delay + each.readout_thermalization,
                "qpu_readout_time_per_sample": each.readout_time(qubits),
            },
        )
        return answer.aggregate() if answer_mode == "histogram" else answer


class EmulatedQPU(QPU):
    """A QPU on an emulated chip; results carry its name."""


def emulated(
    system: str = SYSTEM, noise: float = NOISE, sweeps: float = SWEEPS, cold: float = COLD, **options: Any
) -> EmulatedQPU:
    """A quantum annealer that is emulated on this machine.

    Args:
        system: which chip: the name of a system, or a topology.
        noise: standard deviation of the control error on fields and couplings, the largest coupling being 1.
        sweeps: of simulated annealing for each microsecond.
        cold: inverse temperature at the end.
        **options: of `QPU`.
    """
    chip = EmulatedChip(system, noise, sweeps, cold)
    return EmulatedQPU(LocalBackend(chip, f"emulated-{chip.name}"), **options)
