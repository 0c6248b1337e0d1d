"""The class `Direction`: support for the direction of an edge."""

from __future__ import annotations

from enum import StrEnum


class Direction(StrEnum):
    """Support for the direction of an edge. The value is the text of outputs and files.

    Attributes:
        FIXED: background knowledge requires the edge or does not allow its reversal.
        SUPPORTED: the edge is compelled and not weak, and at least 80% of the bootstrap samples that have it agree.
        COMPELLED: all networks of the equivalence class have this direction, but no bootstrap was done. The class itself is
            an estimate, so the stability of the direction is unknown.
        UNDETERMINED: neither knowledge nor the data determine the direction.
    """

    FIXED = "fixed by knowledge"
    SUPPORTED = "supported by the data"
    COMPELLED = "compelled, stability unknown"
    UNDETERMINED = "undetermined"
