"""`dagneal warm-up`: compile all kernels, so that later commands need not compile them."""

from __future__ import annotations

import argparse
from time import perf_counter

from dagneal.base.errors import InputError
from dagneal.cli import show
from dagneal.cli.parsing import Parser

SUMMARY = "compile all code now, so that the first run starts at once"
USAGE = "[options]"
EXAMPLES = """\
examples:
  dagneal warm-up
  NUMBA_CPU_NAME=generic dagneal warm-up   # in a container image that runs on different processors
"""


def add_options(command: Parser) -> None:
    """Add no options: the command has only the options of all commands.

    Args:
        command: parser of the command.
    """


def run(options: argparse.Namespace) -> None:
    """Compile all kernels, and print the folder that contains them.

    Args:
        options: parsed options of the command.
    """
    from dagneal.base.kernels import cache_folder
    from dagneal.cli.compilation import LEARNING, OTHERS, PROVING, compile_parts

    folder = cache_folder()
    if folder is None:
        raise InputError("no folder for compiled code is writable; set the variable DAGNEAL_CACHE to a writable folder")
    begun = perf_counter()
    failures = []
    with show.progress(options.quiet) as progress:
        for parts in (LEARNING, (*PROVING, *OTHERS)):
            failures += compile_parts(folder, parts, progress)
    if failures:
        raise InputError(f"compilation failed ({'; '.join(failures)})")
    seconds = perf_counter() - begun
    report = {"folder": str(folder), "seconds": seconds}
    show.result(report, f"compiled code is in {folder} ({seconds:.1f} s)", options)
