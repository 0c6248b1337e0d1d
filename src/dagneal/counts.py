"""Contingency counts, in compiled kernels over merged rows."""

from __future__ import annotations

from math import lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagneal.kernels import Codes, Floats, Ints, Masks, Progress, kernel, run

# Two rows that differ in these bits almost never meet in the hash table below (Knuth's golden-ratio multiplier).
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def set_sums(
    codes: Codes,
    weights: Ints,
    arities: Ints,
    members: NDArray[np.int32],
    concentrations: Floats,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Floats:
    """For many sets of variables, the sums over their observed state combinations that scores are made of.

    Args:
        codes: the data, shape (variables, rows).
        weights: how often each row counts.
        arities: the number of states of each variable.
        members: one set per line, its variables ascending, -1 after the last; sets with common first members should
            follow each other, since the combined code of a prefix is kept.
        concentrations: for each set the pseudo-counts a for which a sum is wanted; negative for N ln N.
        workers: number of threads.
        progress: told how far it is.

    Returns:
        Array like `concentrations`: the sum of ln G(N + a) - ln G(a), or of N ln N.
    """
    sums = np.empty(concentrations.shape)
    sizes = (members >= 0).sum(axis=1)
    step = max(64, min(4096, -(-len(members) // 16)))
    pieces = [slice(start, start + step) for start in range(0, len(members), step)]

    def work(piece: slice) -> None:
        _set_sums(codes, weights, arities, members[piece], sizes[piece], concentrations[piece], sums[piece])

    run(work, pieces, workers, "scoring", progress)
    return sums


@kernel
def _set_sums(
    codes: Codes,
    weights: Ints,
    arities: Ints,
    members: NDArray[np.int32],
    sizes: Ints,
    concentrations: Floats,
    sums: Floats,
) -> None:
    rows = codes.shape[1]
    widest = 0
    for size in sizes:
        widest = max(widest, size)
    # prefix[l] holds, for each row, the combined code of the first l members of the current set; span[l] its bound.
    prefix = np.zeros((widest + 1, rows), dtype=np.uint32)
    span = np.ones(widest + 1, dtype=np.int64)
    current = np.full(widest + 1, -1, dtype=np.int32)
    dense = max(4096, 2 * rows)  # the most cells that are counted in a plain table
    table = np.zeros(dense, dtype=np.int64)
    slots = 1
    shift = np.uint64(64)
    while slots < 2 * rows:
        slots *= 2
        shift -= np.uint64(1)
    keys = np.empty(slots, dtype=np.uint64)
    ranks = np.full(slots, -1, dtype=np.int64)
    touched = np.empty(rows, dtype=np.int64)

    for index in range(len(sizes)):
        size = sizes[index]
        shared = 0
        while shared < size - 1 and current[shared] == members[index, shared]:
            shared += 1
        for level in range(shared, size - 1):
            variable = members[index, level]
            current[level] = variable
            arity = arities[variable]
            if span[level] * arity <= dense:
                span[level + 1] = span[level] * arity
                for row in range(rows):
                    prefix[level + 1, row] = prefix[level, row] * arity + codes[variable, row]
            else:  # too many combinations for a table: number those that occur
                count = _ranked(prefix[level], codes[variable], arity, prefix[level + 1], keys, ranks, touched, shift)
                span[level + 1] = count
        for level in range(max(size - 1, 0), widest + 1):
            current[level] = -1
        cells = 1
        if size == 0:
            table[0] = weights.sum()
        else:
            variable = members[index, size - 1]
            arity = arities[variable]
            cells = span[size - 1] * arity
            if cells <= dense:
                table[:cells] = 0
                line = codes[variable]
                before = prefix[size - 1]
                for row in range(rows):
                    table[np.int64(before[row]) * arity + np.int64(line[row])] += weights[row]
            else:
                before = prefix[widest]  # scratch: the deepest level is no prefix of a set of this size
                cells = _ranked(prefix[size - 1], codes[variable], arity, before, keys, ranks, touched, shift)
                table[:cells] = 0
                for row in range(rows):
                    table[before[row]] += weights[row]
        for column in range(concentrations.shape[1]):
            sums[index, column] = _sum(table[:cells], concentrations[index, column])


@kernel
def _ranked(
    before: Codes,
    line: Codes,
    arity: int,
    after: Codes,
    keys: Masks,
    ranks: Ints,
    touched: Ints,
    shift: np.uint64,
) -> int:
    """Number the combinations of a prefix and one more variable in the order in which they occur."""
    slots = np.int64(len(keys))
    count = 0
    for row in range(len(line)):
        key = np.uint64(before[row]) * np.uint64(arity) + np.uint64(line[row])
        slot = np.int64((key * _SPREAD) >> shift) if slots > 1 else 0
        while ranks[slot] >= 0 and keys[slot] != key:
            slot = (slot + 1) % slots
        if ranks[slot] < 0:
            keys[slot] = key
            ranks[slot] = count
            touched[count] = slot
            count += 1
        after[row] = ranks[slot]
    for i in range(count):
        ranks[touched[i]] = -1
    return count


@kernel
def _sum(counts: Ints, concentration: float) -> float:
    """Sum over the counts that are not zero, compensated (Kahan), so that 10^9 rows lose no digit that matters."""
    total = 0.0
    lost = 0.0
    base = lgamma(concentration) if concentration >= 0.0 else 0.0
    for count in counts:
        if count > 0:
            term = lgamma(count + concentration) - base if concentration >= 0.0 else count * log(count)
            corrected = term - lost
            grown = total + corrected
            lost = (grown - total) - corrected
            total = grown
    return total


@kernel
def column_ranges(array: NDArray[Any]) -> tuple[Ints, Ints]:
    """The smallest and the largest number in each column of a table of integers."""
    low = array[0].astype(np.int64)
    high = low.copy()
    for row in range(1, array.shape[0]):
        for column in range(array.shape[1]):
            value = np.int64(array[row, column])
            if value < low[column]:
                low[column] = value
            elif value > high[column]:
                high[column] = value
    return low, high


@kernel
def row_keys(array: NDArray[Any], low: Ints, spans: Ints) -> Ints:
    """Each row of a table of integers as one number in a mixed radix."""
    keys = np.empty(array.shape[0], dtype=np.int64)
    for row in range(array.shape[0]):
        key = np.int64(0)
        for column in range(array.shape[1]):
            key = key * spans[column] + (np.int64(array[row, column]) - low[column])
        keys[row] = key
    return keys
