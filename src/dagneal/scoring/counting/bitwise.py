"""Counting with bit planes: one instruction counts 64 rows and more.

The rows in which a set of variables has given states are the conjunction of their bits, and counting them is a population
count. Sets that follow each other share their first members, so the conjunctions of a prefix are kept. The bits are gone
through in chunks that stay in the cache, and counts add up over chunks.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.extending import intrinsic
from numpy.typing import NDArray

from dagneal.base.kernels import Ints, Masks, kernel

CHUNK = 512  # words: 32,768 rows, 4 kB of each plane
MOST_PREFIX = 256  # combinations of states of all members but the last, each of which is a conjunction that is kept


@intrinsic  # type: ignore[untyped-decorator]
def _ones(_: Any, word: Any) -> Any:
    """How many bits of a word are set."""

    def made(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return numba.uint64(numba.uint64), made


@kernel
def _join(left: Masks, right: Masks, result: Masks) -> Any:
    """The conjunction, and how many bits of it are set."""
    total = np.uint64(0)
    for word in range(len(result)):
        both = left[word] & right[word]
        result[word] = both
        total += _ones(both)
    return np.int64(total)


@kernel
def _common(left: Masks, right: Masks) -> Any:
    total = np.uint64(0)
    for word in range(len(left)):
        total += _ones(left[word] & right[word])
    return np.int64(total)


@kernel
def _remove(left: Masks, right: Masks) -> None:
    for word in range(len(left)):
        left[word] &= ~right[word]


@kernel
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
    """Add to the counts of sets how often each combination of their states occurs, the last member's states side by side.

    Args:
        words: planes of bits.
        first: which are those of each variable.
        arities: the number of states of each variable.
        rows: how many rows there are.
        members: one set per line, its variables ascending, sets with common first members after each other.
        sizes: how many members each has.
        offsets: where the counts of each set begin.
        counts: is added to.
    """
    widest = 1
    most = 1
    for index in range(len(sizes)):
        cells = 1
        for level in range(sizes[index] - 1):
            cells *= arities[members[index, level]]
        most = max(most, cells)
        widest = max(widest, sizes[index])
    chunk = min(CHUNK, words.shape[1])
    # kept[l, c]: the rows in which the first l members have the c-th combination of states; held[l, c]: how many.
    kept = np.empty((widest, most, chunk), dtype=np.uint64)
    held = np.zeros((widest, most), dtype=np.int64)
    current = np.full(widest, -1, dtype=np.int32)
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
                        rest[:] = kept[level, cell, :here]
                        left = held[level, cell]
                        for state in range(1, arity):
                            plane = words[first[variable] + state - 1, begin : begin + here]
                            into = cell * arity + state
                            found = _join(kept[level, cell, :here], plane, kept[level + 1, into, :here])
                            held[level + 1, into] = found
                            left -= found
                            _remove(rest, plane)
                        held[level + 1, cell * arity] = left
                cells *= arity
            for level in range(size - 1, widest):
                current[level] = -1
            variable = members[index, size - 1]
            arity = arities[variable]
            for cell in range(cells):
                left = held[size - 1, cell]
                for state in range(1, arity if left else 1):
                    plane = words[first[variable] + state - 1, begin : begin + here]
                    found = _common(kept[size - 1, cell, :here], plane)
                    counts[at + cell * arity + state] += found
                    left -= found
                counts[at + cell * arity] += left
