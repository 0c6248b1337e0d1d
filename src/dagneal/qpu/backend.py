"""Backends: where problems over qubits are sent, and what can go wrong there."""

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

_LOOK = 0.2  # seconds between two looks at whether Ctrl-C was pressed


class RefusedError(InputError):
    """A problem that will never get an answer: the solver takes it for wrong, or failed on it."""


class TransientError(Exception):
    """Something failed that may be tried again: a time-out, a server error, a lost connection."""


class UnknownProblemError(Exception):
    """The service does not know the problem that was asked for."""


class Backend(Protocol):
    """A chip that problems are sent to."""

    name: str  # of the solver and its working graph
    graph: nx.Graph
    properties: dict[str, Any]
    parameters: dict[str, Any]
    emulated: bool

    def submit(self, bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any]) -> str:
        """Send a problem over the qubits, and return its id.

        Args:
            bqm: over spins, labelled by qubits.
            parameters: of the solver.
        """
        ...

    def fetch(self, ident: str, timeout: float) -> dimod.SampleSet:
        """Wait for the answer to a problem.

        Args:
            ident: its id.
            timeout: seconds; `TransientError` is raised when they are over.
        """
        ...

    def cancel(self, ident: str) -> None:
        """Give a problem up.

        Args:
            ident: its id.
        """
        ...

    def watch(self, given_up: Callable[[], bool]) -> None:
        """Ask this now and then during long work, and give it up where the answer is yes.

        Args:
            given_up: the question.
        """
        ...

    def close(self) -> None:
        """Let go of the connection."""
        ...


@dataclass(eq=False)
class LocalBackend:
    """A structured sampler on this machine, such as Ocean's mock or the emulator, in the clothes of a service.

    Args:
        sampler: with `nodelist`, `edgelist` and `properties` like a QPU's.
        name: of the solver.
        emulated: whether it stands for hardware.
    """

    sampler: Any
    name: str
    emulated: bool = True
    _answers: dict[str, dimod.SampleSet] = field(default_factory=dict)
    _given_up: Callable[[], bool] = bool  # never

    def __post_init__(self) -> None:
        self.graph = working_graph(self.sampler)
        self.properties: dict[str, Any] = self.sampler.properties
        self.parameters: dict[str, Any] = self.sampler.parameters

    def submit(self, bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any]) -> str:
        """Sample at once; see `Backend`."""
        ident = str(uuid4())
        if "interrupt_function" in self.parameters:
            found = self._interruptible(bqm, parameters)
        else:
            found = self.sampler.sample(bqm, **parameters)
        if self._given_up():
            raise CancelledError("the call was given up")
        self._answers[ident] = found
        return ident

    def _interruptible(self, bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any]) -> dimod.SampleSet:
        """Sample in a thread of its own: compiled samplers swallow a Ctrl-C that comes in theirs."""
        stop = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            ask = {"interrupt_function": lambda: stop.is_set() or self._given_up()}
            running = pool.submit(self.sampler.sample, bqm, **parameters, **ask)
            try:
                while not wait([running], timeout=_LOOK).done:
                    pass  # a wait without a time limit would go on after Ctrl-C: polars asks the system to restart it
                return running.result()
            except BaseException:
                stop.set()
                raise

    def watch(self, given_up: Callable[[], bool]) -> None:
        """Ask while it samples; see `Backend`."""
        self._given_up = given_up

    def fetch(self, ident: str, timeout: float) -> dimod.SampleSet:
        """Give the answer; see `Backend`."""
        if ident not in self._answers:
            raise UnknownProblemError(ident)
        return self._answers.pop(ident)

    def cancel(self, ident: str) -> None:
        """Forget the answer; see `Backend`."""
        self._answers.pop(ident, None)

    def close(self) -> None:
        """Nothing to let go of; see `Backend`."""
