"""The class `Caution`: a warning about the data or about a learned network."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Caution:
    """A warning that a statistician would give about the data or about a learned network.

    Attributes:
        kind: what the warning is about, such as `duplicate columns`.
        columns: names of the columns that it is about.
        text: what was seen, why it matters and what to do.
    """

    kind: str
    columns: tuple[str, ...]
    text: str
