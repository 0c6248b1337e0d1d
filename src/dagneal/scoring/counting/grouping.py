"""Order sets of variables for counting, so that sets with a common base are adjacent.

A set is divided into its base and one last member. Searches request many sets that differ in only one member. The last
member of each set is chosen so that many sets have the same base. The base is then processed only once for all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Ints, Masks, kernel

_WINDOW = 1 << 15  # sets that are grouped at a time, to save memory


def group_sets(members: NDArray[np.int32], sizes: Ints) -> tuple[Ints, NDArray[np.uint8]]:
    """Return the tuple (order, places): the order of the sets, and the position of each set's last member.

    Sets with the same base are adjacent in this order.

    Args:
        members: array with one set per row, as ascending indices of variables.
        sizes: number of members of each set.
    """
    order = np.arange(len(members))
    places = np.maximum(sizes - 1, 0).astype(np.uint8)
    for begin in range(0, len(members), _WINDOW):
        own = slice(begin, begin + _WINDOW)
        if sizes[own].max() >= 3:  # pairs keep their order
            groups, starts = np.empty(len(sizes[own]), np.int64), np.zeros(len(sizes[own]) + 1, np.int64)
            table = _HashTable.create(int(sizes[own].sum()))
            _group(members[own], sizes[own], table, groups, starts, places[own], order[own])
            order[own] += begin
    return order, places


@kernel
def move_last(members: NDArray[np.int32], sizes: Ints, places: NDArray[np.uint8]) -> None:
    """Move one member of each set to the end of the set.

    Args:
        members: array with one set per row, as indices of variables.
        sizes: number of members of each set.
        places: position of the member to move.
    """
    for index in range(len(members)):
        if sizes[index] > 0:
            last = members[index, places[index]]
            for place in range(places[index], sizes[index] - 1):
                members[index, place] = members[index, place + 1]
            members[index, sizes[index] - 1] = last


class _HashTable(NamedTuple):
    """A hash table of bases.

    Attributes:
        keys: hash of the base in each slot; 0 if the slot is free.
        uses: number of sets that can have this base.
        numbers: number of the group of sets that have this base; -1 if there is no such group.
    """

    keys: Masks
    uses: NDArray[np.int32]
    numbers: NDArray[np.int32]

    @classmethod
    def create(cls, bases: int) -> _HashTable:
        """Return an empty table.

        Args:
            bases: largest number of bases.
        """
        slots = max(2, 1 << (2 * bases - 1).bit_length())
        return cls(np.zeros(slots, np.uint64), np.zeros(slots, np.int32), np.full(slots, -1, np.int32))


@kernel
def _group(
    members: NDArray[np.int32],
    sizes: Ints,
    table: _HashTable,
    groups: Ints,
    starts: Ints,
    places: NDArray[np.uint8],
    order: Ints,
) -> None:
    """Choose the last member of each set, and write its position into `places`. Write the order of the sets into `order`.

    Sets in the same group have the same base. Groups are numbered from 0, in order of their first sets. The function writes
    the group of each set into `groups`, and uses `starts`, which contains zeros, as working memory.
    """
    keys, uses, numbers = table.keys, table.uses, table.numbers
    shift = np.uint64(64)
    for bit in range(32):
        shift -= np.uint64(((len(keys) - 1) >> bit) & 1)
    for index in range(len(sizes)):
        total = _set_hash(members, sizes, index)
        for place in range(_first_choice(sizes[index]), sizes[index]):
            uses[_slot(keys, shift, total - _hash(members[index, place]))] += 1
    count = 0
    for index in range(len(sizes)):
        total = _set_hash(members, sizes, index)
        best = _slot(keys, shift, np.uint64(0))  # the empty base
        most = 0
        for place in range(_first_choice(sizes[index]), sizes[index]):
            slot = _slot(keys, shift, total - _hash(members[index, place]))
            if uses[slot] >= most:
                best, most = slot, uses[slot]
                places[index] = place
        if numbers[best] < 0:
            numbers[best] = count
            count += 1
        groups[index] = numbers[best]
        starts[groups[index] + 1] += 1
    for group in range(count):
        starts[group + 1] += starts[group]
    for index in range(len(sizes)):
        order[starts[groups[index]]] = index
        starts[groups[index]] += 1


@kernel
def _first_choice(size: int) -> int:
    """Return the position of the first member that can be the last member of a set. Pairs keep their order."""
    return 0 if size > 2 else max(size - 1, 0)


@kernel
def _hash(variable: int) -> np.uint64:
    """Return a pseudo-random number for a variable (the function splitmix64)."""
    mixed = np.uint64(variable + 1) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@kernel
def _set_hash(members: NDArray[np.int32], sizes: Ints, index: int) -> np.uint64:
    """Return the sum of the hashes of a set's members. The hash of a base is this sum minus the hash of the last member."""
    total = np.uint64(0)
    for place in range(sizes[index]):
        total += _hash(members[index, place])
    return total


@kernel
def _slot(keys: Masks, shift: np.uint64, key: np.uint64) -> np.int64:
    """Return the position of a key in a hash table; add the key if the table does not have it."""
    slots = np.int64(len(keys))
    key |= np.uint64(1)  # 0 marks free positions
    slot = np.int64(key >> shift)
    while keys[slot] != key:
        if keys[slot] == 0:
            keys[slot] = key
            break
        slot = (slot + 1) & (slots - 1)
    return slot
