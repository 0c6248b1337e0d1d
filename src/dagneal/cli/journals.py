"""Journals of commands, and `dagneal resume`."""

from __future__ import annotations

import argparse
import io
import os
import re
import shlex
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from dagneal.base.errors import InputError
from dagneal.base.files import check_writable
from dagneal.cli import show

RESUMABLE = ("learn", "reproduce")  # commands that a journal may run
_AGAIN = "run the command again with --journal"
_HARMLESS = ("command", "words", "origin", "json", "quiet", "jobs", "memory", "journal")
_PATHS = (
    "PYTHONPATH",
    "PYTHONPYCACHEPREFIX",
    "DAGNEAL_CACHE",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "NUMBA_CACHE_DIR",
    "TMPDIR",
)
_SETTINGS = ("dwave.conf", ".numba_config.yaml", "matplotlibrc")  # files of the current folder that other packages read


@contextmanager
def opened(options: argparse.Namespace) -> Iterator[Any]:
    """The journal that `--journal` names, if it does.

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


def claim(journal: Any, options: argparse.Namespace, harmless: Collection[str], more: Mapping[str, Any]) -> None:
    """Refuse a journal of another run, by the name of what differs; keep what it takes to resume.

    Args:
        journal: the journal.
        options: of the command.
        harmless: options of it that make no difference to what is kept.
        more: what else the run depends on.
    """
    from dagneal.base.version import __version__

    apart = {*harmless, *_HARMLESS}
    settings = {f"--{name.replace('_', '-')}": value for name, value in vars(options).items() if name not in apart}
    journal.claim({"the version of dagneal": __version__, "the command": options.command, **more, **settings})
    _remember(journal, options)


def _remember(journal: Any, options: argparse.Namespace) -> None:
    journal.remember("command", {"words": options.words, "folder": os.getcwd()})


def resume(options: argparse.Namespace) -> None:
    """Run the command again that a journal was made by, if it is one that a journal may run."""
    from dagneal.cli import execute
    from dagneal.runtime.journal import SqliteJournal

    if "\0" in options.file:
        raise InputError("the name of the journal contains a null byte; name the journal of a run")
    file = Path(options.file)
    if not any(os.path.isfile(each) and os.path.getsize(each) for each in (file, Path(f"{os.path.realpath(file)}-wal"))):
        what = "is empty" if os.path.isfile(file) else "is not a file" if os.path.exists(file) else ""
        raise InputError(f"{file} {what}; name the journal of a run" if what else f"there is no journal {file}")
    with SqliteJournal(file) as journal:
        for text in journal.notes:
            show.note(text)
        command = journal.remembered("command")
    if command is None:
        raise InputError(f"{file} does not say what command it is of; run that again with --journal")
    words, folder = _command(command, file)
    parsed = _parse(words, file)
    if os.path.realpath(os.path.join(folder, parsed.journal)) != os.path.realpath(file):
        raise InputError(f"{file} is not the journal of its command, which names {parsed.journal}; {_AGAIN}")
    _check_repeated(parsed, options, file)
    origin = os.getcwd()
    _check_folder(folder, origin, file)
    parsed.words, parsed.origin = words, origin
    parsed.json, parsed.quiet = parsed.json or options.json, parsed.quiet or options.quiet
    for name in ("dask", "jobs", "memory"):
        if getattr(options, name) is not None:
            setattr(parsed, name, getattr(options, name))
    if not options.quiet:
        show.note(shlex.join(["dagneal", *words]))
        for name, path in _outputs(parsed):
            show.note(f"{name} writes to {os.path.realpath(os.path.join(folder, path))}")
        if _pays(parsed):
            show.note("this run sends problems to D-Wave's service, under your account")
    with _inside(folder, origin):
        status = execute(parsed)
    if status:
        raise SystemExit(status)


def _command(stored: Any, file: Path) -> tuple[list[str], str]:
    """Check the types of a stored command; return its words and its folder."""
    parts = stored if isinstance(stored, dict) else {}
    words, folder = parts.get("words"), parts.get("folder")
    texts = [*words, folder] if isinstance(words, list) else [None]
    if not isinstance(words, list) or not all(isinstance(text, str) and "\0" not in text for text in texts):
        raise InputError(f"{file}: the stored command is not a list of words and a folder; {_AGAIN}")
    if words[:1] not in [[name] for name in RESUMABLE]:
        raise InputError(f"{file} holds no command that can be resumed ({' or '.join(RESUMABLE)}); {_AGAIN}")
    if not isinstance(folder, str) or not os.path.isabs(folder) or not os.path.isdir(folder):
        raise InputError(f"{file}: there is no folder {folder}, in which the run was started; {_AGAIN}")
    return words, folder


def _parse(words: list[str], file: Path) -> argparse.Namespace:
    """Parse the words of a stored command; anything but a complete command with one journal is refused."""
    from dagneal.cli.arguments import parser

    said = io.StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(said):
            parsed = parser().parse_args(words)
    except SystemExit as error:  # also where they ask for help
        why = said.getvalue().strip().rpartition("\n")[2] if error.code else "it only prints a text"
        raise InputError(f"{file}: the stored command cannot be run: {why}; {_AGAIN}") from error
    given = [word for word in words if word == "--journal" or word.startswith("--journal=")]
    if parsed.command not in RESUMABLE or parsed.journal is None or len(given) != 1:
        raise InputError(f"{file}: the stored command does not name one journal; {_AGAIN}")
    return parsed


def _check_repeated(parsed: argparse.Namespace, options: argparse.Namespace, file: Path) -> None:
    """Refuse code, clusters and accounts that only the journal names: the command line has to name them too."""
    for name, what in (("sampler", "runs the code of"), ("profile", "uses the D-Wave profile")):
        stored, given = getattr(parsed, name, None), getattr(options, name)
        if stored is not None and given is None:
            again = shlex.join(["dagneal", "resume", str(file), f"--{name}", stored])
            raise InputError(f"the run {what} {stored}; if you trust it, repeat it: {again}")
        if stored != given:
            raise InputError(f"--{name} is {given}, but the run has {stored or 'none'}; give the same")
    cluster = getattr(parsed, "dask", None)
    if options.dask is None and cluster is not None and not re.fullmatch(r"local:\d{1,2}", cluster):
        again = shlex.join(["dagneal", "resume", str(file), "--dask", cluster])
        raise InputError(f"the run uses the cluster {cluster}; if you trust it, repeat it: {again}; or give another --dask")
    if options.dask is not None and not hasattr(parsed, "dask"):
        raise InputError(f"--dask is not for dagneal {parsed.command}; leave it out")


def _check_folder(folder: str, origin: str, file: Path) -> None:
    """Refuse another folder than the current one if it holds settings of programs that we use."""
    if os.path.realpath(folder) == os.path.realpath(origin):
        return
    for name in _SETTINGS:
        if os.path.lexists(os.path.join(folder, name)):
            raise InputError(
                f"{os.path.join(folder, name)} would change how {file} is resumed; if you trust it, start "
                f"dagneal resume in {folder}"
            )


def _outputs(parsed: argparse.Namespace) -> list[tuple[str, str]]:
    """Return what a command writes, each path with its option."""
    if parsed.command == "reproduce":
        from dagneal.cli.reproduce import folder_of

        return [("-o", str(folder_of(parsed)))]
    samples = [("--samples", parsed.samples)] if parsed.samples else []
    return [*(("-o", path) for path in parsed.output), *samples]


def _pays(parsed: argparse.Namespace) -> bool:
    return getattr(parsed, "solver", None) in ("qpu", "leap-hybrid") or bool(getattr(parsed, "qpu", False))


@contextmanager
def _inside(folder: str, origin: str) -> Iterator[None]:
    """Work in the folder of a run, but import nothing from it, also in child processes."""
    before, path = dict(os.environ), list(sys.path)
    sys.path[:] = [os.path.join(origin, entry) if isinstance(entry, str) else entry for entry in path]
    os.environ["PYTHONSAFEPATH"] = "1"
    for name in _PATHS:  # relative entries, and empty ones, mean the folder that the user started in
        if name in before:
            os.environ[name] = os.pathsep.join(os.path.join(origin, entry) for entry in before[name].split(os.pathsep))
    try:
        os.chdir(folder)
    except OSError as error:
        raise InputError(f"{folder}, where the run was started: {error.strerror}") from error
    try:
        yield
    finally:
        os.chdir(origin)
        sys.path[:] = path
        for name in ("PYTHONSAFEPATH", *_PATHS):
            os.environ.pop(name, None)
            if name in before:
                os.environ[name] = before[name]
