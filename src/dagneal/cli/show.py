"""Output of commands: results go to standard output, notes and progress to standard error."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dagneal.cli.streams import write_message, write_text

if TYPE_CHECKING:
    from dagneal.base.kernels import Progress


def note(text: str) -> None:
    """Write a note to standard error.

    Args:
        text: text of the note, in one line.
    """
    write_message(f"note: {text}")


@contextmanager
def progress(quiet: bool) -> Iterator[Progress | None]:
    """Yield a function that updates a progress bar; yield None if no bar is shown. The bar is removed at the end.

    A bar is shown only if standard error is a terminal.

    Args:
        quiet: True to show no bar.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        Task,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(TextColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.1f}/s" if task.speed else "")

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(""),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def report(stage: str, done: int, total: int) -> None:
            name = stage.partition(":")[0]  # the text after a colon changes, such as the gap of a proof
            if name not in tasks:
                tasks[name] = bar.add_task(stage, total=None)
            if done or name != stage:
                bar.update(tasks[name], description=stage, total=total, completed=done)

        yield report


def result(report: dict[str, Any], text: str, options: argparse.Namespace) -> None:
    """Print a result as a JSON object or as text.

    Args:
        report: values to print with `--json`.
        text: text to print without `--json`.
        options: parsed options of the command.
    """
    write_text(json.dumps(report) if options.json else text)


def saved_file(path: str, options: argparse.Namespace) -> None:
    """Print the path of a saved file; print nothing with `--json`.

    Args:
        path: path of the saved file.
        options: parsed options of the command.
    """
    if not options.json:
        write_text(f"saved to {path}")
