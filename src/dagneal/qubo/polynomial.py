"""Build the score Hamiltonian (the paper's H_score): for each child, a polynomial in its edge variables.

The polynomial of a child is the sum, over parent sets J, of w(J) times the product of the edge variables of J. At every
parent set S that a best network may need, it must equal the cost f(S), which is minus the log score. Two kinds of sets are
never needed: sets that are no better than one of their subsets (dominated sets), and sets that are not in the score table.
At these sets the polynomial only has to be above the cost of the best subset. If it is already above that cost without the
term of the set itself, the term is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats, Ints, Masks
from dagneal.scoring.sets import bounded_masks, find_masks, has_bit, mask_of, mask_sizes, move_bits
from dagneal.scoring.table import ScoreTable, Subproblems

MARGIN = 3.0  # energy difference of a forbidden set to its best subset, in nats; odds of 1 to 20 at temperature 1
MAX_ENUMERATED = 18  # with at most this many possible parents, all their sets are enumerated
ROUNDING = 1e-14  # coefficients below this fraction of the largest cost are rounding errors


@dataclass(frozen=True, eq=False)
class Family:
    """All sets with at most a given number of elements, as bit masks. Subsets come before supersets.

    Attributes:
        masks: bit mask of each set, shape (sets, words).
        sizes: number of elements of each set.
        steps: for each element, the indices of the sets that contain it, and the indices of the same sets without it.
    """

    masks: Masks
    sizes: Ints
    steps: tuple[tuple[Ints, Ints], ...]

    def smallest(self, values: Floats) -> Floats:
        """Return, for each set, the smallest value of the set and its subsets.

        The last axis of `values` has one value per set.
        """
        return self._sweep(values, lambda with_it, without_it: np.minimum(with_it, without_it))

    def sums(self, values: Floats) -> Floats:
        """Return, for each set, the sum of the values of the set and its subsets.

        The last axis of `values` has one value per set.
        """
        return self._sweep(values, lambda with_it, without_it: with_it + without_it)

    def invert(self, values: Floats) -> Floats:
        """Return the Moebius inversion, the inverse of `sums`: `sums(invert(values))` equals `values`."""
        return self._sweep(values, lambda with_it, without_it: with_it - without_it)

    def _sweep(self, values: Floats, combine: Callable[[Floats, Floats], Floats]) -> Floats:
        """For each element in turn, combine the value of every set with the value of the same set without the element."""
        result = values.copy()
        for having, lacking in self.steps:
            result[..., having] = combine(result[..., having], result[..., lacking])
        return result


@lru_cache(maxsize=64)
def family(elements: int, limit: int) -> Family:
    """Return all sets with at most `limit` of the elements from 0 to `elements` - 1.

    >>> family(3, 2).masks.ravel().tolist()
    [0, 1, 2, 3, 4, 5, 6]
    """
    masks = bounded_masks(elements, limit)
    steps = []
    for element in range(elements):
        having = np.flatnonzero(has_bit(masks, element))
        steps.append((having, find_masks(masks, masks[having] ^ mask_of([element], masks.shape[1]))))
    return Family(masks, mask_sizes(masks), tuple(steps))


@dataclass(frozen=True, eq=False)
class Child:
    """The score polynomial (term of H_score) of one child, for one or more problems with the same QUBO variables.

    Attributes:
        parents: indices of the possible parents. Each has an edge variable.
        sets: sets of possible parents within the parent limit.
        costs: cost f (minus the log score) of each set, shape (problems, sets); infinite if the set is not allowed.
        weights: coefficient w of each set, shape (problems, sets).
    """

    parents: Ints
    sets: Family
    costs: Floats
    weights: Floats

    def select(self, problems: Ints) -> Child:
        """Return the polynomial of some of the problems.

        Args:
            problems: indices of the problems.
        """
        return Child(self.parents, self.sets, self.costs[problems], self.weights[problems])

    @cached_property
    def rounding(self) -> Floats:
        """For each problem, the largest value that is only a rounding error."""
        return _rounding_error(self.costs)

    @cached_property
    def lowest(self) -> Floats:
        """For each set, the cost of its best allowed subset, shape (problems, sets)."""
        return self.sets.smallest(self.costs)

    @cached_property
    def removal_costs(self) -> Floats:
        """For each possible parent, the largest cost increase from removing this parent, shape (problems, parents)."""
        costs = np.zeros((len(self.costs), len(self.parents)))
        for index, (having, lacking) in enumerate(self.sets.steps):
            if len(having):
                costs[:, index] = (self.lowest[:, lacking] - self.costs[:, having]).max(axis=1)
        return np.maximum(costs, 0.0)

    def removal_cost(self, mask: Masks) -> Floats:
        """Return the largest cost increase from removing all parents in the bit mask `mask` at once, shape (problems,)."""
        lacking = find_masks(self.sets.masks, self.sets.masks & ~mask)
        cost: Floats = (self.lowest[:, lacking] - self.costs).max(axis=1)
        return cost

    def oversize(self, limit: int) -> Iterator[tuple[Ints, Floats, Floats]]:
        """Yield (excess, values, lowest) for all sets of more than `limit` parents, one chunk of problems at a time.

        For each set, `excess` is the number of parents above the limit, `values` is the value of the polynomial, and
        `lowest` is the cost of the best allowed subset. Chunks save memory, because there are up to 2^parents sets.
        """
        count = 1 << len(self.parents)
        excess = np.bitwise_count(np.arange(count, dtype=np.uint64)).astype(np.int64) - limit
        step = max(1, (1 << 22) // count)
        for begin in range(0, len(self.costs), step):
            values = np.zeros((len(self.costs[begin : begin + step]), count))
            lowest = np.full(values.shape, np.inf)
            index = self.sets.masks[:, 0].astype(np.int64)
            values[:, index] = self.weights[begin : begin + step]
            lowest[:, index] = self.costs[begin : begin + step]
            for bit in range(len(self.parents)):
                pair = values.reshape(len(values), -1, 2, 1 << bit)
                pair[:, :, 1] += pair[:, :, 0]
                pair = lowest.reshape(len(values), -1, 2, 1 << bit)
                np.minimum(pair[:, :, 1], pair[:, :, 0], out=pair[:, :, 1])
            yield excess[excess > 0], values[:, excess > 0], lowest[:, excess > 0]


def polynomials(problem: ScoreTable | Subproblems, prune: bool) -> list[Child]:
    """Return the score polynomial of every child. A polynomial of subproblems has coefficients for each subproblem.

    Args:
        problem: score table, or subproblems.
        prune: whether to drop sets and edges that no best network needs. Then all subproblems must have the same
            `needed_sets`.
    """
    children = []
    for index, (parents, sets, costs) in enumerate(_costs(problem)):
        if not np.isfinite(costs[:, 0]).all():
            name = problem.names[index] if isinstance(problem, ScoreTable) else f"member {index} of the subproblems"
            raise InputError(f"the table has no score for {name!r} without parents; add this score before encoding")
        children.append(_prune(parents, sets, costs) if prune else _complete(parents, sets, costs))
    return children


def _costs(problem: ScoreTable | Subproblems) -> Iterator[tuple[Ints, Family, Floats]]:
    """Yield (parents, sets, costs) for each child: candidate parents, their sets within the limit, costs of these sets."""
    if isinstance(problem, Subproblems):
        size = problem.members.shape[1]
        sets = family(size - 1, problem.max_parents)
        for child in range(size):
            yield np.delete(np.arange(size), child), sets, -problem.scores[:, child]
        return
    for child in range(len(problem.names)):
        parents = problem.candidates_of(child)
        sets = family(len(parents), min(problem.max_parents, len(parents)))
        entries = problem.entries_of(child)
        costs = np.full((1, len(sets.masks)), np.inf)
        masks = problem.masks[entries, : sets.masks.shape[1]]  # other children may need more words
        costs[0, find_masks(sets.masks, masks)] = -problem.scores[entries]
        yield parents, sets, costs


def _complete(parents: Ints, sets: Family, costs: Floats) -> Child:
    """Return the polynomial that equals the cost of every allowed set."""
    allowed = np.isfinite(costs)
    weights = sets.invert(costs) if allowed.all() else _fit_weights(sets, costs, allowed)
    return Child(parents, sets, costs, weights)


def _prune(parents: Ints, sets: Family, costs: Floats) -> Child:
    """Return a polynomial that equals the cost of every set in `undominated_sets`. Drop parents that are in no such set."""
    needed = undominated_sets(sets, costs)[0]
    kept = np.flatnonzero([needed[having].any() for having, _ in sets.steps])
    remaining = family(len(kept), min(int(sets.sizes.max()), len(kept)))
    # The remaining sets as masks over all candidate parents.
    masks = move_bits(remaining.masks, range(len(kept)), kept, sets.masks.shape[1])
    index = find_masks(sets.masks, masks)
    costs = costs[:, index]
    weights = _fit_weights(remaining, costs, needed[None, index])
    weights[np.abs(weights) <= _rounding_error(costs)[:, None]] = 0.0
    return Child(parents[kept], remaining, costs, weights)


def needed_sets(subproblems: Subproblems) -> NDArray[np.bool_]:
    """Return which parent sets the best networks of subproblems may need, shape (subproblems, children * sets).

    Args:
        subproblems: subproblems of a table.
    """
    return np.concatenate([undominated_sets(sets, costs) for _, sets, costs in _costs(subproblems)], axis=1)


def _rounding_error(costs: Floats) -> Floats:
    """Return, for each problem, the largest value that is only a rounding error."""
    largest: Floats = np.where(np.isfinite(costs), np.abs(costs), 0.0).max(axis=1)
    return ROUNDING * largest


def undominated_sets(sets: Family, costs: Floats) -> NDArray[np.bool_]:
    """Return a boolean array, True for each set that is better than all its proper subsets.

    A best network needs no other sets.
    """
    lowest = sets.smallest(costs)
    needed = np.isfinite(costs)
    for having, lacking in sets.steps:
        needed[:, having] &= costs[:, having] < lowest[:, lacking]
    return needed


def _fit_weights(sets: Family, costs: Floats, exact: NDArray[np.bool_]) -> Floats:
    """Return the coefficients of a polynomial. They are computed in order of increasing set size.

    At the sets marked in `exact`, the polynomial equals the cost. At other sets it is at least the smaller of two values:
    the cost of the set, and the cost of the best subset plus `MARGIN`.
    """
    enough = np.minimum(costs, sets.smallest(costs) + MARGIN)
    weights = np.zeros(costs.shape)
    for size in range(int(sets.sizes.max()) + 1):
        level = sets.sizes == size
        sums = sets.sums(weights)[:, level]
        target = np.where(exact[:, level], costs[:, level], enough[:, level])
        missing = target - sums
        weights[:, level] = np.where(exact[:, level], missing, np.maximum(missing, 0.0))
    return weights


def moebius(table: ScoreTable) -> Floats:
    """Return the coefficients w_i(J) of the score Hamiltonian (the paper's equation for w), one for each table entry.

    The polynomial of child i is the sum, over parent sets J, of w_i(J) times the product of the edge variables of J. It
    equals minus the log score at every parent set of the table.

    Args:
        table: local scores of all sets of candidate parents within the parent limit.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> table = score_table(load("monty-hall").expected_data(10_000))
    >>> moebius(table)[:4].round(1)  # child Player with the sets {}, {Host}, {Car}, {Host, Car}
    array([10998.1, -4044.8,    21.5,  -566.3])
    """
    weights = []
    for child, (_, sets, costs) in enumerate(_costs(table)):
        if not np.isfinite(costs).all():
            raise InputError(
                f"the table lacks parent sets of {table.names[child]!r}; "
                "the paper's encoding needs all sets of candidate parents"
            )
        weights.append(sets.invert(costs)[0])
    return np.concatenate(weights)
