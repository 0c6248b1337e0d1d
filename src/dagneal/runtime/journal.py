"""Journals store finished tasks, so that an interrupted run can resume."""

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
from dagneal.runtime.walfile import Log, fill, is_full, log_path

# The end of error messages about invalid content with a correct checksum.
FOREIGN_JOURNAL = "dagneal did not write this journal; delete it, or give another file"
_LOCK_TIMEOUT = 2.0  # seconds to wait for another process that uses the journal, because it may be about to end
_LOCKED = (0x40000000, 512)  # first byte and number of bytes that SQLite locks, beyond the content of the file
_open_here: set[tuple[int, int]] = set()  # device and inode of journals that are open in this process


@runtime_checkable
class Journal(Protocol):
    """A store of finished tasks: any object with the methods `get` and `put`."""

    def get(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the stored results by key. Keys without a stored result are left out."""
        ...

    def put(self, results: dict[str, bytes]) -> None:
        """Store results by key. Once this method has returned, a crash must not lose the results."""
        ...


class SqliteJournal:
    """A journal in an SQLite file, which only one process can use at a time.

    Opening a journal checks the whole file and its write-ahead log. If anything is missing or changed, a new journal with
    all intact content replaces the file. The damaged files are kept under another name, and `notes` states what was lost.
    If the file has no intact content, an error is raised and the file is not changed.

    Args:
        path: file of the journal; it is created if it does not exist.

    Attributes:
        notes: messages for the user, such as a report of damage.

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
            self._file = Path(os.path.realpath(path))  # SQLite writes the log next to the target of a symbolic link
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
        """Return the stored results by key. Keys without a stored result are left out.

        Args:
            keys: keys of the requested tasks.
        """
        values: dict[str, bytes] = {}
        damaged = 0
        with self._lock:
            for number, key, value, check in self._rows("pieces", list(keys)):
                if journalfile.checksum("pieces", number, key, value) == check:
                    values[key] = value
                else:
                    damaged += 1
        if damaged:  # this damage is new, because the journal was checked when it was opened
            self.notes.append(f"{self.path} was damaged while it was open; number of lost tasks: {damaged:,}")
        return values

    def put(self, results: dict[str, bytes]) -> None:
        """Save the results of finished tasks in one transaction.

        Args:
            results: results by key.
        """
        self._save("pieces", results)

    def claim(self, settings: Mapping[str, Any]) -> None:
        """Save the settings of the run. If the journal already has settings and they differ, raise an error.

        Args:
            settings: names and JSON values of everything that determines the result, such as parameters, versions and data.
        """
        current = json.loads(json.dumps(dict(settings)))
        saved = self.recall("settings")
        if saved is None:
            self.remember("settings", current)
            return
        if not isinstance(saved, dict):
            raise InputError(f"the settings saved in {self.path} are invalid; delete the file, or give another one")
        for name in dict.fromkeys([*saved, *current]):
            if saved.get(name) != current.get(name):
                raise InputError(
                    f"{self.path} belongs to another run: {name} was {_format(saved.get(name))}, now it is "
                    f"{_format(current.get(name))}; give another file, or delete this one"
                )

    def remember(self, name: str, value: Any) -> None:
        """Save a value about the run under a name.

        Args:
            name: name of the value, such as "command".
            value: JSON value.
        """
        self._save("run", {name: json.dumps(value)})

    def recall(self, name: str) -> Any:
        """Return the value that `remember` saved under a name; None if nothing was saved.

        Args:
            name: name of the value.
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
                f"{self.path} is damaged: the saved {name} cannot be read; delete the file, or give another one"
            ) from error
        return None

    def close(self) -> None:
        """Close the journal."""
        self._close()

    def __enter__(self) -> SqliteJournal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _rows(self, table: str, keys: Sequence[str]) -> list[Any]:
        """Return the rows of a table that have one of the given keys."""
        rows: list[Any] = []
        with self._explain("read as a journal"):
            for begin in range(0, len(keys), 500):
                some = keys[begin : begin + 500]
                query = f"SELECT * FROM {table} WHERE {TABLES[table]} IN ({','.join('?' * len(some))})"
                rows += self._connection.execute(query, some).fetchall()
        return rows

    def _save(self, table: str, values: Mapping[str, Any]) -> None:
        """Insert or update rows of a table in one transaction."""
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
        """Copy the write-ahead log to the database file, and write the log from its beginning again.

        This overwrites outdated values in the log, so that a later recovery cannot find them.
        """
        _, used, _ = self._connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
        self._connection.execute(f"PRAGMA user_version = {OPEN}")  # writes the first frame
        fill(self._file, 1, used)

    @contextmanager
    def _explain(self, what: str) -> Iterator[None]:
        """Turn errors of SQLite in the `with` block into an `InputError`. `what` is the failed action, such as "written"."""
        try:
            yield
        except (sqlite3.Error, UnicodeError, OSError) as error:
            raise InputError(f"{self.path} cannot be {what}: {error}") from error

    def _acquire(self) -> _Guard:
        """Lock the journal file and check it. Create or recover the journal if necessary."""
        recovered = False
        while True:
            if not _size(self._file) and Log.load(self._file) is None:
                self._create()
            guard = _Guard(self._file, self.path)
            try:
                if Path(f"{self._file}-journal").exists():
                    raise InputError(
                        f"{self.path}-journal was left by another program; delete it, or give another journal file"
                    )
                journalfile.verify(self._file)
                return guard
            except DamagedError as error:
                reason = str(error)
            except BaseException:
                guard.release()
                raise
            try:
                if recovered:
                    raise InputError(f"{self.path} changed while it was being opened; try again")
                self._recover(reason)
                recovered = True
            finally:
                guard.release()

    def _create(self) -> None:
        """Create a journal without tasks. An empty file is replaced."""
        with journalfile.temporary_file(self._file) as new:
            journalfile.write(new, {})
            if self._file.exists():
                new.replace(self._file)
            else:
                with suppress(FileExistsError):  # another process has created the journal meanwhile
                    _link(new, self._file)

    def _recover(self, reason: str) -> None:
        """Replace a damaged journal by a new journal with all intact rows, and keep the damaged files under another name.

        No existing file changes until the new journal is complete and checked. If the process is killed before the old log
        is deleted, the old log is ignored, because the new journal is marked as closed.
        """
        salvaged = self._salvage()
        if not any(salvaged.rows.values()):
            raise InputError(f"{self.path} cannot be used as a journal: {reason}; give another file, or delete this one")
        log = log_path(self._file)
        backups = (self._file.with_name(f"{self._file.name}.damaged-{number}") for number in count(1))
        backup = next(path for path in backups if not os.path.lexists(path))
        try:
            with journalfile.temporary_file(self._file) as new:
                journalfile.write(new, salvaged.rows)
                journalfile.verify(new)
                for source, target in ((self._file, backup), (log, log_path(backup))):
                    if source.exists():
                        _link(source, target)
                if self._file.exists():
                    shutil.copymode(self._file, new)
                new.replace(self._file)
            log.unlink(missing_ok=True)
        except (OSError, sqlite3.Error, DamagedError) as error:
            cause = error.strerror or error if isinstance(error, OSError) else error
            raise InputError(f"{self.path} is damaged ({reason}), and the recovery failed: {cause}") from error
        self.notes.append(
            f"{self.path} was damaged ({reason}); {_describe(salvaged)}; the damaged file is now {backup.name}"
        )

    def _salvage(self) -> Salvage:
        log = Log.load(self._file)
        if not _size(self._file):
            return journalfile.salvage(b"", log)
        with self._file.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as main:
            return journalfile.salvage(main, log)

    def _connect(self, guard: _Guard) -> sqlite3.Connection:
        """Open a valid journal, and mark it as open in the database file itself, not only in the write-ahead log."""
        with self._file.open("rb") as file:
            file.seek(60)  # user_version
            if int.from_bytes(file.read(4), "big") == CLOSED:
                log_path(self._file).unlink(missing_ok=True)  # a closed journal is complete, so this log is outdated
        connection = journalfile.connect(self._file, check_same_thread=False, timeout=_LOCK_TIMEOUT)
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA wal_autocheckpoint = 0")  # see _restart
            try:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            except sqlite3.OperationalError:  # on NFS, flock and the locks of SQLite exclude each other
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
    """Copy the write-ahead log to the database file, mark the journal as closed, and close it."""
    if process != os.getpid():  # a child process inherited the journal
        return
    with suppress(sqlite3.Error):  # on a full disk, for example: the data stay in the log
        _, frames, done = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if frames == done:
            connection.execute(f"PRAGMA user_version = {CLOSED}")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    guard.release()


class _Guard:
    """A lock on a database file, so that other processes cannot use it before SQLite has locked it.

    SQLite's locks are lost when the process closes any handle of the file. So this class keeps its handle open until the
    journal is closed, uses another kind of lock (`flock`), and refuses to open a file twice in a process.
    """

    def __init__(self, file: Path, name: Path) -> None:
        self._handle: int | None = None
        self._identity = (0, 0)
        if not _size(file):  # empty, or only the log exists
            return
        deadline = time.monotonic() + _LOCK_TIMEOUT
        while self._handle is None:
            status = file.stat()
            if (status.st_dev, status.st_ino) in _open_here:
                raise InputError(f"{name} is already open in this process; close it first, or give another file")
            handle = os.open(file, os.O_RDWR)
            if _lock(handle) and _is_same_file(handle, file):
                self._handle, self._identity = handle, (status.st_dev, status.st_ino)
                _open_here.add(self._identity)
                return
            os.close(handle)
            if time.monotonic() > deadline:
                raise InputError(f"{name} is in use by another process; wait until it ends, or give another file")
            time.sleep(0.05)

    def unlock(self) -> None:
        """Release the lock, but keep the file open."""
        with suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(self._handle or 0, fcntl.LOCK_UN)

    def release(self) -> None:
        """Release the lock and close the file."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
            _open_here.discard(self._identity)


def _lock(handle: int) -> bool:
    """Lock a file. Return False if another process uses it. Do nothing on Windows, where only SQLite locks the file."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, _LOCKED[1], _LOCKED[0])
        fcntl.lockf(handle, fcntl.LOCK_UN, _LOCKED[1], _LOCKED[0])
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # Other errors mean that the file system does not support locks.
        return error.errno not in (errno.EACCES, errno.EAGAIN)
    return True


def _is_same_file(handle: int, file: Path) -> bool:
    """Return whether an open file is still the file at a path, and was not replaced or deleted."""
    try:
        return os.path.samestat(os.fstat(handle), file.stat())
    except FileNotFoundError:
        return False


def _size(file: Path) -> int:
    """Return the size of a file, or 0 if it does not exist; raise an error if it is not a regular file."""
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
    """Create a hard link to a file, or a copy if hard links are not possible. `target` must not exist."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:
        shutil.copy2(source, target)


def _describe(salvaged: Salvage) -> str:
    """Return a text that states what was recovered and what was lost."""
    tasks, lost = len(salvaged.rows["pieces"]), salvaged.lost("pieces")
    text = f"recovered tasks: {tasks:,}, lost tasks: " + (f"at least {lost:,}" if lost else "unknown, possibly none")
    if len(salvaged.rows["run"]) < 2 or salvaged.lost("run"):
        text += "; the saved command and settings may be lost"
    return text


def _format(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
