"""Bit planes: for each variable and state a bit for each row.

Rows take less room this way, and `dagneal.scoring.counting.bitwise` counts 64 of them with one instruction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Codes, Ints, Masks, kernel

WIDEST = 9  # states, beyond which the code of a row takes less room than its bits


@dataclass(frozen=True, eq=False)
class Planes:
    """Rows as bits.

    Attributes:
        words: shape (planes, words); the planes of a variable are one for each state but the first.
        first: which planes those of each variable are; none for a variable with more than 9 states.
        rows: how many rows there are; bits beyond are 0.
    """

    words: Masks
    first: Ints
    rows: int

    @classmethod
    def of(cls, codes: Codes, arities: Ints) -> Planes:
        """Pack the codes of rows.

        Args:
            codes: shape (variables, rows).
            arities: the number of states of each variable.

        >>> planes = Planes.of(np.array([[0, 1, 1], [2, 1, 0]], dtype=np.uint8), np.array([2, 3]))
        >>> planes.words.tolist(), planes.first.tolist()
        ([[6], [2], [1]], [0, 1, 3])
        """
        planes = empty(arities, codes.shape[1])
        for variable, line in enumerate(codes):
            planes.fill(variable, 0, line)
        return planes

    def fill(self, variable: int, begin: int, line: Codes) -> None:
        """Set the bits of a variable in some rows, which must not have been set before.

        Args:
            variable: which.
            begin: the first of these rows.
            line: its codes there.
        """
        own = self.words[self.first[variable] : self.first[variable + 1]]
        if begin % 64:
            _pack(np.ascontiguousarray(line), own, begin)
            return
        for state, plane in enumerate(own, start=1):
            found = np.packbits(line == state, bitorder="little")
            plane[begin // 64 :].view(np.uint8)[: len(found)] = found  # words are little-endian wherever this runs

    def codes(self, variable: int, begin: int, end: int) -> NDArray[np.uint8]:
        """The codes of a variable in some rows.

        Args:
            variable: one with planes.
            begin: the first row, a multiple of 64.
            end: the first row that is not wanted.
        """
        found = np.zeros(end - begin, dtype=np.uint8)
        for state, plane in enumerate(self.words[self.first[variable] : self.first[variable + 1]], start=1):
            some = plane[begin // 64 : -(-end // 64)].view(np.uint8)
            found += np.unpackbits(some, count=end - begin, bitorder="little") * np.uint8(state)
        return found

    def constant(self, variable: int) -> bool:
        """Whether a variable has the same state in all rows.

        Args:
            variable: one with planes.
        """
        own = self.words[self.first[variable] : self.first[variable + 1]]
        counts = np.bitwise_count(own).sum(axis=1, dtype=np.int64)
        return bool(counts.sum() == 0 or (counts == self.rows).any())


def empty(arities: Ints, rows: int) -> Planes:
    """Planes without a bit set.

    Args:
        arities: the number of states of each variable.
        rows: how many rows there will be.
    """
    count = _planes(arities)
    return Planes(np.zeros((int(count.sum()), -(-rows // 64)), dtype=np.uint64), np.append(0, np.cumsum(count)), rows)


def size_of(arities: Ints, rows: int) -> int:
    """The memory that planes take, in bytes.

    Args:
        arities: the number of states of each variable.
        rows: how many rows there are.
    """
    return int(_planes(arities).sum()) * 8 * -(-rows // 64)


def _planes(arities: Ints) -> Ints:
    """How many planes each variable has."""
    return np.where(arities <= WIDEST, arities - 1, 0)


@kernel
def _pack(line: Codes, own: Masks, begin: int) -> None:
    one = np.uint64(1)
    for row in range(len(line)):
        state = line[row]
        if state > 0:
            own[state - 1, (begin + row) >> 6] |= one << np.uint64((begin + row) & 63)
