"""Lists of good parent sets, one list per child. The search adds sets; useless sets are removed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints, Masks, kernel
from dagneal.scoring.sets import Members
from dagneal.search.space import SearchSpace

MAX_CANDIDATES = 64  # distinct parents in the list of a child; masks have one word
ALL_SETS = 200_000  # sets in all lists; divided by the number of variables, within the next limits
LEAST_SETS, MOST_SETS = 1000, 2000  # limits of the longest list
SMALL_SIZE, SMALL_SHARE = 2, 0.25  # sets of so few parents come first, but in this share of the longest list at most
SHORT_LIST = 0.5  # length of the list of a child whose parents hardly matter, as a share of the longest list
SETS_PER_NAT = 20  # sets in a list for each nat that the best set gains over the smallest set

Choice = Callable[[Ints, Members, Floats], NDArray[np.bool_]]
"""Function of the child, the members and the score of each set. It returns which sets to add."""


class ParentSets:
    """The parent sets of each child that the search knows, with their log scores.

    The sets of a child are sorted by decreasing score. A set is removed if one of its subsets scores at least as high,
    because the best network never needs it. If a list is too long, the least useful sets are removed, but never the empty
    set, the set of all required parents, and a pinned set. The empty set must be added first.

    The use of a set is its score minus a price for each parent that is a child in the pinned network. The price is what this
    parent loses with its best set that does not contain the child. Without prices, sets of its many children would fill the
    list of a hub. Sets that fit the order of the pinned network alternate with sets that do not, because both are useful.
    Up to a quarter of a list is reserved for sets of at most two parents, because they fit in most orders.

    Args:
        variables: number of variables.
        required: matrix; `required[parent, child]` is True if the edge is required. None if there are no required edges.
            All sets of a child but the empty set must contain its required parents; other sets are left out.
    """

    def __init__(self, variables: int, required: NDArray[np.bool_] | None = None) -> None:
        self._longest = min(max(ALL_SETS // variables, LEAST_SETS), MOST_SETS)
        self._required = np.zeros((variables, variables), dtype=bool) if required is None else required
        self._needed = self._required.sum(axis=0)
        self._rows: list[Members] = [np.empty((0, 0), dtype=np.int32)] * variables
        self._scores: list[Floats] = [np.empty(0)] * variables
        self._masks: list[Masks] = [np.empty(0, dtype=np.uint64)] * variables
        self._bits = np.full((variables, variables), -1, dtype=np.int8)
        self._pinned: Members = np.full((variables, 1), -2, dtype=np.int32)  # -2: there is no network yet
        self._prices = np.zeros((variables, variables))
        self._position = np.full(variables + 1, -1)  # in the order of the pinned network; the last entry is for padding

    def sets_of(self, child: int) -> tuple[Members, Floats]:
        """Return the parent sets of a child as rows of variables padded with -1, and their scores."""
        return self._rows[child], self._scores[child]

    def leaders(self, most: int) -> NDArray[np.bool_]:
        """Return a matrix: `matrix[variable, child]` is True if the variable is among the best candidates of the child.

        Args:
            most: number of candidates of each child. Candidates are ranked by the best set that contains them.
        """
        chosen = np.zeros((len(self._rows),) * 2, dtype=bool)
        for child, rows in enumerate(self._rows):
            ranked = rows[rows >= 0]
            _, place = np.unique(ranked, return_index=True)
            chosen[ranked[np.sort(place)[:most]], child] = True
        return chosen

    def best_sets(self, most: int, fitting: bool) -> tuple[Ints, Members]:
        """Return the best sets of each child: their children, and the sets as rows of variables padded with -1.

        Args:
            most: maximum number of sets of each child.
            fitting: True for sets that fit the order of the pinned network, False for any sets.
        """
        everyone = np.arange(len(self._rows))
        lists = zip(everyone[:, None], self._rows, strict=True)
        chosen = [(rows[self.fit(child, rows)] if fitting else rows)[:most] for child, rows in lists]
        return np.repeat(everyone, [*map(len, chosen)]), stack_rows(chosen)

    def fit(self, children: Ints, rows: Members) -> NDArray[np.bool_]:
        """Return, for each parent set, whether all its members come before the child in the order of the pinned network.

        Args:
            children: index of the child of each set, or of all sets.
            rows: sets as rows of variables padded with -1.
        """
        fits: NDArray[np.bool_] = np.all(self._position[rows] < self._position[children][:, None], axis=1)
        return fits

    def add(self, children: Ints, parents: Members, scores: Floats, choose: Choice | None = None) -> None:
        """Add parent sets.

        Args:
            children: index of the child of each set.
            parents: sets as rows of ascending variables, padded with -1.
            scores: log scores.
            choose: function that chooses from the sets that are not useless; None to add all of them.
        """
        children = np.ascontiguousarray(children)  # another memory layout would compile the kernel again
        new = np.ones(len(children), dtype=bool)
        _drop_incomplete(children, parents, self._required, self._needed, new)
        _drop_dominated(children, parents, scores, self._bits, *self._flat(), new)
        children, parents, scores = children[new], parents[new], scores[new]
        if choose is not None:
            chosen = choose(children, parents, scores)
            children, parents, scores = children[chosen], parents[chosen], scores[chosen]
        if not len(children):
            return
        order = np.argsort(children, kind="stable")
        changed, begins = np.unique(children[order], return_index=True)
        for child, lines in zip(changed, np.split(order, begins[1:]), strict=True):
            self._merge(int(child), parents[lines], scores[lines])

    def pin(self, order: Ints, parents: Members) -> None:
        """Keep the parent sets of a network, even if their scores are low. Earlier pins end.

        Args:
            order: topological order of the network.
            parents: parent set of each child.
        """
        self._position[order] = np.arange(len(order))
        self._pinned = parents
        self._prices = np.zeros_like(self._prices)
        for child, row in enumerate(parents):
            _find_losses(self._rows[child], self._scores[child], row, self._prices[child])

    def _merge(self, child: int, rows: Members, scores: Floats) -> None:
        """Add parent sets of one child. No set of its list is a subset with at least the same score."""
        own = self._rows[child]
        width = max(own.shape[1], rows.shape[1])
        rows = np.concatenate([_widen(own, width), _widen(rows, width)])
        scores = np.concatenate([self._scores[child], scores])
        sizes, fits, costs = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=bool), np.empty(len(rows))
        _rate(child, rows, scores, self._position, self._prices, sizes, fits, costs)
        ranking = np.lexsort((sizes, costs))
        alternating, order, kept = np.empty((3, len(rows)), dtype=np.int64)
        _arrange(ranking, fits, sizes, int(SMALL_SHARE * self._longest), alternating, order)
        bits = np.full(len(self._rows), -1, dtype=np.int8)
        masks, new_masks = np.empty((2, len(rows)), dtype=np.uint64)
        count = _select(
            order,
            rows,
            sizes,
            scores,
            old=len(own),
            pin=self._pinned[child],
            needed_parents=int(self._needed[child]),
            longest=self._longest,
            new_masks=new_masks,
            new_scores=np.empty(len(rows)),
            bits=bits,
            masks=masks,
            kept=kept,
        )
        by_score = np.argsort(-scores[kept[:count]], kind="stable")
        kept = kept[by_score]
        self._rows[child], self._scores[child] = rows[kept], scores[kept]
        self._masks[child], self._bits[child] = masks[by_score], bits

    def _flat(self) -> tuple[Ints, Masks, Floats]:
        """Return the index of the first set of each child, and the masks and scores of all sets."""
        return np.cumsum([0, *map(len, self._scores)]), np.concatenate(self._masks), np.concatenate(self._scores)

    def space(self) -> SearchSpace:
        """Return the search space of all sets."""
        start, masks, scores = self._flat()
        return SearchSpace.build(self._bits, start, masks[:, None], scores)

    def rows(self, space: SearchSpace, chosen: Ints) -> Members:
        """Return the chosen parent set of each child as a row of variables.

        Args:
            space: search space of these sets.
            chosen: index in the search space of the set of each child.
        """
        return stack_rows([own[index : index + 1] for own, index in zip(self._rows, chosen - space.start[:-1], strict=True)])


def _widen(rows: NDArray[np.int32], width: int) -> NDArray[np.int32]:
    """Return the rows padded with -1."""
    if rows.shape[1] == width:
        return rows
    wide = np.full((len(rows), width), -1, dtype=np.int32)
    wide[:, : rows.shape[1]] = rows
    return wide


def stack_rows(parts: Sequence[Members]) -> Members:
    """Return the rows of all parts in one array, padded with -1.

    Args:
        parts: at least one array of rows.
    """
    width = max(rows.shape[1] for rows in parts)
    return np.concatenate([_widen(rows, width) for rows in parts])


@kernel
def _drop_incomplete(
    children: Ints, rows: Members, required: NDArray[np.bool_], needed: Ints, new: NDArray[np.bool_]
) -> None:
    """Set `new` to False for sets that lack a required parent, but not for empty sets."""
    for index in range(len(rows)):
        missing, empty = needed[children[index]], True
        for parent in rows[index]:
            if parent >= 0:
                empty = False
                missing -= required[parent, children[index]]
        new[index] = empty or missing == 0


@kernel
def _drop_dominated(
    children: Ints,
    rows: Members,
    scores: Floats,
    bits: NDArray[np.int8],
    start: Ints,
    masks: Masks,
    list_scores: Floats,
    new: NDArray[np.bool_],
) -> None:
    """Set `new` to False for sets that have a subset with at least the same score in the list of their child."""
    for index in range(len(rows)):
        child, mask = children[index], np.uint64(0)
        for parent in rows[index]:
            if parent >= 0 and bits[child, parent] >= 0:
                mask |= np.uint64(1) << np.uint64(bits[child, parent])
        for entry in range(start[child], start[child + 1]):
            if list_scores[entry] < scores[index]:  # scores descend
                break
            if masks[entry] & ~mask == np.uint64(0):
                new[index] = False
                break


@kernel
def _rate(
    child: int,
    rows: Members,
    scores: Floats,
    position: Ints,
    prices: Floats,
    sizes: Ints,
    fits: NDArray[np.bool_],
    costs: Floats,
) -> None:
    """Write the size of each set, whether it fits the order of the pinned network, and the negative of its use."""
    for index in range(len(rows)):
        sizes[index], fits[index], costs[index] = 0, True, -scores[index]
        for parent in rows[index]:
            if parent >= 0:
                sizes[index] += 1
                fits[index] &= position[parent] < position[child]
                costs[index] += prices[parent, child]


@kernel
def _arrange(ranking: Ints, fits: NDArray[np.bool_], sizes: Ints, most_small: int, alternating: Ints, order: Ints) -> None:
    """Write the order in which sets are chosen into `order`: up to `most_small` small sets, then the others.

    In both parts, sets that fit the order of the pinned network alternate with others, each kind as in `ranking`.
    """
    fitting, other, count = 0, 0, 0
    while count < len(ranking):
        while fitting < len(ranking) and not fits[ranking[fitting]]:
            fitting += 1
        while other < len(ranking) and fits[ranking[other]]:
            other += 1
        for place in (min(fitting, other), max(fitting, other)):
            if place < len(ranking):
                alternating[count] = ranking[place]
                count += 1
        fitting += 1
        other += 1
    count = 0
    for first in (True, False):
        small = 0
        for index in alternating:
            small += sizes[index] <= SMALL_SIZE
            if (sizes[index] <= SMALL_SIZE and small <= most_small) == first:
                order[count] = index
                count += 1


@kernel
def _select(
    order: Ints,
    rows: Members,
    sizes: Ints,
    scores: Floats,
    old: int,
    pin: Members,
    needed_parents: int,
    longest: int,
    new_masks: Masks,
    new_scores: Floats,
    bits: NDArray[np.int8],
    masks: Masks,
    kept: Ints,
) -> int:
    """Choose the parent sets of a child that stay in its list. Return their number.

    The first `old` sets are in the list. They dominate neither each other nor new sets: a set dominates its supersets that
    score no higher. The empty set, the set of all `needed_parents` required parents, and the set `pin` also stay if the list
    is too long. The function writes the bit of each variable to `bits`, the masks of the chosen sets to `masks`, and their
    indices to `kept`. The arrays `new_masks` and `new_scores` are working memory for the new sets that were chosen.
    """
    candidates = 0
    for parent in pin:
        if parent >= 0:
            bits[parent] = candidates
            candidates += 1
    highest, lowest = 0, 0  # the best set, and the empty set
    for index in range(len(rows)):
        if scores[index] > scores[highest]:
            highest = index
        if sizes[index] == 0:
            lowest = index
    most = min(max(SETS_PER_NAT * (scores[highest] - scores[lowest]), SHORT_LIST * longest), longest)
    count, new_count = 0, 0
    for index in order:
        unknown, mask = 0, np.uint64(0)  # members without a bit, and mask of the other members
        for place in range(sizes[index]):
            bit = bits[rows[index, place]]
            if bit < 0:
                unknown += 1
            else:
                mask |= np.uint64(1) << np.uint64(bit)
        needed = sizes[index] == 0 or sizes[index] == needed_parents or _is_same(rows[index], pin)
        if not needed and (candidates + unknown > MAX_CANDIDATES or count >= most):
            continue
        if _has_better_subset(new_masks, new_scores, new_count, mask, scores[index]):
            continue
        for place in range(sizes[index]):
            variable = rows[index, place]
            if bits[variable] < 0:
                bits[variable] = candidates
                candidates += 1
                mask |= np.uint64(1) << np.uint64(bits[variable])
        if index >= old:
            count = _remove_supersets(masks, scores, kept, count, mask, scores[index])
            new_masks[new_count], new_scores[new_count] = mask, scores[index]
            new_count += 1
        masks[count], kept[count] = mask, index
        count += 1
    _forget_unused(bits, masks, count)
    return count


@kernel
def _remove_supersets(masks: Masks, scores: Floats, kept: Ints, count: int, mask: np.uint64, score: float) -> int:
    """Remove supersets of `mask` that score no higher than `score`. Return the new number of sets."""
    stay = 0
    for entry in range(count):
        if scores[kept[entry]] > score or mask & ~masks[entry] != np.uint64(0):
            masks[stay], kept[stay] = masks[entry], kept[entry]
            stay += 1
    return stay


@kernel
def _forget_unused(bits: NDArray[np.int8], masks: Masks, count: int) -> None:
    """Take the bits from variables that occur in none of the first `count` masks."""
    used = np.uint64(0)
    for entry in range(count):
        used |= masks[entry]
    for variable in range(len(bits)):
        if bits[variable] >= 0 and (used >> np.uint64(bits[variable])) & np.uint64(1) == np.uint64(0):
            bits[variable] = -1


@kernel
def _find_losses(rows: Members, scores: Floats, present: Members, losses: Floats) -> None:
    """Write into `losses` what a child loses if it takes its best set without a parent, for each present parent.

    `rows` are sorted by decreasing score. If the present set is not in the list, the losses are unknown and stay 0.
    """
    own = 0
    while own < len(rows) and not _is_same(rows[own], present):
        own += 1
    if own == len(rows):
        return
    for parent in present:
        if parent >= 0:
            for entry in range(len(rows)):
                has = False
                for place in range(rows.shape[1]):
                    has |= rows[entry, place] == parent
                if not has:
                    losses[parent] = max(scores[own] - scores[entry], 0.0)
                    break


@kernel
def _is_same(row: Members, other: Members) -> bool:
    """Return whether two rows of different widths contain the same set."""
    for place in range(max(len(row), len(other))):
        if (row[place] if place < len(row) else -1) != (other[place] if place < len(other) else -1):
            return False
    return True


@kernel
def _has_better_subset(masks: Masks, scores: Floats, count: int, mask: np.uint64, score: float) -> bool:
    """Return whether one of the first `count` masks is a subset of `mask` with at least the given score."""
    entry = 0
    while entry < count and (masks[entry] & ~mask != np.uint64(0) or scores[entry] < score):
        entry += 1
    return entry < count
