"""Executors: pieces of work over the standard interface, with what all of them need sent once to each worker.

Most executors cannot send something to all of their workers, and do not say which of them a piece goes to. So a piece comes
with the fingerprint of what it needs; a worker that does not have it says so, and the piece comes again, with it. Threads
and processes, Ray and MPI are equals by this. With Dask it is a task that all pieces depend on.
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
from dagneal.base.machine import cores, one_of_many

_AHEAD = 4  # pieces handed out for each worker
_MOST = 4  # things that a worker keeps
_LOOK = 2.0  # seconds without news until an executor is asked whether it still has workers
_GRACE = 5.0  # seconds for what has begun to end, where workers are lost
_held: dict[str, Any] = {}
_NOTHING = object()


@dataclass(frozen=True, eq=False)
class Shared:
    """Something that many pieces need.

    Args:
        key: its fingerprint.
        value: what it is; it is pickled where workers are other processes.
    """

    key: str
    value: Any

    @classmethod
    def of(cls, value: Any) -> Shared:
        """Share a value under its own fingerprint, or under a new one if it has none.

        Args:
            value: what many tasks need.
        """
        return cls(value.fingerprint if isinstance(value, Fingerprinted) else uuid4().hex, value)


@runtime_checkable
class Fingerprinted(Protocol):
    """A value with a text that only equal values share."""

    @property
    def fingerprint(self) -> str:
        """The text."""
        ...


@runtime_checkable
class Submitting(Protocol):
    """Anything that takes calls, as `concurrent.futures.Executor` does; executors of other libraries need not inherit it."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
        """Take a call, and return its future.

        Args:
            function: what to call.
            arguments: of the call.
            keywords: of the call.
        """
        ...


@runtime_checkable
class Sharing(Protocol):
    """An executor that can send a value to all of its workers."""

    def share(self, shared: Shared) -> Any:
        """Return what becomes the value in the arguments of a call.

        Args:
            shared: the value.
        """
        ...


@runtime_checkable
class Watching(Protocol):
    """An executor that knows whether it still has workers."""

    def check(self) -> None:
        """Raise `LostError` if it has none."""
        ...


@runtime_checkable
class Sized(Protocol):
    """An executor that knows the number of its workers."""

    @property
    def workers(self) -> int:
        """The number of tasks at a time."""
        ...


@runtime_checkable
class Remote(Protocol):
    """An executor whose workers can be lost."""

    @property
    def name(self) -> str:
        """The name in messages."""
        ...

    @property
    def lost(self) -> tuple[type[BaseException], ...]:
        """The errors of tasks that were lost with a worker."""
        ...


@runtime_checkable
class Cancellable(Protocol):
    """A task function whose calls can end early."""

    def cancel(self) -> None:
        """End the calls that have begun."""
        ...


@dataclass(frozen=True)
class Wanted:
    """Reply of a worker that lacks the shared value."""

    key: str


class LostError(InputError):
    """The workers are gone that had pieces to do, or the executor gave them up."""

    def __init__(self, what: str, cause: BaseException | None = None) -> None:
        why = str(cause or "").split(". ")[0]  # the first sentence
        said = f"{what}: {why}" if why else what
        super().__init__(f"{said}; what was finished is in the journal, if there is one: run it again to go on from there")


@contextmanager
def pool_of(executor: Executor | None, workers: int | None = None) -> Iterator[Executor]:
    """The executor, or threads of our own, which are gone when the context ends.

    Args:
        executor: nothing for threads.
        workers: how many threads; all cores by default.
    """
    if executor is not None:
        yield executor
        return
    pool = ThreadPoolExecutor(workers or cores(), initializer=one_of_many)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def workers_of(executor: Executor) -> int:
    """How many workers an executor has, as far as it says.

    Args:
        executor: a `Sized` one, or one of Python's own.
    """
    if isinstance(executor, Sized):
        return executor.workers
    own = isinstance(executor, ThreadPoolExecutor | ProcessPoolExecutor)
    return int(executor._max_workers) if own else cores()  # type: ignore[attr-defined]  # Python has no public name for it


def first_done(executor: Executor, waiting: Iterable[Future[Any]]) -> set[Future[Any]]:
    """Those that are done, at least one; an executor that can tell that it has no workers any more is asked now and then.

    Args:
        executor: with a method `check` that raises `LostError`, or any other.
        waiting: what was handed out.
    """
    while not (done := wait(waiting, timeout=_LOOK, return_when=FIRST_COMPLETED).done):
        if isinstance(executor, Watching):
            executor.check()
    return done


def result_of(executor: Executor, future: Future[Any]) -> Any:
    """What a piece gave, or raised; `LostError` where the executor did not do it.

    Args:
        executor: a `Remote` one has errors of its own for that.
        future: of a piece that nobody here gave up.
    """
    lost: tuple[type[BaseException], ...] = (CancelledError, BrokenExecutor)
    if isinstance(executor, Remote):
        lost += executor.lost
    try:
        return future.result()
    except lost as error:
        raise LostError(f"{_name_of(executor)} gave up pieces of the run", error) from error


def submit_call(executor: Executor, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Hand out a call; `LostError` where the executor takes no more.

    Args:
        executor: where.
        function: what to call.
        arguments: with what.
    """
    try:
        return executor.submit(function, *arguments)
    except (RuntimeError, BrokenExecutor) as error:
        raise LostError(f"{_name_of(executor)} takes no more work", error) from error


def _name_of(executor: Executor) -> str:
    return executor.name if isinstance(executor, Remote) else f"the {type(executor).__name__}"


def give_up(waiting: Iterable[Future[Any]], lost: bool) -> None:
    """Take back what has not begun, and wait for what has.

    Args:
        waiting: what was handed out.
        lost: whether there may be nobody to end it.
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
    given_up: type[BaseException] = KeyboardInterrupt,
) -> None:
    """Call `function(shared.value, content)` for every chunk, wherever the executor does, and record the results.

    Few chunks are handed out at a time, so that memory does not grow with their number. If a call raises, or on Ctrl-C, no
    further chunks begin. Those that have begun are finished and recorded, and then the error is raised.

    Args:
        executor: where; a `Sharing` one sends the shared value to its workers in its own way.
        function: defined in a module, so that other processes find it; if it is `Cancellable`, calls that have begun can end
            early.
        chunks: pairs of a label and the content of a call.
        record: called with a label and its result, as results come in, in the thread of the caller.
        shared: what all calls need.
        given_up: the errors after which calls that have begun are cancelled.
    """
    keep(_held, shared.key, shared.value)  # for threads, which need nothing sent
    most = _AHEAD * workers_of(executor)
    waiting: dict[Future[Any], tuple[Any, Any]] = {}
    everywhere = executor.share(shared) if isinstance(executor, Sharing) else None

    def submit(chunk: tuple[Any, Any]) -> None:
        if everywhere is None:
            waiting[submit_call(executor, _call, shared.key, function, chunk[1])] = chunk
        else:
            waiting[submit_call(executor, _call_with, shared.key, everywhere, function, chunk[1])] = chunk

    def collect() -> None:
        for future in first_done(executor, waiting):
            chunk = waiting.pop(future)
            result = result_of(executor, future)
            if isinstance(result, Wanted):
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
        if isinstance(function, Cancellable) and isinstance(error, given_up):
            function.cancel()
        give_up(waiting, lost=isinstance(error, LostError))
        for future, (label, _) in waiting.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                result = future.result()
                if not isinstance(result, Wanted):
                    record(label, result)
        raise
    finally:
        _held.pop(shared.key, None)  # a large value is not kept longer than needed


def _call(key: str, function: Callable[[Any, Any], Any], content: Any) -> Any:
    value = _held.get(key, _NOTHING)  # in one step: another thread may drop it
    return Wanted(key) if value is _NOTHING else function(value, content)


def _call_with(key: str, value: Any, function: Callable[[Any, Any], Any], content: Any) -> Any:
    keep(_held, key, value)
    return function(value, content)


def keep(held: dict[str, Any], key: str, value: Any) -> None:
    """Put something into a store that keeps the few things that were put there last.

    Args:
        held: the store.
        key: what it is called.
        value: what it is.
    """
    held.pop(key, None)
    held[key] = value
    while len(held) > _MOST:
        held.pop(next(iter(held)), None)
