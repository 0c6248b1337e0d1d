"""The log beside an SQLite database: whether SQLite took all of it, and what a broken one still holds.

What was written since the last checkpoint is in the log, a page after another. SQLite takes pages up to the first whose
checksum is wrong and says nothing of the rest. The pages are there all the same, and what is kept in them may have checksums
of its own.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

_HEAD, _FRAME = 32, 24  # bytes before all pages, and before each
_MAGIC = (0x377F0682, 0x377F0683)  # checksums of little-endian or of big-endian words
_LARGEST = 1 << 20  # number of a page that is believed


@dataclass(frozen=True, eq=False)
class Log:
    """A database and its log, as they were found.

    Attributes:
        database: the bytes of the database.
        log: the bytes of its log.
    """

    database: bytes
    log: bytes

    @classmethod
    def of(cls, path: Path) -> Log | None:
        """The log of a database; None if there is none, or nothing in it.

        Args:
            path: the database.
        """
        try:
            log = Path(f"{path}-wal").read_bytes()
            return cls(path.read_bytes() if path.exists() else b"", log) if log else None
        except OSError:
            return None

    @property
    def page(self) -> int:
        """The size of a page."""
        said = [int.from_bytes(self.log[8:12], "big"), int.from_bytes(self.database[16:18], "big")]
        return next((size for size in said if size in {1 << power for power in range(9, 16)}), 4096)

    @property
    def begun(self) -> bool:
        """Whether its head is whole: SQLite's magic number, and a checksum of the first 24 bytes."""
        if len(self.log) < _HEAD:
            return False
        magic = int.from_bytes(self.log[:4], "big")
        words = struct.unpack("<6I" if magic == _MAGIC[0] else ">6I", self.log[:24])
        first = second = 0
        for even, odd in zip(words[::2], words[1::2], strict=True):
            first = (first + even + second) & 0xFFFFFFFF
            second = (second + odd + first) & 0xFFFFFFFF
        return magic in _MAGIC and struct.unpack(">2I", self.log[24:32]) == (first, second)

    def frames(self) -> list[tuple[int, bool, bytes]]:
        """The pages that were written last, those of an earlier round come after them.

        Returns:
            The number of each, whether it is the last of a transaction, and its content.
        """
        step = _FRAME + self.page
        found: list[tuple[int, bool, bytes]] = []
        salts = self.log[16:24] if self.begun else self.log[_HEAD + 8 : _HEAD + 16]  # they tell one round from another
        for at in range(_HEAD, len(self.log) - step + 1, step):
            number, own = int.from_bytes(self.log[at : at + 4], "big"), self.log[at + 8 : at + 16]
            if own != salts and self.log[at + step + 8 : at + step + 16] != salts:  # one alone may be damaged
                break
            if 0 < number <= _LARGEST:
                found.append((number, any(self.log[at + 4 : at + 8]), self.log[at + _FRAME : at + step]))
        return found

    def broken(self, taken: int) -> bool:
        """Whether there is more in it than SQLite took.

        Args:
            taken: how many pages that were, as `PRAGMA wal_checkpoint` tells.
        """
        ends = [place for place, (_, last, _) in enumerate(self.frames(), 1) if last]  # what follows was never written whole
        return not self.begun or taken < max(ends, default=0)

    def replayed(self) -> bytes:
        """The database with all pages of the log in their places, right or wrong."""
        whole = bytearray(self.database)
        for number, _, page in self.frames():
            end = number * self.page
            whole.extend(bytes(max(0, end - len(whole))))
            whole[end - self.page : end] = page
        if len(whole) >= self.page:
            whole[18:20] = b"\1\1"  # one that has no log
        return bytes(whole)
