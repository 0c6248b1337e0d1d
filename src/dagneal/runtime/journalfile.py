"""The file of a journal: its layout, a complete check, and recovery from a damaged one.

A journal is an SQLite database in WAL mode with two tables, `pieces` and `run`. Rows are numbered from 1 without gaps, and
each has a checksum of its number, its key and its value. The field `user_version` of the database header says whether a
process had the journal open: then everything since the last checkpoint is in the log beside it, and the log has to be there.

Recovery does not use SQLite to read the damaged file. It takes rows from all pages that look like leaves of a table, and
keeps those whose checksums match. So neither damaged links between pages nor a manipulated schema make a difference.
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

from dagneal.runtime.walfile import PAGE, Log, log_of

MARK = 0xDA67EA1  # application_id of journals
OPEN, CLOSED = 0x6F70656E, 0x73687574  # user_version: whether a process has, or had, the journal open
TABLES = {"pieces": "key", "run": "name"}  # the column that identifies a row
_TYPES = {"pieces": "BLOB", "run": "TEXT"}
_MAGIC = b"SQLite format 3\0"
_LOCAL, _LEAST = PAGE - 35, (PAGE - 12) * 32 // 255 - 23  # bytes of a row that its page holds, at most and at least
_FORMAT = ("format", "1")  # the first row of `run`: as it is never empty, an empty page cannot take its place unnoticed
_LEAF = 13  # first byte of a page with rows

_SCHEMA = {
    name: f"CREATE TABLE {name} (number INTEGER PRIMARY KEY, {key} TEXT NOT NULL UNIQUE, value {_TYPES[name]} NOT NULL, "
    "checksum BLOB NOT NULL)"
    for name, key in TABLES.items()
}
_MASTER = sorted(
    row
    for name, text in _SCHEMA.items()
    for row in (("table", name, name, text), ("index", f"sqlite_autoindex_{name}_1", name, ""))
)

Rows = dict[int, tuple[str, Any]]  # keys and values by number


class DamagedError(Exception):
    """The file is not a sound journal; the message says why."""


def checksum(table: str, number: int, key: Any, value: Any) -> bytes:
    """Compute the checksum of a row; it is empty if the types are wrong, which no checksum in a file is.

    Args:
        table: the table of the row.
        number: the number of the row.
        key: what identifies it.
        value: what it holds: bytes in `pieces`, text in `run`.
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
    """Open a database with all that a manipulated file could misuse switched off.

    Args:
        path: the file.
        options: parameters of the URI, such as `?mode=ro`.
        **more: arguments of `sqlite3.connect`.
    """
    connection: sqlite3.Connection = sqlite3.connect(f"{path.absolute().as_uri()}{options}", uri=True, **more)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA secure_delete = ON")  # recovery must not find old values
    return connection


def verify(path: Path) -> None:
    """Check a journal and its log completely, without changing anything.

    Args:
        path: the file, which no other process uses.

    Raises:
        DamagedError: if anything is missing or changed.
    """
    if not path.exists() or not path.stat().st_size:
        raise DamagedError("there is only its log")
    with path.open("rb") as file:
        head = file.read(100)
    state = _state(head)
    if state == CLOSED:  # a log would be left over from before
        _check(path)
        return
    if state != OPEN:
        raise DamagedError(_describe(head))
    log = Log.beside(path)
    if log is None:
        raise DamagedError("its log is missing")
    if log.fault is not None:
        raise DamagedError(log.fault)
    if log.pages is None:
        _check(path)
        return
    with temporary(path) as copy:
        shutil.copyfile(path, copy)
        with copy.open("r+b") as file:
            for number, page in log.transactions.items():
                file.seek((number - 1) * PAGE)
                file.write(page)
            file.truncate(log.pages * PAGE)
        _check(copy)


def _state(head: bytes) -> int | None:
    """Read from a database header whether the journal is open; None if it is not the header of a journal."""
    fixed = {0: _MAGIC, 16: PAGE.to_bytes(2, "big"), 18: b"\2\2\0\x40\x20\x20", 44: b"\0\0\0\4", 52: b"\0\0\0\0\0\0\0\1"}
    fixed |= {64: bytes(4), 68: MARK.to_bytes(4, "big"), 72: bytes(20)}
    if len(head) < 100 or any(head[at : at + len(value)] != value for at, value in fixed.items()):
        return None
    state = int.from_bytes(head[60:64], "big")
    return state if state in (OPEN, CLOSED) else None


def _describe(head: bytes) -> str:
    """Say what a file is whose header is not that of a journal."""
    if head[68:72] == MARK.to_bytes(4, "big"):
        return "its header is damaged, or it was made by another version"
    return "it is a database of something else" if head.startswith(_MAGIC) else "it is not a database"


def _check(path: Path) -> None:
    """Check the header, the schema, the structure and all rows of a database that is complete without a log."""
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
    except (sqlite3.Error, UnicodeError, TypeError) as error:  # sqlite3 cannot even report what is wrong with some files
        raise DamagedError("its structure is damaged") from error


def _check_rows(connection: sqlite3.Connection, table: str) -> None:
    """Check the numbers and the checksums of all rows of a table."""
    count = 0
    query = f"SELECT number, {TABLES[table]}, value, checksum FROM {table} NOT INDEXED ORDER BY number"
    for count, (number, key, value, check) in enumerate(connection.execute(query), 1):
        if number != count or checksum(table, number, key, value) != check:
            raise DamagedError("some of its content is damaged")
    if table == "run" and not count:
        raise DamagedError("some of its content is missing")


@contextmanager
def temporary(path: Path) -> Iterator[Path]:
    """Give the name of a new file beside another; delete it afterwards, with its log, unless it was renamed."""
    name = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield name
    finally:
        for each in (name, log_of(name)):
            with suppress(OSError):
                each.unlink()


def write(path: Path, rows: Mapping[str, Rows]) -> None:
    """Write a new journal, closed and complete; the numbers of rows become consecutive.

    Args:
        path: a file that does not exist.
        rows: what it holds, by table.
    """
    with closing(connect(path)) as connection:
        for setting in (f"page_size = {PAGE}", "encoding = 'UTF-8'", "auto_vacuum = 0", "locking_mode = EXCLUSIVE"):
            connection.execute(f"PRAGMA {setting}")
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("BEGIN")
        for table, text in _SCHEMA.items():
            connection.execute(text)
            kept = [row for _, row in sorted(rows.get(table, {}).items()) if row[0] != _FORMAT[0]]
            kept = [_FORMAT, *kept] if table == "run" else kept
            lines = [
                (number, key, value, checksum(table, number, key, value)) for number, (key, value) in enumerate(kept, 1)
            ]
            connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", lines)
        connection.execute(f"PRAGMA application_id = {MARK}")
        connection.execute(f"PRAGMA user_version = {CLOSED}")
        connection.commit()
    with path.open("rb+") as file:
        os.fsync(file.fileno())


@dataclass
class Salvage:
    """What a damaged journal still holds.

    Attributes:
        rows: intact rows by table.
    """

    rows: dict[str, Rows] = field(default_factory=lambda: {table: {} for table in TABLES})

    def lost(self, table: str) -> int:
        """Count the rows that are known to be lost: the gaps in the numbers.

        Args:
            table: which table.
        """
        return max(self.rows[table], default=0) - len(self.rows[table])


def salvage(main: Any, log: Log | None) -> Salvage:
    """Collect the intact rows of a damaged journal.

    Args:
        main: the bytes of the database.
        log: its log.
    """
    frames = [] if log is None else log.frames()
    newest = dict(frames)

    def page(number: int) -> bytes:
        return newest[number] if number in newest else main[(number - 1) * PAGE : number * PAGE].ljust(PAGE, b"\0")

    found = Salvage()
    keys: dict[str, set[str]] = {table: set() for table in TABLES}
    count = -(-len(main) // PAGE)

    def images() -> Iterator[tuple[int, bytes]]:
        """Yield all versions of all pages; the newest first."""
        yield from newest.items()
        for number in range(1, count + 1):
            at = (number - 1) * PAGE + (100 if number == 1 else 0)
            if at < len(main) and main[at] == _LEAF:
                yield number, main[(number - 1) * PAGE : number * PAGE].ljust(PAGE, b"\0")
        yield from reversed(frames)

    most = len(main) + len(newest) * PAGE
    for number, content in images():
        for row, payload in _cells(content, 100 if number == 1 else 0, page, most, found.rows["pieces"]):
            record = _record(payload, row)
            if record is not None:
                table, key, value = record
                if row not in found.rows[table] and key not in keys[table]:
                    found.rows[table][row] = key, value
                    keys[table].add(key)
    return found


def _cells(content: bytes, head: int, page: Any, most: int, known: Rows) -> Iterator[tuple[int, bytes]]:
    """Yield numbers and contents of the rows on a page, except those that are known."""
    if content[head] != _LEAF:
        return
    count = min(int.from_bytes(content[head + 3 : head + 5], "big"), (PAGE - head - 8) // 2)
    for at in struct.unpack_from(f">{count}H", content, head + 8):
        if not head + 8 <= at <= PAGE - 4:
            continue
        size, begin = _varint(content, at)
        number, begin = _varint(content, begin)
        if not 0 < number < 1 << 62 or size > most or (number in known and number > 64):  # `run` has few rows
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
    """Read a number of variable length; return it and where it ends."""
    value = 0
    for position in range(at, min(at + 8, len(content))):
        value = value << 7 | content[position] & 0x7F
        if content[position] < 0x80:
            return value, position + 1
    return 1 << 62, at  # longer than any in a journal


def _record(payload: bytes, number: int) -> tuple[str, str, Any] | None:
    """Decode a row: nothing for its number, then a key, a value and a checksum.

    Returns:
        The table, the key and the value; None if it is not an intact row of a journal.
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
        kept = value.decode() if table == "run" else value
    except UnicodeDecodeError:
        return None
    return (table, key, kept) if checksum(table, number, key, kept) == check else None
