"""Regrets of normalised maximum likelihood (NML), which the scores fNML and qNML subtract.

The NML probability of N values with r states is their maximum likelihood divided by C(N, r), the sum of the maximum
likelihoods of all sequences of N values. The regret is ln C(N, r). Kontkanen and Myllymaki (2007) give the recurrence

    C(N, r + 2) = C(N, r + 1) + N / r C(N, r),        C(N, 1) = 1.

Dividing it by C(N, r + 1) gives a recurrence for the ratio of two successive values, so large values do not overflow. All
its terms are positive, so it is accurate to rounding errors. C(N, 2) = 1 + Q(N), where Q is Ramanujan's function: the sum
of N (N - 1) ... (N - b + 1) / N^b over b = 1 ... N. For many values, its asymptotic expansion is as accurate as the sum.

For more than 2^20 states, Szpankowski's approximation is used (Szpankowski and Weinberger 2012). It is too large by about
1 / (6 r) at most, which is less than 2e-7 nats. This was found by comparison with the recurrence.
"""

from __future__ import annotations

from functools import lru_cache
from math import log, pi, sqrt

import numpy as np

from dagneal.base.kernels import Floats, kernel

MAX_STATES = 1 << 20  # up to this number of states, regrets are exact
_FEW = 4096  # from this number of values on, the expansion of C(N, 2) is accurate to 1e-13


def multinomial_regrets(values: int, states: Floats) -> Floats:
    """Return the regrets ln C(`values`, r) for numbers of states r; 0 for r = 0.

    Args:
        values: number of values; at least 1.
        states: whole numbers of states.

    >>> np.exp(multinomial_regrets(2, np.array([1.0, 2.0, 3.0]))).round(3).tolist()
    [1.0, 2.5, 4.5]
    """
    exact = states <= MAX_STATES
    # A power of two, so that successive calls need few different tables.
    most = min(1 << int(states[exact].max(initial=2.0)).bit_length(), MAX_STATES)
    regrets: Floats = _table(values, most)[np.where(exact, states, 0.0).astype(np.int64)]
    if not exact.all():
        regrets[~exact] = _approximate(values, states[~exact])
    return regrets


@lru_cache(maxsize=4)
def _table(values: int, states: int) -> Floats:
    """Return the regrets for up to this number of states. The index is the number of states."""
    regrets = np.zeros(states + 1)
    _write_regrets(values, regrets)
    regrets.flags.writeable = False
    return regrets


def _approximate(values: int, states: Floats) -> Floats:
    """Return Szpankowski's approximation of regrets, for many states.

    With a = r / N and c = (1 + sqrt(1 + 4 / a)) / 2, it is N (ln a + (a + 2) ln c - 1 / c) - ln(c + 2 / a) / 2. Here,
    ln a + 2 ln c is computed as 2 arsinh(sqrt(a) / 2), and ln c from c - 1, which is more accurate for small and large a.
    """
    ratio = states / values
    root = np.sqrt(1.0 + 4.0 / ratio)
    inner = 0.5 + 0.5 * root
    per_value = 2.0 * np.arcsinh(0.5 * np.sqrt(ratio)) + ratio * np.log1p(2.0 / ratio / (1.0 + root)) - 1.0 / inner
    regrets: Floats = values * per_value - 0.5 * np.log(inner + 2.0 / ratio)
    return regrets


@kernel
def nml_regret(values: int, states: int) -> float:
    """Return ln C(`values`, `states`).

    Args:
        values: number of values; at least 1.
        states: number of states; at least 1.
    """
    if states == 1:
        return 0.0
    ratio = _two_states(values)
    regret = log(ratio)
    for before in range(1, states - 1):
        ratio = 1.0 + values / before / ratio
        regret += log(ratio)
    return regret


@kernel
def _write_regrets(values: int, regrets: Floats) -> None:
    """Write ln C(`values`, r) for r = 2, 3, ... into `regrets`, which contains zeros. The index is r."""
    ratio = _two_states(values)
    total, lost = log(ratio), 0.0  # Kahan's summation, because there can be a million terms
    regrets[2] = total
    for states in range(3, len(regrets)):
        ratio = 1.0 + values / (states - 2) / ratio
        term = log(ratio) - lost
        larger = total + term
        lost = (larger - total) - term
        total = larger
        regrets[states] = total


@kernel
def _two_states(values: int) -> float:
    """Return C(`values`, 2)."""
    if values >= _FEW:
        root = sqrt(0.5 * pi / values)
        expansion = root * (values + 1.0 / 12.0 + 1.0 / (288.0 * values))
        return expansion + 2.0 / 3.0 - 4.0 / (135.0 * values) + 8.0 / (2835.0 * values * values)
    term = total = 1.0
    for before in range(values):
        term *= (values - before) / values
        total += term
    return total
