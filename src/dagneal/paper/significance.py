"""Tests of whether our runs differ from the paper's runs, and how large a difference they would detect.

All tests compare many of our runs with few runs of the paper. They make no assumption about the distribution of the runs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.01  # a difference is significant if its adjusted p-value is below this value
POWER = 0.8  # probability with which a detectable difference is found
_SUBSETS = 4000  # number of random subsets of our runs
_TRIALS = 100  # number of simulated sets of the paper's runs


def permutation_p(ours: Sequence[int], published: Sequence[int]) -> float:
    """Return the p-value of an exact two-sided permutation test of equal means.

    The p-value is the share of all subsets of the pooled runs, with as many runs as the paper has, whose sum is at least as
    far from its expectation as the sum of the paper's runs.

    Args:
        ours: one count for each of our runs.
        published: one count for each of the paper's runs.

    >>> permutation_p((4, 2, 4, 1, 3), (1, 4, 4, 1, 2)), round(permutation_p((22,) * 10, (16,) * 5), 5)
    (0.8571428571428571, 0.00033)
    """
    pooled = (*ours, *published)
    total, size = sum(pooled), len(published)
    ways = np.zeros((size + 1, total + 1))  # ways[m, s]: number of subsets with m runs and the sum s
    ways[0, 0] = 1.0
    for count in pooled:
        ways[1:, count:] += ways[:-1, : total + 1 - count].copy()
    expected = size * total / len(pooled)
    far = np.abs(np.arange(total + 1) - expected) >= abs(sum(published) - expected) - 1e-9
    return float(ways[size, far].sum() / ways[size].sum())


def adjust(p_values: Sequence[float]) -> list[float]:
    """Return p-values that are adjusted for the number of tests by Holm's method.

    Args:
        p_values: p-values of all tests.

    >>> adjust([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(np.argsort(p_values, kind="stable").tolist()):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def distinct_counts(found: NDArray[np.bool_], size: int) -> NDArray[np.int64]:
    """Return the number of distinct edges in random subsets of runs.

    Args:
        found: whether each run found each edge, shape (runs, edges).
        size: number of runs per subset.
    """
    generator = np.random.default_rng(0)
    chosen = generator.permuted(np.broadcast_to(np.arange(len(found)), (_SUBSETS, len(found))), axis=1)[:, :size]
    counts: NDArray[np.int64] = found[chosen].any(axis=1).sum(axis=1)
    return counts


def predict_distinct(found: NDArray[np.bool_], size: int) -> NDArray[np.int64]:
    """Return predictions of the number of distinct edges in a set of new runs.

    They are the numbers of random subsets of our runs, with two corrections for the finite number n of our runs. Subsets of
    n runs vary less than independent sets: their variance is smaller by a factor of (n - size) / n. The mean of our runs has
    an error, whose variance is size / n of that of a set. So the deviations from the mean are multiplied by sqrt((n + size)
    / (n - size)). Each new run may also have an edge that none of our runs has. By the rule of succession, the probability
    is 1 / (n + 2).

    Args:
        found: whether each of our runs found each edge, shape (runs, edges). There are at least `2 * size` runs.
        size: number of new runs.
    """
    counts, runs = distinct_counts(found, size), len(found)
    unseen = np.random.default_rng(1).binomial(size, 1 / (runs + 2), _SUBSETS)
    spread = np.sqrt((runs + size) / (runs - size))
    predicted: NDArray[np.int64] = np.rint(counts.mean() + (counts - counts.mean()) * spread).astype(np.int64) + unseen
    return predicted


def distinct_p(predicted: NDArray[np.int64], published: int) -> float:
    """Return the two-sided p-value of the paper's number of distinct edges.

    Args:
        predicted: predictions; see `predict_distinct`.
        published: number of distinct edges in all of the paper's runs together.

    >>> distinct_p(predict_distinct(np.ones((10, 3), dtype=bool), 5), 3)
    1.0
    """
    return float(min(1.0, 2 * min((predicted <= published).mean(), (predicted >= published).mean())))


def accepted_counts(predicted: NDArray[np.int64], level: float) -> tuple[int, int]:
    """Return the smallest and the largest number of distinct edges that do not count as a difference.

    Args:
        predicted: predictions; see `predict_distinct`.
        level: largest p-value that counts as a difference.

    >>> accepted_counts(predict_distinct(np.ones((30, 3), dtype=bool), 5), 0.01)
    (3, 5)
    """
    counts = [count for count in range(int(predicted.max()) + 1) if distinct_p(predicted, count) >= level]
    return counts[0], counts[-1]


def detectable_difference(ours: Sequence[int], size: int, level: float) -> int:
    """Return the smallest difference of the means, in edges, that the permutation test detects with a probability of 80%.

    The paper's runs are simulated: they are random draws from our runs, plus the difference.

    Args:
        ours: one count for each of our runs.
        size: number of the paper's runs.
        level: largest p-value that counts as a difference.

    Returns:
        The difference, or 0 if no difference is ever detected.

    >>> detectable_difference((22,) * 10, 5, 0.01), detectable_difference((22,) * 5, 5, 0.001)
    (1, 0)
    """
    draws = np.random.default_rng(0).choice(ours, (_TRIALS, size))
    farthest = int(np.ptp(ours)) + 1  # all simulated runs are then above all of ours
    for difference in range(1, farthest + 1):
        detected = sum(permutation_p(ours, (draw + difference).tolist()) < level for draw in draws)
        if detected >= POWER * _TRIALS:
            return difference
    return 0
