"""`dagneal prepare`: prepare a raw table, and save the data and the recipe."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dagneal.base.errors import InputError
from dagneal.base.files import atomic_write, check_distinct_paths, check_writable
from dagneal.base.text import printable
from dagneal.cli import show
from dagneal.cli.inputs import add_reading_options, prepare_data
from dagneal.cli.parsing import Once, Parser
from dagneal.cli.translation import translate

if TYPE_CHECKING:
    import polars

    from dagneal.data.raw.prepare import Prepared

SUMMARY = "prepare a raw table: exclude columns that are no variables, cut numbers, treat missing values"
USAGE = "DATA [options]"
EXAMPLES = """\
examples:
  dagneal prepare patients.csv                                        # print what becomes of each column
  dagneal prepare patients.csv -o clean.parquet --recipe patients.toml
  dagneal prepare new.csv --apply patients.toml -o new-clean.parquet  # same cut points and states
"""
_FORMATS = (".parquet", ".csv")


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: parser of the command.
    """
    command.add_argument("data", metavar="DATA", help="CSV, TSV or Parquet file with column names; - for standard input")
    add_reading_options(command, score=False)
    output = "save the prepared rows: .parquet (keeps the order of the states) or .csv"
    command.add_argument("-o", "--output", action=Once, metavar="FILE", help=output)
    command.add_argument("--recipe", action=Once, metavar="FILE", help="save the recipe as TOML")


def run(options: argparse.Namespace) -> None:
    """Prepare the data, save rows and recipe, and print the preparation table.

    Args:
        options: parsed options of the command.
    """
    from dagneal.report.preparation import preparation_lines

    if options.strict or options.codes:
        raise InputError("--strict and --codes change nothing in a table; omit them, or use dagneal learn")
    files = [path for path in (options.output, options.recipe) if path is not None]
    for path in files:
        check_writable(path)
    check_distinct_paths(files)
    if options.output is not None and Path(options.output).suffix.lower() not in _FORMATS:
        raise InputError(f"{options.output}: the name must end in {' or '.join(_FORMATS)}")
    if options.data == "-" and options.output is not None:
        raise InputError("the rows of standard input cannot be read twice; save them to a file first")
    prepared = prepare_data(options)
    if options.output is not None:
        _write(_rows(prepared, options.data), options.output)
    if options.recipe is not None:
        prepared.recipe.save(options.recipe)
    preparation = prepared.preparation
    lines = [f"{options.data}: {len(prepared.data.names)} variables, {prepared.data.describe_rows()}", ""]
    lines += preparation_lines(preparation, everything=True)
    lines += [f"Warning: {printable(caution.text)}" for caution in preparation.cautions]
    show.result(preparation.to_dict(), translate("\n".join(lines), options.command), options)
    for path in files:
        show.saved_file(path, options)


def _rows(prepared: Prepared, source: str) -> polars.DataFrame:
    """Return the prepared rows in the order of the source, without the rows that were left out."""
    return prepared.recipe.encode(source).drop_nulls(list(prepared.data.names))


def _write(rows: polars.DataFrame, path: str) -> None:
    """Write rows to a Parquet or CSV file."""
    with atomic_write(path) as file:
        if path.lower().endswith(".parquet"):
            rows.write_parquet(file)
        else:
            rows.write_csv(file)
