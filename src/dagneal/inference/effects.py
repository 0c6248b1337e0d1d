"""Effects of interventions, computed over all members of the equivalence class (IDA).

Data cannot distinguish the members of an equivalence class, but their causal effects differ. The truncated factorisation
gives P(v | do(x)) = P(v) / product of P(x_i | parents of x_i), for v that agree with x. All members have the same P(v), so
an effect depends only on the parents of the intervened variables. The possible parent sets of one variable are found in the
partially directed graph of the class (Maathuis, Kalisch and Bühlmann 2009; with background knowledge Fang and He 2020). For
several variables, the edges at the first variable are directed, Meek's rules are applied, and so on. So every combination of
parent sets belongs to a member, and none is missed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import networkx as nx
import numpy as np

from dagneal.base.errors import InputError, short_repr
from dagneal.base.kernels import Floats
from dagneal.base.text import plural
from dagneal.graphs.dags import cpdag, orient
from dagneal.graphs.knowledge import as_knowledge
from dagneal.inference.engine import compute_joint, log_evidence
from dagneal.inference.evidence import Given, quote_label, read_evidence
from dagneal.inference.models import check_variable, find_network, find_state
from dagneal.inference.queries import Distribution, check_targets, query, refuse_known, state_frame
from dagneal.networks.network import BayesianNetwork

if TYPE_CHECKING:
    import polars

ASSUMPTION = "assuming no hidden common causes"
AGREEMENT = 1e-9  # members of a class agree if their probabilities differ by at most this much
MOST_MEMBERS = 10_000  # largest number of combinations of parent sets

ParentSets = tuple[frozenset[str], ...]  # parents of each intervened variable


class Range(NamedTuple):
    """The lowest and the highest probability over the members of the class. They are equal if all members agree."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:.6g}" if self.low == self.high else f"{self.low:.6g} to {self.high:.6g}"


@dataclass(frozen=True, eq=False)
class Effect:
    """The distribution of variables after an intervention, over all members of an equivalence class.

    `effect["yes"]` is the range of the probability of a state. Its two ends are equal if all members agree.

    Attributes:
        states: states of each target variable.
        low: lowest probabilities over the members, with one axis per target.
        high: highest probabilities over the members.
        do: the intervention as text.
        given: the evidence as text.
        parent_sets: for each group of members with the same effect, the parents of each intervened variable.
        distributions: distribution of each group, in the order of `parent_sets`.
        unsupported: parent sets of members whose effect does not follow from the distribution, because some states of the
            parents exclude the intervention. These members are not in the range.
        trusted: whether the directions of the network were taken as causal, so that there is only one member.
    """

    states: Mapping[str, tuple[str, ...]]
    low: Floats
    high: Floats
    do: str
    given: str = ""
    parent_sets: tuple[Mapping[str, tuple[str, ...]], ...] = ()
    distributions: tuple[Floats, ...] = ()
    unsupported: tuple[Mapping[str, tuple[str, ...]], ...] = ()
    trusted: bool = False

    @property
    def targets(self) -> tuple[str, ...]:
        """The target variables."""
        return tuple(self.states)

    @property
    def identified(self) -> bool:
        """Whether all members of the class agree, so that every probability is one number."""
        return not self.unsupported and bool((self.low == self.high).all())

    @property
    def distribution(self) -> Distribution:
        """The distribution, if all members of the class agree. Otherwise an error."""
        if not self.identified:
            raise InputError(f"{self.title} is not one distribution; {self.reasons[-1]}; read the ranges instead")
        return Distribution(self.states, self.low, ", ".join(filter(None, (f"do({self.do})", self.given))))

    def __getitem__(self, states: Any) -> Range:
        low, high = (Distribution(self.states, values)[states] for values in (self.low, self.high))
        return Range(low, high)

    def frame(self) -> polars.DataFrame:
        """Return the effect as a polars frame: a column for each variable, and the columns `low` and `high`."""
        return state_frame(self.states, {"low": self.low, "high": self.high})

    @property
    def title(self) -> str:
        """The question, such as `P(Cancer | do(Smoker=True))`."""
        return f"P({', '.join(map(quote_label, self.targets))} | do({self.do}){', ' if self.given else ''}{self.given})"

    @property
    def assumption(self) -> str:
        """What the numbers assume."""
        return f"{ASSUMPTION}, and that all edges of the network are causal" if self.trusted else ASSUMPTION

    @property
    def reasons(self) -> list[str]:
        """Sentences that explain a range."""
        reasons = []
        if len(self.distributions) > 1 and (self.low != self.high).any():
            reasons.append(
                f"{plural(len(self.parent_sets), 'possible parent set')} of {', '.join(self.parent_sets[0])} "
                "give different effects, and data cannot distinguish them"
            )
        if self.unsupported:
            sets = plural(len(self.unsupported), "other possible parent set")
            reasons.append(
                f"{sets} cannot be evaluated, because the intervention has probability 0 for some states of the parents"
            )
        return reasons

    def __repr__(self) -> str:
        keys = list(Distribution(self.states, self.low))
        lines = [f"  {', '.join(key)}  {self[key]}" for key in keys]
        return "\n".join([f"{self.title}, {self.assumption}", *lines, *self.reasons])

    def to_dict(self) -> dict[str, Any]:
        """Return the effect as a dict for JSON."""
        return {
            "targets": list(self.targets),
            "do": self.do,
            "given": self.given,
            "states": {name: list(labels) for name, labels in self.states.items()},
            "identified": self.identified,
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "parent_sets": [{name: list(parents) for name, parents in each.items()} for each in self.parent_sets],
            "unsupported": [{name: list(parents) for name, parents in each.items()} for each in self.unsupported],
            "assumption": self.assumption,
        }


def do(
    model: Any,
    interventions: Mapping[str, Any],
    targets: str | Sequence[str],
    given: Mapping[str, Any] | None = None,
    knowledge: Any = None,
    trust_directions: bool = False,
) -> Effect:
    """Return the distribution of variables after an intervention, assuming no hidden common causes.

    The effect is computed for all members of the equivalence class of the network. A probability is one number if all
    members agree, otherwise a range. It needs `dagneal[ask]`.

    Args:
        model: a network or a result.
        interventions: state that each intervened variable is set to.
        targets: name of a variable, or a list of names for their joint distribution.
        given: evidence that is observed after the intervention; see `query`.
        knowledge: background knowledge, which excludes members of the class; see `learn`. By default that of the result.
        trust_directions: True to take the direction of every edge as causal, also of reversible edges.

    >>> from dagneal.networks.bundled import load
    >>> do(load("lung-cancer"), {"Smoker": "True"}, "Cancer")
    P(Cancer | do(Smoker=True)), assuming no hidden common causes
      False  0.968
      True  0.032
    """
    network = find_network(model, "do")
    names = check_targets(network, targets)
    if not isinstance(interventions, Mapping) or not interventions:
        raise InputError(f"interventions is {short_repr(interventions)}; give a dict such as {{'Smoker': 'yes'}}")
    fixed = {}
    for name, state in interventions.items():
        check_variable(network, name)
        fixed[name] = find_state(network, name, state)
    evidence = read_evidence(network, given)
    refuse_known(names, evidence)
    for name in fixed:
        for group, what in ((names, "a target"), ((*evidence.hard, *evidence.soft), "given")):
            if name in group:
                raise InputError(f"{name!r} is both set by the intervention and {what}; remove it from one of them")
    graph = class_graph(network.dag, getattr(model, "knowledge", None) if knowledge is None else knowledge)
    text = ", ".join(f"{quote_label(name)}={quote_label(network.states[name][code])}" for name, code in fixed.items())
    states = {name: network.states[name] for name in names}
    if trust_directions:
        return _trusted_effect(network, fixed, names, given, Effect(states, np.zeros(0), np.zeros(0), text, evidence.text))
    order = {name: at for at, name in enumerate(network.names)}

    def plain(sets: ParentSets) -> dict[str, tuple[str, ...]]:
        return {name: tuple(sorted(own, key=order.__getitem__)) for name, own in zip(fixed, sets, strict=True)}

    values, used, unsupported = [], [], []
    for sets in possible_parents(graph, tuple(fixed)):
        value = _adjust(network, fixed, names, evidence, [plain(sets)[name] for name in fixed])
        if value is None and not _may_change(graph, fixed, sets, {*names, *evidence.hard, *evidence.soft}):
            value = query(network, names, given).probabilities
        if value is None:
            unsupported.append(plain(sets))
        else:
            values.append(value)
            used.append(plain(sets))
    if not values:
        raise InputError(
            f"P({', '.join(names)} | do({text})) cannot be computed: the intervention or the evidence has probability 0 for "
            "some states of the parents; fit the network with a prior, or set trust_directions=True"
        )
    stacked = np.array(values)
    low, high = stacked.min(axis=0), stacked.max(axis=0)
    equal = high - low <= AGREEMENT
    middle = (low + high) / 2
    low, high = np.where(equal, middle, low), np.where(equal, middle, high)
    return Effect(states, low, high, text, evidence.text, tuple(used), tuple(values), tuple(unsupported))


def class_graph(dag: nx.DiGraph, knowledge: Any) -> nx.DiGraph:
    """Return the graph of the equivalence class of a DAG, without the members that violate background knowledge.

    The DAG itself may violate the knowledge, if another member of its class obeys it.

    Args:
        dag: the DAG.
        knowledge: background knowledge, or None.
    """
    graph, rules = cpdag(dag), as_knowledge(knowledge)
    if rules is None:
        return graph
    names = list(dag)
    rules.check(names, max(len(names) - 1, 0))
    constraints = rules.constraints(names, max(len(names) - 1, 0))
    index = {name: at for at, name in enumerate(names)}
    for parent, child in rules.required:
        if not graph.has_edge(parent, child):
            raise InputError(
                f"no network of the class has the required edge {parent} -> {child}; learn it with this knowledge"
            )
    fixed = []
    for parent, child in graph.edges:
        a, b = index[parent], index[child]
        if constraints.required[a, b] or (graph.has_edge(child, parent) and not constraints.allowed[b, a]):
            fixed.append((parent, child))
        elif not graph.has_edge(child, parent) and not constraints.allowed[a, b]:
            raise InputError(
                f"all networks of the class have the forbidden edge {parent} -> {child}; learn it with this knowledge"
            )
    graph = orient(graph, fixed)
    member = graph
    while edge := next(((a, b) for a, b in member.edges if member.has_edge(b, a) and (a, b) not in fixed), None):
        member = orient(member, [edge])
    if not nx.is_directed_acyclic_graph(member) or set(cpdag(member).edges) != set(cpdag(dag).edges):
        raise InputError(
            "no network of the equivalence class obeys all the knowledge; learn the network with this knowledge"
        )
    return graph


def possible_parents(graph: nx.DiGraph, names: Sequence[str]) -> set[ParentSets]:
    """Return the combinations of parent sets that variables have in the members of a class.

    Args:
        graph: partially directed graph of the class, completed by Meek's rules.
        names: the variables.
    """
    found: set[ParentSets] = set()
    for sets in _combinations(graph, names):
        found.add(sets)
        if len(found) > MOST_MEMBERS:
            raise InputError(
                f"the class has more than {MOST_MEMBERS:,} combinations of parents of {', '.join(names)}; add background "
                "knowledge, such as tiers, or set trust_directions=True"
            )
    return found


def _combinations(graph: nx.DiGraph, names: Sequence[str]) -> Iterator[ParentSets]:
    """Yield the combinations of parent sets of variables. The same combination can occur several times."""
    if not names:
        yield ()
        return
    name = names[0]
    siblings = sorted(set(graph.predecessors(name)) & set(graph.successors(name)))
    compelled = set(graph.predecessors(name)) - set(siblings)
    for chosen in _cliques(graph, siblings):
        others = (set(graph.successors(name)) | set(siblings)) - set(chosen)
        # A member has this parent set if no edge leads from another neighbour into the set. It would close a cycle.
        if any(graph.has_edge(other, member) and not graph.has_edge(member, other) for other in others for member in chosen):
            continue
        edges = [(member, name) for member in chosen] + [(name, other) for other in set(siblings) - set(chosen)]
        rest = orient(graph, edges) if len(names) > 1 else graph
        for more in _combinations(rest, names[1:]):
            yield (frozenset(compelled | set(chosen)), *more)


def _cliques(graph: nx.DiGraph, members: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield all sets of adjacent members, beginning with the empty set."""
    pending: list[tuple[tuple[str, ...], list[str]]] = [((), list(members))]
    while pending:
        chosen, left = pending.pop()
        yield chosen
        for at, member in enumerate(left):
            near = [other for other in left[at + 1 :] if graph.has_edge(member, other) or graph.has_edge(other, member)]
            pending.append(((*chosen, member), near))


def _adjust(
    network: BayesianNetwork,
    fixed: Mapping[str, int],
    targets: Sequence[str],
    evidence: Given,
    parent_sets: Sequence[Sequence[str]],
) -> Floats | None:
    """Return the distribution of the targets after an intervention in the members with the given parent sets.

    Return None if it does not follow from the distribution of the network.
    """
    parents = [name for name in dict.fromkeys(each for own in parent_sets for each in own) if name not in fixed]
    nothing = Given({}, {}, "")
    log_x = log_evidence(network, Given(dict(fixed), {}, ""))
    if not isfinite(log_x):
        return None
    weight = _inverse_propensity(network, fixed, parents, parent_sets, nothing)
    before = compute_joint(network, parents, Given(dict(fixed), {}, "")) if parents else np.ones(())
    mass = exp(log_x) * float((before * weight).sum())
    if abs(mass - 1) > AGREEMENT:  # the rest of the mass has parents that exclude the intervention
        return None
    known = Given({**evidence.hard, **fixed}, evidence.soft, "")
    weight = weight[tuple(evidence.hard.get(name, slice(None)) for name in parents)]
    free = [name for name in parents if name not in evidence.hard]
    axes = [*targets, *(name for name in free if name not in targets)]
    if not isfinite(log_evidence(network, known)):
        return None
    joint = compute_joint(network, axes, known)
    order = sorted(range(len(free)), key=lambda at: axes.index(free[at]))
    shape = [len(network.states[name]) if name in free else 1 for name in axes]
    weighted = joint * np.transpose(weight, order).reshape(shape)
    result: Floats = weighted.sum(axis=tuple(range(len(targets), len(axes))))
    total = float(result.sum())
    return result / total if total > 0 else None


def _may_change(graph: nx.DiGraph, fixed: Iterable[str], sets: ParentSets, others: set[str]) -> bool:
    """Return whether some of the other variables may be descendants of intervened variables with the given parents."""
    own = dict(zip(fixed, sets, strict=True))
    edges = [(parent, name) for name, parents in own.items() for parent in parents]
    edges += [(name, child) for name, parents in own.items() for child in graph.successors(name) if child not in parents]
    member = orient(graph, edges)
    return any(nx.descendants(member, name) & others for name in own)


def _inverse_propensity(
    network: BayesianNetwork,
    fixed: Mapping[str, int],
    parents: Sequence[str],
    parent_sets: Sequence[Sequence[str]],
    nothing: Given,
) -> Floats:
    """Return 1 / product of P(x | parents of x) over the values of all parents; 0 where the probability is 0."""
    weight: Floats = np.ones([len(network.states[name]) for name in parents])
    for (name, code), own in zip(fixed.items(), parent_sets, strict=True):
        table = compute_joint(network, [*own, name], nothing)
        below, above = table.sum(axis=-1), table[..., code]
        index = tuple(fixed.get(parent, slice(None)) for parent in own)
        below, above = below[index], above[index]
        inverse = np.divide(below, above, out=np.zeros_like(below), where=above > 0)
        free = [parent for parent in own if parent not in fixed]
        order = sorted(range(len(free)), key=lambda at: parents.index(free[at]))
        shape = [len(network.states[parent]) if parent in free else 1 for parent in parents]
        weight = weight * np.transpose(inverse, order).reshape(shape)
    return weight


def _trusted_effect(
    network: BayesianNetwork,
    fixed: Mapping[str, int],
    targets: Sequence[str],
    given: Mapping[str, Any] | None,
    empty: Effect,
) -> Effect:
    """Return the effect if all edges are causal: the edges into the intervened variables are removed."""
    parents, cpts = dict(network.parents), dict(network.cpts)
    for name, code in fixed.items():
        parents[name] = ()
        cpts[name] = np.eye(len(network.states[name]))[code]
    changed = BayesianNetwork(network.states, parents, cpts, network.name, network.recipe)
    labels = {name: network.states[name][code] for name, code in fixed.items()}
    values = query(changed, targets, {**labels, **(given or {})}).probabilities
    own = {name: tuple(network.parents[name]) for name in fixed}
    return replace(empty, low=values, high=values, parent_sets=(own,), distributions=(values,), trusted=True)
