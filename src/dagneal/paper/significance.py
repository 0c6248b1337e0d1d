"""Tests of whether our runs differ from the paper's runs, and how large a difference they would detect.

All tests compare many of our runs with few runs of the paper. They make no assumption about the distribution of the runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from math import atan2, cos, pi, sin, sqrt

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
    for value in pooled:
        ways[1:, value:] += ways[:-1, : total + 1 - value].copy()
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


def outside_t(distance: float, degrees: int) -> float:
    """Return the probability that a variable with a t distribution is farther than a distance from 0.

    Finite sums exist for whole degrees of freedom: Abramowitz and Stegun, equations 26.7.3 and 26.7.4.

    Args:
        distance: distance from 0.
        degrees: degrees of freedom.

    >>> round(outside_t(2.776, 4), 4), round(outside_t(2.571, 5), 4)
    (0.05, 0.05)
    """
    angle = atan2(distance, sqrt(degrees))
    odd = degrees % 2
    term, total = (cos(angle), 0.0) if odd else (1.0, 0.0)
    for number in range(1 + odd, degrees, 2):
        total += term
        term *= cos(angle) ** 2 * number / (number + 1)
    inside = (angle + sin(angle) * total) * 2 / pi if odd else sin(angle) * total
    return max(0.0, 1.0 - inside)


def t_quantile(share: float, degrees: int) -> float:
    """Return the distance from 0 that a variable with a t distribution exceeds with a given probability.

    Args:
        share: probability of a larger distance, on either side.
        degrees: degrees of freedom.

    >>> round(t_quantile(0.05, 4), 3)
    2.776
    """
    low, high = 0.0, 1.0
    while outside_t(high, degrees) > share:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if outside_t(middle, degrees) > share else (low, middle)
    return high


@dataclass(frozen=True)
class Prediction:
    """Prediction of the number of distinct edges in a set of new runs.

    The prediction is a t distribution. Its mean is that of random subsets of our runs. Its variance is that of the subsets,
    with two corrections for the finite number n of our runs. Subsets of n runs vary less than independent sets: their
    variance is smaller by a factor of (n - size) / n. The mean of our runs has an error, whose variance is size / n of that
    of a set. Each new run may also have an edge that none of our runs has. By the rule of succession, the probability is
    1 / (n + 2). A share of random subsets would be no p-value, because it can be 0: ten runs have only 252 subsets of five.

    Attributes:
        mean: expected number of distinct edges.
        variance: variance of the number.
        degrees: degrees of freedom.
    """

    mean: float
    variance: float
    degrees: int

    def p_value(self, published: int) -> float:
        """Return the two-sided p-value of the paper's number of distinct edges, with a correction for continuity.

        Args:
            published: number of distinct edges in all of the paper's runs together.
        """
        distance = max(abs(published - self.mean) - 0.5, 0.0) / sqrt(self.variance)
        return outside_t(distance, self.degrees)

    def accepted_range(self, level: float, most: int) -> tuple[int, int]:
        """Return the smallest and the largest number of distinct edges that do not count as a difference.

        Args:
            level: largest p-value that counts as a difference.
            most: number of edges that can exist.
        """
        middle = min(round(self.mean), most)
        lowest = next(number for number in count(middle, -1) if not number or self.p_value(number - 1) < level)
        return lowest, next(n for n in count(middle) if n == most or self.p_value(n + 1) < level)


def predict_distinct(found: NDArray[np.bool_], size: int) -> Prediction:
    """Predict the number of distinct edges in a set of new runs.

    Args:
        found: whether each of our runs found each edge, shape (runs, edges). There are at least `2 * size` runs.
        size: number of new runs.

    >>> certain = predict_distinct(np.ones((30, 3), dtype=bool), 5)
    >>> certain.p_value(3), certain.accepted_range(0.01, 3)
    (1.0, (2, 3))
    """
    counts, runs = distinct_counts(found, size), len(found)
    unseen = 1 / (runs + 2)
    variance = float(counts.var()) * runs / (runs - size) * (1 + size / runs)
    return Prediction(float(counts.mean()) + size * unseen, variance + size * unseen * (1 - unseen), runs - 1)


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
