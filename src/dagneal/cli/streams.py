"""Standard input, output and error. A closed or full stream must not crash a command or lose its result."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any, TextIO

from dagneal.base.text import printable


def open_streams() -> None:
    """Replace closed standard streams by the null device, and set UTF-8 for standard output.

    If a standard stream stayed closed, a file opened later could get the file descriptor of the stream. Libraries would then
    write their messages into the file.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            _connect_to_null(number)
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    if hasattr(sys.stdout, "reconfigure"):
        # Data and names are always written as UTF-8; file names may contain other bytes.
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")


def write_message(text: str) -> None:
    """Write a line to standard error; do nothing if the pipe is closed or the disk is full.

    Args:
        text: text of the message; line breaks become spaces.
    """
    try:
        print(printable(" ".join(text.split())), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        discard(sys.stderr)


def write_text(text: str) -> None:
    """Write a result to standard output as readable text.

    Args:
        text: one or more lines.
    """
    print(printable(text))


def write_data(text: str) -> None:
    """Write data to standard output for other programs; on a terminal, replace control characters.

    Args:
        text: content of a file.
    """
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def discard(stream: TextIO | Any) -> None:
    """Connect a stream to the null device.

    Args:
        stream: stream that cannot be written to.
    """
    with suppress(OSError, ValueError):
        _connect_to_null(stream.fileno())


def _connect_to_null(number: int) -> None:
    """Connect a file descriptor to the null device."""
    null = os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)
    if null != number:
        os.dup2(null, number)
        os.close(null)
