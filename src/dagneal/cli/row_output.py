"""Output of tables of rows: CSV, TSV or Parquet files, or CSV on standard output."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import TYPE_CHECKING

from dagneal.base.errors import InputError
from dagneal.base.files import atomic_write, check_writable
from dagneal.cli.parsing import Once, Parser
from dagneal.cli.streams import write_data

if TYPE_CHECKING:
    import polars

_ENDINGS = (".csv", ".tsv", ".parquet")


def add_output(command: Parser) -> None:
    """Add the option `-o` for a table.

    Args:
        command: parser of the command.
    """
    text = "output file: .csv, .tsv or .parquet (default: CSV on standard output)"
    command.add_argument("-o", "--output", action=Once, metavar="FILE", help=text)


def check_output(options: argparse.Namespace) -> None:
    """Check the output file before the work. Raise an error if `--json` is given without a file.

    Args:
        options: parsed options of the command.
    """
    if options.output:
        if Path(options.output).suffix.lower() not in _ENDINGS:
            raise InputError(f"{options.output} has an unknown format; end the name in .csv, .tsv or .parquet")
        check_writable(options.output)
    elif options.json:
        raise InputError("--json prints a description of the output file, so it needs -o FILE")


def write_rows(frame: polars.DataFrame, path: str | None) -> None:
    """Write rows to a file, or as CSV to standard output.

    Args:
        frame: rows to write.
        path: file to write; None for standard output.
    """
    if path is None:
        write_data(frame.write_csv())
        return
    with atomic_write(path) as file:
        if path.lower().endswith(".parquet"):
            buffer = io.BytesIO()
            frame.write_parquet(buffer)
            file.write(buffer.getbuffer())
        else:
            file.write(frame.write_csv(separator="\t" if path.lower().endswith(".tsv") else ",").encode())
