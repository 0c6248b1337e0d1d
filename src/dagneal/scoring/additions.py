"""Scores of parent sets that get one more parent, for all possible parents at once.

The rows are divided once by the states of the parent set and the child. Then each part of the rows is added up: a row is a
vector with one entry for each state of each possible parent, so the sum of a part has the counts of all possible parents.
Processors add such vectors fast. Looking up the terms of the counts takes most of the time. Nothing is stored.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Codes, Floats, Ints, kernel
from dagneal.data.packing import PackedRows
from dagneal.scoring.counting.rowwise import Weights
from dagneal.scoring.counting.terms import look_up_term
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.scores import Adaptive
from dagneal.scoring.sets import Members, state_combinations

Counts = NDArray[np.uint16]

MAX_ROWS = np.iinfo(np.uint16).max  # the largest possible count
MAX_ENTRIES = 20_000_000  # entries of all vectors
MAX_CELLS = 1 << 20  # distinct rows times states of a variable: working memory of each thread


def can_score_additions(scorer: Scorer) -> bool:
    """Return whether `Additions` supports the data and the score.

    Args:
        scorer: scorer of the data.
    """
    data = scorer.data
    if isinstance(data.codes, PackedRows) or data.rows > MAX_ROWS or isinstance(scorer.criterion, Adaptive):
        return False
    rows, states = data.codes.shape[1], data.arities.astype(np.int64)
    return bool(rows * states.sum() <= MAX_ENTRIES and rows * states.max() <= MAX_CELLS)


class Indicators:
    """The rows of the data as vectors, with one entry for each state of each variable but its first state.

    Args:
        scorer: scorer of the data for which `can_score_additions` is True.

    Attributes:
        vectors: array with one line per distinct row. An entry is the weight of the row if the variable has the state,
            otherwise 0.
        first: bounds of the entries of each variable.
    """

    def __init__(self, scorer: Scorer) -> None:
        data = scorer.data
        if isinstance(data.codes, PackedRows):
            raise AssertionError("packed rows are not supported")
        self.scorer = scorer
        self.codes: Codes = data.codes
        self.arities: Ints = data.arities.astype(np.int64)
        self.first: Ints = np.concatenate([[0], np.cumsum(self.arities - 1)])
        owners = np.repeat(np.arange(len(self.arities)), self.arities - 1)
        states = np.arange(self.first[-1]) - self.first[owners] + 1
        self.vectors: Counts = np.ascontiguousarray(
            ((data.codes[owners] == states[:, None]) * data.weights).T, dtype=np.uint16
        )


class _Memory(NamedTuple):
    """Working memory of the kernel.

    Attributes:
        part: for each number of members of the set, from its last member on, the part of each row. Rows with equal states
            of these members are one part.
        parts: number of parts for each number of members.
        number: new number of each divided part; -1 between two divisions.
        seen: divided parts that occur.
        ends: end of each cell in `order`. A cell is a part with one state of the child.
        order: rows, one cell after the other.
        cell: sum of the vectors of a cell.
        total: sum of the vectors of a part.
    """

    part: Ints
    parts: Ints
    number: Ints
    seen: Ints
    ends: Ints
    order: Ints
    cell: Counts
    total: Counts


class Additions:
    """The scores of parent sets of one child with one more parent, or the sums of any sets with one more member.

    Args:
        indicators: rows of the data as vectors.
        child: index of the child; None for sums of sets.
        options: variables that can be added.

    Attributes:
        options: the same variables in another order: by their number of states.
    """

    def __init__(self, indicators: Indicators, child: int | None, options: Ints) -> None:
        arities, first = indicators.arities, indicators.first
        self.child, self.options = child, options[np.argsort(arities[options], kind="stable")]
        self._indicators = indicators
        sizes = arities[self.options]
        self._arities, begins = np.unique(sizes, return_index=True)
        ends = np.append(begins[1:], len(sizes))
        bounds = np.concatenate([[0], np.cumsum(sizes - 1)])
        self._groups: Ints = np.stack([self._arities, begins, ends, bounds[begins]], axis=1)
        columns = np.repeat(first[self.options] - bounds[:-1], sizes - 1) + np.arange(bounds[-1])
        self._vectors = np.ascontiguousarray(indicators.vectors[:, columns])
        rows, most = indicators.codes.shape[1], int(arities.max())
        states = 1 if child is None else int(arities[child])
        self._memory = _Memory(
            part=np.zeros((1, rows), dtype=np.int64),
            parts=np.ones(1, dtype=np.int64),
            number=np.full(rows * most, -1, dtype=np.int64),
            seen=np.empty(rows, dtype=np.int64),
            ends=np.empty(rows * states + 1, dtype=np.int64),
            order=np.empty(rows, dtype=np.int64),
            cell=np.empty(len(columns), dtype=np.uint16),
            total=np.empty(len(columns), dtype=np.uint16),
        )

    def scores(self, rows: Members) -> Floats:
        """Return a matrix of scores, with one row for each parent set and one column for each option.

        Options that are in the set get minus infinity. Of background knowledge, only the log-odds of edges are used. The
        scores equal those of `Scorer.score_parents` without violations, up to rounding errors.

        Args:
            rows: parent sets as rows of variables, padded with -1.
        """
        if self.child is None:
            raise AssertionError("only a child has scores")
        data, criterion = self._indicators.scorer.data, self._indicators.scorer.criterion
        arity, count = int(data.arities[self.child]), data.rows
        combinations = state_combinations(rows, data.arities)
        cells, kinds = np.unique(combinations[:, None] * self._arities, return_inverse=True)
        families = [criterion.concentrations(arity, cell * arity, count)[0] for cell in cells.tolist()]
        parents = [criterion.concentrations(arity, cell, count)[1] for cell in cells.tolist()]
        sums = self._sum(rows, np.stack([families, parents], axis=1), kinds)
        scores: Floats = sums[:, :, 0] - sums[:, :, 1]
        if criterion.penalised:
            parent_cells = combinations[:, None] * data.arities[self.options]
            scores -= criterion.penalties(arity, parent_cells.ravel(), count).reshape(scores.shape)
        rules = self._indicators.scorer.constraints
        if rules is not None and rules.log_odds is not None:
            scores += rules.prior(np.full(len(rows), self.child), rows)[:, None] + rules.log_odds[self.options, self.child]
        for place in range(rows.shape[1]):
            scores[rows[:, place, None] == self.options] = -np.inf
        return scores

    def set_sums(self, rows: Members, columns: int) -> Floats:
        """Return the sums over the counts of sets, with one row for each set and one column for each option.

        The sets must not contain an option. The sums equal those of `Counter.sums` up to rounding errors.

        Args:
            rows: sets as rows of variables, padded with -1.
            columns: 1 for sums with the pseudo-counts of families, 2 to add sums with the pseudo-counts of parent sets.
        """
        data, criterion = self._indicators.scorer.data, self._indicators.scorer.criterion
        cells, kinds = np.unique(state_combinations(rows, data.arities)[:, None] * self._arities, return_inverse=True)
        pseudo_counts = np.array([criterion.concentrations(0, cell, data.rows) for cell in cells.tolist()])
        return self._sum(rows, pseudo_counts[:, :columns], kinds)

    def _sum(self, rows: Members, pseudo_counts: Floats, kinds: Ints) -> Floats:
        """Return sums for each set, each option and each column of `pseudo_counts`."""
        counter, indicators = self._indicators.scorer.counter, self._indicators
        table, lines = counter.term_lines(pseudo_counts)
        lines = np.ascontiguousarray(lines[kinds.reshape(len(rows), -1)])
        sums = np.zeros((len(rows), len(self.options), lines.shape[2]))
        child = -1 if self.child is None else self.child
        if rows.shape[1] >= len(self._memory.parts):
            part = np.zeros((rows.shape[1] + 1, indicators.codes.shape[1]), dtype=np.int64)
            self._memory = self._memory._replace(part=part, parts=np.ones(len(part), dtype=np.int64))
        _sum_additions(
            indicators.codes, counter.weights, indicators.arities, child, rows, self._vectors,
            self._groups, lines, table.terms, table.parameters, self._memory, sums,
        )  # fmt: skip
        return sums


@kernel
def _sum_additions(
    codes: Codes,
    weights: Weights,
    arities: Ints,
    child: int,
    rows: Members,
    vectors: Counts,
    groups: Ints,
    lines: Ints,
    terms: Floats,
    parameters: Floats,
    memory: _Memory,
    sums: Floats,
) -> None:
    """Add the sums over the counts of each family and each parent set to `sums`.

    Without a child, add all sums over the counts of each set.

    Args:
        codes: states of the variables in each row.
        weights: weight of each row.
        arities: number of states of each variable.
        child: index of the child; -1 for no child.
        rows: parent sets.
        vectors: vectors of the options.
        groups: array with one row for each group of options with the same number of states: this number, the bounds of the
            group, and its first entry in the vectors.
        lines: lines of each parent set and each group in the table of terms, for families and for parents.
        terms: terms of the table.
        parameters: parameters of the table.
        memory: working memory.
        sums: output array, with zeros at first: for each parent set and option, the sums of the family and of the parents.
    """
    ends, order, cell, total = memory.ends, memory.order, memory.cell, memory.total
    states, width, columns = arities[child] if child >= 0 else 1, vectors.shape[1], sums.shape[2]
    for index in range(len(rows)):
        members = rows.shape[1]
        known = 0  # the last members are often the same as those of the set before
        while index > 0 and known < members and rows[index, members - 1 - known] == rows[index - 1, members - 1 - known]:
            known += 1
        for number in range(known, members):
            _divide(codes, rows[index, members - 1 - number], arities, memory, number)
        _sort_rows(codes, child, states, members, memory)
        begin, single = 0, 0
        for own in range(memory.parts[members]):
            if ends[own * states + states - 1] - begin == 1 and weights[order[begin]] == 1:
                single += 1  # every option leaves this row alone
                begin += 1
                continue
            everything = 0
            for column in range(width):
                total[column] = 0
            for state in range(states):
                end = ends[own * states + state]
                if begin == end:
                    continue
                size = 0
                for column in range(width):
                    cell[column] = 0
                for at in range(begin, end):
                    row = order[at]
                    size += weights[row]
                    for column in range(width):
                        cell[column] += vectors[row, column]
                if columns == 2:
                    for column in range(width):
                        total[column] += cell[column]
                _add_terms(cell, size, groups, lines, index, 0, terms, parameters, sums)
                everything += size
                begin = end
            if columns == 2:
                _add_terms(total, everything, groups, lines, index, 1, terms, parameters, sums)
        for group in range(len(groups)):
            for kind in range(columns):
                line = lines[index, group, kind]
                rest = single * look_up_term(1, line, terms, parameters)
                for option in range(groups[group, 1], groups[group, 2]):
                    sums[index, option, kind] = (sums[index, option, kind] + rest) / parameters[line, 2]


@kernel
def _divide(codes: Codes, variable: int, arities: Ints, memory: _Memory, members: int) -> None:
    """Divide the parts of some members by the states of a variable, if it is not -1. Number the new parts from 0."""
    part, number, seen = memory.part, memory.number, memory.seen
    parts = 0
    for row in range(part.shape[1]):
        own = part[members, row]
        if variable >= 0:
            own = own * arities[variable] + codes[variable, row]
        if number[own] < 0:
            number[own] = parts
            seen[parts] = own
            parts += 1
        part[members + 1, row] = number[own]
    for entry in range(parts):
        number[seen[entry]] = -1
    memory.parts[members + 1] = parts


@kernel
def _sort_rows(codes: Codes, child: int, states: int, members: int, memory: _Memory) -> None:
    """Sort the rows by their part and the state of the child. Write the end of each cell into `memory.ends`."""
    part, ends, cells = memory.part, memory.ends, memory.parts[members] * states
    for cell in range(cells + 1):
        ends[cell] = 0
    for row in range(part.shape[1]):
        ends[part[members, row] * states + (codes[child, row] if child >= 0 else 0) + 1] += 1
    for cell in range(cells):
        ends[cell + 1] += ends[cell]
    for row in range(part.shape[1]):
        cell = part[members, row] * states + (codes[child, row] if child >= 0 else 0)
        memory.order[ends[cell]] = row
        ends[cell] += 1


@kernel
def _add_terms(
    counts: Counts,
    size: int,
    groups: Ints,
    lines: Ints,
    index: int,
    kind: int,
    terms: Floats,
    parameters: Floats,
    sums: Floats,
) -> None:
    """Add the terms of a cell, divided by the states of each option, to the sums of a parent set.

    `counts` has the counts of all states but the first. `size` is the weight of all rows.
    """
    for group in range(len(groups)):
        line, column = lines[index, group, kind], groups[group, 3]
        for option in range(groups[group, 1], groups[group, 2]):
            left, term = size, 0.0
            for _ in range(groups[group, 0] - 1):
                number = int(counts[column])
                term += look_up_term(number, line, terms, parameters)
                left -= number
                column += 1
            sums[index, option, kind] += term + look_up_term(left, line, terms, parameters)
