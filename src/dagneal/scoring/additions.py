"""Scores of parent sets that get one more parent, for data with few rows.

A search often tries many further parents for the same set. With few rows, looking up a set takes longer than counting it.
So the rows are divided once by the states of the set, and each further parent only divides these parts. Nothing is stored.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagneal.base.kernels import Codes, Floats, Ints, kernel, run_threads
from dagneal.data.packing import PackedRows
from dagneal.scoring.counting.rowwise import Weights
from dagneal.scoring.counting.terms import sum_terms
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.sets import Members, state_combinations

MAX_ROWS = 2000  # distinct rows up to which this is faster than `Scorer.score_parents`
MAX_CELLS = 1 << 18  # counts in memory
_CHUNK = 256  # parent sets in a task of a thread


def can_score_additions(scorer: Scorer) -> bool:
    """Return whether `score_additions` supports the data and the score, and is fast.

    Args:
        scorer: scorer of the data.
    """
    codes, most = scorer.data.codes, int(scorer.data.arities.max())
    if isinstance(codes, PackedRows) or scorer.criterion.depends_on_child:
        return False
    return bool(codes.shape[1] <= MAX_ROWS and codes.shape[1] * most**2 <= MAX_CELLS)


def score_additions(scorer: Scorer, children: Ints, rows: Members, origin: Ints, added: Ints) -> Floats:
    """Return the scores of parent sets with one more parent each. They equal those of `Scorer.score_parents`.

    Args:
        scorer: scorer of the data for which `can_score_additions` is True.
        children: index of the child of each parent set.
        rows: parent sets as rows of ascending variables, padded with -1.
        origin: for each score, the index of the parent set; ascending.
        added: for each score, the variable that is added to this set.
    """
    if not len(origin):
        return np.empty(0)
    data, criterion, codes = scorer.data, scorer.criterion, scorer.data.codes
    if isinstance(codes, PackedRows):
        raise AssertionError("packed rows are not supported")
    arities = data.arities.astype(np.int64)
    parent_cells = state_combinations(rows, data.arities)[origin] * arities[added]
    family_cells = parent_cells * arities[children][origin]
    cells, which = np.unique(np.concatenate([family_cells, parent_cells]), return_inverse=True)
    pseudo_counts = np.array([criterion.concentrations(0, float(cell), data.rows) for cell in cells])
    table, lines = scorer.counter.term_lines(pseudo_counts)
    family_lines, parent_lines = lines[which[: len(origin)], 0], lines[which[len(origin) :], 1]
    first = np.searchsorted(origin, np.arange(len(children) + 1))
    scores = np.empty(len(origin))

    def work(begin: int) -> None:
        scorer.counter.run.deadline.check()
        end = min(begin + _CHUNK, len(children))
        lines = family_lines, parent_lines
        arrays = _Arrays.create(codes.shape[1], int(arities.max()))
        _score(
            codes, scorer.counter.weights, arities, (begin, end), children, rows, first, added, lines,
            table.terms, table.parameters, arrays, scores,
        )  # fmt: skip

    run_threads(work, list(range(0, len(children), _CHUNK)), scorer.counter.workers if len(origin) > 10_000 else 1)
    if criterion.penalised:
        for arity in np.unique(arities[children]):
            own = arities[children][origin] == arity
            scores[own] -= criterion.penalties(int(arity), parent_cells[own], data.rows)
    if scorer.constraints is not None:
        larger = np.concatenate([rows[origin], added[:, None].astype(np.int32)], axis=1)
        scores -= scorer.violation_penalty * scorer.constraints.violations(children[origin], larger)
    return scores


class _Arrays(NamedTuple):
    """Working memory.

    Attributes:
        part: the part of each row; rows with equal states of the set are one part.
        number: number of each new part; -1 if it has no number.
        families: counts of the families, which are 0 before and after.
        parents: counts of the parents, which are 0 before and after.
        seen: parts that occur.
        found: nonzero counts of a family.
        totals: nonzero counts of the parents.
    """

    part: Ints
    number: Ints
    families: Ints
    parents: Ints
    seen: Ints
    found: Ints
    totals: Ints

    @classmethod
    def create(cls, rows: int, most: int) -> _Arrays:
        """Return new arrays.

        Args:
            rows: number of distinct rows.
            most: largest number of states of a variable.
        """
        return cls(
            part=np.empty(rows, dtype=np.int64),
            number=np.full(rows * most, -1, dtype=np.int64),
            families=np.zeros(rows * most * most, dtype=np.int64),
            parents=np.zeros(rows * most, dtype=np.int64),
            seen=np.empty(rows, dtype=np.int64),
            found=np.empty(rows, dtype=np.int64),
            totals=np.empty(rows, dtype=np.int64),
        )


@kernel
def _score(
    codes: Codes,
    weights: Weights,
    arities: Ints,
    some: tuple[int, int],
    children: Ints,
    rows: Members,
    first: Ints,
    added: Ints,
    lines: tuple[Ints, Ints],
    terms: Floats,
    parameters: Floats,
    arrays: _Arrays,
    scores: Floats,
) -> None:
    """Write the scores of all additions to the sets from `some[0]` to `some[1]` - 1 into `scores`, without penalties."""
    count, part, families, parents = codes.shape[1], arrays.part, arrays.families, arrays.parents
    seen, found, totals = arrays.seen, arrays.found, arrays.totals
    for index in range(some[0], some[1]):
        if first[index] == first[index + 1]:
            continue
        child = children[index]
        states = arities[child]
        for row in range(count):
            part[row] = 0
        for place in range(rows.shape[1]):
            if rows[index, place] >= 0:
                _divide(codes, rows[index, place], arities, part, arrays.number, seen)
        for line in range(first[index], first[index + 1]):
            variable = added[line]
            parts = 0
            for row in range(count):
                own = part[row] * arities[variable] + codes[variable, row]
                if parents[own] == 0:
                    seen[parts] = own
                    parts += 1
                parents[own] += weights[row]
                families[own * states + codes[child, row]] += weights[row]
            nonzero = 0
            for entry in range(parts):
                own = seen[entry]
                totals[entry] = parents[own]
                parents[own] = 0
                for cell in range(own * states, (own + 1) * states):
                    if families[cell] > 0:
                        found[nonzero] = families[cell]
                        nonzero += 1
                        families[cell] = 0
            score = sum_terms(found, 0, nonzero, lines[0][line], terms, parameters)
            scores[line] = score - sum_terms(totals, 0, parts, lines[1][line], terms, parameters)


@kernel
def _divide(codes: Codes, variable: int, arities: Ints, part: Ints, number: Ints, seen: Ints) -> None:
    """Divide the parts by the states of a variable, and number the new parts from 0. `number` is -1 before and after."""
    parts = 0
    for row in range(len(part)):
        own = part[row] * arities[variable] + codes[variable, row]
        if number[own] < 0:
            number[own] = parts
            seen[parts] = own
            parts += 1
        part[row] = number[own]
    for entry in range(parts):
        number[seen[entry]] = -1
