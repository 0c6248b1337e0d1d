"""Rows that are kept as bits, for tables too long to be merged: some bits for each cell instead of a byte and more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Codes, Ints
from dagneal.base.machine import check_room
from dagneal.data.planes import WIDEST, Planes, empty, size_of

PART = 1 << 18  # rows that are unpacked at a time, a multiple of 64


@dataclass(frozen=True, eq=False)
class PackedRows:
    """Codes of rows, to be read like an array of shape (columns, rows).

    Attributes:
        planes: the columns of few states, as bits.
        wide: the codes of the others, by position.
    """

    planes: Planes
    wide: dict[int, Codes] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        """How many columns and rows there are."""
        return len(self.planes.first) - 1, self.planes.rows

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, column: int) -> Codes:
        return self.line(column, 0, self.planes.rows)

    def __iter__(self) -> Iterator[Codes]:
        return (self[column] for column in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        columns, rows = self.shape
        check_room(columns * rows * 2, f"unpacking {rows:,} rows of {columns} columns", "take fewer rows")
        return np.array(list(self), dtype=dtype)

    def line(self, column: int, begin: int, end: int) -> Codes:
        """The codes of a column in some rows.

        Args:
            column: its position.
            begin: the first row, a multiple of 64.
            end: the first row that is not wanted.
        """
        if column in self.wide:
            return self.wide[column][begin:end]
        return self.planes.codes(column, begin, end)

    def constant(self, column: int) -> bool:
        """Whether a column has the same state in all rows.

        Args:
            column: its position.
        """
        wide = self.wide.get(column)
        return self.planes.constant(column) if wide is None else bool((wide == wide[0]).all())

    def parts(self) -> Iterator[tuple[int, int]]:
        """Rows from and to, a part of them at a time."""
        rows = self.planes.rows
        return ((begin, min(begin + PART, rows)) for begin in range(0, rows, PART))


class Packer:
    """Makes packed rows, some at a time.

    Args:
        arities: the number of states of each column.
        rows: the most rows there will be.

    >>> packer = Packer(np.array([2, 300]), 3)
    >>> packer.add([np.array([0, 1]), np.array([299, 0])])
    >>> packer.add([np.array([1]), np.array([7])])
    >>> [line.tolist() for line in packer.finish()]
    [[0, 1, 1], [299, 0, 7]]
    """

    def __init__(self, arities: Ints, rows: int) -> None:
        check_room(
            size_needed(arities, rows), f"keeping {rows:,} rows of {len(arities)} columns", "take fewer rows or columns"
        )
        self.planes = empty(arities, rows)
        self.wide: dict[int, Codes] = {
            column: np.empty(rows, dtype=np.uint8 if arity <= 256 else np.uint16)
            for column, arity in enumerate(arities)
            if arity > WIDEST
        }
        self.rows = 0

    def add(self, codes: list[Codes]) -> None:
        """Take in some rows.

        Args:
            codes: those of each column.
        """
        for column, line in enumerate(codes):
            if column in self.wide:
                self.wide[column][self.rows : self.rows + len(line)] = line
            else:
                self.planes.fill(column, self.rows, line)
        self.rows += len(codes[0])

    def finish(self) -> PackedRows:
        """All that was taken in."""
        words = self.planes.words[:, : -(-self.rows // 64)]
        return PackedRows(
            Planes(words, self.planes.first, self.rows), {column: line[: self.rows] for column, line in self.wide.items()}
        )


def size_needed(arities: Ints, rows: int) -> int:
    """The memory that packed rows take, in bytes.

    Args:
        arities: the number of states of each column.
        rows: how many.
    """
    wide = arities[arities > WIDEST]
    return size_of(arities, rows) + int(np.where(wide <= 256, 1, 2).sum()) * rows
