"""Complete lists of parent sets: all sets up to a number of parents, without sets that score no better than a subset.

A score table of 76 variables with up to three parents has five million entries, but only a few thousand can be in an optimal
network. This module never stores the others. The score of a child with its parents is the difference of two sums: one over
the counts of the family (the child and its parents), one over the counts of the parents. The sums of all sets of one size
are in one array. A set is found by its rank in the combinatorial number system: the set v1 < v2 < ... < vk has the rank
C(v1, 1) + C(v2, 2) + ... + C(vk, k), where C is the binomial coefficient.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints, kernel, run_threads
from dagneal.base.machine import has_memory
from dagneal.scoring.additions import Additions, Indicators, can_score_additions
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.sets import Members, pack_flags, state_combinations, word_count
from dagneal.scoring.table import ScoreTable, table_layout

COMPLETE_BYTES = 40  # memory for each set of the largest size
_CHUNK = 1 << 17  # sets that are counted at a time
_FEW_ROWS, _FEW_STATES = 1000, 20  # up to these numbers of distinct rows and states, `_sums_of_few_rows` is faster
_FEW_SIZE, _FEW = 3, 1 << 12  # the smallest sets that it counts, and the number of sets that a task counts
_MARGIN = 1e-12  # larger than the rounding error of its sums, in nats for each row


def has_few_rows(scorer: Scorer) -> bool:
    """Return whether the data have so few rows that all sets of a size can be counted especially fast.

    Args:
        scorer: scorer of the data.
    """
    few = scorer.data.codes.shape[1] <= _FEW_ROWS and scorer.data.arities.max() <= _FEW_STATES
    return bool(few) and can_score_additions(scorer)


def complete_cost(scorer: Scorer, most: int) -> float:
    """Return the cost of `complete_sets`, as a number of rows to read; infinity if it is not possible.

    Args:
        scorer: scorer of the data. The pseudo-counts of its score must not depend on the child, as in BDeu.
        most: maximum number of parents.
    """
    n = len(scorer.data.names)
    if scorer.criterion.depends_on_child or not has_memory(COMPLETE_BYTES * comb(n, min(most + 1, n // 2))):
        return float("inf")
    return scorer.counter.total_cost(most + 1)


class CompleteSets(NamedTuple):
    """All parent sets of up to `max_parents` parents that score higher than each of their subsets.

    Attributes:
        max_parents: maximum number of parents.
        children: child of each set, ascending.
        rows: parent sets as rows of ascending variables, padded with -1.
        scores: log scores.
    """

    max_parents: int
    children: Ints
    rows: Members
    scores: Floats

    def table(self, scorer: Scorer) -> ScoreTable:
        """Return the sets as a score table.

        Args:
            scorer: scorer that the sets come from.
        """
        n = len(scorer.data.names)
        everyone = np.arange(n)
        flags = np.zeros((len(self.rows), n), dtype=bool)  # the last column is for padding
        bits = np.where(self.rows < 0, n - 1, self.rows - (self.rows > self.children[:, None]))
        np.put_along_axis(flags, bits, True, axis=1)
        masks = pack_flags(flags[:, :-1], word_count(n - 1))
        order = np.lexsort((*masks.T, self.children))  # the last word of a mask is the most significant
        starts = np.searchsorted(self.children, everyone[1:])
        layout = table_layout([np.delete(everyone, child) for child in everyone], np.split(masks[order], starts))
        return ScoreTable(
            names=scorer.data.names,
            max_parents=self.max_parents,
            score_name=scorer.criterion.name,
            **layout,
            scores=self.scores[order],
            required=None if scorer.constraints is None else scorer.constraints.required,
        )


def complete_sets(scorer: Scorer, most: int, slack: float = 0.0) -> CompleteSets:
    """Return all parent sets of up to `most` parents that score higher than each of their subsets.

    All sets obey the background knowledge of the scorer. A child whose required parents are more than `most` has no set.

    Args:
        scorer: scorer of the data with a finite `complete_cost`.
        most: maximum number of parents.
        slack: return also sets that score up to this much lower than their best subset, in nats.
    """
    n = len(scorer.data.names)
    binomials = np.array([[comb(v, size) for size in range(most + 2)] for v in range(n)], dtype=np.int64)
    few = has_few_rows(scorer)
    margin = _MARGIN * max(scorer.data.rows, 1000) if few else 0.0
    sums = [_sums(scorer, size) for size in range(min(most + 2, _FEW_SIZE) if few else most + 2)]
    if len(sums) < most + 2:
        indicators = Indicators(scorer)
        sums += [_sums_of_few_rows(indicators, size) for size in range(len(sums), most + 2)]
    sets = [np.concatenate([*_combinations(n - 1, size)]) for size in range(most + 1)]
    rules = scorer.constraints

    def work(child: int) -> tuple[Members, Floats]:
        scorer.counter.run.deadline.check()
        allowed, required, limit = np.ones(n, dtype=bool), np.zeros(n, dtype=bool), n
        if rules is not None:
            required, limit = np.ascontiguousarray(rules.required[:, child]), int(rules.limits[child])
            allowed = rules.allowed[:, child] | required
        highest = np.empty(0)  # for each set of the size before, the best score of the set and its subsets
        kept_rows, kept_scores = [], []
        for size in range(most + 1):
            rows = sets[size] + (sets[size] >= child).astype(np.int32)  # all sets without the child
            scores, better = np.empty(len(rows)), np.empty(len(rows), dtype=np.int64)
            sides = sums[size + 1][:, 0], sums[size][:, -1]
            _score(child, rows, allowed & (size <= limit), required, binomials, *sides, scores)
            if scorer.criterion.penalised:
                cells = state_combinations(rows, scorer.data.arities)
                scores -= scorer.criterion.penalties(int(scorer.data.arities[child]), cells, scorer.data.rows)
            if rules is not None and rules.log_odds is not None:
                scores += rules.prior(np.full(len(rows), child), rows)
            own = scores.copy() if slack else scores  # the next line raises scores
            better = better[: _raise_to_subsets(sets[size], binomials, highest, margin, slack, scores, better)]
            padded = np.full((len(better), most), -1, dtype=np.int32)
            padded[:, :size] = rows[better]
            kept_rows.append(padded)
            kept_scores.append(own[better])
            highest = scores
        return np.concatenate(kept_rows), np.concatenate(kept_scores)

    lists = run_threads(work, list(range(n)), scorer.counter.workers)
    children = np.repeat(np.arange(n), [len(scores) for _, scores in lists])
    rows, scores = (np.concatenate(parts) for parts in zip(*lists, strict=True))
    for begin in range(0, len(rows) if few else 0, _CHUNK):  # again, without rounding errors
        scorer.counter.run.deadline.check()
        some = slice(begin, begin + _CHUNK)
        scores[some] = scorer.score_parents(children[some], rows[some])
    return CompleteSets(most, children, rows, scores)


@kernel
def _score(
    child: int,
    rows: Members,
    allowed: NDArray[np.bool_],
    required: NDArray[np.bool_],
    binomials: Ints,
    families: Floats,
    parents: Floats,
    scores: Floats,
) -> None:
    """Write the scores of all parent sets of one size into `scores`; minus infinity for sets that are not allowed."""
    needed = 0
    for parent in range(len(required)):
        needed += required[parent]
    for index in range(len(rows)):
        own, family, before, lacking, legal = 0, 0, 0, needed, True
        for place in range(rows.shape[1]):
            parent = rows[index, place]
            own += binomials[parent, place + 1]
            if parent < child:
                family += binomials[parent, place + 1]
                before += 1
            else:
                family += binomials[parent, place + 2]
            legal &= allowed[parent]
            lacking -= required[parent]
        family += binomials[child, before + 1]
        scores[index] = families[family] - parents[own] if legal and lacking == 0 else -np.inf


@kernel
def _raise_to_subsets(
    rows: Members, binomials: Ints, highest: Floats, margin: float, slack: float, scores: Floats, better: Ints
) -> int:
    """Write the indices of sets that score higher than all their subsets into `better`. Return the number of these sets.

    Raise other scores to that of the best subset. `highest` has the raised scores of the sets with one member less. A
    difference up to `margin` can be a rounding error. Sets that score up to `slack` lower than a subset are also written.
    """
    size = rows.shape[1]
    count = 0
    for index in range(len(rows)):
        best = -np.inf
        for skip in range(size):
            rank = 0
            for place in range(size):
                if place != skip:
                    rank += binomials[rows[index, place], place + 1 - np.int64(place > skip)]
            best = max(best, highest[rank])
        if scores[index] > best + margin - slack:
            better[count] = index
            count += 1
        if scores[index] <= best + margin:
            scores[index] = best
    return count


def _sums(scorer: Scorer, size: int) -> Floats:
    """Return the sums over the counts of all sets of a size, as families (first column) and as parent sets (last column)."""
    data, parts = scorer.data, []
    for members in _combinations(len(data.names), size):
        scorer.counter.run.deadline.check()
        cells, kinds = np.unique(state_combinations(members, data.arities), return_inverse=True)
        parameters = np.array([scorer.criterion.concentrations(0, float(cell), data.rows) for cell in cells])
        if (parameters[:, 0] == parameters[:, 1]).all():  # as in BDeu and BIC
            parameters = parameters[:, :1]
        parts.append(scorer.counter.sums(members, kinds, np.ascontiguousarray(parameters)))
    sums: Floats = np.concatenate(parts)
    return sums


def _sums_of_few_rows(indicators: Indicators, size: int) -> Floats:
    """Return the same sums as `_sums` up to rounding errors, for sets of at least two variables.

    Sets are counted together if they have all members but the largest in common.
    """
    scorer = indicators.scorer
    n = len(scorer.data.names)
    columns = len(set(scorer.criterion.concentrations(0, 2.0, scorer.data.rows)))
    sums = np.empty((comb(n, size), columns))

    def work(task: tuple[int, int]) -> None:
        scorer.counter.run.deadline.check()
        second, begin = task  # second largest member, and index of the first of the sets that have it
        additions = Additions(indicators, None, np.arange(second + 1, n))
        smaller = smallest[begin : min(begin + _FEW, comb(second, size - 2))]
        rows = np.concatenate([smaller, np.full((len(smaller), 1), second, dtype=np.int32)], axis=1)
        results = additions.set_sums(rows, columns)
        for index, largest in enumerate(additions.options.tolist()):
            rank = comb(largest, size) + comb(second, size - 1) + begin
            sums[rank : rank + len(rows)] = results[:, index]

    smallest = np.concatenate([*_combinations(n, size - 2)])  # sets below a number come first
    tasks = [(second, begin) for second in range(size - 2, n - 1) for begin in range(0, comb(second, size - 2), _FEW)]
    run_threads(work, tasks, scorer.counter.workers)
    return sums


def _combinations(n: int, size: int) -> Iterator[Members]:
    """Yield all sets of `size` numbers below `n` in the order of their ranks, as rows of ascending numbers."""
    row = np.arange(size, dtype=np.int32)
    left = comb(n, size)
    while left:
        rows = np.empty((min(left, _CHUNK), size), dtype=np.int32)
        _write_combinations(row, rows)
        left -= len(rows)
        yield rows


@kernel
def _write_combinations(row: Members, rows: Members) -> None:
    """Write the set `row` and the sets that follow it into `rows`. Set `row` to the next set."""
    size = len(row)
    for index in range(len(rows)):
        for place in range(size):
            rows[index, place] = row[place]
        place = 0  # the first member that can grow; the members before it start again
        while place < size - 1 and row[place] + 1 == row[place + 1]:
            row[place] = place
            place += 1
        if size:
            row[place] += 1
