"""Journals and clusters on the command line: where a run stores finished tasks, and where it computes."""

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
from dagneal.cli.configuration import options_of
from dagneal.cli.parsing import Parser

if TYPE_CHECKING:
    from dagneal.runtime.journal import Journal, SqliteJournal
    from dagneal.runtime.run import Run

# Attributes of the options that make no difference to what a journal stores.
_HARMLESS = ("command", "configuration", "config", "origin", "json", "quiet", "jobs", "memory", "journal")


def add_journal_option(command: Parser | argparse._ArgumentGroup) -> None:
    """Add the option of a journal.

    Args:
        command: a parser, or a group of options.
    """
    command.add_argument("--journal", metavar="FILE", help="save progress to FILE; continue with dagneal resume FILE")


def add_cluster_option(command: Parser | argparse._ArgumentGroup, explanation: str) -> None:
    """Add the option of a Dask cluster.

    Args:
        command: a parser, or a group of options.
        explanation: its help text.
    """
    command.add_argument("--dask", metavar="ADDRESS", help=explanation)


@contextmanager
def open_journal(options: argparse.Namespace) -> Iterator[SqliteJournal | None]:
    """Open the journal that `--journal` names, if it does, and report what it says about itself.

    Args:
        options: of the command.
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
        if journal.remembered("command") is None:  # it may be interrupted before the run is known to be the same
            _remember(journal, options)
        try:
            yield journal
        finally:
            for text in journal.notes[shown:]:
                show.note(text)


@contextmanager
def open_run(options: argparse.Namespace) -> Iterator[Run]:
    """Yield the context of a run: its seed, journal and executor.

    Args:
        options: of the command.
    """
    from dagneal.runtime.run import Run

    seed = SEED if options.seed is None else options.seed
    Run(seed)  # refuses an invalid seed before anything is opened
    with open_journal(options) as journal, _open_cluster(options.dask) as executor:
        yield Run(seed, executor=executor, journal=journal)


@contextmanager
def show_progress(run: Run, options: argparse.Namespace) -> Iterator[Run]:
    """Yield a run that shows a progress bar while the context lasts, and whose time limit begins now.

    Args:
        run: the context of the run.
        options: of the command.
    """
    from dagneal.runtime.run import Deadline, ignore_progress

    with show.progress(options.quiet) as progress:
        yield replace(run, deadline=Deadline.after(options.time_limit), progress=progress or ignore_progress)


def claim(journal: Journal | None, options: argparse.Namespace, harmless: Collection[str], more: Mapping[str, Any]) -> None:
    """Refuse a journal of another run, by the name of what differs; store what it takes to resume.

    Args:
        journal: the journal, if there is one.
        options: of the command.
        harmless: options of it that make no difference to what is stored.
        more: what else the run depends on.
    """
    from dagneal.base.version import __version__
    from dagneal.runtime.journal import SqliteJournal

    if not isinstance(journal, SqliteJournal):
        return
    apart = {*harmless, *_HARMLESS}
    given = {name: value for name, value in vars(options).items() if name not in apart}
    if "seed" in given and given["seed"] is None:  # a run with the default seed is the same run
        given["seed"] = SEED
    given |= {"settings": dict(given["settings"])} if "settings" in given else {}
    written = options_of(options.command)
    settings = {written.get(name, name): value for name, value in given.items()}
    journal.claim({"the version of dagneal": __version__, "the command": options.command, **more, **settings})
    _remember(journal, options)


def _remember(journal: SqliteJournal, options: argparse.Namespace) -> None:
    """Store the configuration of a run, from which `dagneal resume` continues."""
    stored = {"name": options.command, "folder": os.getcwd(), "configuration": options.configuration}
    journal.remember("command", stored)


def _open_cluster(address: str | None) -> Any:
    """Return an executor on a cluster, if there is one."""
    if address is None:
        return nullcontext()
    from dagneal.runtime.clusters import dask

    return dask(address)
