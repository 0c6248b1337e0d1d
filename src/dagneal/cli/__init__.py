"""The command `dagneal`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from dagneal.errors import InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0, 2 for bad input, 130 on Ctrl-C.

    Args:
        arguments: the words after `dagneal`; those of this process by default.
    """
    from dagneal.cli.arguments import parser

    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    elif hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")  # data and names are UTF-8 whatever the terminal is
    options = parser().parse_args(arguments)
    try:
        from dagneal.cli import commands

        getattr(commands, options.command)(options)
        sys.stdout.flush()
    except InputError as error:
        return _say(str(error), 2)
    except MemoryError:
        return _say("there is not enough memory for this; use fewer variables or rows", 2)
    except KeyboardInterrupt:
        return _say("stopped", 130)
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _say(f"{error.filename or 'the output cannot be written'}: {error.strerror or error}", 2)
    return 0


def _say(message: str, status: int) -> int:
    print(f"dagneal: {' '.join(message.split())}", file=sys.stderr)
    return status
