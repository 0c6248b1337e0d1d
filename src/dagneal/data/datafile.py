"""Functions that open CSV, TSV and Parquet files as lazy polars frames, and explain why a file cannot be read."""

from __future__ import annotations

import csv
import glob
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dagneal.base.errors import InputError
from dagneal.base.files import SCORE_FILES
from dagneal.data.dataset import MAX_STATES, SPACES
from dagneal.data.roles import may_be_row_numbers

if TYPE_CHECKING:
    import polars

    from dagneal.base.kernels import Ints

PARQUET = {".parquet", ".pq"}
SPREADSHEETS = {".xlsx", ".ods"}  # ZIP files that contain no CSV file
TEXT = {".csv", ".tsv", ".tab", ".txt"}
FOREIGN = {".xlsx", ".xls", ".ods", ".json", ".jsonl", ".feather", ".arrow", ".sav", ".dta", ".rds", ".zip", ".bz2", ".xz"}
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
_GZIP = b"\x1f\x8b"
COMPRESSIONS = {"Zstandard": b"\x28\xb5\x2f\xfd", "bzip2": b"BZh91AY&SY", "xz": b"\xfd7zXZ", "ZIP": b"PK\x03\x04"}
_ZLIB = (b"x\x01", b"x^", b"x\x9c", b"x\xda")  # polars mistakes text that starts with these bytes for compressed data
_MAX_TEXT_COLUMNS = 100_000  # each column of a text file costs time, even if it is not selected
_MAX_NUMBERED = MAX_STATES + 2  # rows that are checked for row numbers; more distinct numbers would be too many states


@dataclass(frozen=True)
class Source:
    """A table to be read: its column names, and its rows as lazy polars frames.

    In the frames, the columns are named `0`, `1` and so on, because polars would treat some names as patterns.

    Attributes:
        where: name of the source, for errors.
        names: the column names.
        parts: the rows, one frame per file. Frames of text files have two more columns. `empty` is true for a row without
            values, which may be a blank line. `short` is true for a row without a last value, which may have too few values.
        texts: paths of the text files, which may have blank lines or rows with too few values.
        titles: file names, one per part; empty for data in memory.
        notes: notes about changes made to the columns.
        row_names: whether the header has no name for the first column, as in a file that R writes with row names.
        merged: whether equal rows are already merged. The column `count` of the frame then holds the number of equal rows.
    """

    where: str
    names: list[str]
    parts: tuple[polars.LazyFrame, ...]
    texts: tuple[Path, ...] = ()
    titles: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    row_names: bool = False
    merged: bool = False

    @cached_property
    def frame(self) -> polars.LazyFrame:
        """The rows of all files as one frame."""
        import polars as pl

        return self.parts[0] if len(self.parts) == 1 else pl.concat(self.parts)

    def check_rectangular(self) -> None:
        """Raise an error if a row of a text file has more or fewer values than the header."""
        for path in self.texts:
            check_rectangular(path)

    def count_blank_lines(self) -> int:
        """Return the number of blank lines in the text files."""
        return sum(map(count_blank_lines, self.texts))

    @property
    def kinds(self) -> dict[str, polars.DataType]:
        """The data type of each column, by column name."""
        kinds = self.parts[0].collect_schema()
        return {name: kinds[str(at)] for at, name in enumerate(self.names) if str(at) in kinds}


def from_frame(frame: polars.LazyFrame, where: str = "the frame") -> Source:
    """Convert a lazy polars frame to a `Source`."""
    names = frame.collect_schema().names()
    return Source(where, names, (frame.rename({name: str(i) for i, name in enumerate(names)}),))


def scan(paths: Sequence[Path], where: str, keep: Collection[str], temporary: ExitStack) -> Source:
    """Open data files as one table. All files need the same columns, in any order.

    Args:
        paths: paths of the files.
        where: name of the table, for errors.
        keep: names of columns to keep, even if they hold row numbers.
        temporary: exit stack that deletes temporary copies of files when it is closed.
    """
    return join_sources(drop_row_numbers([scan_file(path, temporary) for path in paths], keep), where)


def join_sources(sources: Sequence[Source], where: str) -> Source:
    """Return the sources of several files as one table. All sources need the same columns, in any order.

    Args:
        sources: sources, one per file.
        where: name of the table, for errors.
    """
    import polars as pl

    first = sources[0]
    parts, kinds = list(first.parts), first.kinds if len(sources) > 1 else {}
    for source in sources[1:]:
        unmatched = sorted(set(source.names) ^ set(first.names))
        if unmatched:
            present, absent = (source, first) if unmatched[0] in source.names else (first, source)
            raise InputError(
                f"column {unmatched[0]!r} is in {present.where} but not in {absent.where}; all files need the same columns"
            )
        for name, kind in source.kinds.items():
            if kind != kinds[name]:
                if bool(first.texts) != bool(source.texts):
                    raise InputError(
                        f"{first.where} and {source.where} have different formats; use CSV or Parquet for all files"
                    )
                raise InputError(
                    f"column {name!r} holds {kinds[name]} in {first.where} but {kind} in {source.where}; "
                    "use the same type in all files"
                )
        places = {name: str(i) for i, name in enumerate(source.names)}
        selected = [pl.col(places[name]).alias(str(i)) for i, name in enumerate(first.names)]
        parts.append(source.parts[0].select(*selected, *_flags(source)))
    texts = tuple(path for source in sources for path in source.texts)
    notes = tuple(dict.fromkeys(note for source in sources for note in source.notes))
    where = where if len(sources) > 1 else first.where
    return Source(where, first.names, tuple(parts), texts, tuple(source.where for source in sources), notes)


def _flags(source: Source) -> list[str]:
    """Return the names of the extra columns of a frame: `empty` and `short`, or `count` (see `Source`)."""
    return ["empty", "short"] if source.texts else ["count"] if source.merged else []


def drop_row_numbers(sources: Sequence[Source], keep: Collection[str]) -> list[Source]:
    """Drop columns that hold row numbers or row names, and unnamed columns that are empty.

    A note is added for each dropped column. Row numbers start at 0 or 1 in each file, or continue the numbers of another
    file. Only the first rows of a file are checked, to avoid a second pass over long files.

    Args:
        sources: sources of one table, one per file.
        keep: names of columns to keep, even if they hold row numbers.
    """
    names = {name for source in sources for name in source.names if may_be_row_numbers(name) and name not in keep}
    numbered = {name for name in names if _holds_row_numbers([s for s in sources if name in s.names], name)}
    kept = []
    for source in sources:
        notes = _superfluous_columns(source, keep, names, numbered)
        kept.append(_drop_columns(source, notes, list(notes.values())) if notes else source)
    return kept


def _superfluous_columns(
    source: Source, keep: Collection[str], names: Collection[str], numbered: Collection[str]
) -> dict[int, str]:
    """Find the columns to drop, such as row numbers. Return a mapping from column index to a note with the reason.

    Args:
        source: source of one file.
        keep: names of columns to keep, even if they hold row numbers.
        names: names of columns that may hold row numbers. They are empty, or generated names such as `Unnamed: 0`.
        numbered: names of columns that do hold row numbers.
    """
    notes = {}
    for at, name in enumerate(source.names):
        first = name in names and source.names.index(name) == at
        unnamed = name == "" and name in names
        column = f"column {name!r}" if name else f"column {at + 1} has no name and"
        if first and name in numbered:
            notes[at] = f"{column} holds row numbers; it was dropped"
        elif unnamed and _first_values(source, at).is_null().all():  # each line ends with a separator
            notes[at] = f"{column} is empty; it was dropped"
        elif unnamed and not first:
            raise InputError(
                f"{source.where}: column {at + 1} has no name and does not hold row numbers; name it, or drop all "
                "unnamed columns with drop=['']"
            )
        elif at == 0 and source.row_names and name not in keep:
            _check_row_names(source)
            notes[at] = "the first column is not named in the header and holds row names; it was dropped"
    return notes


def _drop_columns(source: Source, positions: Collection[int], notes: Sequence[str]) -> Source:
    """Return the source without the columns whose indices are in `positions`, and with `notes` added."""
    import polars as pl

    kept = [at for at in range(len(source.names)) if at not in positions]
    selected = [pl.col(str(at)).alias(str(i)) for i, at in enumerate(kept)]
    parts = tuple(part.select(*selected, *_flags(source)) for part in source.parts)
    return replace(
        source, names=[source.names[at] for at in kept], parts=parts, notes=(*source.notes, *notes), row_names=False
    )


def _holds_row_numbers(sources: Sequence[Source], name: str) -> bool:
    """Return whether the column `name` holds row numbers in all `sources`."""
    ranges = []
    for source in sources:
        values = _first_values(source, source.names.index(name))
        numbers = _whole_numbers(values)
        if numbers is None or not len(numbers):
            return False
        if name and len(sources) == 1 and len(np.unique(numbers)) == len(numbers) > 2:
            return True  # the name is generated, so this is an index, perhaps of sampled or sorted rows
        if not (np.diff(numbers) == 1).all():
            return False
        ranges.append((int(numbers[0]), len(numbers)))
    if all(first in (0, 1) for first, _ in ranges):
        return True
    ranges.sort()
    disjoint = all(first + count <= later for (first, count), (later, _) in pairwise(ranges))
    return disjoint and ranges[0][0] in (0, 1)


def _first_values(source: Source, at: int) -> polars.Series:
    """Return the values of the column with the index `at` in the first rows of a file, without blank lines."""
    import polars as pl

    rows = source.parts[0].head(_MAX_NUMBERED)
    rows = rows.filter(~pl.col("empty")) if source.texts else rows
    return rows.select(str(at)).collect(engine="streaming").to_series()


def _whole_numbers(values: polars.Series) -> Ints | None:
    """Convert a series to an array of whole numbers. Return None if any value is not a whole number."""
    import polars as pl

    if values.dtype == pl.String:
        values = values.str.strip_chars(SPACES)
    elif not values.dtype.is_numeric():
        return None
    try:
        numbers = values.cast(pl.Int64, strict=False)
        same = numbers.null_count() == 0 and (values.dtype == pl.String or bool((numbers == values).all()))
    except pl.exceptions.PolarsError:
        return None
    return numbers.to_numpy() if same else None


def _check_row_names(source: Source) -> None:
    """Raise an error unless the first column holds row names as R writes them: unique texts that are not numbers."""
    import polars as pl

    values = _first_values(source, 0)
    if values.is_null().any() or values.is_duplicated().any() or values.cast(pl.Float64, strict=False).is_not_null().any():
        raise InputError(
            f"{source.where}: each row has one more value than the header has names, and the first column does not hold "
            "unique row names; add the missing name to the header"
        )


def scan_file(path: Path, temporary: ExitStack) -> Source:
    """Open a Parquet file (.parquet or .pq) or a text file with a header. A text file may be compressed with gzip.

    All columns of a text file are read as text, to keep the spelling of the states.
    """
    import polars as pl

    start = check_readable(path)
    if path.suffix.lower() in PARQUET:
        try:
            return from_frame(pl.scan_parquet(_utf8_name(path, temporary), glob=False), str(path))
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError(f"{path} is not a readable Parquet file: {_first_line(error)}") from error
    if path.suffix.lower() in SCORE_FILES:
        raise InputError(f"{path} contains scores, not data; only learn and encode accept score files, so give the data")
    if path.suffix.lower() in FOREIGN:
        raise InputError(f"{path}: {path.suffix} files are not supported; save the table as CSV or Parquet")
    for method, magic in COMPRESSIONS.items():
        if start.startswith(magic):
            raise InputError(f"{path} is compressed ({method}); decompress it, or compress it with gzip instead")
    header = _header(path)
    names, separator = header.names, header.separator
    if len(names) < 2:
        raise InputError(
            f"{path}: a network needs at least 2 columns; the header has 1 (detected separator: {SEPARATORS[separator]})"
        )
    if len(names) > _MAX_TEXT_COLUMNS:
        raise InputError(f"{path} has {len(names):,} columns (limit: {_MAX_TEXT_COLUMNS:,}); remove some from the file")
    seen: set[str] = set()
    for name in filter(None, names):
        if name in seen:
            raise InputError(f"{path}: two columns are named {name!r}; rename one")
        seen.add(name)
    places = [str(i) for i in range(len(names))]
    frame = pl.scan_csv(
        _copy_with_bom(path, temporary) if start.startswith(_ZLIB) else _utf8_name(path, temporary),
        separator=separator,
        infer_schema=False,
        with_column_names=lambda _: places,
        glob=False,
        has_header=not header.row_names,
        skip_lines=header.lines if header.row_names else 0,
    )
    flags = pl.all_horizontal(pl.all().is_null()).alias("empty"), pl.col(places[-1]).is_null().alias("short")
    return Source(str(path), names, (frame.with_columns(*flags),), (path,), row_names=header.row_names)


def _utf8_name(path: Path, temporary: ExitStack) -> Path:
    """Return a path that polars can open: a symbolic link if the path is not valid UTF-8, else the path itself."""
    try:
        str(path).encode()
        return path
    except UnicodeEncodeError:
        link = Path(temporary.enter_context(tempfile.TemporaryDirectory())) / "link"
        link.symlink_to(path.absolute())
        return link


def _copy_with_bom(path: Path, temporary: ExitStack) -> Path:
    """Copy a text file and add a byte order mark. Without this mark, polars would mistake the text for compressed data."""
    copy = Path(temporary.enter_context(tempfile.TemporaryDirectory())) / "copy.csv"
    with path.open("rb") as text, copy.open("wb") as file:
        file.write(b"\xef\xbb\xbf")
        shutil.copyfileobj(text, file)
    return copy


@contextmanager
def regular_files(source: str | os.PathLike[str]) -> Iterator[list[Path]]:
    """Context manager that yields a list with the paths of the data files.

    The content of a pipe or of standard input is copied to a temporary file, so that it can be read more than once.

    Args:
        source: path of a file, pipe or folder, a pattern such as `rows/*.parquet`, or `-` for standard input.
    """
    path = Path(source)
    piped = str(source) == "-"
    if not piped and (path.is_dir() or (not path.exists() and glob.has_magic(str(source)))):
        yield _list_files(path)
        return
    if not piped and (path.is_file() or not path.exists()):
        yield [path]
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / ("standard input" if piped else path.name)
        try:
            with sys.stdin.buffer if piped else path.open("rb") as pipe, copy.open("wb") as file:
                shutil.copyfileobj(pipe, file)
        except OSError as error:
            raise InputError(f"{source} cannot be read: {error.strerror or error}") from error
        yield [copy]


def _list_files(path: Path) -> list[Path]:
    """Return the data files of a folder, or the files that a pattern matches, sorted by name."""
    if not path.is_dir():
        files = sorted(file for file in map(Path, glob.glob(str(path), recursive=True)) if file.is_file())
        if not files:
            raise InputError(f"no file matches {path}")
        return files
    files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith((".", "_")))
    # Beside other data files, a .txt file is probably documentation.
    for endings in ({*PARQUET, *TEXT} - {".txt"}, {".txt"}):
        if data_files := [file for file in files if {suffix.lower() for suffix in file.suffixes} & endings]:
            break
    else:
        raise InputError(f"{path} is a folder without CSV, TSV, TXT or Parquet files")
    return data_files


@contextmanager
def diagnose(paths: Sequence[Path], where: str) -> Iterator[None]:
    """Context manager that turns errors of polars and of the file system into a one-line `InputError`.

    The message names the file and the line if possible.

    Args:
        paths: paths of the files that are read.
        where: name of the table, for errors.
    """
    import polars as pl

    where = str(paths[0]) if len(paths) == 1 else where
    try:
        yield
    except pl.exceptions.PolarsError as error:
        for path in paths:
            if path.suffix.lower() not in PARQUET:
                check_rectangular(path)
                check_quotes(path)
        raise InputError(f"{where} cannot be read: {_first_line(error)}") from error
    except (OSError, EOFError) as error:
        raise InputError(f"{where} cannot be read: {_first_line(error)}") from error


def check_rectangular(path: Path) -> None:
    """Raise an error if a row of a text file has more or fewer values than the header. This reads the entire file."""
    header = _header(path)
    width = len(header.names)
    expected = f"the first row has {width} values" if header.row_names else f"the header has {width} columns"
    reader = csv.reader(read_lines(path), delimiter=header.separator, strict=True)
    try:
        for row in reader:
            if row and len(row) != width and not (header.row_names and reader.line_num <= header.lines):
                values = "1 value" if len(row) == 1 else f"{len(row)} values"
                raise InputError(f"{path}, line {reader.line_num}: {values}, but {expected}; correct this line")
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}") from error


def check_quotes(path: Path) -> None:
    """Raise an error if a line of a text file has an odd number of double quotes.

    Args:
        path: path of the file, which may be compressed with gzip.
    """
    for number, line in enumerate(read_lines(path), start=1):
        if line.count('"') % 2:
            raise InputError(f"{path}, line {number}: a quote is not closed; double each quote that is part of a value")


def count_blank_lines(path: Path) -> int:
    """Return the number of blank lines after the header of a text file. Lines inside a quoted value do not count."""
    return len(find_blank_lines(path))


def find_blank_lines(path: Path) -> list[int]:
    """Return the row numbers of the blank lines of a text file. The first row after the header has the number 0.

    Args:
        path: path of the file.
    """
    blank, row, quoted = [], -1, False
    for line in read_lines(path):
        if not quoted and (row >= 0 or line.strip()):  # a row begins; the first one is the header
            if not line.strip():
                blank.append(row)
            row += 1
        quoted ^= line.count('"') % 2 == 1
    return blank


def check_readable(path: Path) -> bytes:
    """Return the first bytes of a file. Raise an error if the file does not exist, cannot be opened or is empty.

    Args:
        path: path of the file.
    """
    if not path.exists():
        raise InputError(f"there is no file {path}")
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    if not start and path.is_file():
        raise InputError(f"{path} is empty; it needs a header and at least one row")
    return start


def is_compressed(path: Path) -> bool:
    """Return whether the name or the first bytes of a file show that it is compressed with gzip.

    Args:
        path: path of the file.
    """
    if path.suffix.lower() == ".gz":
        return True
    with path.open("rb") as file:
        return file.read(2) == _GZIP


@dataclass(frozen=True)
class Header:
    """The header of a text file.

    Attributes:
        names: column names; an unnamed column has an empty name.
        separator: character between values.
        lines: number of lines up to the end of the header, including blank lines.
        row_names: whether the first row has one more value than the header, as in a file that R writes with row names.
            `names` then starts with an empty name.
    """

    names: list[str]
    separator: str
    lines: int
    row_names: bool


def _header(path: Path) -> Header:
    """Return the header of a text file.

    The separator is a tab in .tsv and .tab files. Otherwise, it is the comma, semicolon, tab or vertical bar that is most
    frequent in the header. If none of them occurs and all names are quoted, as in files that R writes, it is a space.
    """
    lines = read_lines(path)
    blank, first = 0, ""
    for first in lines:
        if first.strip():
            break
        blank += 1
    unquoted = re.sub(r'"[^"]*"', "", first)
    tabbed = any(suffix in (".tsv", ".tab") for suffix in path.suffixes)
    separator = "\t" if tabbed else max(SEPARATORS, key=unquoted.count)
    if not unquoted.count(separator) and not unquoted.strip() and " " in unquoted and first.rstrip("\r\n").endswith('"'):
        separator = " "
    reader = csv.reader(chain([first], lines), delimiter=separator, strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise InputError(f"{path}: the header cannot be read: {error}") from error
    header_lines = blank + reader.line_num
    try:
        row = next(reader, [])
    except csv.Error:  # polars refuses this row later
        row = []
    row_names = len(row) == len(names) + 1 and all((*names, row[0].strip(), row[-1].strip()))
    return Header(["", *names] if row_names else names, separator, header_lines, row_names)


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file. Raise an error at the first line that is not UTF-8 text.

    Args:
        path: path of the file, which may be compressed with gzip.
    """
    import gzip

    try:
        with gzip.open(path) if is_compressed(path) else path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                if "\0" in text:
                    raise UnicodeError
                yield text
    except UnicodeError as error:
        raise InputError(
            f"{path}, line {number}: not UTF-8 text; save the file as UTF-8 CSV "
            "(the name of a Parquet file must end in .parquet)"
        ) from error
    except (OSError, EOFError) as error:
        raise InputError(f"{path} cannot be read: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    """Return the first line of an error message, or the type of the error if it has no message."""
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
