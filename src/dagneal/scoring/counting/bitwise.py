"""Counting with bit planes: one instruction counts 64 rows or more.

A bit plane belongs to one state of a variable. It has one bit per row, which is 1 if the variable has this state. The AND of
several planes marks the rows with a combination of states. The number of 1 bits is the number of these rows. State 0 has no
plane, because it has all remaining rows. Successive sets of variables often share their first members. The ANDs of these
members are therefore kept. The planes are processed in chunks that fit into the cache.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.extending import intrinsic
from numpy.typing import NDArray

from dagneal.base.kernels import Ints, Masks, kernel

CHUNK = 512  # words: 32,768 rows, 4 kB of each plane
_CELLS = 64  # state combinations of all members except the last for which memory is created at first
MAX_PREFIX_CELLS = 256  # most state combinations of all members except the last; an AND of planes is kept for each


@intrinsic  # type: ignore[untyped-decorator]
def _ones(_: Any, word: Any) -> Any:
    """Return the number of 1 bits in a word."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return numba.uint64(numba.uint64), generate


@kernel
def _join(left: Masks, right: Masks, result: Masks) -> Any:
    """Write the AND of two bit planes into `result`. Return the number of 1 bits in `result`."""
    total = np.uint64(0)
    for word in range(len(result)):
        both = left[word] & right[word]
        result[word] = both
        total += _ones(both)
    return np.int64(total)


@kernel
def _common(left: Masks, right: Masks) -> Any:
    """Return the number of bits that are 1 in both bit planes."""
    total = np.uint64(0)
    for word in range(len(left)):
        total += _ones(left[word] & right[word])
    return np.int64(total)


@kernel
def _common_two(left: Masks, right: Masks, other: Masks) -> Any:
    """Return the results of `_common` for two bit planes `right` and `other`. The loop reads `left` only once."""
    first = second = np.uint64(0)
    for word in range(len(left)):
        bits = left[word]
        first += _ones(bits & right[word])
        second += _ones(bits & other[word])
    return np.int64(first), np.int64(second)


@kernel
def _remove(left: Masks, right: Masks) -> None:
    """Clear the bits of `left` that are 1 in `right`."""
    for word in range(len(left)):
        left[word] &= ~right[word]


def count_sets(
    words: Masks,
    first: Ints,
    arities: Ints,
    rows: int,
    members: NDArray[np.int32],
    sizes: Ints,
    offsets: Ints,
    counts: Ints,
) -> None:
    """Count how often each state combination of each set of variables occurs.

    The counts of a set are consecutive elements of `counts`. The state of the last member varies fastest.

    Args:
        words: matrix of 64-bit words. Each row of the matrix is a bit plane.
        first: index in `words` of each variable's first bit plane, which belongs to state 1.
        arities: number of states of each variable.
        rows: number of rows of the data.
        members: array with one set per row, as indices of variables. Sets with the same first members should be adjacent.
        sizes: number of members of each set.
        offsets: index in `counts` of each set's first count.
        counts: output array, which must contain zeros.
    """
    widest, cells = max(1, members.shape[1]), _CELLS
    current, chunk = np.empty(widest, dtype=np.int32), min(CHUNK, words.shape[1])
    while cells:
        kept = np.empty((widest, cells, chunk), dtype=np.uint64)
        held = np.empty((widest, cells), dtype=np.int64)
        cells = _count(words, first, arities, rows, members, sizes, offsets, kept, held, current, counts)


@kernel
def _count(
    words: Masks,
    first: Ints,
    arities: Ints,
    rows: int,
    members: NDArray[np.int32],
    sizes: Ints,
    offsets: Ints,
    kept: Masks,
    held: Ints,
    current: NDArray[np.int32],
    counts: Ints,
) -> int:
    """Count as described in `count_sets`, and return 0. If `kept` has too few columns, return the number that it needs.

    `kept[l, c]` marks the rows of a chunk in which the first l members have their c-th state combination. `held[l, c]` is
    the number of these rows. `current` has the variables of the first members for which these arrays are computed.
    """
    most = 1
    for index in range(len(sizes)):
        cells = 1
        for level in range(sizes[index] - 1):
            cells *= arities[members[index, level]]
        most = max(most, cells)
    if most > kept.shape[1]:
        return most
    chunk = kept.shape[2]
    for begin in range(0, words.shape[1], chunk):
        here = min(chunk, words.shape[1] - begin)
        kept[0, 0, :here] = ~np.uint64(0)
        held[0, 0] = min(rows - 64 * begin, 64 * here)
        if held[0, 0] % 64:
            kept[0, 0, here - 1] = (np.uint64(1) << np.uint64(held[0, 0] % 64)) - np.uint64(1)
        current[:] = -1
        for index in range(len(sizes)):
            size = sizes[index]
            at = offsets[index]
            if size == 0:
                counts[at] += held[0, 0]
                continue
            shared = 0
            while shared < size - 1 and current[shared] == members[index, shared]:
                shared += 1
            cells = 1
            for level in range(size - 1):
                variable = members[index, level]
                arity = arities[variable]
                if level >= shared:
                    current[level] = variable
                    for cell in range(cells):
                        rest = kept[level + 1, cell * arity, :here]
                        for word in range(here):
                            rest[word] = kept[level, cell, word]
                        left = held[level, cell]
                        for state in range(1, arity):
                            plane = words[first[variable] + state - 1, begin : begin + here]
                            into = cell * arity + state
                            matches = _join(kept[level, cell, :here], plane, kept[level + 1, into, :here])
                            held[level + 1, into] = matches
                            left -= matches
                            _remove(rest, plane)
                        held[level + 1, cell * arity] = left
                cells *= arity
            for level in range(size - 1, len(current)):
                current[level] = -1
            variable = members[index, size - 1]
            arity = arities[variable]
            for cell in range(cells):
                left = held[size - 1, cell]
                if left == 0:
                    continue
                bits = kept[size - 1, cell, :here]
                to = at + cell * arity
                for state in range(1, arity - 1, 2):
                    plane = first[variable] + state - 1
                    one, two = _common_two(bits, words[plane, begin : begin + here], words[plane + 1, begin : begin + here])
                    counts[to + state] += one
                    counts[to + state + 1] += two
                    left -= one + two
                if arity % 2 == 0:
                    one = _common(bits, words[first[variable] + arity - 2, begin : begin + here])
                    counts[to + arity - 1] += one
                    left -= one
                counts[to] += left
    return 0
