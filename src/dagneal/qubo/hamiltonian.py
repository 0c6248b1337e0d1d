"""The Hamiltonian H = H_score + H_max + H_trans + H_consist, term by term, of many problems of one shape at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import dimod
import numpy as np

from dagneal.base.kernels import Floats, Ints
from dagneal.qubo.order_variables import Ordering
from dagneal.qubo.penalties import Penalties
from dagneal.qubo.polynomial import Child
from dagneal.qubo.reduction import Reduction
from dagneal.qubo.variables import Layout


@dataclass(frozen=True, eq=False)
class Qubos:
    """The QUBOs of one or more problems of the same shape, as arrays.

    Attributes:
        layout: which bit stands where.
        linear: shape (problems, bits).
        rows: first bit of each product.
        columns: second bit of each product.
        quadratic: shape (problems, products).
        offset: shape (problems,).
        penalties: the weights of the constraints.
    """

    layout: Layout
    linear: Floats
    rows: Ints
    columns: Ints
    quadratic: Floats
    offset: Floats
    penalties: Penalties

    def model(self, problem: int, names: Sequence[str] | None = None) -> dimod.BinaryQuadraticModel:
        """One of the problems as a model.

        Args:
            problem: its line.
            names: the variables, for the labels of the bits; without them the bits are numbered, which is quicker.
        """
        return dimod.BinaryQuadraticModel.from_numpy_vectors(
            self.linear[problem],
            (self.rows, self.columns, self.quadratic[problem]),
            self.offset[problem],
            dimod.BINARY,
            variable_order=None if names is None else self.layout.labels(names),
        )

    @cached_property
    def beta_ranges(self) -> Floats:
        """The temperatures that simulated annealing would choose for each problem, for all at once, shape (problems, 2).

        Hot: any bit flips with probability one half, log(2) / (2 max field). Cold: the easiest flip from a minimum happens
        once in a hundred sweeps, log(100 x number of smallest fields) / (2 min field), fields being those of the Ising form.
        """
        couplings = self.quadratic / 4
        fields = self.linear / 2
        for ends in (self.rows, self.columns):
            np.add.at(fields.T, ends, couplings.T)
        total = np.abs(fields)
        smallest = np.where(fields != 0, total, np.inf)
        size = np.abs(couplings)
        present = np.where(size > 0, size, np.inf)
        for ends in (self.rows, self.columns):
            np.add.at(total.T, ends, size.T)
            np.minimum.at(smallest.T, ends, present.T)
        least = smallest.min(axis=1, initial=np.inf)
        number = (smallest == least[:, None]).sum(axis=1)
        hot, cold = np.log(2) / (2 * total.max(axis=1, initial=0.0)), np.log(number / 0.01) / (2 * least)
        return np.stack([hot, cold], axis=1)


def assemble(
    layout: Layout,
    children: list[Child],
    limit: int,
    limited: Ints,
    order: Ordering,
    reductions: list[Reduction],
    penalties: Penalties,
    squared: bool,
) -> Qubos:
    """Put the terms together.

    Args:
        layout: which bit stands where.
        children: the polynomials.
        limit: the most parents of a child.
        limited: the children that need H_max.
        order: the order bits.
        reductions: the auxiliary bits.
        penalties: the weights.
        squared: whether H_max is the paper's square.
    """
    terms = _Terms(len(children[0].costs), layout.bits)
    for place, (child, reduced) in enumerate(zip(children, reductions, strict=True)):
        _score(terms, layout, place, child, reduced, penalties.products[place])
    for place in limited:
        _maximum(terms, layout, int(place), limit, penalties.maximum[:, place, None], squared)
    _consistency(terms, layout, order, penalties)
    _transitivity(terms, layout, order, penalties)
    rows, columns, quadratic = terms.merge()
    return Qubos(layout, terms.linear, rows, columns, quadratic, terms.offset, penalties)


class _Terms:
    """Coefficients of many problems as they come; the first axis is the problem."""

    def __init__(self, problems: int, bits: int) -> None:
        self.linear = np.zeros((problems, bits))
        self.offset = np.zeros(problems)
        self.products: list[Ints] = [np.zeros(0, dtype=np.int64)]
        self.values: list[Floats] = [np.zeros((problems, 0))]

    def add(self, rows: Ints, columns: Ints, values: Floats) -> None:
        """Add products of two bits, with values of shape (problems, products) or (problems, 1)."""
        self.products.append(np.minimum(rows, columns) * self.linear.shape[1] + np.maximum(rows, columns))
        self.values.append(np.broadcast_to(values, (len(self.offset), len(rows))))

    def merge(self) -> tuple[Ints, Ints, Floats]:
        """Rows, columns and values, equal products added up."""
        products, place = np.unique(np.concatenate(self.products), return_inverse=True)
        values = np.zeros((len(products), len(self.offset)))
        np.add.at(values, place, np.concatenate(self.values, axis=1).T)
        bits = max(self.linear.shape[1], 1)
        return products // bits, products % bits, np.ascontiguousarray(values.T)


def _score(terms: _Terms, layout: Layout, place: int, child: Child, reduced: Reduction, weights: Floats) -> None:
    """H_score, the sum over parent sets J of w(J) prod d_j, and what makes auxiliary bits products.

    An auxiliary bit a for the product x y costs u x y - (u + v) (x a + y a) + (u + 2 v) a: nothing where a = x y, u where it
    is 0 in place of 1, at least v where it is 1 in place of 0. With u = v this is Rosenberg's.
    """
    bits = np.concatenate([layout.d[child.parents, place], layout.a[place] + np.arange(len(reduced.products))])
    sets = child.sets
    terms.offset += child.weights[:, 0]
    single = np.flatnonzero(sets.sizes == 1)
    terms.linear[:, bits[_bits_of(sets.masks[single], 1)[:, 0]]] += child.weights[:, single]
    pairs = np.flatnonzero(sets.sizes == 2)
    ends = bits[_bits_of(sets.masks[pairs], 2)]
    terms.add(ends[:, 0], ends[:, 1], child.weights[:, pairs])
    if not len(reduced.products):
        return
    ends = bits[reduced.factors]
    terms.add(ends[:, 0], ends[:, 1], child.weights[:, np.searchsorted(sets.masks, reduced.terms)])
    x, y = bits[np.array([(product.left, product.right) for product in reduced.products])].T
    a = bits[len(child.parents) :]
    low, high = weights[:, :, 0], weights[:, :, 1]
    terms.add(x, y, low)
    terms.add(x, a, -(low + high))
    terms.add(y, a, -(low + high))
    terms.linear[:, a] += low + 2 * high


def _bits_of(masks: np.ndarray, count: int) -> Ints:
    """The places of the bits that are set in each mask, all of which have so many."""
    found = np.empty((len(masks), count), dtype=np.int64)
    left = masks.copy()
    for column in range(count):
        lowest = left & (~left + np.uint64(1))
        found[:, column] = np.bitwise_count(lowest - np.uint64(1))
        left ^= lowest
    return found


def _maximum(terms: _Terms, layout: Layout, place: int, limit: int, weight: Floats, squared: bool) -> None:
    """H_max, zero where a child has at most m parents, multiplied out.

    The paper's is delta (X - m)^2 with X = sum of d + y. Ours is delta (X - m)(X - m + 1) / 2 with X = sum of d + 2 y: zero
    for two values of X in a row, so that y needs half as many values, one bit fewer; e (e + 1) / 2 for e parents too many.
    """
    slack = layout.y[place][layout.y[place] >= 0]
    edges = layout.d[:, place][layout.d[:, place] >= 0]
    bits = np.concatenate([edges, slack])
    factor = np.concatenate([np.ones(len(edges)), (1.0 if squared else 2.0) * 2.0 ** np.arange(len(slack))])
    a, b = np.triu_indices(len(bits), 1)
    if squared:
        terms.offset += weight[:, 0] * limit**2
        terms.linear[:, bits] += weight * (factor**2 - 2 * limit * factor)
        terms.add(bits[a], bits[b], weight * 2 * factor[a] * factor[b])
    else:
        terms.offset += weight[:, 0] * limit * (limit - 1) / 2
        terms.linear[:, bits] += weight * (factor**2 - (2 * limit - 1) * factor) / 2
        terms.add(bits[a], bits[b], weight * factor[a] * factor[b])


def _consistency(terms: _Terms, layout: Layout, order: Ordering, penalties: Penalties) -> None:
    """H_consist, which makes d follow r, or where there is no r, keeps an edge and its reverse apart."""
    i, j = order.pairs.T
    here = layout.d[i, j] >= 0  # i -> j needs r_ij = 1
    weight = penalties.consistency[:, i[here], j[here]]
    terms.linear[:, layout.d[i, j][here]] += weight
    terms.add(layout.d[i, j][here], layout.r[i, j][here], -weight)
    here = layout.d[j, i] >= 0  # j -> i needs r_ij = 0
    terms.add(layout.d[j, i][here], layout.r[i, j][here], penalties.consistency[:, j[here], i[here]])
    i, j = order.exclusive.T
    terms.add(layout.d[i, j], layout.d[j, i], penalties.exclusion)


def _transitivity(terms: _Terms, layout: Layout, order: Ordering, penalties: Penalties) -> None:
    """H_trans, which forbids cycles of three in r."""
    i, j, k = order.triangles.T
    ij, jk, ik = layout.r[i, j], layout.r[j, k], layout.r[i, k]
    np.add.at(terms.linear.T, ik, penalties.transitivity.T)
    terms.add(ij, jk, penalties.transitivity)
    terms.add(ij, ik, -penalties.transitivity)
    terms.add(ik, jk, -penalties.transitivity)
