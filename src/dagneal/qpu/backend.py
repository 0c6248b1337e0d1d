"""The interface `Backend` of cloud services and local samplers, the class `LocalBackend`, and the exceptions of backends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import uuid4

import dimod
import networkx as nx

from dagneal.base.errors import InputError
from dagneal.qpu.chips import Timing
from dagneal.qpu.embedding import working_graph
from dagneal.qpu.parameters import annealing_duration

_POLL_SECONDS = 0.2  # interval between checks for Ctrl-C


class RefusedError(InputError):
    """The solver rejected a problem or failed on it. No answer will come."""


class TransientError(Exception):
    """A failure that may disappear on a retry: a time-out, a server error, a lost connection."""


class UnknownProblemError(Exception):
    """The service has no answer for a problem id, and will never have an answer."""


class Backend(Protocol):
    """A cloud service or local sampler that solves problems whose variables are the qubits of a chip."""

    name: str  # identifies the solver and its working qubits
    graph: nx.Graph
    properties: dict[str, Any]
    parameters: dict[str, Any]
    emulated: bool

    def submit(self, bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any]) -> str:
        """Submit a problem, and return the id of the problem.

        Args:
            bqm: Ising model whose variables are qubits.
            parameters: keyword arguments of the solver, such as `num_reads`.
        """
        ...

    def fetch(self, problem_id: str, timeout: float) -> dimod.SampleSet:
        """Wait for the answer to a problem, and return the answer.

        Args:
            problem_id: id that `submit` returned.
            timeout: time limit in seconds, after which `TransientError` is raised.
        """
        ...

    def cancel(self, problem_id: str) -> None:
        """Cancel a problem.

        Args:
            problem_id: id that `submit` returned.
        """
        ...

    def watch(self, is_cancelled: Callable[[], bool]) -> None:
        """Set the function that tells a running computation whether to stop.

        Args:
            is_cancelled: function that is called from time to time. The computation stops when this function returns True.
        """
        ...

    def access_time(self, qubits: int, parameters: dict[str, Any]) -> float:
        """Return an estimate of the QPU access time of a call, in microseconds.

        Args:
            qubits: number of qubits in use.
            parameters: keyword arguments of the solver, such as `num_reads`.
        """
        ...

    def close(self) -> None:
        """Close the connection to the solver."""
        ...


@dataclass(eq=False)
class LocalBackend:
    """A backend that runs a sampler on this computer, such as the emulator or Ocean's mock of a QPU.

    Args:
        sampler: sampler with `nodelist`, `edgelist` and `properties` like those of a QPU.
        name: name of the solver; stored embeddings and problem ids are found by this name.
        emulated: whether the sampler emulates hardware.
    """

    sampler: Any
    name: str
    emulated: bool = True
    _answers: dict[str, dimod.SampleSet] = field(default_factory=dict)
    _is_cancelled: Callable[[], bool] = bool  # bool() is False: never cancelled

    def __post_init__(self) -> None:
        self.graph = working_graph(self.sampler)
        self.properties: dict[str, Any] = self.sampler.properties
        self.parameters: dict[str, Any] = self.sampler.parameters

    def submit(self, bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any]) -> str:
        """Sample immediately, store the answer for `fetch`, and return the problem id; see `Backend.submit`."""
        problem_id = str(uuid4())
        if "interrupt_function" in self.parameters:
            answer = self._sample_interruptibly(bqm, parameters)
        else:
            answer = self.sampler.sample(bqm, **parameters)
        if self._is_cancelled():
            raise CancelledError("the call was cancelled")
        self._answers[problem_id] = answer
        return problem_id

    def _sample_interruptibly(self, bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any]) -> dimod.SampleSet:
        """Sample in another thread, because a compiled sampler in the main thread would block Ctrl-C."""
        stop = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            options = {"interrupt_function": lambda: stop.is_set() or self._is_cancelled()}
            running = pool.submit(self.sampler.sample, bqm, **parameters, **options)
            try:
                while not wait([running], timeout=_POLL_SECONDS).done:
                    pass  # a wait without a timeout would ignore Ctrl-C: polars asks the system to restart interrupted calls
                return running.result()
            except BaseException:
                stop.set()
                raise

    def watch(self, is_cancelled: Callable[[], bool]) -> None:
        """Set the function that tells the sampler whether to stop; see `Backend.watch`."""
        self._is_cancelled = is_cancelled

    def fetch(self, problem_id: str, timeout: float) -> dimod.SampleSet:
        """Return the stored answer to a problem, and delete it here; see `Backend.fetch`."""
        if problem_id not in self._answers:
            raise UnknownProblemError(problem_id)
        return self._answers.pop(problem_id)

    def cancel(self, problem_id: str) -> None:
        """Delete the stored answer to a problem; see `Backend.cancel`."""
        self._answers.pop(problem_id, None)

    def access_time(self, qubits: int, parameters: dict[str, Any]) -> float:
        """Return an estimate of the QPU access time, from the timing data of the chip; see `Backend.access_time`."""
        data = self.properties.get("problem_timing_data")
        if not data:
            raise InputError(f"{self.name} has no problem_timing_data, so its access time is unknown")
        call = {"num_reads": 1} | parameters
        reads, annealing_time = int(call.pop("num_reads")), annealing_duration(self.properties, call)
        call.pop("annealing_time", None)
        return Timing.of(data).access_time(qubits, reads, annealing_time, **call)

    def close(self) -> None:
        """Do nothing, because a local sampler has no connection; see `Backend.close`."""
