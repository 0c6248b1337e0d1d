"""Encode: from a table of local scores to a BQM whose ground state is the best DAG.

The Hamiltonian is the paper's, H = H_score + H_max + H_trans + H_consist, over these bits:

    ("d", parent, child)       the edge is there
    ("y", child, l)            bit l of the slack of the parent limit
    ("r", a, b)                a comes before b in the order; a stands before b in the data's columns
    ("a", child, parents...)   an auxiliary bit: all these edges are there; for more than two parents only
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Any, get_args

import dimod
import networkx as nx
import numpy as np

from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats, Ints
from dagneal.graphs.dags import check_dag, topological_order
from dagneal.qubo.hamiltonian import Qubos, assemble
from dagneal.qubo.order_variables import Order, ordering
from dagneal.qubo.penalties import Weights, oversize_gain, penalties
from dagneal.qubo.polynomial import ROUNDING, Child, polynomials
from dagneal.qubo.reduction import Reduction, reduction
from dagneal.qubo.variables import Layout
from dagneal.scoring.table import ScoreTable, Subproblems


@dataclass(frozen=True)
class Encoding:
    """How a table becomes a QUBO.

    Args:
        penalties: the weights of the constraints: `"paper"` (the bounds of O'Gorman et al. plus one, for at most two
            parents), `"tight"` (for each constraint what its own violation can win) or `"gap"` (one weight, above what a
            violated order can win in all).
        order: which pairs of variables have an order bit: `"complete"`, all, or `"chordal"`, those that can be in a cycle.
        prune: leave out parent sets no better than one of their subsets, edges in no other set, and, but for the paper's
            penalties, needless slack.
        scale: all penalties times this; below 1 nothing is proved, and `verify` tells what holds.
    """

    penalties: Weights = "tight"
    order: Order = "chordal"
    prune: bool = True
    scale: float = 1.0

    def __post_init__(self) -> None:
        for field, allowed in (("penalties", get_args(Weights)), ("order", get_args(Order)), ("prune", (True, False))):
            value = getattr(self, field)
            if value not in allowed:
                raise InputError(f"{field}={value!r} is unknown; give one of {', '.join(map(repr, allowed))}")
        if self.penalties == "paper" and self.order != "complete":
            raise InputError(
                "the paper's penalties are too small for chordal order bits; choose complete, or tight penalties"
            )
        if not isinstance(self.scale, int | float) or not 0 < self.scale < inf:
            raise InputError(f"scale={self.scale!r} must be a number above 0")

    @property
    def name(self) -> str:
        """The encoding in words."""
        words = [self.penalties, self.order, "pruned" if self.prune else "unpruned"]
        return ", ".join([*words, *([f"scaled by {self.scale:g}"] if self.scale != 1.0 else [])])


PAPER = Encoding("paper", "complete", prune=False)
TIGHT = Encoding("tight", "chordal", prune=True)


def as_encoding(value: Any) -> Encoding:
    """An encoding as given, or by its words.

    Args:
        value: an encoding, or words such as `"paper"` or `"gap,unpruned"`; see `encoding_named`.

    >>> as_encoding("paper") == PAPER
    True
    """
    if isinstance(value, str):
        return encoding_named(value)
    if not isinstance(value, Encoding):
        raise InputError(f"encoding is {value!r}; give an Encoding, such as TIGHT or PAPER, or words such as 'paper'")
    return value


def encoding_named(text: str) -> Encoding:
    """The encoding of some words, such as `tight`, `paper` or `gap,complete,unpruned`.

    Args:
        text: penalties, order bits and whether to prune, in any order, with commas between; what is missing is as in
            `TIGHT`, or as in `PAPER` where that is named.

    >>> encoding_named("paper") == PAPER, encoding_named("gap,unpruned").name
    (True, 'gap, chordal, unpruned')
    """
    words = [word.strip() for word in text.split(",")]
    found: dict[str, str | bool] = {}
    for word in words:
        field, value = _WORDS.get(word, ("", False))
        if not field:
            raise InputError(f"the encoding {text!r} has the word {word!r}; give some of {', '.join(_WORDS)}")
        if field in found:
            raise InputError(f"the encoding {text!r} says two things of {field}")
        found[field] = value
    return replace(PAPER if found.get("penalties") == "paper" else TIGHT, **found)  # type: ignore[arg-type]


_WORDS: dict[str, tuple[str, str | bool]] = {
    **{word: ("penalties", word) for word in get_args(Weights)},
    **{word: ("order", word) for word in get_args(Order)},
    "pruned": ("prune", True),
    "unpruned": ("prune", False),
}


def encode(table: ScoreTable, encoding: Encoding = TIGHT) -> dimod.BinaryQuadraticModel:
    """Write the search for the best DAG as a binary quadratic model.

    Args:
        table: local scores, with any parent limit and any candidate parents.
        encoding: how; `TIGHT` has the fewest bits and the smallest weights, `PAPER` is O'Gorman's Hamiltonian with the
            paper's penalties, entry for entry.

    Returns:
        A model whose ground state is a best DAG. Where nothing is pruned, every DAG of the table with its best slack and
        order bits has minus its log score as energy; where it is, every DAG without needless parents.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> table = score_table(load("lung-cancer").expected(10_000))
    >>> encode(table).num_variables, encode(table, PAPER).num_variables
    (14, 40)
    """
    if not isinstance(table, ScoreTable):
        raise InputError(f"a ScoreTable is encoded, not {type(table).__name__}")
    return qubos(table, encoding).model(0, table.names)


def qubos(problem: ScoreTable | Subproblems, encoding: Encoding = TIGHT) -> Qubos:
    """The QUBO of a table, or of every block of many in one go.

    Args:
        problem: a table, or blocks cut from one.
        encoding: how; blocks have one layout for all, so nothing can be pruned there.
    """
    if not isinstance(encoding, Encoding):
        raise InputError(f"encoding is {encoding!r}; give an Encoding, such as TIGHT or PAPER")
    if isinstance(problem, Subproblems) and encoding.prune:
        raise InputError("blocks that are encoded in one go have the same bits; give an encoding with prune=False")
    limit = problem.max_parents
    paper = encoding.penalties == "paper"
    if paper:
        check_paper(problem)
    children = polynomials(problem, encoding.prune)
    edges = np.zeros((len(children), len(children)), dtype=bool)
    for place, child in enumerate(children):
        edges[child.parents, place] = True
    order = ordering(edges, encoding.order)
    limited = np.array([paper or _needs_limit(child, limit, encoding.prune) for child in children])
    slack = np.where(limited, limit.bit_length() if paper else (limit // 2).bit_length(), 0)
    reductions = [_reduce(child, encoding.prune) for child in children]
    weights = penalties(encoding.penalties, children, limit, order, reductions).each(lambda values: values * encoding.scale)
    layout = Layout.of(children, slack, order, reductions)
    ordered = (layout.r >= 0) | (layout.r >= 0).T
    weights = replace(weights, maximum=weights.maximum * limited, consistency=weights.consistency * (ordered & edges))
    return assemble(layout, children, limit, np.flatnonzero(limited), order, reductions, weights, squared=paper)


def check_paper(problem: ScoreTable | Subproblems) -> None:
    """Refuse what the paper's penalties do not hold for."""
    if problem.max_parents > 2:
        raise InputError(
            f"{problem.max_parents} parents are allowed; the paper's penalties allow 2, since they cannot be computed for "
            "more: allow at most 2, or choose the encoding tight"
        )
    complete = np.isfinite(problem.scores).all() if isinstance(problem, Subproblems) else _holds_all_sets(problem)
    if not complete:
        raise InputError("the paper's penalties need a table with every set of a child's candidate parents")


def _holds_all_sets(table: ScoreTable) -> bool:
    bits = np.diff(table.first)
    limit = np.minimum(bits, table.max_parents)
    wanted = 1 + np.where(limit >= 1, bits, 0) + np.where(limit >= 2, bits * (bits - 1) // 2, 0)
    return bool((np.diff(table.start) == wanted).all())


def _needs_limit(child: Child, limit: int, prune: bool) -> bool:
    """Whether a child needs H_max: it could have too many parents and, where that is looked at, would like to."""
    rounding = ROUNDING * float(np.abs(child.costs[np.isfinite(child.costs)]).max())
    return len(child.parents) > limit and not (prune and bool((oversize_gain(child, limit) < -rounding).all()))


def _reduce(child: Child, prune: bool) -> Reduction:
    high = child.sets.sizes > 2
    if prune:
        high &= child.weights[0] != 0
    return reduction(len(child.parents), child.sets.masks[high])


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


def qubo_vector(table: ScoreTable, dag: nx.DiGraph, encoding: Encoding = TIGHT) -> Ints:
    """The bits x of a DAG with its best slack, order and auxiliary bits, in the order of the matrix.

    Args:
        table: the table that was encoded.
        dag: a DAG over its variables; where a child has more parents than the limit, its slack is 0.
        encoding: how it was encoded.
    """
    check_dag(dag, table.names)
    layout = qubos(table, encoding).layout
    x = np.zeros(layout.bits, dtype=np.int64)
    place = {name: i for i, name in enumerate(topological_order(dag, table.names))}
    position = table.position
    for parent, child in dag.edges:
        bit = layout.d[position[parent], position[child]]
        if bit < 0:
            raise InputError(f"the edge {parent} -> {child} has no bit in the encoding {encoding.name}")
        x[bit] = 1
    for child, name in enumerate(table.names):
        slack = max(table.max_parents - dag.in_degree(name), 0)
        if encoding.penalties != "paper":
            slack = slack // 2
        bits = layout.y[child][layout.y[child] >= 0]
        x[bits] = slack >> np.arange(len(bits)) & 1
    for a, b in np.argwhere(layout.r >= 0):
        x[layout.r[a, b]] = place[table.names[a]] < place[table.names[b]]
    for bit, (child, parents) in enumerate(layout.products, layout.bits - len(layout.products)):
        x[bit] = all(x[layout.d[parent, child]] for parent in parents)
    return x


def result_value(bqm: dimod.BinaryQuadraticModel, x: Ints) -> float:
    """The paper's result value x^T Q x, without the offset.

    Args:
        bqm: an encoded table.
        x: its bits in the order of the model.
    """
    return float(bqm.energies((x, bqm.variables))[0] - bqm.offset)
