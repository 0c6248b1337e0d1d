"""Journal: what a long run has finished, so that it resumes."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Protocol

from dagneal.errors import InputError


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
    """A journal in one SQLite file.

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
        self._lock = Lock()
        try:
            self._connection = sqlite3.connect(self.path, check_same_thread=False, timeout=30)
        except sqlite3.Error as error:
            raise InputError(f"{self.path} cannot be used as a journal: {error}") from error
        try:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("CREATE TABLE IF NOT EXISTS pieces (key TEXT PRIMARY KEY, value BLOB NOT NULL)")
            self._connection.commit()
        except sqlite3.Error as error:
            self._connection.close()
            raise InputError(f"{self.path} cannot be used as a journal: {error}") from error

    def get(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Those of the pieces that are there.

        Args:
            keys: of the pieces wanted.
        """
        wanted = list(keys)
        found: dict[str, bytes] = {}
        try:
            with self._lock:
                for begin in range(0, len(wanted), 500):
                    some = wanted[begin : begin + 500]
                    marks = ",".join("?" * len(some))
                    found.update(self._connection.execute(f"SELECT key, value FROM pieces WHERE key IN ({marks})", some))
        except sqlite3.Error as error:
            raise InputError(f"{self.path} cannot be read as a journal: {error}") from error
        return found

    def put(self, pieces: dict[str, bytes]) -> None:
        """Keep pieces, all or none of them.

        Args:
            pieces: values by key.
        """
        try:
            with self._lock, self._connection:
                self._connection.executemany("INSERT OR REPLACE INTO pieces VALUES (?, ?)", list(pieces.items()))
        except sqlite3.Error as error:
            raise InputError(f"{self.path} cannot be written: {error}") from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> SqliteJournal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
