"""How kernels are compiled, and how they are run in threads.

Kernels are cached on disk, release the GIL and never start threads of their own: a caller that has many pieces of
work hands them to `run_threads`, so that two levels of threads never fight for the cores.

A kernel inlines functions and constants of other modules, but Numba's own cache only checks the file that defines it. So the
cache folder is named after the text of all kernel modules: after any change to them, all kernels are compiled anew. A kernel
may only use functions and constants of such modules; a test checks this.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import caching
from numpy.typing import NDArray

from dagneal.base import machine
from dagneal.base.caches import first_writable, temporary_cache_folder, user_cache_folder

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Masks = NDArray[np.uint64]
Codes = NDArray[np.unsignedinteger[Any]]

Progress = Callable[[str, int, int], None]
"""Called with the name of a stage, how many of its parts are done, and how many there are."""


_PACKAGE = Path(__file__).parent.parent
_FOLDER = "kernels-"  # and a hash of the kernel modules


def kernel(function: F) -> F:
    """Compile a function with Numba: cached on disk where a folder can be written, without the GIL."""
    compiled: F = numba.njit(nogil=True)(function)
    if cache_folder() is not None:
        compiled._cache = _KernelCache(function)  # type: ignore[attr-defined]
    return compiled


def kernel_modules(package: Path = _PACKAGE) -> list[Path]:
    """The modules of a package whose text decides what its kernels compute: this one, and those that use `kernel`.

    Args:
        package: the folder of the package.
    """
    here = Path(__file__).name  # it has the options of the compiler
    return sorted(path for path in package.rglob("*.py") if path.name == here or b"@kernel" in path.read_bytes())


@cache
def cache_folder() -> Path | None:
    """The folder of the compiled kernels; None where no folder can be written or there is no source text to check.

    The folder lies beside the code, or in the user's cache folder, or in the temporary folder. Folders of earlier versions
    of the code beside it are removed.
    """
    modules = kernel_modules()
    if not modules:
        return None
    text = blake2b(digest_size=10)
    for path in modules:
        text.update(b"\0".join([str(path.relative_to(_PACKAGE)).encode(), path.read_bytes(), b""]))
    folder = first_writable(parent / f"{_FOLDER}{text.hexdigest()}" for parent in _parents())
    for other in folder.parent.glob(f"{_FOLDER}*") if folder is not None else ():
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
    return folder


def _parents() -> Iterator[Path]:
    """Where the folder of compiled kernels may lie, best first; a name per installation keeps these apart."""
    here = f"code-{blake2b(str(_PACKAGE).encode(errors='surrogateescape'), digest_size=10).hexdigest()}"
    if numba.config.CACHE_DIR:
        yield Path(numba.config.CACHE_DIR) / here
    yield _PACKAGE / "__pycache__"
    yield user_cache_folder() / here
    if temporary := first_writable([temporary_cache_folder()]):  # checked itself: others can write beside it
        yield temporary / here


class _Locator(caching._CacheLocator):  # type: ignore[misc]
    """Tells Numba where a kernel is cached. The folder stands for the text of the kernel, so the stamp is constant."""

    def __init__(self, function: Callable[..., Any], path: str) -> None:
        self._py_file = path  # Numba's own name, which its warnings use
        self._place = f"{function.__module__}-{function.__code__.co_firstlineno}"

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return self._place

    @classmethod
    def from_function(cls, function: Callable[..., Any], path: str) -> "_Locator":
        return cls(function, path)


class _Implementation(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class _KernelCache(caching.FunctionCache):  # type: ignore[misc]
    """Numba's cache, but a file that cannot be read or written costs a compilation, not the run."""

    _impl_class = _Implementation

    def load_overload(self, signature: Any, target: Any) -> Any:
        try:
            return super().load_overload(signature, target)
        except Exception:  # unpickling damaged bytes can raise anything
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        with suppress(Exception):  # a full disk, a folder that another version removed, a damaged index
            super().save_overload(signature, data)


def on_first_compilation(say: Callable[[], None]) -> None:
    """Call `say` once, when a kernel is about to be compiled and not merely loaded from the cache."""
    from numba.core import event

    class FirstCompilation(event.Listener):  # type: ignore[misc]
        said = False

        def on_start(self, _: Any) -> None:
            if not self.said:
                self.said = True
                say()

        def on_end(self, _: Any) -> None:
            pass

    event.register("numba:compile", FirstCompilation())


def run_threads(
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

    def collect(results: Iterable[Any]) -> list[Any]:
        collected = []
        for result in results:
            collected.append(result)
            if progress is not None:
                progress(stage, len(collected), len(pieces))
        return collected

    workers = min(workers or machine.cores(), len(pieces))
    if workers <= 1:
        return collect(map(work, pieces))
    with ThreadPoolExecutor(workers, initializer=machine.one_of_many) as pool:
        return collect(pool.map(work, pieces))
