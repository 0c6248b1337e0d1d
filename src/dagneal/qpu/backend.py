"""Backends: services and local samplers that solve problems over qubits, and their errors."""

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
from dagneal.qpu.embedding import working_graph

_POLL_SECONDS = 0.2  # interval between checks for Ctrl-C


class RefusedError(InputError):
    """The solver rejected a problem or failed on it. No answer will come."""


class TransientError(Exception):
    """A failure that may disappear on a retry: a time-out, a server error, a lost connection."""


class UnknownProblemError(Exception):
    """The service has no answer for this problem id and will have none."""


class Backend(Protocol):
    """A chip that solves problems over its qubits."""

    name: str  # identifies the solver and its working graph
    graph: nx.Graph
    properties: dict[str, Any]
    parameters: dict[str, Any]
    emulated: bool

    def submit(self, bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any]) -> str:
        """Send a problem over the qubits and return its id.

        Args:
            bqm: model over spins, labelled by qubits.
            parameters: parameters of the solver.
        """
        ...

    def fetch(self, problem_id: str, timeout: float) -> dimod.SampleSet:
        """Wait for the answer to a problem.

        Args:
            problem_id: id of the problem.
            timeout: seconds after which to raise `TransientError`.
        """
        ...

    def cancel(self, problem_id: str) -> None:
        """Cancel a problem.

        Args:
            problem_id: id of the problem.
        """
        ...

    def watch(self, is_cancelled: Callable[[], bool]) -> None:
        """Set a function that long-running work calls from time to time; the work stops when it returns True.

        Args:
            is_cancelled: the function.
        """
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


@dataclass(eq=False)
class LocalBackend:
    """Use a local structured sampler, such as Ocean's mock or the emulator, as a backend.

    Args:
        sampler: sampler with `nodelist`, `edgelist` and `properties` like those of a QPU.
        name: name of the solver.
        emulated: whether the sampler emulates hardware.
    """

    sampler: Any
    name: str
    emulated: bool = True
    _answers: dict[str, dimod.SampleSet] = field(default_factory=dict)
    _is_cancelled: Callable[[], bool] = bool  # never

    def __post_init__(self) -> None:
        self.graph = working_graph(self.sampler)
        self.properties: dict[str, Any] = self.sampler.properties
        self.parameters: dict[str, Any] = self.sampler.parameters

    def submit(self, bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any]) -> str:
        """Sample immediately; see `Backend`."""
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
        """Sample in another thread: a compiled sampler in the main thread would swallow Ctrl-C."""
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
        """Set a function that sampling calls from time to time; see `Backend`."""
        self._is_cancelled = is_cancelled

    def fetch(self, problem_id: str, timeout: float) -> dimod.SampleSet:
        """Return the answer and forget it; see `Backend`."""
        if problem_id not in self._answers:
            raise UnknownProblemError(problem_id)
        return self._answers.pop(problem_id)

    def cancel(self, problem_id: str) -> None:
        """Forget the answer; see `Backend`."""
        self._answers.pop(problem_id, None)

    def close(self) -> None:
        """Do nothing; see `Backend`."""
