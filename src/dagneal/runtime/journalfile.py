"""The file format of journals: write, check and recover journal files.

A journal is an SQLite database with a write-ahead log. The table `pieces` has finished tasks, and the table `run` has
information about the run.
Rows are numbered from 1 without gaps, and each row has a checksum of its number, key and value. The field `user_version` of
the database header states whether a process has the journal open. An open journal needs its write-ahead log, which contains
all changes since the last checkpoint.

Recovery does not use SQLite to read the damaged file. It reads rows from all pages that look like leaf pages of a table, and
keeps the rows with a correct checksum. So recovery works even if links between pages or the schema are damaged.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
import struct
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from dagneal.runtime.walfile import PAGE, Log, log_path

MARK = 0xDA67EA1  # value of the header field application_id in journals
OPEN, CLOSED = 0x6F70656E, 0x73687574  # values of the header field user_version
TABLES = {"pieces": "key", "run": "name"}  # name of the key column in each table
_TYPES = {"pieces": "BLOB", "run": "TEXT"}
_MAGIC = b"SQLite format 3\0"
# The largest and the smallest number of bytes of a row on its leaf page. The rest of a large row is on overflow pages.
_LOCAL, _LEAST = PAGE - 35, (PAGE - 12) * 32 // 255 - 23
_FORMAT = ("format", "1")  # first row of the table `run`, which is therefore never empty
_LEAF = 13  # first byte of a leaf page, which contains rows

_SCHEMA = {
    name: f"CREATE TABLE {name} (number INTEGER PRIMARY KEY, {key} TEXT NOT NULL UNIQUE, value {_TYPES[name]} NOT NULL, "
    "checksum BLOB NOT NULL)"
    for name, key in TABLES.items()
}
_MASTER = sorted(  # expected content of the table sqlite_master
    row
    for name, text in _SCHEMA.items()
    for row in (("table", name, name, text), ("index", f"sqlite_autoindex_{name}_1", name, ""))
)

Rows = dict[int, tuple[str, Any]]  # (key, value) by row number


class DamagedError(Exception):
    """The file is not a valid journal. The message states the reason."""


def checksum(table: str, number: int, key: Any, value: Any) -> bytes:
    """Compute the checksum of a row of a journal. If the key or value has a wrong type, return the invalid checksum `b""`.

    Args:
        table: name of the table, `pieces` or `run`.
        number: number of the row.
        key: key of the row.
        value: value of the row; bytes in the table `pieces`, text in the table `run`.
    """
    if not isinstance(key, str) or not isinstance(value, str if table == "run" else bytes):
        return b""
    content = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    name = key.encode("utf-8", "surrogatepass")
    state = blake2b(struct.pack(">qq", number, len(name)), digest_size=16, person=table.encode())
    state.update(name)
    state.update(content)
    return state.digest()


def connect(path: Path, options: str = "", **more: Any) -> sqlite3.Connection:
    """Open a database with settings that protect against manipulated files.

    Args:
        path: database file.
        options: URI parameters, such as `?mode=ro`.
        **more: further arguments of `sqlite3.connect`.
    """
    connection: sqlite3.Connection = sqlite3.connect(f"{path.absolute().as_uri()}{options}", uri=True, **more)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA secure_delete = ON")  # overwrite replaced values, so that recovery cannot find them
    return connection


def verify(path: Path) -> None:
    """Check the whole content of a journal and its log. Nothing is changed.

    Args:
        path: journal file, which no other process uses.

    Raises:
        DamagedError: if anything is missing or changed.
    """
    if not path.exists() or not path.stat().st_size:
        raise DamagedError("the file is missing or empty, but its write-ahead log exists")
    with path.open("rb") as file:
        head = file.read(100)
    state = _state(head)
    if state == CLOSED:  # if there is a log, it is outdated
        _check(path)
        return
    if state != OPEN:
        raise DamagedError(_describe(head))
    log = Log.load(path)
    if log is None:
        raise DamagedError("its write-ahead log is missing")
    if log.fault is not None:
        raise DamagedError(log.fault)
    if log.pages is None:
        _check(path)
        return
    with temporary_file(path) as copy:
        shutil.copyfile(path, copy)
        with copy.open("r+b") as file:
            for number, page in log.transactions.items():
                file.seek((number - 1) * PAGE)
                file.write(page)
            file.truncate(log.pages * PAGE)
        _check(copy)


def _state(head: bytes) -> int | None:
    """Return the state of a journal, `OPEN` or `CLOSED`, from its header; None if `head` is not the header of a journal."""
    fixed = {0: _MAGIC, 16: PAGE.to_bytes(2, "big"), 18: b"\2\2\0\x40\x20\x20", 44: b"\0\0\0\4", 52: b"\0\0\0\0\0\0\0\1"}
    fixed |= {64: bytes(4), 68: MARK.to_bytes(4, "big"), 72: bytes(20)}
    if len(head) < 100 or any(head[at : at + len(value)] != value for at, value in fixed.items()):
        return None
    state = int.from_bytes(head[60:64], "big")
    return state if state in (OPEN, CLOSED) else None


def _describe(head: bytes) -> str:
    """Return a description of a file that does not have the header of a journal."""
    if head[68:72] == MARK.to_bytes(4, "big"):
        return "its header is damaged, or another version of dagneal wrote it"
    return "it is an SQLite database of another program" if head.startswith(_MAGIC) else "it is not an SQLite database"


def _check(path: Path) -> None:
    """Check the header, schema, structure and all rows of a journal file, without its write-ahead log."""
    with path.open("rb") as file:
        head = file.read(100)
    if _state(head) is None:
        raise DamagedError(_describe(head))
    try:
        with closing(connect(path, "?mode=ro&immutable=1")) as connection:
            master = connection.execute("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master").fetchall()
            if sorted(master) != _MASTER:
                raise DamagedError("its tables are not those of a journal")
            if connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
                raise DamagedError("its structure is damaged")
            for table in TABLES:
                _check_rows(connection, table)
    except (sqlite3.Error, UnicodeError, TypeError) as error:  # for some files, sqlite3 fails while it reports the error
        raise DamagedError("its structure is damaged") from error


def _check_rows(connection: sqlite3.Connection, table: str) -> None:
    """Check that the rows of a table are numbered without gaps and have correct checksums."""
    count = 0
    query = f"SELECT number, {TABLES[table]}, value, checksum FROM {table} NOT INDEXED ORDER BY number"
    for count, (number, key, value, check) in enumerate(connection.execute(query), 1):
        if number != count or checksum(table, number, key, value) != check:
            raise DamagedError("some of its rows are damaged")
    if table == "run" and not count:
        raise DamagedError("some of its rows are missing")


@contextmanager
def temporary_file(path: Path) -> Iterator[Path]:
    """Yield an unused path in the folder of `path`. Afterwards, delete the file at this path and its log, if they exist."""
    name = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield name
    finally:
        for file in (name, log_path(name)):
            with suppress(OSError):
                file.unlink()


def write(path: Path, rows: Mapping[str, Rows]) -> None:
    """Write a new journal that is marked as closed. The rows get new numbers, from 1.

    Args:
        path: file to create.
        rows: rows by table name; the rows of a table are a dict from row number to (key, value).
    """
    with closing(connect(path)) as connection:
        for setting in (f"page_size = {PAGE}", "encoding = 'UTF-8'", "auto_vacuum = 0", "locking_mode = EXCLUSIVE"):
            connection.execute(f"PRAGMA {setting}")
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("BEGIN")
        for table, text in _SCHEMA.items():
            connection.execute(text)
            content = [row for _, row in sorted(rows.get(table, {}).items()) if row[0] != _FORMAT[0]]
            content = [_FORMAT, *content] if table == "run" else content
            lines = [
                (number, key, value, checksum(table, number, key, value)) for number, (key, value) in enumerate(content, 1)
            ]
            connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", lines)
        connection.execute(f"PRAGMA application_id = {MARK}")
        connection.execute(f"PRAGMA user_version = {CLOSED}")
        connection.commit()
    with path.open("rb+") as file:
        os.fsync(file.fileno())


@dataclass
class Salvage:
    """Content recovered from a damaged journal.

    Attributes:
        rows: intact rows by table name; the rows of a table are a dict from row number to (key, value).
    """

    rows: dict[str, Rows] = field(default_factory=lambda: {table: {} for table in TABLES})

    def lost(self, table: str) -> int:
        """Return a lower bound on the number of lost rows: the count of missing row numbers below the largest row number.

        Args:
            table: name of the table.
        """
        return max(self.rows[table], default=0) - len(self.rows[table])


def salvage(main: Any, log: Log | None) -> Salvage:
    """Collect the intact rows of a damaged journal.

    Args:
        main: content of the database file.
        log: write-ahead log of the database; None if there is no log.
    """
    frames = [] if log is None else log.frames()
    newest = dict(frames)

    def page(number: int) -> bytes:
        return newest[number] if number in newest else main[(number - 1) * PAGE : number * PAGE].ljust(PAGE, b"\0")

    salvaged = Salvage()
    keys: dict[str, set[str]] = {table: set() for table in TABLES}
    count = -(-len(main) // PAGE)

    def images() -> Iterator[tuple[int, bytes]]:
        """Yield (page number, content) for every stored version of every page. The newest versions come first."""
        yield from newest.items()
        for number in range(1, count + 1):
            at = (number - 1) * PAGE + (100 if number == 1 else 0)
            if at < len(main) and main[at] == _LEAF:
                yield number, main[(number - 1) * PAGE : number * PAGE].ljust(PAGE, b"\0")
        yield from reversed(frames)

    most = len(main) + len(newest) * PAGE
    for number, content in images():
        for row, payload in _rows_on_page(content, 100 if number == 1 else 0, page, most, salvaged.rows["pieces"]):
            record = _record(payload, row)
            if record is not None:
                table, key, value = record
                if row not in salvaged.rows[table] and key not in keys[table]:
                    salvaged.rows[table][row] = key, value
                    keys[table].add(key)
    return salvaged


def _rows_on_page(content: bytes, head: int, page: Any, most: int, known: Rows) -> Iterator[tuple[int, bytes]]:
    """Yield (row number, undecoded content) for each row on a page.

    Args:
        content: content of the page.
        head: offset of the page header, which is 100 on the first page and 0 on other pages.
        page: function that returns the newest content of a page, given its number.
        most: upper bound on the size of a row, in bytes; rows with a larger size are damaged and are skipped.
        known: rows of the table `pieces` that were already found; those with a number above 64 are not yielded again.
    """
    if content[head] != _LEAF:
        return
    count = min(int.from_bytes(content[head + 3 : head + 5], "big"), (PAGE - head - 8) // 2)
    for at in struct.unpack_from(f">{count}H", content, head + 8):
        if not head + 8 <= at <= PAGE - 4:
            continue
        size, begin = _varint(content, at)
        number, begin = _varint(content, begin)
        if not 0 < number < 1 << 62 or size > most or (number in known and number > 64):  # small numbers may belong to `run`
            continue
        if size <= _LOCAL:
            yield number, content[begin : begin + size]
            continue
        local = _LEAST + (size - _LEAST) % (PAGE - 4)
        local = local if local <= _LOCAL else _LEAST
        parts, left = [content[begin : begin + local]], size - local
        following = int.from_bytes(content[begin + local : begin + local + 4], "big")
        while left > 0 and following:
            overflow = page(following)
            parts.append(overflow[4 : 4 + left])
            following, left = int.from_bytes(overflow[:4], "big"), left - (PAGE - 4)
        yield number, b"".join(parts)


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """Decode the number at offset `at`, in SQLite's varint format, and return (number, offset of the next byte)."""
    value = 0
    for position in range(at, min(at + 8, len(content))):
        value = value << 7 | content[position] & 0x7F
        if content[position] < 0x80:
            return value, position + 1
    return 1 << 62, at  # invalid; larger than any number in a journal


def _record(payload: bytes, number: int) -> tuple[str, str, Any] | None:
    """Decode a row with the fields number, key, value and checksum.

    The field of the number is empty, because SQLite stores the number elsewhere.

    Args:
        payload: undecoded content of the row.
        number: number of the row.

    Returns:
        Tuple (table name, key, value); None if `payload` is not an intact row of a journal.
    """
    size, at = _varint(payload, 0)
    kinds: list[int] = []
    while at < min(size, len(payload)) and len(kinds) < 4:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    if len(kinds) != 4 or at != size or kinds[0] != 0 or min(kinds[1:]) < 12 or kinds[1] % 2 == 0 or kinds[3] % 2:
        return None
    table = "run" if kinds[2] % 2 else "pieces"  # text or bytes
    first, second, third = ((kind - 12) // 2 for kind in kinds[1:])
    if at + first + second + third != len(payload):
        return None
    name, value, check = payload[at : at + first], payload[at + first : at + first + second], payload[at + first + second :]
    try:
        key = name.decode()
        content = value.decode() if table == "run" else value
    except UnicodeDecodeError:
        return None
    return (table, key, content) if checksum(table, number, key, content) == check else None
