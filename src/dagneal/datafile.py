"""CSV, TSV and Parquet files as lazy polars frames, and what is wrong with a file that polars cannot read."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dagneal.errors import InputError

if TYPE_CHECKING:
    import polars

_PARQUET = {".parquet", ".pq"}


def scan(path: Path) -> polars.LazyFrame:
    """Open a data file: Parquet by its name, else text with a header, its separator found in the header.

    Args:
        path: the file; a CSV may be compressed (.gz).

    Returns:
        A lazy frame; text columns are read as text, so that the states are spelled as in the file.
    """
    import polars as pl

    _check_file(path)
    if path.suffix.lower() in _PARQUET:
        try:
            frame = pl.scan_parquet(path, glob=False)
            frame.collect_schema()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError(f"{path} is not a readable Parquet file: {_first_line(error)}") from error
        return frame
    names, separator = _header(path)
    seen: set[str] = set()
    for position, name in enumerate(names):
        if not name:
            raise InputError(f"{path}: column {position + 1} of the header has no name; name it")
        if name in seen:
            raise InputError(f"{path}: two columns are named {name!r}; rename one")
        seen.add(name)
    return pl.scan_csv(
        path, separator=separator, infer_schema=False, with_column_names=lambda _: names, glob=False, has_header=True
    )


@contextmanager
def diagnosed(path: Path) -> Iterator[None]:
    """Turn what goes wrong while a file is read into one line that says where in the file."""
    import polars as pl

    is_text = path.suffix.lower() not in _PARQUET
    try:
        yield
    except pl.exceptions.PolarsError as error:
        if is_text:
            _find_fault(path)
        raise InputError(f"{path} cannot be read: {_first_line(error)}") from error
    except (OSError, EOFError) as error:
        raise InputError(f"{path} cannot be read: {_first_line(error)}") from error


def check_rectangular(path: Path) -> None:
    """Refuse a text file in which some row has too few or too many values."""
    if path.suffix.lower() not in _PARQUET:
        _find_fault(path)


def _check_file(path: Path) -> None:
    if not path.exists():
        raise InputError(f"there is no file {path}")
    if path.is_dir():
        raise InputError(f"{path} is a folder; give a CSV, TSV or Parquet file")
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    if empty and path.is_file():
        raise InputError(f"{path} is empty; a header and at least one row are needed")


def _header(path: Path) -> tuple[list[str], str]:
    """The column names and the separator: a tab in .tsv and .tab, else the commonest of comma, semicolon and tab."""
    first = next((line for line in _lines(path) if line.strip()), "")
    tabbed = any(suffix in (".tsv", ".tab") for suffix in path.suffixes)
    separator = "\t" if tabbed else max(",;\t", key=first.count)
    try:
        return [name.strip() for name in next(csv.reader([first], delimiter=separator), [])], separator
    except csv.Error as error:
        raise InputError(f"{path}: the header cannot be read: {error}") from error


def _find_fault(path: Path) -> None:
    """Read a text file slowly and raise for the first row that is not as the header promises."""
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
