"""Terms are the values that counts contribute to a score. A table keeps the terms that were computed.

The term of a count N is ln Gamma(N + alpha) - ln Gamma(alpha). Gamma is the gamma function and alpha is a pseudo-count. If
alpha is -r for a whole number r, the term is N ln N + ln C(N, r) instead, where ln C(N, r) is the regret of r states (see
`dagneal.scoring.regret`). It is 0 for one state, so -1 gives N ln N. If alpha is `OCCURRING`, the term is 1, so the sum is
the number of state combinations that occur in the data.

Terms are summed as integers, because a sum of integers does not depend on the order of its terms. So the sum of a set of
variables is always exactly the same: for both ways of counting, for any order of its members, in any request and with any
number of threads. Terms are measured in a unit, which is a power of 2. It is so small that the largest possible sum has 62
bits. Each term is split into a whole number of units and a rest, which is measured in units that are smaller by a factor of
2^30. Both parts are summed. So a sum is as accurate as its terms, even for data with 10^9 rows.
"""

from __future__ import annotations

from itertools import count
from math import frexp, lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints, kernel
from dagneal.scoring.regret import nml_regret

OCCURRING = -0.5
_MAX_TERMS = 1 << 22  # most terms in a table: 32 MB
_COLUMNS = 4096  # larger counts have no column, because a set has few of them
_SUM_BITS = 62
_REST = 2.0**30  # smaller units in a unit
_ZERO = 1e-300  # stored for a term that is 0, because 0 marks a term that is not computed yet


class TermTable:
    """A table of terms. Kernels compute a term when they need it for the first time.

    Several threads can use the table at the same time, because they all write the same terms.

    Args:
        rows: number of rows of the data, which is the largest possible count.
        lines: least number of pseudo-counts for which the table has space.

    Attributes:
        terms: array with one line per pseudo-count and one column for each count N = 0, 1, ... A value is a term in units,
            or 0 if the term is not computed yet.
        parameters: array with one line per pseudo-count alpha. The columns are alpha, ln Gamma(alpha), and the number of
            units in 1.
    """

    def __init__(self, rows: int, lines: int = 1) -> None:
        columns = min(rows + 1, _COLUMNS)
        lines = max(lines, _MAX_TERMS // columns)
        self.rows = rows
        self.terms: Floats = np.zeros((lines, columns))
        self.parameters: Floats = np.zeros((lines, 3))
        self._lines: dict[float, int] = {}
        self._free = count()

    def __reduce__(self) -> tuple[type[TermTable], tuple[int]]:
        """Pickle the table without its terms."""
        return TermTable, (self.rows,)

    def lines(self, values: Floats) -> Ints | None:
        """Return the lines of pseudo-counts. Return None if the table has too little space.

        Args:
            values: pseudo-counts.
        """
        lines = []
        for value in values.tolist():
            line = self._lines.get(value)
            if line is None:
                line = next(self._free)
                if line >= len(self.terms):
                    return None
                self.parameters[line] = value, _base(value), _units(value, self.rows)
                line = self._lines.setdefault(value, line)  # another thread may have added the pseudo-count meanwhile
            lines.append(line)
        return np.array(lines, dtype=np.int64)


def _units(value: float, rows: int) -> float:
    """Return the number of units in 1 for a pseudo-count. It is a power of 2."""
    # The term of N is the sum of N logarithms between ln(alpha) and ln(alpha + N). The term N ln N is at most N ln(rows),
    # and the regret is at most N ln(r), because each of r^N sequences adds at most 1 to C(N, r).
    largest = max(abs(log(value)), abs(log(value + rows))) if value >= 0.0 else log(rows * max(1.0, -value))
    return 2.0 ** (_SUM_BITS - frexp(max(1.0, rows * largest))[1])


@kernel
def _base(value: float) -> float:
    """Return ln Gamma(alpha). Python's `lgamma` is rounded differently, so it is computed in a kernel like the terms."""
    return lgamma(value) if value >= 0.0 else 0.0


@kernel
def sum_set_terms(counts: Ints, offsets: Ints, lines: Ints, terms: Floats, parameters: Floats, sums: Floats) -> None:
    """Write sums over the counts of each set of variables into `sums`.

    Each sum adds ln Gamma(N + alpha) - ln Gamma(alpha) for all nonzero counts N of a set. alpha is a pseudo-count, and
    Gamma is the gamma function.

    Args:
        counts: counts of all sets, one set after another.
        offsets: index in `counts` of each set's first count, followed by the length of `counts`.
        lines: array with one row per set and one column per sum. Each value is a line of a `TermTable`.
        terms: terms of the table.
        parameters: parameters of the table.
        sums: output array with the shape of `lines`.
    """
    for index in range(len(sums)):
        for column in range(sums.shape[1]):
            line = lines[index, column]
            sums[index, column] = sum_terms(counts, offsets[index], offsets[index + 1], line, terms, parameters)


@kernel
def sum_terms(counts: NDArray[np.integer[Any]], begin: int, end: int, line: int, terms: Floats, parameters: Floats) -> float:
    """Return the sum of ln Gamma(N + alpha) - ln Gamma(alpha) over all nonzero counts N in a range of an array.

    Args:
        counts: array of counts.
        begin: index of the first count.
        end: index after the last count.
        line: line of alpha in a `TermTable`.
        terms: terms of the table.
        parameters: parameters of the table.
    """
    total = rest = np.int64(0)
    for at in range(begin, end):
        number = np.int64(counts[at])
        if number == 0:
            continue
        term = look_up_term(number, line, terms, parameters)
        units = np.rint(term)
        total += np.int64(units)
        rest += np.int64((term - units) * _REST)
    return float((total + rest / _REST) / parameters[line, 2])


@kernel
def look_up_term(number: Any, line: int, terms: Floats, parameters: Floats) -> Any:
    """Return the term of a count in units. Store it if the table has a column for the count.

    Args:
        number: count.
        line: line of alpha in a `TermTable`.
        terms: terms of the table.
        parameters: parameters of the table.
    """
    if np.uint64(number) >= np.uint64(terms.shape[1]):
        return _term(number, line, parameters)
    term = terms[line, np.uint64(number)]
    if term == 0.0:
        term = _term(number, line, parameters)
        terms[line, np.uint64(number)] = term
    return term


@kernel
def _term(number: int, line: int, parameters: Floats) -> float:
    """Return the term of a count, in units."""
    if number == 0:
        return _ZERO
    value = parameters[line, 0]
    if value == OCCURRING:
        return float(parameters[line, 2])
    if value >= 0.0:
        term = lgamma(number + value) - parameters[line, 1]
    else:
        term = number * log(number) + nml_regret(number, int(-value))
    return term * parameters[line, 2] if term != 0.0 else _ZERO
