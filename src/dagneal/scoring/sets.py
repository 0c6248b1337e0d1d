"""Sets of variables, represented by bit masks and by sortable keys."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Ints, Masks, kernel


def set_keys(masks: Masks, candidates: Ints, child: int | None, variables: int) -> Masks:
    """Return a 64-bit integer, the key, for each set of variables.

    If sets are sorted by key, sets with the same first members are next to each other.

    Args:
        masks: sets of variables as bit masks.
        candidates: ascending indices of variables; bit b of a mask stands for `candidates[b]`.
        child: index of a variable to add to every set, or None.
        variables: total number of variables.

    With up to 64 variables, a key has one bit for each variable; the highest bit stands for the first variable. With more
    variables, a key is a number with one digit for each member. This limits the number of members; see `max_set_size`.
    """
    one = np.uint64(1)
    keys = np.empty(len(masks), dtype=np.uint64)
    if variables <= 64:
        words = one << (np.uint64(63) - candidates.astype(np.uint64))
        _bit_keys(masks, words, np.uint64(0) if child is None else one << np.uint64(63 - child), keys)
        return keys
    digits = np.uint64(variables + 1) ** np.arange(max_set_size(variables) - 1, -1, -1, dtype=np.uint64)
    _digit_keys(masks, candidates, -1 if child is None else child, digits, keys)
    return keys


@kernel
def _bit_keys(masks: Masks, words: Masks, child: np.uint64, keys: Masks) -> None:
    for line in range(len(masks)):
        key = child
        for bit in range(len(words)):
            if (masks[line] >> np.uint64(bit)) & np.uint64(1):
                key |= words[bit]
        keys[line] = key


@kernel
def _digit_keys(masks: Masks, candidates: Ints, child: int, digits: Masks, keys: Masks) -> None:
    for line in range(len(masks)):
        key = np.uint64(0)
        rank = 0
        pending = child  # to be inserted among its parents, in ascending order
        for bit in range(len(candidates)):
            if (masks[line] >> np.uint64(bit)) & np.uint64(1):
                variable = candidates[bit]
                if 0 <= pending < variable:
                    key += np.uint64(pending + 1) * digits[rank]
                    rank += 1
                    pending = -1
                key += np.uint64(variable + 1) * digits[rank]
                rank += 1
        if pending >= 0:
            key += np.uint64(pending + 1) * digits[rank]
        keys[line] = key


def sort_distinct(keys: Masks) -> Masks:
    """Return the distinct keys in ascending order. Sorting millions of keys is faster than hashing them.

    Args:
        keys: unsorted keys, with repetitions.
    """
    ordered = np.sort(keys)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def pair_keys(variables: int) -> tuple[np.uint64, Masks, Masks]:
    """Return the tuple (empty, single, pair) with the keys of all sets of at most two variables.

    `empty` is the key of the empty set. `single[i]` is the key of variable i. `pair[i, j]` is the key of variables i and j;
    the diagonal has the keys of single variables.
    """
    v = np.arange(variables, dtype=np.uint64)
    if variables <= 64:
        single = np.uint64(1) << (np.uint64(63) - v)
        return np.uint64(0), single, single[:, None] | single[None, :]
    high, low = (np.uint64((variables + 1) ** (max_set_size(variables) - place)) for place in (1, 2))
    single = (v + np.uint64(1)) * high
    first, second = np.minimum(v[:, None], v[None, :]), np.maximum(v[:, None], v[None, :])
    pair = (first + np.uint64(1)) * high + np.where(first == second, np.uint64(0), (second + np.uint64(1)) * low)
    return np.uint64(0), single, pair


def set_members(keys: Masks, variables: int) -> NDArray[np.int32]:
    """Return the sets with the given keys as an array. Each row has the ascending indices of a set, padded with -1."""
    if variables <= 64:
        members = np.full((len(keys), int(np.bitwise_count(keys).max(initial=0))), -1, dtype=np.int32)
        _unpack(keys, members)
        return members
    base = np.uint64(variables + 1)
    members = np.empty((len(keys), max_set_size(variables)), dtype=np.int32)
    for place in range(members.shape[1]):
        power = base ** np.uint64(members.shape[1] - 1 - place)
        members[:, place] = ((keys // power) % base).astype(np.int32) - 1
    return members


@kernel
def _unpack(keys: Masks, members: NDArray[np.int32]) -> None:
    for line in range(len(keys)):
        place = 0
        for variable in range(64):
            if (keys[line] >> np.uint64(63 - variable)) & np.uint64(1):
                members[line, place] = variable
                place += 1


def max_set_size(variables: int) -> int:
    """Return the largest size of a set that a 64-bit key can represent."""
    if variables <= 64:
        return variables
    width = 1
    while (variables + 1) ** (width + 1) < 1 << 64:
        width += 1
    return width


def bounded_masks(bits: int, limit: int) -> Masks:
    """Return all masks of `bits` bits in which at most `limit` bits are 1, in ascending order.

    Each mask represents a set. In this order, a set comes after all its subsets.

    >>> bounded_masks(3, 2).tolist()
    [0, 1, 2, 3, 4, 5, 6]
    """
    by_limit = [np.zeros(1, dtype=np.uint64)] * (limit + 1)
    for bit in range(bits):
        with_bit = [masks | np.uint64(1 << bit) for masks in by_limit]
        by_limit = [by_limit[0]] + [np.concatenate([by_limit[k], with_bit[k - 1]]) for k in range(1, limit + 1)]
    return by_limit[limit]
