"""Executors: pieces of work over the standard interface, with what all of them need sent once to each worker.

Most executors cannot send something to all of their workers, and do not say which of them a piece goes to. So a piece comes
with the fingerprint of what it needs; a worker that does not have it says so, and the piece comes again, with it. Threads
and processes, Ray and MPI are equals by this. With Dask it is a task that all pieces depend on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True)
class Wanted:
    """What a worker says that does not have it."""

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
        executor: with an attribute `workers`, or one of Python's own.
    """
    said = getattr(executor, "workers", None) or getattr(executor, "_max_workers", None)
    return int(said) if said else cores()


def first_done(executor: Executor, waiting: Iterable[Future[Any]]) -> set[Future[Any]]:
    """Those that are done, at least one; an executor that can tell that it has no workers any more is asked now and then.

    Args:
        executor: with a method `check` that raises `LostError`, or any other.
        waiting: what was handed out.
    """
    while not (done := wait(waiting, timeout=_LOOK, return_when=FIRST_COMPLETED).done):
        if hasattr(executor, "check"):
            executor.check()
    return done


def result_of(executor: Executor, future: Future[Any]) -> Any:
    """What a piece gave, or raised; `LostError` where the executor did not do it.

    Args:
        executor: it may have a `name`, and in `lost` errors of its own for that.
        future: of a piece that nobody here gave up.
    """
    try:
        return future.result()
    except (CancelledError, BrokenExecutor, *getattr(executor, "lost", ())) as error:
        raise LostError(f"{_named(executor)} gave up pieces of the run", error) from error


def submitted(executor: Executor, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Hand out a call; `LostError` where the executor takes no more.

    Args:
        executor: where.
        function: what to call.
        arguments: with what.
    """
    try:
        return executor.submit(function, *arguments)
    except (RuntimeError, BrokenExecutor) as error:
        raise LostError(f"{_named(executor)} takes no more work", error) from error


def _named(executor: Executor) -> str:
    return str(getattr(executor, "name", f"the {type(executor).__name__}"))


def give_up(waiting: Iterable[Future[Any]], lost: bool) -> None:
    """Take back what has not begun, and wait for what has.

    Args:
        waiting: what was handed out.
        lost: whether there may be nobody to end it.
    """
    for future in waiting:
        future.cancel()
    wait(waiting, timeout=_GRACE if lost else None)


def spread(
    executor: Executor,
    shared: Shared,
    function: Callable[..., Any],
    pieces: Iterable[tuple[Any, ...]],
    done: Callable[[tuple[Any, ...], Any], None],
) -> None:
    """Call `function(shared.value, *piece)` for every piece, wherever the executor does.

    A few pieces are handed out at a time. What a piece raises is raised here, and no others are begun.

    Args:
        executor: where; one with a method `share` gives something that becomes the value in its workers.
        shared: what all pieces need.
        function: of a module, so that other processes find it.
        pieces: the further arguments of each call.
        done: told each piece and its result, as they come in, in the thread of the caller.
    """
    keep(_held, shared.key, shared.value)  # for threads, which need nothing sent
    most = _AHEAD * workers_of(executor)
    waiting: dict[Future[Any], tuple[Any, ...]] = {}
    everywhere = executor.share(shared) if hasattr(executor, "share") else None

    def submit(piece: tuple[Any, ...]) -> None:
        if everywhere is None:
            waiting[submitted(executor, _call, shared.key, function, piece)] = piece
        else:
            waiting[submitted(executor, _call_with, shared.key, everywhere, function, piece)] = piece

    def collect() -> None:
        for future in first_done(executor, waiting):
            piece = waiting.pop(future)
            result = result_of(executor, future)
            if isinstance(result, Wanted):
                waiting[submitted(executor, _call_with, shared.key, shared.value, function, piece)] = piece
            else:
                done(piece, result)

    try:
        for piece in pieces:
            submit(piece)
            while len(waiting) >= most:
                collect()
        while waiting:
            collect()
    except BaseException as error:
        give_up(waiting, lost=isinstance(error, LostError))
        if isinstance(error, KeyboardInterrupt):  # what has begun is finished and kept
            for future, piece in waiting.items():
                if not (future.cancelled() or future.exception()) and not isinstance(future.result(), Wanted):
                    done(piece, future.result())
        raise


def _call(key: str, function: Callable[..., Any], piece: tuple[Any, ...]) -> Any:
    value = _held.get(key, _NOTHING)  # in one step: another thread may drop it
    return Wanted(key) if value is _NOTHING else function(value, *piece)


def _call_with(key: str, value: Any, function: Callable[..., Any], piece: tuple[Any, ...]) -> Any:
    keep(_held, key, value)
    return function(value, *piece)


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
