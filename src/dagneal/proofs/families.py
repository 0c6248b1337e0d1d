"""Families as integer programmes see them: a child, its parents, and the cost of this choice in exact integers.

A network chooses one family for each child. The cost of a family is the best score of the child minus the score of the
family, so it is never negative, and the best network has the lowest total cost. Scores are rounded once, to multiples of
2^-40 nats. All proofs are exact for the rounded scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dagneal.base.kernels import Floats, Ints
from dagneal.scoring.sets import Members, expand_masks
from dagneal.scoring.table import ScoreTable

UNITS = 1 << 40  # units in one nat
ROUNDING = 0.5 / UNITS  # nats by which rounding changes a local score at most
MAX_COST = 1 << 19  # nats; families of a higher cost are left out, so that costs and multipliers fit into 64 bits

UNLIMITED = 1 << 100  # units; more than all networks cost


@dataclass(frozen=True, eq=False)
class Families:
    """The families of a score table without those that score no better than a family with fewer parents.

    Attributes:
        names: names of the variables.
        score_name: name of the score, with its parameters.
        max_parents: parent limit of the table.
        start: index of the first family of each child, followed by the number of families.
        children: child of each family.
        rows: parents of each family, as ascending variables padded with -1.
        costs: cost of each family, in units of 2^-40 nats. The costs of a child ascend.
        highest: best score of each child, in the same units: whole numbers that can be too large for 64-bit integers.
        complete_below: cost in the same units. All networks that cost less consist of these families. Families that cost
            more can be left out.
    """

    names: tuple[str, ...]
    score_name: str
    max_parents: int
    start: Ints
    children: Ints
    rows: Members
    costs: Ints
    highest: Floats
    complete_below: int = UNLIMITED

    @classmethod
    def of(cls, table: ScoreTable, most: float = MAX_COST) -> Families:
        """Return the families of a table.

        Args:
            table: score table.
            most: families of a higher cost are left out, in nats. No network that costs less contains them.
        """
        start, masks, scores = table.pruned
        n = len(table.names)
        children, rows = np.empty(len(masks), dtype=np.int64), np.empty((len(masks), table.max_parents), dtype=np.int32)
        expand_masks(table.first, table.candidates, start, masks, 0, children, rows)
        costs = scores[start[:-1]][children] - scores
        kept = np.flatnonzero(costs <= min(most, MAX_COST))
        children, rows = children[kept], rows[kept]
        units = np.rint(scores * UNITS)  # exact: a float times a power of two
        highest = units[start[:-1]] + 0.0  # not -0.0, which has another fingerprint
        return cls(
            names=table.names,
            score_name=table.score_name,
            max_parents=table.max_parents,
            start=np.searchsorted(children, np.arange(n + 1)),
            children=children,
            rows=rows,
            costs=(highest[children] - units[kept]).astype(np.int64),
            highest=highest,
            complete_below=UNLIMITED if len(kept) == len(masks) else int(min(most, MAX_COST) * UNITS),
        )

    def score(self, cost: int) -> float:
        """Return the log score of networks of a cost.

        Args:
            cost: cost in units of 2^-40 nats.
        """
        return (sum(map(int, self.highest.tolist())) - cost) / UNITS  # Python integers cannot overflow

    @property
    def variables(self) -> int:
        """Number of variables."""
        return len(self.highest)

    def __len__(self) -> int:
        return len(self.children)
