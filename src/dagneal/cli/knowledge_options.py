"""Options for background knowledge."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dagneal.base.errors import InputError, hint
from dagneal.cli.parsing import Parser, split_names

if TYPE_CHECKING:
    from dagneal.graphs.knowledge import Edge, Knowledge


def add_knowledge_options(command: Parser, probabilities: bool = True) -> None:
    """Add the options for background knowledge.

    Args:
        command: parser of the command.
        probabilities: True to add the option `--probability`, which only changes scores.
    """
    group = command.add_argument_group("background knowledge")
    edge: dict[str, Any] = {"action": "append", "default": [], "metavar": "A:B"}
    group.add_argument("--require", dest="required", help="require the edge from A to B (may be repeated)", **edge)
    group.add_argument("--forbid", dest="forbidden", help="forbid the edge from A to B (may be repeated)", **edge)
    if probabilities:
        group.add_argument(
            "--probability",
            dest="probabilities",
            action="append",
            default=[],
            metavar="A:B=P",
            help="prior probability of the edge from A to B (may be repeated)",
        )
    group.add_argument("--roots", type=split_names, default=[], metavar="A,B", help="variables that must have no parents")
    group.add_argument("--leaves", type=split_names, default=[], metavar="A,B", help="variables that must have no children")
    group.add_argument("--tiers", metavar="A,B:C,D", help="ordered groups of variables; no edge leads to an earlier group")
    group.add_argument(
        "--knowledge", metavar="FILE", help="TOML file or JSON text with the rules above and parent limits of variables"
    )


def read_knowledge_options(options: argparse.Namespace, names: Sequence[str]) -> Knowledge | None:
    """Combine the background knowledge of all options; return None if there is no knowledge.

    Args:
        options: parsed options of the command.
        names: names of the variables.
    """
    from dagneal.graphs.knowledge import Knowledge, as_knowledge

    knowledge = Knowledge(
        required=[_edge("--require", text, names) for text in options.required],
        forbidden=[_edge("--forbid", text, names) for text in options.forbidden],
        tiers=_tiers(options.tiers, names) if options.tiers else (),
        roots=options.roots,
        leaves=options.leaves,
        probabilities=_probabilities(getattr(options, "probabilities", []), names),
    )
    if options.knowledge:
        knowledge |= as_knowledge(_file_or_json(options.knowledge)) or Knowledge()
    return knowledge or None


def _file_or_json(text: str) -> Any:
    """Return the content of a JSON text; return any other text unchanged, as the path of a file."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f'--knowledge is not JSON: {error}; give a file or an object such as {{"leaves": ["a"]}}'
        ) from error


def _edge(option: str, text: str, names: Sequence[str]) -> Edge:
    """Parse an edge such as `A:B` and return the pair (parent, child). The names may contain colons."""
    columns = set(names)
    ends = [(text[:at].strip(), text[at + 1 :].strip()) for at, letter in enumerate(text) if letter == ":"]
    fitting = [(parent, child) for parent, child in ends if parent in columns and child in columns]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise InputError(f"{option} {text} is ambiguous ({len(fitting)} possible edges); use --knowledge FILE instead")
    for parent, child in ends[:1] if len(ends) == 1 else ():
        missing = parent if parent not in columns else child
        raise InputError(f"{option} {text}: the data have no column {missing!r}{hint(missing, names)}")
    raise InputError(f"{option} {text} is not an edge; write PARENT:CHILD with the names of two columns")


def _probabilities(texts: Sequence[str], names: Sequence[str]) -> dict[Edge, float]:
    """Parse probabilities such as `A:B=0.9`. Return the probability of each edge (parent, child)."""
    probabilities: dict[Edge, float] = {}
    for text in texts:
        ends, equals, number = text.rpartition("=")
        if not equals:
            raise InputError(f"--probability {text} has no probability; write PARENT:CHILD=P, such as {text}=0.9")
        edge = _edge("--probability", ends, names)
        if edge in probabilities:
            raise InputError(f"--probability gives the edge {edge[0]} -> {edge[1]} twice; remove one")
        try:
            probabilities[edge] = float(number)
        except ValueError as error:
            raise InputError(f"--probability {text}: {number!r} is not a number; give one above 0 and below 1") from error
    return probabilities


def _tiers(text: str, names: Sequence[str]) -> Any:
    """Parse tiers such as `A,B:C,D`. Colons separate groups, and commas separate the names of a group."""
    if text.lower().endswith(".toml"):
        raise InputError(f"--tiers {text} is a file; give groups such as a,b:c,d, or use --knowledge {text}")
    groups = [split_names(part) for part in text.split(":")]
    columns = set(names)
    for group in groups:
        for name in group:
            if name not in columns:
                more = "; for names with colons use --knowledge FILE" if any(":" in column for column in names) else ""
                raise InputError(f"--tiers {text}: the data have no column {name!r}{more}{hint(name, names)}")
    return groups
