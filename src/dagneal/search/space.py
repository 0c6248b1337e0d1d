"""The search space of orders: parent sets and neighbours of all variables, as arrays for compiled functions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints, Masks, kernel

Words = tuple[int, ...]
"""A tuple of zeros, with one zero for each 64-bit word of a mask. Its length is a constant for the compiler."""


class SearchSpace(NamedTuple):
    """The parent sets and neighbours of all variables.

    The neighbours of a variable are its candidate parents and the variables that have it as a candidate parent.

    Attributes:
        words: one zero for each word of a mask.
        first: bounds in `neighbours`; the neighbours of variable v are `neighbours[first[v]:first[v + 1]]`.
        neighbours: neighbours of all variables, one variable after the other.
        bit: for each neighbour u of a variable v, the bit of u in the masks of v; -1 if u is not a candidate parent of v.
        reverse: for each neighbour u of a variable v, the index of v in `neighbours`, as a neighbour of u.
        start: bounds in `masks`; the parent sets of child c are `masks[start[c]:start[c + 1]]`.
        masks: parent sets of each child as bit masks, one set per row, sorted by decreasing score. The last set of each
            child is empty, so it fits in every order.
        scores: log scores of the parent sets.
        holders_first: bounds in `holders`, for each neighbour u of a variable v.
        holders: parent sets of v that contain u, by decreasing score.
    """

    words: Words
    first: Ints
    neighbours: Ints
    bit: Ints
    reverse: Ints
    start: Ints
    masks: Masks
    scores: Floats
    holders_first: Ints
    holders: Ints

    @classmethod
    def build(cls, bits: NDArray[np.integer], start: Ints, masks: Masks, scores: Floats) -> SearchSpace:
        """Return the search space of the given parent sets.

        Args:
            bits: matrix `bits[child, parent]` with the index of the parent's bit in the masks of the child, or -1.
            start: bounds of the parent sets of each child.
            masks: parent sets as bit masks, one set per row.
            scores: log scores of the parent sets.
        """
        # `nonzero` returns views with gaps, for which kernels would be compiled again.
        variable, neighbour = map(np.ascontiguousarray, np.nonzero((bits >= 0) | (bits.T >= 0)))
        first = np.searchsorted(variable, np.arange(len(bits) + 1))
        bit = bits[variable, neighbour].astype(np.int64)
        reverse = np.empty(len(variable), dtype=np.int64)
        reverse[np.lexsort((variable, neighbour))] = np.arange(len(variable))
        holders_first = np.zeros(len(variable) + 1, dtype=np.int64)
        holders = np.empty(int(np.bitwise_count(masks).sum()), dtype=np.int64)
        _list_holders(first, bit, start, masks, holders_first, holders)
        return cls((0,) * masks.shape[1], first, neighbour, bit, reverse, start, masks, scores, holders_first, holders)

    def restrict(self, kept: NDArray[np.bool_]) -> SearchSpace:
        """Return the search space of some of the parent sets.

        Args:
            kept: True for each parent set that remains. The last set of each child must remain.
        """
        n = len(self.start) - 1
        start = np.concatenate([[0], np.cumsum(kept)])[self.start]
        masks = self.masks[kept]
        used = np.bitwise_or.reduceat(masks, start[:-1], axis=0)
        child = np.repeat(np.arange(n), np.diff(self.first))
        words = used[child, np.maximum(self.bit, 0) >> 6] >> (np.maximum(self.bit, 0) & 63).astype(np.uint64)
        needed = (self.bit >= 0) & (words & np.uint64(1) != 0)
        bits = np.full((n, n), -1, dtype=np.int32)
        bits[child[needed], self.neighbours[needed]] = self.bit[needed]
        return SearchSpace.build(bits, start, masks, self.scores[kept])


@kernel
def _list_holders(first: Ints, bit: Ints, start: Ints, masks: Masks, holders_first: Ints, holders: Ints) -> None:
    """Write the parent sets that contain each candidate into `holders`, and their bounds into `holders_first`."""
    count = 0
    for child in range(len(first) - 1):
        for edge in range(first[child], first[child + 1]):
            holders_first[edge] = count
            if bit[edge] >= 0:
                word, shift = bit[edge] >> 6, np.uint64(bit[edge] & 63)
                for entry in range(start[child], start[child + 1]):
                    if (masks[entry, word] >> shift) & np.uint64(1) != np.uint64(0):
                        holders[count] = entry
                        count += 1
    holders_first[-1] = count


class OrderState(NamedTuple):
    """An order of the variables, and the best parent sets for this order. Moves change the arrays in place.

    Attributes:
        order: indices of the variables, from first to last.
        position: position of each variable in `order`.
        before: for each variable, the candidate parents that come before it, as a bit mask.
        chosen: index of the best parent set of each variable among the variables before it.
        score: array with one number, the log score of the order.
        random: array with one number, the state of the random generator.
        counts: array with two numbers: the number of visits so far (a visit computes the best position of a variable), and
            the number of restarts so far.
    """

    order: Ints
    position: Ints
    before: Masks
    chosen: Ints
    score: Floats
    random: Masks
    counts: Ints

    @classmethod
    def start(cls, space: SearchSpace, order: Ints, seed: int) -> OrderState:
        """Return the state of an order.

        Args:
            space: search space.
            order: indices of the variables, from first to last.
            seed: seed of the random generator.
        """
        n = len(order)
        arrays = np.array(order, dtype=np.int64), np.empty(n, np.int64), np.empty((n, len(space.words)), np.uint64)
        # The random generator must not start with 0.
        random = np.array([(seed * 2 + 1) % (1 << 64)], dtype=np.uint64)
        return cls(*arrays, np.zeros(n, np.int64), np.full(1, -np.inf), random, np.zeros(2, np.int64))
