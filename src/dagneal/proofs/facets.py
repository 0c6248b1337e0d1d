"""Facets of the DAG polytope: inequalities that hold for all DAGs on a few variables.

A DAG is a point with one coordinate for each child and each non-empty parent set: 1 if the child has these parents, 0
otherwise. The DAG polytope is the convex hull of these points. This module finds an inequality that holds for all DAGs, but
not for a given point x (a local cut; Applegate, Bixby, Chvátal and Cook 2001). It solves the linear programme

    maximise c.x  subject to  0 <= c <= 1  and  c.D <= 1 for all DAGs D.                                               (1)

If the maximum is above 1, then c.x <= 1 is such an inequality. There are too many DAGs to list. A dynamic programme over
subsets (Silander and Myllymäki 2006) finds those that violate c.D <= 1 most, and they are added until there are none. The
simplex method solves the dual of (1), in which each DAG is a column:

    minimise sum of mu[D] + sum of sigma[j]  subject to  sum of mu[D] over the D that contain j, + sigma[j] >= x[j].     (2)

The coefficients are then rounded to integers, and the dynamic programme computes the right-hand side in exact integers. So
the inequality is valid even if the solution of (1) has errors. Finally, each coefficient is made as large as possible.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints, kernel
from dagneal.scoring.sets import Members

MAX_FACET_SIZE = 16  # variables; the dynamic programme takes time in proportion to the square times two to this power
_MAX_DAGS = 4000  # columns of (2)
_MAX_STEPS = 5000  # of the simplex method
_MAX_DENOMINATOR, _DENOMINATOR = 30, 720  # of rounded coefficients: the smallest that fits, or this one
_ROUNDING = 1e-4  # largest distance of a coefficient from a fraction that it is replaced by
_TOLERANCE = 1e-9


class Facet(NamedTuple):
    """An inequality that holds for all DAGs on some variables.

    The sum of `coefficients[v, Q]`, over all members v and their parent sets Q among the members, is at most `limit`.

    Attributes:
        members: indices of the variables, ascending.
        coefficients: integers; Q is a bit mask, in which bit i stands for `members[i]`. The coefficient of the empty set
            and of sets that contain v is 0.
        limit: largest possible sum.
    """

    members: Ints
    coefficients: Ints
    limit: int

    @property
    def key(self) -> object:
        """An object that identifies the inequality."""
        return self.members.tobytes(), self.coefficients.tobytes(), self.limit

    def coefficients_of(self, children: Ints, rows: Members) -> Ints:
        """Return the coefficients of families.

        Args:
            children: child of each family.
            rows: its parents, as rows of variables padded with -1.
        """
        own, bits = project(self.members, children, rows)
        return np.where(own >= 0, self.coefficients[own, bits], 0)


class Point(NamedTuple):
    """The positive coordinates of a point.

    Attributes:
        children: child of each coordinate, as an index of `Facet.members`.
        parents: its parents, as a bit mask that is not 0.
        weights: value of the coordinate.
    """

    children: Ints
    parents: Ints
    weights: Floats


def find_facet(members: Ints, point: Point, least: float) -> Facet | None:
    """Return an inequality that holds for all DAGs, but not for a point. Return None if none is found.

    Args:
        members: indices of the variables, ascending, at most `MAX_FACET_SIZE`.
        point: point with coordinates for these variables.
        least: smallest violation in (1).
    """
    if not len(point.weights):
        return None
    programme = _Programme.create(len(members))
    simplex = _Simplex.create(len(members), point.weights)
    value = _solve(simplex, programme, point, 1.0 + least)
    if value < 1.0 + least:
        return None
    coefficients = np.zeros((len(members), 1 << len(members)), dtype=np.int64)
    coefficients[point.children, point.parents] = _round(np.clip(simplex.prices, 0.0, 1.0))
    limit = raise_coefficients(coefficients)
    if (coefficients[point.children, point.parents] * point.weights).sum() <= limit + _TOLERANCE:
        return None
    divisor = max(1, int(np.gcd.reduce(coefficients, axis=None)))  # divides the limit: a sum of coefficients
    return Facet(members, coefficients // divisor, limit // divisor)


def project(members: Ints, children: Ints, rows: Members) -> tuple[Ints, Ints]:
    """Return families as some variables see them: the child as an index of `members`, and its parents as a bit mask.

    The index is -1 if the child is not a member. Parents that are not members are left out.

    Args:
        members: indices of the variables, ascending.
        children: child of each family.
        rows: its parents, as rows of variables padded with -1.
    """
    index = np.full(max(int(children.max(initial=0)), int(rows.max(initial=0)), int(members[-1])) + 2, -1)
    index[members] = np.arange(len(members))  # the last entry is for padding
    bits: Ints = np.where(index[rows] >= 0, 1 << np.maximum(index[rows], 0), 0).sum(axis=1)
    return index[children], bits


def largest_sum(coefficients: Ints) -> int:
    """Return the largest sum of the coefficients of a DAG.

    Args:
        coefficients: see `Facet`.
    """
    table = _Table.create(len(coefficients))
    return int(_fill(coefficients, table))


def raise_coefficients(coefficients: Ints) -> int:
    """Raise all coefficients as far as possible without raising the largest sum. Return the largest sum afterwards.

    The coefficients of one child after the other are raised, all parent sets of the child at once, because a DAG has only
    one of them. If the empty set gets a coefficient, it is subtracted from all coefficients of the child and from the sum.

    Args:
        coefficients: see `Facet`. They are changed in place.
    """
    return int(_raise_all(coefficients, _Table.create(len(coefficients))))


class _Table(NamedTuple):
    """Results of the dynamic programme, with integers or floats.

    Attributes:
        best: `best[v, T]` is the largest coefficient of v with parents in T.
        before: `before[T]` is the largest sum of the variables in T, if they come first.
        after: `after[T]` is the largest sum of the other variables, if they come after T.
    """

    best: Ints
    before: Ints
    after: Ints

    @classmethod
    def create(cls, size: int) -> _Table:
        """Return working memory for some variables."""
        return cls(*(np.empty(shape, dtype=np.int64) for shape in ((size, 1 << size), 1 << size, 1 << size)))


class _Programme(NamedTuple):
    """The dynamic programme in floats, and the coordinate of each child and parent set; -1 if the point has none.

    Attributes:
        values: coefficients.
        best: `best[v, T]` is the largest coefficient of v with parents in T.
        before: `before[T]` is the largest sum of the variables in T, if they come first.
        coordinate: `coordinate[v, Q]`.
        chosen: parent set of each variable in the best DAG.
    """

    values: Floats
    best: Floats
    before: Floats
    coordinate: Ints
    chosen: Ints

    @classmethod
    def create(cls, size: int) -> _Programme:
        """Return working memory."""
        shape = (size, 1 << size)
        return cls(np.zeros(shape), np.empty(shape), np.empty(shape[1]), np.full(shape, -1), np.empty(size, dtype=np.int64))


class _Simplex(NamedTuple):
    """State of the simplex method for (2).

    With m coordinates, columns 0 to m - 1 are sigma, the next m columns are the slack variables, and DAGs follow.

    Attributes:
        inverse: inverse of the basis.
        values: value of each basic column.
        costs: cost of each basic column.
        basis: the basic columns.
        is_basic: whether each column is basic.
        prices: solution of (1) for the present basis.
        direction: change of the values when a column enters the basis.
        dags: coordinates of each DAG, padded with -1.
        dag_count: number of DAGs, in an array of length 1.
    """

    inverse: Floats
    values: Floats
    costs: Floats
    basis: Ints
    is_basic: NDArray[np.bool_]
    prices: Floats
    direction: Floats
    dags: Members
    dag_count: Ints

    @classmethod
    def create(cls, size: int, weights: Floats) -> _Simplex:
        """Return the state in which each sigma is basic."""
        m = len(weights)
        is_basic = np.arange(2 * m + _MAX_DAGS) < m
        dags = np.full((_MAX_DAGS, size), -1, dtype=np.int32)
        zero = np.zeros(1, dtype=np.int64)
        return cls(np.eye(m), weights.copy(), np.ones(m), np.arange(m), is_basic, np.ones(m), np.empty(m), dags, zero)


@kernel
def _solve(simplex: _Simplex, programme: _Programme, point: Point, least: float) -> float:
    """Solve (1) and return its maximum. Return 0 if the maximum is below `least`, or if there are too many steps."""
    m = len(simplex.values)
    for j in range(m):
        programme.coordinate[point.children[j], point.parents[j]] = j
    for _ in range(_MAX_STEPS):
        value = 0.0
        for i in range(m):
            value += simplex.costs[i] * simplex.values[i]
        if value < least:  # the minimum of (2) is not higher
            return 0.0
        _set_prices(simplex)
        column = _find_column(simplex)
        if column >= 0:
            if not _pivot(simplex, column):
                return 0.0
        elif not _add_dags(simplex, programme, point):
            return value
    return 0.0


@kernel
def _set_prices(simplex: _Simplex) -> None:
    """Compute the prices: costs of the basic columns times the inverse of the basis."""
    m = len(simplex.values)
    for j in range(m):
        simplex.prices[j] = 0.0
    for i in range(m):
        if simplex.costs[i] != 0.0:
            for j in range(m):
                simplex.prices[j] += simplex.costs[i] * simplex.inverse[i, j]


@kernel
def _find_column(simplex: _Simplex) -> int:
    """Return the column with the lowest negative reduced cost; -1 if there is none."""
    m = len(simplex.values)
    lowest, best = -1e-8, -1
    for j in range(m):
        if not simplex.is_basic[j] and 1.0 - simplex.prices[j] < lowest:
            lowest, best = 1.0 - simplex.prices[j], j
        if not simplex.is_basic[m + j] and simplex.prices[j] < lowest:
            lowest, best = simplex.prices[j], m + j
    for dag in range(simplex.dag_count[0]):
        if not simplex.is_basic[2 * m + dag]:
            cost = 1.0
            for j in simplex.dags[dag]:
                if j >= 0:
                    cost -= simplex.prices[j]
            if cost < lowest:
                lowest, best = cost, 2 * m + dag
    return best


@kernel
def _pivot(simplex: _Simplex, column: int) -> bool:
    """Bring a column into the basis. Return False if no column can leave it, because of rounding errors."""
    m = len(simplex.values)
    inverse, values, direction = simplex.inverse, simplex.values, simplex.direction
    for i in range(m):
        if column < m:
            direction[i] = inverse[i, column]
        elif column < 2 * m:
            direction[i] = -inverse[i, column - m]
        else:
            direction[i] = 0.0
            for j in simplex.dags[column - 2 * m]:
                if j >= 0:
                    direction[i] += inverse[i, j]
    row, shortest = -1, np.inf
    for i in range(m):
        if direction[i] > _TOLERANCE:
            step = max(values[i], 0.0) / direction[i]
            if step < shortest - 1e-12 or (step < shortest + 1e-12 and direction[i] > direction[row]):
                row, shortest = i, min(step, shortest)
    if row < 0:
        return False
    pivot = direction[row]
    values[row] /= pivot
    for j in range(m):
        inverse[row, j] /= pivot
    for i in range(m):
        if i != row and direction[i] != 0.0:
            values[i] -= direction[i] * values[row]
            for j in range(m):
                inverse[i, j] -= direction[i] * inverse[row, j]
    simplex.is_basic[simplex.basis[row]] = False
    simplex.is_basic[column] = True
    simplex.basis[row] = column
    simplex.costs[row] = 0.0 if m <= column < 2 * m else 1.0
    return True


@kernel
def _add_dags(simplex: _Simplex, programme: _Programme, point: Point) -> bool:
    """Add the best DAG for each last variable, if it violates c.D <= 1. Return whether a DAG was added."""
    size, everyone = len(programme.chosen), len(programme.before) - 1
    for j in range(len(simplex.prices)):
        programme.values[point.children[j], point.parents[j]] = max(simplex.prices[j], 0.0)
    _sum_before(programme.values, programme.best, programme.before)
    old = simplex.dag_count[0]
    for last in range(size):
        others = everyone ^ (1 << last)
        if programme.before[others] + programme.best[last, others] > 1.0 + 1e-7 and simplex.dag_count[0] < _MAX_DAGS:
            _trace(programme, last)
            new = simplex.dag_count[0]
            for child in range(size):
                simplex.dags[new, child] = programme.coordinate[child, programme.chosen[child]]
            if not _is_repeated(simplex.dags, old, new):
                simplex.dag_count[0] += 1
    return bool(simplex.dag_count[0] > old)


@kernel
def _is_repeated(dags: Members, begin: int, new: int) -> bool:
    """Return whether a DAG equals one of the DAGs from `begin` on."""
    for dag in range(begin, new):
        same = True
        for child in range(dags.shape[1]):
            same &= dags[dag, child] == dags[new, child]
        if same:
            return True
    return False


@kernel
def _trace(programme: _Programme, last: int) -> None:
    """Write the parent sets of the best DAG whose last variable is `last` into `chosen`."""
    left = len(programme.before) - 1
    child = last
    while left:
        rest = left ^ (1 << child)
        parents = rest
        while programme.values[child, parents] < programme.best[child, rest]:
            parents = (parents - 1) & rest
        programme.chosen[child] = parents
        left = rest
        child = 0
        while left and not (
            left >> child & 1
            and programme.before[left ^ (1 << child)] + programme.best[child, left ^ (1 << child)] == programme.before[left]
        ):
            child += 1


@kernel
def _sum_before(values: NDArray[Any], best: NDArray[Any], before: NDArray[Any]) -> None:
    """Fill `best` and `before`; see `_Table`. The arrays can have integers or floats."""
    size, subsets = values.shape
    for child in range(size):
        for parents in range(subsets):
            best[child, parents] = values[child, parents]
        for parent in range(size):
            if parent != child:
                for parents in range(subsets):
                    if parents >> parent & 1:
                        best[child, parents] = max(best[child, parents], best[child, parents ^ (1 << parent)])
    before[0] = 0
    for members in range(1, subsets):
        found = False
        for last in range(size):
            if members >> last & 1:
                rest = members ^ (1 << last)
                total = before[rest] + best[last, rest]
                if not found or total > before[members]:
                    before[members] = total
                    found = True


@kernel
def _fill(coefficients: Ints, table: _Table) -> int:
    """Fill the table for integer coefficients. Return the largest sum of a DAG."""
    size, subsets = coefficients.shape
    _sum_before(coefficients, table.best, table.before)
    table.after[subsets - 1] = 0
    for members in range(subsets - 2, -1, -1):
        found = False
        for child in range(size):
            if not members >> child & 1:
                total = table.best[child, members] + table.after[members | (1 << child)]
                if not found or total > table.after[members]:
                    table.after[members] = total
                    found = True
    return int(table.before[subsets - 1])


@kernel
def _raise_all(coefficients: Ints, table: _Table) -> int:
    """Raise the coefficients of one child after the other. Return the largest sum of a DAG afterwards."""
    limit = _fill(coefficients, table)
    for child in range(len(coefficients)):
        _raise_child(coefficients, table, child, limit)
        limit -= _subtract_empty(coefficients, child)
        _fill(coefficients, table)
    return limit


@kernel
def _raise_child(coefficients: Ints, table: _Table, child: int, limit: int) -> None:
    """Raise the coefficients of a child until the largest sum of a DAG with these parents is `limit`."""
    size, subsets = coefficients.shape
    others = table.best[child]  # memory: the largest sum of the other variables if the parents of the child include a set
    for parents in range(subsets):
        if not parents >> child & 1:
            others[parents] = table.before[parents] + table.after[parents | (1 << child)]
    for parent in range(size):
        if parent != child:
            for parents in range(subsets):
                if not parents >> child & 1 and not parents >> parent & 1:
                    others[parents] = max(others[parents], others[parents | (1 << parent)])
    for parents in range(subsets):
        if not parents >> child & 1:
            coefficients[child, parents] = max(coefficients[child, parents], limit - others[parents])


@kernel
def _subtract_empty(coefficients: Ints, child: int) -> int:
    """Subtract the coefficient of the empty set from all coefficients of a child. Return it."""
    empty = coefficients[child, 0]
    for parents in range(coefficients.shape[1]):
        if not parents >> child & 1:
            coefficients[child, parents] -= empty
    return int(empty)


def _round(coefficients: Floats) -> Ints:
    """Return integers in the same proportion, small ones if possible."""
    for denominator in range(1, _MAX_DENOMINATOR + 1):
        scaled = coefficients * denominator
        rounded = np.rint(scaled)
        if np.abs(scaled - rounded).max() < _ROUNDING * denominator:
            return rounded.astype(np.int64)
    return np.rint(coefficients * _DENOMINATOR).astype(np.int64)
