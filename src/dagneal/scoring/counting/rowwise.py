"""Counting row by row over the distinct rows.

The base of a set is all its members except the last. For each row, a number called prefix identifies the states of the base.
A table has one count for each combination of a prefix and a state of the last member. If there are too many combinations,
the combinations that occur are numbered first.

Up to four sets with the same base are counted in one loop. This is faster than four loops: prefixes are read only once, and
the processor need not wait if successive rows increase the same count, because it works on the other sets meanwhile.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Codes, Floats, Ints, Masks, kernel
from dagneal.scoring.counting.terms import sum_terms

Weights = NDArray[np.unsignedinteger[Any]]

# Knuth's golden-ratio multiplier: it spreads keys evenly over the hash table.
_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_MIN_TABLE, _TABLE = 1 << 16, 8  # number of counts in the table: at least, and for each row
_LARGE_TABLE = 1 << 19  # number of counts in a larger table, which is only created if needed
_FINISHED, _NEEDS_TABLE, _NEEDS_HASHES = 0, 1, 2  # results of `_sum_sets`
_CACHE = 1 << 15  # most counts of sets that are counted together; these counts must fit into the cache of a core


class _Arrays(NamedTuple):
    """Working memory.

    Attributes:
        done: array with one number, the number of sets that are finished.
        prefix: `prefix[l]` has for each row one number for the states of the first l members of the set.
        span: `span[l]` is an upper bound of the numbers in `prefix[l]`.
        current: members of the base for which `prefix` is computed; -1 after the last.
        table: the table of counts, which contains zeros.
        counts: nonzero counts of a set.
        begins: position in the table where the counts of each set begin.
        keys: keys of the hash table; empty if no hash table was needed so far.
        numbers: numbers of the hash table.
    """

    done: Ints
    prefix: NDArray[np.uint32]
    span: Ints
    current: NDArray[np.int32]
    table: Weights
    counts: Weights
    begins: Ints
    keys: Masks
    numbers: NDArray[np.int32]

    @classmethod
    def create(cls, rows: int, widest: int, kind: np.dtype[Any]) -> _Arrays:
        """Return new arrays.

        Args:
            rows: number of distinct rows.
            widest: largest number of members of a set; at least 1.
            kind: type of counts.
        """
        return cls(
            done=np.zeros(1, dtype=np.int64),
            prefix=np.empty((widest + 1, rows), dtype=np.uint32),
            span=np.empty(widest + 1, dtype=np.int64),
            current=np.empty(widest, dtype=np.int32),
            table=np.zeros(max(_MIN_TABLE, _TABLE * rows), dtype=kind),
            counts=np.empty(rows + 1, dtype=kind),
            begins=np.zeros(5, dtype=np.int64),
            keys=np.empty(0, dtype=np.uint64),
            numbers=np.empty(0, dtype=np.int32),
        )


def set_sums(
    codes: Codes,
    weights: Weights,
    arities: Ints,
    members: NDArray[np.int32],
    sizes: Ints,
    lines: Ints,
    terms: Floats,
    parameters: Floats,
    sums: Floats,
) -> None:
    """Count the state combinations of variable sets, and write sums over the counts into `sums`.

    Each sum adds ln Gamma(N + alpha) - ln Gamma(alpha) for all nonzero counts N of a set. alpha is a pseudo-count, and
    Gamma is the gamma function.

    Args:
        codes: state codes of the distinct rows, shape (variables, rows).
        weights: number of occurrences of each distinct row. Counts have the same type.
        arities: number of states of each variable.
        members: array with one set per row, as indices of variables. Sets with the same first members should be adjacent.
        sizes: number of members of each set.
        lines: array with one row per set and one column per sum. Each value is a line of the table of terms.
        terms: terms of a `TermTable`.
        parameters: parameters of a `TermTable`.
        sums: output array with the shape of `lines`.
    """
    rows = codes.shape[1]
    arrays = _Arrays.create(rows, max(1, members.shape[1]), weights.dtype)
    while missing := _sum_sets(codes, weights, arities, members, sizes, lines, terms, parameters, arrays, sums):
        if missing == _NEEDS_TABLE:
            arrays = arrays._replace(table=np.zeros(_LARGE_TABLE, dtype=weights.dtype))
        else:
            slots = 1 << max(1, (2 * rows - 1).bit_length())
            arrays = arrays._replace(keys=np.empty(slots, dtype=np.uint64), numbers=np.empty(slots, dtype=np.int32))


@kernel
def _sum_sets(
    codes: Codes,
    weights: Weights,
    arities: Ints,
    members: NDArray[np.int32],
    sizes: Ints,
    lines: Ints,
    terms: Floats,
    parameters: Floats,
    arrays: _Arrays,
    sums: Floats,
) -> int:
    """Write the sums of all sets from `arrays.done` on, as described in `set_sums`, and return `_FINISHED`.

    If the function needs a larger table or a hash table, it returns what it needs. The caller creates it, and calls again.
    """
    prefix, span, current, begins = arrays.prefix, arrays.span, arrays.current, arrays.begins
    table, counts, keys, numbers = arrays.table, arrays.counts, arrays.keys, arrays.numbers
    rows, widest = codes.shape[1], len(current)
    index = arrays.done[0]
    if index == 0:
        span[0] = 1
        for row in range(rows):
            prefix[0, row] = 0
        for level in range(widest):
            current[level] = -1
    while index < len(sizes):
        arrays.done[0] = index
        base = sizes[index] - 1  # number of members of the base
        if base < 0:
            counts[0] = 0
            for weight in weights:
                counts[0] += weight
            _write_sums(counts, 0, 1, index, lines, terms, parameters, sums)
            index += 1
            continue
        end = _find_end(index, members, sizes)
        shared = 0
        while shared < base and current[shared] == members[index, shared]:
            shared += 1
        for level in range(shared, widest):
            current[level] = -1
        for level in range(shared, base):
            variable = members[index, level]
            current[level] = variable
            combinations = span[level] * arities[variable]
            # Numbering is slow, but it speeds up all sets with this base.
            if combinations * (end - index if level == base - 1 else 1) <= rows // 2:
                _extend(prefix, level, codes, variable, arities[variable])
                span[level + 1] = combinations
            elif combinations <= len(table):
                span[level + 1] = _number(prefix, level, span[level], codes, variable, table)
            else:
                if len(keys) == 0:
                    current[level] = -1
                    return _NEEDS_HASHES
                span[level + 1] = _hash(prefix, level, level + 1, span[level], codes, variable, keys, numbers)
        # Distances of a power of 2 between counts are slow, because caches are divided into sets of nearby addresses.
        step = span[base] | 1 if span[base] >= 64 else span[base]
        while index < end:
            together = _fit(index, end, members, arities, base, step, len(table), begins)
            if together == 0 and begins[1] <= _LARGE_TABLE:
                arrays.done[0] = index
                return _NEEDS_TABLE
            if together == 4:
                _count_four(prefix, base, step, codes, members, index, weights, table, begins)
            elif together == 2:
                _count_two(prefix, base, step, codes, members, index, weights, table, begins)
            elif together == 1:
                _count_one(prefix, base, step, codes, members[index, base], weights, table)
            else:  # there are too many combinations for the table
                if len(keys) == 0:
                    arrays.done[0] = index
                    return _NEEDS_HASHES
                together = 1
                begins[1] = _hash(prefix, base, widest, step, codes, members[index, base], keys, numbers)
                for row in range(rows):
                    table[prefix[widest, row]] += weights[row]
            for place in range(together):
                first, last = begins[place], begins[place + 1]
                if last - first <= 2 * rows:
                    occurring = _collect(table, first, last, counts)
                else:
                    occurring = _collect_by_rows(prefix, base, step, codes, members[index, base], table, first, counts)
                _write_sums(counts, 0, occurring, index, lines, terms, parameters, sums)
                index += 1
    return _FINISHED


@kernel
def _write_sums(
    counts: Weights, begin: int, end: int, index: int, lines: Ints, terms: Floats, parameters: Floats, sums: Floats
) -> None:
    """Write the sums of a set. Its counts are in the range from `begin` to `end` of `counts`."""
    for column in range(sums.shape[1]):
        sums[index, column] = sum_terms(counts, begin, end, lines[index, column], terms, parameters)


@kernel
def _find_end(index: int, members: NDArray[np.int32], sizes: Ints) -> int:
    """Return the index after the last of the adjacent sets that have the same base as a set."""
    base = sizes[index] - 1
    end = index + 1
    while end < len(sizes) and sizes[end] == base + 1:
        for place in range(base):
            if members[end, place] != members[index, place]:
                return end
        end += 1
    return end


@kernel
def _fit(
    index: int, end: int, members: NDArray[np.int32], arities: Ints, base: int, step: int, size: int, begins: Ints
) -> int:
    """Return how many sets to count together: 4, 2, 1, or 0 if the table is too small for one set.

    Write the position in the table where the counts of each set begin into `begins`.
    """
    together = 0
    while together < min(4, end - index):
        begins[together + 1] = begins[together] + step * arities[members[index + together, base]]
        if begins[together + 1] > (size if together == 0 else min(size, _CACHE)):
            break
        together += 1
    return 2 if together == 3 else together


@kernel
def _extend(prefix: NDArray[np.uint32], level: int, codes: Codes, variable: int, arity: int) -> None:
    """Write one number for each row into `prefix[level + 1]`, which identifies a prefix and the state of a variable."""
    factor = np.uint32(arity)
    for row in range(codes.shape[1]):
        prefix[level + 1, row] = prefix[level, row] * factor + np.uint32(codes[variable, row])


@kernel
def _count_one(
    prefix: NDArray[np.uint32], level: int, step: int, codes: Codes, variable: int, weights: Weights, table: Weights
) -> None:
    """Add the counts of a set to the table."""
    factor = np.uint64(step)
    for row in range(codes.shape[1]):
        table[np.uint64(prefix[level, row]) + factor * np.uint64(codes[variable, row])] += weights[row]


@kernel
def _count_two(
    prefix: NDArray[np.uint32],
    level: int,
    step: int,
    codes: Codes,
    members: NDArray[np.int32],
    index: int,
    weights: Weights,
    table: Weights,
    begins: Ints,
) -> None:
    """Add the counts of two sets with the same base to the table."""
    factor, begin_b = np.uint64(step), np.uint64(begins[1])
    a, b = members[index, level], members[index + 1, level]
    for row in range(codes.shape[1]):
        before, weight = np.uint64(prefix[level, row]), weights[row]
        table[before + factor * np.uint64(codes[a, row])] += weight
        table[before + factor * np.uint64(codes[b, row]) + begin_b] += weight


@kernel
def _count_four(
    prefix: NDArray[np.uint32],
    level: int,
    step: int,
    codes: Codes,
    members: NDArray[np.int32],
    index: int,
    weights: Weights,
    table: Weights,
    begins: Ints,
) -> None:
    """Add the counts of four sets with the same base to the table."""
    factor, begin_b, begin_c, begin_d = np.uint64(step), np.uint64(begins[1]), np.uint64(begins[2]), np.uint64(begins[3])
    a, b, c, d = members[index, level], members[index + 1, level], members[index + 2, level], members[index + 3, level]
    for row in range(codes.shape[1]):
        before, weight = np.uint64(prefix[level, row]), weights[row]
        table[before + factor * np.uint64(codes[a, row])] += weight
        table[before + factor * np.uint64(codes[b, row]) + begin_b] += weight
        table[before + factor * np.uint64(codes[c, row]) + begin_c] += weight
        table[before + factor * np.uint64(codes[d, row]) + begin_d] += weight


@kernel
def _collect(table: Weights, begin: int, end: int, counts: Weights) -> int:
    """Move the nonzero counts of a range of the table to the beginning of `counts`. Return how many there are."""
    found = 0
    for cell in range(begin, end):
        counts[found] = table[cell]
        found += table[cell] > 0
    table[begin:end] = 0
    return found


@kernel
def _collect_by_rows(
    prefix: NDArray[np.uint32],
    level: int,
    step: int,
    codes: Codes,
    variable: int,
    table: Weights,
    begin: int,
    counts: Weights,
) -> int:
    """Return the same result as `_collect`. This function is faster if most counts are 0."""
    factor, first = np.uint64(step), np.uint64(begin)
    found = 0
    for row in range(codes.shape[1]):
        cell = np.uint64(prefix[level, row]) + factor * np.uint64(codes[variable, row]) + first
        counts[found] = table[cell]
        found += table[cell] > 0
        table[cell] = 0
    return found


@kernel
def _number(prefix: NDArray[np.uint32], level: int, step: int, codes: Codes, variable: int, table: Weights) -> int:
    """Number the combinations of a prefix and a state from 0, in order of first occurrence. Return how many there are.

    Write the number of each row into `prefix[level + 1]`. The table must have space for all possible combinations.
    """
    factor = np.uint64(step)
    count = 0
    for row in range(codes.shape[1]):
        cell = np.uint64(prefix[level, row]) + factor * np.uint64(codes[variable, row])
        if table[cell] == 0:
            count += 1
            table[cell] = count
        prefix[level + 1, row] = table[cell] - 1
    for row in range(codes.shape[1]):
        table[np.uint64(prefix[level, row]) + factor * np.uint64(codes[variable, row])] = 0
    return count


@kernel
def _hash(
    prefix: NDArray[np.uint32],
    level: int,
    after: int,
    step: int,
    codes: Codes,
    variable: int,
    keys: Masks,
    numbers: NDArray[np.int32],
) -> int:
    """Return the same result as `_number`, for any number of possible combinations. Write it into `prefix[after]`."""
    last = np.int64(len(keys) - 1)
    shift = np.uint64(64)
    for bit in range(32):
        shift -= np.uint64((last >> bit) & 1)
    factor = np.uint64(step)
    for free in range(len(numbers)):
        numbers[free] = -1
    count = 0
    for row in range(codes.shape[1]):
        key = np.uint64(prefix[level, row]) + factor * np.uint64(codes[variable, row])
        slot = np.int64((key * _HASH_MULTIPLIER) >> shift)
        while numbers[slot] >= 0 and keys[slot] != key:
            slot = (slot + 1) & last
        if numbers[slot] < 0:
            keys[slot] = key
            numbers[slot] = count
            count += 1
        prefix[after, row] = numbers[slot]
    return count
