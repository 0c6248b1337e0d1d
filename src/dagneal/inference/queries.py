"""Questions to a network: distributions given evidence, the probability of evidence, and the most probable explanation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import exp, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from dagneal.base.errors import InputError, short_repr
from dagneal.base.kernels import Floats
from dagneal.inference.elimination import UNKNOWN, Elimination, check_size
from dagneal.inference.engine import compute_joint, index_evidence, log_evidence, soft_factors
from dagneal.inference.evidence import Given, quote_label, read_evidence
from dagneal.inference.models import Members, check_variable, find_members, find_network
from dagneal.networks.network import BayesianNetwork

if TYPE_CHECKING:
    import polars

_SHOWN = 20  # most lines of a distribution as text


@dataclass(frozen=True, eq=False)
class Distribution:
    """The joint distribution of one or several variables.

    Attributes:
        states: states of each variable. The keys are the variables.
        probabilities: array with one axis per variable.
        given: the evidence as text.

    `answer["yes"]` is the probability of a state, `answer["yes", "no"]` that of a combination of states.
    """

    states: Mapping[str, tuple[str, ...]]
    probabilities: Floats
    given: str = ""

    @property
    def targets(self) -> tuple[str, ...]:
        """The variables."""
        return tuple(self.states)

    def __getitem__(self, states: Any) -> float:
        key = states if isinstance(states, tuple) else (states,)
        if len(key) != len(self.states):
            raise InputError(f"give one state for each of {', '.join(self.targets)}, not {short_repr(states)}")
        place = []
        for (name, labels), state in zip(self.states.items(), key, strict=True):
            text = str(state)
            if text not in labels:
                raise InputError(f"{name!r} has no state {short_repr(state)}; its states are {', '.join(map(repr, labels))}")
            place.append(labels.index(text))
        return float(self.probabilities[tuple(place)])

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        """Iterate over the combinations of states, as tuples."""
        return product(*self.states.values())

    @property
    def most_probable(self) -> tuple[str, ...]:
        """The most probable combination of states."""
        place = np.unravel_index(int(self.probabilities.argmax()), self.probabilities.shape)
        return tuple(labels[at] for labels, at in zip(self.states.values(), place, strict=True))

    def marginal(self, target: str) -> Distribution:
        """Return the distribution of one of the variables.

        Args:
            target: the variable.
        """
        if target not in self.states:
            raise InputError(f"{short_repr(target)} is not in this distribution of {', '.join(self.targets)}")
        axis = self.targets.index(target)
        others = tuple(at for at in range(len(self.states)) if at != axis)
        return Distribution({target: self.states[target]}, self.probabilities.sum(axis=others), self.given)

    def frame(self) -> polars.DataFrame:
        """Return the distribution as a polars frame: a column for each variable, and the column `probability`."""
        return state_frame(self.states, {"probability": self.probabilities})

    def to_dict(self) -> dict[str, Any]:
        """Return the distribution as a dict for JSON."""
        return {
            "targets": list(self.targets),
            "given": self.given,
            "states": {name: list(labels) for name, labels in self.states.items()},
            "probabilities": self.probabilities.tolist(),
        }

    @property
    def title(self) -> str:
        """The question, such as `P(Cancer | Smoker=True)`."""
        return f"P({', '.join(map(quote_label, self.targets))}{' | ' if self.given else ''}{self.given})"

    def __repr__(self) -> str:
        lines = [f"  {', '.join(states)}  {self[states]:.6g}" for states, _ in zip(self, range(_SHOWN), strict=False)]
        more = self.probabilities.size - len(lines)
        return "\n".join([self.title, *lines, *([f"  and {more:,} more"] if more else [])])


def state_frame(states: Mapping[str, tuple[str, ...]], values: Mapping[str, Floats]) -> polars.DataFrame:
    """Return a polars frame with one row for each combination of states.

    Args:
        states: states by variable.
        values: arrays with one axis per variable, by title of their column.
    """
    import polars

    rows = np.indices([len(labels) for labels in states.values()]).reshape(len(states), -1)
    columns = [
        polars.Series(name, labels, dtype=polars.String).gather(line.astype(np.uint32))
        for (name, labels), line in zip(states.items(), rows, strict=True)
    ]
    for title, table in values.items():
        while title in states:
            title += " "
        columns.append(polars.Series(title, table.ravel()))
    return polars.DataFrame(columns)


def query(model: Any, targets: str | Sequence[str], given: Mapping[str, Any] | None = None) -> Distribution:
    """Return the exact distribution of one or several variables, given evidence. It needs `dagneal[ask]`.

    Args:
        model: a network, an ensemble or a result.
        targets: name of a variable, or a list of names for their joint distribution.
        given: evidence by variable: a state, a list of states one of which is true, or soft evidence. Soft evidence is a
            mapping from states to the likelihood of an observation, such as `{"yes": 0.8, "no": 0.1}`: the observation is
            eight times as likely if the state is `yes`.

    >>> from dagneal.networks.bundled import load
    >>> query(load("lung-cancer"), "Cancer", given={"Smoker": "True", "Xray": "Positive"})
    P(Cancer | Smoker=True, Xray=Positive)
      False  0.870504
      True  0.129496
    """
    members = find_members(model)
    names = check_targets(members.first, targets)
    evidence = read_evidence(members.first, given)
    refuse_known(names, evidence)
    total: Floats = np.zeros([len(members.first.states[name]) for name in names])
    for network, weight in zip(members.networks, posterior_weights(members, evidence), strict=True):
        if weight:
            total = total + weight * compute_joint(network, names, evidence)
    return Distribution({name: members.first.states[name] for name in names}, total, evidence.text)


def evidence_probability(model: Any, states: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> float:
    """Return the probability that variables have certain states, given evidence.

    Args:
        model: a network, an ensemble or a result.
        states: states by variable; see `query`.
        given: evidence by variable; see `query`.

    >>> from dagneal.networks.bundled import load
    >>> round(evidence_probability(load("lung-cancer"), {"Smoker": "True", "Xray": "Positive"}), 6)
    0.06672
    """
    members = find_members(model)
    condition, both = read_evidence(members.first, given), read_evidence(members.first, {**(given or {}), **states})
    if common := sorted(set(given or {}) & set(states)):
        raise InputError(f"{common[0]!r} is both a target and given; remove it from one of them")
    weights = posterior_weights(members, condition)
    result = 0.0
    for network, weight in zip(members.networks, weights, strict=True):
        if weight:
            result += float(weight) * exp(log_evidence(network, both) - log_evidence(network, condition))
    return result


@dataclass(frozen=True)
class Explanation:
    """The most probable explanation of evidence.

    Attributes:
        states: state of each variable.
        probability: probability of these states given the evidence.
    """

    states: Mapping[str, str]
    probability: float

    def __getitem__(self, name: str) -> str:
        return self.states[name]


def most_probable(model: Any, given: Mapping[str, Any] | None = None) -> Explanation:
    """Return the most probable states of all variables, given evidence (the most probable explanation, MPE).

    Args:
        model: a network or a result.
        given: evidence by variable; see `query`.

    >>> from dagneal.networks.bundled import load
    >>> most_probable(load("lung-cancer"), given={"Xray": "Positive", "Dyspnoea": "True"}).states["Cancer"]
    'False'
    """
    network = find_network(model, "most_probable")
    evidence = read_evidence(network, given)
    indexed, index, codes = index_evidence(network, evidence)
    unknown = tuple(np.flatnonzero(codes[:, 0] == UNKNOWN).tolist())
    everything = range(len(index))
    scopes = [[member for member in scope if member in set(unknown)] for scope in indexed.scopes]
    plan = indexed.plan(scopes, unknown)
    check_size(plan.cells, "the most probable explanation")
    factors = [*indexed.condition(codes, unknown, everything), *soft_factors(index, evidence.soft)]
    elimination = Elimination(factors, plan, maximise=True)
    highest = float(elimination.log_total()[0])
    total = log_evidence(network, evidence)
    if np.isneginf(highest):
        raise evidence.impossible()
    elimination.go_back(codes)
    states = {name: network.states[name][int(codes[at, 0])] for name, at in index.items()}
    return Explanation(states, exp(highest - total))


def check_targets(network: BayesianNetwork, targets: str | Sequence[str]) -> tuple[str, ...]:
    """Return the target variables. Raise an error if there is none, or one twice, or if the joint table is too large.

    Args:
        network: the network.
        targets: name of a variable, or a list of names.
    """
    names = (targets,) if isinstance(targets, str) else tuple(targets)
    if not names:
        raise InputError("targets is empty; give the name of a variable")
    for name in names:
        check_variable(network, name)
        if names.count(name) > 1:
            raise InputError(f"the target {name!r} is given twice; give it once")
    check_size(prod(len(network.states[name]) for name in names), "this joint distribution")
    return names


def refuse_known(names: Sequence[str], evidence: Given) -> None:
    """Raise an error if a target has hard evidence.

    Args:
        names: targets.
        evidence: the evidence.
    """
    for name in names:
        if name in evidence.hard:
            raise InputError(f"{name!r} is both a target and given; remove it from one of them")


def posterior_weights(members: Members, evidence: Given) -> Floats:
    """Return the weights of networks after the evidence. Raise an error if the evidence has probability 0.

    Args:
        members: networks with their weights.
        evidence: the evidence.
    """
    if len(members.networks) == 1 and not can_be_impossible(members.first, evidence):
        return members.weights
    logs = np.array([log_evidence(network, evidence) for network in members.networks]) + np.log(members.weights)
    if np.isneginf(logs.max()):
        raise evidence.impossible()
    weights: Floats = np.exp(logs - np.logaddexp.reduce(logs))
    return weights


def can_be_impossible(network: BayesianNetwork, evidence: Given) -> bool:
    """Return whether evidence may have probability 0: whether a probability of the network is 0.

    Args:
        network: the network.
        evidence: the evidence.
    """
    return bool(evidence.hard or evidence.soft) and any((table == 0).any() for table in network.cpts.values())
