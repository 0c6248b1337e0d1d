"""Chips: the graphs of D-Wave's annealers, and how long a call takes on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import networkx as nx
import numpy as np

from dagneal.base.defaults import ANNEALING_TIME
from dagneal.base.errors import InputError


def check_installed() -> None:
    """Say how to install what the QPU needs, if it is not there."""
    missing = [name for name in ("dwave.system", "dwave.graphs", "minorminer") if not _present(name)]
    if missing:
        raise InputError(f"the QPU needs {', '.join(missing)}: pip install 'dagneal[qpu]' (some 400 MB)")


def _present(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@dataclass(frozen=True)
class Timing:
    """What a call costs, in microseconds, as D-Wave documents it.

    Attributes:
        programming: to program the chip.
        delay: after each read.
        readout: points (qubits, microseconds) of the readout time, joined by straight lines.
        thermalization: after programming.
        readout_thermalization: after each read, on top of `delay`.
        logarithmic: whether the lines between the points are straight on logarithmic scales; otherwise on linear ones.
    """

    programming: float
    delay: float
    readout: tuple[tuple[float, float], ...]
    thermalization: float = 1000.0
    readout_thermalization: float = 0.0
    logarithmic: bool = True

    @classmethod
    def of(cls, data: dict[str, Any]) -> Timing:
        """From a solver's `problem_timing_data`.

        Args:
            data: the property of the solver.
        """
        model = data["readout_time_model"]
        if model not in ("pwl_log_log", "pwl_linear"):
            raise InputError(f"readout_time_model is {model!r}; only 'pwl_log_log' and 'pwl_linear' are supported")
        parameters = np.asarray(data["readout_time_model_parameters"], dtype=float)
        half = len(parameters) // 2
        points = 10.0**parameters if model == "pwl_log_log" else parameters
        return cls(
            programming=float(data["typical_programming_time"]),
            delay=float(data["qpu_delay_time_per_sample"]),
            readout=tuple(zip(points[:half].tolist(), points[half:].tolist(), strict=True)),
            thermalization=float(data["default_programming_thermalization"]),
            readout_thermalization=float(data.get("default_readout_thermalization", 0.0)),
            logarithmic=model == "pwl_log_log",
        )

    def to_dict(self) -> dict[str, Any]:
        """What `of` reads."""
        points = np.array(self.readout)
        qubits, times = (np.log10(points) if self.logarithmic else points).T
        return {
            "typical_programming_time": self.programming,
            "qpu_delay_time_per_sample": self.delay,
            "readout_time_model": "pwl_log_log" if self.logarithmic else "pwl_linear",
            "readout_time_model_parameters": [*qubits.tolist(), *times.tolist()],
            "default_programming_thermalization": self.thermalization,
            "default_readout_thermalization": self.readout_thermalization,
        }

    def readout_time(self, qubits: int) -> float:
        """The time to read out one state.

        Args:
            qubits: how many are used.
        """
        points = np.array(self.readout)
        if self.logarithmic:
            x, y = np.log(points).T
            return float(np.exp(np.interp(np.log(max(qubits, 1)), x, y)))
        return float(np.interp(qubits, *points.T))

    def per_read(self, qubits: int, annealing_time: float) -> float:
        """The time of one read.

        Args:
            qubits: how many are used.
            annealing_time: of one read.
        """
        return annealing_time + self.readout_time(qubits) + self.delay + self.readout_thermalization

    def access_time(self, qubits: int, reads: int, annealing_time: float = ANNEALING_TIME) -> float:
        """The time that is charged for one call.

        Args:
            qubits: how many are used.
            reads: how many reads.
            annealing_time: of one read.

        >>> round(SYSTEMS["Advantage_system4"].timing.access_time(15, 100) / 1000, 1)
        28.7
        """
        return self.programming + self.thermalization + reads * self.per_read(qubits, annealing_time)


@dataclass(frozen=True)
class System:
    """A system as D-Wave documents it (July 2026).

    Attributes:
        topology: chimera, pegasus or zephyr.
        shape: the size of its graph.
        qubits: how many of the graph's qubits work.
        timing: what calls cost.
        retired: whether it is gone.
    """

    topology: str
    shape: tuple[int, ...]
    qubits: int
    timing: Timing = field(repr=False)
    retired: bool = False

    @property
    def properties(self) -> dict[str, Any]:
        """What Ocean tells of such a solver: its graph, ranges and limits."""
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
            "problem_timing_data": self.timing.to_dict(),
            **_COUPLING_LIMITS.get(self.topology, {}),
        }


# Limits on the sum of all couplings of a qubit (Advantage), or of either half of a qubit (Advantage2).
_COUPLING_LIMITS = {
    "pegasus": {"per_qubit_coupling_range": [-18.0, 15.0]},
    "zephyr": {"per_group_coupling_range": [-13.0, 10.0]},
}

# The readout of Advantage_system4 is its published model of 2022; of the others only the range is known.
_ADVANTAGE_READOUT = ((1.0, 34.6), (5.888, 74.59), (53.0, 133.55), (515.2, 215.12), (1458.5, 235.29), (5627.0, 235.30))

SYSTEMS = {
    "Advantage_system4": System("pegasus", (16,), 5627, Timing(14072.88, 20.54, _ADVANTAGE_READOUT)),
    "Advantage_system6": System("pegasus", (16,), 5612, Timing(14200.0, 20.5, ((1.0, 18.0), (5612.0, 173.0)))),
    "Advantage2_system1": System("zephyr", (12,), 4577, Timing(33600.0, 60.6, ((1.0, 17.0), (4577.0, 101.0)))),
    "Advantage2_system2": System("zephyr", (12,), 4514, Timing(24500.0, 20.6, ((1.0, 17.0), (4514.0, 95.0)))),
    "Advantage2_system4": System("zephyr", (6,), 1202, Timing(8000.0, 20.6, ((1.0, 17.0), (1202.0, 45.0)))),
    "DW_2000Q_6": System("chimera", (16,), 2041, Timing(10536.81, 20.54, ((1.0, 198.4), (2041.0, 198.4))), retired=True),
}
# What a topology alone stands for.
USUAL = {"pegasus": "Advantage_system4", "zephyr": "Advantage2_system1", "chimera": "DW_2000Q_6"}


@lru_cache(maxsize=16)
def chip_graph(topology: str, shape: tuple[int, ...]) -> nx.Graph:
    """The graph of an ideal chip, all qubits working.

    Args:
        topology: chimera, pegasus or zephyr.
        shape: the size of its graph, such as `(16,)`.

    >>> graph = chip_graph("pegasus", (16,))
    >>> graph.number_of_nodes(), graph.number_of_edges()
    (5640, 40484)
    """
    check_installed()
    import dwave.graphs as graphs

    makers = {"chimera": graphs.chimera_graph, "pegasus": graphs.pegasus_graph, "zephyr": graphs.zephyr_graph}
    if topology not in makers:
        raise InputError(f"there is no topology {topology!r}; give one of {', '.join(makers)}")
    return makers[topology](*shape)


def system_named(name: str) -> tuple[str, System]:
    """A system by its name, or the usual one of a topology.

    Args:
        name: such as `pegasus` or `Advantage2_system1`.
    """
    full = USUAL.get(name, name)
    if full not in SYSTEMS:
        raise InputError(f"there is no system {name!r}; give one of {', '.join([*USUAL, *SYSTEMS])}")
    return full, SYSTEMS[full]
