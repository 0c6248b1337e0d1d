"""Reliable submission: retry failed calls, fetch lost answers by id, and store the ids of paid problems in a journal."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import dimod
import numpy as np

from dagneal.base.errors import InputError
from dagneal.qpu.backend import Backend, RefusedError, TransientError, UnknownProblemError
from dagneal.qpu.chips import Timing
from dagneal.qpu.parameters import annealing_duration, check_call as check_call, default_time
from dagneal.runtime.journal import Journal


@dataclass(frozen=True)
class RetryPolicy:
    """Limits for waiting for answers and for retrying failed calls.

    Args:
        attempts: number of failed attempts after which the call raises an error.
        pause: seconds before the first retry; each later pause is twice as long, up to one minute.
        timeout: seconds to wait for an answer before requesting the answer again.
        sleep: function that waits for a given number of seconds.
    """

    attempts: int = 10
    pause: float = 0.5
    timeout: float = 300.0
    sleep: Callable[[float], None] = time.sleep


@dataclass(eq=False)
class SubmitterState:
    """The state of a `Submitter`. Submitters that differ only in the journal share one state.

    Attributes:
        submitted: number of problems that were sent and got an id.
        pending: ids of problems that have no answer yet.
        stopped: event that `Submitter.cancel` sets.
        final: error that prevents the sending of further problems; None if there is no such error.
    """

    submitted: int = 0
    pending: set[str] = field(default_factory=set)
    stopped: threading.Event = field(default_factory=threading.Event)
    final: InputError | None = None


@dataclass(eq=False)
class Submitter:
    """Sends problems to a backend, stores the problem ids, fetches lost answers again and retries failed calls.

    Args:
        backend: service or local sampler that solves the problems.
        journal: journal that stores the ids of sent problems, so that no problem is paid for twice.
        retry: limits for waiting for answers and for retrying failed calls.
        state: state that may be shared with other submitters.
    """

    backend: Backend
    journal: Journal | None = None
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    state: SubmitterState = field(default_factory=SubmitterState)

    def __post_init__(self) -> None:
        self.backend.watch(self.state.stopped.is_set)

    @property
    def submitted(self) -> int:
        """Number of problems that were sent and got an id."""
        return self.state.submitted

    def answer(self, bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any]) -> dimod.SampleSet:
        """Send a problem and return the reads. Use several calls if one call would exceed the limits of the chip.

        Args:
            bqm: Ising model whose variables are qubits.
            parameters: keyword arguments of the solver, including `num_reads`.
        """
        parts = split_reads(self.backend.properties, parameters)
        answers = [self._answer(bqm, part, number) for number, part in enumerate(parts)]
        if len(answers) == 1:
            return answers[0]
        combined = _join(answers, parameters)
        timings = [answer.info.get("timing", {}) for answer in answers]
        total = {"qpu_access_time": sum(float(timing.get("qpu_access_time", 0.0)) for timing in timings)}
        combined.info.update(parts=[dict(answer.info) for answer in answers], timing=total)
        return combined

    def _answer(self, bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any], part: int) -> dimod.SampleSet:
        chip = f"{self.backend.name} {self.backend.properties.get('emulator', '')}"
        key = f"qpu:{_digest(chip, bqm, parameters, part)}"
        stored = self.journal.get([key]).get(key) if self.journal is not None else None
        problem_id = stored.decode() if stored else None  # an empty id marks a refused problem
        failures, reason, sent = 0, "", False
        while failures < self.retry.attempts:
            if self.state.stopped.is_set():
                raise CancelledError("the call was cancelled")
            try:
                if failures:
                    self._pause(min(60.0, self.retry.pause * 2 ** (failures - 1)))
                    if self.state.stopped.is_set():
                        continue
                if problem_id is None:
                    if self.state.final is not None:  # an error that ended another call would end this call too
                        raise self.state.final
                    problem_id = self.backend.submit(bqm, parameters)
                    sent = True
                    self.state.submitted += 1
                    self._store(key, problem_id)
                self.state.pending.add(problem_id)
                if self.state.stopped.is_set():  # cancelled during the submission
                    self.backend.cancel(problem_id)
                    continue
                answer = self.backend.fetch(problem_id, self.retry.timeout)
                answer.resolve()
                answer.info.update(sent_now=sent, problem_id=answer.info.get("problem_id", problem_id))
                self.state.pending.discard(problem_id)
                return answer
            except TransientError as error:
                failures += 1
                reason = str(error) or type(error).__name__
            except UnknownProblemError as error:  # the service has no answer, so sending again does not pay twice
                self.state.pending.discard(problem_id or "")
                problem_id = None
                failures += 1
                reason = f"the service has no answer ({error})"
            except (InputError, KeyboardInterrupt) as error:
                if isinstance(error, RefusedError):  # no answer will come; after Ctrl-C an answer may still come
                    with suppress(InputError):  # the journal may be unwritable
                        self._write(key, "")
                if isinstance(error, KeyboardInterrupt):
                    self.cancel()
                else:
                    self.state.final = error
                self.state.pending.discard(problem_id or "")
                raise
        self.state.final = InputError(f"{self.backend.name} gave no answer in {failures} attempts; last error: {reason}")
        raise self.state.final

    def _store(self, key: str, problem_id: str) -> None:
        """Write the id of a problem to the journal. If this fails, cancel the problem."""
        self.state.pending.add(problem_id)
        try:
            self._write(key, problem_id)
        except BaseException:
            self.state.pending.discard(problem_id)
            with suppress(Exception):
                self.backend.cancel(problem_id)
            raise

    def _pause(self, seconds: float) -> None:
        """Wait some seconds. Stop waiting when `cancel` is called."""
        if self.retry.sleep is time.sleep:
            self.state.stopped.wait(seconds)
        else:
            self.retry.sleep(seconds)

    def _write(self, key: str, problem_id: str) -> None:
        if self.journal is not None:
            self.journal.put({key: problem_id.encode()})

    def cancel(self) -> None:
        """Cancel all pending problems, and refuse new problems until `reopen` is called."""
        self.state.stopped.set()
        for problem_id in list(self.state.pending):
            with suppress(Exception):  # cancel the other problems even if this one fails
                self.backend.cancel(problem_id)
        self.state.pending.clear()

    def reopen(self) -> None:
        """Accept problems again after `cancel` or a final error."""
        self.state.stopped.clear()
        self.state.final = None


def _join(answers: list[dimod.SampleSet], parameters: Mapping[str, Any]) -> dimod.SampleSet:
    """Return the reads of several calls as if they came from one call. A histogram has no duplicates and is sorted."""
    joined = dimod.concatenate(answers)
    histogram = parameters.get("answer_mode") == "histogram"
    joined = joined.aggregate() if histogram else joined
    return joined.truncate(parameters.get("max_answers") or len(joined), "energy" if histogram else None)


def max_reads(properties: Mapping[str, Any], parameters: Mapping[str, Any]) -> int:
    """Return the largest number of reads that fits into one call.

    D-Wave limits the run time of a call, which is defined as `(annealing_time + readout_thermalization) * num_reads +
    programming_thermalization`. The time to read out the qubits does not count. The annealing time can also come from
    `anneal_schedule`, and the pause of `reduce_intersample_correlation` replaces a shorter `readout_thermalization`.

    Args:
        properties: properties of the solver.
        parameters: keyword arguments of the call.

    >>> max_reads({"problem_run_duration_range": [0.0, 1e6]}, {"annealing_time": 99.0})
    10000
    >>> max_reads({"problem_run_duration_range": [0.0, 1e6]}, {"annealing_time": 999.0})
    1000
    """
    most = int(properties.get("num_reads_range", [1, 10_000])[1])
    limit = properties.get("problem_run_duration_range")
    if limit is None:
        return most

    annealing_time = annealing_duration(properties, parameters)
    pause = default_time("readout_thermalization", properties, parameters, 0.0)
    if parameters.get("reduce_intersample_correlation") and properties.get("problem_timing_data"):
        pause = max(pause, Timing.of(properties["problem_timing_data"]).decorrelation_time(annealing_time))
    cooling = default_time("programming_thermalization", properties, parameters, 1000.0)
    return max(1, min(most, int((float(limit[1]) - cooling) / (annealing_time + pause))))


def split_reads(properties: dict[str, Any], parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """Distribute reads over as many calls as the limits of a chip require. Return a list with the parameters of each call.

    Args:
        properties: properties of the solver, with its limits on reads and run time.
        parameters: keyword arguments of the solver, including `num_reads`.
    """
    check_call(properties, parameters)
    reads = int(parameters.get("num_reads", 1))
    most = max_reads(properties, parameters)
    calls = -(-reads // most)
    sizes = [reads // calls + (number < reads % calls) for number in range(calls)]
    parts = [parameters | {"num_reads": size} for size in sizes]
    if parameters.get("max_answers") is not None:  # D-Wave accepts at most one answer per read
        parts = [part | {"max_answers": min(part["max_answers"], part["num_reads"])} for part in parts]
    if parameters.get("seed") is not None:  # give each part its own seed, so that their reads differ
        parts = [part | {"seed": (part["seed"] + 7919 * number) % 2**31} for number, part in enumerate(parts)]
    return parts


def _digest(name: str, bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any], part: int) -> str:
    """Return a hash that identifies a call. `part` is the index of the call if the reads are split over several calls."""
    state = hashlib.blake2b(digest_size=16)
    linear, (rows, columns, quadratic), _ = bqm.to_numpy_vectors(variable_order=list(bqm.variables))
    for text in (name, repr(sorted(parameters.items())), str(part), repr(list(bqm.variables))):
        state.update(text.encode() + b"\0")
    for array in (linear, rows, columns, quadratic):
        state.update(np.ascontiguousarray(array).tobytes())
    return state.hexdigest()
