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
def _join(kept: Masks, row: int, words: Masks, plane: int, begin: np.uint64, size: np.uint64, to: int, rest: int) -> Any:
    """Write the AND of a row and a plane into the row `to`, and clear its bits in the row `rest`. Return their number."""
    total = np.uint64(0)
    for word in range(size):
        both = kept[row, word] & words[plane, begin + word]
        kept[to, word] = both
        total += _ones(both)
    for word in range(size):
        kept[rest, word] &= ~words[plane, begin + word]
    return np.int64(total)


@kernel
def _common(kept: Masks, row: int, words: Masks, plane: int, begin: np.uint64, size: np.uint64) -> Any:
    """Return the number of bits that are 1 in a row and in a plane."""
    total = np.uint64(0)
    for word in range(size):
        total += _ones(kept[row, word] & words[plane, begin + word])
    return np.int64(total)


@kernel
def _common_two(kept: Masks, row: int, words: Masks, plane: int, begin: np.uint64, size: np.uint64) -> Any:
    """Return the results of `_common` for a plane and the next. The loop reads the row only once."""
    first = second = np.uint64(0)
    for word in range(size):
        bits = kept[row, word]
        first += _ones(bits & words[plane, begin + word])
        second += _ones(bits & words[plane + 1, begin + word])
    return np.int64(first), np.int64(second)


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
    widest = max(1, members.shape[1])
    cells = min(int(arities.max(initial=1)) ** (widest - 1), _CELLS)
    current, chunk = np.empty(widest, dtype=np.int32), min(CHUNK, words.shape[1])
    while cells:
        kept = np.empty((widest * cells, chunk), dtype=np.uint64)
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
    """Count as described in `count_sets`, and return 0. If `held` has too few columns, return the number that it needs.

    `held[l, c]` is the number of rows of a chunk in which the first l members have their c-th state combination. These rows
    are marked in row `l * held.shape[1] + c` of `kept`. `current` has the variables of the first members for which these
    arrays are computed.
    """
    most = 1
    for index in range(len(sizes)):
        cells = 1
        for level in range(sizes[index] - 1):
            cells *= arities[members[index, level]]
        most = max(most, cells)
    step, chunk = held.shape[1], kept.shape[1]
    if most > step:
        return most
    for begin in range(0, words.shape[1], chunk):
        here = min(chunk, words.shape[1] - begin)
        chunk_begin, chunk_size = np.uint64(begin), np.uint64(here)
        for word in range(here):
            kept[0, word] = ~np.uint64(0)
        held[0, 0] = min(rows - 64 * begin, 64 * here)
        if held[0, 0] % 64:
            kept[0, here - 1] = (np.uint64(1) << np.uint64(held[0, 0] % 64)) - np.uint64(1)
        for level in range(len(current)):
            current[level] = -1
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
                        row, rest = level * step + cell, (level + 1) * step + cell * arity
                        for word in range(chunk_size):
                            kept[rest, word] = kept[row, word]
                        left = held[level, cell]
                        for state in range(1, arity):
                            plane = first[variable] + state - 1
                            matches = _join(kept, row, words, plane, chunk_begin, chunk_size, rest + state, rest)
                            held[level + 1, cell * arity + state] = matches
                            left -= matches
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
                row, to = (size - 1) * step + cell, at + cell * arity
                for state in range(1, arity - 1, 2):
                    plane = first[variable] + state - 1
                    one, two = _common_two(kept, row, words, plane, chunk_begin, chunk_size)
                    counts[to + state] += one
                    counts[to + state + 1] += two
                    left -= one + two
                if arity % 2 == 0:
                    one = _common(kept, row, words, first[variable] + arity - 2, chunk_begin, chunk_size)
                    counts[to + arity - 1] += one
                    left -= one
                counts[to] += left
    return 0
