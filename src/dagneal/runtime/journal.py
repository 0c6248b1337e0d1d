"""Journal: what a long run has finished, so that it resumes."""

from __future__ import annotations

import errno
import json
import mmap
import os
import shutil
import sqlite3
import stat
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Protocol, runtime_checkable

from dagneal.base.errors import InputError
from dagneal.runtime import journalfile
from dagneal.runtime.journalfile import CLOSED, OPEN, TABLES, DamagedError, Salvage
from dagneal.runtime.walfile import Log, fill, is_full, log_of

NOT_OURS = "it was not written by dagneal; delete it, or give another file"  # ends messages about invalid values
_PATIENCE = 2.0  # seconds to wait for another process that is just ending
_LOCKED = (0x40000000, 512)  # the bytes of a database file, beyond its content, that SQLite locks
_ours: set[tuple[int, int]] = set()  # device and inode of the journals that this process has open


@runtime_checkable
class Journal(Protocol):
    """Where finished pieces are kept; any object with these two will do."""

    def get(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Those of the pieces that are there."""
        ...

    def put(self, pieces: dict[str, bytes]) -> None:
        """Keep pieces; once this returns they survive a crash."""
        ...


class SqliteJournal:
    """A journal in one SQLite file, which only one process can use at a time.

    The file and its log are checked completely when they are opened. If anything is missing or changed, the journal is
    replaced by a new one with everything that is intact, the damaged files are kept under another name, and `notes` says
    what was lost. A file without any intact content is refused and left as it is.

    Args:
        path: the file; it is created if it does not exist.

    Attributes:
        notes: messages for the user, such as about damage.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.db"
    >>> with SqliteJournal(path) as journal:
    ...     journal.put({"a": b"1"})
    >>> with SqliteJournal(path) as journal:
    ...     journal.get(["a", "b"])
    {'a': b'1'}
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.notes: list[str] = []
        self._lock = Lock()
        try:
            self._file = Path(os.path.realpath(path))  # SQLite keeps the log beside the target
            guard = self._acquire()
            try:
                self._connection = self._connect(guard)
            except BaseException:
                guard.release()
                raise
        except InputError:
            raise
        except (OSError, ValueError, sqlite3.Error) as error:
            reason = error.strerror or error if isinstance(error, OSError) else error
            raise InputError(f"{self.path} cannot be used as a journal: {reason}") from error
        self._close = weakref.finalize(self, _close, self._connection, guard, os.getpid())

    def get(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return those of the tasks that are in the journal.

        Args:
            keys: of the tasks.
        """
        wanted = list(keys)
        values: dict[str, bytes] = {}
        damaged = 0
        with self._lock:
            for number, key, value, check in self._rows("pieces", wanted):
                if journalfile.checksum("pieces", number, key, value) == check:
                    values[key] = value
                else:
                    damaged += 1
        if damaged:  # since the journal was opened
            self.notes.append(f"{self.path} was damaged while it was open: {damaged:,} finished tasks are lost")
        return values

    def put(self, pieces: dict[str, bytes]) -> None:
        """Save finished tasks, all or none of them.

        Args:
            pieces: values by key.
        """
        self._save("pieces", pieces)

    def claim(self, settings: Mapping[str, Any]) -> None:
        """Save the settings of the run, and refuse a journal of a run with other settings.

        Args:
            settings: plain values by name, on which the answer depends: parameters, a fingerprint of the data, versions.
        """
        here = json.loads(json.dumps(dict(settings)))
        there = self.remembered("settings")
        if there is None:
            self.remember("settings", here)
            return
        if not isinstance(there, dict):
            raise InputError(
                f"{self.path}: the saved settings of the run are not valid; delete the file, or give another one"
            )
        for name in dict.fromkeys([*there, *here]):
            if there.get(name) != here.get(name):
                raise InputError(
                    f"{self.path} keeps another run: {name} is {_shown(there.get(name))} there and {_shown(here.get(name))} "
                    "here; give another file, or delete it"
                )

    def remember(self, name: str, value: Any) -> None:
        """Save something about the run.

        Args:
            name: what it is.
            value: a plain value.
        """
        self._save("run", {name: json.dumps(value)})

    def remembered(self, name: str) -> Any:
        """Return what was saved about the run; None if there is nothing.

        Args:
            name: what it is.
        """
        with self._lock:
            rows = self._rows("run", [name])
        try:
            for number, key, value, check in rows:
                if journalfile.checksum("run", number, key, value) != check:
                    raise ValueError
                return json.loads(value)
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(
                f"{self.path} is damaged: its {name} cannot be read; delete it, or give another file"
            ) from error
        return None

    def close(self) -> None:
        """Close the file."""
        self._close()

    def __enter__(self) -> SqliteJournal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _rows(self, table: str, keys: Sequence[str]) -> list[Any]:
        """Return the rows with these keys."""
        rows: list[Any] = []
        with self._explain("read as a journal"):
            for begin in range(0, len(keys), 500):
                some = keys[begin : begin + 500]
                query = f"SELECT * FROM {table} WHERE {TABLES[table]} IN ({','.join('?' * len(some))})"
                rows += self._connection.execute(query, some).fetchall()
        return rows

    def _save(self, table: str, values: Mapping[str, Any]) -> None:
        """Add rows or change their values, in one transaction."""
        with self._lock, self._explain("written"):
            before = {key: (number, value) for number, key, value, _ in self._rows(table, list(values))}
            number = self._connection.execute(f"SELECT coalesce(max(number), 0) FROM {table}").fetchone()[0]
            added, changed = [], []
            for key, value in values.items():
                if key not in before:
                    number += 1
                    added.append((number, key, value, journalfile.checksum(table, number, key, value)))
                elif before[key][1] != value:
                    check = journalfile.checksum(table, before[key][0], key, value)
                    changed.append((value, check, before[key][0]))
            with self._connection:
                self._connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", added)
                self._connection.executemany(f"UPDATE {table} SET value = ?, checksum = ? WHERE number = ?", changed)
            if changed or table == "run" or is_full(self._file):
                self._restart()

    def _restart(self) -> None:
        """Copy the log to the file and start it again at its first slot.

        After that, an old value that was replaced is nowhere any more where recovery might find it.
        """
        _, used, _ = self._connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
        self._connection.execute(f"PRAGMA user_version = {OPEN}")  # writes the first frame
        fill(self._file, 1, used)

    @contextmanager
    def _explain(self, what: str) -> Iterator[None]:
        """Turn an error of SQLite into one line; what was saved before stays."""
        try:
            yield
        except (sqlite3.Error, UnicodeError, OSError) as error:
            raise InputError(f"{self.path} cannot be {what}: {error}") from error

    def _acquire(self) -> _Guard:
        """Lock the file and make sure that it is a sound journal: create it, or recover it, if necessary."""
        recovered = False
        while True:
            if not _size(self._file) and Log.beside(self._file) is None:
                self._create()
            guard = _Guard(self._file, self.path)
            try:
                if Path(f"{self._file}-journal").exists():
                    raise InputError(f"{self.path}-journal was left by another program; delete it, or give another file")
                journalfile.verify(self._file)
                return guard
            except DamagedError as error:
                reason = str(error)
            except BaseException:
                guard.release()
                raise
            try:
                if recovered:
                    raise InputError(f"{self.path} was changed while it was opened; try again")
                self._recover(reason)
                recovered = True
            finally:
                guard.release()

    def _create(self) -> None:
        """Put an empty journal in the place of a file that is empty or does not exist."""
        with journalfile.temporary(self._file) as new:
            journalfile.write(new, {})
            if self._file.exists():
                new.replace(self._file)
            else:
                with suppress(FileExistsError):  # another process was faster
                    _link(new, self._file)

    def _recover(self, reason: str) -> None:
        """Replace a damaged journal by a new one with all rows that are intact; keep the damaged files.

        Until the new journal is complete and checked, nothing is changed. If the process is killed before the old log is
        deleted, the new journal is in place, and as it is marked as closed, the old log is ignored.
        """
        found = self._salvage()
        if not any(found.rows.values()):
            raise InputError(f"{self.path} cannot be used as a journal: {reason}; give another file, or delete it")
        log = log_of(self._file)
        aside = next(p for n in count(1) if not os.path.lexists(p := self._file.with_name(f"{self._file.name}.damaged-{n}")))
        try:
            with journalfile.temporary(self._file) as new:
                journalfile.write(new, found.rows)
                journalfile.verify(new)
                for source, target in ((self._file, aside), (log, log_of(aside))):
                    if source.exists():
                        _link(source, target)
                if self._file.exists():
                    shutil.copymode(self._file, new)
                new.replace(self._file)
            log.unlink(missing_ok=True)
        except (OSError, sqlite3.Error, DamagedError) as error:
            why = error.strerror or error if isinstance(error, OSError) else error
            raise InputError(f"{self.path} is damaged ({reason}), and cannot be recovered here: {why}") from error
        self.notes.append(f"{self.path} was damaged ({reason}); {_outcome(found)}; the damaged file is now {aside.name}")

    def _salvage(self) -> Salvage:
        log = Log.beside(self._file)
        if not _size(self._file):
            return journalfile.salvage(b"", log)
        with self._file.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as main:
            return journalfile.salvage(main, log)

    def _connect(self, guard: _Guard) -> sqlite3.Connection:
        """Open a sound journal and mark it as open, in the file itself and not only in the log."""
        with self._file.open("rb") as file:
            file.seek(60)
            if int.from_bytes(file.read(4), "big") == CLOSED:
                log_of(self._file).unlink(missing_ok=True)  # left over: a closed journal is complete
        connection = journalfile.connect(self._file, check_same_thread=False, timeout=_PATIENCE)
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA wal_autocheckpoint = 0")  # see _restart
            try:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            except sqlite3.OperationalError:  # on NFS the two kinds of locks exclude each other
                guard.unlock()
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            connection.execute(f"PRAGMA user_version = {OPEN}")
            fill(self._file)
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        except BaseException:
            connection.close()
            raise
        return connection


def _close(connection: sqlite3.Connection, guard: _Guard, process: int) -> None:
    """Mark a journal as closed once everything is in its file, and close it."""
    if process != os.getpid():  # a child of the process that has it open
        return
    with suppress(sqlite3.Error):  # such as on a full disk: everything stays in the log
        _, frames, done = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if frames == done:
            connection.execute(f"PRAGMA user_version = {CLOSED}")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    guard.release()


class _Guard:
    """A lock on a database file that keeps other processes away until SQLite has locked it.

    A process loses the locks that SQLite uses when it closes the file anywhere. So the file stays open until the end, a
    process opens a journal only once, and the lock here is one of another kind (`flock`).
    """

    def __init__(self, file: Path, shown: Path) -> None:
        self._handle: int | None = None
        self._identity = (0, 0)
        if not _size(file):  # it is empty, or only its log is there
            return
        deadline = time.monotonic() + _PATIENCE
        while self._handle is None:
            status = file.stat()
            if (status.st_dev, status.st_ino) in _ours:
                raise InputError(f"{shown} is already open in this process; close it first, or give another file")
            handle = os.open(file, os.O_RDWR)
            if _lock(handle) and _same(handle, file):
                self._handle, self._identity = handle, (status.st_dev, status.st_ino)
                _ours.add(self._identity)
                return
            os.close(handle)
            if time.monotonic() > deadline:
                raise InputError(f"{shown} is in use by another process; wait for it, or give another file")
            time.sleep(0.05)

    def unlock(self) -> None:
        """Give up the lock, but keep the file open."""
        with suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(self._handle or 0, fcntl.LOCK_UN)

    def release(self) -> None:
        """Let other processes use the file."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
            _ours.discard(self._identity)


def _lock(handle: int) -> bool:
    """Lock a file unless another process uses it, with SQLite or without; on Windows only SQLite locks it."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, _LOCKED[1], _LOCKED[0])
        fcntl.lockf(handle, fcntl.LOCK_UN, _LOCKED[1], _LOCKED[0])
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EACCES, errno.EAGAIN)  # others mean that there are no locks here
    return True


def _same(handle: int, file: Path) -> bool:
    """Whether an open file is still the one of that name."""
    try:
        return os.path.samestat(os.fstat(handle), file.stat())
    except FileNotFoundError:
        return False


def _size(file: Path) -> int:
    """Return the size of a file, 0 if it does not exist; refuse anything but a file."""
    try:
        status = file.stat()
    except FileNotFoundError:
        return 0
    if not stat.S_ISREG(status.st_mode):
        raise InputError(
            f"{file} cannot be used as a journal: it is {'a folder' if file.is_dir() else 'not a regular file'}"
        )
    return status.st_size


def _link(source: Path, target: Path) -> None:
    """Give a file a second name, or copy it where the file system has no links; `target` must not exist."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:
        shutil.copy2(source, target)


def _outcome(found: Salvage) -> str:
    """Say what was recovered and what was lost."""
    tasks, lost = len(found.rows["pieces"]), found.lost("pieces")
    text = f"{tasks:,} finished tasks were recovered, " + (f"at least {lost:,} are lost" if lost else "some may be lost")
    if len(found.rows["run"]) < 2 or found.lost("run"):
        text += ", and so may be what it says about its run"
    return text


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
