"""The command line `dagneal`."""

from __future__ import annotations

import _thread
import argparse
import atexit
import gc
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from dagneal.base.errors import InputError, SecondaryWarning
from dagneal.cli.streams import discard, open_streams, write_message
from dagneal.cli.translation import translate

_ADDRESS_SPACE, _LIGHT = 2e9, 5e8  # bytes of address space that commands need with and without polars and LLVM
_COLLECT_AFTER = 50_000  # new objects before a garbage collection
_GRACE = 0.3  # seconds from the interrupt to the forced exit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    The status is 0 for success, 2 for bad input or a partial failure, and 130 after Ctrl-C.

    Args:
        arguments: arguments after the word `dagneal`; None for the arguments of this process.
    """
    from dagneal.cli.configuration import parse

    if arguments is None:
        _relax_collector()
    open_streams()
    try:
        options = parse(list(sys.argv[1:] if arguments is None else arguments))
    except InputError as error:
        return _report(str(error), 2)
    except SystemExit as end:  # after --help, --version or an error message
        raise SystemExit(_flush(int(end.code or 0))) from None
    except OSError as error:
        raise SystemExit(_report_output(error)) from None
    return _flush(execute(options))


def _relax_collector() -> None:
    """Make garbage collections rare. In a short run they take a third of the time, mostly when the process ends."""
    gc.set_threshold(_COLLECT_AFTER, *gc.get_threshold()[1:])
    atexit.register(gc.freeze)  # the collections at the end of the process then skip all objects


def execute(options: argparse.Namespace) -> int:
    """Run a command and return its exit status. Report an error in one line.

    Args:
        options: parsed options of the command.
    """
    exceeded: list[str] = []
    failures = 0

    def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        nonlocal failures
        failures += isinstance(message, SecondaryWarning)
        write_message(
            f"{'dagneal' if isinstance(message, SecondaryWarning) else 'note'}: {translate(str(message), options.command)}"
        )

    try:
        from dagneal.base import machine
        from dagneal.cli.configuration import load_command

        with (
            machine.limits(options.jobs, options.memory),
            machine.watch_memory(_memory_handler(exceeded)),
            warnings.catch_warnings(),
        ):
            machine.check_address_space(_LIGHT if options.command in ("convert", "networks") else _ADDRESS_SPACE)
            warnings.simplefilter("always", SecondaryWarning)
            warnings.showwarning = show_warning
            for library in (
                ("POLARS", "OMP", "OPENBLAS") if options.jobs is not None else ()
            ):  # must be set before the libraries are imported
                os.environ[f"{library}_{'MAX' if library == 'POLARS' else 'NUM'}_THREADS"] = str(options.jobs)
            load_command(options.command).run(options)
            sys.stdout.flush()
    except InputError as error:
        return _report(translate(str(error), options.command), 2)
    except MemoryError:
        return _report("not enough memory; use fewer variables or rows", 2)
    except KeyboardInterrupt:
        return _report(translate(exceeded[0], options.command), 2) if exceeded else _report("stopped by Ctrl-C", 130)
    except BrokenPipeError as error:
        return _report_output(error) or 2 * bool(failures)
    except OSError as error:
        if error.filename:
            return _report(f"{error.filename}: {error.strerror or error}", 2)
        return _report_output(error)
    return 2 * bool(failures)


def _flush(status: int) -> int:
    """Flush standard output and return the given exit status, or 2 if the output cannot be written."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        return status or _report_output(error)
    return status


def _report_output(error: Exception) -> int:
    """Report that the output cannot be written, and return 2.

    If the reader closed the pipe, as `head` does, return 0 without a message.
    """
    discard(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return 0
    return _report(f"cannot write the output: {getattr(error, 'strerror', None) or error}", 2)


def _memory_handler(exceeded: list[str]) -> Callable[[str], None]:
    """Return a function that stops the command if it uses too much memory.

    The function appends the reason to `exceeded` and interrupts the command like Ctrl-C. It ends the process if the command
    is still running shortly after the interrupt.
    """

    def stop(reason: str) -> None:
        exceeded.append(reason)
        _thread.interrupt_main()
        time.sleep(_GRACE)
        os._exit(_report(translate(reason), 2))

    return stop


def _report(message: str, status: int) -> int:
    """Write an error message and return the given exit status."""
    write_message(f"dagneal: {message}")
    return status
