"""Sets of variables, represented by bit masks, by rows of indices and by sortable keys.

A mask is an array of 64-bit words. Bit b of a mask is bit b % 64 of word b // 64. Masks are compared as numbers, from the
last word to the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numba
import numpy as np
from numba.extending import intrinsic
from numpy.typing import NDArray

from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats, Ints, Masks, kernel

# Rows of indices of variables, ascending and padded with -1 at the end. Each row is a set.
Members = NDArray[np.int32]

_BIT_VARIABLES = 128  # up to this number of variables, a key has one bit for each variable


@intrinsic  # type: ignore[untyped-decorator]
def lowest_bit(_: Any, word: Any) -> Any:
    """Return the position of the lowest 1 bit of a word, which must not be 0. This function is for kernels only."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(numba.boolean, True))

    return numba.uint64(numba.uint64), generate


def pad_sets(sets: Sequence[Iterable[int]]) -> Members:
    """Return sets as rows of ascending indices, padded with -1 at the end.

    >>> pad_sets([[5, 2], [7]]).tolist()
    [[2, 5], [7, -1]]
    """
    ordered = [sorted(members) for members in sets]
    padded = np.full((len(ordered), max(map(len, ordered), default=0)), -1, dtype=np.int32)
    for row, members in zip(padded, ordered, strict=True):
        row[: len(members)] = members
    return padded


def set_keys(members: Members, variables: int, extra: Ints | None = None) -> Masks:
    """Return the key of each set: two 64-bit integers, the more significant integer first.

    If sets are sorted by key, sets with the same first members are next to each other.

    Args:
        members: sets as rows of ascending indices, padded with -1 at the end.
        variables: total number of variables.
        extra: index of a variable to add to each set; nothing is added by default.

    With up to 128 variables, a key has one bit for each variable; the highest bit stands for the first variable. With more
    variables, a key has one digit of several bits for each member. This limits the number of members; see `max_set_size`.
    """
    keys = np.empty((len(members), 2), dtype=np.uint64)
    added = np.full(len(members), -1, dtype=np.int64) if extra is None else extra
    invalid = _pack_keys(members, added, variables, _digit_bits(variables), keys)
    if invalid >= 0:
        raise InputError(_explain(members[invalid], int(added[invalid]), variables))
    return keys


def _explain(members: Members, extra: int, variables: int) -> str:
    """Return the error message for a set that has no key."""
    listed = members[members >= 0].tolist()
    if not -1 <= extra < variables:
        return f"a child has the index {extra}; give an index from 0 to {variables - 1}"
    if extra in listed:
        return f"variable {extra} is its own parent; remove it from its parents"
    most = max_set_size(variables)
    if len(listed) + (extra >= 0) > most:
        return f"{len(listed)} parents are too many; with {variables} variables, use at most {most - 1}"
    return f"{members.tolist()} is not a set; give ascending indices from 0 to {variables - 1}, padded with -1 at the end"


@kernel
def _pack_keys(members: Members, extra: Ints, variables: int, bits: int, keys: Masks) -> int:
    """Write the keys of sets into `keys`. Return the row of the first invalid set, or -1 if all sets are valid."""
    width = members.shape[1]
    per_word = 64 // bits
    for line in range(len(members)):
        keys[line, 0] = keys[line, 1] = np.uint64(0)
        pending = extra[line]  # to be inserted among the members, in ascending order
        if pending >= variables or pending < -1:
            return line
        previous = np.int64(-1)
        place = 0
        column = 0
        while True:
            ended = column == width or members[line, column] < 0
            if ended and pending < 0:
                break
            if pending >= 0 and (ended or pending < members[line, column]):
                variable = np.int64(pending)
                pending = -1
            else:
                variable = np.int64(members[line, column])
                column += 1
            if variable <= previous or variable >= variables:
                return line
            previous = variable
            at = variable if bits == 1 else place
            if at >= 2 * per_word:
                return line
            digit = np.uint64(1) if bits == 1 else np.uint64(variable + 1)
            keys[line, at // per_word] |= digit << np.uint64(64 - bits * (at % per_word + 1))
            place += 1
        for rest in range(column, width):
            if members[line, rest] != -1:
                return line
    return -1


def set_members(keys: Masks, variables: int) -> Members:
    """Return the sets with the given keys as rows of ascending indices, padded with -1 at the end.

    Args:
        keys: result of `set_keys`.
        variables: total number of variables.
    """
    bits = _digit_bits(variables)
    one_bits = np.bitwise_count(keys).sum(axis=1, dtype=np.int64)
    widest = min(int(one_bits.max(initial=0)), max_set_size(variables))
    members = np.full((len(keys), widest), -1, dtype=np.int32)
    largest = _unpack_keys(keys, bits, members)
    return members if largest == widest else np.ascontiguousarray(members[:, :largest])


@kernel
def _unpack_keys(keys: Masks, bits: int, members: Members) -> int:
    """Write the sets with the given keys into `members`, which contains -1. Return the size of the largest set."""
    digits = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    largest = 0
    for line in range(len(keys)):
        size = 0
        for word in (1, 0):  # from the last member to the first
            rest = keys[line, word]
            while rest:
                place = (63 - np.int64(lowest_bit(rest))) // bits
                shift = np.uint64(64 - bits * (place + 1))
                digit = (rest >> shift) & digits
                rest ^= digit << shift
                members[line, size] = 64 * word + place if bits == 1 else np.int64(digit) - 1
                size += 1
        for left in range(size // 2):
            right = size - 1 - left
            members[line, left], members[line, right] = members[line, right], members[line, left]
        largest = max(largest, size)
    return largest


def sort_keys(keys: Masks) -> Masks:
    """Return the keys in ascending order.

    Args:
        keys: result of `set_keys`, in any order.
    """
    high, low = keys[:, 0], keys[:, 1]
    return keys[np.lexsort((low, high)) if low.any() else np.argsort(high)]


def _digit_bits(variables: int) -> int:
    """Return the number of bits of a digit in a key. A digit of 1 bit stands for one variable."""
    return 1 if variables <= _BIT_VARIABLES else variables.bit_length()


def max_set_size(variables: int) -> int:
    """Return the largest size of a set that a key can represent.

    >>> [max_set_size(variables) for variables in (100, 1000, 5000)]
    [100, 12, 8]
    """
    return variables if variables <= _BIT_VARIABLES else 2 * (64 // _digit_bits(variables))


def state_combinations(members: Members, arities: Ints) -> Floats:
    """Return the number of state combinations of each set of variables.

    Args:
        members: array with one set per row, padded with -1.
        arities: number of states of each variable.
    """
    cells = np.empty(len(members))
    _multiply_states(members, arities, cells)
    return cells


@kernel
def _multiply_states(members: Members, arities: Ints, cells: Floats) -> None:
    """Write the number of state combinations of each set into `cells`."""
    for line in range(len(members)):
        cells[line] = 1.0
        for place in range(members.shape[1]):
            variable = members[line, place]
            if variable < 0:
                break
            cells[line] *= arities[variable]


def word_count(bits: int) -> int:
    """Return the number of 64-bit words of a mask with this number of bits; at least 1."""
    return max(1, -(-bits // 64))


def mask_of(bits: Iterable[int], words: int) -> Masks:
    """Return the mask in which the given bits are 1.

    Args:
        bits: positions of the 1 bits.
        words: number of words of the mask.

    >>> mask_of([0, 2, 64], words=2).tolist()
    [5, 1]
    """
    flags = np.zeros(64 * words, dtype=bool)
    flags[list(bits)] = True
    return pack_flags(flags, words)


def pack_flags(flags: NDArray[np.bool_], words: int) -> Masks:
    """Return masks: bit b of a mask is element b of a row of `flags`, which is its last axis.

    Args:
        flags: values of the bits; missing bits are 0.
        words: number of words of each mask.
    """
    padded = np.zeros((*flags.shape[:-1], 64 * words), dtype=bool)
    padded[..., : flags.shape[-1]] = flags
    return np.packbits(padded, axis=-1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def bounded_masks(bits: int, limit: int, words: int | None = None) -> Masks:
    """Return all masks of `bits` bits in which at most `limit` bits are 1, in ascending order, one mask per row.

    Each mask represents a set. In this order, a set comes after all its subsets.

    Args:
        bits: number of bits.
        limit: largest number of 1 bits.
        words: number of words of each mask; by default as many as the bits need.

    >>> bounded_masks(3, 2).ravel().tolist()
    [0, 1, 2, 3, 4, 5, 6]
    """
    by_limit = [np.zeros((1, words or word_count(bits)), dtype=np.uint64)] * (limit + 1)
    for bit in range(bits):
        flag = mask_of([bit], by_limit[0].shape[1])
        with_bit = [masks | flag for masks in by_limit]
        by_limit = [by_limit[0]] + [np.concatenate([by_limit[k], with_bit[k - 1]]) for k in range(1, limit + 1)]
    return by_limit[limit]


def has_bit(masks: Masks, bit: int) -> NDArray[np.bool_]:
    """Return, for each mask, whether a bit is 1. The words of a mask are the last axis of `masks`."""
    flags: NDArray[np.bool_] = (masks[..., bit // 64] >> np.uint64(bit % 64)) & np.uint64(1) == 1
    return flags


def is_subset(masks: Masks, others: Masks) -> NDArray[np.bool_]:
    """Return, for each mask, whether all its 1 bits are also 1 in the other mask. The words of a mask are the last axis."""
    inside: NDArray[np.bool_] = (masks & ~others == 0).all(axis=-1)
    return inside


def mask_sizes(masks: Masks) -> Ints:
    """Return the number of 1 bits of each mask. The words of a mask are the last axis of `masks`."""
    sizes: Ints = np.bitwise_count(masks).sum(axis=-1, dtype=np.int64)
    return sizes


def mask_bits(masks: Masks) -> Members:
    """Return the positions of the 1 bits of each mask, as rows of ascending numbers padded with -1.

    Args:
        masks: array with one mask per row.

    >>> mask_bits(bounded_masks(3, 2)[4:]).tolist()
    [[2, -1], [0, 2], [1, 2]]
    """
    positions = np.empty((len(masks), int(mask_sizes(masks).max(initial=0))), dtype=np.int32)
    every = np.arange(64 * masks.shape[1])
    all_bits, all_masks = np.array([0, len(every)]), np.array([0, len(masks)])
    expand_masks(all_bits, every, all_masks, masks, 0, np.empty(len(masks), dtype=np.int64), positions)
    return positions


def move_bits(masks: Masks, origins: Iterable[int], targets: Iterable[int], words: int) -> Masks:
    """Return masks with moved bits: each target bit gets the value of its origin bit. All other bits are 0.

    Args:
        masks: array with one mask per row.
        origins: positions of bits in `masks`.
        targets: positions of the same bits in the result.
        words: number of words of each mask of the result.
    """
    moved = np.zeros((len(masks), words), dtype=np.uint64)
    for origin, target in zip(origins, targets, strict=True):
        moved[:, target // 64] |= has_bit(masks, origin).astype(np.uint64) << np.uint64(target % 64)
    return moved


def find_masks(ascending: Masks, wanted: Masks) -> Ints:
    """Return the index of each wanted mask; -1 if it is absent.

    Args:
        ascending: array with one mask per row, in ascending order.
        wanted: array with one mask per row.
    """
    index = np.empty(len(wanted), dtype=np.int64)
    _find_each(ascending, wanted, index)
    return index


@kernel
def _find_each(ascending: Masks, wanted: Masks, index: Ints) -> None:
    for line in range(len(wanted)):
        index[line] = find_mask(ascending, 0, len(ascending), wanted, line)


# In kernels, a single mask is a row of an array. Passing the array and the row is faster than passing a view of the row.


@kernel
def find_mask(masks: Masks, begin: int, end: int, wanted: Masks, row: int) -> int:
    """Return the index of the mask `wanted[row]` among `masks[begin:end]`, which ascend; -1 if it is absent."""
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        word = masks.shape[1] - 1
        while word > 0 and masks[middle, word] == wanted[row, word]:
            word -= 1
        if masks[middle, word] < wanted[row, word]:
            low = middle + 1
        else:
            high = middle
    if low == end:
        return -1
    for word in range(masks.shape[1]):
        if masks[low, word] != wanted[row, word]:
            return -1
    return low


def squeeze_words(masks: Masks) -> Masks:
    """Return masks of one word as an array with one axis, and other masks unchanged. The array is contiguous.

    `first_subset` and `flip_bit` accept both. Numba compiles them separately for one axis, without loops over words.
    """
    return np.ascontiguousarray(masks[:, 0] if masks.shape[1] == 1 else masks)


@kernel
def first_subset(masks: Masks, begin: int, end: int, allowed: Masks, row: int) -> int:
    """Return the index of the first subset of the mask `allowed[row]` among `masks[begin:end]`; -1 if there is none.

    `masks` and `allowed` are results of `squeeze_words`.
    """
    if masks.ndim == 1:
        outside = ~allowed[row]
        for entry in range(begin, end):
            if masks[entry] & outside == np.uint64(0):
                return entry
    else:
        outside = ~allowed[row, 0]
        for entry in range(begin, end):
            if masks[entry, 0] & outside == np.uint64(0):
                word = 1
                while word < masks.shape[1] and masks[entry, word] & ~allowed[row, word] == np.uint64(0):
                    word += 1
                if word == masks.shape[1]:
                    return entry
    return -1


@kernel
def flip_bit(masks: Masks, row: int, bit: int) -> None:
    """Change the value of one bit of the mask `masks[row]` in place. `masks` may be a result of `squeeze_words`."""
    if masks.ndim == 1:
        masks[row] ^= np.uint64(1) << np.uint64(bit)
    else:
        masks[row, bit >> 6] ^= np.uint64(1) << np.uint64(bit & 63)


@kernel
def set_bit(masks: Masks, row: int, bit: int, value: bool) -> None:
    """Set a bit of the mask `masks[row]`, which is 0, to a value. `masks` may be a result of `squeeze_words`.

    This function has no branch, so it is fast even if values are random.
    """
    if masks.ndim == 1:
        masks[row] |= np.uint64(value) << np.uint64(bit)
    else:
        masks[row, bit >> 6] |= np.uint64(value) << np.uint64(bit & 63)


@kernel
def expand_masks(
    first: Ints, candidates: Ints, start: Ints, masks: Masks, begin: int, groups: Ints, members: Members
) -> None:
    """Write the sets `masks[begin]`, `masks[begin + 1]`, ... into `members`, as rows of ascending indices padded with -1.

    Group g has the sets `masks[start[g]:start[g + 1]]`. Bit b of these masks stands for `candidates[first[g] + b]`. The
    group of each set is written into `groups`.
    """
    group = 0
    for line in range(len(members)):
        while begin + line >= start[group + 1]:
            group += 1
        groups[line] = group
        size = 0
        for word in range(masks.shape[1]):
            rest = masks[begin + line, word]
            while rest:
                members[line, size] = candidates[first[group] + 64 * word + np.int64(lowest_bit(rest))]
                rest &= rest - np.uint64(1)
                size += 1
        for place in range(size, members.shape[1]):
            members[line, place] = -1
