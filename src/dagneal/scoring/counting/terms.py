"""Terms are the values that counts contribute to a score. They are computed, or looked up in a table.

The term of a count N is ln Gamma(N + alpha) - ln Gamma(alpha). Gamma is the gamma function and alpha is a pseudo-count. If
alpha is negative, the term is N ln N instead.
"""

from __future__ import annotations

from math import lgamma, log

import numpy as np

from dagneal.base.kernels import Floats, Ints, kernel


def term_table(values: Floats, most: int) -> Floats:
    """Return a lookup table with one row for each pseudo-count alpha and one column for each count N = 0, 1, ...

    The table contains the terms ln Gamma(N + alpha) - ln Gamma(alpha).

    Args:
        values: pseudo-counts alpha. If alpha is negative, the row contains N ln N instead.
        most: largest count N. -1 gives a table without columns; callers then compute the terms that they need.
    """
    table = np.empty((len(values), most + 1))
    _fill_terms(values, table)
    return table


@kernel
def _fill_terms(values: Floats, table: Floats) -> None:
    for line in range(len(values)):
        base = lgamma(values[line]) if values[line] >= 0.0 else 0.0
        for count in range(table.shape[1]):
            table[line, count] = _term(count, values[line], base)


@kernel
def _term(count: int, concentration: float, base: float) -> float:
    if count == 0:
        return 0.0
    return lgamma(count + concentration) - base if concentration >= 0.0 else count * log(count)


@kernel
def sum_set_terms(counts: Ints, offsets: Ints, which: Ints, values: Floats, terms: Floats, sums: Floats) -> None:
    """Write sums over the counts of each set of variables into `sums`.

    Each sum adds ln Gamma(N + alpha) - ln Gamma(alpha) for all nonzero counts N of a set. alpha is a pseudo-count, and
    Gamma is the gamma function.

    Args:
        counts: counts of all sets, one set after another.
        offsets: index in `counts` of each set's first count, followed by the length of `counts`.
        which: array with one row per set and one column per sum. Each value is the index in `values` of the pseudo-count.
        values: pseudo-counts. A negative value requests the sum of N ln N instead.
        terms: result of `term_table(values, ...)`. If it has no columns, the logarithms are computed here.
        sums: output array with the shape of `which`.
    """
    for index in range(len(sums)):
        own = counts[offsets[index] : offsets[index + 1]]
        for column in range(sums.shape[1]):
            line = which[index, column]
            sums[index, column] = sum_terms(own, values[line], terms[line])


@kernel
def sum_terms(counts: Ints, concentration: float, terms: Floats) -> float:
    """Return the sum of ln Gamma(N + alpha) - ln Gamma(alpha) over all nonzero counts N.

    Kahan summation keeps the sum accurate even for data with 10^9 rows.

    Args:
        counts: counts N.
        concentration: pseudo-count alpha. A negative value requests the sum of N ln N instead.
        terms: row of `term_table` for this pseudo-count; if it is empty, the logarithms are computed here.
    """
    total = 0.0
    lost = 0.0
    base = lgamma(concentration) if concentration >= 0.0 else 0.0
    for count in counts:
        if count > 0:
            term = terms[count] if len(terms) else _term(count, concentration, base)
            corrected = term - lost
            grown = total + corrected
            lost = (grown - total) - corrected
            total = grown
    return total
