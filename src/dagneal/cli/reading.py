"""Data and networks, as the command line names them."""

from __future__ import annotations

import argparse
from typing import Any

from dagneal.base import kernels
from dagneal.base.errors import InputError
from dagneal.cli import show


def data(options: argparse.Namespace) -> Any:
    """The data of a command; what was done to them is said.

    Args:
        options: of the command.
    """
    from dagneal.data.reading import read
    from dagneal.networks.formats import read_network

    if not options.quiet:
        kernels.on_first_compilation(lambda: show.note("compiling what this needs, once after installation (some seconds)"))
    found = read(
        options.data,
        weights=options.weights,
        columns=options.columns,
        states=read_network(options.states) if options.states else None,
        missing=options.missing,
        bins=_bins(options.bins),
        rare=options.rare,
        drop=options.drop,
        merge=options.merge,
    )
    for text in () if options.quiet else found.prepared:
        show.note(text)
    return found


def _bins(given: list[str]) -> dict[str, str] | None:
    """Bins by column; those for all under an empty name."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, how = text.rpartition("=")
        if name in found or (equals and not name):
            raise InputError(f"--bins {text}: give each column once, as NAME=quantile:4")
        found[name] = how
    return found or None


def graph(source: str) -> Any:
    """The graph of a network, of a saved result or of a graph file.

    Args:
        source: a file or a bundled name.
    """
    from dagneal.networks.formats import read_structure, structure_of

    return structure_of(read_structure(source))
