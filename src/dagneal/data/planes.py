"""Bit planes: arrays of bits that show in which rows a variable has a certain state.

For variables with few states, bit planes need less memory than codes, and `dagneal.scoring.counting.bitwise` counts 64 rows
with one instruction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Codes, Ints, Masks, kernel

MAX_PLANE_STATES = 9  # with more states, codes need less memory than bit planes


@dataclass(frozen=True, eq=False)
class Planes:
    """The bit planes of several variables.

    Attributes:
        words: array of 64-bit words. Each row of the array is a plane, which belongs to one state of one variable. The plane
            has one bit for each row of the table: 1 if the variable has this state in the row. The first state of a variable
            has no plane. A variable with more than 9 states has no planes.
        first: array with the index of the first plane of each variable, followed by the total number of planes.
        rows: number of rows of the table; bits after the last row are 0.
    """

    words: Masks
    first: Ints
    rows: int

    @classmethod
    def from_codes(cls, codes: Codes, arities: Ints) -> Planes:
        """Convert the codes of variables to bit planes.

        Args:
            codes: array of shape (variables, rows). An entry is the index of a state.
            arities: number of states of each variable.

        >>> planes = Planes.from_codes(np.array([[0, 1, 1], [2, 1, 0]], dtype=np.uint8), np.array([2, 3]))
        >>> planes.words.tolist(), planes.first.tolist()
        ([[6], [2], [1]], [0, 1, 3])
        """
        planes = empty(arities, codes.shape[1])
        for variable, line in enumerate(codes):
            planes.fill(variable, 0, line)
        return planes

    def fill(self, variable: int, begin: int, line: Codes) -> None:
        """Store the codes of a variable in a range of rows. The bits of this range must be 0 before the call.

        Args:
            variable: index of the variable.
            begin: first row of the range.
            line: codes of the variable in these rows.
        """
        planes = self.words[self.first[variable] : self.first[variable + 1]]
        if begin % 64:
            _pack(np.ascontiguousarray(line), planes, begin)
            return
        for state, plane in enumerate(planes, start=1):
            bits = np.packbits(line == state, bitorder="little")
            plane[begin // 64 :].view(np.uint8)[: len(bits)] = bits  # assumes a little-endian machine

    def codes(self, variable: int, begin: int, end: int) -> NDArray[np.uint8]:
        """Return the codes of a variable in a range of rows.

        Args:
            variable: index of a variable that has planes.
            begin: first row of the range; a multiple of 64.
            end: row after the last row of the range.
        """
        codes = np.zeros(end - begin, dtype=np.uint8)
        for state, plane in enumerate(self.words[self.first[variable] : self.first[variable + 1]], start=1):
            bits = plane[begin // 64 : -(-end // 64)].view(np.uint8)
            codes += np.unpackbits(bits, count=end - begin, bitorder="little") * np.uint8(state)
        return codes

    def constant(self, variable: int) -> bool:
        """Return whether a variable has the same state in all rows.

        Args:
            variable: index of a variable that has planes.
        """
        planes = self.words[self.first[variable] : self.first[variable + 1]]
        counts = np.bitwise_count(planes).sum(axis=1, dtype=np.int64)
        return bool(counts.sum() == 0 or (counts == self.rows).any())


def empty(arities: Ints, rows: int) -> Planes:
    """Return bit planes in which all bits are 0.

    Args:
        arities: number of states of each variable.
        rows: number of rows.
    """
    count = _count_planes(arities)
    return Planes(np.zeros((int(count.sum()), -(-rows // 64)), dtype=np.uint64), np.append(0, np.cumsum(count)), rows)


def size_of(arities: Ints, rows: int) -> int:
    """Return the number of bytes that bit planes need.

    Args:
        arities: number of states of each variable.
        rows: number of rows.
    """
    return int(_count_planes(arities).sum()) * 8 * -(-rows // 64)


def _count_planes(arities: Ints) -> Ints:
    """Return the number of planes of each variable."""
    return np.where(arities <= MAX_PLANE_STATES, arities - 1, 0)


@kernel
def _pack(line: Codes, planes: Masks, begin: int) -> None:
    """Store the codes in `line` in the bit planes of a variable. The first code belongs to the row `begin`."""
    one = np.uint64(1)
    for row in range(len(line)):
        state = line[row]
        if state > 0:
            planes[state - 1, (begin + row) >> 6] |= one << np.uint64((begin + row) & 63)
