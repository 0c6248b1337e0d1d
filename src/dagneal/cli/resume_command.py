"""`dagneal resume`: continue a run from its journal.

A journal may come from another person, so it is not trusted. It can only continue its own run, and only for the commands in
`RESUMABLE`. Sampler code, clusters and accounts are used only if the user names them again on the command line.
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
  dagneal resume run.db --dask local:4          # use another cluster
  dagneal resume run.db --sampler mine:Sampler  # if the run used --sampler mine:Sampler
"""
RESUMABLE = ("learn", "confidence", "reproduce")  # commands that can be resumed
_AGAIN = "run the command again with --journal"
_PATHS = (  # environment variables that contain paths
    "PYTHONPATH",
    "PYTHONPYCACHEPREFIX",
    "DAGNEAL_CACHE",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "NUMBA_CACHE_DIR",
    "TMPDIR",
)
_SETTINGS = ("dwave.conf", ".numba_config.yaml", "matplotlibrc")  # files that other packages read from the current folder


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: parser of the command.
    """
    command.add_argument("file", metavar="JOURNAL", help="journal file of the run")
    add_cluster_option(command, "Dask cluster; required if the run used the address of a scheduler")
    command.add_argument("--sampler", metavar="MODULE:NAME", help="sampler of the run; required if the run used --sampler")
    command.add_argument("--profile", metavar="NAME", help="D-Wave profile of the run; required if the run used a profile")


def run(options: argparse.Namespace) -> None:
    """Continue the command that is stored in a journal.

    Args:
        options: parsed options of the command.
    """
    from dagneal.cli import execute
    from dagneal.cli.configuration import to_arguments
    from dagneal.runtime.journal import SqliteJournal

    file = _check_file(options.file)
    with SqliteJournal(file) as journal:
        for text in journal.notes:
            show.note(text)
        stored = journal.recall("command")
    if stored is None:
        raise InputError(f"{file} stores no command; run the command again with --journal")
    name, folder, configuration = _check_types(stored, file)
    resumed = _parse(to_arguments(name, configuration, str(file)), file)
    if os.path.realpath(os.path.join(folder, resumed.journal)) != os.path.realpath(file):
        raise InputError(f"the command in {file} belongs to another journal, {resumed.journal}; {_AGAIN}")
    _check_repeated(resumed, options, file)
    origin = os.getcwd()
    _check_folder(folder, origin)
    resumed.origin = origin
    resumed.json, resumed.quiet = resumed.json or options.json, resumed.quiet or options.quiet
    for shared in ("dask", "jobs", "memory"):
        if getattr(options, shared) is not None:
            setattr(resumed, shared, getattr(options, shared))
    if not options.quiet:
        show.note(shlex.join(["dagneal", *to_arguments(name, configuration)]))
        for option, path in _outputs(resumed):
            show.note(f"{option} writes to {os.path.realpath(os.path.join(folder, path))}")
        if _is_charged(resumed):
            show.note("this run sends problems to D-Wave and uses your account")
    with _work_in(folder, origin):
        status = execute(resumed)
    if status:
        raise SystemExit(status)


def _check_file(name: str) -> Path:
    """Return the path of the journal; raise an error if the file does not exist or is empty."""
    if "\0" in name:
        raise InputError("the name of the journal contains a null byte; give the journal file of a run")
    file = Path(name)
    if not any(os.path.isfile(path) and os.path.getsize(path) for path in (file, Path(f"{os.path.realpath(file)}-wal"))):
        problem = "is empty" if os.path.isfile(file) else "is not a file" if os.path.exists(file) else "does not exist"
        raise InputError(f"the journal {file} {problem}; give the journal file of a run")
    return file


def _check_types(stored: Any, file: Path) -> tuple[str, str, dict[str, Any]]:
    """Check the command that a journal stores, and return the tuple (name, folder, configuration)."""
    parts = stored if isinstance(stored, dict) else {}
    name, folder, configuration = parts.get("name"), parts.get("folder"), parts.get("configuration")
    if not isinstance(configuration, dict):
        raise InputError(f"{file}: the stored command has no configuration; {_AGAIN}")
    if name not in RESUMABLE:
        raise InputError(f"{file} stores none of the commands that can be resumed: {', '.join(RESUMABLE)}; {_AGAIN}")
    if not isinstance(folder, str) or "\0" in folder or not os.path.isabs(folder) or not os.path.isdir(folder):
        raise InputError(f"{file}: the run was started in the folder {folder}, which does not exist; {_AGAIN}")
    return name, folder, configuration


def _parse(words: list[str], file: Path) -> argparse.Namespace:
    """Parse a stored command; raise an error if it is invalid or does not name its journal."""
    from dagneal.cli.configuration import parse

    messages = io.StringIO()
    try:
        with redirect_stdout(messages), redirect_stderr(messages):
            resumed = parse(words)
    except SystemExit as error:
        reason = messages.getvalue().strip().rpartition("\n")[2]
        raise InputError(f"{file}: the stored command is invalid: {reason}; {_AGAIN}") from error
    if resumed.journal is None:
        raise InputError(f"{file}: the stored command does not name its journal; {_AGAIN}")
    return resumed


def _check_repeated(resumed: argparse.Namespace, options: argparse.Namespace, file: Path) -> None:
    """Check that the command line repeats the sampler, the profile and the cluster of the stored command."""
    settings = dict(getattr(resumed, "settings", ()))
    repeated = {
        "sampler": (getattr(resumed, "sampler", None), "runs the code of the sampler"),
        "profile": (settings.get("profile"), "uses the D-Wave profile"),
    }
    for name, (stored, action) in repeated.items():
        given = getattr(options, name)
        if stored is not None and given is None:
            again = shlex.join(["dagneal", "resume", str(file), f"--{name}", str(stored)])
            raise InputError(f"the run {action} {stored}; if you trust it, run {again}")
        if stored is not given and str(stored) != given:
            advice = "omit the option" if stored is None else "give the same value"
            raise InputError(f"--{name} is {given}, but the run used {stored or 'none'}; {advice}")
    cluster = getattr(resumed, "dask", None)
    if options.dask is None and cluster is not None and not re.fullmatch(r"local:\d{1,2}", cluster):
        again = shlex.join(["dagneal", "resume", str(file), "--dask", cluster])
        raise InputError(f"the run uses the cluster {cluster}; if you trust it, run {again}, or give another --dask")
    if options.dask is not None and not hasattr(resumed, "dask"):
        raise InputError(f"dagneal {resumed.command} does not support --dask; omit it")


def _check_folder(folder: str, origin: str) -> None:
    """Raise an error if the folder of the run contains a settings file of another package, such as dwave.conf.

    Such a file may come from another person. It is accepted if the folder of the run is also the current folder (`origin`).
    """
    if os.path.realpath(folder) == os.path.realpath(origin):
        return
    for name in _SETTINGS:
        if os.path.lexists(os.path.join(folder, name)):
            raise InputError(
                f"{os.path.join(folder, name)} would affect the resumed run; if you trust it, run dagneal resume in {folder}"
            )


def _outputs(resumed: argparse.Namespace) -> list[tuple[str, str]]:
    """Return a pair (option, path) for each output file or folder of a command."""
    if resumed.command == "reproduce":
        from dagneal.cli.reproduce_command import folder_of

        return [("-o", str(folder_of(resumed)))]
    samples = [("--samples", resumed.samples)] if resumed.command == "learn" and resumed.samples else []
    return [*(("-o", path) for path in resumed.output), *samples]


def _is_charged(resumed: argparse.Namespace) -> bool:
    """Return whether a run uses a service that may cost money."""
    return getattr(resumed, "solver", None) in ("qpu", "leap-hybrid") or bool(getattr(resumed, "qpu", False))


@contextmanager
def _work_in(folder: str, origin: str) -> Iterator[None]:
    """Change to the folder of a run during the `with` block. Python imports no code from that folder."""
    before, path = dict(os.environ), list(sys.path)
    sys.path[:] = [os.path.join(origin, entry) if isinstance(entry, str) else entry for entry in path]
    os.environ["PYTHONSAFEPATH"] = "1"
    for name in _PATHS:  # relative and empty entries refer to the folder of the user
        if name in before:
            os.environ[name] = os.pathsep.join(os.path.join(origin, entry) for entry in before[name].split(os.pathsep))
    try:
        os.chdir(folder)
    except OSError as error:
        raise InputError(f"cannot open the folder {folder} of the run: {error.strerror}") from error
    try:
        yield
    finally:
        os.chdir(origin)
        sys.path[:] = path
        for name in ("PYTHONSAFEPATH", *_PATHS):
            os.environ.pop(name, None)
            if name in before:
                os.environ[name] = before[name]
