"""Layout: which bit of a QUBO stands where, and what it is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dagneal.base.kernels import Ints
from dagneal.qubo.order_variables import Ordering
from dagneal.qubo.polynomial import Child
from dagneal.qubo.reduction import Reduction

Label = tuple[str | int, ...]
KINDS = {"d": "edges", "y": "slack", "r": "order", "a": "auxiliary"}


@dataclass(frozen=True, eq=False)
class Layout:
    """Where each bit stands: all d row by row, then y, then r, so that the matrix is the paper's; then a.

    Attributes:
        d: `d[parent, child]`, -1 where there is none.
        y: `y[child, l - 1]`, -1 where there is none.
        r: `r[a, b]` for a before b in the data's columns, -1 where there is none.
        a: for each child the first of its auxiliary bits.
        products: for each auxiliary bit its child and the parents whose edges it multiplies.
    """

    d: Ints
    y: Ints
    r: Ints
    a: Ints
    products: list[tuple[int, list[int]]]

    @classmethod
    def of(cls, children: list[Child], slack: Ints, order: Ordering, reductions: list[Reduction]) -> Layout:
        """Number the bits.

        Args:
            children: whose possible parents have edge bits.
            slack: how many slack bits each child has.
            order: the pairs with order bits.
            reductions: the auxiliary bits of each child.
        """
        n = len(children)
        edge = np.zeros((n, n), dtype=bool)
        for place, child in enumerate(children):
            edge[child.parents, place] = True
        sizes = [len(reduced.products) for reduced in reductions]
        begin = int(edge.sum()) + int(slack.sum()) + len(order.pairs)
        r = np.full((n, n), -1, dtype=np.int64)
        r[tuple(order.pairs.T)] = int(edge.sum()) + int(slack.sum()) + np.arange(len(order.pairs))
        products = [
            (place, [int(p) for bit, p in enumerate(child.parents) if product.members >> bit & 1])
            for place, (child, reduced) in enumerate(zip(children, reductions, strict=True))
            for product in reduced.products
        ]
        has_slack = np.arange(slack.max(initial=0)) < slack[:, None]
        return cls(
            d=_number(edge, 0),
            y=_number(has_slack, int(edge.sum())),
            r=r,
            a=begin + np.cumsum([0, *sizes[:-1]]),
            products=products,
        )

    @property
    def bits(self) -> int:
        """How many bits there are."""
        return int((self.d >= 0).sum() + (self.y >= 0).sum() + (self.r >= 0).sum()) + len(self.products)

    def labels(self, names: Sequence[str]) -> list[Label]:
        """What the bits are called.

        Args:
            names: the variables.
        """
        found: list[Label] = [("d", names[parent], names[child]) for parent, child in np.argwhere(self.d >= 0)]
        found += [("y", names[child], int(bit) + 1) for child, bit in np.argwhere(self.y >= 0)]
        found += [("r", names[a], names[b]) for a, b in np.argwhere(self.r >= 0)]
        return found + [("a", names[child], *(names[p] for p in parents)) for child, parents in self.products]


def _number(present: np.ndarray, begin: int) -> Ints:
    """Numbers from `begin` for what is present, row by row; -1 elsewhere."""
    return np.where(present, begin + np.cumsum(present).reshape(present.shape) - 1, -1)
