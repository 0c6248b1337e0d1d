"""Count how often state combinations of variables occur in data, and compute from the counts the sums that scores need.

Each set of variables is counted in the faster of two ways: with bit planes (see `bitwise`), or row by row over the distinct
rows (see `rowwise`). Bit planes are faster for sets with few state combinations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import comb, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats, Ints, run_threads as run_threads
from dagneal.base.machine import check_memory, has_memory
from dagneal.data import planes as bit_planes
from dagneal.data.packing import PackedRows
from dagneal.runtime.run import DEFAULT_RUN, NEVER, Deadline, Run
from dagneal.scoring.counting.bitwise import MAX_PREFIX_CELLS, count_sets
from dagneal.scoring.counting.grouping import group_sets, move_last
from dagneal.scoring.counting.rowwise import set_sums
from dagneal.scoring.counting.terms import TermTable, sum_set_terms
from dagneal.scoring.sets import Members

if TYPE_CHECKING:
    from dagneal.data.dataset import Dataset

# Measured nanoseconds to count one row, and to AND one word of 64 rows without wide registers.
_ROW, _WORD = 0.6, 0.15
# The cost of counting is measured in rows: the number of rows that could be counted one by one in the same time.
_SET = 200.0  # cost, in rows, of looking up and scoring a set
_EXECUTOR_WORK = 1e9  # cost, in rows, above which the executor does the counting
_SETS = 4096  # sets in a task of an executor
_MAX_CELLS = 1 << 17  # most counts in memory at a time
_QUICK = 1e5  # nanoseconds; with a deadline, chunks are smaller if counting a set takes longer than this
_DEADLINE_WORK = 2e8  # cost, in rows, below which deadlines are ignored (a fraction of a second)
_THREAD_WORK = 5e5  # cost, in rows, below which starting threads takes longer than counting
_MAX_HISTOGRAM = 1 << 22  # state combinations above which packed rows are counted by sorting


class Counter:
    """Counts the state combinations of variable sets in data.

    Args:
        data: data whose rows are counted.
        run: `Run` object with the executor and the deadline. Only large computations use the executor, which sends the data
            to each worker once. After the deadline, counting many sets raises `OutOfTimeError`.
        workers: number of threads; all cores by default.
    """

    def __init__(self, data: Dataset, run: Run = DEFAULT_RUN, workers: int | None = None) -> None:
        if data.incomplete:
            raise InputError(
                "the data have unknown values (missing='em'), which only learn and questions to networks accept; read the "
                "data with missing='drop' or missing='state'"
            )
        self.data = data
        self.run = run
        self.workers = workers
        self._terms = TermTable(data.rows)

    @cached_property
    def planes(self) -> bit_planes.Planes | None:
        """The bit planes of all rows; None if counting the distinct rows is faster, or if memory is short."""
        data = self.data
        if isinstance(data.codes, PackedRows):
            return data.codes.planes
        slower = data.rows * _WORD / 64 > data.codes.shape[1] * _ROW
        if slower or not has_memory(4 * bit_planes.size_of(data.arities, data.rows)):
            return None
        planes = bit_planes.empty(data.arities, data.rows)
        for variable, line in enumerate(data.codes):
            planes.fill(variable, 0, line if data.rows == len(line) else np.repeat(line, data.weights))
        return planes

    def cost(self, size: int) -> float:
        """Return the estimated cost of counting a set of variables. The unit is the cost of counting one row.

        Args:
            size: number of variables in the set.
        """
        distinct_rows = self.data.codes.shape[1]
        if self.planes is None:
            return float(distinct_rows)
        passes = float(np.exp(self._mean_log_arity * size))
        return min(float(distinct_rows), passes * self.data.rows / 64 * _WORD / _ROW + _SET)

    @cached_property
    def _mean_log_arity(self) -> float:
        """The mean logarithm of the number of states of a variable."""
        return float(np.log(self.data.arities).mean())

    def total_cost(self, size: int) -> float:
        """Return the estimated cost of counting all sets of at most `size` variables, in the unit of `cost`.

        Args:
            size: maximum number of variables in a set.
        """
        return sum(comb(len(self.data.names), k) * self.cost(k) for k in range(size + 1))

    def counts(self, families: Sequence[Sequence[int]]) -> Iterator[Ints]:
        """Yield, for each list of variables, an array of counts with one axis per variable, in the order of the list.

        Args:
            families: lists of indices of variables.
        """
        for family in families:
            shape = tuple(int(self.data.arities[v]) for v in family)
            members = np.array([sorted(family)], dtype=np.int32)
            sizes = np.array([len(family)])
            use_bits, cells = self._choose_bits(members, (sizes - 1).astype(np.uint8))
            if use_bits[0]:
                offsets = np.array([0, int(cells[0])])
                counts = self._count_bits(members, sizes, offsets).reshape([shape[i] for i in np.argsort(family)])
                yield np.transpose(counts, np.argsort(np.argsort(family)))
            else:
                yield self._histogram(family, shape).reshape(shape)

    def sums(self, members: Members, kinds: Ints, concentrations: Floats) -> Floats:
        """Return sums over the counts of variable sets. Scores are computed from these sums.

        Args:
            members: array with one set per row, as ascending indices of variables, padded with -1.
            kinds: row of `concentrations` for each set.
            concentrations: array with one column per sum. Each value is a pseudo-count alpha. A value -r requests the sum of
                N ln N + ln C(N, r) instead, and `OCCURRING` the number of state combinations that occur in the data; see
                `dagneal.scoring.counting.terms`.

        Returns:
            Array with one row per set and one column per sum. Each value is the sum of ln Gamma(N + alpha) - ln Gamma(alpha)
            over the counts N of the state combinations that occur in the data. Gamma is the gamma function.
        """
        data = self.data
        sums: Floats = np.empty((len(members), concentrations.shape[1]))
        sizes = (members >= 0).sum(axis=1)
        total_work = self._work(sizes)
        deadline = self.run.deadline if total_work > _DEADLINE_WORK else NEVER
        if self.run.executor is not None and total_work > _EXECUTOR_WORK:
            return self._sums_by_executor(members, kinds, concentrations, deadline)
        order, places = group_sets(members, sizes)
        if isinstance(data.codes, PackedRows):
            self._shrink_bases(members, places)
        use_bits, cells = self._choose_bits(members, places)
        table, lines_of = self.term_lines(concentrations)
        terms, parameters = table.terms, table.parameters

        def work(chunk: tuple[bool, Ints]) -> None:
            deadline.check()
            bitwise, sets = chunk
            result = np.empty((len(sets), sums.shape[1]))
            chosen, lengths, lines = members[sets], sizes[sets], lines_of[kinds[sets]]
            move_last(chosen, lengths, places[sets])
            if bitwise:
                offsets = np.zeros(len(sets) + 1, dtype=np.int64)
                np.cumsum(cells[sets].astype(np.int64), out=offsets[1:])
                sum_set_terms(self._count_bits(chosen, lengths, offsets), offsets, lines, terms, parameters, result)
            elif isinstance(data.codes, PackedRows):
                for index, (padded, size) in enumerate(zip(chosen, lengths, strict=True)):
                    deadline.check()
                    family, own = padded[:size], slice(index, index + 1)
                    counts = self._histogram(family, tuple(int(data.arities[v]) for v in family), seen_only=True)
                    sum_set_terms(counts, np.array([0, len(counts)]), lines[own], terms, parameters, result[own])
            else:
                set_sums(data.codes, self.weights, data.arities, chosen, lengths, lines, terms, parameters, result)
            sums[sets] = result

        scale = 1.0 if deadline == NEVER else min(1.0, _QUICK / (data.codes.shape[1] * _ROW))
        workers = self.workers if total_work > _THREAD_WORK else 1
        run_threads(work, _chunks(order, use_bits, cells, scale), workers, "scoring", self.run.progress)
        return sums

    @cached_property
    def weights(self) -> NDArray[np.unsignedinteger[Any]]:
        """The weights of the distinct rows, in the smallest type in which they can be added."""
        return self.data.weights.astype(np.uint32 if self.data.rows < 1 << 32 else np.uint64)

    def term_lines(self, concentrations: Floats) -> tuple[TermTable, Ints]:
        """Return a table of terms, and the line of each pseudo-count in this table. Later calls use the table again.

        Args:
            concentrations: array of pseudo-counts.
        """
        values, which = np.unique(concentrations, return_inverse=True)
        table = self._terms
        while (lines := table.lines(values)) is None:
            table = self._terms = TermTable(self.data.rows, len(values))
        return table, lines[which].reshape(concentrations.shape)

    def _work(self, sizes: Ints) -> float:
        """Return the estimated total cost of counting sets of the given sizes. The unit is the cost of counting one row."""
        return sum(float(count) * (self.cost(size) + _SET) for size, count in enumerate(np.bincount(sizes)) if count)

    def _sums_by_executor(self, members: Members, kinds: Ints, concentrations: Floats, deadline: Deadline) -> Floats:
        """Return the same result as `sums`, computed by the executor in tasks of a few thousand sets."""
        sums: Floats = np.empty((len(members), concentrations.shape[1]))
        finished = 0

        def record(task: _Task, result: Floats) -> None:
            nonlocal finished
            sums[task[0] : task[0] + len(result)] = result
            finished += len(result)
            self.run.progress("scoring", finished, len(sums))

        def tasks() -> Iterator[_Task]:
            for at in range(0, len(sums), _SETS):
                deadline.check()
                used, own = np.unique(kinds[at : at + _SETS], return_inverse=True)
                yield at, members[at : at + _SETS], own, concentrations[used]

        self.run.each(_sums, tasks(), record, _Worker(self.data))
        return sums

    def _count_bits(self, members: Members, sizes: Ints, offsets: Ints) -> Ints:
        """Count sets of variables with bit planes. Return the counts of all sets in one array.

        The counts of set i are in the slice `offsets[i]:offsets[i + 1]` of this array.
        """
        counts = np.zeros(offsets[-1], dtype=np.int64)
        planes = self.planes
        if planes is None:
            raise AssertionError("there are no bit planes")
        count_sets(planes.words, planes.first, self.data.arities, planes.rows, members, sizes, offsets, counts)
        return counts

    def _histogram(self, family: Sequence[int], shape: tuple[int, ...], seen_only: bool = False) -> Ints:
        """Count one set of variables row by row. If `seen_only` is True, the result may omit zero counts to save memory."""
        data, cells = self.data, prod(shape)
        if not isinstance(data.codes, PackedRows):
            key = _keys([data.codes[v] for v in family], shape, data.codes.shape[1])
            return np.bincount(key, weights=data.weights, minlength=cells).astype(np.int64)
        if cells > _MAX_HISTOGRAM and seen_only:
            check_memory(
                40 * data.rows, f"counting {data.rows:,} rows by {cells:,} state combinations", "merge states with rare=0.01"
            )
            return np.unique(_keys([data.codes[v] for v in family], shape, data.rows), return_counts=True)[1]
        counts = np.zeros(cells, dtype=np.int64)
        for begin, end in data.codes.chunks():
            key = _keys([data.codes.line(v, begin, end) for v in family], shape, end - begin)
            counts += np.bincount(key, minlength=cells)
        return counts

    def _choose_bits(self, members: Members, places: NDArray[np.uint8]) -> tuple[NDArray[np.bool_], Floats]:
        """Return the tuple (use_bits, cells), two arrays with one value per set of variables.

        `use_bits` is True for sets that are faster to count with bit planes. `cells` is the number of state combinations of
        each set. `places` contains the position of each set's last member.
        """
        data, states = self.data, self._states(members)
        cells = states.prod(axis=1)
        if self.planes is None or not members.shape[1]:
            return np.zeros(len(members), dtype=bool), cells
        use_bits = (states.max(axis=1) <= bit_planes.MAX_PLANE_STATES) & (cells <= _MAX_CELLS)
        use_bits &= cells <= MAX_PREFIX_CELLS * states[np.arange(len(members)), places]
        if not isinstance(data.codes, PackedRows):
            use_bits &= cells * data.rows / 64 * _WORD < data.codes.shape[1] * _ROW
        return use_bits, cells

    def _shrink_bases(self, members: Members, places: NDArray[np.uint8]) -> None:
        """Choose other last members for sets whose bases have too many state combinations for bit planes."""
        if members.shape[1]:
            states = self._states(members)
            large = states.prod(axis=1) > MAX_PREFIX_CELLS * states[np.arange(len(members)), places]
            places[large] = states[large].argmax(axis=1)

    def _states(self, members: Members) -> Floats:
        """Return the number of states of each member of each set; 1 instead of missing members."""
        states: Floats = self.data.arities.astype(np.float64)[members]
        states[members < 0] = 1.0
        return states


_Task = tuple[int, Members, Ints, Floats]  # index of the first set, and the arguments of `Counter.sums`


class _Worker:
    """A counter with the data. The executor sends it to each worker once."""

    def __init__(self, data: Dataset) -> None:
        self.counter = Counter(data, workers=1)
        self.fingerprint = f"counter:{data.fingerprint}"


def _sums(worker: _Worker, task: _Task) -> Floats:
    """Return the result of `Counter.sums` for the sets of a task."""
    return worker.counter.sums(*task[1:])


def _keys(lines: Sequence[NDArray[np.unsignedinteger]], shape: tuple[int, ...], rows: int) -> Ints:
    """Return, for each row, a number that identifies the combination of states in `lines`."""
    key = np.zeros(rows, dtype=np.int64)
    for line, arity in zip(lines, shape, strict=True):
        key *= arity
        key += line
    return key


def _chunks(order: Ints, use_bits: NDArray[np.bool_], cells: Floats, scale: float) -> list[tuple[bool, Ints]]:
    """Divide sets of variables into chunks. All sets of a chunk are counted in the same way.

    Return a list of tuples (bitwise, sets). `bitwise` is True if the chunk is counted with bit planes. `sets` are the
    indices of the sets in the chunk. If `scale` is below 1, chunks are smaller, so that a deadline is checked more often.
    """
    chunks: list[tuple[bool, Ints]] = []
    for bitwise in (False, True):
        sets = order[use_bits[order] == bitwise]
        step = max(64, min(4096, -(-len(sets) // 16)))
        step = max(1, int(step * scale))
        begin = 0
        while begin < len(sets):
            end = min(begin + step, len(sets))
            if bitwise:
                most = np.searchsorted(np.cumsum(cells[sets[begin:end]]), _MAX_CELLS, side="right")
                end = begin + max(1, int(most))
            chunks.append((bitwise, sets[begin:end]))
            begin = end
    return chunks
