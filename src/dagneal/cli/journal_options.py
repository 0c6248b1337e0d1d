"""Options for journals and Dask clusters, and functions that create `Run` objects."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dagneal.base.defaults import SEED
from dagneal.base.files import check_writable
from dagneal.cli import show
from dagneal.cli.configuration import option_names
from dagneal.cli.parsing import Parser

if TYPE_CHECKING:
    from dagneal.runtime.journal import Journal, SqliteJournal
    from dagneal.runtime.run import Run

# Options of all commands that do not affect the content of a journal.
_IGNORED = ("command", "configuration", "config", "origin", "json", "quiet", "jobs", "memory", "journal")


def add_journal_option(command: Parser | argparse._ArgumentGroup) -> None:
    """Add the option `--journal`.

    Args:
        command: parser or group of options.
    """
    command.add_argument("--journal", metavar="FILE", help="save progress to FILE; continue with dagneal resume FILE")


def add_cluster_option(command: Parser | argparse._ArgumentGroup, explanation: str) -> None:
    """Add the option `--dask`.

    Args:
        command: parser or group of options.
        explanation: help text of the option.
    """
    command.add_argument("--dask", metavar="ADDRESS", help=explanation)


@contextmanager
def open_journal(options: argparse.Namespace) -> Iterator[SqliteJournal | None]:
    """Yield the journal of `--journal`, or None without this option. Print the messages of the journal as notes.

    Args:
        options: parsed options of the command.
    """
    if options.journal is None:
        yield None
        return
    from dagneal.runtime.journal import SqliteJournal

    check_writable(options.journal)
    with SqliteJournal(options.journal) as journal:
        shown = len(journal.notes)
        for text in journal.notes:
            show.note(text)
        if journal.recall("command") is None:  # the run may be interrupted before `claim`
            _remember(journal, options)
        try:
            yield journal
        finally:
            for text in journal.notes[shown:]:
                show.note(text)


@contextmanager
def open_run(options: argparse.Namespace) -> Iterator[Run]:
    """Yield a `Run` object with the seed, the journal and the executor.

    Args:
        options: parsed options of the command.
    """
    from dagneal.runtime.run import Run

    seed = SEED if options.seed is None else options.seed
    Run(seed)  # raises an error for an invalid seed before any file is opened
    with open_journal(options) as journal, _open_cluster(options.dask) as executor:
        yield Run(seed, executor=executor, journal=journal)


@contextmanager
def show_progress(run: Run, options: argparse.Namespace) -> Iterator[Run]:
    """Yield a copy of a `Run` object with a progress bar and a time limit. The time limit starts at this call.

    Args:
        run: `Run` object without progress bar and time limit.
        options: parsed options of the command.
    """
    from dagneal.runtime.run import Deadline, ignore_progress

    with show.progress(options.quiet) as progress:
        yield replace(run, deadline=Deadline.after(options.time_limit), progress=progress or ignore_progress)


def claim(journal: Journal | None, options: argparse.Namespace, ignored: Collection[str], more: Mapping[str, Any]) -> None:
    """Check that a journal belongs to this run, and store the configuration for `dagneal resume`.

    Args:
        journal: journal of the run; None if the run has no journal.
        options: parsed options of the command.
        ignored: options of the command that do not affect the content of the journal.
        more: other values that the run depends on, such as the fingerprint of the data.
    """
    from dagneal.base.version import __version__
    from dagneal.runtime.journal import SqliteJournal

    if not isinstance(journal, SqliteJournal):
        return
    excluded = {*ignored, *_IGNORED}
    given = {name: value for name, value in vars(options).items() if name not in excluded}
    if "seed" in given and given["seed"] is None:  # the default seed is the same as no seed
        given["seed"] = SEED
    given |= {"settings": dict(given["settings"])} if "settings" in given else {}
    names = option_names(options.command)
    settings = {names.get(name, name): value for name, value in given.items()}
    journal.claim({"the version of dagneal": __version__, "the command": options.command, **more, **settings})
    _remember(journal, options)


def _remember(journal: SqliteJournal, options: argparse.Namespace) -> None:
    """Store the configuration of a run for `dagneal resume`."""
    stored = {"name": options.command, "folder": os.getcwd(), "configuration": options.configuration}
    journal.remember("command", stored)


def _open_cluster(address: str | None) -> Any:
    """Return a context manager that yields an executor on a Dask cluster. Without an address, it yields None."""
    if address is None:
        return nullcontext()
    from dagneal.runtime.clusters import dask

    return dask(address)
