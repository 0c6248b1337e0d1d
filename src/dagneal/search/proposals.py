"""Proposals of new parent sets: small changes of the parent sets that a network uses."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints, kernel
from dagneal.scoring.sets import Members
from dagneal.search.large_sets import ANY_SIZE, SizeRule


class Options(NamedTuple):
    """The variables that may become parents of each child.

    Attributes:
        first: bounds in `variables`; the options of child c are `variables[first[c]:first[c + 1]]`.
        variables: options of all children, ascending for each child.
    """

    first: Ints
    variables: Ints

    @classmethod
    def of(cls, matrix: NDArray[np.bool_]) -> Options:
        """Return the options that a matrix gives.

        Args:
            matrix: `matrix[parent, child]` is True if the parent is an option of the child.
        """
        child, parent = np.nonzero(matrix.T)  # views with gaps, for which kernels would be compiled again
        return cls(np.searchsorted(child, np.arange(len(matrix) + 1)), np.ascontiguousarray(parent))


class Rules(NamedTuple):
    """Limits on parent sets.

    Attributes:
        required: `required[parent, child]` is True if the edge is required.
        limits: maximum number of parents of each child.
        large: rule for large sets.
    """

    required: NDArray[np.bool_]
    limits: Ints
    large: SizeRule = ANY_SIZE


def propose_changes(
    children: Ints, parents: Members, options: Options, rules: Rules, swaps: bool
) -> tuple[Ints, Members, Ints]:
    """Return all sets that result from a single change of the given parent sets.

    A change adds an option. With `swaps`, a change may also remove a parent, or replace it by an option.

    Args:
        children: index of the child of each parent set.
        parents: parent sets as rows of ascending variables, padded with -1.
        options: variables that may become parents.
        rules: limits on parent sets.
        swaps: True for removals and replacements, too.

    Returns:
        The child of each new set, the new sets, and for each new set the index of the set from which it results.
    """
    sizes = (parents >= 0).sum(axis=1)
    degrees = np.diff(options.first)[children]
    room = int(((degrees + 1) * (1 + (sizes if swaps else 0))).sum())
    origin = np.empty(room, dtype=np.int64)
    rows = np.full((room, parents.shape[1] + 1), -1, dtype=np.int32)
    count = _change(children, parents, sizes, options, rules, swaps, origin, rows)
    origin, rows = origin[:count], rows[:count]
    return children[origin], trim_rows(rows), origin


@kernel
def _change(
    children: Ints, parents: Members, sizes: Ints, options: Options, rules: Rules, swaps: bool, origin: Ints, rows: Members
) -> int:
    """Write all changed sets into `rows`, and the indices of the original sets into `origin`. Return their number."""
    count = 0
    for index in range(len(children)):
        child, size = children[index], sizes[index]
        for skip in range(-1, size if swaps else 0):  # the parent to remove; -1 for none
            if skip >= 0:
                if rules.required[parents[index, skip], child]:
                    continue
                if size - 1 <= rules.limits[child]:
                    count = _write(parents, index, size, skip, -1, rows, count, origin)
            elif size >= rules.limits[child]:
                continue
            for place in range(options.first[child], options.first[child + 1]):
                variable = options.variables[place]
                known = variable == child
                for member in range(size):
                    known |= parents[index, member] == variable
                if not known:
                    count = _write(parents, index, size, skip, variable, rows, count, origin)
    return count


@kernel
def _write(
    parents: Members, index: int, size: int, skip: int, variable: int, rows: Members, count: int, origin: Ints
) -> int:
    """Write a parent set without the member `skip` and with `variable`, unless it is -1. Return the new number of sets."""
    place = 0
    for member in range(size):
        if variable >= 0 and parents[index, member] > variable and (place == 0 or rows[count, place - 1] < variable):
            rows[count, place] = variable
            place += 1
        if member != skip:
            rows[count, place] = parents[index, member]
            place += 1
    if variable >= 0 and (place == 0 or rows[count, place - 1] < variable):
        rows[count, place] = variable
    origin[count] = index
    return count + 1


def added_parents(rows: Members, larger: Members, origin: Ints) -> Ints:
    """Return the parent that each larger set has in addition to its original set.

    Args:
        rows: original sets, padded with -1.
        larger: sets with one more parent, padded with -1.
        origin: index of the original set of each larger set.
    """
    added: Ints = larger.sum(axis=1, where=larger >= 0) - rows.sum(axis=1, where=rows >= 0)[origin]
    return added


def propose_combinations(options: Options, rules: Rules, size: int) -> tuple[Ints, Members]:
    """Return all sets of a given number of options of each child.

    Together, two parents can raise a score that neither raises alone.

    Args:
        options: variables that may become parents.
        rules: limits on parent sets. A child with a required parent, or with a lower limit, gets no sets.
        size: number of variables in a set.
    """
    free = (rules.limits >= size) & ~rules.required.any(axis=0)
    degrees = np.where(free, np.diff(options.first), 0)
    patterns = {degree: _combinations(degree, size) for degree in np.unique(degrees)}
    children = np.repeat(np.arange(len(degrees)), [len(patterns[degree]) for degree in degrees])
    places = np.concatenate([options.first[child] + patterns[degree] for child, degree in enumerate(degrees)])
    return children, options.variables[places].astype(np.int32)


def _combinations(count: int, size: int) -> Ints:
    """Return all sets of `size` numbers from 0 to `count` - 1, one per row."""
    return np.array(list(combinations(range(count), size)), dtype=np.int64).reshape(-1, size)


def markov_blankets(parents: Members) -> NDArray[np.bool_]:
    """Return a symmetric matrix: True if two variables are adjacent or have a common child.

    Args:
        parents: parent set of each variable, as rows of variables padded with -1.
    """
    n = len(parents)
    blankets = np.zeros((n, n + 1), dtype=bool)  # the last column is for padding
    for place in range(parents.shape[1]):
        blankets[np.arange(n), parents[:, place]] = True
        for other in range(place):
            both = parents[:, other] >= 0
            blankets[parents[both, other], parents[both, place]] = True
    blankets = blankets[:, :n]
    return blankets | blankets.T


def sort_rows(rows: Members) -> Members:
    """Return rows of variables in ascending order, with -1 at the end.

    Args:
        rows: rows of variables in any order, with -1 at any place.
    """
    large = np.iinfo(np.int32).max
    ordered = np.sort(np.where(rows < 0, large, rows), axis=1)
    return np.where(ordered == large, -1, ordered).astype(np.int32)


def unite_rows(*parts: Members) -> Members:
    """Return the union of sets, row by row, in ascending order with -1 at the end.

    Args:
        parts: sets as rows of variables, with -1 at any place.
    """
    rows = sort_rows(np.concatenate(parts, axis=1))
    rows[:, 1:][rows[:, 1:] == rows[:, :-1]] = -1
    return sort_rows(rows)


def trim_rows(rows: Members) -> Members:
    """Return rows without the last columns, if these contain only -1.

    Args:
        rows: rows of variables with -1 at the end.
    """
    width = max(1, int((rows >= 0).sum(axis=1).max(initial=0)))
    return np.ascontiguousarray(rows[:, :width])


def best_of_each(count: int, origin: Ints, scores: Floats, possible: NDArray[np.bool_]) -> Ints:
    """Return, for each origin, the index of its highest possible score; -1 if none is possible.

    Args:
        count: number of origins.
        origin: origin of each score.
        scores: scores of all origins.
        possible: whether each score is possible.
    """
    best = np.full(count, -1, dtype=np.int64)
    _find_best(origin, scores, possible, best)
    return best


@kernel
def _find_best(origin: Ints, scores: Floats, possible: NDArray[np.bool_], best: Ints) -> None:
    """Write the index of the highest possible score of each origin into `best`, which contains -1."""
    for index in range(len(origin)):
        if possible[index]:
            now = best[origin[index]]
            if now < 0 or scores[index] > scores[now]:
                best[origin[index]] = index
