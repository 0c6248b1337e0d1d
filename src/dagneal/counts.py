"""Contingency counts of sets of variables, and the sums over them that scores are made of.

Sets of few states are counted with bits (see `bits`), others row by row over merged rows, whichever costs less.
"""

from __future__ import annotations

from functools import cached_property
from math import lgamma, log
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagneal import bits
from dagneal.kernels import Codes, Floats, Ints, Masks, Progress, kernel, run
from dagneal.machine import room

if TYPE_CHECKING:
    from dagneal.data import Dataset

# Two rows that differ in these bits almost never meet in the hash table below (Knuth's golden-ratio multiplier).
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
# Measured, in nanoseconds: a row that is counted, and a word of 64 rows in a conjunction, where there are no wide registers.
_ROW, _WORD = 1.2, 0.3
_PIECE = 1 << 17  # counts that are kept at a time
_TERMS = 1 << 22  # terms of sums that are looked up


class Counter:
    """Counts sets of variables in data.

    Args:
        data: the data.
        workers: number of threads; all cores by default.
    """

    def __init__(self, data: Dataset, workers: int | None = None) -> None:
        self.data = data
        self.workers = workers

    @cached_property
    def planes(self) -> bits.Planes | None:
        """The rows as bits, equal ones repeated; None where merging has made them so few that bits cannot be worth it."""
        data = self.data
        repeated = data.rows * _WORD / 64 > data.codes.shape[1] * _ROW
        if repeated or bits.size_of(data.arities, data.rows) > room() // 4:
            return None
        planes = bits.empty(data.arities, data.rows)
        for variable, line in enumerate(data.codes):
            planes.fill(variable, 0, line if data.rows == len(line) else np.repeat(line, data.weights))
        return planes

    def sums(self, members: NDArray[np.int32], concentrations: Floats, progress: Progress | None = None) -> Floats:
        """For many sets of variables, the sums over their observed state combinations that scores are made of.

        Args:
            members: one set per line, its variables ascending, -1 after the last; sets with common first members should
                follow each other, since what is known of a prefix is kept.
            concentrations: for each set the pseudo-counts a for which a sum is wanted; negative for N ln N.
            progress: told how far it is.

        Returns:
            Array like `concentrations`: the sum of ln G(N + a) - ln G(a), or of N ln N.
        """
        data = self.data
        sums: Floats = np.empty(concentrations.shape)
        sizes = (members >= 0).sum(axis=1)
        with_bits, cells = self._cheaper(members, sizes)
        values, which = np.unique(concentrations, return_inverse=True)
        which = which.reshape(concentrations.shape)
        seen = np.minimum(cells, data.codes.shape[1]).sum() * concentrations.shape[1]
        terms = _terms(values, data.rows if len(values) * data.rows <= min(seen / 2, _TERMS) else -1)

        def work(piece: tuple[bool, Ints]) -> None:
            easy, lines = piece
            found = np.empty((len(lines), sums.shape[1]))
            chosen, lengths, own = members[lines], sizes[lines], which[lines]
            if easy and (planes := self.planes) is not None:
                offsets = np.append(0, np.cumsum(cells[lines].astype(np.int64)))
                counts = np.zeros(offsets[-1], dtype=np.int64)
                bits.count_sets(planes.words, planes.first, data.arities, planes.rows, chosen, lengths, offsets, counts)
                _sums(counts, offsets, own, values, terms, found)
            else:
                _set_sums(data.codes, data.weights, data.arities, chosen, lengths, own, values, terms, found)
            sums[lines] = found

        run(work, _pieces(with_bits, cells), self.workers, "scoring", progress)
        return sums

    def _cheaper(self, members: NDArray[np.int32], sizes: Ints) -> tuple[NDArray[np.bool_], Floats]:
        """Which sets are cheaper to count with bits, and how many combinations of states each has."""
        data = self.data
        states = np.where(members >= 0, data.arities[members], 1).astype(np.float64)
        cells = states.prod(axis=1)
        if self.planes is None or not members.shape[1]:
            return np.zeros(len(members), dtype=bool), cells
        last = states[np.arange(len(members)), np.maximum(sizes - 1, 0)]
        narrow = states.max(axis=1, initial=1.0) <= bits.WIDEST
        fits = narrow & (cells / last <= bits.MOST_PREFIX) & (cells <= _PIECE)
        return fits & (cells * data.rows / 64 * _WORD < data.codes.shape[1] * _ROW), cells


def _pieces(with_bits: NDArray[np.bool_], cells: Floats) -> list[tuple[bool, Ints]]:
    """Sets in pieces of one kind, in their order."""
    found: list[tuple[bool, Ints]] = []
    for kind in (False, True):
        lines = np.flatnonzero(with_bits == kind)
        step = max(64, min(4096, -(-len(lines) // 16)))
        begin = 0
        while begin < len(lines):
            end = min(begin + step, len(lines))
            if kind:
                most = np.searchsorted(np.cumsum(cells[lines[begin:end]]), _PIECE, side="right")
                end = begin + max(1, int(most))
            found.append((kind, lines[begin:end]))
            begin = end
    return found


def _terms(values: Floats, most: int) -> Floats:
    """The terms of sums, for each pseudo-count and each count up to the largest; none for -1."""
    table = np.empty((len(values), most + 1))
    _fill_terms(values, table)
    return table


@kernel
def _fill_terms(values: Floats, table: Floats) -> None:
    for line in range(len(values)):
        base = lgamma(values[line]) if values[line] >= 0.0 else 0.0
        for count in range(table.shape[1]):
            table[line, count] = _term(count, values[line], base)


@kernel
def _term(count: int, concentration: float, base: float) -> float:
    if count == 0:
        return 0.0
    return lgamma(count + concentration) - base if concentration >= 0.0 else count * log(count)


@kernel
def _sums(counts: Ints, offsets: Ints, which: Ints, values: Floats, terms: Floats, sums: Floats) -> None:
    for index in range(len(sums)):
        own = counts[offsets[index] : offsets[index + 1]]
        for column in range(sums.shape[1]):
            line = which[index, column]
            sums[index, column] = _sum(own, values[line], terms[line])


@kernel
def _set_sums(
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
        for column in range(sums.shape[1]):
            line_of = which[index, column]
            sums[index, column] = _sum(table[:cells], values[line_of], terms[line_of])


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
def _sum(counts: Ints, concentration: float, terms: Floats) -> float:
    """Sum over the counts that are not zero, compensated (Kahan), so that 10^9 rows lose no digit that matters."""
    total = 0.0
    lost = 0.0
    base = lgamma(concentration) if concentration >= 0.0 else 0.0
    for count in counts:
        if count > 0:
            term = terms[count] if len(terms) else _term(count, concentration, base)
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
