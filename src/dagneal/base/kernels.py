"""Compile kernels with Numba, and run them in threads.

A kernel is a function that Numba compiles. Kernels are cached on disk and release the GIL. They never start threads. A
caller that has many tasks passes them to `run_threads`, which prevents nested thread pools.

A kernel creates no arrays. Its caller passes the arrays for results and for working memory. Code for the creation of arrays,
and for counting references to them, would take a fifth of the time of the compilation. Numba refuses to compile a `kernel`
that creates an array. The few kernels that do use `kernel_with_arrays` instead.

Compiled kernels contain functions and constants of other modules, but Numba's cache checks only the file that defines the
kernel. So the name of our cache folder contains a hash of the source of all kernel modules (see `kernel_modules`). After any
change of these modules, all kernels are recompiled. A kernel may only use functions and constants of kernel modules; a test
checks this.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import caching
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.runtime import rtsys
from numba.core.types.misc import unliteral
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
"""Function that is called with the name of a stage, the number of finished tasks and the number of all tasks."""


_PACKAGE = Path(__file__).parent.parent
_FOLDER = "kernels-"  # name of the cache folder, followed by a hash of the kernel modules


def kernel(function: F) -> F:
    """Compile a function with Numba that creates no arrays. It releases the GIL, and is cached on disk if possible."""
    return _compile(function, arrays=False)


def kernel_with_arrays(function: F) -> F:
    """Compile a function like `kernel`. The function may create arrays and return them, but takes longer to compile."""
    return _compile(function, arrays=True)


def _compile(function: F, arrays: bool) -> F:
    """Return the compiled function, which is compiled when it is first called."""
    options = {"nogil": True, "no_cfunc_wrapper": True}
    if not arrays:  # without the Numba runtime (NRT), no array can be created, and references are not counted
        options["_nrt"] = False
    compiled: Any = numba.njit(**options)(function)
    _separate_calls(compiled, options)
    if cache_folder() is not None:
        compiled._cache = _KernelCache(function)
    return cast(F, compiled)


def _separate_calls(compiled: Any, options: dict[str, bool]) -> None:
    """Compile a kernel separately for calls from other kernels, which takes less time.

    Such calls need no wrapper that converts Python objects, and no machine code of their own: the code becomes a part of the
    calling kernel. Both save about 15 percent of the time. Numba would also compile a kernel again for each constant
    argument, such as 0, which doubles the time. The separate version is compiled once for each combination of argument
    types.
    """

    @cache
    def inner() -> Any:
        return numba.njit(pipeline_class=_InnerCompiler, no_cpython_wrapper=True, **options)(compiled.py_func)

    def get_call_template(arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        plain = [unliteral(argument) for argument in arguments]
        return inner().get_call_template(plain, {name: unliteral(argument) for name, argument in keywords.items()})

    def get_overload(signature: Any) -> Any:
        return inner().get_overload(signature)

    compiled.get_call_template, compiled.get_overload = get_call_template, get_overload


class _InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code of a kernel that only other kernels call. It is optimised and translated to machine code as a part of theirs."""

    @property
    def codegen(self) -> "_InnerLibrary":
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: the code has no address yet. Only exceptions with computed arguments would need the environment."""

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: no function can be called from Python."""
        return 0

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _InnerCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, for kernels that only other kernels call."""

    def __init__(self, typing: Any, target: Any, _: Any, *others: Any) -> None:
        super().__init__(typing, target, _InnerLibrary(target.codegen(), "inner"), *others)


def kernel_modules(package: Path = _PACKAGE) -> list[Path]:
    """Return the files of the kernel modules: this module and all modules that use `@kernel`.

    Args:
        package: folder of the package.
    """
    this = Path(__file__).name  # contains the compiler options
    return sorted(path for path in package.rglob("*.py") if path.name == this or b"@kernel" in path.read_bytes())


@cache
def cache_folder() -> Path | None:
    """Return the folder for compiled kernels; None if no folder is writable or the package has no source files.

    The function tries these places in order: `NUMBA_CACHE_DIR`, the folder of the code, the user's cache folder, and the
    temporary folder. It uses the first that is writable, and deletes the caches of earlier versions of the code there.
    """
    modules = kernel_modules()
    if not modules:
        return None
    source_hash = blake2b(digest_size=10)
    for path in modules:
        source_hash.update(b"\0".join([str(path.relative_to(_PACKAGE)).encode(), path.read_bytes(), b""]))
    folder = first_writable(parent / f"{_FOLDER}{source_hash.hexdigest()}" for parent in _parent_folders())
    for other in folder.parent.glob(f"{_FOLDER}*") if folder is not None else ():
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
    return folder


def _parent_folders() -> Iterator[Path]:
    """Yield the folders in which the cache folder may be created, best first.

    Several installations of dagneal may share a folder, so each installation has a subfolder in it.
    """
    installation = f"code-{blake2b(str(_PACKAGE).encode(errors='surrogateescape'), digest_size=10).hexdigest()}"
    if numba.config.CACHE_DIR:
        yield Path(numba.config.CACHE_DIR) / installation
    yield _PACKAGE / "__pycache__"
    yield user_cache_folder() / installation
    if temporary := first_writable([temporary_cache_folder()]):  # its parent is shared with other users, so check it too
        yield temporary / installation


class _Locator(caching._CacheLocator):  # type: ignore[misc]
    """Passes the cache folder to Numba. Numba need not detect changed code, because changed code has another folder."""

    def __init__(self, function: Callable[..., Any], path: str) -> None:
        self._py_file = path  # Numba's warnings use this attribute
        self._position = f"{function.__module__}-{function.__code__.co_firstlineno}"

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return self._position

    @classmethod
    def from_function(cls, function: Callable[..., Any], path: str) -> "_Locator":
        return cls(function, path)


class _Implementation(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class _KernelCache(caching.FunctionCache):  # type: ignore[misc]
    """A variant of Numba's cache without errors. An unreadable kernel is recompiled, and a failed save is ignored.

    Numba's cache prepares the compiler before it loads a function, which takes 0.4 s. Loading needs only the runtime.
    """

    _impl_class = _Implementation

    def load_overload(self, signature: Any, target: Any) -> Any:
        try:
            rtsys.initialize(target)
            return self._load_overload(signature, target)
        except Exception:  # unpickling damaged data can raise any exception
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        with suppress(Exception):  # full disk, folder deleted by another version, damaged index
            super().save_overload(signature, data)


def on_first_compilation(callback: Callable[[], None]) -> None:
    """Register a function that is called once, before the first kernel that is not in the cache is compiled."""
    from numba.core import event

    class FirstCompilation(event.Listener):  # type: ignore[misc]
        called = False

        def on_start(self, _: Any) -> None:
            if not self.called:
                self.called = True
                callback()

        def on_end(self, _: Any) -> None:
            pass

    event.register("numba:compile", FirstCompilation())


def run_threads(
    work: Callable[[T], Any],
    tasks: Sequence[T],
    workers: int | None = None,
    stage: str = "",
    progress: Progress | None = None,
) -> list[Any]:
    """Call `work` for every task, in threads, and return the results in the order of the tasks.

    Args:
        work: function that spends most of its time in kernels, which release the GIL.
        tasks: arguments of `work`, one per call.
        workers: number of threads; by default one per core, or 1 if the calling thread is already a worker.
        stage: name of the work, which is passed to `progress`.
        progress: function that is called after each result with `stage`, the number of results and the number of tasks.
    """

    def collect(results: Iterable[Any]) -> list[Any]:
        collected = []
        for result in results:
            collected.append(result)
            if progress is not None:
                progress(stage, len(collected), len(tasks))
        return collected

    workers = min(workers or machine.cores(), len(tasks))
    if workers <= 1:
        return collect(map(work, tasks))
    with ThreadPoolExecutor(workers, initializer=machine.mark_worker_thread) as pool:
        return collect(pool.map(work, tasks))
