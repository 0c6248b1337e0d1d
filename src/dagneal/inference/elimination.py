"""Variable elimination for many rows at once.

All rows have values for the same variables. The first axis of a factor is the row; it has length 1 if all rows are equal.
The other axes are variables without values. Summation gives the probability of the values of each row. Maximisation and a
pass backwards give the most probable states of the other variables, and summation and a pass backwards draw them. Messages
are scaled to a maximum of 1, so that products of many probabilities do not underflow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats, Ints
from dagneal.networks.network import BayesianNetwork

LARGEST_TABLE = 1 << 25  # largest number of probabilities in a table of an elimination: 256 MB
CELLS = 1 << 21  # numbers in the largest table if many rows are processed at once; more rows are divided into chunks
_KEY_BITS = 62  # bits of a key of a pattern
_AT_ONCE = 16  # factors that are multiplied before the product is scaled
UNKNOWN = -1  # code of an unknown value

Codes = NDArray[np.int32]


class TooDenseError(InputError):
    """A network is so densely connected that a table of an elimination would be too large."""


class Factor(NamedTuple):
    """A table over a few variables, one for each row.

    The first axis of `table` is the row, and the others are the variables of `scope`.
    """

    scope: tuple[int, ...]
    table: Floats


@dataclass(frozen=True)
class EliminationOrder:
    """An order of elimination.

    Attributes:
        order: variables to eliminate, the first one first.
        cells: number of values of the largest table for one row.
    """

    order: tuple[int, ...]
    cells: int


class IndexedNetwork:
    """A network with indices in place of names: the family and the table of each variable.

    Args:
        network: the network.
    """

    def __init__(self, network: BayesianNetwork) -> None:
        index = {name: at for at, name in enumerate(network.names)}
        self.names = network.names
        self.arities = [len(network.states[name]) for name in network.names]
        self.scopes = [(*(index[parent] for parent in network.parents[name]), index[name]) for name in network.names]
        self.tables = [network.cpts[name] for name in network.names]

    def ancestors(self, members: Iterable[int]) -> set[int]:
        """Return variables and all their ancestors. Other variables do not change the distribution of these variables.

        Args:
            members: indices of variables.
        """
        found: set[int] = set()
        pending = list(members)
        while pending:
            at = pending.pop()
            if at not in found:
                found.add(at)
                pending += self.scopes[at][:-1]
        return found

    def blanket(self, at: int) -> set[int]:
        """Return the Markov blanket of a variable: its parents, its children, and the other parents of its children.

        Args:
            at: index of the variable.
        """
        return {member for scope in self.scopes if at in scope for member in scope} - {at}

    def condition(self, codes: Codes, unknown: Collection[int], relevant: Collection[int]) -> list[Factor]:
        """Return the factors of the families of the relevant variables, given the known values of each row.

        Args:
            codes: values of shape (variables, rows).
            unknown: variables without values.
            relevant: variables whose families are factors.
        """
        factors = []
        for at in sorted(relevant):
            scope = self.scopes[at]
            known = [axis for axis, member in enumerate(scope) if member not in unknown]
            free = [axis for axis, member in enumerate(scope) if member in unknown]
            table = np.transpose(self.tables[at], [*known, *free])
            index = tuple(codes[scope[axis]] for axis in known)
            factors.append(Factor(tuple(scope[axis] for axis in free), table[index] if known else table[None]))
        return factors

    def plan(self, scopes: Iterable[Collection[int]], eliminate: Collection[int]) -> EliminationOrder:
        """Return an order of elimination. The next variable is always the one with the smallest table.

        Args:
            scopes: scopes of the factors.
            eliminate: variables to eliminate.
        """
        adjacent: dict[int, set[int]] = {}
        for scope in scopes:
            for member in scope:
                adjacent.setdefault(member, set()).update(scope)
        order, largest = [], 1
        left = {at for at in eliminate if at in adjacent}

        def weigh(at: int) -> int:
            return prod(self.arities[member] for member in adjacent[at])

        weights = {at: weigh(at) for at in left}
        while left:
            at = min(left, key=lambda each: (weights[each], each))
            largest = max(largest, weights[at])
            neighbours = adjacent.pop(at) - {at}
            left.remove(at)
            order.append(at)
            for member in neighbours:
                adjacent[member] = (adjacent[member] | neighbours) - {at}
            for member in neighbours & left:
                weights[member] = weigh(member)
        return EliminationOrder(tuple(order), largest)


def check_size(cells: int, what: str) -> None:
    """Raise an error if the largest table of a computation is too large.

    Args:
        cells: number of values of the table.
        what: name of the computation, the subject of the message.
    """
    if cells > LARGEST_TABLE:
        raise TooDenseError(
            f"{what} needs a table of {float(cells):.1e} numbers, because the network is densely connected (limit: "
            f"{float(LARGEST_TABLE):.1e}); give values for more variables, or learn a network with fewer parents"
        )


class Elimination:
    """The result of an elimination.

    Attributes:
        log_scale: log of the number by which the tables of each row are to be multiplied; minus infinity if a row has
            probability 0.
        rest: product of the factors that remain, over the variables that were not eliminated.
        steps: eliminated variables with the product of their factors, in the order of elimination.
    """

    def __init__(self, factors: Iterable[Factor], plan: EliminationOrder, maximise: bool = False) -> None:
        self.log_scale: Floats = np.zeros(1)
        self.steps: list[tuple[int, Factor]] = []
        remaining = []
        for factor in factors:  # a factor of known variables is one number per row
            if factor.scope:
                remaining.append(factor)
            else:
                self._scale(factor)
        for at in plan.order:
            bucket = [factor for factor in remaining if at in factor.scope]
            remaining = [factor for factor in remaining if at not in factor.scope]
            product = self._multiply(bucket, at)
            self.steps.append((at, product))
            table = product.table.max(axis=-1) if maximise else product.table.sum(axis=-1)
            remaining.append(Factor(product.scope[:-1], table))
        self.rest = self._multiply(remaining)

    def _multiply(self, factors: Sequence[Factor], last: int | None = None) -> Factor:
        """Return the product of factors, scaled to a largest value of 1 in each row; see `multiply`."""
        product = multiply(factors[:_AT_ONCE], last)
        for begin in range(_AT_ONCE, len(factors), _AT_ONCE):
            product = multiply([self._scale(product), *factors[begin : begin + _AT_ONCE]], last)
        return self._scale(product)

    def _scale(self, factor: Factor) -> Factor:
        """Return the factor with a largest value of 1 in each row, and add the log of its scale to `log_scale`."""
        scale = factor.table.reshape(len(factor.table), -1).max(axis=1)
        with np.errstate(divide="ignore"):
            self.log_scale = self.log_scale + np.log(scale)
        safe = np.where(scale > 0, scale, 1.0)
        return Factor(factor.scope, factor.table / safe.reshape(-1, *[1] * len(factor.scope)))

    def log_total(self) -> Floats:
        """Return the log of the sum over all variables, for each row."""
        with np.errstate(divide="ignore"):
            total: Floats = self.log_scale + np.log(self.rest.table.reshape(len(self.rest.table), -1).sum(axis=1))
        return total

    def go_back(self, codes: Codes, generator: np.random.Generator | None = None) -> None:
        """Write the states of the eliminated variables into `codes`.

        Without a generator, these are the states with the highest value; otherwise they are drawn.

        Args:
            codes: values of shape (variables, rows).
            generator: random generator.
        """
        rows = np.arange(codes.shape[1])
        for at, (scope, table) in reversed(self.steps):
            line = table[(rows if len(table) > 1 else 0, *(codes[member] for member in scope[:-1]))]
            line = np.broadcast_to(line, (len(rows), line.shape[-1]))
            if generator is None:
                codes[at] = line.argmax(axis=1)
            else:
                cumulated = line.cumsum(axis=1)
                drawn = generator.random(len(rows)) * cumulated[:, -1]
                codes[at] = (drawn[:, None] >= cumulated[:, :-1]).sum(axis=1)


def multiply(factors: Sequence[Factor], last: int | None = None) -> Factor:
    """Return the product of factors.

    Args:
        factors: factors to multiply.
        last: variable of the last axis of the product; None for any order.
    """
    members = list(dict.fromkeys(member for factor in factors for member in factor.scope if member != last))
    scope = (*members, *([] if last is None else [last]))
    place = {member: axis for axis, member in enumerate(scope)}
    result: Floats = np.ones((1, *[1] * len(scope)))
    for factor in factors:
        order = sorted(range(len(factor.scope)), key=lambda axis: place[factor.scope[axis]])
        shape = [len(factor.table), *[1] * len(scope)]
        for axis in order:
            shape[1 + place[factor.scope[axis]]] = factor.table.shape[1 + axis]
        result = result * np.transpose(factor.table, [0, *(1 + axis for axis in order)]).reshape(shape)
    return Factor(scope, result)


def groups(unknown: NDArray[np.bool_]) -> Mapping[tuple[int, ...], Ints]:
    """Return the rows with the same unknown variables: a mapping from the variables to the indices of the rows.

    Args:
        unknown: array of shape (variables, rows), which is true for an unknown value.
    """
    key = np.zeros(unknown.shape[1], dtype=np.int64)
    bits = 0
    for line in unknown[unknown.any(axis=1) & ~unknown.all(axis=1)]:
        key = 2 * key + line
        bits += 1
        if bits == _KEY_BITS:
            _, key = np.unique(key, return_inverse=True)
            bits = int(key.max()).bit_length()
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(inverse))[:-1])
    return {tuple(np.flatnonzero(unknown[:, row]).tolist()): part for row, part in zip(first, parts, strict=True)}
