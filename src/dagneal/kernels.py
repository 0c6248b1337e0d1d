"""How kernels are compiled, and how they are run in threads.

Kernels are cached on disk, release the GIL and never start threads of their own: a caller that has many pieces of
work hands them to `run`, so that two levels of threads never fight for the cores.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

from dagneal import machine

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Masks = NDArray[np.uint64]
Codes = NDArray[np.unsignedinteger[Any]]

Progress = Callable[[str, int, int], None]
"""Called with the name of a stage, how many of its parts are done, and how many there are."""


def kernel(function: F) -> F:
    """Compile a function with Numba: cached on disk, without the GIL."""
    compiled: F = numba.njit(cache=True, nogil=True)(function)
    return compiled


def on_first_compilation(say: Callable[[], None]) -> None:
    """Call `say` once, when a kernel is about to be compiled and not merely loaded from the cache."""
    from numba.core import event

    class Once(event.Listener):  # type: ignore[misc]
        said = False

        def on_start(self, _: Any) -> None:
            if not self.said:
                self.said = True
                say()

        def on_end(self, _: Any) -> None:
            pass

    event.register("numba:compile", Once())


def run(
    work: Callable[[T], Any],
    pieces: Sequence[T],
    workers: int | None = None,
    stage: str = "",
    progress: Progress | None = None,
) -> list[Any]:
    """Run `work` on every piece, in threads, and return the results in the order of the pieces.

    Args:
        work: a function that spends its time in kernels, which release the GIL.
        pieces: its arguments, one call each.
        workers: number of threads; by default all cores, and one inside the work of others.
        stage: what to call the work in progress.
        progress: told after each result how many there are.
    """

    def told(results: Iterable[Any]) -> list[Any]:
        collected = []
        for result in results:
            collected.append(result)
            if progress is not None:
                progress(stage, len(collected), len(pieces))
        return collected

    workers = min(workers or machine.cores(), len(pieces))
    if workers <= 1:
        return told(map(work, pieces))
    with ThreadPoolExecutor(workers, initializer=machine.one_of_many) as pool:
        return told(pool.map(work, pieces))
