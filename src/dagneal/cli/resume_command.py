"""`dagneal resume`: continue a run from its journal.

A journal may come from someone else. So it can only continue its own run of a command that is listed here, and what reaches
beyond it (code of samplers, clusters, accounts) has to be repeated on the command line.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from dagneal.base.errors import InputError
from dagneal.cli import show
from dagneal.cli.journal_options import add_cluster_option
from dagneal.cli.parsing import Parser

SUMMARY = "continue an interrupted run from its journal"
USAGE = "JOURNAL [options]"
EXAMPLES = """\
examples:
  dagneal learn big.csv --solver sa --divide 4 --journal run.db -o big.html
  dagneal resume run.db
  dagneal resume run.db --dask local:4          # on another cluster
  dagneal resume run.db --sampler mine:Sampler  # a run with --sampler mine:Sampler
"""
RESUMABLE = ("learn", "confidence", "reproduce")  # commands that a journal may run
_AGAIN = "run the command again with --journal"
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


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: its parser.
    """
    command.add_argument("file", metavar="JOURNAL", help="the file of --journal")
    add_cluster_option(command, "use this cluster; required if the run used a scheduler")
    command.add_argument("--sampler", metavar="MODULE:NAME", help="repeat the --sampler of the run, if it had one")
    command.add_argument("--profile", metavar="NAME", help="repeat the D-Wave profile of the run, if it had one")


def run(options: argparse.Namespace) -> None:
    """Run the command again that a journal was made by, if it is one that a journal may run.

    Args:
        options: of the command.
    """
    from dagneal.cli import execute
    from dagneal.cli.configuration import words_of
    from dagneal.runtime.journal import SqliteJournal

    file = _check_file(options.file)
    with SqliteJournal(file) as journal:
        for text in journal.notes:
            show.note(text)
        stored = journal.remembered("command")
    if stored is None:
        raise InputError(f"{file} does not say what command it is of; run that again with --journal")
    name, folder, configuration = _check_types(stored, file)
    resumed = _parse(words_of(name, configuration, str(file)), file)
    if os.path.realpath(os.path.join(folder, resumed.journal)) != os.path.realpath(file):
        raise InputError(f"{file} is not the journal of its command, which names {resumed.journal}; {_AGAIN}")
    _check_repeated(resumed, options, file)
    origin = os.getcwd()
    _check_folder(folder, origin, file)
    resumed.origin = origin
    resumed.json, resumed.quiet = resumed.json or options.json, resumed.quiet or options.quiet
    for shared in ("dask", "jobs", "memory"):
        if getattr(options, shared) is not None:
            setattr(resumed, shared, getattr(options, shared))
    if not options.quiet:
        show.note(shlex.join(["dagneal", *words_of(name, configuration)]))
        for option, path in _outputs(resumed):
            show.note(f"{option} writes to {os.path.realpath(os.path.join(folder, path))}")
        if _pays(resumed):
            show.note("this run sends problems to D-Wave's service, under your account")
    with _inside(folder, origin):
        status = execute(resumed)
    if status:
        raise SystemExit(status)


def _check_file(name: str) -> Path:
    """Return the journal; refuse what is no file before SQLite sees it."""
    if "\0" in name:
        raise InputError("the name of the journal contains a null byte; name the journal of a run")
    file = Path(name)
    if not any(os.path.isfile(each) and os.path.getsize(each) for each in (file, Path(f"{os.path.realpath(file)}-wal"))):
        what = "is empty" if os.path.isfile(file) else "is not a file" if os.path.exists(file) else ""
        raise InputError(f"{file} {what}; name the journal of a run" if what else f"there is no journal {file}")
    return file


def _check_types(stored: Any, file: Path) -> tuple[str, str, dict[str, Any]]:
    """Check what a journal says about its command; return the name, the folder and the configuration."""
    parts = stored if isinstance(stored, dict) else {}
    name, folder, configuration = parts.get("name"), parts.get("folder"), parts.get("configuration")
    if not isinstance(configuration, dict):
        raise InputError(f"{file}: the stored command has no configuration; {_AGAIN}")
    if name not in RESUMABLE:
        raise InputError(f"{file} holds no command that can be resumed ({' or '.join(RESUMABLE)}); {_AGAIN}")
    if not isinstance(folder, str) or "\0" in folder or not os.path.isabs(folder) or not os.path.isdir(folder):
        raise InputError(f"{file}: there is no folder {folder}, in which the run was started; {_AGAIN}")
    return name, folder, configuration


def _parse(words: list[str], file: Path) -> argparse.Namespace:
    """Parse a stored command; anything but a complete command with a journal is refused."""
    from dagneal.cli.configuration import parse

    messages = io.StringIO()
    try:
        with redirect_stdout(messages), redirect_stderr(messages):
            resumed = parse(words)
    except SystemExit as error:
        why = messages.getvalue().strip().rpartition("\n")[2]
        raise InputError(f"{file}: the stored command cannot be run: {why}; {_AGAIN}") from error
    if resumed.journal is None:
        raise InputError(f"{file}: the stored command does not name its journal; {_AGAIN}")
    return resumed


def _check_repeated(resumed: argparse.Namespace, options: argparse.Namespace, file: Path) -> None:
    """Refuse code, clusters and accounts that only the journal names: the command line has to name them too."""
    settings = dict(getattr(resumed, "settings", ()))
    repeated = {
        "sampler": (getattr(resumed, "sampler", None), "runs the code of"),
        "profile": (settings.get("profile"), "uses the D-Wave profile"),
    }
    for name, (stored, what) in repeated.items():
        given = getattr(options, name)
        if stored is not None and given is None:
            again = shlex.join(["dagneal", "resume", str(file), f"--{name}", str(stored)])
            raise InputError(f"the run {what} {stored}; if you trust it, repeat it: {again}")
        if stored is not given and str(stored) != given:
            raise InputError(f"--{name} is {given}, but the run has {stored or 'none'}; give the same")
    cluster = getattr(resumed, "dask", None)
    if options.dask is None and cluster is not None and not re.fullmatch(r"local:\d{1,2}", cluster):
        again = shlex.join(["dagneal", "resume", str(file), "--dask", cluster])
        raise InputError(f"the run uses the cluster {cluster}; if you trust it, repeat it: {again}; or give another --dask")
    if options.dask is not None and not hasattr(resumed, "dask"):
        raise InputError(f"--dask is not for dagneal {resumed.command}; leave it out")


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


def _outputs(resumed: argparse.Namespace) -> list[tuple[str, str]]:
    """Return what a command writes, each path with its option."""
    if resumed.command == "reproduce":
        from dagneal.cli.reproduce_command import folder_of

        return [("-o", str(folder_of(resumed)))]
    samples = [("--samples", resumed.samples)] if resumed.command == "learn" and resumed.samples else []
    return [*(("-o", path) for path in resumed.output), *samples]


def _pays(resumed: argparse.Namespace) -> bool:
    """Return whether a run sends problems to a service that charges for them."""
    return getattr(resumed, "solver", None) in ("qpu", "leap-hybrid") or bool(getattr(resumed, "qpu", False))


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
