"""Storage of rows as bits, for long tables whose rows are mostly distinct. A value takes a few bits instead of bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Codes, Ints
from dagneal.base.machine import check_memory
from dagneal.data.planes import MAX_PLANE_STATES, Planes, empty, size_of

CHUNK = 1 << 18  # rows that are unpacked at a time; a multiple of 64


@dataclass(frozen=True, eq=False)
class PackedRows:
    """The codes of all rows of a table, stored as bits. An index `[i]` returns the codes of column `i` as an array.

    Attributes:
        planes: bit planes of the columns with at most 9 states.
        wide: mapping from the indices of all other columns to arrays of their codes.
    """

    planes: Planes
    wide: dict[int, Codes] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        """The tuple (number of columns, number of rows)."""
        return len(self.planes.first) - 1, self.planes.rows

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, column: int) -> Codes:
        return self.line(column, 0, self.planes.rows)

    def __iter__(self) -> Iterator[Codes]:
        return (self[column] for column in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        columns, rows = self.shape
        check_memory(columns * rows * 2, f"unpacking {rows:,} rows of {columns} columns", "use fewer rows")
        return np.array(list(self), dtype=dtype)

    def line(self, column: int, begin: int, end: int) -> Codes:
        """Return the codes of a column for a range of rows.

        Args:
            column: index of the column.
            begin: first row of the range; a multiple of 64.
            end: row after the last row of the range.
        """
        if column in self.wide:
            return self.wide[column][begin:end]
        return self.planes.codes(column, begin, end)

    def constant(self, column: int) -> bool:
        """Return whether a column has the same state in all rows.

        Args:
            column: index of the column.
        """
        wide = self.wide.get(column)
        return self.planes.constant(column) if wide is None else bool((wide == wide[0]).all())

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Yield tuples (first row, row after the last row) of ranges that together cover all rows."""
        rows = self.planes.rows
        return ((begin, min(begin + CHUNK, rows)) for begin in range(0, rows, CHUNK))


class Packer:
    """Builds `PackedRows` from batches of rows.

    Args:
        arities: number of states of each column.
        rows: maximum number of rows.

    >>> packer = Packer(np.array([2, 300]), 3)
    >>> packer.add([np.array([0, 1]), np.array([299, 0])])
    >>> packer.add([np.array([1]), np.array([7])])
    >>> [line.tolist() for line in packer.finish()]
    [[0, 1, 1], [299, 0, 7]]
    """

    def __init__(self, arities: Ints, rows: int) -> None:
        check_memory(
            size_needed(arities, rows), f"storing {rows:,} rows of {len(arities)} columns", "use fewer rows or columns"
        )
        self.planes = empty(arities, rows)
        self.wide: dict[int, Codes] = {
            column: np.empty(rows, dtype=np.uint8 if arity <= 256 else np.uint16)
            for column, arity in enumerate(arities)
            if arity > MAX_PLANE_STATES
        }
        self.rows = 0

    def add(self, codes: list[Codes]) -> None:
        """Append a batch of rows.

        Args:
            codes: for each column, an array with the codes of the rows.
        """
        for column, line in enumerate(codes):
            if column in self.wide:
                self.wide[column][self.rows : self.rows + len(line)] = line
            else:
                self.planes.fill(column, self.rows, line)
        self.rows += len(codes[0])

    def finish(self) -> PackedRows:
        """Return all appended rows as `PackedRows`."""
        words = self.planes.words[:, : -(-self.rows // 64)]
        return PackedRows(
            Planes(words, self.planes.first, self.rows), {column: line[: self.rows] for column, line in self.wide.items()}
        )


def size_needed(arities: Ints, rows: int) -> int:
    """Return the number of bytes that packed rows need.

    Args:
        arities: number of states of each column.
        rows: number of rows.
    """
    wide = arities[arities > MAX_PLANE_STATES]
    return size_of(arities, rows) + int(np.where(wide <= 256, 1, 2).sum()) * rows
