"""Families as integer programmes see them: a child, its parents, and the cost of this choice in exact integers.

A network chooses one family for each child. The cost of a family is the best score of the child minus the score of the
family, so it is never negative, and the best network has the lowest total cost. Scores are rounded once, to multiples of
2^-40 nats. All proofs are exact for the rounded scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints
from dagneal.scoring.sets import Members, expand_masks, mask_sizes
from dagneal.scoring.table import ScoreTable

UNITS = 1 << 40  # units in one nat
ROUNDING = 0.5 / UNITS  # nats by which rounding changes a local score at most
MAX_COST = 1 << 19  # nats; families of a higher cost are left out, so that costs and multipliers fit into 64 bits

UNLIMITED = 1 << 100  # units; more than all networks cost


@dataclass(frozen=True, eq=False)
class Families:
    """The families of a score table, without those that no optimal or nearly optimal network needs.

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
    def of(cls, table: ScoreTable, most: float = MAX_COST, slack: float = 0.0) -> Families:
        """Return the families of a table, without those that score at least `slack` lower than a family with fewer parents.

        Args:
            table: score table.
            most: families of a higher cost are left out, in nats. No network that costs less contains them.
            slack: difference in nats. With 0, the families are enough for an optimal network. Otherwise they are enough for
                all networks that score less than `slack` lower.
        """
        start, masks, scores = table.prune(slack)
        n = len(table.names)
        widest = int(mask_sizes(masks).max(initial=0))
        children, rows = np.empty(len(masks), dtype=np.int64), np.empty((len(masks), widest), dtype=np.int32)
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

    def select(self, kept: NDArray[np.bool_]) -> Families:
        """Return some of the families.

        Args:
            kept: whether to keep each family.
        """
        start = np.concatenate([[0], np.cumsum(kept)])[self.start]
        return replace(self, start=start, children=self.children[kept], rows=self.rows[kept], costs=self.costs[kept])

    def choose(self, order: Sequence[int]) -> Ints | None:
        """Return the cheapest family of each child in an order of the variables; None if a child has no family.

        Args:
            order: variables from first to last. The parents of a family must come before the child.
        """
        position = np.empty(self.variables + 1, dtype=np.int64)
        position[list(order)], position[-1] = np.arange(self.variables), -1  # the last entry is for padding
        fits: NDArray[np.bool_] = np.all(position[self.rows] < position[self.children][:, None], axis=1)
        chosen = np.array([lo + np.argmax(fits[lo:hi]) for lo, hi in zip(self.start, self.start[1:], strict=False)])
        return chosen if fits[chosen].all() else None

    @property
    def variables(self) -> int:
        """Number of variables."""
        return len(self.highest)

    def __len__(self) -> int:
        return len(self.children)
