"""Terms: the contributions of counts to a score, computed or looked up.

The term of a count N is ln G(N + a) - ln G(a), where a is a pseudo-count and G is the gamma function. A negative value of a
requests the term N ln N instead.
"""

from __future__ import annotations

from math import lgamma, log

import numpy as np

from dagneal.base.kernels import Floats, Ints, kernel


def term_table(values: Floats, most: int) -> Floats:
    """Return a lookup table of terms, with one row for each pseudo-count and one column for each count.

    Args:
        values: pseudo-counts; negative for N ln N.
        most: largest count; -1 gives a table without columns, for few sums, whose terms are faster to compute.
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
    """Sum the terms of the counts of many sets.

    Args:
        counts: counts of all sets, one set after another.
        offsets: index in `counts` of each set's first count; the last value is the total number.
        which: array with one row per set and one column per sum. An entry is the index in `values` of the pseudo-count.
        values: pseudo-counts; negative for sums of N ln N.
        terms: result of `term_table`. If it has no columns, the terms are computed.
        sums: output array with the shape of `which`.
    """
    for index in range(len(sums)):
        own = counts[offsets[index] : offsets[index + 1]]
        for column in range(sums.shape[1]):
            line = which[index, column]
            sums[index, column] = sum_terms(own, values[line], terms[line])


@kernel
def sum_terms(counts: Ints, concentration: float, terms: Floats) -> float:
    """Return the sum of the terms of all nonzero counts. Kahan summation keeps it accurate for 10^9 rows."""
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
