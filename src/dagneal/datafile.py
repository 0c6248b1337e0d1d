"""CSV, TSV and Parquet files as lazy polars frames, and what is wrong with a file that cannot be read."""

from __future__ import annotations

import csv
import glob
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from dagneal.errors import InputError

if TYPE_CHECKING:
    import polars

_PARQUET = {".parquet", ".pq"}
_TEXT = {".csv", ".tsv", ".tab", ".txt"}
_FOREIGN = {".xlsx", ".xls", ".ods", ".json", ".jsonl", ".feather", ".arrow", ".sav", ".dta", ".rds", ".zip", ".bz2", ".xz"}
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


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
    """

    where: str
    names: list[str]
    parts: tuple[polars.LazyFrame, ...]
    texts: tuple[Path, ...] = ()

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
        return dict(zip(self.names, self.parts[0].collect_schema().dtypes()[: len(self.names)], strict=True))


def from_frame(frame: polars.LazyFrame, where: str = "the frame") -> Source:
    """A frame in memory, or a Parquet file, as a source."""
    names = frame.collect_schema().names()
    return Source(where, names, (frame.rename({name: str(i) for i, name in enumerate(names)}),))


def scan(paths: Sequence[Path], where: str) -> Source:
    """Open data files with the same columns, in any order, as one table.

    Args:
        paths: the files.
        where: what to call them together.
    """
    import polars as pl

    sources = [_scan(path) for path in paths]
    first = sources[0]
    parts, kinds = list(first.parts), first.kinds
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
        parts.append(source.parts[0].select(*own, *(["empty", "short"] if source.texts else [])))
    texts = tuple(path for source in sources for path in source.texts)
    return Source(where if len(paths) > 1 else first.where, first.names, tuple(parts), texts)


def _scan(path: Path) -> Source:
    """Open a data file: Parquet by its name, else text with a header, its separator found in the header; may be .gz.

    The columns of a text file are read as text, so that the states are spelled as in the file.
    """
    import polars as pl

    _check_file(path)
    if path.suffix.lower() in _PARQUET:
        try:
            return from_frame(pl.scan_parquet(path, glob=False), str(path))
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError(f"{path} is not a readable Parquet file: {_first_line(error)}") from error
    if path.suffix.lower() in _FOREIGN:
        raise InputError(f"{path}: {path.suffix} files are not read; save it as CSV or Parquet")
    names, separator = _header(path)
    if len(names) < 2:
        raise InputError(
            f"{path}: at least 2 columns are needed to learn a network; the header has one, with {_SEPARATORS[separator]} "
            "as separators"
        )
    seen: set[str] = set()
    for position, name in enumerate(names):
        if not name:
            raise InputError(f"{path}: column {position + 1} of the header has no name; name it")
        if name in seen:
            raise InputError(f"{path}: two columns are named {name!r}; rename one")
        seen.add(name)
    places = [str(i) for i in range(len(names))]
    frame = pl.scan_csv(path, separator=separator, infer_schema=False, with_column_names=lambda _: places, glob=False)
    flags = pl.all_horizontal(pl.all().is_null()).alias("empty"), pl.col(places[-1]).is_null().alias("short")
    return Source(str(path), names, (frame.with_columns(*flags),), (path,))


@contextmanager
def regular(source: str | os.PathLike[str]) -> Iterator[list[Path]]:
    """The files of a source, which can be read more than once: those of a folder, or that a pattern matches.

    A pipe, or `-` for standard input, is copied to a temporary file.

    Args:
        source: a path, a folder or a pattern such as `rows/*.parquet`.
    """
    path = Path(source)
    piped = str(source) == "-"
    if not piped and (path.is_dir() or (not path.exists() and glob.has_magic(str(source)))):
        yield _listed(path)
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


def _listed(path: Path) -> list[Path]:
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
def diagnosed(paths: Sequence[Path], where: str) -> Iterator[None]:
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
    names, separator = _header(path)
    reader = csv.reader(_lines(path), delimiter=separator, strict=True)
    try:
        for row in reader:
            if row and len(row) != len(names):
                raise InputError(
                    f"{path}, line {reader.line_num}: {len(row)} values where the header names {len(names)} columns"
                )
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


def _check_file(path: Path) -> None:
    if not path.exists():
        raise InputError(f"there is no file {path}")
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    if empty and path.is_file():
        raise InputError(f"{path} is empty; a header and at least one row are needed")


def _header(path: Path) -> tuple[list[str], str]:
    """The column names and the separator: a tab in .tsv and .tab, else the commonest of comma, semicolon, tab and bar."""
    lines = _lines(path)
    first = next((line for line in lines if line.strip()), "")
    tabbed = any(suffix in (".tsv", ".tab") for suffix in path.suffixes)
    separator = "\t" if tabbed else max(_SEPARATORS, key=re.sub(r'"[^"]*"', "", first).count)
    try:
        names = next(csv.reader(chain([first], lines), delimiter=separator, strict=True), [])
    except csv.Error as error:
        raise InputError(f"{path}: the header cannot be read: {error}") from error
    return [name.strip() for name in names], separator


def _lines(path: Path) -> Iterator[str]:
    """The lines of a text file, decoded one by one, so that the first bad one is known."""
    import gzip

    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
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
