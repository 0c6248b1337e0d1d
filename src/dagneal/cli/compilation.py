"""Compile kernels in advance, in parallel processes.

Numba compiles only one function at a time in a process. So the kernels are divided into parts, and each part is compiled in
a process of its own (see `compiled_parts`). A file in the cache folder records that a part is finished. If a process fails
or is stopped, this file is missing, so the next command compiles the part again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from time import sleep, time
from typing import IO

import numba
from numba.core.registry import cpu_target

import dagneal
from dagneal.base import machine
from dagneal.base.kernels import Progress

LEARNING = ("search", "count")  # parts that `dagneal learn` needs with the default solver; the slowest part first
PROVING = ("prove",)  # parts that proofs need; they use kernels of the first parts
OTHERS = ("anneal", "solve")  # parts that use kernels of the first parts, and are therefore compiled after them
_WAIT = 0.02  # seconds between two looks at the running processes
_PATIENCE = 20.0  # seconds to wait for a part that another command compiles in the background


def is_compiled(folder: Path, parts: Sequence[str]) -> bool:
    """Return whether all kernels of some parts are in the cache.

    Args:
        folder: result of `cache_folder`.
        parts: names of parts.
    """
    return all(_record(folder, part).exists() for part in parts)


def compile_parts(folder: Path, parts: Sequence[str], progress: Progress | None = None) -> list[str]:
    """Compile the parts that are not compiled yet, one process for each, and as many processes at a time as cores.

    Args:
        folder: result of `cache_folder`.
        parts: names of parts that need nothing from each other.
        progress: function that is called after each part.

    Returns:
        One message for each part that failed.
    """
    waiting = [part for part in parts if not is_compiled(folder, [part])]
    total, failures = len(waiting), list[str]()
    running: list[tuple[str, subprocess.Popen[bytes], IO[bytes]]] = []
    try:
        while waiting or running:
            while waiting and len(running) < machine.cores():
                part = waiting.pop(0)
                try:
                    running.append(_start(part))
                except OSError as error:
                    failures.append(f"{part}: {error}")
            sleep(_WAIT)
            for finished in [entry for entry in running if entry[1].poll() is not None]:
                running.remove(finished)
                part, process, errors = finished
                if process.returncode == 0:
                    record_part(folder, part)
                else:
                    failures.append(f"{part}: {_last_line(errors) or f'exit status {process.returncode}'}")
                errors.close()
                if progress is not None:
                    progress("compilation", total - len(waiting) - len(running), total)
    finally:  # after Ctrl-C
        for _, process, errors in running:
            process.kill()
            process.wait()
            errors.close()
    return failures


def compile_later(folder: Path, part: str) -> None:
    """Compile a part in the background. The process goes on when this command ends, for some seconds.

    Args:
        folder: result of `cache_folder`.
        part: name of a part.
    """
    if is_compiled(folder, [part]):
        return
    with suppress(OSError):  # the part is compiled later, when it is needed
        _record(folder, part).with_suffix(".started").touch()
        quiet = subprocess.DEVNULL
        command, environment = _command(part)
        process = subprocess.Popen(
            [*command, "record"], stdin=quiet, stdout=quiet, stderr=quiet, env=environment, start_new_session=True
        )
        process.returncode = 0  # otherwise Python warns that the process still runs


def wait_for_part(folder: Path, part: str) -> None:
    """Wait for a part that another command compiles in the background, if any.

    Args:
        folder: result of `cache_folder`.
        part: name of a part.
    """
    started = _record(folder, part).with_suffix(".started")
    with suppress(OSError):
        while not is_compiled(folder, [part]) and time() - started.stat().st_mtime < _PATIENCE:
            sleep(_WAIT)


def record_part(folder: Path, part: str) -> None:
    """Record that a part is compiled.

    Args:
        folder: result of `cache_folder`.
        part: name of a part.
    """
    with suppress(OSError):  # another version of the code may have deleted the folder
        _record(folder, part).touch()


def _command(part: str) -> tuple[list[str], dict[str, str]]:
    """Return the command that compiles a part, and its environment."""
    source = str(Path(dagneal.__file__).parent.parent)
    path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    # -P: a module in the current folder must not replace a module that the process imports.
    command = [sys.executable, "-P", "-m", "dagneal.cli.compiled_parts", part]
    return command, os.environ | {"PYTHONPATH": path, "NUMBA_CACHE_DIR": numba.config.CACHE_DIR}


def _start(part: str) -> tuple[str, subprocess.Popen[bytes], IO[bytes]]:
    """Start the process of a part. Return the part, the process and the file with its error messages."""
    errors = tempfile.TemporaryFile()  # noqa: SIM115
    command, environment = _command(part)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, env=environment)
    return part, process, errors


def _last_line(errors: IO[bytes]) -> str:
    """Return the last line of a file; an empty text if the file is empty."""
    errors.seek(0)
    lines = errors.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _record(folder: Path, part: str) -> Path:
    """Return the path of the file that records that a part is compiled for this processor, Python and Numba."""
    versions = sys.implementation.cache_tag, numba.__version__, cpu_target.target_context.codegen().magic_tuple()
    return folder / f"{part}-{blake2b(repr(versions).encode(), digest_size=8).hexdigest()}.compiled"
