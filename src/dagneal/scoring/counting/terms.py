"""Terms: what a count adds to a score, ln G(N + a) - ln G(a) or N ln N, computed or looked up."""

from __future__ import annotations

from math import lgamma, log

import numpy as np

from dagneal.base.kernels import Floats, Ints, kernel


def terms_of(values: Floats, most: int) -> Floats:
    """The terms of sums, to be looked up.

    Args:
        values: pseudo-counts; negative for N ln N.
        most: the largest count; -1 for none, where there are too few sums for this to be worth it.
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
def add_up(counts: Ints, offsets: Ints, which: Ints, values: Floats, terms: Floats, sums: Floats) -> None:
    """Sum the terms of the counts of many sets.

    Args:
        counts: of all sets.
        offsets: where those of each set begin.
        which: for each sum that is wanted, the line of its terms.
        values: the pseudo-count of each line.
        terms: looked up; without columns they are computed.
        sums: the result, shaped like `which`.
    """
    for index in range(len(sums)):
        own = counts[offsets[index] : offsets[index + 1]]
        for column in range(sums.shape[1]):
            line = which[index, column]
            sums[index, column] = sum_of(own, values[line], terms[line])


@kernel
def sum_of(counts: Ints, concentration: float, terms: Floats) -> float:
    """Sum over the counts that are not zero, compensated (Kahan), so that 10^9 rows lose no digit that matters."""
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
