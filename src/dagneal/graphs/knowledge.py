"""Background knowledge: rules, known in advance, that every learned network must obey, and probabilities of edges."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log, log1p
from numbers import Real
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError, hint, short_repr, whole_number
from dagneal.base.kernels import Floats, Ints
from dagneal.base.toml import read_toml
from dagneal.graphs.dags import cpdag

Edge = tuple[str, str]
_KEYS = ("required", "forbidden", "probabilities", "tiers", "roots", "leaves", "limits")


@dataclass(frozen=True)
class Knowledge:
    """Background knowledge: required and forbidden edges, probabilities of edges, tiers, roots, leaves and parent limits.

    Args:
        required: edges (parent, child) that every network must have.
        forbidden: edges (parent, child) that no network may have.
        tiers: groups of variables, earliest first. No edge leads from a later group to an earlier group. Variables outside
            all groups are unrestricted.
        roots: variables that must not have parents.
        leaves: variables that must not have children.
        limits: parent limits by variable.
        probabilities: prior probabilities by edge (parent, child), above 0 and below 1. The log-odds ln(p / (1 - p)) of an
            edge are added to the score of each network that has the edge. So the score is the log posterior probability of
            the network up to a constant, if edges are independent a priori. Edges without a probability have 1/2.

    >>> knowledge = Knowledge(required=[("Smoker", "Cancer")], tiers=[["Pollution", "Smoker"], ["Cancer"]])
    >>> knowledge.check(("Pollution", "Smoker", "Cancer"), max_parents=2)
    >>> Knowledge(required=[("a", "b"), ("b", "a")]).check(("a", "b"), max_parents=1)
    Traceback (most recent call last):
    dagneal.base.errors.InputError: the required edges form a cycle: a -> b -> a
    """

    required: Iterable[Edge] = ()
    forbidden: Iterable[Edge] = ()
    tiers: Iterable[Iterable[str]] = ()
    roots: Iterable[str] = ()
    leaves: Iterable[str] = ()
    limits: Mapping[str, int] = field(default_factory=dict)
    probabilities: Mapping[Edge, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("required", "forbidden"):
            edges = tuple(dict.fromkeys((str(parent), str(child)) for parent, child in getattr(self, name)))
            object.__setattr__(self, name, edges)
        object.__setattr__(self, "tiers", tuple(tuple(map(str, tier)) for tier in self.tiers))
        for name in ("roots", "leaves"):
            object.__setattr__(self, name, tuple(dict.fromkeys(map(str, getattr(self, name)))))
        object.__setattr__(self, "limits", {str(name): limit for name, limit in self.limits.items()})
        probabilities = {}
        for edge, p in self.probabilities.items():
            parent, child = map(str, _parse_edge("knowledge", "probabilities", edge) if isinstance(edge, str) else edge)
            probabilities[parent, child] = _check_probability(f"{parent} -> {child}", p)
        object.__setattr__(self, "probabilities", probabilities)

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in _KEYS)

    def __or__(self, other: Knowledge) -> Knowledge:
        if self.tiers and other.tiers:
            raise InputError("tiers are given in two places; give them only once")
        return Knowledge(
            (*self.required, *other.required),
            (*self.forbidden, *other.forbidden),
            self.tiers or other.tiers,
            (*self.roots, *other.roots),
            (*self.leaves, *other.leaves),
            {**self.limits, **other.limits},
            {**self.probabilities, **other.probabilities},
        )

    def log_odds(self, edges: Iterable[Edge]) -> float:
        """Return the sum of the log-odds ln(p / (1 - p)) of edges. It is the part of a score that comes from probabilities.

        Args:
            edges: edges (parent, child). Edges without a probability add 0.

        >>> round(Knowledge(probabilities={("a", "b"): 0.9, ("b", "c"): 0.9}).log_odds([("a", "b"), ("a", "c")]), 3)
        2.197
        """
        return sum(_log_odds(self.probabilities[edge]) for edge in edges if edge in self.probabilities)

    def to_dict(self) -> dict[str, Any]:
        """Return the knowledge as a dict of plain values, with the keys of a knowledge file."""
        plain = {
            "required": [list(edge) for edge in self.required],
            "forbidden": [list(edge) for edge in self.forbidden],
            "probabilities": [[*edge, p] for edge, p in self.probabilities.items()],
            "tiers": [list(tier) for tier in self.tiers],
            "roots": list(self.roots),
            "leaves": list(self.leaves),
            "limits": dict(self.limits),
        }
        return {name: value for name, value in plain.items() if value}

    def check(self, names: Sequence[str], max_parents: int) -> None:
        """Check that at least one network obeys all rules. If not, the error names the rules that contradict each other.

        Args:
            names: variables of the data.
            max_parents: parent limit of all variables.
        """
        self._check_names(names)
        allowed = self._allowed_edges(names)
        index = {name: i for i, name in enumerate(names)}
        for parent, child in self.required:
            if not allowed[index[parent], index[child]]:
                reason = self._conflict(parent, child)
                raise InputError(f"the edge {parent} -> {child} is required, but {reason}; remove one of these rules")
        for parent, child in self.probabilities:
            reason = "" if allowed[index[parent], index[child]] else self._conflict(parent, child)
            if (parent, child) in self.required:
                reason = "it is also required"
            if reason:
                raise InputError(f"the edge {parent} -> {child} has a probability, but {reason}; remove one of these rules")
        graph = nx.DiGraph(list(self.required))
        if not nx.is_directed_acyclic_graph(graph):
            cycle = [edge[0] for edge in nx.find_cycle(graph)]
            raise InputError(f"the required edges form a cycle: {' -> '.join([*cycle, cycle[0]])}")
        for child, parents in graph.in_degree if len(graph) else ():
            limit = min(max_parents, self.limits.get(child, max_parents))
            if parents > limit:
                raise InputError(
                    f"{child!r} has {parents} required parents, but its parent limit is {limit}; raise the limit"
                )

    def _check_names(self, names: Sequence[str]) -> None:
        """Raise an error for unknown names, edges from a variable to itself, repeated names in tiers, and invalid limits."""
        variables = set(names)
        uses = [
            ("required", [name for edge in self.required for name in edge]),
            ("forbidden", [name for edge in self.forbidden for name in edge]),
            ("probabilities", [name for edge in self.probabilities for name in edge]),
            ("tiers", [name for tier in self.tiers for name in tier]),
            ("roots", self.roots),
            ("leaves", self.leaves),
            ("limits", self.limits),
        ]
        for rule, mentioned in uses:
            for name in mentioned:
                if name not in variables:
                    raise InputError(f"{name!r} in {rule} is not a variable of the data{hint(name, names)}")
        for rule in ("required", "forbidden", "probabilities"):
            for parent, child in getattr(self, rule):
                if parent == child:
                    raise InputError(f"{rule} has an edge from {parent!r} to itself; remove it")
        members = [name for tier in self.tiers for name in tier]
        if len(set(members)) < len(members):
            repeated = next(name for name in members if members.count(name) > 1)
            raise InputError(f"{repeated!r} is in two tiers; remove it from one of them")
        for name, limit in self.limits.items():
            whole_number(f"the parent limit of {name}", limit)

    def _conflict(self, parent: str, child: str) -> str:
        """Return the reason why an edge is not allowed, for an error message."""
        if (parent, child) in self.forbidden:
            return "it is also forbidden"
        if child in self.roots:
            return f"{child!r} is a root"
        if parent in self.leaves:
            return f"{parent!r} is a leaf"
        return f"{parent!r} is in a later tier than {child!r}"

    def _allowed_edges(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return the boolean matrix `allowed[parent, child]`, which is True if no rule forbids the edge parent -> child."""
        index = {name: i for i, name in enumerate(names)}
        allowed = ~np.eye(len(names), dtype=bool)
        for parent, child in self.forbidden:
            allowed[index[parent], index[child]] = False
        tier = np.full(len(names), -1)
        for number, members in enumerate(self.tiers):
            tier[[index[name] for name in members]] = number
        later = (tier[:, None] > tier[None, :]) & (tier[:, None] >= 0) & (tier[None, :] >= 0)
        allowed &= ~later
        allowed[:, [index[name] for name in self.roots]] = False
        allowed[[index[name] for name in self.leaves], :] = False
        return allowed

    def constraints(self, names: Sequence[str], max_parents: int) -> Constraints:
        """Return the knowledge as arrays, in which a variable is represented by its index in `names`.

        Args:
            names: variables of the data.
            max_parents: parent limit of all variables.
        """
        self.check(names, max_parents)
        index = {name: i for i, name in enumerate(names)}
        required = np.zeros((len(names), len(names)), dtype=bool)
        for parent, child in self.required:
            required[index[parent], index[child]] = True
        limits = np.array([min(max_parents, self.limits.get(name, max_parents)) for name in names], dtype=np.int64)
        log_odds = np.zeros(required.shape) if self.probabilities else None
        for (parent, child), p in self.probabilities.items():
            if log_odds is not None:
                log_odds[index[parent], index[child]] = _log_odds(p)
        return Constraints(self._allowed_edges(names), required, limits, log_odds)


@dataclass(frozen=True, eq=False)
class Constraints:
    """Background knowledge as arrays, in which a variable is represented by its index.

    Attributes:
        allowed: boolean matrix; `allowed[parent, child]` is True if no rule forbids the edge.
        required: boolean matrix; `required[parent, child]` is True if the edge is required.
        limits: parent limit of each variable.
        log_odds: matrix; `log_odds[parent, child]` is added to each score of the child with this parent. None if no edge has
            a probability.
    """

    allowed: NDArray[np.bool_]
    required: NDArray[np.bool_]
    limits: Ints
    log_odds: Floats | None = None

    def candidates(self, child: int, given: Ints) -> Ints:
        """Return the candidate parents of a child as ascending indices.

        These are the variables in `given` that may be parents of the child, and all required parents of the child.

        Args:
            child: index of the child.
            given: indices of variables, allowed or not.
        """
        chosen = np.zeros(len(self.allowed), dtype=bool)
        chosen[given] = True
        return np.flatnonzero((chosen & self.allowed[:, child]) | self.required[:, child])

    def violations(self, children: Ints, parents: NDArray[np.int32]) -> Floats:
        """Return the number of violations in each parent set.

        Each missing required parent, each forbidden parent, and each parent in excess of the parent limit is a violation.

        Args:
            children: index of the child of each parent set.
            parents: array with one parent set per row, as indices of variables, padded with -1.
        """
        present = parents >= 0
        required = self.required[parents, children[:, None]]
        forbidden = ~self.allowed[parents, children[:, None]] & ~required
        missing = self.required.sum(axis=0)[children] - (required & present).sum(axis=1)
        over = np.maximum(present.sum(axis=1) - self.limits[children], 0)
        count: Floats = (missing + (forbidden & present).sum(axis=1) + over).astype(np.float64)
        return count

    def prior(self, children: Ints, parents: NDArray[np.int32]) -> Floats:
        """Return the sum of the log-odds of the edges of each parent set.

        Args:
            children: index of the child of each parent set.
            parents: array with one parent set per row, as indices of variables, padded with -1.
        """
        if self.log_odds is None:
            return np.zeros(len(parents))
        total: Floats = np.where(parents >= 0, self.log_odds[parents, children[:, None]], 0.0).sum(axis=1)
        return total

    def most_prior(self, children: Ints, parents: NDArray[np.int32]) -> Floats:
        """Return, for each parent set, the highest sum of log-odds of a superset: all further edges with positive log-odds.

        Args:
            children: index of the child of each parent set.
            parents: array with one parent set per row, as indices of variables, padded with -1.
        """
        if self.log_odds is None:
            return np.zeros(len(parents))
        own = np.where(parents >= 0, self.log_odds[parents, children[:, None]], 0.0)
        highest: Floats = np.maximum(self.log_odds, 0.0).sum(axis=0)[children] + np.minimum(own, 0.0).sum(axis=1)
        return highest


def equivalence_class(dag: nx.DiGraph, knowledge: Knowledge | None) -> nx.DiGraph:
    """Return the partially directed graph that represents all DAGs that are equivalent to `dag` and obey the knowledge.

    If an edge has the same direction in all these DAGs, the result has the edge only in this direction. The result has every
    other edge in both directions. Parent limits are ignored.

    Args:
        dag: a DAG that obeys the knowledge.
        knowledge: background knowledge, or None.

    >>> chain = nx.DiGraph([("a", "b"), ("b", "c")])
    >>> sorted(equivalence_class(chain, Knowledge(roots=["a"])).edges)
    [('a', 'b'), ('b', 'c')]
    """
    return cpdag(dag, fixed_edges(dag, knowledge))


def fixed_edges(dag: nx.DiGraph, knowledge: Knowledge | None) -> list[Edge]:
    """Return the edges whose direction background knowledge fixes: they are required, or their reversal is not allowed.

    Args:
        dag: a DAG that obeys the knowledge.
        knowledge: background knowledge, or None.

    >>> fixed_edges(nx.DiGraph([("a", "b"), ("b", "c")]), Knowledge(roots=["a"]))
    [('a', 'b')]
    """
    if not knowledge:
        return []
    rules = knowledge.constraints(list(dag), max(len(dag) - 1, 0))
    index = {name: i for i, name in enumerate(dag)}
    return [(a, b) for a, b in dag.edges if rules.required[index[a], index[b]] or not rules.allowed[index[b], index[a]]]


def read_knowledge(path: str | os.PathLike[str]) -> Knowledge:
    """Read background knowledge from a TOML file.

    Args:
        path: TOML file with any of these keys: `required` and `forbidden` (edges as `["parent", "child"]` or
            `"parent -> child"`), the table `probabilities` (`"parent -> child" = probability`), `tiers` (lists of names),
            `roots` and `leaves` (names), and the table `limits` (name = parent limit).
    """
    return _parse(read_toml(path), str(path), "must be a table: a line [limits], then lines such as outcome = 3")


def as_knowledge(value: Any) -> Knowledge | None:
    """Convert an object, a mapping or a file to background knowledge. Return None if there are no rules.

    Args:
        value: a `Knowledge`, a mapping with the keys of a knowledge file, the path of a knowledge file, or None.

    >>> as_knowledge({"required": ["Smoker -> Cancer"], "leaves": ["Xray"]}).leaves
    ('Xray',)
    """
    if isinstance(value, str | os.PathLike):
        value = read_knowledge(value)
    if isinstance(value, Mapping):
        value = _parse(value, "knowledge", "must be a mapping such as {'outcome': 3}")
    if value is not None and not isinstance(value, Knowledge):
        raise InputError(
            f"knowledge is {value!r}; give a Knowledge, a dict such as {{'leaves': ['a']}}, or the path of a file"
        )
    return value or None


def _parse(values: Mapping[str, Any], where: str, limits_help: str) -> Knowledge:
    """Convert a mapping with the keys of a knowledge file to `Knowledge`.

    Error messages begin with `where`. If the limits are not a mapping, the message ends with `limits_help`.
    """
    if unknown := [name for name in values if name not in _KEYS]:
        close = hint(str(unknown[0]), _KEYS)
        raise InputError(f"{where}: {unknown[0]!r} is not a key of knowledge; the keys are {', '.join(_KEYS)}{close}")
    for name in ("roots", "leaves"):
        if not _is_name_list(values.get(name, [])):
            raise InputError(f"{where}: {name} must be a list of names")
    tiers = values.get("tiers", [])
    if not isinstance(tiers, list | tuple) or not all(map(_is_name_list, tiers)):
        raise InputError(f"{where}: tiers must be a list of lists of names, earliest tier first")
    limits = values.get("limits", {})
    if not isinstance(limits, Mapping):
        raise InputError(f"{where}: limits {limits_help}")
    kinds = ("required", "forbidden")
    edges = {name: [_parse_edge(where, name, edge) for edge in _edge_list(where, name, values)] for name in kinds}
    roots, leaves, probabilities = values.get("roots", []), values.get("leaves", []), _parse_probabilities(where, values)
    return Knowledge(edges["required"], edges["forbidden"], tiers, roots, leaves, limits, probabilities)


def _is_name_list(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset) and all(isinstance(name, str) for name in value)


def _edge_list(where: str, name: str, values: Mapping[str, Any]) -> Iterable[Any]:
    value = values.get(name, [])
    if not isinstance(value, list | tuple | set | frozenset):
        raise InputError(f"{where}: {name} must be a list of edges")
    return value


def _parse_edge(where: str, name: str, value: Any) -> Edge:
    parts = [part.strip() for part in value.split("->")] if isinstance(value, str) else value
    if not (isinstance(parts, list | tuple) and _is_name_list(parts) and len(parts) == 2 and all(parts)):
        example = '["parent", "child"] or "parent -> child"'
        raise InputError(f"{where}: {short_repr(value)} in {name} is not an edge; write {example}")
    return parts[0], parts[1]


def _parse_probabilities(where: str, values: Mapping[str, Any]) -> dict[Edge, Any]:
    """Return the probabilities in a mapping with the keys of a knowledge file, by edge."""
    given = values.get("probabilities", {})
    items = list(given.items()) if isinstance(given, Mapping) else given
    if isinstance(items, list | tuple) and items is given:
        items = [(item[:2], item[2]) if isinstance(item, list | tuple) and len(item) == 3 else None for item in given]
    if not isinstance(items, list | tuple) or None in items:
        raise InputError(
            f'{where}: probabilities must be a table with lines such as "parent -> child" = 0.9, or a list of items such as '
            '["parent", "child", 0.9]'
        )
    result = {}
    for text, p in items:
        edge = _parse_edge(where, "probabilities", text)
        if edge in result:
            raise InputError(f"{where}: probabilities has the edge {edge[0]} -> {edge[1]} twice; remove one")
        result[edge] = p
    return result


def _check_probability(edge: str, p: Any) -> float:
    """Return the probability of an edge. Raise an error if it is not a number above 0 and below 1."""
    is_number: bool = isinstance(p, Real) and not isinstance(p, bool)
    if not is_number or not 0 <= p <= 1:
        raise InputError(f"the probability of {edge} is {short_repr(p)}; give a number above 0 and below 1")
    if float(p) == 0.0:
        raise InputError(f"the probability of {edge} is 0; give a number above 0, or put the edge into forbidden")
    if float(p) == 1.0:
        raise InputError(f"the probability of {edge} is 1; give a number below 1, or put the edge into required")
    return float(p)


def _log_odds(p: float) -> float:
    """Return ln(p / (1 - p))."""
    return log(p) - log1p(-p)
