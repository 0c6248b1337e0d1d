"""Read text files whose values are integers, without a header of column names.

Commas, spaces or tabs separate the values of a line. Unless the user names the columns, they are named `0`, `1`, `2` and so
on, as in the score files of BLIP. A .dat file of GOBNILP or BLIP may start with two more lines: the column names, and the
number of states of each column. The states of such a column are the integers from 0, also those that do not occur.
"""

from __future__ import annotations

import reprlib
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dagneal.base.errors import InputError
from dagneal.data.columns import check_states
from dagneal.data.datafile import Source, check_readable, read_lines

if TYPE_CHECKING:
    from dagneal.base.kernels import Ints

_DECLARED = ".dat"  # ending of files that may start with column names and numbers of states


def read_codes(path: Path, names: Sequence[str] | str) -> Source:
    """Read a text file of integers into memory.

    Args:
        path: path of the file, which may be compressed with gzip.
        names: column names, or `"index"` for the names in a .dat file, and for `0`, `1`, `2` and so on in other files.
    """
    import polars as pl

    check_readable(path)
    table = _Codes(path)
    for line, text in enumerate(read_lines(path), start=1):
        values = [value.strip() for value in text.split(",")] if "," in text else text.split()
        if values:
            table.add(line, values)
    rows = table.rows()
    series = [pl.Series(str(at), np.ascontiguousarray(rows[:, at])) for at in range(rows.shape[1])]
    for at, count in enumerate(table.counts):
        table.check_declared(at, rows[:, at], count)
        series[at] = series[at].cast(pl.String).cast(pl.Enum([str(state) for state in range(count)]))
    given = table.names if isinstance(names, str) else [str(name) for name in names]
    if len(given) != rows.shape[1]:
        raise InputError(f"names has length {len(given)}, but {path} has {rows.shape[1]} columns; give one name per column")
    return Source(str(path), given, (pl.DataFrame(series).lazy(),))


class _Codes:
    """The lines of a file of integers, as they are read.

    Attributes:
        path: path of the file, for errors.
        names: column names.
        counts: number of states of each column; empty if the file does not declare them.
        values: values of all rows, one after the other.
        places: line of each row.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.names: list[str] = []
        self.counts: list[int] = []
        self.values = array("q")
        self.places = array("q")
        self.has_names = False

    def add(self, line: int, values: list[str]) -> None:
        """Add a line of the file: column names, numbers of states, or a row."""
        if not self.names:
            endings = {suffix.lower() for suffix in self.path.suffixes}
            self.has_names = _DECLARED in endings and not all(map(_is_integer, values))
            self.names = values if self.has_names else [str(at) for at in range(len(values))]
            if self.has_names:
                return
        if len(values) != len(self.names):
            raise InputError(
                f"{self.path}, line {line}: the number of values is {len(values)}, but the first line has "
                f"{len(self.names)}; correct this line"
            )
        try:
            row = array("q", map(int, values))
        except (ValueError, OverflowError) as error:
            raise self._value_error(line, values) from error
        if self.has_names and not self.counts:
            self.counts = [self._state_count(line, at, count) for at, count in enumerate(row)]
        else:
            self.values.extend(row)
            self.places.append(line)

    def rows(self) -> Ints:
        """Return the rows as an array."""
        if not self.places:
            raise InputError(f"{self.path} has no rows; add at least one line of integers")
        return np.array(self.values, dtype=np.int64).reshape(len(self.places), len(self.names))

    def check_declared(self, at: int, column: Ints, count: int) -> None:
        """Raise an error if a column has a value that is not one of its declared states."""
        wrong = np.flatnonzero((column < 0) | (column >= count))
        if len(wrong):
            line = self.places[int(wrong[0])]
            raise InputError(
                f"{self.path}, line {line}, column {at + 1}: {column[wrong[0]]} is not a state of {self.names[at]!r}, which "
                f"has the states 0 to {count - 1} according to the second line; correct one of them"
            )

    def _state_count(self, line: int, at: int, count: int) -> int:
        """Return a declared number of states, if it is valid."""
        if count < 1:
            raise InputError(
                f"{self.path}, line {line}, column {at + 1}: {count} is not a number of states; the line after the column "
                "names has the number of states of each column"
            )
        check_states(str(self.path), self.names[at], count)
        return count

    def _value_error(self, line: int, values: list[str]) -> InputError:
        """Return the error for a line with a value that is not an integer, or too large."""
        at = next((at for at, value in enumerate(values) if not _is_integer(value)), None)
        if at is None:
            return InputError(f"{self.path}, line {line}: a number has more than 18 digits; use smaller numbers")
        advice = "give integers, separated by commas, spaces or tabs"
        if not self.places and not self.has_names:
            advice += "; if the first line has column names, read the file as CSV"
        return InputError(
            f"{self.path}, line {line}, column {at + 1}: {reprlib.repr(values[at])} is not an integer; {advice}"
        )


def _is_integer(text: str) -> bool:
    try:
        int(text)
    except ValueError:
        return False
    return True
