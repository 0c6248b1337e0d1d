"""The command `dagneal`."""

from __future__ import annotations

import _thread
import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from dagneal.base.errors import InputError, SecondaryWarning
from dagneal.cli.streams import discard, open_streams, write_message
from dagneal.cli.translation import translate

_ADDRESS_SPACE, _LIGHT = 2e9, 5e8  # bytes that polars and LLVM reserve, most of it never used; and without these two
_PATIENCE = 0.3  # seconds between being told to stop and being made to


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0, 2 for bad input or a part that failed, 130 on Ctrl-C.

    Args:
        arguments: the words after `dagneal`; those of this process by default.
    """
    from dagneal.cli.configuration import parse

    open_streams()
    try:
        options = parse(list(sys.argv[1:] if arguments is None else arguments))
    except InputError as error:
        return _say(str(error), 2)
    except SystemExit as end:  # after --help, --version or a message
        raise SystemExit(_flush(int(end.code or 0))) from None
    except OSError as error:
        raise SystemExit(_report_output(error)) from None
    return _flush(execute(options))


def execute(options: argparse.Namespace) -> int:
    """Run a command and return its exit status; a failure becomes one line.

    Args:
        options: of the command.
    """
    exceeded: list[str] = []
    failures = 0

    def report(message: Warning | str, *_: Any, **__: Any) -> None:
        nonlocal failures
        failures += isinstance(message, SecondaryWarning)
        write_message(
            f"{'dagneal' if isinstance(message, SecondaryWarning) else 'note'}: {translate(str(message), options.command)}"
        )

    try:
        from dagneal.base import machine
        from dagneal.cli.configuration import command_of

        with (
            machine.limits(options.jobs, options.memory),
            machine.watch_memory(_stopping(exceeded)),
            warnings.catch_warnings(),
        ):
            machine.check_address_space(_LIGHT if options.command in ("convert", "networks") else _ADDRESS_SPACE)
            warnings.simplefilter("always", SecondaryWarning)
            warnings.showwarning = report
            for library in ("POLARS", "OMP", "OPENBLAS") if options.jobs is not None else ():  # before they are imported
                os.environ[f"{library}_{'MAX' if library == 'POLARS' else 'NUM'}_THREADS"] = str(options.jobs)
            command_of(options.command).run(options)
            sys.stdout.flush()
    except InputError as error:
        return _say(translate(str(error), options.command), 2)
    except MemoryError:
        return _say("there is not enough memory for this; use fewer variables or rows", 2)
    except KeyboardInterrupt:
        return _say(translate(exceeded[0], options.command), 2) if exceeded else _say("stopped", 130)
    except BrokenPipeError as error:
        return _report_output(error) or 2 * bool(failures)
    except OSError as error:
        if error.filename:
            return _say(f"{error.filename}: {error.strerror or error}", 2)
        return _report_output(error)
    return 2 * bool(failures)


def _flush(status: int) -> int:
    """Write what is left in the standard output, and return the exit status; 2 where it cannot be written."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        return status or _report_output(error)
    return status


def _report_output(error: Exception) -> int:
    """Report that the output cannot be written, and return the exit status; 0 if the reader went away, as `head` does."""
    discard(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return 0
    return _say(f"the output cannot be written: {getattr(error, 'strerror', None) or error}", 2)


def _stopping(told: list[str]) -> Callable[[str], None]:
    """What to do when too much memory is used: what Ctrl-C does, and if that is not soon enough, the end."""

    def stop(reason: str) -> None:
        told.append(reason)
        _thread.interrupt_main()
        time.sleep(_PATIENCE)
        os._exit(_say(translate(reason), 2))

    return stop


def _say(message: str, status: int) -> int:
    write_message(f"dagneal: {message}")
    return status
