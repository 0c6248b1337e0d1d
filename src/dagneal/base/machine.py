"""What this process may use of the machine: cores and memory, all there is or what the user allows."""

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
_SPARE = 1 << 27  # of memory that is free, for what nobody foresees
_SMALL = 1 << 23  # bytes that are there without asking
_DATA = 0.35  # the part of the address space that holds data
_THREADS = 1 << 25  # address space for the stacks of one more core's threads
_allowed: dict[str, int | None] = {"jobs": None, "memory": None}
_here = threading.local()


@contextmanager
def limits(jobs: int | None = None, memory: int | str | None = None) -> Iterator[None]:
    """Use only so many cores and so much memory while the context lasts, in all threads of this process.

    Work that would need more is done in another way where there is one, and refused before it begins where there is
    none. Polars reads with all cores, unless the environment says `POLARS_MAX_THREADS` before it is imported.

    Args:
        jobs: how many cores; all that this process may use by default.
        memory: how much memory the process may take, such as "2GB" or a number of bytes; what is free by default.

    >>> with limits(jobs=1, memory="1GB"):
    ...     cores(), limit() == 10**9
    (1, True)
    """
    before = _allowed.copy()
    if jobs is not None:
        _allowed["jobs"] = whole_number("jobs", jobs, least=1)
    if memory is not None:
        _allowed["memory"] = number_of_bytes(memory)
    try:
        yield
    finally:
        _allowed.update(before)


def cores() -> int:
    """How many cores the caller may use: one in a thread that works beside others, else all that are allowed."""
    if getattr(_here, "one_of_many", False):
        return 1
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return there if _allowed["jobs"] is None else _allowed["jobs"]


def one_of_many() -> None:
    """Say that this thread works beside others, so that two levels of threads never fight for the cores."""
    _here.one_of_many = True


def limit() -> int | None:
    """The memory that the user allows, in bytes; None where nothing was said."""
    return _allowed["memory"]


def room() -> int:
    """How many bytes this process may still take: what the user allows less what is used, or what is free."""
    allowed = limit()
    if allowed is not None:
        return max(allowed - memory_use(), 0)
    return max(min(_free(), _address_space()[0] - _address_use()) - _SPARE, 0)


def has_room(size: float) -> bool:
    """Return whether this process may take so many more bytes.

    Args:
        size: the bytes; so few that asking takes longer than using them are always there, unless the user set a limit.
    """
    return (size <= _SMALL and limit() is None) or size <= room()


def check_room(size: float, what: str, instead: str) -> None:
    """Refuse work that needs more memory than there is, before it begins.

    Args:
        size: bytes that it needs.
        what: the work, as the subject of the complaint.
        instead: what to do.
    """
    if not has_room(size):
        there, allowed = room(), limit()
        whose = "are free" if allowed is None else f"are left of the {in_words(allowed)} allowed"
        more = "" if allowed is None else "allow more with memory=..., or "
        raise InputError(f"{what} needs about {in_words(size)} of memory, and {in_words(there)} {whose}; {more}{instead}")


def check_address_space(size: float) -> None:
    """Refuse to start under a limit such as `ulimit -v` that is too small: compiled libraries would abort without a message.

    Args:
        size: bytes of address space that the work needs on two cores; threads of more cores need more.
    """
    needed = size + _THREADS * max(cores() - 2, 0)
    for option, there, least in zip("vd", _address_space(), (needed, needed * _DATA), strict=True):
        if there < least:
            raise InputError(
                f"ulimit -{option} leaves this process {in_words(there)} of address space, and it needs {in_words(least)}, "
                "though less memory; raise that limit, or limit the memory with memory=... instead"
            )


def _address_space() -> tuple[int, int]:
    """The limits on the address space of this process and on the data in it, in bytes; very large where there is none."""
    try:
        import resource
    except ImportError:  # Windows
        return 1 << 62, 1 << 62
    space, data = (resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA))
    endless = resource.RLIM_INFINITY
    return 1 << 62 if space == endless else space, 1 << 62 if data == endless else data


def _address_use() -> int:
    """The address space that this process uses now, in bytes; 0 where that is not known."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, AttributeError):
        return 0


def memory_use() -> int:
    """The memory that this process holds now, in bytes."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, AttributeError):  # no Linux: the most it ever held
        try:
            import resource
        except ImportError:  # Windows: not known
            return 0
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


@contextmanager
def watch_memory(exceeded: Callable[[str], None], every: float = 0.02) -> Iterator[None]:
    """Look at the memory of this process now and then, and call `exceeded` once if it holds more than the user allows.

    Estimates come first, see `check_room`; this is for what they do not foresee, such as a sampler from elsewhere.

    Args:
        exceeded: called in another thread with a line that says how much is held.
        every: seconds between two looks.
    """
    allowed = limit()
    if allowed is None:
        yield
        return
    over, ending = threading.Event(), threading.Lock()

    def watch() -> None:
        while not over.wait(every):
            with ending:  # never after the work has ended
                if (now := memory_use()) > allowed and not over.is_set():
                    over.set()
                    exceeded(
                        f"{in_words(now)} are more than the {in_words(allowed)} of memory=...; allow more, or use less data"
                    )

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        with ending:
            over.set()


def number_of_bytes(size: int | str) -> int:
    """A size such as "2GB" or "512 MiB" as a number of bytes.

    Args:
        size: a number with or without a unit; a number alone is in bytes.

    >>> number_of_bytes("2GB"), number_of_bytes("1.5 GiB"), number_of_bytes(1000)
    (2000000000, 1610612736, 1000)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?)B?\s*", str(size).upper())
    if found is None or found[2] not in _UNITS:
        raise InputError(f"{size!r} is no amount of memory; give one such as 2GB or 512MB")
    total = int(float(found[1]) * _UNITS[found[2]])
    if not total:
        raise InputError(f"{size!r} is no memory at all; give an amount such as 2GB")
    return total


def in_words(size: float) -> str:
    """A number of bytes as people say it.

    Args:
        size: the number.

    >>> in_words(2_415_919_104), in_words(30_000_000)
    ('2.4 GB', '30 MB')
    """
    if size >= 1e9:
        return f"{size / 1e9:,.1f} GB"
    if size >= 1e6:
        return f"{size / 1e6:,.0f} MB"
    return f"{size / 1e3:,.0f} kB" if size >= 1e3 else f"{size:.0f} bytes"


def _free() -> int:
    """Free memory of the machine, or of the container that this process is in, in bytes."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        found = int(next(line for line in lines if line.startswith("MemAvailable")).split()[1]) * 1024
    except (OSError, StopIteration):
        return 1 << 62  # not known here: let it be tried
    try:
        most = int(Path("/sys/fs/cgroup/memory.max").read_text())
        now = int(Path("/sys/fs/cgroup/memory.current").read_text())
    except (OSError, ValueError):  # no container, or one without a limit
        return found
    return min(found, max(most - now, 0))
