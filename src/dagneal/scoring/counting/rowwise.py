"""Counting row by row over the distinct rows.

An array has one count per state combination. If there are too many combinations, a hash table first numbers the combinations
that occur, and the array has one count for each of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Codes, Floats, Ints, Masks, kernel
from dagneal.scoring.counting.terms import sum_terms

# Knuth's golden-ratio multiplier: it spreads keys evenly over the hash table.
_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@kernel
def set_sums(
    codes: Codes,
    weights: Ints,
    arities: Ints,
    members: NDArray[np.int32],
    sizes: Ints,
    which: Ints,
    values: Floats,
    terms: Floats,
    sums: Floats,
) -> None:
    """Count the state combinations of variable sets, and write sums over the counts into `sums`.

    Each sum adds ln Gamma(N + alpha) - ln Gamma(alpha) for all nonzero counts N of a set. alpha is a pseudo-count, and
    Gamma is the gamma function.

    Args:
        codes: state codes of the distinct rows, shape (variables, rows).
        weights: number of occurrences of each distinct row.
        arities: number of states of each variable.
        members: array with one set per row, as ascending indices of variables. Sets with the same first members should be
            adjacent.
        sizes: number of members of each set.
        which: array with one row per set and one column per sum. Each value is the index in `values` of the pseudo-count.
        values: pseudo-counts. A negative value requests the sum of N ln N instead.
        terms: result of `term_table(values, ...)`. If it has no columns, the logarithms are computed here.
        sums: output array with the shape of `which`.
    """
    rows = codes.shape[1]
    widest = 0
    for size in sizes:
        widest = max(widest, size)
    # prefix[l]: for each row, one number for the states of the first l members of the set; span[l]: upper bound of it.
    prefix = np.zeros((widest + 1, rows), dtype=np.uint32)
    span = np.ones(widest + 1, dtype=np.int64)
    current = np.full(widest + 1, -1, dtype=np.int32)
    dense = max(4096, 2 * rows)  # largest number of state combinations to count in an array
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
            else:  # too many combinations for an array: number the occurring combinations
                count = _rank(prefix[level], codes[variable], arity, prefix[level + 1], keys, ranks, touched, shift)
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
                before = prefix[widest]  # reused as scratch space: no set has a prefix of this length
                cells = _rank(prefix[size - 1], codes[variable], arity, before, keys, ranks, touched, shift)
                table[:cells] = 0
                for row in range(rows):
                    table[before[row]] += weights[row]
        for column in range(sums.shape[1]):
            choice = which[index, column]
            sums[index, column] = sum_terms(table[:cells], values[choice], terms[choice])


@kernel
def _rank(
    before: Codes,
    line: Codes,
    arity: int,
    after: Codes,
    keys: Masks,
    ranks: Ints,
    touched: Ints,
    shift: np.uint64,
) -> int:
    """Number the distinct pairs (`before[row]`, `line[row]`) from 0, in order of first occurrence.

    Write the number of each row's pair into `after`. Return how many distinct pairs there are. The hash table
    uses the memory of `keys`, `ranks` and `touched`, so that calls need no new memory.
    """
    slots = np.int64(len(keys))
    count = 0
    for row in range(len(line)):
        key = np.uint64(before[row]) * np.uint64(arity) + np.uint64(line[row])
        slot = np.int64((key * _HASH_MULTIPLIER) >> shift) if slots > 1 else 0
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
