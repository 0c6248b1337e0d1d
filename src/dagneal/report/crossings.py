"""Order of the points on the rows of a drawing, so that few edges cross.

Each search starts with an order, sorts the rows by the mean position of their neighbours, and then sifts: each point moves
to the place on its row where its edges cross the fewest others. Searches start from random orders, and from the best order
with some points exchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dagneal.base.kernels import Floats

_SEARCHES = 60  # largest number of searches
_PAIR = 0.02  # work of a comparison of two points of a row; placing a point is a work of 1
_SORTS = 6  # passes of a search that sort by means
_SIFTS = 30  # largest number of passes of a search that sift
_PATIENCE = 3  # sifting ends after this number of passes without fewer crossings
_SHAKEN = 0.15  # share of the points that change places before a search from the best order

Order = list[list[int]]


def reduce_crossings(
    rows: Sequence[Sequence[int]], below: Sequence[Sequence[int]], work: float, most: int = 1
) -> list[tuple[int, Order]]:
    """Return orders of the points of each row that have few crossings, with the number of crossings, best first.

    The same arguments give the same orders.

    Args:
        rows: points of each row.
        below: for each point, the connected points on the next row.
        work: about the number of points to place in all searches together.
        most: largest number of orders.

    >>> reduce_crossings([[0, 1], [2, 3]], [[3], [2], [], []], 1000)
    [(0, [[0, 1], [3, 2]])]
    """
    search = _Search(rows, below)
    random = Random(0)
    count, best = search.run([list(range(len(row))) for row in rows], True)
    found = [(count, best)]
    for at in range(1, _SEARCHES):
        if search.work > work or (not found[0][0] and len(found) >= most):
            break
        best = found[0][1]
        fresh = at % 3 == 0
        start = [random.sample(row, len(row)) for row in best] if fresh else [_shake(row, random) for row in best]
        count, order = search.run(start, fresh)
        if all(order != other and order != [row[::-1] for row in other] for _, other in found):
            found.append((count, order))
            found.sort(key=lambda each: each[0] - (each[1] is order) / 2)  # the newest of equal orders is the next start
            del found[most:]
    return [(count, [[row[at] for at in line] for row, line in zip(rows, order, strict=True)]) for count, order in found]


def _shake(row: Sequence[int], random: Random) -> list[int]:
    """Return a row in which some points have moved to other places."""
    shaken = list(row)
    for _ in range(len(row)):
        if random.random() < _SHAKEN:
            shaken.insert(random.randrange(len(row)), shaken.pop(random.randrange(len(row))))
    return shaken


class _Search:
    """Search for an order with few crossings. A point is given by its place in the first order of its row.

    Attributes:
        work: work of all passes so far, see `reduce_crossings`.
    """

    def __init__(self, rows: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> None:
        self.work = 0.0
        self._sizes = [len(row) for row in rows]
        self._pass = sum(size + _PAIR * size * size for size in self._sizes)  # work of a pass
        self._down: list[Floats] = []  # edges between each row and the next as a matrix
        for upper, lower in pairwise(rows):
            place = {point: at for at, point in enumerate(lower)}
            edges = np.zeros((len(upper), len(lower)))
            for at, point in enumerate(upper):
                for other in below[point]:
                    edges[at, place[other]] += 1
            self._down.append(edges)

    def run(self, order: Order, sort: bool) -> tuple[int, Order]:
        """Improve an order. Return the smallest number of crossings, and the order that has it."""
        if sort:
            for sweep in range(_SORTS):
                self._sort(order, down=sweep % 2 == 0)
        best, fewest, waited = [list(row) for row in order], self._count(order), 0
        for sweep in range(_SIFTS):
            if not fewest or waited == _PATIENCE:
                break
            self._sift(order, down=sweep % 2 == 0, last=sweep // 2 % 2 == 1)
            waited += 1
            if (count := self._count(order)) < fewest:
                best, fewest, waited = [list(row) for row in order], count, 0
        return fewest, best

    def _edges(self, order: Order, at: int, up: bool) -> Floats | None:
        """Return the edges of a row to the row above or below. The columns are in the order of the other row."""
        if up:
            return self._down[at - 1].T[:, order[at - 1]] if at else None
        return self._down[at][:, order[at + 1]] if at < len(self._down) else None

    def _sort(self, order: Order, down: bool) -> None:
        """Sort the rows by the mean place of the neighbours, from the first row down or from the last row up."""
        self.work += self._pass
        rows = range(1, len(order)) if down else range(len(order) - 2, -1, -1)
        for at in rows:
            edges = self._edges(order, at, up=down)
            assert edges is not None
            degrees = edges.sum(axis=1)
            old = np.empty(len(degrees))
            old[order[at]] = (np.arange(len(degrees)) + 0.5) / len(degrees) * edges.shape[1]
            places = (edges * (np.arange(edges.shape[1]) + 0.5)).sum(axis=1)
            means = np.where(degrees > 0, places / np.maximum(degrees, 1), old).tolist()
            order[at].sort(key=means.__getitem__)

    def _sift(self, order: Order, down: bool, last: bool) -> None:
        """Move each point to the place on its row with the fewest crossings; to the last of equal places if `last`."""
        self.work += self._pass
        for at in range(len(order)) if down else range(len(order) - 1, -1, -1):
            costs = np.zeros((self._sizes[at], self._sizes[at]))  # crossings if the first point is left of the second
            for up in (True, False):
                edges = self._edges(order, at, up)
                if edges is not None:
                    costs += _products(edges, np.cumsum(edges, axis=1) - edges)
            gains = (costs - costs.T).tolist()
            row = order[at]
            for point in list(row):
                row.remove(point)
                total = least = 0.0
                place = 0
                own = gains[point]
                for passed, other in enumerate(row, 1):
                    total -= own[other]
                    if total < least or (last and total == least):
                        least, place = total, passed
                row.insert(place, point)

    def _count(self, order: Order) -> int:
        """Return the number of crossings."""
        total = 0.0
        for at, edges in enumerate(self._down):
            edges = edges[np.ix_(order[at], order[at + 1])]
            left = np.cumsum(edges, axis=1) - edges  # edges of the same point that end further left
            later = np.cumsum(left[::-1], axis=0)[::-1] - left
            total += (edges * later).sum()
        return int(total)


def _products(edges: Floats, left: Floats) -> Floats:
    """Return the product of `edges` and the transpose of `left`.

    The matrix `edges` has few entries. The operator `@` would start threads of a BLAS library, which are slow on a busy
    machine.
    """
    points, columns = np.nonzero(edges)
    product: Floats = np.zeros((len(edges), len(left)))
    np.add.at(product, points, left[:, columns].T * edges[points, columns][:, None])
    return product
