"""The class `Caution`, a warning about the data or about what a result can support."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Caution:
    """A warning about the data or about what a result can support.

    Attributes:
        kind: identifier of the warning, such as `row counts`; each kind has one rule.
        columns: names of the columns concerned; empty if the warning concerns the whole table.
        text: what is wrong, where, and what to do.
    """

    kind: str
    columns: tuple[str, ...]
    text: str
