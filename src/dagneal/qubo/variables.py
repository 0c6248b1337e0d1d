"""The indices and labels of the variables of a QUBO."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dagneal.base.kernels import Ints
from dagneal.qubo.order_variables import OrderVariables
from dagneal.qubo.polynomial import Child
from dagneal.qubo.reduction import Reduction

Label = tuple[str | int, ...]
KINDS = {"d": "edges", "y": "slack", "r": "order", "a": "auxiliary"}


@dataclass(frozen=True, eq=False)
class Layout:
    """The index of each QUBO variable.

    As in the paper's matrix, edge variables d come first (row by row), then slack variables y, then order variables r.
    Auxiliary variables a come last.

    Attributes:
        d: `d[parent, child]` is the index of the edge variable; -1 if the edge has no variable.
        y: `y[child, l - 1]` is the index of slack variable l of the child; -1 if the child has no such variable.
        r: `r[a, b]` is the index of the order variable of the columns a and b, if a < b; -1 if there is no such variable.
        a: index of the first auxiliary variable of each child.
        products: (child, parents) of each auxiliary variable. The variable is the product of the edge variables from these
            parents to the child.
    """

    d: Ints
    y: Ints
    r: Ints
    a: Ints
    products: list[tuple[int, list[int]]]

    @classmethod
    def of(cls, children: list[Child], slack: Ints, order: OrderVariables, reductions: list[Reduction]) -> Layout:
        """Return the layout of a QUBO.

        Args:
            children: score polynomial of each child, with the parents that have edge variables.
            slack: number of slack variables of each child.
            order: order variables.
            reductions: auxiliary variables of each child.
        """
        n = len(children)
        edge = np.zeros((n, n), dtype=bool)
        for index, child in enumerate(children):
            edge[child.parents, index] = True
        sizes = [len(reduced.products) for reduced in reductions]
        begin = int(edge.sum()) + int(slack.sum()) + len(order.pairs)
        r = np.full((n, n), -1, dtype=np.int64)
        r[tuple(order.pairs.T)] = int(edge.sum()) + int(slack.sum()) + np.arange(len(order.pairs))
        products = [
            (index, [int(p) for bit, p in enumerate(child.parents) if product.members >> bit & 1])
            for index, (child, reduced) in enumerate(zip(children, reductions, strict=True))
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
    def num_variables(self) -> int:
        """The number of QUBO variables."""
        return int((self.d >= 0).sum() + (self.y >= 0).sum() + (self.r >= 0).sum()) + len(self.products)

    def labels(self, names: Sequence[str]) -> list[Label]:
        """Return the labels of the QUBO variables, in the order of their indices.

        Args:
            names: names of the data variables.
        """
        labels: list[Label] = [("d", names[parent], names[child]) for parent, child in np.argwhere(self.d >= 0)]
        labels += [("y", names[child], int(bit) + 1) for child, bit in np.argwhere(self.y >= 0)]
        labels += [("r", names[a], names[b]) for a, b in np.argwhere(self.r >= 0)]
        return labels + [("a", names[child], *(names[p] for p in parents)) for child, parents in self.products]


def _number(present: np.ndarray, begin: int) -> Ints:
    """Number the True entries row by row, starting with `begin`; the other entries are -1."""
    return np.where(present, begin + np.cumsum(present).reshape(present.shape) - 1, -1)
