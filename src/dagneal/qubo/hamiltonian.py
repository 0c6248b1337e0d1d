"""Build the Hamiltonian H = H_score + H_max + H_trans + H_consist of one or more problems of the same shape.

Problems of the same shape have the same QUBO variables. Only their coefficients differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints
from dagneal.qubo.order_variables import OrderVariables
from dagneal.qubo.penalties import Penalties
from dagneal.qubo.polynomial import Child
from dagneal.qubo.reduction import Reduction
from dagneal.qubo.variables import Layout
from dagneal.scoring.sets import find_masks, mask_bits

if TYPE_CHECKING:
    import dimod


@dataclass(frozen=True, eq=False)
class Qubos:
    """The QUBOs of one or more problems with the same QUBO variables, as arrays.

    Attributes:
        layout: index of each QUBO variable.
        linear: linear coefficients, shape (problems, QUBO variables).
        rows: index of the first variable of each interaction.
        columns: index of the second variable of each interaction.
        quadratic: quadratic coefficients, shape (problems, interactions).
        offset: constant terms, shape (problems,).
        penalties: weights of the constraints.
    """

    layout: Layout
    linear: Floats
    rows: Ints
    columns: Ints
    quadratic: Floats
    offset: Floats
    penalties: Penalties

    def round_to_single(self) -> Qubos:
        """Return QUBOs whose linear and quadratic coefficients are rounded to 32-bit floats.

        Energies, the Ising form and the range of beta then follow from the rounded coefficients.
        """
        linear, quadratic = (array.astype(np.float32).astype(np.float64) for array in (self.linear, self.quadratic))
        return replace(self, linear=linear, quadratic=quadratic)

    def model(self, problem: int, names: Sequence[str] | None = None) -> dimod.BinaryQuadraticModel:
        """Return the binary quadratic model of one problem.

        Args:
            problem: index of the problem.
            names: names of the data variables, for the labels of the QUBO variables; by default the labels are indices.
        """
        import dimod

        return dimod.BinaryQuadraticModel.from_numpy_vectors(
            self.linear[problem],
            (self.rows, self.columns, self.quadratic[problem]),
            self.offset[problem],
            dimod.BINARY,
            variable_order=None if names is None else self.layout.labels(names),
        )

    def energies(self, problem: int, samples: NDArray[np.int8]) -> Floats:
        """Return the energies of reads of one problem.

        Args:
            problem: index of the problem.
            samples: values 0 and 1 of the QUBO variables, shape (reads, QUBO variables).
        """
        energies: Floats = samples @ self.linear[problem] + self.offset[problem]
        energies += (samples[:, self.rows] * samples[:, self.columns]) @ self.quadratic[problem]
        return energies

    @cached_property
    def ising(self) -> tuple[Floats, Floats]:
        """The coefficients of the Ising form: fields, shape (problems, QUBO variables), and couplings, like `quadratic`."""
        couplings = self.quadratic / 4
        fields = self.linear / 2
        for ends in (self.rows, self.columns):
            np.add.at(fields.T, ends, couplings.T)
        return fields, couplings

    @cached_property
    def beta_ranges(self) -> Floats:
        """The first and last inverse temperature (beta) that `SimulatedAnnealingSampler` would choose, shape (problems, 2).

        Let h and J be the coefficients of the Ising form.
        The first beta (hot) is log(2) / (2 F), where F is the largest sum of |h| and all |J| of one spin. Then every spin
        flips with a probability of at least one half.
        The last beta (cold) is log(100 k) / (2 f), where f is the smallest nonzero |h| or |J|, and k is the number of spins
        with this coefficient. Then the easiest flip from a minimum happens once in a hundred sweeps.
        """
        fields, couplings = self.ising
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
    order: OrderVariables,
    reductions: list[Reduction],
    penalties: Penalties,
    squared: bool,
) -> Qubos:
    """Return the QUBOs with all terms of the Hamiltonian.

    Args:
        layout: index of each QUBO variable.
        children: score polynomial of each child.
        limit: parent limit.
        limited: indices of the children that need H_max, the term for the parent limit.
        order: order variables.
        reductions: auxiliary variables of each child.
        penalties: weights of the constraints.
        squared: True to use the paper's squared form of H_max, False to use the form with fewer slack variables.
    """
    terms = _Terms(len(children[0].costs), layout.num_variables)
    for index, (child, reduced) in enumerate(zip(children, reductions, strict=True)):
        _add_score(terms, layout, index, child, reduced, penalties.auxiliary[index])
    for index in limited:
        _add_maximum(terms, layout, int(index), limit, penalties.maximum[:, index, None], squared)
    _add_consistency(terms, layout, order, penalties)
    _add_transitivity(terms, layout, order, penalties)
    rows, columns, quadratic = terms.merge()
    return Qubos(layout, terms.linear, rows, columns, quadratic, terms.offset, penalties)


class _Terms:
    """The linear, quadratic and constant terms of a Hamiltonian that is being built.

    Each array of coefficients has one row or entry per problem.
    """

    def __init__(self, problems: int, variables: int) -> None:
        self.linear = np.zeros((problems, variables))
        self.offset = np.zeros(problems)
        self.keys: list[Ints] = [np.zeros(0, dtype=np.int64)]  # row * variables + column of each interaction
        self.values: list[Floats] = [np.zeros((problems, 0))]

    def add(self, rows: Ints, columns: Ints, values: Floats) -> None:
        """Add quadratic terms. The values have the shape (problems, interactions) or (problems, 1)."""
        self.keys.append(np.minimum(rows, columns) * self.linear.shape[1] + np.maximum(rows, columns))
        self.values.append(np.broadcast_to(values, (len(self.offset), len(rows))))

    def merge(self) -> tuple[Ints, Ints, Floats]:
        """Return (rows, columns, values) of the distinct interactions. Values of the same interaction are summed."""
        keys, index = np.unique(np.concatenate(self.keys), return_inverse=True)
        values = np.zeros((len(keys), len(self.offset)))
        np.add.at(values, index, np.concatenate(self.values, axis=1).T)
        variables = max(self.linear.shape[1], 1)
        return keys // variables, keys % variables, np.ascontiguousarray(values.T)


def _add_score(terms: _Terms, layout: Layout, index: int, child: Child, reduced: Reduction, weights: Floats) -> None:
    """Add H_score of one child, and the penalties of its auxiliary variables.

    H_score is the sum, over parent sets J, of the coefficient w(J) times the product of the edge variables of J.
    Let z be an auxiliary variable that replaces the product x y, with the weights u and v. Its penalty is
    u x y - (u + v) (x z + y z) + (u + 2 v) z. The penalty is 0 if z = x y, u if z is 0 but should be 1, and at least v if
    z is 1 but should be 0. For u = v it is Rosenberg's penalty.
    """
    variables = np.concatenate([layout.d[child.parents, index], layout.a[index] + np.arange(len(reduced.products))])
    sets = child.sets
    terms.offset += child.weights[:, 0]
    single = np.flatnonzero(sets.sizes == 1)
    terms.linear[:, variables[mask_bits(sets.masks[single]).ravel()]] += child.weights[:, single]
    pairs = np.flatnonzero(sets.sizes == 2)
    ends = variables[mask_bits(sets.masks[pairs]).reshape(-1, 2)]
    terms.add(ends[:, 0], ends[:, 1], child.weights[:, pairs])
    if not len(reduced.products):
        return
    ends = variables[reduced.factors]
    terms.add(ends[:, 0], ends[:, 1], child.weights[:, find_masks(sets.masks, reduced.terms)])
    x, y = variables[np.array([(product.left, product.right) for product in reduced.products])].T
    a = variables[len(child.parents) :]
    low, high = weights[:, :, 0], weights[:, :, 1]  # u and v
    terms.add(x, y, low)
    terms.add(x, a, -(low + high))
    terms.add(y, a, -(low + high))
    terms.linear[:, a] += low + 2 * high


def _add_maximum(terms: _Terms, layout: Layout, index: int, limit: int, weight: Floats, squared: bool) -> None:
    """Add H_max of a child. Let m be the parent limit. H_max is 0 if there are at most m parents and the slack y is correct.

    The paper uses delta (X - m)^2 with X = (number of parents) + y. The other encodings use delta (X - m)(X - m + 1) / 2
    with X = (number of parents) + 2 y. This second form is 0 for two values of X, m - 1 and m. So y needs half as many
    values, which saves one slack variable. With m + e parents and y = 0, the second form is delta e (e + 1) / 2. The code
    adds the terms of the expanded product.
    """
    slack = layout.y[index][layout.y[index] >= 0]
    edges = layout.d[:, index][layout.d[:, index] >= 0]
    variables = np.concatenate([edges, slack])
    factor = np.concatenate([np.ones(len(edges)), (1.0 if squared else 2.0) * 2.0 ** np.arange(len(slack))])
    a, b = np.triu_indices(len(variables), 1)
    if squared:
        terms.offset += weight[:, 0] * limit**2
        terms.linear[:, variables] += weight * (factor**2 - 2 * limit * factor)
        terms.add(variables[a], variables[b], weight * 2 * factor[a] * factor[b])
    else:
        terms.offset += weight[:, 0] * limit * (limit - 1) / 2
        terms.linear[:, variables] += weight * (factor**2 - (2 * limit - 1) * factor) / 2
        terms.add(variables[a], variables[b], weight * factor[a] * factor[b])


def _add_consistency(terms: _Terms, layout: Layout, order: OrderVariables, penalties: Penalties) -> None:
    """Add H_consist, which penalises edges that contradict the order variables.

    The pairs of variables in `order.exclusive` have no order variable. H_consist penalises such a pair if it has edges in
    both directions.
    """
    i, j = order.pairs.T
    present = layout.d[i, j] >= 0  # i -> j needs r_ij = 1
    weight = penalties.consistency[:, i[present], j[present]]
    terms.linear[:, layout.d[i, j][present]] += weight
    terms.add(layout.d[i, j][present], layout.r[i, j][present], -weight)
    present = layout.d[j, i] >= 0  # j -> i needs r_ij = 0
    terms.add(layout.d[j, i][present], layout.r[i, j][present], penalties.consistency[:, j[present], i[present]])
    i, j = order.exclusive.T
    terms.add(layout.d[i, j], layout.d[j, i], penalties.exclusion)


def _add_transitivity(terms: _Terms, layout: Layout, order: OrderVariables, penalties: Penalties) -> None:
    """Add H_trans, which penalises three order variables that form a cycle (i before j, j before k, k before i)."""
    i, j, k = order.triangles.T
    ij, jk, ik = layout.r[i, j], layout.r[j, k], layout.r[i, k]
    np.add.at(terms.linear.T, ik, penalties.transitivity.T)
    terms.add(ij, jk, penalties.transitivity)
    terms.add(ij, ik, -penalties.transitivity)
    terms.add(ik, jk, -penalties.transitivity)
