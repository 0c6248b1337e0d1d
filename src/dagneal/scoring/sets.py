"""Sets of variables, represented by bit masks, by rows of indices and by sortable keys."""

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


@kernel
def state_combinations(members: Members, arities: Ints) -> Floats:
    """Return the number of state combinations of each set of variables.

    `members` has one set per row, padded with -1. `arities` has the number of states of each variable.
    """
    cells = np.ones(len(members))
    for line in range(len(members)):
        for variable in members[line]:
            if variable < 0:
                break
            cells[line] *= arities[variable]
    return cells


@kernel
def expand_masks(
    first: Ints, candidates: Ints, start: Ints, masks: Masks, begin: int, groups: Ints, members: Members
) -> None:
    """Write the sets `masks[begin]`, `masks[begin + 1]`, ... into `members`, as rows of ascending indices padded with -1.

    Group g has the sets `masks[start[g]:start[g + 1]]`. Bit b of these masks stands for `candidates[first[g] + b]`. The
    group of each set is written into `groups`.
    """
    group = np.searchsorted(start, begin, side="right") - 1
    for line in range(len(members)):
        while begin + line >= start[group + 1]:
            group += 1
        groups[line] = group
        size = 0
        rest = masks[begin + line]
        while rest:
            members[line, size] = candidates[first[group] + lowest_bit(rest)]
            rest &= rest - np.uint64(1)
            size += 1
        members[line, size:] = -1


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
