"""Background knowledge: what is known of a network before the data are looked at."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError, hint, short, whole_number
from dagneal.base.kernels import Floats, Ints, Masks
from dagneal.base.toml import read_toml
from dagneal.graphs.dags import cpdag

Edge = tuple[str, str]
_KEYS = ("required", "forbidden", "tiers", "roots", "leaves", "limits")


@dataclass(frozen=True)
class Knowledge:
    """Edges that must or must not be there, and what restricts them.

    Args:
        required: edges, parent first, that every network has.
        forbidden: edges that none has.
        tiers: groups of variables, the earliest first; no edge leads from a later group to an earlier one. Variables in no
            group are free.
        roots: variables without parents.
        leaves: variables without children.
        limits: the most parents of single variables.

    >>> known = Knowledge(required=[("Smoker", "Cancer")], tiers=[["Pollution", "Smoker"], ["Cancer"]])
    >>> known.check(("Pollution", "Smoker", "Cancer"), max_parents=2)
    >>> Knowledge(required=[("a", "b"), ("b", "a")]).check(("a", "b"), max_parents=1)
    Traceback (most recent call last):
    dagneal.base.errors.InputError: the required edges make a cycle: a -> b -> a
    """

    required: Iterable[Edge] = ()
    forbidden: Iterable[Edge] = ()
    tiers: Iterable[Iterable[str]] = ()
    roots: Iterable[str] = ()
    leaves: Iterable[str] = ()
    limits: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("required", "forbidden"):
            edges = tuple(dict.fromkeys((str(parent), str(child)) for parent, child in getattr(self, name)))
            object.__setattr__(self, name, edges)
        object.__setattr__(self, "tiers", tuple(tuple(map(str, tier)) for tier in self.tiers))
        for name in ("roots", "leaves"):
            object.__setattr__(self, name, tuple(dict.fromkeys(map(str, getattr(self, name)))))
        object.__setattr__(self, "limits", {str(name): limit for name, limit in self.limits.items()})

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in _KEYS)

    def __or__(self, other: Knowledge) -> Knowledge:
        if self.tiers and other.tiers:
            raise InputError("tiers are given twice; give them once")
        return Knowledge(
            (*self.required, *other.required),
            (*self.forbidden, *other.forbidden),
            self.tiers or other.tiers,
            (*self.roots, *other.roots),
            (*self.leaves, *other.leaves),
            {**self.limits, **other.limits},
        )

    def to_dict(self) -> dict[str, Any]:
        """What is known as plain values, as a file of knowledge has it."""
        found = {
            "required": [list(edge) for edge in self.required],
            "forbidden": [list(edge) for edge in self.forbidden],
            "tiers": [list(tier) for tier in self.tiers],
            "roots": list(self.roots),
            "leaves": list(self.leaves),
            "limits": dict(self.limits),
        }
        return {name: value for name, value in found.items() if value}

    def check(self, names: Sequence[str], max_parents: int) -> None:
        """Refuse what no network can obey, by name.

        Args:
            names: the variables.
            max_parents: the most parents of any variable.
        """
        self._check_names(names)
        allowed = self._allowed_edges(names)
        place = {name: i for i, name in enumerate(names)}
        for parent, child in self.required:
            if not allowed[place[parent], place[child]]:
                raise InputError(f"the edge {parent} -> {child} is required, but {self._against(parent, child)}")
        wanted = nx.DiGraph(list(self.required))
        if not nx.is_directed_acyclic_graph(wanted):
            cycle = [edge[0] for edge in nx.find_cycle(wanted)]
            raise InputError(f"the required edges make a cycle: {' -> '.join([*cycle, cycle[0]])}")
        for child, parents in wanted.in_degree if len(wanted) else ():
            limit = min(max_parents, self.limits.get(child, max_parents))
            if parents > limit:
                raise InputError(f"{child!r} has {parents} required parents, but at most {limit} are allowed")

    def _check_names(self, names: Sequence[str]) -> None:
        known = set(names)
        listed = [
            ("required", [name for edge in self.required for name in edge]),
            ("forbidden", [name for edge in self.forbidden for name in edge]),
            ("tiers", [name for tier in self.tiers for name in tier]),
            ("roots", self.roots),
            ("leaves", self.leaves),
            ("limits", self.limits),
        ]
        for where, some in listed:
            for name in some:
                if name not in known:
                    raise InputError(f"{where} names {name!r}, which is not a variable of the data")
        for where in ("required", "forbidden"):
            for parent, child in getattr(self, where):
                if parent == child:
                    raise InputError(f"{where} has an edge from {parent!r} to itself")
        together = [name for tier in self.tiers for name in tier]
        if len(set(together)) < len(together):
            twice = next(name for name in together if together.count(name) > 1)
            raise InputError(f"{twice!r} is in two tiers")
        for name, limit in self.limits.items():
            whole_number(f"the limit of {name}", limit)

    def _against(self, parent: str, child: str) -> str:
        """Why an edge is not allowed."""
        if (parent, child) in self.forbidden:
            return "also forbidden"
        if child in self.roots:
            return f"{child!r} is a root"
        if parent in self.leaves:
            return f"{parent!r} is a leaf"
        return f"{parent!r} is in a later tier than {child!r}"

    def _allowed_edges(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """`allowed[parent, child]`: the edges that nothing forbids."""
        place = {name: i for i, name in enumerate(names)}
        allowed = ~np.eye(len(names), dtype=bool)
        for parent, child in self.forbidden:
            allowed[place[parent], place[child]] = False
        tier = np.full(len(names), -1)
        for number, members in enumerate(self.tiers):
            tier[[place[name] for name in members]] = number
        later = (tier[:, None] > tier[None, :]) & (tier[:, None] >= 0) & (tier[None, :] >= 0)
        allowed &= ~later
        allowed[:, [place[name] for name in self.roots]] = False
        allowed[[place[name] for name in self.leaves], :] = False
        return allowed

    def constraints(self, names: Sequence[str], max_parents: int) -> Constraints:
        """What is known, by the positions of variables.

        Args:
            names: the variables.
            max_parents: the most parents of any variable.
        """
        self.check(names, max_parents)
        place = {name: i for i, name in enumerate(names)}
        required = np.zeros((len(names), len(names)), dtype=bool)
        for parent, child in self.required:
            required[place[parent], place[child]] = True
        limits = np.array([min(max_parents, self.limits.get(name, max_parents)) for name in names], dtype=np.int64)
        return Constraints(self._allowed_edges(names), required, limits)


@dataclass(frozen=True, eq=False)
class Constraints:
    """Background knowledge by positions.

    Attributes:
        allowed: `allowed[parent, child]`, the edges that nothing forbids.
        required: `required[parent, child]`, those that must be there.
        limits: the most parents of each variable.
    """

    allowed: NDArray[np.bool_]
    required: NDArray[np.bool_]
    limits: Ints

    def candidates(self, child: int, given: Ints) -> Ints:
        """The candidates of a child that are allowed, with those that are required.

        Args:
            child: its position.
            given: its candidates otherwise.
        """
        chosen = np.zeros(len(self.allowed), dtype=bool)
        chosen[given] = True
        return np.flatnonzero((chosen & self.allowed[:, child]) | self.required[:, child])

    def violations(self, child: int, candidates: Ints, masks: Masks) -> Floats:
        """How many times each set of parents of a child breaks them.

        Args:
            child: its position.
            candidates: the variables that the bits of the masks stand for.
            masks: sets of parents.
        """
        count = np.full(len(masks), float(self.required[:, child].sum()))
        parents = np.zeros(len(masks))
        for bit, variable in enumerate(candidates):
            chosen = (masks >> np.uint64(bit)) & np.uint64(1) == 1
            parents += chosen
            if self.required[variable, child]:
                count -= chosen
            elif not self.allowed[variable, child]:
                count += chosen
        over: Floats = np.maximum(parents - self.limits[child], 0.0)
        return count + over


def equivalence_class(dag: nx.DiGraph, knowledge: Knowledge | None) -> nx.DiGraph:
    """The networks that are equivalent to a DAG and obey what is known, as a partially directed graph.

    Args:
        dag: a network that obeys.
        knowledge: what is known.

    >>> chain = nx.DiGraph([("a", "b"), ("b", "c")])
    >>> sorted(equivalence_class(chain, Knowledge(roots=["a"])).edges)
    [('a', 'b'), ('b', 'c')]
    """
    if not knowledge:
        return cpdag(dag)
    rules = knowledge.constraints(list(dag), max(len(dag) - 1, 0))
    place = {name: i for i, name in enumerate(dag)}
    fixed = [(a, b) for a, b in dag.edges if rules.required[place[a], place[b]] or not rules.allowed[place[b], place[a]]]
    return cpdag(dag, fixed)


def read_knowledge(path: str | os.PathLike[str]) -> Knowledge:
    """Read background knowledge from a TOML file.

    Args:
        path: a file with any of `required` and `forbidden` (edges as `["parent", "child"]` or `"parent -> child"`), `tiers`
            (lists of names), `roots`, `leaves` (names) and a table `limits` (name = most parents).
    """
    return _parse(read_toml(path), str(path), "must be a table such as [limits], then outcome = 3")


def as_knowledge(value: Any) -> Knowledge | None:
    """Background knowledge as given, from plain values, or from a file; None where nothing is known.

    Args:
        value: a `Knowledge`, a mapping with the keys of a TOML file of knowledge, or the path of such a file.

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


def _parse(values: Mapping[str, Any], where: str, limits_are: str) -> Knowledge:
    """Knowledge from plain values; errors begin with where they come from."""
    if unknown := [name for name in values if name not in _KEYS]:
        close = hint(str(unknown[0]), _KEYS)
        raise InputError(f"{where}: there is no {unknown[0]!r} in knowledge; give some of {', '.join(_KEYS)}{close}")
    for name in ("roots", "leaves"):
        if not _names(values.get(name, [])):
            raise InputError(f"{where}: {name} must be a list of names")
    tiers = values.get("tiers", [])
    if not isinstance(tiers, list | tuple) or not all(map(_names, tiers)):
        raise InputError(f"{where}: tiers must be lists of names, the earliest first")
    limits = values.get("limits", {})
    if not isinstance(limits, Mapping):
        raise InputError(f"{where}: limits {limits_are}")
    kinds = ("required", "forbidden")
    edges = {name: [_edge(where, name, each) for each in _edge_list(where, name, values)] for name in kinds}
    return Knowledge(**edges, tiers=tiers, roots=values.get("roots", []), leaves=values.get("leaves", []), limits=limits)


def _names(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset) and all(isinstance(name, str) for name in value)


def _edge_list(where: str, name: str, values: Mapping[str, Any]) -> Iterable[Any]:
    value = values.get(name, [])
    if not isinstance(value, list | tuple | set | frozenset):
        raise InputError(f"{where}: {name} must be a list of edges")
    return value


def _edge(where: str, name: str, value: Any) -> Edge:
    parts = [part.strip() for part in value.split("->")] if isinstance(value, str) else value
    if not (isinstance(parts, list | tuple) and _names(parts) and len(parts) == 2 and all(parts)):
        raise InputError(f'{where}: {short(value)} in {name} is no edge; write ["parent", "child"] or "parent -> child"')
    return parts[0], parts[1]
