"""Scores whose pseudo-counts depend on how many state combinations of the parents occur in the data, such as BDs.

The pseudo-counts of a family then depend on the child as well. So the sums over the counts of a set cannot be shared by all
of its children, and the scores of parent sets are stored instead. The state combinations of the parents are counted first.
"""

from __future__ import annotations

from threading import Lock

import numpy as np

from dagneal.base.kernels import Floats, Ints, Masks
from dagneal.data.dataset import Dataset
from dagneal.scoring.counting.counter import Counter
from dagneal.scoring.counting.terms import OCCURRING
from dagneal.scoring.scores import Adaptive
from dagneal.scoring.sets import Members, set_keys, set_members, sort_keys
from dagneal.scoring.store import KeyIndex, SetStore


class AdaptiveScores:
    """The scores of parent sets. They are kept and reused.

    Args:
        data: data from which scores are computed.
        criterion: score.
    """

    def __init__(self, data: Dataset, criterion: Adaptive) -> None:
        self._data, self._criterion = data, criterion
        self._occurring, self._scores = SetStore(1), SetStore(1)
        self._counting = Lock()

    def __len__(self) -> int:
        return len(self._occurring) + len(self._scores)

    def scores(self, counter: Counter, children: Ints, parents: Members) -> Floats:
        """Return the scores of parent sets.

        Args:
            counter: counter of the data.
            children: index of the child of each parent set.
            parents: parent sets as rows of ascending indices, padded with -1 at the end.
        """
        keys = set_keys(parents, len(self._data.names))
        with self._counting:
            self._count_occurring(counter, keys)
            # The number of a parent set and its child identify a score.
            pairs = np.stack([self._occurring.rows(keys), children], axis=1).astype(np.uint64)
            missing = np.flatnonzero(self._scores.rows(pairs) < 0)
            new = missing[_first_of_each(pairs[missing])]
            if len(new):
                self._scores.add(pairs[new], self._compute(counter, children[new], parents[new], keys[new])[:, None])
            return self._scores.values(self._scores.rows(pairs), 0)

    def _count_occurring(self, counter: Counter, keys: Masks) -> None:
        """Count the state combinations that occur, of the sets that are not counted yet."""
        missing = keys[self._occurring.rows(keys) < 0]
        new = sort_keys(missing[_first_of_each(missing)])
        if len(new):
            members = set_members(new, len(self._data.names))
            kinds = np.zeros(len(new), dtype=np.int64)
            self._occurring.add(new, counter.sums(members, kinds, np.array([[OCCURRING]])))

    def _compute(self, counter: Counter, children: Ints, parents: Members, keys: Masks) -> Floats:
        """Return the scores of different pairs of a parent set and a child. `keys` are the keys of the parent sets."""
        data = self._data
        occurring = self._occurring.values(self._occurring.rows(keys), 0)
        pseudo_counts = np.empty((2, len(keys)))  # of families, and of parent sets
        for arity in np.unique(data.arities[children]).tolist():
            own = np.flatnonzero(data.arities[children] == arity)
            counts, kinds = np.unique(occurring[own], return_inverse=True)
            values = [self._criterion.occurring_concentrations(arity, count, data.rows) for count in counts.tolist()]
            pseudo_counts[:, own] = np.array(values).T[:, kinds]
        families = self._sums(counter, set_keys(parents, len(data.names), children), pseudo_counts[0])
        return families - self._sums(counter, keys, pseudo_counts[1])

    def _sums(self, counter: Counter, keys: Masks, pseudo_counts: Floats) -> Floats:
        """Return the sums over the counts of sets with one pseudo-count each. Equal sets are counted once."""
        sets, requests = KeyIndex(), KeyIndex()
        sets.add(keys)
        pairs = np.stack([sets.rows(keys).astype(np.uint64), pseudo_counts.view(np.uint64)], axis=1)
        requests.add(pairs)
        different = sets.keys[requests.keys[:, 0]]
        values, kinds = np.unique(np.ascontiguousarray(requests.keys[:, 1]).view(np.float64), return_inverse=True)
        order = np.lexsort((different[:, 1], different[:, 0]))  # so that sets with the same first members are adjacent
        sums = np.empty(len(order))
        sums[order] = counter.sums(set_members(different[order], len(self._data.names)), kinds[order], values[:, None])[:, 0]
        return sums[requests.rows(pairs)]


def _first_of_each(keys: Masks) -> Ints:
    """Return the index of one of each group of equal keys."""
    index = KeyIndex()
    index.add(keys)
    places = np.empty(len(index), dtype=np.int64)
    places[index.rows(keys)] = np.arange(len(keys))
    return places
