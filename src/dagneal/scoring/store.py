"""A store of counted sets: a hash table with open addressing, and a row of sums for each set.

Several threads may read a store while one thread adds sets to it. A row, once added, keeps its number and its values.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats, Ints, Masks, kernel

T = TypeVar("T", bound=np.generic)
Rows = NDArray[np.int32]

_MAX_ROWS = (1 << 31) - 1  # rows are numbered with 32 bits


class KeyIndex:
    """Numbers distinct keys from 0, in the order of insertion.

    A key is a pair of 64-bit integers, such as a row of `set_keys`. At most half of the slots of the hash table are in use.
    """

    def __init__(self) -> None:
        # Slots (the number of a key, or -1), keys, and number of keys. They are replaced together, because other threads
        # may read them. Slots of keys beyond this number belong to keys that are just being added; readers skip them.
        self._state: tuple[Rows, Masks, int] = np.full(16, -1, dtype=np.int32), np.empty((8, 2), dtype=np.uint64), 0

    def __len__(self) -> int:
        return self._state[2]

    @property
    def keys(self) -> Masks:
        """All keys, in the order of insertion."""
        _, keys, count = self._state
        return keys[:count]

    def rows(self, keys: Masks) -> Rows:
        """Return the number of each key; -1 if a key is absent.

        Args:
            keys: array with one key per row.
        """
        rows = np.empty(len(keys), dtype=np.int32)
        _find(keys, *self._state, rows)
        return rows

    def add(self, keys: Masks) -> None:
        """Add the keys that are absent. Only one thread at a time may call this method.

        Args:
            keys: array with one key per row, with or without repetitions.
        """
        slots, stored, count = self._state
        most = count + len(keys)
        if most > _MAX_ROWS:
            raise InputError(f"{most:,} sets of variables are too many; use a lower parent limit, or fewer variables")
        stored = _grow(stored, count, most)
        if len(slots) < 2 * most:
            slots = np.full(1 << (2 * most - 1).bit_length(), -1, dtype=np.int32)
            _fill(slots, stored, count)
        self._state = slots, stored, _insert(keys, slots, stored, count)


class SetStore:
    """The sums of counted sets of variables.

    Callers see a fixed number of columns. Columns whose values are equal for all sets so far are stored only once.

    Args:
        columns: number of columns.
    """

    def __init__(self, columns: int) -> None:
        self._index = KeyIndex()
        # Sums with one row per set, and for each column its place in this array. They are replaced together.
        self._sums: tuple[Floats, Ints] = np.empty((0, 1)), np.zeros(columns, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._index)

    def rows(self, keys: Masks) -> Rows:
        """Return the row of each set; -1 if a set is absent.

        Args:
            keys: result of `set_keys`.
        """
        return self._index.rows(keys)

    def values(self, rows: Rows, columns: Ints | int) -> Floats:
        """Return the sums in the given rows and columns.

        Args:
            rows: rows of sets, without -1.
            columns: one column for all rows, or one column for each row.
        """
        sums, place = self._sums
        values: Floats = sums[rows, place[columns]]
        return values

    def split_columns(self, parameters: Floats) -> Ints:
        """Prepare the store for sets with the given parameters of sums. Return the columns for which `add` needs sums.

        Columns with equal parameters have equal sums. If a column differs from the columns that were equal so far, it gets a
        place of its own.

        Args:
            parameters: array with one column per column of the store. Each row has the parameters of some sets.
        """
        sums, place = self._sums
        together = np.vstack([place, parameters])
        _, first, split = np.unique(together, axis=1, return_index=True, return_inverse=True)
        if len(first) > sums.shape[1]:
            self._sums = sums[:, place[first]], split.ravel()
        return first

    def add(self, keys: Masks, sums: Floats) -> None:
        """Add sets. Only one thread at a time may call this method.

        Args:
            keys: keys of distinct sets that are absent.
            sums: array with one row per set and one column for each result of `split_columns`.
        """
        stored, place = self._sums
        count = len(self)
        stored = _grow(stored, count, count + len(keys))
        stored[count : count + len(keys)] = sums
        self._sums = stored, place  # before the keys, so that readers that find a key also find its sums
        self._index.add(keys)


def _grow(array: NDArray[T], used: int, needed: int) -> NDArray[T]:
    """Return the array with room for `needed` rows, of which the first `used` rows are kept. Growth doubles the size."""
    if needed <= len(array):
        return array
    larger = np.empty((max(needed, 2 * len(array)), array.shape[1]), dtype=array.dtype)
    larger[:used] = array[:used]
    return larger


@kernel
def _slot(high: np.uint64, low: np.uint64, slots: int) -> np.int64:
    """Return the first slot to try for a key: a hash of the key. `slots` is a power of two."""
    mixed = high + low * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(slots - 1))


@kernel
def _find(keys: Masks, slots: Rows, stored: Masks, count: int, rows: Rows) -> None:
    """Write the number of each key into `rows`; -1 if a key is not among the first `count` stored keys."""
    for line in range(len(keys)):
        high, low = keys[line, 0], keys[line, 1]
        slot = _slot(high, low, len(slots))
        row = slots[slot]
        while row >= 0 and (row >= count or stored[row, 0] != high or stored[row, 1] != low):
            slot = (slot + 1) & np.int64(len(slots) - 1)
            row = slots[slot]
        rows[line] = row


@kernel
def _insert(keys: Masks, slots: Rows, stored: Masks, count: int) -> int:
    """Store the keys that are absent. Return the new number of keys."""
    for line in range(len(keys)):
        high, low = keys[line, 0], keys[line, 1]
        slot = _slot(high, low, len(slots))
        while slots[slot] >= 0 and (stored[slots[slot], 0] != high or stored[slots[slot], 1] != low):
            slot = (slot + 1) & np.int64(len(slots) - 1)
        if slots[slot] < 0:
            stored[count, 0], stored[count, 1] = high, low
            slots[slot] = count
            count += 1
    return count


@kernel
def _fill(slots: Rows, stored: Masks, count: int) -> None:
    """Enter the first `count` stored keys into empty slots."""
    for row in range(count):
        slot = _slot(stored[row, 0], stored[row, 1], len(slots))
        while slots[slot] >= 0:
            slot = (slot + 1) & np.int64(len(slots) - 1)
        slots[slot] = row
