"""Contingency counts of sets of variables, and the sums over them that scores are made of.

Sets of few states are counted with bits (see `bitwise`), others row by row over merged rows, whichever costs less.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints, run_threads as run_threads
from dagneal.base.machine import check_room, has_room
from dagneal.data import planes as bit_planes
from dagneal.data.packing import PackedRows
from dagneal.runtime.run import DEFAULT_RUN, NEVER, Deadline, Run
from dagneal.scoring.counting.bitwise import MOST_PREFIX, count_sets
from dagneal.scoring.counting.rowwise import set_sums
from dagneal.scoring.counting.terms import add_up, terms_of

if TYPE_CHECKING:
    from dagneal.data.dataset import Dataset

# Measured, in nanoseconds: a row that is counted, and a word of 64 rows in a conjunction, where there are no wide registers.
_ROW, _WORD = 1.2, 0.3
_SET = 200.0  # rows that could be counted while a set is looked up and scored
_MUCH = 1e9  # rows looked at one by one, beyond which work is given to an executor
_SETS = 4096  # in a task of an executor
_PIECE = 1 << 17  # counts that are kept at a time
_QUICK = 1e5  # nanoseconds of counting one set by rows; where it takes longer, pieces get smaller under a deadline
_SOON = 2e8  # rows looked at one by one: work that takes a fraction of a second is done even after a deadline
_TERMS = 1 << 22  # terms of sums that are looked up
_PLAIN = 1 << 22  # combinations of states, beyond which packed rows are sorted to be counted


class Counter:
    """Counts sets of variables in data.

    Args:
        data: the data.
        run: its executor does much work, to each of whose workers the data are sent once; after its deadline counting many
            sets raises `OutOfTimeError`.
        workers: number of threads; all cores by default.
    """

    def __init__(self, data: Dataset, run: Run = DEFAULT_RUN, workers: int | None = None) -> None:
        self.data = data
        self.run = run
        self.workers = workers

    @cached_property
    def planes(self) -> bit_planes.Planes | None:
        """The rows as bits, equal ones repeated; None where merging has made them so few that bits cannot be worth it."""
        data = self.data
        if isinstance(data.codes, PackedRows):
            return data.codes.planes
        repeated = data.rows * _WORD / 64 > data.codes.shape[1] * _ROW
        if repeated or not has_room(4 * bit_planes.size_of(data.arities, data.rows)):
            return None
        planes = bit_planes.empty(data.arities, data.rows)
        for variable, line in enumerate(data.codes):
            planes.fill(variable, 0, line if data.rows == len(line) else np.repeat(line, data.weights))
        return planes

    def cost(self, size: int) -> float:
        """What counting a set of so many variables costs, as if so many rows were looked at one by one.

        Args:
            size: how many variables.
        """
        different = self.data.codes.shape[1]
        if self.planes is None:
            return float(different)
        passes = float(np.exp(np.log(self.data.arities).mean() * size))
        return min(float(different), passes * self.data.rows / 64 * _WORD / _ROW + _SET)

    def counts(self, families: Sequence[Sequence[int]]) -> Iterator[Ints]:
        """How often each combination of the states of some variables occurs: an array with an axis for each of them.

        Args:
            families: variables, by position.
        """
        for family in families:
            shape = tuple(int(self.data.arities[v]) for v in family)
            members = np.array([sorted(family)], dtype=np.int32)
            sizes = np.array([len(family)])
            easy, cells = self._cheaper(members, sizes)
            if easy[0]:
                offsets = np.array([0, int(cells[0])])
                found = self._with_bits(members, sizes, offsets).reshape([shape[i] for i in np.argsort(family)])
                yield np.transpose(found, np.argsort(np.argsort(family)))
            else:
                yield self._plain(family, shape).reshape(shape)

    def sums(self, members: NDArray[np.int32], concentrations: Floats) -> Floats:
        """For many sets of variables, the sums over their observed state combinations that scores are made of.

        Args:
            members: one set per line, its variables ascending, -1 after the last; sets with common first members should
                follow each other, since what is known of a prefix is kept.
            concentrations: for each set the pseudo-counts a for which a sum is wanted; negative for N ln N.

        Returns:
            Array like `concentrations`: the sum of ln G(N + a) - ln G(a), or of N ln N.
        """
        data = self.data
        sums: Floats = np.empty(concentrations.shape)
        sizes = (members >= 0).sum(axis=1)
        limited = self.run.deadline != NEVER
        deadline = self.run.deadline if limited and self._work(sizes) > _SOON else NEVER
        if self.run.executor is not None and self._work(sizes) > _MUCH:
            return self._spread(members, concentrations, deadline)
        with_bits, cells = self._cheaper(members, sizes)
        values, which = np.unique(concentrations, return_inverse=True)
        which = which.reshape(concentrations.shape)
        seen = np.minimum(cells, data.codes.shape[1]).sum() * concentrations.shape[1]
        terms = terms_of(values, data.rows if len(values) * data.rows <= min(seen / 2, _TERMS) else -1)

        def work(piece: tuple[bool, Ints]) -> None:
            deadline.check()
            easy, lines = piece
            found = np.empty((len(lines), sums.shape[1]))
            chosen, lengths, own = members[lines], sizes[lines], which[lines]
            if easy:
                offsets = np.append(0, np.cumsum(cells[lines].astype(np.int64)))
                add_up(self._with_bits(chosen, lengths, offsets), offsets, own, values, terms, found)
            elif isinstance(data.codes, PackedRows):
                for line, (its, size) in enumerate(zip(chosen, lengths, strict=True)):
                    deadline.check()
                    counts = self._plain(its[:size], tuple(int(data.arities[v]) for v in its[:size]), seen_only=True)
                    offsets = np.array([0, len(counts)])
                    add_up(counts, offsets, own[line : line + 1], values, terms, found[line : line + 1])
            else:
                set_sums(data.codes, data.weights, data.arities, chosen, lengths, own, values, terms, found)
            sums[lines] = found

        share = 1.0 if deadline == NEVER else min(1.0, _QUICK / (data.codes.shape[1] * _ROW))
        run_threads(work, _pieces(with_bits, cells, share), self.workers, "scoring", self.run.progress)
        return sums

    def _work(self, sizes: Ints) -> float:
        """What counting sets of these sizes costs."""
        return sum(float(count) * (self.cost(size) + _SET) for size, count in enumerate(np.bincount(sizes)) if count)

    def _spread(self, members: NDArray[np.int32], concentrations: Floats, deadline: Deadline) -> Floats:
        """The same over an executor, a few thousand sets in a task."""
        sums: Floats = np.empty(concentrations.shape)
        ready = 0

        def record(task: _Task, found: Floats) -> None:
            nonlocal ready
            sums[task[0] : task[0] + len(found)] = found
            ready += len(found)
            self.run.progress("scoring", ready, len(sums))

        def tasks() -> Iterator[_Task]:
            for at in range(0, len(sums), _SETS):
                deadline.check()
                yield at, members[at : at + _SETS], concentrations[at : at + _SETS]

        self.run.each(_sums, tasks(), record, _Worker(self.data))
        return sums

    def _with_bits(self, members: NDArray[np.int32], sizes: Ints, offsets: Ints) -> Ints:
        counts = np.zeros(offsets[-1], dtype=np.int64)
        planes = self.planes
        if planes is None:
            raise AssertionError("there are no planes")
        count_sets(planes.words, planes.first, self.data.arities, planes.rows, members, sizes, offsets, counts)
        return counts

    def _plain(self, family: Sequence[int], shape: tuple[int, ...], seen_only: bool = False) -> Ints:
        """Counts by a histogram; of combinations that occur alone where there are too many of all."""
        data, cells = self.data, prod(shape)
        if not isinstance(data.codes, PackedRows):
            key = _keys([data.codes[v] for v in family], shape, data.codes.shape[1])
            return np.bincount(key, weights=data.weights, minlength=cells).astype(np.int64)
        if cells > _PLAIN and seen_only:
            check_room(40 * data.rows, f"counting {data.rows:,} rows by {cells:,} states", "merge states with rare=0.01")
            return np.unique(_keys([data.codes[v] for v in family], shape, data.rows), return_counts=True)[1]
        counts = np.zeros(cells, dtype=np.int64)
        for begin, end in data.codes.parts():
            key = _keys([data.codes.line(v, begin, end) for v in family], shape, end - begin)
            counts += np.bincount(key, minlength=cells)
        return counts

    def _cheaper(self, members: NDArray[np.int32], sizes: Ints) -> tuple[NDArray[np.bool_], Floats]:
        """Which sets are cheaper to count with bits, and how many combinations of states each has."""
        data = self.data
        states = np.where(members >= 0, data.arities[members], 1).astype(np.float64)
        cells = states.prod(axis=1)
        if self.planes is None or not members.shape[1]:
            return np.zeros(len(members), dtype=bool), cells
        last = states[np.arange(len(members)), np.maximum(sizes - 1, 0)]
        narrow = states.max(axis=1, initial=1.0) <= bit_planes.WIDEST
        fits = narrow & (cells / last <= MOST_PREFIX) & (cells <= _PIECE)
        if isinstance(data.codes, PackedRows):
            return fits, cells
        return fits & (cells * data.rows / 64 * _WORD < data.codes.shape[1] * _ROW), cells


_Task = tuple[int, NDArray[np.int32], Floats]  # where the sets of a task begin, the sets and their concentrations


class _Worker:
    """A counter for the tasks of a worker."""

    def __init__(self, data: Dataset) -> None:
        self.counter = Counter(data, workers=1)
        self.fingerprint = f"counter:{data.fingerprint}"


def _sums(worker: _Worker, task: _Task) -> Floats:
    """Sum the sets of a task."""
    return worker.counter.sums(*task[1:])


def _keys(lines: Sequence[NDArray[np.unsignedinteger]], shape: tuple[int, ...], rows: int) -> Ints:
    """Each row's combination of states as one number."""
    key = np.zeros(rows, dtype=np.int64)
    for line, arity in zip(lines, shape, strict=True):
        key *= arity
        key += line
    return key


def _pieces(with_bits: NDArray[np.bool_], cells: Floats, share: float) -> list[tuple[bool, Ints]]:
    """Sets in pieces of one kind, in their order; a share below 1 makes pieces smaller, so that a deadline is noticed."""
    found: list[tuple[bool, Ints]] = []
    for kind in (False, True):
        lines = np.flatnonzero(with_bits == kind)
        step = max(64, min(4096, -(-len(lines) // 16)))
        step = max(1, int(step * share))
        begin = 0
        while begin < len(lines):
            end = min(begin + step, len(lines))
            if kind:
                most = np.searchsorted(np.cumsum(cells[lines[begin:end]]), _PIECE, side="right")
                end = begin + max(1, int(most))
            found.append((kind, lines[begin:end]))
            begin = end
    return found
