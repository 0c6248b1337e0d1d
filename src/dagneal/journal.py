"""Journal: what a long run has finished, so that it resumes."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from hashlib import blake2b
from itertools import count
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Protocol

from dagneal.errors import InputError
from dagneal.walfile import Log

_MARK = 0xDA67EA1  # what tells our databases from others
_PATIENCE = 2.0  # seconds to wait for another process that is just ending


class Journal(Protocol):
    """Where finished pieces are kept; any object with these two will do."""

    def get(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Those of the pieces that are there."""
        ...

    def put(self, pieces: dict[str, bytes]) -> None:
        """Keep pieces; once this returns they survive a crash."""
        ...


@contextmanager
def writing_down(solver: Any, journal: Journal | None) -> Iterator[None]:
    """For a while let a sampler that sends problems away write down what is paid for.

    Args:
        solver: any solver; one with a `line` sends problems away.
        journal: where to write; what the solver was made with goes first.
    """
    line = getattr(solver, "line", None)
    if line is None or line.journal is not None:
        yield
        return
    line.journal = journal
    try:
        yield
    finally:
        line.journal = None


class SqliteJournal:
    """A journal in one SQLite file, which one process has to itself.

    Every piece has a checksum. A file that was damaged is put aside, and what is intact in it is kept.

    Args:
        path: the file; it is made if it is not there.

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
        self.notes: list[str] = []  # what should be said of it
        self._lock = Lock()
        self._connection = self._opened()

    def get(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Those of the pieces that are there.

        Args:
            keys: of the pieces wanted.
        """
        wanted = list(keys)
        found: dict[str, bytes] = {}
        with self._lock:
            for begin in range(0, len(wanted), 500):
                some = wanted[begin : begin + 500]
                marks = ",".join("?" * len(some))
                for key, value, check in self._asked(
                    f"SELECT key, value, checksum FROM pieces WHERE key IN ({marks})", some
                ):
                    if _checksum(key, value) == check:
                        found[key] = value
        return found

    def put(self, pieces: dict[str, bytes]) -> None:
        """Keep pieces, all or none of them.

        Args:
            pieces: values by key.
        """
        lines = [(key, value, _checksum(key, value)) for key, value in pieces.items()]
        with self._lock, self._told("written"), self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO pieces VALUES (?, ?, ?)", lines)

    def claim(self, settings: Mapping[str, Any]) -> None:
        """Say what run this is for, and refuse a journal that keeps another one.

        Args:
            settings: plain values by name, on which the answer depends: parameters, a fingerprint of the data, versions.
        """
        here = json.loads(json.dumps(dict(settings)))
        there = self.remembered("settings")
        if there is None:
            self.remember("settings", here)
            return
        for name in dict.fromkeys([*there, *here]):
            if there.get(name) != here.get(name):
                raise InputError(
                    f"{self.path} keeps another run: {name} is {_shown(there.get(name))} there and {_shown(here.get(name))} "
                    "here; give another file, or delete it"
                )

    def remember(self, name: str, value: Any) -> None:
        """Keep something about the run.

        Args:
            name: what it is.
            value: a plain value.
        """
        with self._lock, self._told("written"), self._connection:
            self._connection.execute("INSERT OR REPLACE INTO run VALUES (?, ?)", (name, json.dumps(value)))
        with self._lock, self._told("written"):
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def remembered(self, name: str) -> Any:
        """What is kept about the run; None where it is not there.

        Args:
            name: what it is.
        """
        with self._lock:
            found = self._asked("SELECT value FROM run WHERE name = ?", [name])
        try:
            return json.loads(found[0][0]) if found else None
        except (TypeError, ValueError) as error:
            raise InputError(f"{self.path} is damaged in what it says of its run; delete it") from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> SqliteJournal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _asked(self, question: str, values: Sequence[str]) -> list[Any]:
        with self._told("read as a journal"):
            return self._connection.execute(question, values).fetchall()

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Say in one line what went wrong; what was written before stays."""
        try:
            yield
        except (sqlite3.Error, UnicodeError) as error:
            raise InputError(f"{self.path} cannot be {what}: {error}") from error

    def _opened(self) -> sqlite3.Connection:
        """Open the file, after what is intact has been saved from a damaged one."""
        log = Log.of(self.path)
        aside = next(p for n in count(1) if not (p := self.path.with_name(f"{self.path.name}.damaged-{n}")).exists())
        try:
            connection, taken = _connected(self.path, log)
            if log is not None and log.broken(taken):
                aside.write_bytes(log.replayed())
                self._note(_rescue(aside, connection), aside, "the log of ")
            return connection
        except DamagedError:
            for ending in ("-wal", "-shm"):
                Path(f"{self.path}{ending}").unlink(missing_ok=True)
            try:
                if self.path.exists():
                    self.path.rename(aside)
                if log is not None:
                    aside.write_bytes(log.replayed())
                connection, _ = _connected(self.path, None)
            except OSError as error:
                raise InputError(f"{self.path} is damaged and cannot be put aside: {error.strerror or error}") from error
            self._note(_rescue(aside, connection), aside)
            return connection

    def _note(self, saved: int, aside: Path, what: str = "") -> None:
        self.notes.append(
            f"{what}{self.path} was damaged; {saved:,} finished pieces were saved from it, and the file is now {aside.name}"
        )


class DamagedError(Exception):
    """The file was a journal."""


def _connected(path: Path, log: Log | None) -> tuple[sqlite3.Connection, int]:
    """A connection to a journal that no other process has open, and how many pages of its log were taken."""
    try:
        made = not path.exists() or not path.stat().st_size
        if made and log is not None:  # SQLite would delete what is left
            raise DamagedError
        connection = sqlite3.connect(path, check_same_thread=False, timeout=_PATIENCE)
    except (sqlite3.Error, OSError) as error:
        raise InputError(f"{path} cannot be used as a journal: {error}") from error
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")  # two processes would do everything twice
        if not made and connection.execute("PRAGMA application_id").fetchone()[0] != _MARK:
            if log is not None and _has_mark(log.replayed()):
                raise DamagedError
            raise InputError(f"{path} cannot be used as a journal: it is a database of something else")
        taken = int(connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1])  # before anything is added to it
        connection.execute("PRAGMA journal_mode = WAL")
        with connection:
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute(f"PRAGMA application_id = {_MARK}")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS pieces (key TEXT PRIMARY KEY, value BLOB NOT NULL, checksum BLOB NOT NULL)"
            )
            connection.execute("CREATE TABLE IF NOT EXISTS run (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
        if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise DamagedError
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()  # what it is must not be in the log alone
    except (sqlite3.Error, UnicodeError) as error:  # sqlite3 cannot even say what is wrong with some files
        connection.close()
        if "locked" in str(error):
            raise InputError(f"{path} is in use by another process; wait for it, or give another file") from error
        if isinstance(error, sqlite3.DatabaseError | UnicodeError) and _begins_as_journal(path):
            raise DamagedError from error
        raise InputError(f"{path} cannot be used as a journal: {error}") from error
    except (InputError, DamagedError):
        connection.close()
        raise
    return connection, taken


def _begins_as_journal(path: Path) -> bool:
    """Whether a file has the head of a journal, whatever comes after."""
    try:
        with path.open("rb") as file:
            head = file.read(72)
    except OSError:
        return False
    return _has_mark(head)


def _has_mark(head: bytes) -> bool:
    return head.startswith(b"SQLite format 3\0") and head[68:72] == _MARK.to_bytes(4, "big")


def _rescue(damaged: Path, connection: sqlite3.Connection) -> int:
    """Copy what can be read from a damaged journal, from its beginning and from its end; tell how many pieces."""
    saved: dict[str, tuple[str, bytes, bytes]] = {}
    kept: dict[str, str] = {}
    with closing(sqlite3.connect(damaged)) as old:
        for way in ("ASC", "DESC"):
            with suppress(sqlite3.Error, TypeError, ValueError):
                for line in old.execute(f"SELECT key, value, checksum FROM pieces ORDER BY rowid {way}"):
                    if _checksum(line[0], line[1]) == line[2]:
                        saved[line[0]] = line
        with suppress(sqlite3.Error, TypeError, ValueError):
            kept = dict(old.execute("SELECT name, value FROM run"))
    with connection:
        connection.executemany("INSERT OR REPLACE INTO pieces VALUES (?, ?, ?)", list(saved.values()))
        connection.executemany("INSERT OR REPLACE INTO run VALUES (?, ?)", list(kept.items()))
    return len(saved)


def _checksum(key: Any, value: Any) -> bytes:
    if not isinstance(key, str) or not isinstance(value, bytes):  # of a damaged file
        return b""
    return blake2b(value, digest_size=8, key=blake2b(key.encode(), digest_size=16).digest()).digest()


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
