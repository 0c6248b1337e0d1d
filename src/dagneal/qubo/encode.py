"""Encode: from a table of local scores to a BQM whose ground state is the best DAG.

The Hamiltonian is the paper's, H = H_score + H_max + H_trans + H_consist, over three kinds of bits:

    ("d", parent, child)   the edge is there
    ("y", child, l)        bit l of the slack of the parent limit, l = 1..mu
    ("r", a, b)            a comes before b in the order; a stands before b in the data's columns
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import dimod
import networkx as nx
import numpy as np

from dagneal.errors import InputError
from dagneal.graphs import check_dag, topological_order
from dagneal.kernels import Floats, Ints, Masks
from dagneal.qubo.penalties import Penalties, inverted, paper_penalties
from dagneal.table import Blocks, ScoreTable

Label = tuple[str, str, str | int]


@dataclass(frozen=True)
class Encoding:
    """How a table becomes a QUBO.

    Args:
        penalties: `"paper"`: the bounds of O'Gorman et al. plus one.
    """

    penalties: Literal["paper"] = "paper"

    def __post_init__(self) -> None:
        if self.penalties != "paper":
            raise InputError(f"penalties={self.penalties!r} is unknown; give 'paper'")


PAPER = Encoding("paper")


@dataclass(frozen=True, eq=False)
class Layout:
    """Where each bit stands: all d row by row, then y, then r, so that the matrix is the paper's.

    Attributes:
        labels: the bits in order.
        d: `d[parent, child]`, -1 on the diagonal.
        y: `y[child, l - 1]`.
        r: `r[a, b]` for a before b, else -1.
    """

    labels: list[Label]
    d: Ints
    y: Ints
    r: Ints

    @classmethod
    def of(cls, names: Sequence[str], max_parents: int) -> Layout:
        """The layout of the QUBO over these variables."""
        n = len(names)
        slack = max_parents.bit_length()  # mu = ceil(log2(m + 1))
        edge = ~np.eye(n, dtype=bool)
        d = np.where(edge, np.cumsum(edge).reshape(n, n) - 1, -1)
        y = n * (n - 1) + np.arange(n * slack).reshape(n, slack)
        before = np.triu(edge)
        r = np.where(before, n * (n - 1) + n * slack + np.cumsum(before).reshape(n, n) - 1, -1)
        labels: list[Label] = [("d", a, b) for a in names for b in names if a != b]
        labels += [("y", name, bit + 1) for name in names for bit in range(slack)]
        labels += [("r", a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
        return cls(labels, d, y, r)


def encode(table: ScoreTable, encoding: Encoding = PAPER) -> dimod.BinaryQuadraticModel:
    """Write the search for the best DAG as a binary quadratic model.

    Args:
        table: local scores over all parent sets of at most two parents.
        encoding: how; `PAPER` is O'Gorman's Hamiltonian with the paper's penalties, entry for entry.

    Returns:
        A model in which a DAG with its best slack and order bits has minus its log score as energy.

    >>> from dagneal.networks import load
    >>> from dagneal.scorer import score_table
    >>> bqm = encode(score_table(load("lung-cancer").expected(10_000)))
    >>> bqm.num_variables, bqm.num_interactions
    (40, 125)
    """
    if not isinstance(encoding, Encoding):
        raise InputError(f"encoding is {encoding!r}; give an Encoding, such as PAPER")
    return paper_qubos(table).model(0, table.names)


def check_paper(table: ScoreTable) -> None:
    """Refuse a table that the paper's encoding cannot hold."""
    if table.max_parents > 2:
        raise InputError(
            f"the table allows {table.max_parents} parents; the paper's encoding allows 2, since its penalties cannot be "
            "computed for more: make the table with max_parents=2, or use exact (up to 28 variables)"
        )
    if not table.unrestricted:
        raise InputError("the paper's encoding needs a table in which every variable may be a parent of every other")


@dataclass(frozen=True, eq=False)
class Qubos:
    """The paper's QUBOs of one or more problems of the same size, as arrays.

    Attributes:
        max_parents: the parent limit.
        linear: shape (problems, bits).
        rows: first bit of each product.
        columns: second bit of each product.
        quadratic: shape (problems, products).
        offset: shape (problems,).
        penalties: the weights of the constraints.
    """

    max_parents: int
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
            variable_order=None if names is None else Layout.of(names, self.max_parents).labels,
        )


def paper_qubos(problem: ScoreTable | Blocks) -> Qubos:
    """The paper's QUBO of a table, or of every block of many, in one go.

    Args:
        problem: a table over all parent sets of at most two parents, or blocks cut from one.
    """
    if isinstance(problem, ScoreTable):
        check_paper(problem)
        n, m = len(problem.names), problem.max_parents
        scores, masks = problem.scores.reshape(1, n, -1), problem.masks[problem.entries_of(0)]
    else:
        n, m = problem.members.shape[1], problem.max_parents
        if m > 2:
            raise InputError(f"the blocks allow {m} parents; the paper's encoding allows 2")
        if not np.isfinite(problem.scores).all():
            raise InputError("the paper's encoding needs blocks in which every variable may be a parent of every other")
        scores, masks = problem.scores, problem.masks
    weights = inverted(scores, masks)
    penalties = paper_penalties(weights, masks)
    layout = Layout.of([str(i) for i in range(n)], m)
    terms = _Terms(len(scores), len(layout.labels))
    _score_terms(terms, layout, weights, masks)
    _maximum_terms(terms, layout, m, penalties.maximum)
    _order_terms(terms, layout, penalties)
    rows, columns, quadratic = terms.merged()
    return Qubos(m, terms.linear, rows, columns, quadratic, terms.offset, penalties)


class _Terms:
    """Coefficients of many problems as they come; the first axis is the problem."""

    def __init__(self, problems: int, bits: int) -> None:
        self.linear = np.zeros((problems, bits))
        self.offset = np.zeros(problems)
        self.products: list[Ints] = []
        self.values: list[Floats] = []

    def add(self, rows: Ints, columns: Ints, values: Floats) -> None:
        """Add products of two bits, with values of shape (problems, products) or (problems, 1)."""
        self.products.append(np.minimum(rows, columns) * self.linear.shape[1] + np.maximum(rows, columns))
        self.values.append(np.broadcast_to(values, (len(self.offset), len(rows))))

    def merged(self) -> tuple[Ints, Ints, Floats]:
        """Rows, columns and values, equal products added up."""
        products, place = np.unique(np.concatenate(self.products), return_inverse=True)
        values = np.zeros((len(self.offset), len(products)))
        for column, value in zip(place, np.concatenate(self.values, axis=1).T, strict=True):
            values[:, column] += value
        return products // self.linear.shape[1], products % self.linear.shape[1], values


def _score_terms(terms: _Terms, layout: Layout, weights: Floats, masks: Masks) -> None:
    """H_score, the sum over parent sets J of w_i(J) prod d_ji."""
    size = np.bitwise_count(masks)
    lowest = np.bitwise_count((masks & (~masks + np.uint64(1))) - np.uint64(1)).astype(np.int64)  # of the bits that are set
    highest = np.floor(np.log2(np.maximum(masks, 1).astype(np.float64))).astype(np.int64)
    for child in range(weights.shape[1]):
        own = weights[:, child]
        bits = np.delete(layout.d[:, child], child)
        terms.offset += own[:, size == 0].sum(axis=1)
        terms.linear[:, bits[lowest[size == 1]]] += own[:, size == 1]
        terms.add(bits[lowest[size == 2]], bits[highest[size == 2]], own[:, size == 2])


def _maximum_terms(terms: _Terms, layout: Layout, m: int, delta: Floats) -> None:
    """H_max = delta_max (m - d_i - y_i)^2, with the square multiplied out."""
    n = len(layout.d)
    factor = np.concatenate([np.ones(n - 1), 2.0 ** np.arange(layout.y.shape[1])])
    a, b = np.triu_indices(len(factor), 1)
    for child in range(n):
        bits = np.concatenate([np.delete(layout.d[:, child], child), layout.y[child]])
        weight = delta[:, child, None]
        terms.offset += weight[:, 0] * m**2
        terms.linear[:, bits] += weight * (factor**2 - 2 * m * factor)
        terms.add(bits[a], bits[b], weight * 2 * factor[a] * factor[b])


def _order_terms(terms: _Terms, layout: Layout, penalties: Penalties) -> None:
    """H_trans, which forbids cycles of three in r, and H_consist, which makes d follow r."""
    consistency, transitivity = penalties.consistency[:, None], penalties.transitivity[:, None]
    n = len(layout.d)
    i, j = np.triu_indices(n, 1)
    terms.linear[:, layout.d[i, j]] += consistency
    terms.add(layout.d[j, i], layout.r[i, j], consistency)
    terms.add(layout.d[i, j], layout.r[i, j], -consistency)
    i, j, k = np.array(list(combinations(range(n), 3)), dtype=np.int64).reshape(-1, 3).T
    terms.linear += transitivity * np.bincount(layout.r[i, k], minlength=terms.linear.shape[1])
    terms.add(layout.r[i, j], layout.r[j, k], transitivity)
    terms.add(layout.r[i, j], layout.r[i, k], -transitivity)
    terms.add(layout.r[i, k], layout.r[j, k], -transitivity)


def qubo_matrix(bqm: dimod.BinaryQuadraticModel) -> Floats:
    """The plain upper-triangular matrix Q, bits in the order of the model, linear coefficients on the diagonal.

    Args:
        bqm: a model over binary variables.
    """
    matrix = np.zeros((bqm.num_variables, bqm.num_variables))
    linear, (rows, columns, values), _ = bqm.binary.to_numpy_vectors(variable_order=bqm.variables)
    matrix[np.minimum(rows, columns), np.maximum(rows, columns)] = values
    matrix[np.diag_indices_from(matrix)] = linear
    return matrix


def qubo_vector(table: ScoreTable, dag: nx.DiGraph) -> Ints:
    """The bits x of a DAG with its best slack and order bits, in the order of the matrix.

    Args:
        table: the table that was encoded.
        dag: a DAG over its variables; where a child has more parents than the limit, its slack is 0.
    """
    check_dag(dag, table.names)
    layout = Layout.of(table.names, table.max_parents)
    x = np.zeros(len(layout.labels), dtype=np.int64)
    place = {name: i for i, name in enumerate(topological_order(dag, table.names))}
    for parent, child in dag.edges:
        x[layout.d[table.position[parent], table.position[child]]] = 1
    for child, name in enumerate(table.names):
        slack = max(table.max_parents - dag.in_degree(name), 0)
        x[layout.y[child]] = slack >> np.arange(layout.y.shape[1]) & 1
    for i, a in enumerate(table.names):
        for j in range(i + 1, len(table.names)):
            x[layout.r[i, j]] = place[a] < place[table.names[j]]
    return x


def result_value(bqm: dimod.BinaryQuadraticModel, x: Ints) -> float:
    """The paper's result value x^T Q x, without the offset.

    Args:
        bqm: an encoded table.
        x: its bits in the order of the model.
    """
    return float(bqm.energies((x, bqm.variables))[0] - bqm.offset)
