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
    order, places = np.empty(len(members), dtype=np.int64), np.empty(len(members), dtype=np.uint8)
    most = min(len(members), _WINDOW)
    arrays = _Arrays.create(most, most * members.shape[1])
    for begin in range(0, len(members), _WINDOW):
        _group(members, sizes, begin, min(begin + _WINDOW, len(members)), arrays, places, order)
    return order, places


class _Arrays(NamedTuple):
    """Working memory. Its first three arrays are a hash table of bases.

    Attributes:
        keys: hash of the base in each slot; 0 if the slot is free.
        uses: number of sets that can have this base.
        numbers: number of the group of sets that have this base; -1 if there is no such group.
        groups: group of each set. Sets in the same group have the same base.
        starts: number of sets before each group.
    """

    keys: Masks
    uses: NDArray[np.int32]
    numbers: NDArray[np.int32]
    groups: Ints
    starts: Ints

    @classmethod
    def create(cls, sets: int, bases: int) -> _Arrays:
        """Return new arrays.

        Args:
            sets: largest number of sets.
            bases: largest number of bases.
        """
        slots = 1 << max(1, (2 * bases - 1).bit_length())
        table = np.empty(slots, np.uint64), np.empty(slots, np.int32), np.empty(slots, np.int32)
        return cls(*table, np.empty(sets, np.int64), np.empty(sets + 1, np.int64))


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


@kernel
def _group(
    members: NDArray[np.int32],
    sizes: Ints,
    begin: int,
    end: int,
    arrays: _Arrays,
    places: NDArray[np.uint8],
    order: Ints,
) -> None:
    """Write the order of the sets from `begin` to `end` - 1 into `order`, and the positions of last members into `places`.

    Groups are numbered from 0, in order of their first sets.
    """
    keys, uses, numbers, groups, starts = arrays.keys, arrays.uses, arrays.numbers, arrays.groups, arrays.starts
    widest, bases = 0, 0
    for index in range(begin, end):
        order[index] = index
        places[index] = max(sizes[index] - 1, 0)
        widest = max(widest, sizes[index])
        bases += sizes[index]
    if widest < 3:  # pairs keep their order
        return
    slots, shift = 2, np.uint64(63)
    while slots < 2 * bases:
        slots *= 2
        shift -= np.uint64(1)
    for free in range(slots):
        keys[free], uses[free], numbers[free] = np.uint64(0), 0, -1
    for index in range(begin, end):
        total = _set_hash(members, sizes, index)
        for place in range(_first_choice(sizes[index]), sizes[index]):
            uses[_slot(keys, slots, shift, total - _hash(members[index, place]))] += 1
    count = 0
    starts[0] = begin
    for index in range(begin, end):
        total = _set_hash(members, sizes, index)
        best = _slot(keys, slots, shift, np.uint64(0))  # the empty base
        most = 0
        for place in range(_first_choice(sizes[index]), sizes[index]):
            slot = _slot(keys, slots, shift, total - _hash(members[index, place]))
            if uses[slot] >= most:
                best, most = slot, uses[slot]
                places[index] = place
        if numbers[best] < 0:
            numbers[best] = count
            count += 1
            starts[count] = 0
        groups[index - begin] = numbers[best]
        starts[numbers[best] + 1] += 1
    for group in range(count):
        starts[group + 1] += starts[group]
    for index in range(begin, end):
        group = groups[index - begin]
        order[starts[group]] = index
        starts[group] += 1


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
def _slot(keys: Masks, slots: int, shift: np.uint64, key: np.uint64) -> np.int64:
    """Return the position of a key in a hash table of `slots` keys; add the key if the table does not have it."""
    key |= np.uint64(1)  # 0 marks free positions
    slot = np.int64(key >> shift)
    while keys[slot] != key:
        if keys[slot] == 0:
            keys[slot] = key
            break
        slot = (slot + 1) & (slots - 1)
    return slot
