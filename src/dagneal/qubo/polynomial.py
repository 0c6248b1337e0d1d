"""The score Hamiltonian: for each child a polynomial in its edge bits that equals minus its log score (the paper's H_score).

The polynomial of a child is the sum over parent sets J of w(J) prod d_j. It must equal the cost f(S), minus the log score,
at every set S that can be in a best network. Two kinds of sets leave a choice: one that is no better than one of its subsets
(a dominated set), and one that the table does not have. There the polynomial only has to stay above the best subset, and
where it does so by itself the term is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats, Ints, Masks
from dagneal.scoring.sets import bounded_masks
from dagneal.scoring.table import ScoreTable, Subproblems

MARGIN = 3.0  # nats by which a forbidden state lies above an allowed one: at temperature 1, one read in twenty
MOST_ENUMERATED = 18  # possible parents of a child up to which all sets of them are looked at
ROUNDING = 1e-14  # of the largest cost: coefficients below are what sums of costs leave of zero


@dataclass(frozen=True, eq=False)
class Family:
    """All sets of at most so many things, subsets before supersets.

    Attributes:
        masks: the sets as bits.
        sizes: how many things are in each.
        steps: for each thing, where the sets with it are, and where the same sets without it.
    """

    masks: Masks
    sizes: Ints
    steps: tuple[tuple[Ints, Ints], ...]

    def smallest(self, values: Floats) -> Floats:
        """The smallest value over all subsets of each set; the last axis is over the sets."""
        return self._sweep(values, lambda whole, part: np.minimum(whole, part))

    def sums(self, values: Floats) -> Floats:
        """The sum over all subsets of each set."""
        return self._sweep(values, lambda whole, part: whole + part)

    def invert(self, values: Floats) -> Floats:
        """The Moebius inversion: what must be summed over subsets to give these values."""
        return self._sweep(values, lambda whole, part: whole - part)

    def _sweep(self, values: Floats, combine: Callable[[Floats, Floats], Floats]) -> Floats:
        result = values.copy()
        for having, lacking in self.steps:
            result[..., having] = combine(result[..., having], result[..., lacking])
        return result


@lru_cache(maxsize=64)
def family(things: int, limit: int) -> Family:
    """The sets of at most `limit` of so many things; those of the same size are made once.

    >>> family(3, 2).masks.tolist()
    [0, 1, 2, 3, 4, 5, 6]
    """
    masks = bounded_masks(things, limit)
    steps = []
    for flag in np.uint64(1) << np.arange(things, dtype=np.uint64):
        having = np.flatnonzero(masks & flag)
        steps.append((having, np.searchsorted(masks, masks[having] ^ flag)))
    return Family(masks, np.bitwise_count(masks).astype(np.int64), tuple(steps))


@dataclass(frozen=True, eq=False)
class Child:
    """The polynomial of one child, in one or more problems of the same shape.

    Attributes:
        parents: positions of the possible parents that have an edge bit.
        sets: the sets of them within the parent limit.
        costs: f, minus the log score, of each set, shape (problems, sets); infinite where a set is not allowed.
        weights: w, the coefficients, of the same shape.
    """

    parents: Ints
    sets: Family
    costs: Floats
    weights: Floats

    @cached_property
    def lowest(self) -> Floats:
        """The cost of the best allowed subset of each set."""
        return self.sets.smallest(self.costs)

    @cached_property
    def losses(self) -> Floats:
        """D of each possible parent: the most that taking it away can cost, shape (problems, parents)."""
        found = np.zeros((len(self.costs), len(self.parents)))
        for place, (having, lacking) in enumerate(self.sets.steps):
            if len(having):
                found[:, place] = (self.lowest[:, lacking] - self.costs[:, having]).max(axis=1)
        return np.maximum(found, 0.0)

    def loss(self, those: Masks | np.uint64) -> Floats:
        """The most that taking these parents away, as a mask, can cost, shape (problems,)."""
        lacking = np.searchsorted(self.sets.masks, self.sets.masks & ~those)
        loss: Floats = (self.lowest[:, lacking] - self.costs).max(axis=1)
        return loss

    def oversize(self, limit: int) -> Iterator[tuple[Ints, Floats, Floats]]:
        """All sets of more than `limit` parents: by how many, the polynomial's values, and the best allowed subsets' costs.

        They come in pieces of the problems, since there are 2^parents of them in each.
        """
        count = 1 << len(self.parents)
        excess = np.bitwise_count(np.arange(count, dtype=np.uint64)).astype(np.int64) - limit
        step = max(1, (1 << 22) // count)
        for begin in range(0, len(self.costs), step):
            values = np.zeros((len(self.costs[begin : begin + step]), count))
            lowest = np.full(values.shape, np.inf)
            at = self.sets.masks.astype(np.int64)
            values[:, at] = self.weights[begin : begin + step]
            lowest[:, at] = self.costs[begin : begin + step]
            for bit in range(len(self.parents)):
                pair = values.reshape(len(values), -1, 2, 1 << bit)
                pair[:, :, 1] += pair[:, :, 0]
                pair = lowest.reshape(len(values), -1, 2, 1 << bit)
                np.minimum(pair[:, :, 1], pair[:, :, 0], out=pair[:, :, 1])
            yield excess[excess > 0], values[:, excess > 0], lowest[:, excess > 0]


def polynomials(problem: ScoreTable | Subproblems, prune: bool) -> list[Child]:
    """The polynomial of every child of a table, or of every child of many blocks.

    Args:
        problem: local scores; with blocks, nothing is pruned, since they would come to differ in their bits.
        prune: leave out sets and edges that no best network needs.
    """
    found = []
    for place, (parents, sets, costs) in enumerate(_costs(problem)):
        if not np.isfinite(costs[:, 0]).all():
            name = problem.names[place] if isinstance(problem, ScoreTable) else f"member {place} of the blocks"
            raise InputError(f"{name!r} may not be without parents; such a table cannot be encoded")
        found.append(_prune(parents, sets, costs) if prune else _complete(parents, sets, costs))
    return found


def _costs(problem: ScoreTable | Subproblems) -> Iterator[tuple[Ints, Family, Floats]]:
    """For each child its candidates, the sets of them within the limit, and the cost of each."""
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
        costs[0, np.searchsorted(sets.masks, problem.masks[entries])] = -problem.scores[entries]
        yield parents, sets, costs


def _complete(parents: Ints, sets: Family, costs: Floats) -> Child:
    """The polynomial that equals the cost of every allowed set."""
    allowed = np.isfinite(costs)
    weights = sets.invert(costs) if allowed.all() else _level_by_level(sets, costs, allowed)
    return Child(parents, sets, costs, weights)


def _prune(parents: Ints, sets: Family, costs: Floats) -> Child:
    """The polynomial over the edges that some undominated set has, exact at the undominated sets."""
    needed = undominated_sets(sets, costs)[0]
    kept = np.flatnonzero([needed[having].any() for having, _ in sets.steps])
    fewer = family(len(kept), min(int(sets.sizes.max()), len(kept)))
    spread = np.zeros(len(fewer.masks), dtype=np.uint64)  # the sets that are left, over all candidates
    for new, bit in enumerate(kept):
        spread |= ((fewer.masks >> np.uint64(new)) & np.uint64(1)) << np.uint64(bit)
    place = np.searchsorted(sets.masks, spread)
    costs = costs[:, place]
    weights = _level_by_level(fewer, costs, needed[None, place])
    weights[np.abs(weights) <= ROUNDING * np.abs(costs[np.isfinite(costs)]).max()] = 0.0
    return Child(parents[kept], fewer, costs, weights)


def undominated_sets(sets: Family, costs: Floats) -> NDArray[np.bool_]:
    """Which sets are better than all their subsets, and so may be in a best network."""
    lowest = sets.smallest(costs)
    needed = np.isfinite(costs)
    for having, lacking in sets.steps:
        needed[:, having] &= costs[:, having] < lowest[:, lacking]
    return needed


def _level_by_level(sets: Family, costs: Floats, exact: NDArray[np.bool_]) -> Floats:
    """Coefficients, smaller sets first: equal to the cost at exact sets, elsewhere above the best subset.

    Above by the margin, or by what the true cost is above if that is less.
    """
    enough = np.minimum(costs, sets.smallest(costs) + MARGIN)
    weights = np.zeros(costs.shape)
    for size in range(int(sets.sizes.max()) + 1):
        level = sets.sizes == size
        sums = sets.sums(weights)[:, level]
        wanted = np.where(exact[:, level], costs[:, level], enough[:, level])
        missing = wanted - sums
        weights[:, level] = np.where(exact[:, level], missing, np.maximum(missing, 0.0))
    return weights


def moebius(table: ScoreTable) -> Floats:
    """Coefficients w_i(J) of the score Hamiltonian (the paper's equation for w), one for each entry of the table.

    The polynomial sum over J of w_i(J) prod d_ji equals minus the log score at every parent set of the table.

    Args:
        table: local scores of all sets of at most so many candidates.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> table = score_table(load("monty-hall").expected(10_000))
    >>> moebius(table)[:4].round(1)  # Player: constant, Host, Car, both
    array([10998.1, -4044.8,    21.5,  -566.3])
    """
    weights = []
    for child, (_, sets, costs) in enumerate(_costs(table)):
        if not np.isfinite(costs).all():
            raise InputError(
                f"{table.names[child]!r} may not have all sets of its candidate parents: the paper's encoding needs them"
            )
        weights.append(sets.invert(costs)[0])
    return np.concatenate(weights)
