"""Journals of commands, and `dagneal resume`."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dagneal.cli import show
from dagneal.errors import InputError
from dagneal.writing import check_writable

_HARMLESS = ("command", "words", "json", "quiet", "jobs", "memory", "journal")


@contextmanager
def opened(options: argparse.Namespace) -> Iterator[Any]:
    """The journal that `--journal` names, if it does.

    Args:
        options: of the command.
    """
    if options.journal is None:
        yield None
        return
    from dagneal.journal import SqliteJournal

    check_writable(options.journal)
    with SqliteJournal(options.journal) as journal:
        for text in journal.notes:
            show.note(text)
        if journal.remembered("command") is None:  # it may be interrupted before the run is known to be the same
            _remember(journal, options)
        yield journal


def claim(journal: Any, options: argparse.Namespace, harmless: Collection[str], more: Mapping[str, Any]) -> None:
    """Refuse a journal of another run, by the name of what differs; keep what it takes to resume.

    Args:
        journal: the journal.
        options: of the command.
        harmless: options of it that make no difference to what is kept.
        more: what else the run depends on.
    """
    from dagneal import __version__

    apart = {*harmless, *_HARMLESS}
    settings = {f"--{name.replace('_', '-')}": value for name, value in vars(options).items() if name not in apart}
    journal.claim({"the version of dagneal": __version__, "the command": options.command, **more, **settings})
    _remember(journal, options)


def _remember(journal: Any, options: argparse.Namespace) -> None:
    journal.remember("command", {"words": options.words, "folder": os.getcwd()})


def resume(options: argparse.Namespace) -> None:
    """`dagneal resume`: the command that a journal was made by, again."""
    from dagneal.cli import main
    from dagneal.journal import SqliteJournal

    if not Path(options.file).exists():
        raise InputError(f"there is no journal {options.file}")
    with SqliteJournal(options.file) as journal:
        command = journal.remembered("command")
        notes = journal.notes
    if command is None:
        raise InputError(f"{options.file} does not say what command it is of; run that again with --journal")
    for text in notes:
        show.note(text)
    try:
        os.chdir(command["folder"])
    except OSError as error:
        raise InputError(f"{command['folder']}, where the run began: {error.strerror}") from error
    words = [*command["words"]]
    words += [word for word, asked in (("--json", options.json), ("--quiet", options.quiet)) if asked and word not in words]
    if options.dask is not None:  # later words are those that count
        words += ["--dask", options.dask]
    if not options.quiet:
        show.note(shlex.join(["dagneal", *words]))
    if status := main(words, command["words"]):
        raise SystemExit(status)
