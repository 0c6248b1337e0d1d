"""Run: the context that every long computation carries, and how it works through many tasks."""

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
from dagneal.runtime.executors import Shared, Submitting, pool_of, run_chunks
from dagneal.runtime.journal import NOT_OURS, Journal, SqliteJournal


@dataclass(frozen=True)
class Deadline:
    """A moment after which a search ends with the best answer so far.

    Args:
        at: the moment, as `time.perf_counter` tells it; infinity for never.

    >>> Deadline.after(60).passed, NEVER.passed
    (False, False)
    """

    at: float = inf

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return the deadline so many seconds from now; never for None.

        Args:
            seconds: above 0.
        """
        if seconds is None:
            return NEVER
        if isinstance(seconds, bool) or not isinstance(seconds, Real) or not 0 < float(seconds) < inf:
            raise InputError(f"time_limit is {seconds!r}; give seconds above 0")
        return cls(perf_counter() + float(seconds))

    @property
    def passed(self) -> bool:
        """Whether the moment is over."""
        return self.at < inf and perf_counter() >= self.at

    def check(self) -> None:
        """Raise `OutOfTimeError` if the moment is over."""
        if self.passed:
            raise OutOfTimeError("the time limit is over")


NEVER = Deadline()


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Ignore how far a stage is."""


@runtime_checkable
class Chunking(Protocol):
    """A task function that decides how many tasks it takes in one call, and how many calls run at a time."""

    def chunk_size(self, shared: Any, tasks: Sequence[Any] | NDArray[Any]) -> int:
        """Return the number of tasks of a call.

        Args:
            shared: what all tasks need.
            tasks: all tasks.
        """
        ...

    @property
    def in_flight(self) -> int | None:
        """The number of calls at a time; None for one per worker."""
        ...


class TaskFunction(Protocol):
    """A function of a chunk of tasks whose results are arrays of one shape.

    It may also be `Chunking`, or `Cancellable` (see `dagneal.runtime.executors`).
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result of one task."""
        ...

    @property
    def largest(self) -> int:
        """The largest number in a result; all are whole and not negative."""
        ...

    def __call__(self, shared: Any, tasks: Sequence[Any]) -> tuple[NDArray[np.uint8], dict[int, str]]:
        """Return the results of some tasks, and for those that failed why, by their place among these tasks.

        Args:
            shared: what all tasks need.
            tasks: some of them.
        """
        ...


@dataclass(eq=False)
class Results:
    """Results of tasks, in the order of the tasks.

    Attributes:
        values: shape (tasks, ...).
        done: which tasks were finished.
        failed: for those that failed, why.
        interrupted: whether Ctrl-C ended the work early.
        late: whether the deadline did.
    """

    values: NDArray[np.uint8]
    done: NDArray[np.bool_]
    failed: dict[int, str] = field(default_factory=dict)
    interrupted: bool = False
    late: bool = False


@dataclass(frozen=True)
class Run:
    """The context of a computation: its seed, its deadline, and where it runs.

    Args:
        seed: the same seed gives the same answer, for any number of workers.
        deadline: when a search should end; `Deadline.after(60)` is in a minute.
        progress: called with the name of a stage, the number of finished tasks, and the number of all tasks.
        executor: where many tasks run; threads of this process by default.
        journal: stores finished tasks, so that an interrupted run can resume; the path of a file opens a `SqliteJournal`.

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
            raise InputError(f"progress is {self.progress!r}; give a function of a stage, the tasks done, and all tasks")
        if self.executor is not None and not isinstance(self.executor, Submitting):
            raise InputError(
                f"executor is {self.executor!r}; give a concurrent.futures.Executor, such as ThreadPoolExecutor(4)"
            )
        if self.journal is not None and not isinstance(self.journal, Journal):
            raise InputError(
                f"journal is {self.journal!r}; give the path of a file, or an object with the methods get and put"
            )

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the journal, if it is a file."""
        if isinstance(self.journal, SqliteJournal):
            self.journal.close()

    def child(self, *names: str) -> Run:
        """Return this run with a seed of its own, derived from this seed and the names.

        Args:
            names: what tells the part of the computation from others.
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
        """Call `function(shared, task)` for every task, and `record(task, result)` in this thread as results come in.

        Few tasks are taken from the iterator at a time. If a task raises, no others begin, those that have begun are
        finished and recorded, and the error is raised. Ctrl-C does the same.

        Args:
            function: of a module, so that other processes find it.
            tasks: the second argument of each call.
            record: stores a result.
            shared: the first argument of each call; it is sent once to each worker.
            workers: the number of threads, if there is no executor; all cores by default.
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

        Finished tasks go to the journal, and tasks that it holds are not done again. Ctrl-C and the deadline end the work
        with what is finished, if anything is.

        Args:
            function: of a chunk of tasks.
            tasks: all of them.
            shared: what all tasks need; it is sent once to each worker.
            key: names a task in the journal by all that its result depends on; without it the journal is not used.
            stage: names the work in calls of `progress`.
        """
        size = len(tasks)
        results = Results(np.zeros((size, *function.shape), dtype=np.uint8), np.zeros(size, dtype=bool))
        journal = self.journal if key is not None else None
        keys = [key(task) for task in tasks] if key is not None and journal is not None else []
        if journal is not None:
            self._restore(journal, keys, function, results)

        def record(chunk: NDArray[np.int64], found: tuple[NDArray[np.uint8], dict[int, str]]) -> None:
            values, failed = found
            fine = np.array([place for place in range(len(chunk)) if place not in failed], dtype=np.int64)
            results.values[chunk[fine]] = values[fine]
            results.done[chunk[fine]] = True
            results.failed.update({int(chunk[place]): why for place, why in failed.items()})
            if journal is not None and len(fine):
                journal.put({keys[task]: results.values[task].tobytes() for task in chunk[fine]})
            self.progress(stage, int(results.done.sum()) + len(results.failed), size)

        workers, step = None, 1
        if isinstance(function, Chunking):
            workers, step = function.in_flight, max(1, function.chunk_size(shared, tasks))
        indexed = np.asarray(tasks)

        def chunks() -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
            # Chunks are cut from all tasks, finished or not: a call that was interrupted is made again as it was.
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
        """Run labelled chunks; see `run_chunks`."""
        # Answers that a journal can fetch later are given up on Ctrl-C only.
        given_up = BaseException if self.journal is None else KeyboardInterrupt
        with pool_of(self.executor, workers) as pool:
            run_chunks(pool, function, chunks, record, Shared.of(shared), given_up)

    @staticmethod
    def _restore(journal: Journal, keys: Sequence[str], function: TaskFunction, results: Results) -> None:
        """Take over the tasks that a journal holds."""
        known = journal.get(keys)
        for task, key in enumerate(keys):
            if key in known:
                value = np.frombuffer(known[key], dtype=np.uint8)
                if value.size != results.values[task].size or (value > function.largest).any():
                    raise InputError(f"the journal holds no valid result of {key!r}; {NOT_OURS}")
                results.values[task] = value.reshape(function.shape)
                results.done[task] = True


DEFAULT_RUN = Run()


def check_run(run: Any) -> Run:
    """Return a run, or refuse what is none.

    Args:
        run: what was given as `run=`.

    >>> check_run(7)
    Traceback (most recent call last):
    dagneal.base.errors.InputError: run is int; give dn.Run(...)
    """
    if not isinstance(run, Run):
        what = f"the class {run.__name__}" if isinstance(run, type) else type(run).__name__
        raise InputError(f"run is {what}; give dn.Run(...)")
    return run


def derive_seed(seed: int, names: Sequence[str]) -> int:
    """Derive the seed of a part of a computation, the same wherever it runs and whatever other parts there are.

    Args:
        seed: of the whole computation.
        names: what tells the part from others.
    """
    text = "\0".join([str(seed), *names])
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big") >> 1
