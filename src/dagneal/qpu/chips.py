"""Chips: the qubit graphs of D-Wave's quantum annealers, and the duration of calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import networkx as nx
import numpy as np

from dagneal.base.defaults import ANNEALING_TIME
from dagneal.base.errors import InputError, short_repr
from dagneal.qpu.parameters import is_reverse


def check_installed() -> None:
    """If a package for the QPU is missing, raise an error that shows the install command."""
    missing = [name for name in ("dwave.system", "dwave.graphs", "minorminer") if not _present(name)]
    if missing:
        raise InputError(f"the QPU needs {', '.join(missing)}; run: pip install 'dagneal[qpu]' (about 400 MB)")


def _present(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@dataclass(frozen=True)
class Timing:
    """Durations of the steps of a call, in microseconds, as D-Wave documents them.

    Attributes:
        programming: time to program the chip.
        delay: delay after each read.
        readout: known readout times, as pairs (number of qubits, time). For other numbers of qubits, the time is
            interpolated.
        thermalization: delay after programming the chip.
        readout_thermalization: further delay after each read, in addition to `delay`.
        logarithmic: True to interpolate readout times on logarithmic scales, False to use linear scales.
        reinitialized: additional times of reverse annealing from the initial state in each read: for programming, and for
            each read.
        continued: the same for reverse annealing that continues from the state of the last read.
        decorrelation: shortest and longest pause of `reduce_intersample_correlation`.
        longest_anneal: annealing time for which this pause is longest.
    """

    programming: float
    delay: float
    readout: tuple[tuple[float, float], ...]
    thermalization: float = 1000.0
    readout_thermalization: float = 0.0
    logarithmic: bool = True
    reinitialized: tuple[float, float] = (0.0, 0.0)
    continued: tuple[float, float] = (0.0, 0.0)
    decorrelation: tuple[float, float] = (500.0, 10_000.0)
    longest_anneal: float = 2000.0

    @classmethod
    def of(cls, data: Any) -> Timing:
        """Return the timing of a solver, read from the solver's properties. Raise an `InputError` if that is not possible.

        Args:
            data: property `problem_timing_data` of the solver.
        """
        if not isinstance(data, Mapping):
            raise InputError(f"problem_timing_data is {short_repr(data)}; it must be a dict")
        try:
            return cls._of(data)
        except KeyError as error:
            raise InputError(f"problem_timing_data has no {error}") from error
        except (TypeError, ValueError) as error:
            reason = "" if isinstance(error, InputError) else "problem_timing_data is not valid: "
            raise InputError(f"{reason}{error}") from error

    @classmethod
    def _of(cls, data: Mapping[str, Any]) -> Timing:
        version = str(data["version"])
        if not version.startswith("1.0."):
            raise InputError(f"problem_timing_data has the version {version!r}; only versions 1.0.x are supported")
        model = data["readout_time_model"]
        if model not in ("pwl_log_log", "pwl_linear"):
            raise InputError(f"readout_time_model is {model!r}; only 'pwl_log_log' and 'pwl_linear' are supported")
        parameters = np.asarray(data["readout_time_model_parameters"], dtype=float)
        half = len(parameters) // 2
        points = 10.0**parameters if model == "pwl_log_log" else parameters

        def additions(kind: str) -> tuple[float, float]:
            names = (f"reverse_annealing_{kind}_{step}_time_delta" for step in ("prog", "delay"))
            programming, delay = (float(data.get(name, 0.0)) for name in names)
            return programming, delay

        shortest, longest = data.get("decorrelation_time_range", cls.decorrelation)
        return cls(
            programming=float(data["typical_programming_time"]),
            delay=float(data["qpu_delay_time_per_sample"]),
            readout=tuple(zip(points[:half].tolist(), points[half:].tolist(), strict=True)),
            thermalization=float(data["default_programming_thermalization"]),
            readout_thermalization=float(data.get("default_readout_thermalization", 0.0)),
            logarithmic=model == "pwl_log_log",
            reinitialized=additions("with_reinit"),
            continued=additions("without_reinit"),
            decorrelation=(float(shortest), float(longest)),
            longest_anneal=float(data.get("decorrelation_max_nominal_anneal_time", cls.longest_anneal)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the timing as a dict in D-Wave's format, which the class method `Timing.of` accepts."""
        points = np.array(self.readout)
        qubits, times = (np.log10(points) if self.logarithmic else points).T
        return {
            "version": "1.0.0",
            "default_annealing_time": ANNEALING_TIME,
            "typical_programming_time": self.programming,
            "reverse_annealing_with_reinit_prog_time_delta": self.reinitialized[0],
            "reverse_annealing_with_reinit_delay_time_delta": self.reinitialized[1],
            "reverse_annealing_without_reinit_prog_time_delta": self.continued[0],
            "reverse_annealing_without_reinit_delay_time_delta": self.continued[1],
            "decorrelation_time_range": list(self.decorrelation),
            "decorrelation_max_nominal_anneal_time": self.longest_anneal,
            "qpu_delay_time_per_sample": self.delay,
            "readout_time_model": "pwl_log_log" if self.logarithmic else "pwl_linear",
            "readout_time_model_parameters": [*qubits.tolist(), *times.tolist()],
            "default_programming_thermalization": self.thermalization,
            "default_readout_thermalization": self.readout_thermalization,
        }

    def readout_time(self, qubits: int) -> float:
        """Return the time to read out the qubits once, in microseconds.

        Args:
            qubits: number of qubits in use.
        """
        points = np.array(self.readout)
        if self.logarithmic:
            x, y = np.log(points).T
            return float(np.exp(np.interp(np.log(max(qubits, 1)), x, y)))
        return float(np.interp(qubits, *points.T))

    def programming_time(self, **parameters: Any) -> float:
        """Return the time to program the chip and to let it cool down, in microseconds.

        Args:
            **parameters: further parameters of the call; see `access_time`.
        """
        cooling = parameters.get("programming_thermalization") or self.thermalization
        return self.programming + self._reverse(parameters)[0] + float(cooling)

    def delay_time(self, annealing_time: float, **parameters: Any) -> float:
        """Return the pause after each read, in microseconds.

        Args:
            annealing_time: annealing time of one read, in microseconds.
            **parameters: further parameters of the call; see `access_time`.
        """
        cooling = float(parameters.get("readout_thermalization") or self.readout_thermalization)
        if parameters.get("reduce_intersample_correlation"):
            cooling = max(cooling, self.decorrelation_time(annealing_time))
        return self.delay + self._reverse(parameters)[1] + cooling

    def decorrelation_time(self, annealing_time: float) -> float:
        """Return the pause of `reduce_intersample_correlation` after each read, in microseconds.

        Args:
            annealing_time: annealing time of one read, in microseconds.
        """
        shortest, longest = self.decorrelation
        return shortest + annealing_time / self.longest_anneal * (longest - shortest)

    def _reverse(self, parameters: Mapping[str, Any]) -> tuple[float, float]:
        """Return the additional times of reverse annealing: for programming, and for each read."""
        if not is_reverse(parameters):
            return 0.0, 0.0
        return self.reinitialized if parameters.get("reinitialize_state", True) else self.continued

    def per_read(self, qubits: int, annealing_time: float, **parameters: Any) -> float:
        """Return the time of one read in microseconds: annealing, readout and delays.

        Args:
            qubits: number of qubits in use.
            annealing_time: annealing time of one read, in microseconds.
            **parameters: further parameters of the call; see `access_time`.
        """
        return annealing_time + self.readout_time(qubits) + self.delay_time(annealing_time, **parameters)

    def access_time(self, qubits: int, reads: int, annealing_time: float = ANNEALING_TIME, **parameters: Any) -> float:
        """Return the QPU access time of one call, in microseconds. D-Wave charges for this time.

        As in Ocean's `estimate_qpu_access_time`, a thermalization time of 0 means the default.

        Args:
            qubits: number of qubits in use.
            reads: number of reads.
            annealing_time: annealing time of one read, in microseconds.
            **parameters: further parameters of the call. Those that change the time are `anneal_schedule`,
                `reinitialize_state`, `programming_thermalization`, `readout_thermalization` and
                `reduce_intersample_correlation`.

        >>> round(SYSTEMS["Advantage_system4"].timing.access_time(15, 100) / 1000, 1)
        28.7
        """
        if (schedule := parameters.get("anneal_schedule")) is not None:
            annealing_time = float(schedule[-1][0])
        return self.programming_time(**parameters) + reads * self.per_read(qubits, annealing_time, **parameters)


@dataclass(frozen=True)
class System:
    """A quantum annealer, as D-Wave documents it (July 2026).

    Attributes:
        topology: `chimera`, `pegasus` or `zephyr`.
        shape: size parameters of the qubit graph, such as `(16,)`.
        qubits: number of working qubits.
        timing: durations of the steps of a call.
        retired: whether D-Wave has shut down the system.
    """

    topology: str
    shape: tuple[int, ...]
    qubits: int
    timing: Timing = field(repr=False)
    retired: bool = False

    @property
    def properties(self) -> dict[str, Any]:
        """Properties of the solver in Ocean's format: topology, ranges, limits and timing."""
        return {
            "topology": {"type": self.topology, "shape": list(self.shape)},
            "h_range": [-4.0, 4.0],
            "j_range": [-1.0, 1.0],
            "extended_j_range": [-2.0, 1.0],
            "num_reads_range": [1, 10_000],
            "annealing_time_range": [0.5, 2000.0],
            "default_annealing_time": ANNEALING_TIME,
            "default_programming_thermalization": self.timing.thermalization,
            "default_readout_thermalization": self.timing.readout_thermalization,
            "problem_run_duration_range": [0.0, 1e6],
            "programming_thermalization_range": [0.0, 10_000.0],
            "readout_thermalization_range": [0.0, 10_000.0],
            "max_anneal_schedule_points": 12,
            "problem_timing_data": self.timing.to_dict(),
            **_COUPLING_LIMITS.get(self.topology, {}),
        }


# Limits on the sum of all couplings of a qubit (Advantage) or of half a qubit (Advantage2).
_COUPLING_LIMITS = {
    "pegasus": {"per_qubit_coupling_range": [-18.0, 15.0]},
    "zephyr": {"per_group_coupling_range": [-13.0, 10.0]},
}

# D-Wave published a readout model for Advantage_system4 (2022). For other systems it published only the shortest and the
# longest readout time. It published the times of reverse annealing only for Advantage_system4 and DW_2000Q_6.
_ADVANTAGE_READOUT = ((1.0, 34.6), (5.888, 74.59), (53.0, 133.55), (515.2, 215.12), (1458.5, 235.29), (5627.0, 235.30))

SYSTEMS = {
    "Advantage_system4": System(
        "pegasus",
        (16,),
        5627,
        Timing(14072.88, 20.54, _ADVANTAGE_READOUT, reinitialized=(0.0, -4.5), continued=(5.55, -1.5)),
    ),
    "Advantage_system6": System("pegasus", (16,), 5612, Timing(14200.0, 20.5, ((1.0, 18.0), (5612.0, 173.0)))),
    "Advantage2_system1": System("zephyr", (12,), 4577, Timing(33600.0, 60.6, ((1.0, 17.0), (4577.0, 101.0)))),
    "Advantage2_system2": System("zephyr", (12,), 4514, Timing(24500.0, 20.6, ((1.0, 17.0), (4514.0, 95.0)))),
    "Advantage2_system4": System("zephyr", (6,), 1202, Timing(8000.0, 20.6, ((1.0, 17.0), (1202.0, 45.0)))),
    "DW_2000Q_6": System(
        "chimera",
        (16,),
        2041,
        Timing(10536.81, 20.54, ((1.0, 198.4), (2041.0, 198.4)), reinitialized=(0.0, 586.38), continued=(359.58, -5.0)),
        retired=True,
    ),
}
# The system that is used if only a topology is given.
DEFAULT_SYSTEMS = {"pegasus": "Advantage_system4", "zephyr": "Advantage2_system1", "chimera": "DW_2000Q_6"}


@lru_cache(maxsize=16)
def chip_graph(topology: str, shape: tuple[int, ...]) -> nx.Graph:
    """Return the qubit graph of an ideal chip, on which all qubits work.

    Args:
        topology: `chimera`, `pegasus` or `zephyr`.
        shape: size parameters of the graph, such as `(16,)`.

    >>> graph = chip_graph("pegasus", (16,))
    >>> graph.number_of_nodes(), graph.number_of_edges()
    (5640, 40484)
    """
    check_installed()
    import dwave.graphs as graphs

    makers = {"chimera": graphs.chimera_graph, "pegasus": graphs.pegasus_graph, "zephyr": graphs.zephyr_graph}
    if topology not in makers:
        raise InputError(f"unknown topology {topology!r}; give one of {', '.join(makers)}")
    return makers[topology](*shape)


def find_system(name: str) -> tuple[str, System]:
    """Return a tuple: the full name of a quantum annealer, and the `System` object that describes it.

    Args:
        name: name of a system, such as `Advantage2_system1`, or a topology, such as `pegasus`. A topology stands
            for its default system.
    """
    full = DEFAULT_SYSTEMS.get(name, name)
    if full not in SYSTEMS:
        raise InputError(f"unknown system {name!r}; give one of {', '.join([*DEFAULT_SYSTEMS, *SYSTEMS])}")
    return full, SYSTEMS[full]
