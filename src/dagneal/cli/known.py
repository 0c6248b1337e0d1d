"""Background knowledge from the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from dagneal.base.errors import InputError
from dagneal.graphs.knowledge import Edge, Knowledge, read_knowledge


def knowledge(options: argparse.Namespace, names: Sequence[str]) -> Knowledge | None:
    """All that --require, --forbid, --tiers and --knowledge say together.

    Args:
        options: of the command.
        names: the variables.
    """
    known = Knowledge(
        required=[_edge("--require", text, names) for text in options.require],
        forbidden=[_edge("--forbid", text, names) for text in options.forbid],
    )
    if options.tiers:
        tiers = read_knowledge(options.tiers)
        if set(tiers.to_dict()) != {"tiers"}:
            raise InputError(f"{options.tiers} must hold tiers and nothing else; give other knowledge with --knowledge")
        known |= tiers
    if options.knowledge:
        known |= read_knowledge(options.knowledge)
    return known or None


def _edge(option: str, text: str, names: Sequence[str]) -> Edge:
    """An edge written as A:B; names may have colons too."""
    known = set(names)
    ends = [(text[:at].strip(), text[at + 1 :].strip()) for at, letter in enumerate(text) if letter == ":"]
    fitting = [(parent, child) for parent, child in ends if parent in known and child in known]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise InputError(f"{option} {text} can be read in {len(fitting)} ways; use a file of knowledge")
    for parent, child in ends[:1] if len(ends) == 1 else ():
        missing = parent if parent not in known else child
        raise InputError(f"{option} {text}: there is no column {missing!r} in the data")
    raise InputError(f"{option} {text} is no edge; write PARENT:CHILD with the names of two columns")
