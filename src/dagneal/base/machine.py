"""Cores and memory that this process may use."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dagneal.base.errors import InputError, whole_number

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
_SPARE = 1 << 27  # bytes of free memory that are never used
_SMALL = 1 << 23  # bytes; smaller requests are not checked unless the user set a limit
_DATA = 0.35  # fraction of the needed address space that counts as data segment (ulimit -d)
_THREADS = 1 << 25  # address space in bytes for the thread stacks of one more core
_allowed: dict[str, int | None] = {"jobs": None, "memory": None}
_thread = threading.local()


@contextmanager
def limits(jobs: int | None = None, memory: int | str | None = None) -> Iterator[None]:
    """Limit the cores and the memory of this process, in all threads, until the `with` block ends.

    A computation that needs more memory than the limit uses another method, or raises an error before it begins.
    Polars ignores the limit on cores; set the environment variable `POLARS_MAX_THREADS` before polars is imported.

    Args:
        jobs: number of cores; all available cores by default.
        memory: memory limit of the process, such as "2GB" or a number of bytes; all free memory by default.

    >>> with limits(jobs=1, memory="1GB"):
    ...     cores(), memory_limit() == 10**9
    (1, True)
    """
    before = _allowed.copy()
    if jobs is not None:
        _allowed["jobs"] = whole_number("jobs", jobs, least=1)
    if memory is not None:
        _allowed["memory"] = parse_bytes(memory)
    try:
        yield
    finally:
        _allowed.update(before)


def cores() -> int:
    """Return the number of cores that this thread may use: 1 in a worker thread, else the user's limit or all cores."""
    if getattr(_thread, "is_worker", False):
        return 1
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return available if _allowed["jobs"] is None else _allowed["jobs"]


def mark_worker_thread() -> None:
    """Mark this thread as a worker of a thread pool. `cores` then returns 1 here, which prevents nested thread pools."""
    _thread.is_worker = True


def memory_limit() -> int | None:
    """Return the memory limit set by the user, in bytes; None if the user set no limit."""
    return _allowed["memory"]


def free_memory() -> int:
    """Return the number of bytes that this process may still use, from the user's limit or else from the free memory."""
    allowed = memory_limit()
    if allowed is not None:
        return max(allowed - memory_use(), 0)
    return max(min(_machine_memory(), _address_space()[0] - _address_use()) - _SPARE, 0)


def has_memory(size: float) -> bool:
    """Return whether this process may use `size` more bytes.

    If the user set no limit, small sizes are allowed without a check, because the check is slow.

    Args:
        size: number of bytes.
    """
    return (size <= _SMALL and memory_limit() is None) or size <= free_memory()


def check_memory(size: float, what: str, instead: str) -> None:
    """Raise an error if a computation needs more memory than is free. Call this before the computation.

    Args:
        size: number of bytes that the computation needs.
        what: name of the computation, used as the subject of the message.
        instead: advice at the end of the message, such as "use fewer rows".
    """
    if not has_memory(size):
        available, allowed = format_bytes(free_memory()), memory_limit()
        state = (
            f"{available} are free" if allowed is None else f"{available} of the allowed {format_bytes(allowed)} are left"
        )
        more = "" if allowed is None else "allow more with memory=..., or "
        raise InputError(f"{what} needs about {format_bytes(size)} of memory, but only {state}; {more}{instead}")


def check_address_space(size: float) -> None:
    """Raise an error if the limit of `ulimit -v` or `ulimit -d` is too small.

    Without this check, compiled libraries would abort without a message.

    Args:
        size: number of bytes of address space needed on two cores; this function adds more for further cores.
    """
    needed = size + _THREADS * max(cores() - 2, 0)
    for option, available, least in zip("vd", _address_space(), (needed, needed * _DATA), strict=True):
        if available < least:
            raise InputError(
                f"ulimit -{option} allows {format_bytes(available)} of address space, but {format_bytes(least)} are needed; "
                "raise this limit, or limit the memory with memory=... instead"
            )


def _address_space() -> tuple[int, int]:
    """Return this process's limits (address space, data segment), in bytes; 2**62 means no limit."""
    try:
        import resource
    except ImportError:  # Windows
        return 1 << 62, 1 << 62
    space, data = (resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA))
    unlimited = resource.RLIM_INFINITY
    return 1 << 62 if space == unlimited else space, 1 << 62 if data == unlimited else data


def _address_use() -> int:
    """Return the address space in use by this process, in bytes; 0 if unknown."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, AttributeError):
        return 0


def memory_use() -> int:
    """Return the memory in use by this process, in bytes; 0 if unknown."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, AttributeError):  # not Linux: return the largest use so far
        try:
            import resource
        except ImportError:  # Windows
            return 0
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


@contextmanager
def watch_memory(exceeded: Callable[[str], None], every: float = 0.02) -> Iterator[None]:
    """Call `exceeded` once if the memory use of this process exceeds the user's limit before the `with` block ends.

    Use this if the memory use cannot be predicted for `check_memory`, for example with third-party samplers.

    Args:
        exceeded: function that is called with an error message, in another thread.
        every: seconds between two measurements.
    """
    allowed = memory_limit()
    if allowed is None:
        yield
        return
    stopped, lock = threading.Event(), threading.Lock()

    def watch() -> None:
        while not stopped.wait(every):
            with lock:  # `exceeded` must not be called after the work has ended
                if (now := memory_use()) > allowed and not stopped.is_set():
                    stopped.set()
                    exceeded(
                        f"{format_bytes(now)} of memory are in use, but memory=... allows {format_bytes(allowed)}; "
                        "allow more, or use less data"
                    )

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        with lock:
            stopped.set()


def parse_bytes(size: int | str) -> int:
    """Convert an amount of memory such as "2GB" or "512 MiB" to a number of bytes.

    Args:
        size: text with a number and a unit, or a number of bytes.

    >>> parse_bytes("2GB"), parse_bytes("1.5 GiB"), parse_bytes(1000)
    (2000000000, 1610612736, 1000)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?)B?\s*", str(size).upper())
    if match is None or match[2] not in _UNITS:
        raise InputError(f"{size!r} is not an amount of memory; give an amount such as '2GB' or '512MB'")
    total = int(float(match[1]) * _UNITS[match[2]])
    if not total:
        raise InputError(f"{size!r} is less than 1 byte of memory; give an amount such as '2GB'")
    return total


def format_bytes(size: float) -> str:
    """Return a number of bytes as text with a unit.

    Args:
        size: number of bytes.

    >>> format_bytes(2_415_919_104), format_bytes(30_000_000)
    ('2.4 GB', '30 MB')
    """
    if size >= 1e9:
        return f"{size / 1e9:,.1f} GB"
    if size >= 1e6:
        return f"{size / 1e6:,.0f} MB"
    return f"{size / 1e3:,.0f} kB" if size >= 1e3 else f"{size:.0f} bytes"


def _machine_memory() -> int:
    """Return the free memory of the machine, or of the container if that is smaller, in bytes; 2**62 if unknown."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = int(next(line for line in lines if line.startswith("MemAvailable")).split()[1]) * 1024
    except (OSError, StopIteration):
        return 1 << 62  # unknown: do not refuse any work
    try:
        allowed = int(Path("/sys/fs/cgroup/memory.max").read_text())
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
    except (OSError, ValueError):  # no container, or no limit
        return free
    return min(free, max(allowed - used, 0))
