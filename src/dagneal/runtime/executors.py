"""Run tasks on any `concurrent.futures` executor, and send a shared value only once to each worker.

Most executors cannot send a value to all workers, and do not show which worker gets a task. So a task carries only the
fingerprint of the shared value. A worker that does not have the value replies `NeedsSharedValue`. The task is then submitted
again, with the value. This works for threads, processes, Ray and MPI. For Dask, see `DaskExecutor.share`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable
from uuid import uuid4

from dagneal.base.errors import InputError
from dagneal.base.machine import cores, mark_worker_thread

_TASKS_PER_WORKER = 4  # limit on submitted, unfinished tasks per worker
_MOST_VALUES = 4  # largest number of shared values that a worker stores
_CHECK_INTERVAL = 2.0  # seconds between checks whether an executor still has workers
_GRACE = 5.0  # seconds to wait for running tasks after workers were lost
_shared_values: dict[str, Any] = {}
_ABSENT = object()


@dataclass(frozen=True, eq=False)
class Shared:
    """A value that many tasks need.

    Args:
        key: fingerprint of the value, or a random text.
        value: any value; it must be picklable if workers are other processes.
    """

    key: str
    value: Any

    @classmethod
    def of(cls, value: Any) -> Shared:
        """Wrap a value in a `Shared`. The key is the fingerprint of the value, or a random text if the value has none.

        Args:
            value: value that many tasks need.
        """
        return cls(value.fingerprint if isinstance(value, Fingerprinted) else uuid4().hex, value)


@runtime_checkable
class Fingerprinted(Protocol):
    """A value with an attribute `fingerprint`, which identifies the value."""

    @property
    def fingerprint(self) -> str:
        """Text that identifies the value. Different values have different fingerprints."""
        ...


@runtime_checkable
class SupportsSubmit(Protocol):
    """An object with a method `submit` as in `concurrent.futures.Executor`. It need not inherit from `Executor`."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
        """Schedule a call, and return its future.

        Args:
            function: function to call.
            arguments: positional arguments.
            keywords: keyword arguments.
        """
        ...


@runtime_checkable
class SupportsShare(Protocol):
    """An executor with a method `share`, which sends a value to all workers that need it."""

    def share(self, shared: Shared) -> Any:
        """Return a placeholder. If a call gets it as an argument, the executor replaces it by the shared value.

        Args:
            shared: value that many calls need.
        """
        ...


@runtime_checkable
class SupportsCheck(Protocol):
    """An executor with a method `check`, which checks that the executor still has workers."""

    def check(self) -> None:
        """Raise `LostWorkersError` if the executor has no workers any more."""
        ...


@runtime_checkable
class HasWorkers(Protocol):
    """An executor that knows its number of workers."""

    @property
    def workers(self) -> int:
        """Number of tasks that can run at the same time."""
        ...


@runtime_checkable
class Remote(Protocol):
    """An executor that can lose its workers, such as a cluster."""

    @property
    def name(self) -> str:
        """Name of the executor in messages."""
        ...

    @property
    def lost(self) -> tuple[type[BaseException], ...]:
        """Types of exceptions that mean that a task was lost together with its worker."""
        ...


@runtime_checkable
class Cancellable(Protocol):
    """A task function with a method `cancel`, which ends all running calls of the function."""

    def cancel(self) -> None:
        """End all running calls of this function."""
        ...


@dataclass(frozen=True)
class NeedsSharedValue:
    """Reply of a worker that does not have the shared value.

    Args:
        key: key of the shared value.
    """

    key: str


class LostWorkersError(InputError):
    """The executor lost workers, or did not run all tasks."""

    def __init__(self, what: str, cause: BaseException | None = None) -> None:
        reason = str(cause or "").split(". ")[0]  # the first sentence
        problem = f"{what}: {reason}" if reason else what
        super().__init__(f"{problem}; start the run again; finished tasks are not repeated if you use a journal")


@contextmanager
def executor_or_threads(executor: Executor | None, workers: int | None = None) -> Iterator[Executor]:
    """Yield the given executor, or a new thread pool that is shut down when the `with` block ends.

    Args:
        executor: any executor; None for a thread pool.
        workers: number of threads of the pool; all cores by default.
    """
    if executor is not None:
        yield executor
        return
    pool = ThreadPoolExecutor(workers or cores(), initializer=mark_worker_thread)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def count_workers(executor: Executor) -> int:
    """Return the number of workers of an executor; if it is unknown, the number of cores.

    Args:
        executor: any executor.
    """
    if isinstance(executor, HasWorkers):
        return executor.workers
    standard = isinstance(executor, ThreadPoolExecutor | ProcessPoolExecutor)
    return int(executor._max_workers) if standard else cores()  # type: ignore[attr-defined]  # no public attribute


def wait_for_any(executor: Executor, waiting: Iterable[Future[Any]]) -> set[Future[Any]]:
    """Wait until at least one future is done, and return all futures that are done.

    Args:
        executor: executor of the futures; if it implements `SupportsCheck`, its method `check` is called every few seconds.
        waiting: futures of submitted tasks.
    """
    while not (done := wait(waiting, timeout=_CHECK_INTERVAL, return_when=FIRST_COMPLETED).done):
        if isinstance(executor, SupportsCheck):
            executor.check()
    return done


def get_result(executor: Executor, future: Future[Any]) -> Any:
    """Return the result of a task, or raise its exception. Raise `LostWorkersError` if the executor did not finish the task.

    Args:
        executor: executor of the task. If it implements `Remote`, exceptions in `Remote.lost` mean an unfinished task.
        future: future of the task; it must be done and not cancelled by `cancel_all`.
    """
    lost: tuple[type[BaseException], ...] = (CancelledError, BrokenExecutor)
    if isinstance(executor, Remote):
        lost += executor.lost
    try:
        return future.result()
    except lost as error:
        raise LostWorkersError(f"{_name_of(executor)} did not finish all tasks", error) from error


def submit_call(executor: Executor, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Submit a call, and return its future; raise `LostWorkersError` if the executor accepts no more calls.

    Args:
        executor: executor that runs the call.
        function: function to call.
        arguments: arguments of the call.
    """
    try:
        return executor.submit(function, *arguments)
    except (RuntimeError, BrokenExecutor) as error:
        raise LostWorkersError(f"{_name_of(executor)} accepts no more tasks", error) from error


def _name_of(executor: Executor) -> str:
    return executor.name if isinstance(executor, Remote) else f"the {type(executor).__name__}"


def cancel_all(waiting: Iterable[Future[Any]], lost: bool) -> None:
    """Cancel tasks that have not begun, and wait until the running tasks are finished.

    Args:
        waiting: futures of submitted tasks.
        lost: True if workers were lost; then the function waits only a few seconds.
    """
    for future in waiting:
        future.cancel()
    wait(waiting, timeout=_GRACE if lost else None)


def run_chunks(
    executor: Executor,
    function: Callable[[Any, Any], Any],
    chunks: Iterable[tuple[Any, Any]],
    record: Callable[[Any, Any], None],
    shared: Shared,
    cancel_on: type[BaseException] = KeyboardInterrupt,
) -> None:
    """Call `function(shared.value, content)` for every chunk on an executor, and record the results.

    Only a few chunks are submitted at a time, to limit memory. If a call raises an exception, or after Ctrl-C, no further
    chunks begin. This function waits for the running calls and records their results. Then it raises the exception.

    Args:
        executor: executor of the calls; if it implements `SupportsShare`, it sends the shared value to the workers.
        function: function at module level, so that other processes can import it.
        chunks: pairs (label, content). The content is an argument of the call; the label is passed to `record` only.
        record: function that is called with the label and the result of each finished call, in the calling thread.
        shared: value that all calls need.
        cancel_on: type of exceptions after which running calls are cancelled if `function` implements `Cancellable`.
    """
    store_recent(_shared_values, shared.key, shared.value)  # threads of this process find the value here
    most = _TASKS_PER_WORKER * count_workers(executor)
    waiting: dict[Future[Any], tuple[Any, Any]] = {}
    placeholder = executor.share(shared) if isinstance(executor, SupportsShare) else None

    def submit(chunk: tuple[Any, Any]) -> None:
        if placeholder is None:
            waiting[submit_call(executor, _call, shared.key, function, chunk[1])] = chunk
        else:
            waiting[submit_call(executor, _call_with, shared.key, placeholder, function, chunk[1])] = chunk

    def collect() -> None:
        for future in wait_for_any(executor, waiting):
            chunk = waiting.pop(future)
            result = get_result(executor, future)
            if isinstance(result, NeedsSharedValue):
                waiting[submit_call(executor, _call_with, shared.key, shared.value, function, chunk[1])] = chunk
            else:
                record(chunk[0], result)

    try:
        for chunk in chunks:
            submit(chunk)
            while len(waiting) >= most:
                collect()
        while waiting:
            collect()
    except BaseException as error:
        if isinstance(function, Cancellable) and isinstance(error, cancel_on):
            function.cancel()
        cancel_all(waiting, lost=isinstance(error, LostWorkersError))
        for future, (label, _) in waiting.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                result = future.result()
                if not isinstance(result, NeedsSharedValue):
                    record(label, result)
        raise
    finally:
        _shared_values.pop(shared.key, None)  # free the memory of a large value


def _call(key: str, function: Callable[[Any, Any], Any], content: Any) -> Any:
    value = _shared_values.get(key, _ABSENT)  # a single operation, because another thread may delete the value
    return NeedsSharedValue(key) if value is _ABSENT else function(value, content)


def _call_with(key: str, value: Any, function: Callable[[Any, Any], Any], content: Any) -> Any:
    store_recent(_shared_values, key, value)
    return function(value, content)


def store_recent(values: dict[str, Any], key: str, value: Any) -> None:
    """Store a value in a dict of limited size. If the dict is full, delete the oldest values.

    Args:
        values: stored values by key, oldest first.
        key: key of the new value.
        value: new value.
    """
    values.pop(key, None)
    values[key] = value
    while len(values) > _MOST_VALUES:
        values.pop(next(iter(values)), None)
