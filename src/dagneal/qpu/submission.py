"""Submission that survives: retries, answers fetched again by id, and a journal of what was paid for."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from numbers import Real
from typing import Any

import dimod
import numpy as np

from dagneal.base.defaults import ANNEALING_TIME
from dagneal.base.errors import InputError, whole_number
from dagneal.qpu.backend import Backend, RefusedError, TransientError, UnknownProblemError
from dagneal.runtime.journal import Journal


@dataclass(frozen=True)
class RetryPolicy:
    """How long to wait and how often to try again.

    Args:
        attempts: in a row without an answer, after which a call is given up.
        pause: seconds before the second attempt; each next pause is twice as long, up to a minute.
        timeout: seconds to wait for one answer before it is asked for again.
        sleep: how to wait.
    """

    attempts: int = 10
    pause: float = 0.5
    timeout: float = 300.0
    sleep: Callable[[float], None] = time.sleep


@dataclass(eq=False)
class SubmitterState:
    """What submitters to one backend share.

    Attributes:
        submitted: the number of problems that got an id.
        pending: the ids of problems without an answer.
        stopped: set after `cancel`.
        final: the error that ended the run; after it nothing new is sent.
    """

    submitted: int = 0
    pending: set[str] = field(default_factory=set)
    stopped: threading.Event = field(default_factory=threading.Event)
    final: InputError | None = None


@dataclass(eq=False)
class Submitter:
    """The way to a backend: what is sent is written down, what is lost is fetched again, what fails is tried again.

    Args:
        backend: where problems go.
        journal: keeps the ids of problems that were sent, so that nobody pays twice.
        retry: how long to wait and how often to try again.
    """

    backend: Backend
    journal: Journal | None = None
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    state: SubmitterState = field(default_factory=SubmitterState)

    def __post_init__(self) -> None:
        self.backend.watch(self.state.stopped.is_set)

    @property
    def submitted(self) -> int:
        """The number of problems that got an id."""
        return self.state.submitted

    def answer(self, bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any]) -> dimod.SampleSet:
        """Send a problem and wait for its reads, in several calls where one would pass the limits of the chip.

        Args:
            bqm: over spins, labelled by qubits.
            parameters: of the solver, with `num_reads`.
        """
        parts = split_reads(self.backend.properties, parameters)
        answers = [self._answer(bqm, part, number) for number, part in enumerate(parts)]
        if len(answers) == 1:
            return answers[0]
        together = dimod.concatenate(answers)
        times = [answer.info.get("timing", {}) for answer in answers]
        total = {"qpu_access_time": sum(float(each.get("qpu_access_time", 0.0)) for each in times)}
        together.info.update(parts=[dict(answer.info) for answer in answers], timing=total)
        return together

    def _answer(self, bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any], part: int) -> dimod.SampleSet:
        chip = f"{self.backend.name} {self.backend.properties.get('emulator', '')}"
        key = f"qpu:{_digest(chip, bqm, parameters, part)}"
        known = self.journal.get([key]).get(key) if self.journal is not None else None
        ident = known.decode() if known else None  # empty where there will be no answer
        failures, why, sent = 0, "", False
        while failures < self.retry.attempts:
            if self.state.stopped.is_set():
                raise CancelledError("the call was given up")
            if failures:
                self._pause(min(60.0, self.retry.pause * 2 ** (failures - 1)))
            try:
                if ident is None:
                    if self.state.final is not None:  # another call met it: this one would too
                        raise self.state.final
                    ident = self.backend.submit(bqm, parameters)
                    sent = True
                    self.state.submitted += 1
                    self._keep(key, ident)
                self.state.pending.add(ident)
                if self.state.stopped.is_set():  # while it was sent
                    self.backend.cancel(ident)
                    continue
                found = self.backend.fetch(ident, self.retry.timeout)
                found.resolve()
                found.info.update(sent_now=sent, problem_id=found.info.get("problem_id", ident))
                self.state.pending.discard(ident)
                return found
            except TransientError as error:
                failures += 1
                why = str(error) or type(error).__name__
            except UnknownProblemError as error:  # forgotten or ended without an answer: only now it is sent again
                self.state.pending.discard(ident or "")
                ident = None
                failures += 1
                why = f"the service has no answer ({error})"
            except (InputError, KeyboardInterrupt) as error:
                if isinstance(error, RefusedError | KeyboardInterrupt):  # there will be no answer
                    with suppress(InputError):  # a journal that cannot be written
                        self._write(key, "")
                if isinstance(error, KeyboardInterrupt):
                    self.cancel()
                else:
                    self.state.final = error
                self.state.pending.discard(ident or "")
                raise
        self.state.final = InputError(f"{self.backend.name} gave no answer in {failures} attempts; the last: {why}")
        raise self.state.final

    def _keep(self, key: str, ident: str) -> None:
        """Write the id of a problem down; one that cannot be written down is not left to run."""
        self.state.pending.add(ident)
        try:
            self._write(key, ident)
        except BaseException:
            self.state.pending.discard(ident)
            with suppress(Exception):
                self.backend.cancel(ident)
            raise

    def _pause(self, seconds: float) -> None:
        """Wait, but not on after a `cancel`."""
        if self.retry.sleep is time.sleep:
            self.state.stopped.wait(seconds)
        else:
            self.retry.sleep(seconds)

    def _write(self, key: str, ident: str) -> None:
        if self.journal is not None:
            self.journal.put({key: ident.encode()})

    def cancel(self) -> None:
        """Give up all that is pending; what comes later is refused until `reopen`."""
        self.state.stopped.set()
        for ident in list(self.state.pending):
            with suppress(Exception):  # whatever the service says, the others are cancelled too
                self.backend.cancel(ident)
        self.state.pending.clear()

    def reopen(self) -> None:
        """Take problems again after a `cancel` or a final error."""
        self.state.stopped.clear()
        self.state.final = None


def check_call(properties: dict[str, Any], parameters: Mapping[str, Any]) -> None:
    """Refuse reads and times that a chip does not take.

    Args:
        properties: of the solver.
        parameters: of a call.

    >>> check_call({"annealing_time_range": [0.5, 2000.0]}, {"annealing_time": 0.0})
    Traceback (most recent call last):
    dagneal.base.errors.InputError: annealing_time is 0.0; this chip takes 0.5 to 2000 microseconds
    """
    whole_number("num_reads", parameters.get("num_reads", 1), least=1)
    time = parameters.get("annealing_time")
    low, high = properties.get("annealing_time_range", [0.0, inf])
    if time is not None and not (isinstance(time, Real) and low <= float(time) <= high and 0 < float(time) < inf):
        raise InputError(f"annealing_time is {time}; this chip takes {low:g} to {high:g} microseconds")


def most_reads(properties: Mapping[str, Any], parameters: Mapping[str, Any]) -> int:
    """The most reads that fit into one call.

    D-Wave limits the run time that the caller's parameters ask for: `(annealing_time + readout_thermalization) * num_reads +
    programming_thermalization`. The time to read out the qubits does not count.

    Args:
        properties: of the solver.
        parameters: of the call.

    >>> most_reads({"problem_run_duration_range": [0.0, 1e6]}, {"annealing_time": 99.0})
    10000
    >>> most_reads({"problem_run_duration_range": [0.0, 1e6]}, {"annealing_time": 999.0})
    1000
    """
    most = int(properties.get("num_reads_range", [1, 10_000])[1])
    limit = properties.get("problem_run_duration_range")
    if limit is None:
        return most

    timing = properties.get("problem_timing_data") or {}

    def value(name: str, default: float) -> float:
        own = f"default_{name}"
        stated = (parameters.get(name), properties.get(own), timing.get(own), default)
        return float(next(each for each in stated if each is not None))

    each = value("annealing_time", ANNEALING_TIME) + value("readout_thermalization", 0.0)
    return max(1, min(most, int((float(limit[1]) - value("programming_thermalization", 1000.0)) / each)))


def split_reads(properties: dict[str, Any], parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """The parameters of as many calls as the limits of a chip need for the reads that are wanted.

    Args:
        properties: of the solver: the most reads of a call, and the longest time that it may run.
        parameters: with `num_reads`.
    """
    check_call(properties, parameters)
    reads = int(parameters.get("num_reads", 1))
    most = most_reads(properties, parameters)
    calls = -(-reads // most)
    sizes = [reads // calls + (number < reads % calls) for number in range(calls)]
    parts = [parameters | {"num_reads": size} for size in sizes]
    if parameters.get("seed") is not None:  # the parts are different reads
        parts = [part | {"seed": (part["seed"] + 7919 * number) % 2**31} for number, part in enumerate(parts)]
    return parts


def _digest(name: str, bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any], part: int) -> str:
    """A name for a call: the same problem with the same parameters on the same chip."""
    state = hashlib.blake2b(digest_size=16)
    linear, (rows, columns, quadratic), _ = bqm.to_numpy_vectors(variable_order=list(bqm.variables))
    for text in (name, repr(sorted(parameters.items())), str(part), repr(list(bqm.variables))):
        state.update(text.encode() + b"\0")
    for array in (linear, rows, columns, quadratic):
        state.update(np.ascontiguousarray(array).tobytes())
    return state.hexdigest()
