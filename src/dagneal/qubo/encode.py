"""Encode a table of local scores as a binary quadratic model (BQM) whose ground state is the best DAG.

The Hamiltonian is H = H_score + H_max + H_trans + H_consist (O'Gorman et al. 2015). "The paper" is Zardini et al. 2022,
which uses the same Hamiltonian. The QUBO variables are:

    ("d", parent, child)       edge: 1 if the graph has the edge parent -> child
    ("y", child, l)            slack: binary digit l of the number of parents that may still be added; the penalties
                               `tight` and `gap` use half this number, rounded down
    ("r", a, b)                order: 1 if a is before b in the order of the variables; a is the earlier column in the data
    ("a", child, parents...)   auxiliary: 1 if the child has all these parents; needed for three or more parents
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any, Literal, get_args

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats, Ints
from dagneal.graphs.dags import check_dag, topological_order
from dagneal.qubo.hamiltonian import Qubos, assemble
from dagneal.qubo.order_variables import Order, choose_order_variables
from dagneal.qubo.penalties import PenaltyKind, oversize_gain, penalties
from dagneal.qubo.polynomial import Child, needed_sets, polynomials
from dagneal.qubo.reduction import reduction
from dagneal.qubo.variables import Layout
from dagneal.scoring.table import ScoreTable, Subproblems

if TYPE_CHECKING:
    import dimod


Precision = Literal["double", "single"]


@dataclass(frozen=True)
class Encoding:
    """The settings of a QUBO encoding.

    Args:
        penalties: rule for the penalty weights. `"paper"` uses the lower bounds of O'Gorman et al. (2015) plus one, and
            allows at most two parents. `"tight"` gives each constraint a weight just above the gain from violating it.
            `"gap"` gives all order constraints the same weight, just above the largest total gain from violating the order.
        order: choice of order variables. `"complete"` gives every pair of variables an order variable. `"chordal"` omits
            the pairs that are not needed to exclude cycles.
        prune: whether to drop parent sets that are no better than one of their subsets, edges that no remaining set uses,
            and slack variables that are not needed. With `"paper"` penalties, all slack variables are kept.
        scale: factor for all penalties. With a factor below 1 the ground state may be wrong; check it with `verify`.
        precision: `"single"` rounds all linear and quadratic coefficients to 32-bit floats, as the paper's authors did. The
            offset is not rounded. A coefficient of 25,000 changes by up to about 0.001 nats, so most networks of equal score
            get different energies. Rounding breaks most ties, in the same way in every run.
    """

    penalties: PenaltyKind = "tight"
    order: Order = "chordal"
    prune: bool = True
    scale: float = 1.0
    precision: Precision = "double"

    def __post_init__(self) -> None:
        choices: dict[str, tuple[Any, ...]] = {
            "penalties": get_args(PenaltyKind),
            "order": get_args(Order),
            "prune": (True, False),
            "precision": get_args(Precision),
        }
        for field, allowed in choices.items():
            value = getattr(self, field)
            if value not in allowed:
                raise InputError(f"{field}={value!r} is unknown; use one of {', '.join(map(repr, allowed))}")
        if self.penalties == "paper" and self.order != "complete":
            raise InputError(
                "the paper's penalties are too small for chordal order variables; "
                "use 'complete' instead of 'chordal', or 'tight' instead of 'paper'; the text 'paper,single' is the paper's "
                "encoding in single precision"
            )
        if not isinstance(self.scale, int | float) or not 0 < self.scale < inf:
            raise InputError(f"scale is {self.scale!r}; give a finite number above 0")

    @property
    def name(self) -> str:
        """The settings as words, such as `tight, chordal, pruned`."""
        words = [self.penalties, self.order, "pruned" if self.prune else "unpruned"]
        words += [f"scaled by {self.scale:g}"] if self.scale != 1.0 else []
        words += ["single precision"] if self.precision == "single" else []
        return ", ".join(words)


PAPER = Encoding("paper", "complete", prune=False)
TIGHT = Encoding("tight", "chordal", prune=True)


def as_encoding(value: Any) -> Encoding:
    """Return `value` if it is an encoding. If it is text, parse it and return the encoding.

    Args:
        value: encoding, or text such as `"paper"` or `"gap,unpruned"`; see `parse_encoding`.

    >>> as_encoding("paper") == PAPER
    True
    """
    if isinstance(value, str):
        return parse_encoding(value)
    if not isinstance(value, Encoding):
        raise InputError(f"encoding is {value!r}; give an Encoding, such as TIGHT or PAPER, or a text such as 'paper'")
    return value


def parse_encoding(text: str) -> Encoding:
    """Return the encoding that a text describes, such as `tight`, `paper` or `gap,complete,unpruned`.

    Args:
        text: words for the penalties, the order variables, the pruning and the precision, separated by commas, in any
            sequence. Missing settings come from `PAPER` if the text contains `paper`, otherwise from `TIGHT`.

    >>> parse_encoding("paper") == PAPER, parse_encoding("gap,unpruned").name
    (True, 'gap, chordal, unpruned')
    """
    words = [word.strip() for word in text.split(",")]
    settings: dict[str, str | bool] = {}
    for word in words:
        field, value = _WORDS.get(word, ("", False))
        if not field:
            raise InputError(
                f"the encoding {text!r} has the unknown word {word!r}; use one or more of {', '.join(map(repr, _WORDS))}"
            )
        if field in settings:
            raise InputError(f"the encoding {text!r} sets {field} twice; keep only one word for {field}")
        settings[field] = value
    return replace(PAPER if settings.get("penalties") == "paper" else TIGHT, **settings)  # type: ignore[arg-type]


_WORDS: dict[str, tuple[str, str | bool]] = {
    **{word: ("penalties", word) for word in get_args(PenaltyKind)},
    **{word: ("order", word) for word in get_args(Order)},
    "pruned": ("prune", True),
    "unpruned": ("prune", False),
    **{word: ("precision", word) for word in get_args(Precision)},
}


def encode(table: ScoreTable, encoding: Encoding = TIGHT) -> dimod.BinaryQuadraticModel:
    """Encode the search for the best DAG as a binary quadratic model.

    Args:
        table: local scores, with any parent limit and any candidate parents.
        encoding: settings of the encoding. `TIGHT` has the fewest QUBO variables and the smallest weights. `PAPER`
            reproduces every entry of the matrix in the paper (Zardini et al. 2022).

    Returns:
        A model whose ground state is a best DAG. Without pruning, the energy of every DAG of the table is minus its log
        score if the slack, order and auxiliary variables have their best values. With pruning, this holds for the DAGs in
        which every parent set scores higher than all its proper subsets. With `precision="single"`, both statements hold
        only up to rounding.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> table = score_table(load("lung-cancer").expected_data(10_000))
    >>> encode(table).num_variables, encode(table, PAPER).num_variables
    (14, 40)
    """
    if not isinstance(table, ScoreTable):
        raise InputError(f"cannot encode a {type(table).__name__}; give a ScoreTable")
    return qubos(table, encoding).model(0, table.names)


def qubos(problem: ScoreTable | Subproblems, encoding: Encoding = TIGHT) -> Qubos:
    """Return the QUBO of a table, or the QUBOs of all subproblems.

    Args:
        problem: score table, or subproblems of a table.
        encoding: settings of the encoding. For subproblems, `prune` must be False, because all subproblems have the same
            QUBO variables. `qubo_groups` prunes subproblems.
    """
    if isinstance(problem, Subproblems) and isinstance(encoding, Encoding) and encoding.prune:
        raise InputError("subproblems share their QUBO variables and cannot be pruned; use an encoding with prune=False")
    _check_problem(problem, encoding)
    return _build(polynomials(problem, encoding.prune), problem.max_parents, encoding)


@dataclass(frozen=True, eq=False)
class QuboGroup:
    """Subproblems that have the same QUBO variables.

    Attributes:
        rows: indices of these subproblems among all subproblems, ascending.
        subproblems: scores of these subproblems.
        qubos: QUBOs of these subproblems.
    """

    rows: Ints
    subproblems: Subproblems
    qubos: Qubos


def qubo_groups(subproblems: Subproblems, encoding: Encoding = TIGHT) -> Iterator[QuboGroup]:
    """Yield groups of subproblems that have the same QUBO variables, with their QUBOs.

    Without pruning, all subproblems are in one group. With pruning, the group of a subproblem depends on the parent sets
    that its best network may need. The QUBO of a subproblem does not depend on the other subproblems.

    Args:
        subproblems: subproblems of a table.
        encoding: settings of the encoding.
    """
    _check_problem(subproblems, encoding)
    limit = subproblems.max_parents
    needed = needed_sets(subproblems) if encoding.prune else np.zeros((len(subproblems.members), 0), dtype=bool)
    for rows in _equal_rows(needed):
        children = polynomials(_select(subproblems, rows), encoding.prune)
        for part in _equal_rows(_variable_choices(children, limit, encoding)):
            encoded = _build([child.select(part) for child in children], limit, encoding)
            yield QuboGroup(rows[part], _select(subproblems, rows[part]), encoded)


def _select(subproblems: Subproblems, rows: Ints) -> Subproblems:
    """Return some of the subproblems."""
    return replace(subproblems, members=subproblems.members[rows], scores=subproblems.scores[rows])


def _equal_rows(flags: NDArray[np.bool_]) -> list[Ints]:
    """Return the groups of equal rows of an array, as arrays of ascending row indices."""
    packed = np.packbits(flags, axis=1) if flags.shape[1] else np.zeros((len(flags), 1), dtype=np.uint8)
    keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
    group = np.unique(keys, return_inverse=True)[1]
    order = np.argsort(group, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if len(order) else []


def _variable_choices(children: list[Child], limit: int, encoding: Encoding) -> NDArray[np.bool_]:
    """Return flags that determine the slack and auxiliary variables of each problem, shape (problems, flags)."""
    limited = [_needs_limit(child, limit, encoding)[:, None] for child in children]
    return np.concatenate([*limited, *(_high_terms(child, encoding.prune) for child in children)], axis=1)


def _check_problem(problem: ScoreTable | Subproblems, encoding: Encoding) -> None:
    """Check that a problem can be encoded with these settings."""
    if not isinstance(encoding, Encoding):
        raise InputError(f"encoding is {encoding!r}; give an Encoding, such as TIGHT or PAPER")
    if encoding.penalties == "paper":
        check_paper(problem)


def _build(children: list[Child], limit: int, encoding: Encoding) -> Qubos:
    """Return the QUBOs of problems with the same QUBO variables.

    Args:
        children: score polynomial of each child.
        limit: parent limit.
        encoding: settings of the encoding.
    """
    paper = encoding.penalties == "paper"
    edges = np.zeros((len(children), len(children)), dtype=bool)
    for index, child in enumerate(children):
        edges[child.parents, index] = True
    order = choose_order_variables(edges, encoding.order)
    limited = np.array([_needs_limit(child, limit, encoding).any() for child in children])
    slack = np.where(limited, limit.bit_length() if paper else (limit // 2).bit_length(), 0)
    reductions = [
        reduction(len(child.parents), child.sets.masks[_high_terms(child, encoding.prune).any(axis=0)]) for child in children
    ]
    weights = penalties(encoding.penalties, children, limit, order, reductions).map(lambda values: values * encoding.scale)
    layout = Layout.of(children, slack, order, reductions)
    has_order = (layout.r >= 0) | (layout.r >= 0).T
    weights = replace(weights, maximum=weights.maximum * limited, consistency=weights.consistency * (has_order & edges))
    built = assemble(layout, children, limit, np.flatnonzero(limited), order, reductions, weights, squared=paper)
    return built.round_to_single() if encoding.precision == "single" else built


def check_paper(problem: ScoreTable | Subproblems) -> None:
    """Check that the paper's penalties can be used: at most two parents are allowed, and no parent set is missing."""
    if problem.max_parents > 2:
        raise InputError(
            f"the paper's penalties are defined for at most 2 parents, not {problem.max_parents}; "
            "use max_parents=2 or encoding='tight'"
        )
    complete = np.isfinite(problem.scores).all() if isinstance(problem, Subproblems) else _has_all_sets(problem)
    if not complete:
        raise InputError("the paper's penalties need a table with all sets of candidate parents; use encoding='tight'")


def _has_all_sets(table: ScoreTable) -> bool:
    """Return whether a table contains all sets of candidate parents within its parent limit. The limit must be 0, 1 or 2."""
    count = np.diff(table.first)
    limit = np.minimum(count, table.max_parents)
    expected = 1 + np.where(limit >= 1, count, 0) + np.where(limit >= 2, count * (count - 1) // 2, 0)
    return bool((np.diff(table.start) == expected).all())


def _needs_limit(child: Child, limit: int, encoding: Encoding) -> NDArray[np.bool_]:
    """Return whether each problem needs H_max for a child, because the child has more possible parents than the limit.

    With `prune`, H_max is needed only if a set of more than `limit` parents could lower the energy. The paper's encoding
    always has H_max.
    """
    if encoding.penalties == "paper":
        return np.ones(len(child.costs), dtype=bool)
    needs = np.full(len(child.costs), len(child.parents) > limit)
    return needs & (oversize_gain(child, limit) >= -child.rounding) if encoding.prune else needs


def _high_terms(child: Child, prune: bool) -> NDArray[np.bool_]:
    """Return which products of three or more edge variables each problem has, shape (problems, sets).

    With `prune`, terms that are 0 are skipped.
    """
    high = child.sets.sizes > 2
    return high & (child.weights != 0) if prune else np.broadcast_to(high, child.weights.shape)


def qubo_matrix(bqm: dimod.BinaryQuadraticModel) -> Floats:
    """Return the upper-triangular matrix Q of a model, with linear coefficients on the diagonal.

    Rows and columns are in the order of `bqm.variables`.

    Args:
        bqm: binary quadratic model.
    """
    matrix = np.zeros((bqm.num_variables, bqm.num_variables))
    linear, (rows, columns, values), _ = bqm.binary.to_numpy_vectors(variable_order=bqm.variables)
    matrix[np.minimum(rows, columns), np.maximum(rows, columns)] = values
    matrix[np.diag_indices_from(matrix)] = linear
    return matrix


def qubo_vector(table: ScoreTable, dag: nx.DiGraph, encoding: Encoding = TIGHT) -> Ints:
    """Return the vector that represents a DAG: one value for each QUBO variable.

    The values are in the order of the rows of `qubo_matrix`. Slack, order and auxiliary variables get their best values.

    Args:
        table: score table that was encoded.
        dag: DAG over the variables of the table. A child with more parents than the limit gets slack 0.
        encoding: settings of the encoding.
    """
    check_dag(dag, table.names)
    layout = qubos(table, encoding).layout
    for parent, child in dag.edges:
        if layout.d[table.position[parent], table.position[child]] < 0:
            raise InputError(
                f"the encoding ({encoding.name}) has no variable for the edge {parent} -> {child}; "
                "use prune=False and a table with this candidate parent"
            )
    return nearest_vector(table, layout, dag, encoding)


def nearest_vector(table: ScoreTable, layout: Layout, dag: nx.DiGraph, encoding: Encoding) -> Ints:
    """Return the vector that represents a DAG as far as there are QUBO variables for it.

    Edges without an edge variable are left out, but the order variables follow the complete DAG. Slack and auxiliary
    variables get their best values.

    Args:
        table: score table that was encoded.
        layout: index of each QUBO variable.
        dag: DAG that contains the variables of the table, and possibly others.
        encoding: settings of the encoding.
    """
    x = np.zeros(layout.num_variables, dtype=np.int64)
    position = table.position
    names = [*table.names, *(name for name in dag if name not in position)]
    rank = {name: i for i, name in enumerate(topological_order(dag, names))}
    parents = np.zeros(len(table.names), dtype=np.int64)
    for parent, child in dag.edges:
        if parent in position and child in position and (index := layout.d[position[parent], position[child]]) >= 0:
            x[index] = 1
            parents[position[child]] += 1
    for child, count in enumerate(parents):
        slack = max(table.max_parents - int(count), 0)
        if encoding.penalties != "paper":
            slack = slack // 2
        indices = layout.y[child][layout.y[child] >= 0]
        x[indices] = slack >> np.arange(len(indices)) & 1
    for a, b in np.argwhere(layout.r >= 0):
        x[layout.r[a, b]] = rank[table.names[a]] < rank[table.names[b]]
    for index, (child, factors) in enumerate(layout.products, layout.num_variables - len(layout.products)):
        x[index] = all(x[layout.d[parent, child]] for parent in factors)
    return x


def result_value(bqm: dimod.BinaryQuadraticModel, x: Ints) -> float:
    """Return x^T Q x, which is the energy without the offset. The paper calls it the result value.

    Args:
        bqm: QUBO of a score table.
        x: values of the QUBO variables, in the order of `bqm.variables`.
    """
    return float(bqm.energies((x, bqm.variables))[0] - bqm.offset)
