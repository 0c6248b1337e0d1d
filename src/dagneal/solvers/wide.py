"""Wide numbers: numbers of at least 0 with a range that no logarithm of a score exceeds.

Sums over networks add and multiply numbers such as exp(-30,000). A float cannot represent them, and logarithms would make
each addition slow and lose digits. So a wide number is a pair of floats: m and a whole number k stand for m R^k, where
R = 2^256. A normal number has 1 <= m < R. After additions m may be larger, up to 2^60 R. Zero is (0, ZERO).

If the exponents k differ by 2 or more, the smaller number is lost in an addition. It is less than 2^-190 times the larger
number, so the sum is still correct to the last bit. Exponents are floats, because loops with numbers of one size are faster.
"""

from __future__ import annotations

import numpy as np

from dagneal.base.kernels import Floats, Ints, kernel

RADIX = 2.0**256
LOG_RADIX = 256 * float(np.log(2.0))
ZERO = -1e12  # exponent of zero
_INVERSE = 1.0 / RADIX


def to_wide(logs: Floats) -> tuple[Floats, Floats]:
    """Return wide numbers with the given natural logarithms.

    Args:
        logs: natural logarithms; minus infinity stands for zero.

    >>> to_wide(np.array([0.0, -np.inf]))
    (array([1., 0.]), array([ 0.e+00, -1.e+12]))
    """
    finite = np.isfinite(logs)
    safe = np.where(finite, logs, 0.0)
    exponents = np.floor(safe / LOG_RADIX)
    mantissas = np.where(finite, np.exp(safe - exponents * LOG_RADIX), 0.0)
    return mantissas, np.where(finite, exponents, ZERO)


def wide_zeros(size: int) -> tuple[Floats, Floats]:
    """Return wide numbers that are all zero.

    Args:
        size: number of wide numbers.
    """
    return np.zeros(size), np.full(size, ZERO)


def to_logs(mantissas: Floats, exponents: Floats) -> Floats:
    """Return the natural logarithms of wide numbers; minus infinity for zero.

    Args:
        mantissas: float of each number.
        exponents: exponent of each number.
    """
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(mantissas) + exponents * LOG_RADIX
    return logs


@kernel
def shift(difference: float) -> float:
    """Return R^difference for a difference of 0 or -1, 0 for a lower difference, and 1 for a higher difference."""
    return 1.0 if difference >= 0.0 else (_INVERSE if difference == -1.0 else 0.0)


@kernel
def power(difference: float) -> float:
    """Return R^difference as a float; 0 if the difference is below -3."""
    result = 1.0
    if difference < -3.0:
        return 0.0
    while difference < 0.0:
        result *= _INVERSE
        difference += 1.0
    while difference > 0.0:
        result *= RADIX
        difference -= 1.0
    return result


@kernel
def add_arrays(mantissas: Floats, exponents: Floats, others: Floats, other_exponents: Floats) -> None:
    """Add the wide numbers `others` to the wide numbers `mantissas`."""
    for i in range(len(mantissas)):
        difference = exponents[i] - other_exponents[i]
        mantissas[i] = mantissas[i] * shift(difference) + others[i] * shift(-difference)
        exponents[i] = max(exponents[i], other_exponents[i])


@kernel
def add_products(
    mantissas: Floats, exponents: Floats, first: Floats, first_exponents: Floats, second: Floats, second_exponents: Floats
) -> None:
    """Add the products of two arrays of wide numbers, which are below 2^60 R, to the wide numbers `mantissas`."""
    for i in range(len(mantissas)):
        product = first[i] * second[i]
        large = product >= RADIX
        product *= _INVERSE if large else 1.0
        exponent = first_exponents[i] + second_exponents[i] + (1.0 if large else 0.0)
        difference = exponents[i] - exponent
        mantissas[i] = mantissas[i] * shift(difference) + product * shift(-difference)
        exponents[i] = max(exponents[i], exponent)


@kernel
def sum_over_subsets(mantissas: Floats, exponents: Floats) -> None:
    """Replace each number by the sum of the numbers of all subsets. The index of a set is its bit mask."""
    flag = 1
    while flag < len(mantissas):
        for begin in range(0, len(mantissas), 2 * flag):
            middle, end = begin + flag, begin + 2 * flag
            add_arrays(mantissas[middle:end], exponents[middle:end], mantissas[begin:middle], exponents[begin:middle])
        flag *= 2


@kernel
def sum_over_supersets(mantissas: Floats, exponents: Floats) -> None:
    """Replace each number by the sum of the numbers of all supersets. The index of a set is its bit mask."""
    flag = 1
    while flag < len(mantissas):
        for begin in range(0, len(mantissas), 2 * flag):
            middle, end = begin + flag, begin + 2 * flag
            add_arrays(mantissas[begin:middle], exponents[begin:middle], mantissas[middle:end], exponents[middle:end])
        flag *= 2


@kernel
def normalise(mantissas: Floats, exponents: Floats) -> None:
    """Make wide numbers normal, if they are below R^2 and not between 0 and 1."""
    for i in range(len(mantissas)):
        large = mantissas[i] >= RADIX
        mantissas[i] *= _INVERSE if large else 1.0
        exponents[i] += 1.0 if large else 0.0


@kernel
def family_sums(masks: Ints, weights: Floats, tiers: Floats, sums: Floats, sum_tiers: Floats) -> None:
    """Write the sums of the weights of all subsets of each set to `sums`. The index of a set is its bit mask.

    The weight of the set `masks[i]` is the wide number (weights[i], tiers[i]). Other sets have the weight 0.
    """
    for w in range(len(sums)):
        sums[w] = 0.0
        sum_tiers[w] = ZERO
    for entry in range(len(masks)):
        sums[masks[entry]] = weights[entry]
        sum_tiers[masks[entry]] = tiers[entry]
    sum_over_subsets(sums, sum_tiers)
    normalise(sums, sum_tiers)
