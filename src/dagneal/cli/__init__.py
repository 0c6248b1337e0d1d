"""The command `dagneal`."""

from __future__ import annotations

import _thread
import os
import sys
import time
from collections.abc import Callable, Sequence

from dagneal.errors import InputError

_PATIENCE = 0.3  # seconds between being told to stop and being made to


def main(arguments: Sequence[str] | None = None, words: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0, 2 for bad input, 130 on Ctrl-C.

    Args:
        arguments: the words after `dagneal`; those of this process by default.
        words: those that a journal keeps, where a run is resumed with others.
    """
    from dagneal.cli.arguments import parser

    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    elif hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")  # data and names are UTF-8 whatever the terminal is
    options = parser().parse_args(arguments)
    options.words = list(words or (sys.argv[1:] if arguments is None else arguments))
    exceeded: list[str] = []
    try:
        from dagneal import machine

        with machine.limits(options.jobs, options.memory), machine.watched(_stopping(exceeded)):
            for library in ("POLARS", "OMP", "OPENBLAS") if options.jobs is not None else ():  # before they are imported
                os.environ[f"{library}_{'MAX' if library == 'POLARS' else 'NUM'}_THREADS"] = str(options.jobs)
            from dagneal.cli import commands

            getattr(commands, options.command)(options)
            sys.stdout.flush()
    except InputError as error:
        return _say(str(error), 2)
    except MemoryError:
        return _say("there is not enough memory for this; use fewer variables or rows", 2)
    except KeyboardInterrupt:
        return _say(exceeded[0], 2) if exceeded else _say("stopped", 130)
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _say(f"{error.filename or 'the output cannot be written'}: {error.strerror or error}", 2)
    return 0


def _stopping(told: list[str]) -> Callable[[str], None]:
    """What to do when too much memory is used: what Ctrl-C does, and if that is not soon enough, the end."""

    def stop(reason: str) -> None:
        told.append(reason)
        _thread.interrupt_main()
        time.sleep(_PATIENCE)
        os._exit(_say(reason, 2))

    return stop


def _say(message: str, status: int) -> int:
    print(f"dagneal: {' '.join(message.split())}", file=sys.stderr)
    return status
