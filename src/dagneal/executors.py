"""Executors: pieces of work over the standard interface, with what all of them need sent once to each worker.

An executor cannot send something to all of its workers, and does not say which of them a piece goes to. So a piece comes
with the fingerprint of what it needs; a worker that does not have it says so, and the piece comes again, with it. Threads
and processes, Dask, Ray and MPI are equals by this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dagneal.machine import cores, one_of_many

_AHEAD = 4  # pieces handed out for each worker
_MOST = 4  # things that a worker keeps
_held: dict[str, Any] = {}


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
        executor: where.
        shared: what all pieces need.
        function: of a module, so that other processes find it.
        pieces: the further arguments of each call.
        done: told each piece and its result, as they come in, in the thread of the caller.
    """
    _keep(shared.key, shared.value)  # for threads, which need nothing sent
    most = _AHEAD * workers_of(executor)
    waiting: dict[Future[Any], tuple[Any, ...]] = {}

    def collect() -> None:
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            piece = waiting.pop(future)
            result = future.result()
            if isinstance(result, Wanted):
                waiting[executor.submit(_call_with, shared.key, shared.value, function, piece)] = piece
            else:
                done(piece, result)

    try:
        for piece in pieces:
            waiting[executor.submit(_call, shared.key, function, piece)] = piece
            while len(waiting) >= most:
                collect()
        while waiting:
            collect()
    except BaseException as error:
        for future in waiting:
            future.cancel()
        if isinstance(error, KeyboardInterrupt):  # what has begun is finished and kept
            wait(waiting)
            for future, piece in waiting.items():
                if not (future.cancelled() or future.exception()) and not isinstance(future.result(), Wanted):
                    done(piece, future.result())
        raise


def _call(key: str, function: Callable[..., Any], piece: tuple[Any, ...]) -> Any:
    return function(_held[key], *piece) if key in _held else Wanted(key)


def _call_with(key: str, value: Any, function: Callable[..., Any], piece: tuple[Any, ...]) -> Any:
    _keep(key, value)
    return function(value, *piece)


def _keep(key: str, value: Any) -> None:
    _held[key] = value
    while len(_held) > _MOST:
        _held.pop(next(iter(_held)), None)
