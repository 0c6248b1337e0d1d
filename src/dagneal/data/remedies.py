"""Commands that help after a source of data was refused: another file, a conversion, or a look at the file."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from dagneal.data.datafile import COMPRESSIONS, PARQUET, SEPARATORS, TEXT

EXAMPLE = "dagneal sample lung-cancer -o example.csv"
_MOST = 1_000  # files of a folder that are looked at
_LINES = 5  # lines that show what a text file holds
_IN_MESSAGE = re.compile(r", line (\d+)[:,]")

_POLARS = "import polars; polars.{function}({source!r}).write_csv({target!r})"
_PANDAS = "import pandas; pandas.{function}({source!r}).to_csv({target!r}, index=False)"
# For each kind of file that is no table of text: program and function that read it.
_READERS = {
    ".json": (_POLARS, "read_json"),
    ".jsonl": (_POLARS, "read_ndjson"),
    ".feather": (_POLARS, "read_ipc"),
    ".arrow": (_POLARS, "read_ipc"),
    ".xlsx": (_PANDAS, "read_excel"),
    ".xls": (_PANDAS, "read_excel"),
    ".ods": (_PANDAS, "read_excel"),
    ".sav": (_PANDAS, "read_spss"),
    ".dta": (_PANDAS, "read_stata"),
}


@dataclass(frozen=True)
class Remedy:
    """What to do about a source that was refused.

    Attributes:
        purpose: what the command does, such as "to convert the file".
        before: shell command to run first; empty for none.
        data: source to use in place of the refused one; empty if `before` is the whole command.
        certain: whether the source itself is at fault, whatever the options.
    """

    purpose: str
    before: str = ""
    data: str = ""
    certain: bool = True


def find_remedy(source: str, message: str) -> Remedy:
    """Return what to do about a file, a folder or a pattern that was refused.

    Args:
        source: path as given by the user, or `-` for standard input.
        message: why it was refused.
    """
    path = Path(source)
    if source == "-" or not path.exists():
        return _nearest(path)
    if path.is_dir():
        inside = [*_tables(path), *(table for folder in _folders(path) for table in _tables(folder))]
        return Remedy("to read one of its files", data=str(inside[0])) if inside else _EXAMPLE_REMEDY
    if convert := _conversion(path):
        return convert
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError:
        return _another(path)
    if path.suffix.lower() in PARQUET or b"\0" in start or not start.strip():
        return _another(path)
    if line := _IN_MESSAGE.search(message):
        return Remedy("to see the line", f"sed -n {line[1]}p {shlex.quote(source)}", certain=False)
    return Remedy("to see the first lines", f"head -n {_LINES} {shlex.quote(source)}", certain=False)


_EXAMPLE_REMEDY = Remedy("for an example of a table", EXAMPLE)


def _conversion(path: Path) -> Remedy | None:
    """Return a command that makes a CSV file from a file of another kind; None if no conversion is known."""
    suffix, source, target = path.suffix.lower(), str(path), str(path.with_suffix(".csv"))
    if reader := _READERS.get(suffix):
        program, function = reader
        words = ["python", "-c", program.format(function=function, source=source, target=target)]
    elif suffix == ".rds":
        words = ["Rscript", "-e", f"write.csv(readRDS({_r_text(source)}), {_r_text(target)}, row.names = FALSE)"]
    else:
        with path.open("rb") as file:
            start = file.read(8)
        if not start.startswith(COMPRESSIONS["Zstandard"]):
            return None
        target = str(path.with_suffix("")) if path.with_suffix("").suffix.lower() in TEXT else target
        words = ["zstd", "-d", source, "-o", target]
    return Remedy("to convert the file", shlex.join(words), target)


def _r_text(text: str) -> str:
    """Return a text in quotes, as R reads it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _nearest(path: Path) -> Remedy:
    """Return the table whose name is most similar to that of a file that does not exist."""
    folder = path.parent
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    tables = _tables(folder) or [table for inside in _folders(folder) for table in _tables(inside)]
    stems = {table.name.partition(".")[0].casefold(): table for table in reversed(tables)}
    close = get_close_matches(path.name.partition(".")[0].casefold(), stems, n=1)
    if close:
        return Remedy(f"for the similar name {stems[close[0]].name}", data=str(stems[close[0]]))
    return Remedy(f"for a file in {_shown(folder)}", data=str(tables[0])) if tables else _EXAMPLE_REMEDY


def _another(path: Path) -> Remedy:
    """Return another table of the same folder."""
    tables = [table for table in _tables(path.parent) if table != path]
    return Remedy(f"for another file in {_shown(path.parent)}", data=str(tables[0])) if tables else _EXAMPLE_REMEDY


def _shown(folder: Path) -> str:
    """Return how a message names a folder."""
    return "this folder" if folder == Path(".") else f"the folder {folder}"


def _tables(folder: Path) -> list[Path]:
    """Return the files of a folder that look like tables: text files before Parquet files, otherwise sorted by name."""
    endings = {".csv", ".tsv", ".tab", *PARQUET}
    files = [path for path in _entries(folder) if path.suffix.lower() in endings and _looks_like_table(path)]
    return sorted(files, key=lambda path: path.suffix.lower() in PARQUET)


def _looks_like_table(path: Path) -> bool:
    """Return whether a file starts like a table with at least two columns."""
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError:
        return False
    if path.suffix.lower() in PARQUET:
        return start.startswith(b"PAR1")
    header = start.strip().partition(b"\n")[0]
    return b"\0" not in start and any(separator.encode() in header for separator in SEPARATORS)


def _folders(folder: Path) -> list[Path]:
    """Return the folders in a folder, sorted by name."""
    return [path for path in _entries(folder) if path.is_dir()]


def _entries(folder: Path) -> list[Path]:
    """Return the first files and folders of a folder, sorted by name, without hidden ones."""

    def visible() -> Iterator[Path]:
        for path in folder.iterdir():
            if not path.name.startswith((".", "_")):
                yield path

    try:
        return sorted(islice(visible(), _MOST))
    except OSError:
        return []
