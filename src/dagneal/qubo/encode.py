"""Encode: from a table of local scores to a BQM whose ground state is the best DAG.

The Hamiltonian is the paper's, H = H_score + H_max + H_trans + H_consist, over three kinds of bits:

    ("d", parent, child)   the edge is there
    ("y", child, l)        bit l of the slack of the parent limit, l = 1..mu
    ("r", a, b)            a comes before b in the order; a stands before b in the data's columns
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import dimod
import networkx as nx
import numpy as np

from dagneal.errors import InputError
from dagneal.graphs import check_dag, topological_order
from dagneal.kernels import Floats, Ints
from dagneal.qubo.penalties import Penalties, moebius, paper_penalties
from dagneal.table import ScoreTable

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
    def of(cls, table: ScoreTable) -> Layout:
        """The layout of a table's QUBO."""
        names, n = table.names, len(table.names)
        slack = table.max_parents.bit_length()  # mu = ceil(log2(m + 1))
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
    check_paper(table)
    weights = moebius(table)
    penalties = paper_penalties(table, weights)
    layout = Layout.of(table)
    terms = _Terms(len(layout.labels))
    _score_terms(terms, table, layout, weights)
    _maximum_terms(terms, table, layout, penalties.maximum)
    _order_terms(terms, layout, penalties)
    return terms.model(layout.labels)


def check_paper(table: ScoreTable) -> None:
    """Refuse a table that the paper's encoding cannot hold."""
    if table.max_parents > 2:
        raise InputError(
            f"the table allows {table.max_parents} parents; the paper's encoding allows 2, since its penalties cannot be "
            "computed for more: make the table with max_parents=2, or use exact (up to 28 variables)"
        )
    if not table.unrestricted:
        raise InputError("the paper's encoding needs a table in which every variable may be a parent of every other")


class _Terms:
    """Coefficients as they come, as arrays."""

    def __init__(self, bits: int) -> None:
        self.linear = np.zeros(bits)
        self.offset = 0.0
        self.rows: list[Ints] = []
        self.columns: list[Ints] = []
        self.values: list[Floats] = []

    def add(self, rows: Ints, columns: Ints, values: Floats | float) -> None:
        """Add products of two bits."""
        self.rows.append(np.ravel(rows))
        self.columns.append(np.ravel(columns))
        self.values.append(np.broadcast_to(values, np.shape(rows)).ravel())

    def model(self, labels: list[Label]) -> dimod.BinaryQuadraticModel:
        quadratic = tuple(np.concatenate(part) if part else np.empty(0) for part in (self.rows, self.columns, self.values))
        return dimod.BinaryQuadraticModel.from_numpy_vectors(
            self.linear, quadratic, self.offset, dimod.BINARY, variable_order=labels
        )


def _score_terms(terms: _Terms, table: ScoreTable, layout: Layout, weights: Floats) -> None:
    """H_score, the sum over parent sets J of w_i(J) prod d_ji."""
    for child in range(len(table.names)):
        entries = table.entries_of(child)
        masks, own = table.masks[entries], weights[entries]
        size = np.bitwise_count(masks)
        bits = layout.d[table.candidates_of(child), child]
        terms.offset += float(own[size == 0].sum())
        lowest = np.bitwise_count((masks & (~masks + np.uint64(1))) - np.uint64(1)).astype(np.int64)  # of the set bits
        highest = np.floor(np.log2(np.maximum(masks, 1).astype(np.float64))).astype(np.int64)
        terms.linear[bits[lowest[size == 1]]] += own[size == 1]
        terms.add(bits[lowest[size == 2]], bits[highest[size == 2]], own[size == 2])


def _maximum_terms(terms: _Terms, table: ScoreTable, layout: Layout, delta: Floats) -> None:
    """H_max = delta_max (m - d_i - y_i)^2, with the square multiplied out."""
    m, n = table.max_parents, len(table.names)
    for child in range(n):
        bits = np.concatenate([np.delete(layout.d[:, child], child), layout.y[child]])
        factor = np.concatenate([np.ones(n - 1), 2.0 ** np.arange(layout.y.shape[1])])
        terms.offset += delta[child] * m**2
        terms.linear[bits] += delta[child] * (factor**2 - 2 * m * factor)
        a, b = np.triu_indices(len(bits), 1)
        terms.add(bits[a], bits[b], delta[child] * 2 * factor[a] * factor[b])


def _order_terms(terms: _Terms, layout: Layout, penalties: Penalties) -> None:
    """H_trans, which forbids cycles of three in r, and H_consist, which makes d follow r."""
    n = len(layout.d)
    i, j = np.triu_indices(n, 1)
    terms.linear[layout.d[i, j]] += penalties.consistency
    terms.add(layout.d[j, i], layout.r[i, j], penalties.consistency)
    terms.add(layout.d[i, j], layout.r[i, j], -penalties.consistency)
    i, j, k = (
        np.array([(a, b, c) for a in range(n) for b in range(a + 1, n) for c in range(b + 1, n)], dtype=np.int64)
        .reshape(-1, 3)
        .T
    )
    np.add.at(terms.linear, layout.r[i, k], penalties.transitivity)
    terms.add(layout.r[i, j], layout.r[j, k], penalties.transitivity)
    terms.add(layout.r[i, j], layout.r[i, k], -penalties.transitivity)
    terms.add(layout.r[i, k], layout.r[j, k], -penalties.transitivity)


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
    layout = Layout.of(table)
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
