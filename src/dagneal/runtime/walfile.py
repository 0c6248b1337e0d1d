"""The write-ahead log of an SQLite database: check it without SQLite, and read intact pages of a damaged log.

A log is a header and a sequence of slots. A slot holds one frame: the new content of one page, with a checksum that also
covers all earlier frames. SQLite reads frames up to the first invalid frame and does not report the rest. So a damaged frame
at the end of the log would be lost without notice. To detect this damage, `fill` writes a known pattern into all unused
slots. When the log restarts, frames are written from the first slot again. A valid log has at least `SLOTS` slots. Each slot
holds a valid frame, a frame from before the last restart, or the pattern.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

PAGE = 4096  # bytes per page
SLOTS = 1000  # number of slots of a new log
_FULL = 900  # if more slots are in use, the log should restart
_HEAD, _FRAME = 32, 24  # bytes before the first slot, and before the page in each slot
_SLOT = _FRAME + PAGE
_MAGIC = {0x377F0682: "<u4", 0x377F0683: ">u4"}  # first word of the log: byte order of the words in checksums
_VERSION = 3_007_000
_LAST_PAGE = 1 << 22  # frames with a larger page number are ignored as damaged
_MASK = 0xFFFFFFFF

Words = NDArray[np.uint64]


@cache
def _powers(count: int) -> NDArray[np.uint64]:
    """Return the powers 0 to `count` of a matrix, with entries modulo 2**32.

    One multiplication by the matrix advances a checksum of `_checksums` by one pair of words.
    """
    powers = np.zeros((count + 1, 2, 2), dtype=np.uint64)
    powers[0] = np.eye(2, dtype=np.uint64)
    step = np.array([[1, 1], [1, 2]], dtype=np.uint64)
    for exponent in range(count):
        powers[exponent + 1] = (powers[exponent] @ step) & np.uint64(_MASK)
    return powers


def _checksums(words: Words, before: Words) -> Words:
    """Compute SQLite's log checksum after each row of words.

    A pair of words (a, b) changes the checksum (s, t) as follows: s += a + t, then t += b + s. This is linear, so the
    checksums of all rows are computed at once with powers of a matrix.

    Args:
        words: words to sum, one frame or header per row.
        before: checksum before each row.
    """
    pairs = words.shape[1] // 2
    powers = _powers(pairs)
    even, both = words[:, ::2], (words[:, ::2] + words[:, 1::2]) & np.uint64(_MASK)
    weights = powers[pairs - 1 :: -1] if pairs > 1 else powers[:1]
    own = np.stack([even @ weights[:, k, 0] + both @ weights[:, k, 1] for k in (0, 1)], axis=1)
    return np.asarray((before @ powers[pairs].T + own) & np.uint64(_MASK), dtype=np.uint64)


@dataclass(frozen=True, eq=False)
class Log:
    """The content of a write-ahead log.

    Attributes:
        content: all bytes of the log file.
    """

    content: bytes

    @classmethod
    def load(cls, path: Path) -> Log | None:
        """Read the log of a database; return None if it does not exist or is empty.

        Args:
            path: database file.
        """
        try:
            content = log_path(path).read_bytes()
        except FileNotFoundError:
            return None
        return cls(content) if content else None

    @cached_property
    def fault(self) -> str | None:
        """Description of the damage of the log; None if the log is valid."""
        if len(self.content) < _HEAD + SLOTS * _SLOT:
            return "its write-ahead log is too short"
        if not self._header_valid:
            return "the header of its write-ahead log is damaged"
        if (len(self.content) - _HEAD) % _SLOT:
            return "its write-ahead log ends inside a page"
        valid = self._valid
        salts = self._fields[:, 2:4]
        current = (salts == self._salts).all(axis=1)
        unused = np.zeros(len(salts), dtype=bool)
        unused[:SLOTS] = (self._slots[:SLOTS] == _unused_pattern()).all(axis=1)
        age = (self._salts[0] - salts[:, 0]) & np.uint64(_MASK)  # number of restarts since the frame was written
        old = (age >= 1) & (age <= np.uint64(int.from_bytes(self.content[12:16], "big")))
        follows = np.zeros(len(old), dtype=bool)
        follows[1:] = old[1:] & (salts[1:] == salts[:-1]).all(axis=1)
        wrong = np.flatnonzero((current | ~(unused | old) | (follows & ~self._chained & ~unused))[valid:]) + valid
        wrong = wrong[wrong > valid] if self._torn(valid) else wrong
        if len(wrong) == 1 and wrong[0] + 1 < len(old) and old[wrong[0] + 1] and self._half_filled(int(wrong[0])):
            wrong = wrong[1:]
        if len(wrong):
            return "its write-ahead log is damaged"
        if valid > self._committed and valid == len(unused):
            return "its write-ahead log ends inside a transaction"
        return None

    @property
    def transactions(self) -> dict[int, bytes]:
        """The newest content of each page that complete transactions wrote, by page number."""
        return {int(self._fields[slot, 0]): self._page(slot) for slot in range(self._committed)}

    @property
    def pages(self) -> int | None:
        """The number of database pages after the last complete transaction; None if there is no complete transaction."""
        return int(self._fields[self._committed - 1, 1]) if self._committed else None

    @property
    def used_slots(self) -> int:
        """The number of slots in use since the last restart of the log."""
        return self._valid

    def frames(self) -> list[tuple[int, bytes]]:
        """Return (page number, content) for each frame since the last restart, oldest first. Damaged frames are included."""
        if not len(self._slots):
            return []
        salts = self._fields[:, 2:4]
        # The salts of the header or of a frame may be damaged, so take the most frequent salts.
        votes = [tuple(salt) for salt in (self._salts, *salts[:3])]
        current = (salts == np.array(max(votes, key=votes.count), dtype=np.uint64)).all(axis=1)
        current[:-1] |= current[1:]  # the salts of one frame may be damaged
        numbers = self._fields[:, 0]
        chosen = current & (numbers > 0) & (numbers <= _LAST_PAGE)
        return [(int(numbers[slot]), self._page(slot)) for slot in np.flatnonzero(chosen).tolist()]

    @cached_property
    def _slots(self) -> NDArray[np.uint8]:
        count = max(0, len(self.content) - _HEAD) // _SLOT
        return np.frombuffer(self.content, dtype=np.uint8, count=count * _SLOT, offset=_HEAD if count else 0).reshape(
            count, _SLOT
        )

    @cached_property
    def _fields(self) -> Words:
        """The six header words of each frame.

        They are the page number, the number of database pages (0 unless the frame ends a transaction), two salts and two
        checksum words.
        """
        return self._slots[:, :_FRAME].copy().view(">u4").astype(np.uint64)

    @property
    def _salts(self) -> Words:
        return np.frombuffer(self.content[16:24].ljust(8, b"\0"), dtype=">u4").astype(np.uint64)

    @property
    def _byte_order(self) -> str:
        return _MAGIC.get(int.from_bytes(self.content[:4], "big"), "<u4")

    @cached_property
    def _header_valid(self) -> bool:
        magic, version, page = struct.unpack(">3I", self.content[:12])
        words = np.frombuffer(self.content[:24], dtype=self._byte_order).astype(np.uint64)[None]
        checksum = _checksums(words, np.zeros((1, 2), dtype=np.uint64))[0]
        return (magic in _MAGIC, version, page, *checksum) == (
            True,
            _VERSION,
            PAGE,
            *struct.unpack(">2I", self.content[24:32]),
        )

    @cached_property
    def _chained(self) -> NDArray[np.bool_]:
        """True for each frame whose checksum is correct, given the checksum of the previous frame."""
        words = self._slots.view(self._byte_order).astype(np.uint64)
        summed = np.concatenate([words[:, :2], words[:, _FRAME // 4 :]], axis=1)
        own = self._fields[:, 4:6]
        first = np.array([struct.unpack(">2I", self.content[24:32])], dtype=np.uint64)
        return np.asarray((_checksums(summed, np.concatenate([first, own[:-1]])) == own).all(axis=1))

    @cached_property
    def _valid(self) -> int:
        """The number of valid frames before the first invalid frame."""
        if len(self.content) < _HEAD or not self._header_valid or not len(self._slots):
            return 0
        intact = self._chained & (self._fields[:, 2:4] == self._salts).all(axis=1) & (self._fields[:, 0] > 0)
        return len(intact) if intact.all() else int(np.argmin(intact))

    @cached_property
    def _committed(self) -> int:
        """The number of frames up to the end of the last complete transaction."""
        ends = np.flatnonzero(self._fields[: self._valid, 1])
        return int(ends[-1]) + 1 if len(ends) else 0

    def _page(self, slot: int) -> bytes:
        begin = _HEAD + slot * _SLOT + _FRAME
        return self.content[begin : begin + PAGE]

    def _torn(self, slot: int) -> bool:
        """Return whether a slot has only the first part of a frame, because the process that wrote it was killed."""
        return slot < min(SLOTS, len(self._slots)) and any(
            end <= _SLOT - 8 and bool((self._slots[slot, end:] == _unused_pattern()[slot, end:]).all())
            for end in _ends(slot)
        )

    def _half_filled(self, slot: int) -> bool:
        """Return whether a slot has only the first part of the pattern of unused slots, because the process was killed."""
        return slot < SLOTS and any(
            end >= _FRAME and bool((self._slots[slot, :end] == _unused_pattern()[slot, :end]).all()) for end in _ends(slot)
        )


def _ends(slot: int) -> list[int]:
    """Return the offsets in a slot at which a write can stop if the process is killed.

    These are the end of the frame header, which is written separately, and the page boundaries of the log file.
    """
    begin = _HEAD + slot * _SLOT
    return [_FRAME, *(end - begin for end in range(-(-begin // PAGE) * PAGE, begin + _SLOT, PAGE) if end > begin)]


def log_path(path: Path) -> Path:
    """Return the path of the write-ahead log of a database.

    Args:
        path: database file.
    """
    return path.with_name(f"{path.name}-wal")


def fill(path: Path, begin: int | None = None, end: int = SLOTS) -> None:
    """Write a known pattern into the unused slots of a write-ahead log, and extend the log to `SLOTS` slots.

    Args:
        path: database file, which no other process uses.
        begin: index of the first unused slot; determined from the log by default.
        end: index of the first slot that already has the pattern.
    """
    if begin is None:
        log = Log.load(path)
        begin = 0 if log is None else log.used_slots
    with log_path(path).open("r+b") as file:
        if begin < SLOTS:
            file.seek(_HEAD + begin * _SLOT)
            file.write(_unused_pattern()[begin:end].tobytes())
            file.truncate(_HEAD + SLOTS * _SLOT)


def is_full(path: Path) -> bool:
    """Return whether most slots of the write-ahead log are in use. The log should then be written from its beginning again.

    Args:
        path: database file.
    """
    with log_path(path).open("rb") as file:
        salts = file.read(_HEAD)[16:24]
        file.seek(_HEAD + _FULL * _SLOT + 8)
        return file.read(8) == salts


@cache
def _unused_pattern() -> NDArray[np.uint8]:
    """Return the bytes of each slot if it is unused. They differ between slots, so that a copied slot is detected."""
    words = np.arange(SLOTS, dtype=np.uint32)[:, None] ^ np.uint32(0xDA67EA1)
    return np.repeat(words.astype(">u4"), _SLOT // 4, axis=1).view(np.uint8)
