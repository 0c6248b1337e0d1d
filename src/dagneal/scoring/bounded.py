"""Lists of parent sets without a parent limit: proved bounds on supersets replace the limit.

A set that scores no better than one of its subsets is never needed. If an upper bound on the scores of all supersets of a
set is not above the best score of the set and its subsets, no superset is needed either, and the set is closed. The lists
grow by one parent at a time. A set is counted only if all its subsets are open. If no open set is left, the lists contain
all sets that an optimal network can need, of any size.

The bound of a score with a Dirichlet prior counts the state combinations of the family that occur in the data. Compute the
marginal likelihood row by row, in any order. The first row with a state combination has a probability of at most 1 / r,
where r is the number of states of the child, and all other rows have a probability of at most 1. Supersets have at least as
many combinations. So no superset scores above -ln(r) times their number. De Campos and Ji (2011) and Correia, Cussens and
de Campos (2020) give bounds of this kind; theirs count the state combinations of the parents. The bound also holds for BDs,
whose prior is symmetric as well. BIC, AIC and qNML have a simpler bound: their likelihood is at most 1, and their penalty
grows with the number of parents. For qNML this is true because C(N, r) is a polynomial in r without negative coefficients,
so that ln C(N, r) is a convex function of ln r: C(N, r) N^N / N! is the coefficient of z^N in exp(-r ln(1 - T(z))), where
T is the tree function, and neither T(z) nor -ln(1 - T) as a function of T has negative coefficients.

fNML has the same bound as the Dirichlet scores. Take the N values of the child in the rows of one state combination of its
parents, and let d of its r states occur. The likelihood is highest if all but one of these states occur once. Each of the
r^d sequences of d values becomes a sequence of N values if its first value is repeated N - d times. Their likelihoods are
not lower, because a state occurs at least N - d + 1 times. All NML probabilities add up to 1, so no sequence of N values
with d states has more than r^-d.

Edges with a probability add log-odds to a score. A bound then also has the log-odds of the set, and all positive log-odds of
parents that a superset can add.
"""

from __future__ import annotations

from math import comb, inf
from typing import NamedTuple

import numpy as np

from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats, Ints, Masks
from dagneal.base.machine import check_memory, has_memory
from dagneal.base.text import plural
from dagneal.scoring.complete import COMPLETE_BYTES, CompleteSets, complete_sets
from dagneal.scoring.counting.terms import OCCURRING
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.scores import Bounding
from dagneal.scoring.sets import Members, set_keys, set_members, state_combinations
from dagneal.scoring.store import KeyIndex
from dagneal.scoring.table import ScoreTable

QUICK_WORK = 1e9  # work of about a second
_MAX_VARIABLES = 120  # with more variables, the key of a set has no room for the child
_SET_COST, _EXTENSION_COST = 1000.0, 200.0  # work for each set beside counting, and for each possible set, in rows
_BYTES = 160  # memory for each set
COUNTED_PARENTS = 4  # up to this number of parents, `complete_sets` counts all sets faster
_SHARE = 0.3  # work for lists with bounds that may be in vain, as a share of the work of `complete_sets`
_MARGIN = 1e-6  # nats; bounds and scores have smaller rounding errors


class _Level(NamedTuple):
    """Sets of one size.

    Attributes:
        children: child of each set, ascending.
        rows: sets as rows of ascending variables.
        keys: keys of the sets; see `_first_level`.
        before: best score of the proper subsets of each set.
    """

    children: Ints
    rows: Members
    keys: Masks
    before: Floats


def bounded_sets(scorer: Scorer, most: int, work: float = inf, slack: float = 0.0) -> CompleteSets | None:
    """Return all sets of at most `most` parents that score higher than each of their subsets.

    Return None if this needs too much work, or if the score has no bound. The sets obey the background knowledge of the
    scorer. They are the same as those of `complete_sets`, which counts all sets up to a limit.

    Args:
        scorer: scorer of the data.
        most: maximum number of parents; the number of other variables for no limit.
        work: amount of work that is allowed, as a number of rows to read.
        slack: return also sets that score up to this much lower than their best subset, in nats.
    """
    n = len(scorer.data.names)
    if not isinstance(scorer.criterion, Bounding) or n > _MAX_VARIABLES:
        return None
    level, left, growth = _first_level(n), work, 0.0
    kept: list[tuple[Ints, Members, Floats]] = []
    while len(level.children):
        scorer.counter.run.deadline.check()
        size = level.rows.shape[1]
        left -= _level_work(scorer, len(level.children), size)
        if left < growth * _level_work(scorer, len(level.children), size + 1):
            return None
        scorer.counter.run.progress(f"sets of {plural(size, 'parent')}", 0, 1)
        scores = _legal_scores(scorer, level)
        better = np.flatnonzero((scores > level.before - slack) & (scores > -inf))
        kept.append((level.children[better], level.rows[better], scores[better]))
        highest = np.maximum(scores, level.before)
        open_sets = _find_open(scorer, level, highest - slack - _MARGIN)
        if slack == 0.0:  # without log-odds, all scores of a child with one state are 0, so its empty set is enough
            children = level.children[open_sets]
            open_sets = open_sets[(scorer.data.arities[children] > 1) | (_most_prior(scorer, level)[open_sets] > 0.0)]
        if size == most:
            break
        longer = _extend(scorer, level, open_sets, highest, left / _EXTENSION_COST)
        if longer is None:
            return None
        # Low estimate of the growth from the next level to the one after it, so that a promising attempt does not end too
        # early. A set of that level has size + 2 subsets that must be open, and each set can get n - 2 - size more parents.
        growth = (len(open_sets) / len(level.children)) ** (size + 2) * max(n - 2 - size, 0) / (4 * (size + 2))
        level = longer
    return _join(kept, most)


def complete_table(scorer: Scorer, most: int, slack: float = 0.0) -> ScoreTable:
    """Return a score table with all parent sets of up to `most` parents that can be in an optimal network.

    Args:
        scorer: scorer of the data.
        most: maximum number of parents.
        slack: keep also the sets that can be in networks that score up to this much lower, in nats.
    """
    n = len(scorer.data.names)
    memory = COMPLETE_BYTES * comb(n, min(most + 1, n // 2))
    if most > COUNTED_PARENTS:
        work = _SHARE * scorer.counter.total_cost(most + 1) if has_memory(memory) else inf
        if (sets := bounded_sets(scorer, most, work, slack)) is not None:
            return sets.table(scorer)
    if scorer.criterion.depends_on_child:
        return scorer.table(most)
    check_memory(memory, f"the list of all sets of {plural(most, 'parent')}", "use a lower parent limit")
    return complete_sets(scorer, most, slack).table(scorer)


def unlimited_table(scorer: Scorer, work: float = QUICK_WORK) -> ScoreTable | None:
    """Return a score table with all parent sets that can be in an optimal network, without a parent limit.

    Return None if this needs too much work, or if the score has no bound.

    Args:
        scorer: scorer of the data.
        work: amount of work that is allowed, as a number of rows to read.
    """
    try:
        sets = bounded_sets(scorer, len(scorer.data.names) - 1, work)
    except InputError:  # not enough memory
        return None
    return None if sets is None else sets.table(scorer)


def _level_work(scorer: Scorer, sets: int, size: int) -> float:
    """Return the work for a number of sets of one size, which are counted for scores and for bounds."""
    families = min(sets, comb(len(scorer.data.names), size + 1))  # children share families
    # Measured: large sets are counted more slowly, because they have less in common with each other.
    reads = scorer.counter.cost(size + 1) * max(1, size - 1)
    return 2 * families * reads + _SET_COST * sets


def _legal_scores(scorer: Scorer, level: _Level) -> Floats:
    """Return the scores of sets; minus infinity for those that lack required parents."""
    scores = scorer.score_parents(level.children, level.rows)
    rules = scorer.constraints
    if rules is not None:
        scores[rules.violations(level.children, level.rows) > 0] = -inf
    return scores


def _find_open(scorer: Scorer, level: _Level, highest: Floats) -> Ints:
    """Return the indices of the sets with supersets that can score above `highest`."""
    data, criterion = scorer.data, scorer.criterion
    assert isinstance(criterion, Bounding)
    highest = highest - _most_prior(scorer, level)
    arities = data.arities[level.children]
    parent_cells = state_combinations(level.rows, data.arities)
    smallest = parent_cells * data.arities.min()  # a superset has at least one parent more

    def bounds(occurring: Floats, some: Ints) -> Floats:
        result = np.empty(len(some))
        for arity in np.unique(arities[some]):
            own = arities[some] == arity
            result[own] = criterion.superset_bounds(int(arity), occurring[own], smallest[some][own], data.rows)
        return result

    everything = np.arange(len(highest))
    # Without counting: at most this many combinations occur, so the bound is at least this high.
    possible = np.minimum(parent_cells * arities, data.codes.shape[1])
    is_open = bounds(possible, everything) > highest
    unknown = np.flatnonzero(~is_open)
    is_open[unknown] = bounds(_count_occurring(scorer, level, unknown), unknown) > highest[unknown]
    return np.flatnonzero(is_open)


def _most_prior(scorer: Scorer, level: _Level) -> Floats:
    """Return the most that the log-odds of edges can add to the scores of the supersets of each set."""
    rules = scorer.constraints
    return np.zeros(len(level.rows)) if rules is None else rules.most_prior(level.children, level.rows)


def _count_occurring(scorer: Scorer, level: _Level, some: Ints) -> Floats:
    """Return how many state combinations of families occur in the data."""
    n = len(scorer.data.names)
    keys, index = set_keys(level.rows[some], n, level.children[some]), KeyIndex()
    index.add(keys)
    members = set_members(index.keys, n)
    if not len(members):
        return np.empty(0)
    counts = scorer.counter.sums(members, np.zeros(len(members), dtype=np.int64), np.array([[OCCURRING]]))
    occurring: Floats = counts[index.rows(keys), 0]
    return occurring


def _first_level(n: int) -> _Level:
    """Return the empty set of each child. Its key is the child, in the lowest bits, which no variable uses."""
    keys = np.zeros((n, 2), dtype=np.uint64)
    keys[:, 1] = np.arange(n)
    return _Level(np.arange(n), np.empty((n, 0), dtype=np.int32), keys, np.full(n, -inf))


def _extend(scorer: Scorer, level: _Level, open_sets: Ints, highest: Floats, most: float) -> _Level | None:
    """Return the sets with one more parent whose subsets are all open; None if there could be more than `most` such sets.

    Args:
        scorer: scorer with background knowledge.
        level: sets.
        open_sets: indices of the open sets.
        highest: best score of each set and its subsets.
        most: number of sets.
    """
    n, size = len(scorer.data.names), level.rows.shape[1]
    children, rows = level.children[open_sets], level.rows[open_sets]
    keys, highest = level.keys[open_sets], highest[open_sets]
    last = rows[:, -1].astype(np.int64) if size else np.full(len(rows), -1)
    count = n - 1 - last
    total = int(count.sum())
    if total > most:
        return None
    check_memory(_BYTES * total, f"the list of all sets of {plural(size + 1, 'parent')}", "use a lower parent limit")
    origin = np.repeat(np.arange(len(rows)), count)
    added = np.arange(total) - np.repeat(np.cumsum(count) - count, count) + last[origin] + 1
    fits = added != children[origin]
    rules = scorer.constraints
    if rules is not None:
        fits &= (rules.allowed | rules.required)[added, children[origin]] & (rules.limits[children[origin]] > size)
    origin, added = origin[fits], added[fits]
    bits = set_keys(np.arange(n, dtype=np.int32)[:, None], n)
    index = KeyIndex()
    index.add(keys)
    longer, before = keys[origin] | bits[added], highest[origin]
    for place in range(size):  # the subset without the member at this place
        found = index.rows(longer ^ bits[rows[origin, place]])
        present = found >= 0
        origin, added, longer = origin[present], added[present], longer[present]
        before = np.maximum(before[present], highest[found[present]])
    return _Level(children[origin], np.concatenate([rows[origin], added[:, None].astype(np.int32)], axis=1), longer, before)


def _join(kept: list[tuple[Ints, Members, Floats]], most: int) -> CompleteSets:
    """Return sets of all sizes, sorted by child."""
    width = max((rows.shape[1] for _, rows, _ in kept if len(rows)), default=0)
    padded = [
        np.pad(rows[:, :width], ((0, 0), (0, max(width - rows.shape[1], 0))), constant_values=-1) for _, rows, _ in kept
    ]
    children, scores = np.concatenate([part[0] for part in kept]), np.concatenate([part[2] for part in kept])
    order = np.argsort(children, kind="stable")
    return CompleteSets(most, children[order], np.concatenate(padded)[order], scores[order])
