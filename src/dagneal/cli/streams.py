"""Standard input, output and error: no state of these streams can crash a command or lose its work."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any, TextIO

from dagneal.base.text import printable


def open_streams() -> None:
    """Connect streams that the caller closed to the null device, and write text as UTF-8.

    A file that is opened later must not get the number of a standard stream: libraries write messages to these numbers.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            _connect_to_null(number)
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    if hasattr(sys.stdout, "reconfigure"):
        # Data and names are UTF-8 whatever the terminal is; names of files may hold other bytes.
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")


def write_message(text: str) -> None:
    """Write a line to standard error; a reader that is gone or a full disk must not stop the work.

    Args:
        text: the message; line breaks in it become spaces.
    """
    try:
        print(printable(" ".join(text.split())), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        discard(sys.stderr)


def write_text(text: str) -> None:
    """Write a result for people to standard output.

    Args:
        text: one or more lines.
    """
    print(printable(text))


def write_data(text: str) -> None:
    """Write data for other programs to standard output: unchanged, except on a terminal.

    Args:
        text: as it would be in a file.
    """
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def discard(stream: TextIO | Any) -> None:
    """Send what is left in a stream, and what comes later, to the null device.

    Args:
        stream: one that cannot be written to.
    """
    with suppress(OSError, ValueError):
        _connect_to_null(stream.fileno())


def _connect_to_null(number: int) -> None:
    null = os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)
    if null != number:
        os.dup2(null, number)
        os.close(null)
