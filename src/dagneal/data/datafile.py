"""CSV, TSV and Parquet files as lazy polars frames, and what is wrong with a file that cannot be read."""

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
from dagneal.data.dataset import MOST_STATES, SPACES
from dagneal.data.roles import may_be_row_numbers

if TYPE_CHECKING:
    import polars

    from dagneal.base.kernels import Ints

_PARQUET = {".parquet", ".pq"}
_TEXT = {".csv", ".tsv", ".tab", ".txt"}
_FOREIGN = {".xlsx", ".xls", ".ods", ".json", ".jsonl", ".feather", ".arrow", ".sav", ".dta", ".rds", ".zip", ".bz2", ".xz"}
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_GZIP = b"\x1f\x8b"
_OTHER_COMPRESSION = {b"\x28\xb5\x2f\xfd": "Zstandard", b"BZh91AY&SY": "bzip2", b"\xfd7zXZ": "xz", b"PK\x03\x04": "ZIP"}
_ZLIB = (b"x\x01", b"x^", b"x\x9c", b"x\xda")  # text that starts so is taken for compressed data by polars
_WIDEST = 100_000  # columns of a text file; each costs time, even if it is not chosen
_MOST_NUMBERED = MOST_STATES + 2  # rows looked at; a column of more row numbers could not be a variable anyway


@dataclass(frozen=True)
class Source:
    """A lazy frame and what its columns are called.

    The frame's own columns are called `0`, `1` and so on, since polars would take some names for patterns.

    Attributes:
        where: what to call it in errors.
        names: the columns.
        parts: the data, one frame for each file; of text with the columns `empty` and `short`, since a row without any
            value may be a blank line, and one without the last value may be too short.
        texts: the text files it is read from, where blank and ragged lines have to be looked for.
        titles: the files, one for each part; empty for data in memory.
        notes: what was done to the columns.
        row_names: the header of a text file has no name for the first column, which R writes for the names of rows.
        counted: equal rows are merged already; the column `count` says how many there are.
    """

    where: str
    names: list[str]
    parts: tuple[polars.LazyFrame, ...]
    texts: tuple[Path, ...] = ()
    titles: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    row_names: bool = False
    counted: bool = False

    @cached_property
    def frame(self) -> polars.LazyFrame:
        """All rows."""
        import polars as pl

        return self.parts[0] if len(self.parts) == 1 else pl.concat(self.parts)

    def check_rectangular(self) -> None:
        """Refuse the first row of text that is not as its header promises."""
        for path in self.texts:
            check_rectangular(path)

    def blank_lines(self) -> int:
        """How many lines of text have nothing on them."""
        return sum(map(blank_lines, self.texts))

    @property
    def kinds(self) -> dict[str, polars.DataType]:
        """What the columns hold."""
        kinds = self.parts[0].collect_schema()
        return {name: kinds[str(at)] for at, name in enumerate(self.names) if str(at) in kinds}


def from_frame(frame: polars.LazyFrame, where: str = "the frame") -> Source:
    """A frame in memory, or a Parquet file, as a source."""
    names = frame.collect_schema().names()
    return Source(where, names, (frame.rename({name: str(i) for i, name in enumerate(names)}),))


def scan(paths: Sequence[Path], where: str, keep: Collection[str], temporary: ExitStack) -> Source:
    """Open data files with the same columns, in any order, as one table.

    Args:
        paths: the files.
        where: what to call them together.
        keep: columns that are left alone, even if they hold row numbers.
        temporary: keeps temporary copies of files for as long as they are read.
    """
    import polars as pl

    sources = drop_row_numbers([_scan(path, temporary) for path in paths], keep)
    first = sources[0]
    parts, kinds = list(first.parts), first.kinds if len(sources) > 1 else {}
    for source in sources[1:]:
        odd = sorted(set(source.names) ^ set(first.names))
        if odd:
            theirs = source if odd[0] in source.names else first
            other = first if theirs is source else source
            raise InputError(
                f"{theirs.where} has a column {odd[0]!r}, {other.where} has none; files of one table have the same"
            )
        for name, kind in source.kinds.items():
            if kind != kinds[name]:
                if bool(first.texts) != bool(source.texts):
                    raise InputError(
                        f"{first.where} and {source.where} are of different kinds; make all CSV, or all Parquet"
                    )
                raise InputError(
                    f"column {name!r} holds {kinds[name]} in {first.where} and {kind} in {source.where}; make them the same"
                )
        places = {name: str(i) for i, name in enumerate(source.names)}
        own = [pl.col(places[name]).alias(str(i)) for i, name in enumerate(first.names)]
        parts.append(source.parts[0].select(*own, *_flags(source)))
    texts = tuple(path for source in sources for path in source.texts)
    notes = tuple(dict.fromkeys(note for source in sources for note in source.notes))
    where = where if len(paths) > 1 else first.where
    return Source(where, first.names, tuple(parts), texts, tuple(source.where for source in sources), notes)


def _flags(source: Source) -> list[str]:
    """The columns of a part that are not data."""
    return ["empty", "short"] if source.texts else ["count"] if source.counted else []


def drop_row_numbers(sources: Sequence[Source], keep: Collection[str]) -> list[Source]:
    """Leave out columns without a name that hold row numbers, and say so.

    Each file has numbers of its own, from 0 or from 1, or goes on where another ends. Only as many rows are looked at as a
    variable may have states, so that long files are not read once more.

    Args:
        sources: the files of one table.
        keep: columns that are left alone, whatever they hold.
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
    """Return the positions of columns that hold row numbers, row names or nothing, each with a note.

    Args:
        source: a file.
        keep: columns that are left alone, whatever they hold.
        names: columns whose names say nothing.
        numbered: those of them that hold row numbers.
    """
    notes = {}
    for at, name in enumerate(source.names):
        first = name in names and source.names.index(name) == at
        unnamed = name == "" and name in names
        what = f"column {name!r}" if name else f"column {at + 1} has no name and"
        if first and name in numbered:
            notes[at] = f"{what} holds row numbers; it was left out"
        elif unnamed and _first_values(source, at).is_null().all():  # a separator at the end of each line
            notes[at] = f"{what} holds nothing; it was left out"
        elif unnamed and not first:
            raise InputError(
                f"{source.where}: column {at + 1} has no name, and it does not hold row numbers; name it, or leave the "
                "columns without names out with drop=['']"
            )
        elif at == 0 and source.row_names and name not in keep:
            _check_row_names(source)
            notes[at] = "the header has no name for the first value of each row; it was taken as a row name and left out"
    return notes


def _drop_columns(source: Source, out: Collection[int], notes: Sequence[str]) -> Source:
    """Return the source without some of its columns."""
    import polars as pl

    kept = [at for at in range(len(source.names)) if at not in out]
    own = [pl.col(str(at)).alias(str(i)) for i, at in enumerate(kept)]
    parts = tuple(part.select(*own, *_flags(source)) for part in source.parts)
    return replace(
        source, names=[source.names[at] for at in kept], parts=parts, notes=(*source.notes, *notes), row_names=False
    )


def _holds_row_numbers(sources: Sequence[Source], name: str) -> bool:
    """Return whether a column holds row numbers in each of these files."""
    ranges = []
    for source in sources:
        values = _first_values(source, source.names.index(name))
        numbers = _whole_numbers(values)
        if numbers is None or not len(numbers):
            return False
        if name and len(sources) == 1 and len(np.unique(numbers)) == len(numbers) > 2:
            return True  # a program named the column, so it is an index, perhaps of rows that were drawn or sorted
        if not (np.diff(numbers) == 1).all():
            return False
        ranges.append((int(numbers[0]), len(numbers)))
    if all(first in (0, 1) for first, _ in ranges):
        return True
    ranges.sort()
    apart = all(first + count <= later for (first, count), (later, _) in pairwise(ranges))
    return apart and ranges[0][0] in (0, 1)


def _first_values(source: Source, at: int) -> polars.Series:
    """The values of a column in the first rows of a file, blank lines left out."""
    import polars as pl

    rows = source.parts[0].head(_MOST_NUMBERED)
    rows = rows.filter(~pl.col("empty")) if source.texts else rows
    return rows.select(str(at)).collect(engine="streaming").to_series()


def _whole_numbers(values: polars.Series) -> Ints | None:
    """Return a series of whole numbers as an array; None if it holds anything else."""
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
    """Refuse first values that are not row names, which R makes unique; then a name is missing in the header."""
    import polars as pl

    values = _first_values(source, 0)
    if values.is_null().any() or values.is_duplicated().any() or values.cast(pl.Float64, strict=False).is_not_null().any():
        raise InputError(
            f"{source.where}: the rows have one value more than the header has names, and the first value of each row is "
            "not a row name; add the missing name to the header"
        )


def _scan(path: Path, temporary: ExitStack) -> Source:
    """Open a data file: Parquet by its name, else text with a header, its separator found in the header; may be .gz.

    The columns of a text file are read as text, so that the states are spelled as in the file.
    """
    import polars as pl

    start = _check_file(path)
    if path.suffix.lower() in _PARQUET:
        try:
            return from_frame(pl.scan_parquet(_utf8_name(path, temporary), glob=False), str(path))
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError(f"{path} is not a readable Parquet file: {_first_line(error)}") from error
    if path.suffix.lower() in _FOREIGN:
        raise InputError(f"{path}: {path.suffix} files are not read; save it as CSV or Parquet")
    for magic, method in _OTHER_COMPRESSION.items():
        if start.startswith(magic):
            raise InputError(f"{path} is compressed ({method}); decompress it, or compress it with gzip instead")
    header = _header(path)
    names, separator = header.names, header.separator
    if len(names) < 2:
        raise InputError(
            f"{path}: at least 2 columns are needed to learn a network; the header has one, with {_SEPARATORS[separator]} "
            "as separators"
        )
    if len(names) > _WIDEST:
        raise InputError(f"{path} has {len(names):,} columns; at most {_WIDEST:,} can be read: write a file with fewer")
    seen: set[str] = set()
    for name in filter(None, names):
        if name in seen:
            raise InputError(f"{path}: two columns are named {name!r}; rename one")
        seen.add(name)
    places = [str(i) for i in range(len(names))]
    frame = pl.scan_csv(
        _copy_of_text(path, temporary) if start.startswith(_ZLIB) else _utf8_name(path, temporary),
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
    """Return a path that polars can open, which takes names in UTF-8 only: the same one, or a link to it."""
    try:
        str(path).encode()
        return path
    except UnicodeEncodeError:
        link = Path(temporary.enter_context(tempfile.TemporaryDirectory())) / "link"
        link.symlink_to(path.absolute())
        return link


def _copy_of_text(path: Path, temporary: ExitStack) -> Path:
    """Copy text that looks compressed to a file that does not, since it starts with a byte order mark."""
    copy = Path(temporary.enter_context(tempfile.TemporaryDirectory())) / "copy.csv"
    with path.open("rb") as text, copy.open("wb") as file:
        file.write(b"\xef\xbb\xbf")
        shutil.copyfileobj(text, file)
    return copy


@contextmanager
def regular_files(source: str | os.PathLike[str]) -> Iterator[list[Path]]:
    """The files of a source, which can be read more than once: those of a folder, or that a pattern matches.

    A pipe, or `-` for standard input, is copied to a temporary file.

    Args:
        source: a path, a folder or a pattern such as `rows/*.parquet`.
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
    """The data files of a folder, or those that a pattern matches, in the order of their names."""
    if not path.is_dir():
        found = sorted(each for each in map(Path, glob.glob(str(path), recursive=True)) if each.is_file())
        if not found:
            raise InputError(f"no file matches {path}")
        return found
    found = sorted(each for each in path.iterdir() if each.is_file() and not each.name.startswith((".", "_")))
    # Where there is something else, a text is more likely to be about the data than to be data.
    for kinds in ({*_PARQUET, *_TEXT} - {".txt"}, {".txt"}):
        if known := [each for each in found if {suffix.lower() for suffix in each.suffixes} & kinds]:
            break
    else:
        raise InputError(f"{path} is a folder without CSV, TSV, TXT or Parquet files")
    return known


@contextmanager
def diagnose(paths: Sequence[Path], where: str) -> Iterator[None]:
    """Turn what goes wrong while files are read into one line that says where in which file.

    Args:
        paths: the files.
        where: what to call them together.
    """
    import polars as pl

    where = str(paths[0]) if len(paths) == 1 else where
    try:
        yield
    except pl.exceptions.PolarsError as error:
        for path in paths:
            if path.suffix.lower() not in _PARQUET:
                check_rectangular(path)
                _check_quotes(path)
        raise InputError(f"{where} cannot be read: {_first_line(error)}") from error
    except (OSError, EOFError) as error:
        raise InputError(f"{where} cannot be read: {_first_line(error)}") from error


def check_rectangular(path: Path) -> None:
    """Read a text file slowly and refuse the first row that is not as the header promises."""
    header = _header(path)
    width = len(header.names)
    promised = f"the first row has {width}" if header.row_names else f"the header names {width} columns"
    reader = csv.reader(_lines(path), delimiter=header.separator, strict=True)
    try:
        for row in reader:
            if row and len(row) != width and not (header.row_names and reader.line_num <= header.lines):
                raise InputError(f"{path}, line {reader.line_num}: {len(row)} values where {promised}")
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}") from error


def _check_quotes(path: Path) -> None:
    for number, line in enumerate(_lines(path), start=1):
        if line.count('"') % 2:
            raise InputError(f"{path}, line {number}: a quote that is not closed; write a quote inside a value twice")


def blank_lines(path: Path) -> int:
    """How many lines after the header have nothing on them, not even separators; inside a quoted value none is."""
    found, header, inside = 0, False, False
    for line in _lines(path):
        if not line.strip() and header and not inside:
            found += 1
        header = header or bool(line.strip())
        inside ^= line.count('"') % 2 == 1
    return found


def _check_file(path: Path) -> bytes:
    """Refuse a file that is not there, cannot be opened or is empty; return its first bytes."""
    if not path.exists():
        raise InputError(f"there is no file {path}")
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    if not start and path.is_file():
        raise InputError(f"{path} is empty; a header and at least one row are needed")
    return start


def is_compressed(path: Path) -> bool:
    """Return whether a file is compressed with gzip, by its name or its first bytes.

    Args:
        path: the file.
    """
    if path.suffix.lower() == ".gz":
        return True
    with path.open("rb") as file:
        return file.read(2) == _GZIP


@dataclass(frozen=True)
class Header:
    """What the first lines of a text file tell.

    Attributes:
        names: the columns; a column without a name has an empty one.
        separator: between values.
        lines: how many lines the header ends after.
        row_names: the header has one name fewer than the first row has values; `names` has an empty one for the first.
    """

    names: list[str]
    separator: str
    lines: int
    row_names: bool


def _header(path: Path) -> Header:
    """The header of a text file: a tab separates in .tsv and .tab, else the commonest of comma, semicolon, tab and bar.

    A space separates names in quotes where nothing else does, as in R's `write.table`.
    """
    lines = _lines(path)
    blank, first = 0, ""
    for first in lines:
        if first.strip():
            break
        blank += 1
    bare = re.sub(r'"[^"]*"', "", first)
    tabbed = any(suffix in (".tsv", ".tab") for suffix in path.suffixes)
    separator = "\t" if tabbed else max(_SEPARATORS, key=bare.count)
    if not bare.count(separator) and not bare.strip() and " " in bare and first.rstrip("\r\n").endswith('"'):
        separator = " "
    reader = csv.reader(chain([first], lines), delimiter=separator, strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise InputError(f"{path}: the header cannot be read: {error}") from error
    ends = blank + reader.line_num
    try:
        row = next(reader, [])
    except csv.Error:  # polars will refuse it too
        row = []
    row_names = len(row) == len(names) + 1 and all((*names, row[0].strip(), row[-1].strip()))
    return Header(["", *names] if row_names else names, separator, ends, row_names)


def _lines(path: Path) -> Iterator[str]:
    """The lines of a text file, decoded one by one, so that the first bad one is known."""
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
            f"{path}, line {number}: not text in UTF-8; save it as UTF-8 CSV (Parquet files must end in .parquet)"
        ) from error
    except (OSError, EOFError) as error:
        raise InputError(f"{path} cannot be read: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
