"""`dagneal sample`: sample data from a network."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from dagneal.base.defaults import SEED
from dagneal.base.errors import InputError
from dagneal.base.files import atomic_write, check_writable
from dagneal.cli import show
from dagneal.cli.parsing import Once, Parser
from dagneal.cli.streams import write_data

SUMMARY = "sample data from a network"
USAGE = "NETWORK [options]"
EXAMPLES = """\
examples:
  dagneal sample lung-cancer --rows 10000 --seed 7 -o lc.csv
  dagneal sample lung-cancer --rows 10000 --expected -o lc.csv   # expected counts, as in the paper
  dagneal sample asia.bif --rows 1000000 --weights count -o asia.parquet   # distinct rows with counts
"""


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: parser of the command.
    """
    command.add_argument("network", metavar="NETWORK", help=".bif file or bundled name (see dagneal networks)")
    command.add_argument("--rows", type=int, default=10_000, metavar="N", help="number of rows (default 10000)")
    command.add_argument("--seed", type=int, default=SEED, metavar="S", help=f"random seed (default {SEED})")
    command.add_argument(
        "--expected", action="store_true", help="write each possible row its expected number of times; draw no random rows"
    )
    command.add_argument(
        "--rounding",
        choices=("nearest", "floor"),
        default="nearest",
        help="rounding of the expected counts (default nearest)",
    )
    command.add_argument("--weights", metavar="COLUMN", help="write each distinct row once, with its count in this column")
    command.add_argument(
        "-o",
        "--output",
        action=Once,
        metavar="FILE",
        help="output file: .csv, .tsv or .parquet (default: CSV on standard output)",
    )


def run(options: argparse.Namespace) -> None:
    """Sample rows and write them.

    Args:
        options: parsed options of the command.
    """
    from dagneal.data.dataset import decode_frame
    from dagneal.networks.formats import read_network

    if options.output:
        if Path(options.output).suffix.lower() not in (".csv", ".tsv", ".parquet"):
            raise InputError(f"{options.output} has an unknown format; end the name in .csv, .tsv or .parquet")
        check_writable(options.output)
    elif options.json:
        raise InputError("--json prints a description of the output file, so it needs -o FILE")
    network = read_network(options.network)
    states = list(network.states.values())
    if options.expected or options.weights:
        data = (
            network.expected_data(options.rows, options.rounding)
            if options.expected
            else network.sample(options.rows, options.seed)
        )
        rows, frames = data.rows, iter([data.frame(options.weights)])
    else:  # rows in random order, in chunks
        rows = options.rows
        frames = (decode_frame(network.names, states, codes) for codes in network.sample_codes(rows, options.seed))
    if options.output is None:
        for position, frame in enumerate(frames):
            write_data(frame.write_csv(include_header=position == 0))
        return
    with atomic_write(options.output) as file:
        if options.output.lower().endswith(".parquet"):
            import polars

            buffer = io.BytesIO()
            polars.concat(frames).write_parquet(buffer)
            file.write(buffer.getbuffer())
        else:
            separator = "\t" if options.output.lower().endswith(".tsv") else ","
            for position, frame in enumerate(frames):
                file.write(frame.write_csv(separator=separator, include_header=position == 0).encode())
    report = {"network": options.network, "rows": rows, "file": options.output}
    show.result(report, f"{rows:,} rows of {options.network} written to {options.output}", options)
