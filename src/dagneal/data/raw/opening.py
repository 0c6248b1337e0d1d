"""Opening of raw tables: encodings, separators, missing headers, repeated and empty column names, and damaged lines.

A file that needs no repair is opened in place. Otherwise a repaired copy is opened, which is deleted afterwards.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from dagneal.base.errors import InputError
from dagneal.base.files import SCORE_FILES
from dagneal.base.text import plural
from dagneal.data import datafile
from dagneal.data.cautions import Caution

if TYPE_CHECKING:
    import polars

_HEAD = 50  # lines that show separator, header and number of columns
_CHUNK = 1 << 20  # bytes that are checked at a time
_NUMBER = re.compile(r"[-+]?\d*\.?\d+([eE][-+]?\d+)?")
_DECIMAL = re.compile(r"[-+]?\d*\.\d+([eE][-+]?\d+)?")  # a column name is never a number with a decimal point
UNNAMED = "column {}"  # new name of an unnamed column
_TABLES = (".csv", ".tsv", ".tab", ".txt", ".parquet")
_BLANKS = " "  # separator of files whose values are separated by any number of spaces


@dataclass(frozen=True)
class _Layout:
    """The layout of a text file.

    Attributes:
        encoding: encoding of the text.
        separator: character between values; `_BLANKS` for any number of spaces or tabs.
        skip: number of rows before the header, or before the data if there is no header.
        names: column names.
        has_header: whether the first row after the skipped rows is the header.
        repairs: what a copy must repair; empty if the file can be read in place.
    """

    encoding: str
    separator: str
    skip: int
    names: tuple[str, ...]
    has_header: bool
    repairs: tuple[str, ...]


def open_tables(paths: Sequence[Path], where: str, temporary: ExitStack) -> tuple[datafile.Source, list[Caution]]:
    """Open data files as one table, and repair what can be repaired. Return the table and warnings about repairs.

    Args:
        paths: paths of the files.
        where: name of the table, for errors.
        temporary: exit stack that deletes copies of files when it is closed.
    """
    opened = [_open_file(path, temporary) for path in paths]
    source = datafile.join_sources([source for source, _ in opened], where)
    cautions = list({caution.text: caution for _, found in opened for caution in found}.values())
    return name_columns(source), cautions


def name_columns(source: datafile.Source) -> datafile.Source:
    """Return the source with a name for each unnamed column, and with different names for columns of the same name.

    Args:
        source: source with any names.
    """
    return replace(source, names=_different(source.names), row_names=False)


def _different(names: Sequence[str]) -> list[str]:
    """Return names that are not empty and differ from each other."""
    taken = {name for name in names if name.strip()}
    result: list[str] = []
    for at, name in enumerate(names, start=1):
        base = name.strip() or UNNAMED.format(at)
        new, number = base, 2
        while new in result or (new != name and new in taken):
            new, number = f"{base} ({number})", number + 1
        result.append(new)
    return result


def _open_file(path: Path, temporary: ExitStack) -> tuple[datafile.Source, list[Caution]]:
    """Open one file. Return the source and warnings about repairs."""
    start = datafile.check_readable(path)
    if unpacked := _unpacked_copy(path, start, temporary):
        try:
            source, cautions = _open_file(unpacked, temporary)
        except InputError as error:
            raise InputError(str(error).replace(str(unpacked), str(path))) from error
        return replace(source, where=str(path)), cautions
    suffix = path.suffix.lower()
    if suffix in datafile.PARQUET or suffix in SCORE_FILES or _is_binary(path):
        return datafile.scan_file(path, temporary), []
    layout = _find_layout(path)
    if layout is None:
        return datafile.scan_file(path, temporary), []
    if not layout.repairs:
        source = datafile.scan_file(path, temporary)
        if _is_intact(source.frame, path):
            return source, []
    copy, lost = _repaired_copy(path, layout, temporary)
    try:
        source = replace(datafile.scan_file(copy, temporary), where=str(path))
    except InputError as error:
        raise InputError(str(error).replace(str(copy), str(path))) from error
    cautions = [Caution("repaired file", (), f"{path.name}: {'; '.join(layout.repairs)}")] if layout.repairs else []
    if lost:
        text = f"{path.name}: {plural(lost, 'line')} with too many or too few values left out; correct them in the file"
        cautions.append(Caution("damaged lines", (), text))
    return source, cautions


def _unpacked_copy(path: Path, start: bytes, temporary: ExitStack) -> Path | None:
    """Decompress a bzip2, xz or ZIP file, and return the path of the copy; return None for other files."""
    import bz2
    import lzma
    import zipfile

    copy = Path(temporary.enter_context(tempfile.TemporaryDirectory())) / Path(path.stem).name
    copy = copy if copy.suffix else copy.with_suffix(".csv")
    try:
        if start.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(path) as archive:
                members = [item for item in archive.infolist() if item.filename.lower().endswith(_TABLES)]
                if len(members) != 1 or path.suffix.lower() in datafile.SPREADSHEETS:
                    return None
                copy = copy.with_name(Path(members[0].filename).name)
                with archive.open(members[0]) as packed, copy.open("wb") as file:
                    shutil.copyfileobj(packed, file)
            return copy
        if start[:3] not in (b"BZh", b"\xfd7z"):
            return None
        with bz2.open(path) if start[:3] == b"BZh" else lzma.open(path) as packed, copy.open("wb") as file:
            shutil.copyfileobj(packed, file)
    except (OSError, EOFError, zipfile.BadZipFile, lzma.LZMAError) as error:
        raise InputError(f"{path} cannot be decompressed: {error}") from error
    return copy


def _is_intact(frame: polars.LazyFrame, path: Path) -> bool:
    """Return whether all rows of a text file have as many values as the header."""
    import polars as pl

    try:
        counts = frame.select(pl.all().null_count(), pl.col("short").any().alias("any short"))  # this parses all values
        if not counts.collect(engine="streaming")["any short"].item():
            return True
        datafile.check_rectangular(path)
    except (pl.exceptions.PolarsError, InputError):
        return False
    return True


def _is_binary(path: Path) -> bool:
    """Return whether a file starts with bytes that no text contains. A file that is compressed with gzip may hold text."""
    if datafile.is_compressed(path):
        return False
    with path.open("rb") as file:
        start = file.read(4096)
    return b"\0" in start and not start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def _open_text(path: Path, encoding: str) -> TextIO:
    """Open a text file, which may be compressed with gzip."""
    if datafile.is_compressed(path):
        return gzip.open(path, "rt", encoding=encoding, newline="", errors="replace")
    return path.open(encoding=encoding, newline="", errors="replace")


def _find_encoding(path: Path) -> str:
    """Return the encoding of a text file: UTF-8, UTF-16 with a byte order mark, or Windows-1252 for all others."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with gzip.open(path) if datafile.is_compressed(path) else path.open("rb") as file:
        first = True
        while chunk := file.read(_CHUNK):
            if first and chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                return "utf-16"
            first = False
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                return "cp1252"
    return "utf-8-sig"


def _find_layout(path: Path) -> _Layout | None:
    """Return the layout of a text file; None if the file has no rows."""
    encoding = _find_encoding(path)
    with _open_text(path, encoding) as file:
        lines = [line for line in islice(file, _HEAD) if line.strip()]
    if not lines:
        return None
    separator = _find_separator(path, lines)
    rows = list(_split(iter(lines), separator))
    if not rows:
        return None
    if len(lines) == _HEAD:
        rows = rows[:-1] or rows  # a quoted value may continue after the last line
    widths = Counter(map(len, rows[1:])) or Counter(map(len, rows))
    width = max(widths, key=lambda key: (widths[key], key))
    skip = 0
    while skip < len(rows) - 1 and widths[width] > len(rows) / 2 and not _may_be_header(rows[skip], rows[skip + 1], width):
        skip += 1
    ends_empty = len(rows[skip]) == width - 1 and all(len(row) == width and not row[-1].strip() for row in rows[skip + 1 :])
    width -= ends_empty
    first, names = _strip_names(rows[skip], width), _find_names(rows, skip, width, '"' in lines[min(skip, len(lines) - 1)])
    has_header = names is not None
    names = names or [f"X{at}" for at in range(1, len(first) + 1)]
    filled = [name for name in names if name]
    needed = {
        f"read as {encoding.upper()}, because it is not UTF-8 text": encoding != "utf-8-sig",
        f"{plural(skip, 'line')} above the table left out": skip > 0,
        "quotes or empty names removed from the header": first != [name.strip() for name in rows[skip]],
        "separators at the ends of lines removed": ends_empty,
        "values separated at spaces": separator == _BLANKS and not _has_quoted_names(lines[0]),
        "columns named X1, X2 and so on, because there is no header": not has_header,
        f"columns of the same name numbered, such as {_first_repeated(filled)!r}": len(set(filled)) < len(filled),
    }
    repairs = tuple(text for text, true in needed.items() if true)
    return _Layout(encoding, separator, skip, tuple(names), has_header, repairs)


def _find_names(rows: Sequence[Sequence[str]], skip: int, width: int, quoted: bool) -> list[str] | None:
    """Return the column names of a table; None if it has no header, because the first row has numbers like other rows.

    Numbers in a line with quotes (`quoted`) are names.
    """
    names = _strip_names(rows[skip], width)
    repeated = len(set(names)) < len(names) and all(_NUMBER.fullmatch(name) for name in names)
    if not quoted and (repeated or any(_DECIMAL.fullmatch(name) for name in names)):
        return None
    shifted = len(names) == width - 1 and len(rows) > skip + 1  # R writes row names without a header
    return ["", *names] if shifted else names


def _first_repeated(names: Sequence[str]) -> str:
    """Return the most frequent name; empty without names."""
    return Counter(names).most_common(1)[0][0] if names else ""


def _has_quoted_names(line: str) -> bool:
    """Return whether a header consists of quoted names, as R writes it; such a file can be read in place."""
    return not re.sub(r'"[^"]*"', "", line).strip()


def _strip_names(row: Sequence[str], width: int) -> list[str]:
    """Return the names in a header without spaces, single quotes around all names, and empty names beyond `width`."""
    names = [name.strip() for name in row]
    while len(names) > width and not names[-1]:
        names.pop()
    if all(len(name) > 2 and name[0] == name[-1] == "'" for name in names):
        names = [name[1:-1] for name in names]
    return names


def _may_be_header(row: Sequence[str], follow: Sequence[str], width: int) -> bool:
    """Return whether a row may be the header or the first row of a table with `width` columns.

    Some files start with the number of rows, the number of columns and the names of classes; this is no header.
    """
    names = _strip_names(row, width)
    sizes = len(names) > 2 and names[0].isdecimal() and names[1] == str(width - 1)
    if sizes and all(_NUMBER.fullmatch(value.strip()) for value in follow):
        return False
    return len(names) in (width, width - 1) or len(row) == width


def _find_separator(path: Path, lines: Sequence[str]) -> str:
    """Return the separator of a text file, from its first lines."""
    if any(suffix in (".tsv", ".tab") for suffix in path.suffixes):
        return "\t"
    unquoted = [re.sub(r'"[^"]*"', "", line) for line in lines[:-1] or lines]
    typical = unquoted[len(unquoted) // 2]  # the first line may be a title
    for text in (unquoted[0], typical):
        separator = max(datafile.SEPARATORS, key=text.count)
        if text.count(separator) and (text is typical or typical.count(separator)):
            return separator
    fields = Counter(len(line.split()) for line in unquoted[1:] or unquoted)
    return _BLANKS if fields and fields.most_common(1)[0][0] > 1 and _steady(fields) else ","


def _steady(fields: Counter[int]) -> bool:
    """Return whether nearly all lines have the same number of values."""
    return fields.most_common(1)[0][1] >= 0.9 * fields.total()


def _split(lines: Iterator[str], separator: str, path: Path | None = None) -> Iterator[list[str]]:
    """Yield the values of each row that is not blank. A quote that is not closed ends the rows.

    With a path, such a quote is an error.
    """
    if separator == _BLANKS:
        lines = (re.sub(r"[ \t]+", " ", line.strip()) for line in lines)
    reader = csv.reader(lines, delimiter=separator, strict=path is not None)
    try:
        yield from (row for row in reader if row)
    except csv.Error as error:
        if path is not None:
            datafile.check_quotes(path)
            raise InputError(f"{path}, line {reader.line_num}: {error}; correct this line") from error


def _repaired_copy(path: Path, layout: _Layout, temporary: ExitStack) -> tuple[Path, int]:
    """Write a repaired copy of a text file. Return its path and the number of lines that were left out."""
    copy = Path(temporary.enter_context(tempfile.TemporaryDirectory())) / (path.name.split(".")[0] + ".csv")
    lost, width = 0, len(layout.names)
    with _open_text(path, layout.encoding) as file, copy.open("w", encoding="utf-8", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(_different(layout.names))
        rows = _split((line.replace("\0", "") for line in file), layout.separator, path)
        for row in islice(rows, layout.skip + layout.has_header, None):
            if len(row) == width:
                writer.writerow(row)
            elif any(value.strip() for value in row):
                extra = row[width:]
                if len(row) > width and not any(value.strip() for value in extra):
                    writer.writerow(row[:width])  # separators at the end of a line
                else:
                    lost += 1
    return copy, lost
