"""Order sets of variables for counting, so that sets with a common base are adjacent.

A set is divided into its base and one last member. Searches request many sets that differ in only one member. The last
member of each set is chosen so that many sets have the same base. The base is then processed only once for all of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Ints, Masks, kernel

_WINDOW = 1 << 15  # sets that are grouped at a time, to save memory


@kernel
def group_sets(members: NDArray[np.int32], sizes: Ints) -> tuple[Ints, NDArray[np.uint8]]:
    """Return the tuple (order, places): the order of the sets, and the position of each set's last member.

    Sets with the same base are adjacent in this order.

    Args:
        members: array with one set per row, as ascending indices of variables.
        sizes: number of members of each set.
    """
    order = np.empty(len(members), dtype=np.int64)
    places = np.zeros(len(members), dtype=np.uint8)
    for begin in range(0, len(members), _WINDOW):
        end = min(begin + _WINDOW, len(members))
        widest = 0
        for index in range(begin, end):
            widest = max(widest, sizes[index])
        if widest < 3:  # pairs keep their order
            for index in range(begin, end):
                order[index] = index
                places[index] = max(sizes[index] - 1, 0)
            continue
        groups, count = _choose_last(members, sizes, begin, end, places)
        starts = np.zeros(count + 1, dtype=np.int64)
        starts[0] = begin
        for group in groups:
            starts[group + 1] += 1
        for group in range(count):
            starts[group + 1] += starts[group]
        for index in range(begin, end):
            group = groups[index - begin]
            order[starts[group]] = index
            starts[group] += 1
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


@kernel
def _choose_last(
    members: NDArray[np.int32], sizes: Ints, begin: int, end: int, places: NDArray[np.uint8]
) -> tuple[Ints, int]:
    """Choose the last member of the sets from `begin` to `end`, and write its position into `places`.

    Return the group of each set, and the number of groups. Sets in the same group have the same base. Groups are numbered
    from 0, in order of their first sets.
    """
    bases = 0
    for index in range(begin, end):
        bases += sizes[index]
    slots = 2
    shift = np.uint64(63)
    while slots < 2 * bases:
        slots *= 2
        shift -= np.uint64(1)
    keys = np.zeros(slots, dtype=np.uint64)
    uses = np.zeros(slots, dtype=np.int32)  # number of sets that can have this base
    for index in range(begin, end):
        total = _set_hash(members, sizes, index)
        for place in range(_first_choice(sizes[index]), sizes[index]):
            uses[_slot(keys, shift, total - _hash(members[index, place]))] += 1
    groups = np.empty(end - begin, dtype=np.int64)
    numbers = np.empty(slots, dtype=np.int32)
    numbers[:] = -1
    count = 0
    for index in range(begin, end):
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
        groups[index - begin] = numbers[best]
    return groups, count


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
