"""`Run`: the seed, deadline, executor and journal of a computation, and methods that compute many tasks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import inf
from numbers import Real
from time import perf_counter
from types import TracebackType
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dagneal.base.defaults import SEED
from dagneal.base.errors import InputError, OutOfTimeError, whole_number
from dagneal.base.kernels import Progress
from dagneal.runtime.executors import Shared, SupportsSubmit, executor_or_threads, run_chunks
from dagneal.runtime.journal import FOREIGN_JOURNAL, Journal, SqliteJournal


@dataclass(frozen=True)
class Deadline:
    """A time limit, after which a search returns the best network so far.

    Args:
        at: time of the deadline, as a value of `time.perf_counter()`; infinity for no deadline.

    >>> Deadline.after(60).passed, NEVER.passed
    (False, False)
    """

    at: float = inf

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return the deadline that is `seconds` seconds from now.

        Args:
            seconds: number of seconds, above 0; None for no deadline.
        """
        if seconds is None:
            return NEVER
        if isinstance(seconds, bool) or not isinstance(seconds, Real) or not 0 < float(seconds) < inf:
            raise InputError(f"time_limit is {seconds!r}; give a number of seconds above 0")
        return cls(perf_counter() + float(seconds))

    @property
    def passed(self) -> bool:
        """Whether the deadline has passed."""
        return self.at < inf and perf_counter() >= self.at

    def check(self) -> None:
        """Raise `OutOfTimeError` if the deadline has passed."""
        if self.passed:
            raise OutOfTimeError("the time limit has passed")


NEVER = Deadline()


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Do nothing. This is the default of `Run.progress`."""


@runtime_checkable
class Chunking(Protocol):
    """A task function that chooses the number of tasks per call and the number of simultaneous calls."""

    def chunk_size(self, shared: Any, tasks: Sequence[Any] | NDArray[Any]) -> int:
        """Return the number of tasks per call of this function.

        Args:
            shared: value that all tasks need.
            tasks: all tasks.
        """
        ...

    @property
    def in_flight(self) -> int | None:
        """Number of simultaneous calls of this function; None for one call per worker."""
        ...


class TaskFunction(Protocol):
    """A function that computes a chunk of tasks. The results of all tasks are arrays of the same shape.

    A task function may also have the methods of `Chunking` and of `dagneal.runtime.executors.Cancellable`.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the result array of one task."""
        ...

    @property
    def largest(self) -> int:
        """Largest number that a result array may contain. The smallest is 0."""
        ...

    def __call__(self, shared: Any, tasks: Sequence[Any]) -> tuple[NDArray[np.uint8], dict[int, str]]:
        """Return the tuple (results, errors).

        `results` is an array with one row per task. `errors` has the messages of failed tasks, by index of the task.

        Args:
            shared: value that all tasks need.
            tasks: tasks of the chunk; the index of the first task is 0.
        """
        ...


@dataclass(eq=False)
class Results:
    """Results of tasks. The arrays `values` and `done` have one row per task, in the order of the tasks.

    Attributes:
        values: results; rows of tasks without a result are 0.
        done: True for each task that has a result.
        failed: error messages of failed tasks, by index of the task.
        interrupted: whether Ctrl-C stopped the computation.
        late: whether the deadline stopped the computation.
    """

    values: NDArray[np.uint8]
    done: NDArray[np.bool_]
    failed: dict[int, str] = field(default_factory=dict)
    interrupted: bool = False
    late: bool = False


@dataclass(frozen=True)
class Run:
    """Settings for the execution of a computation: seed, deadline, progress, executor and journal.

    Args:
        seed: random seed; the same seed gives the same result, for any number of workers.
        deadline: time limit of searches; `Deadline.after(60)` stops them a minute from now.
        progress: function that is called with the name of a stage, the number of finished tasks and the number of all tasks.
        executor: executor that runs the tasks; threads of this process by default.
        journal: store of finished tasks, so that an interrupted run can resume. A path means a `SqliteJournal`.

    >>> Run(seed=7).child("Smoker", "Cancer").seed
    706540194
    """

    seed: int = SEED
    deadline: Deadline = NEVER
    progress: Progress = ignore_progress
    executor: Executor | None = None
    journal: Journal | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", whole_number("seed", self.seed))
        if isinstance(self.journal, str | os.PathLike):
            object.__setattr__(self, "journal", SqliteJournal(self.journal))
        if not isinstance(self.deadline, Deadline):
            raise InputError(f"deadline is {self.deadline!r}; give dn.Deadline.after(seconds)")
        if not callable(self.progress):
            raise InputError(
                f"progress is {self.progress!r}; give a function with three arguments: the name of the stage, the number of "
                "finished tasks and the number of all tasks"
            )
        if self.executor is not None and not isinstance(self.executor, SupportsSubmit):
            raise InputError(
                f"executor is {self.executor!r}; give a concurrent.futures.Executor, such as ThreadPoolExecutor(4)"
            )
        if self.journal is not None and not isinstance(self.journal, Journal):
            raise InputError(
                f"journal is {self.journal!r}; give the path of a file, or an object with the methods 'get' and 'put'"
            )

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the journal if it is a `SqliteJournal`."""
        if isinstance(self.journal, SqliteJournal):
            self.journal.close()

    def child(self, *names: str) -> Run:
        """Return a copy of this run for one step of the computation. The copy has a new seed; see `derive_seed`.

        Args:
            names: names that identify the step.
        """
        return replace(self, seed=derive_seed(self.seed, names))

    def each(
        self,
        function: Callable[[Any, Any], Any],
        tasks: Iterable[Any],
        record: Callable[[Any, Any], None],
        shared: Any = None,
        workers: int | None = None,
    ) -> None:
        """Call `function(shared, task)` for every task, and `record(task, result)` for every finished task.

        Only a few tasks are read from `tasks` at a time. If a task raises an exception, or after Ctrl-C, no further
        tasks begin. This method waits for the running tasks and records their results. Then it raises the exception.

        Args:
            function: function at module level, so that other processes can import it.
            tasks: all tasks; each task is the second argument of one call.
            record: function that stores a result. It is called in this thread, as soon as a task is finished.
            shared: first argument of every call; it is sent once to each worker.
            workers: number of threads if the run has no executor; by default, one per core.
        """
        self._work(function, ((task, task) for task in tasks), record, shared, workers)

    def map(
        self,
        function: TaskFunction,
        tasks: Sequence[Any] | NDArray[Any],
        shared: Any = None,
        key: Callable[[Any], str] | None = None,
        stage: str = "tasks",
    ) -> Results:
        """Call a function for all tasks, in chunks, and return the results in the order of the tasks.

        The journal stores finished tasks, and tasks in the journal are not repeated. After Ctrl-C or the deadline, the
        results so far are returned. Ctrl-C before the first result raises `KeyboardInterrupt`.

        Args:
            function: function that computes a chunk of tasks.
            tasks: all tasks.
            shared: value that all tasks need; it is sent once to each worker.
            key: function that returns the journal key of a task. The key must contain everything that affects the result.
                Without this function, the journal is not used.
            stage: name of the computation, which is passed to `Run.progress`.
        """
        size = len(tasks)
        results = Results(np.zeros((size, *function.shape), dtype=np.uint8), np.zeros(size, dtype=bool))
        journal = self.journal if key is not None else None
        keys = [key(task) for task in tasks] if key is not None and journal is not None else []
        if journal is not None:
            self._restore(journal, keys, function, results)

        def record(chunk: NDArray[np.int64], output: tuple[NDArray[np.uint8], dict[int, str]]) -> None:
            values, failed = output
            valid = np.array([index for index in range(len(chunk)) if index not in failed], dtype=np.int64)
            results.values[chunk[valid]] = values[valid]
            results.done[chunk[valid]] = True
            results.failed.update({int(chunk[index]): reason for index, reason in failed.items()})
            if journal is not None and len(valid):
                journal.put({keys[task]: results.values[task].tobytes() for task in chunk[valid]})
            self.progress(stage, int(results.done.sum()) + len(results.failed), size)

        workers, step = None, 1
        if isinstance(function, Chunking):
            workers, step = function.in_flight, max(1, function.chunk_size(shared, tasks))
        indexed = np.asarray(tasks)

        def chunks() -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
            # Chunks do not depend on finished tasks, so a resumed run repeats an interrupted call with the same tasks.
            begun = bool(results.done.any())
            for begin in range(0, size, step):
                chunk = np.arange(begin, min(begin + step, size))
                left = chunk[~results.done[chunk]]
                if not len(left):
                    continue
                if begun and self.deadline.passed:
                    results.late = True
                    return
                begun = True
                yield left, indexed[left]

        try:
            self._work(function, chunks(), record, shared, workers)
        except KeyboardInterrupt:
            if not results.done.any():
                raise
            results.interrupted = True
        return results

    def _work(
        self,
        function: Callable[[Any, Any], Any],
        chunks: Iterable[tuple[Any, Any]],
        record: Callable[[Any, Any], None],
        shared: Any,
        workers: int | None,
    ) -> None:
        """Compute chunks on the executor of this run, or in threads; see `run_chunks`."""
        # With a journal, a resumed run can fetch the answers of running calls. So only Ctrl-C cancels them.
        cancel_on = BaseException if self.journal is None else KeyboardInterrupt
        with executor_or_threads(self.executor, workers) as pool:
            run_chunks(pool, function, chunks, record, Shared.of(shared), cancel_on)

    @staticmethod
    def _restore(journal: Journal, keys: Sequence[str], function: TaskFunction, results: Results) -> None:
        """Copy results from the journal into `results`; raise an error if a stored result is invalid."""
        stored = journal.get(keys)
        for task, key in enumerate(keys):
            if key in stored:
                value = np.frombuffer(stored[key], dtype=np.uint8)
                if value.size != results.values[task].size or (value > function.largest).any():
                    raise InputError(f"the journal has an invalid result for {key!r}; {FOREIGN_JOURNAL}")
                results.values[task] = value.reshape(function.shape)
                results.done[task] = True


DEFAULT_RUN = Run()


def check_run(run: Any) -> Run:
    """Check that a value is a `Run`, and return it.

    Args:
        run: value that the user gave for the argument `run`.

    >>> check_run(7)
    Traceback (most recent call last):
    dagneal.base.errors.InputError: run has the type int; give dn.Run(...)
    """
    if not isinstance(run, Run):
        problem = f"is the class {run.__name__}" if isinstance(run, type) else f"has the type {type(run).__name__}"
        raise InputError(f"run {problem}; give dn.Run(...)")
    return run


def derive_seed(seed: int, names: Sequence[str]) -> int:
    """Return the seed of one step of a computation. It depends only on the arguments, and is the same on every machine.

    Args:
        seed: seed of the computation.
        names: names that identify the step.
    """
    text = "\0".join([str(seed), *names])
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big") >> 1
