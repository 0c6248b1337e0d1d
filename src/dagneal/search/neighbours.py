"""Screening: find the variables that depend most on each variable, from statistics of pairs.

The measure is the likelihood-ratio statistic G minus its degrees of freedom, which is its expected value for independent
variables. Unlike the gain of a Bayesian score, it does not penalise columns with many states: a true parent with 20 states
can have a negative gain alone, and a large gain together with a second parent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.sets import Members


def dependence(scorer: Scorer) -> Floats:
    """Return a symmetric matrix with the statistic G minus its degrees of freedom, for each pair of variables.

    G is twice a difference of log-likelihoods. So twice the log-odds of the edge between the variables are added, the higher
    of both directions.

    Args:
        scorer: scorer of the data.
    """
    data, counter = scorer.data, scorer.counter
    n = len(data.names)
    first, second = (ends.astype(np.int32) for ends in np.triu_indices(n, 1))
    states = np.array([np.count_nonzero(counts) for counts in counter.counts([[v] for v in range(n)])])
    alone = _sums_of_n_log_n(scorer, np.arange(n, dtype=np.int32)[:, None])
    both = _sums_of_n_log_n(scorer, np.stack([first, second], axis=1))
    total = data.rows * np.log(data.rows)
    result = np.zeros((n, n))
    result[first, second] = 2.0 * (both - alone[first] - alone[second] + total)
    result[first, second] -= (states[first] - 1) * (states[second] - 1)
    result[second, first] = result[first, second]
    if scorer.constraints is not None and scorer.constraints.log_odds is not None:
        log_odds = scorer.constraints.log_odds
        result += 2.0 * np.maximum(log_odds, log_odds.T)
    return result


def _sums_of_n_log_n(scorer: Scorer, sets: Members) -> Floats:
    """Return the sum of N ln N over the counts N of each set of variables."""
    # A negative pseudo-count requests this sum.
    sums: Floats = scorer.counter.sums(sets, np.zeros(len(sets), dtype=np.int64), np.full((1, 1), -1.0))[:, 0]
    return sums


def nearest(strength: Floats, most: int) -> NDArray[np.bool_]:
    """Return a symmetric matrix: True if one of two variables is among the `most` strongest neighbours of the other.

    Args:
        strength: symmetric matrix of the dependence between variables.
        most: number of neighbours of each variable.
    """
    near = _ranks(strength) < most
    np.fill_diagonal(near, False)
    return near | near.T


def closest(strength: Floats, most: int) -> NDArray[np.bool_]:
    """Return a matrix: `matrix[variable, child]` is True if the variable is one of the `most` closest to the child.

    Two variables are close if one of them is a strong neighbour of the other. A child of a variable with many strong
    neighbours is therefore close to it, although it is not one of its strongest neighbours.

    Args:
        strength: symmetric matrix of the dependence between variables.
        most: number of variables for each child.
    """
    ranks = _ranks(strength)
    near: NDArray[np.bool_] = _ranks(-np.minimum(ranks, ranks.T) - 1e-6 * ranks) < most
    np.fill_diagonal(near, False)
    return near


def _ranks(strength: Floats) -> Floats:
    """Return the rank of each row in each column; 0 for the strongest neighbour. The variable itself is last."""
    strength = strength.astype(np.float64)
    np.fill_diagonal(strength, -np.inf)
    order = np.argsort(-strength, axis=0, kind="stable")
    ranks = np.empty(strength.shape)
    np.put_along_axis(ranks, order, np.arange(len(strength), dtype=np.float64)[:, None], axis=0)
    return ranks
