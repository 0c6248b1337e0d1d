"""The adapter to pyAgrum, which computes exact distributions on a junction tree.

Variables and states are numbers inside pyAgrum, so any names work. pyAgrum drops variables that do not matter for a
question. The size of its junction tree is checked before it computes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from dagneal.base.kernels import Floats
from dagneal.inference.elimination import UNKNOWN, Codes, Elimination, Factor, IndexedNetwork, check_size
from dagneal.inference.evidence import Given
from dagneal.networks.conversion import import_pyagrum, to_pyagrum
from dagneal.networks.network import BayesianNetwork

_MOST_EVIDENCE = 100  # variables with evidence for pyAgrum, whose products of many probabilities underflow
_models: WeakKeyDictionary[BayesianNetwork, Any] = WeakKeyDictionary()


def compute_joint(network: BayesianNetwork, targets: Sequence[str], evidence: Given) -> Floats:
    """Return the joint distribution of variables given evidence, with one axis per variable.

    Args:
        network: the network.
        targets: different variables without hard evidence.
        evidence: known states and soft evidence of positive probability; see `log_evidence`.
    """
    gum = import_pyagrum("a query")
    if len(evidence.hard) + len(evidence.soft) > _MOST_EVIDENCE:
        return _eliminate(network, targets, evidence)
    if network not in _models:
        _models[network] = to_pyagrum(network, numbered=True)
    model = _models[network]
    index = {name: at for at, name in enumerate(network.names)}
    nodes = [index[name] for name in targets]

    def prepare() -> Any:
        engine = gum.LazyPropagation(model)
        engine.eraseAllTargets()
        if len(nodes) == 1:
            engine.addTarget(nodes[0])
        else:
            engine.addJointTarget(set(nodes))
        for name, code in evidence.hard.items():
            engine.addEvidence(index[name], int(code))
        for name, likelihood in evidence.soft.items():
            engine.addEvidence(index[name], (likelihood / likelihood.max()).tolist())
        return engine

    arities = [len(states) for states in network.states.values()]
    tree = prepare().junctionTree()  # in pyAgrum 3.3.1, an engine that was asked for its tree fails on some questions
    cells = max((prod(arities[member] for member in tree.clique(at)) for at in tree.nodes()), default=1)
    check_size(max(cells, prod(arities[node] for node in nodes)), "this query")
    engine = prepare()
    try:
        tensor = engine.posterior(nodes[0]) if len(nodes) == 1 else engine.jointPosterior(set(nodes))
    except gum.IncompatibleEvidence:  # the evidence has a positive probability, which is too small for pyAgrum
        return _eliminate(network, targets, evidence)
    order = [str(name) for name in reversed(tensor.names)]  # the order of the axes of `toarray`
    values = np.asarray(tensor.toarray(), dtype=np.float64).reshape([arities[int(name)] for name in order])
    result: Floats = np.transpose(values, [order.index(str(node)) for node in nodes])
    return result


def _eliminate(network: BayesianNetwork, targets: Sequence[str], evidence: Given) -> Floats:
    """Return what `compute_joint` returns, by variable elimination with scaled tables, which do not underflow."""
    indexed, index, codes = index_evidence(network, evidence)
    nodes = [index[name] for name in targets]
    relevant = indexed.ancestors([*nodes, *(index[name] for name in (*evidence.hard, *evidence.soft))])
    unknown = set(np.flatnonzero(codes[:, 0] == UNKNOWN).tolist())
    scopes = [[member for member in indexed.scopes[at] if member in unknown] for at in relevant]
    plan = indexed.plan([*scopes, nodes], [at for at in relevant if at in unknown and at not in nodes])
    check_size(max(plan.cells, prod(indexed.arities[node] for node in nodes)), "this query")
    factors = [*indexed.condition(codes, unknown, relevant), *soft_factors(index, evidence.soft)]
    scope, table = Elimination(factors, plan).rest
    values = np.transpose(table[0], [scope.index(node) for node in nodes])
    result: Floats = values / values.sum()
    return result


def index_evidence(network: BayesianNetwork, evidence: Given) -> tuple[IndexedNetwork, dict[str, int], Codes]:
    """Return a network with indices, the index of each variable, and the hard evidence as one row of codes.

    Args:
        network: the network.
        evidence: known states.
    """
    index = {name: at for at, name in enumerate(network.names)}
    codes = np.full((len(index), 1), UNKNOWN, dtype=np.int32)
    for name, code in evidence.hard.items():
        codes[index[name]] = code
    return IndexedNetwork(network), index, codes


def log_evidence(network: BayesianNetwork, evidence: Given) -> float:
    """Return the log-probability of evidence; minus infinity if it is impossible.

    The probability is summed by variable elimination in logs. pyAgrum returns 0 for the evidence of many hundreds of
    variables, because the product underflows.

    Args:
        network: the network.
        evidence: known states and soft evidence.
    """
    indexed, index, codes = index_evidence(network, evidence)
    relevant = indexed.ancestors(index[name] for name in (*evidence.hard, *evidence.soft))
    unknown = set(np.flatnonzero(codes[:, 0] == UNKNOWN).tolist())
    scopes = [[member for member in indexed.scopes[at] if member in unknown] for at in relevant]
    plan = indexed.plan(scopes, [at for at in relevant if at in unknown])
    check_size(plan.cells, "the probability of the evidence")
    factors = indexed.condition(codes, unknown, relevant)
    factors += soft_factors(index, evidence.soft)
    return float(Elimination(factors, plan).log_total()[0])


def soft_factors(index: Mapping[str, int], soft: Mapping[str, Floats]) -> list[Factor]:
    """Return soft evidence as factors.

    Args:
        index: index of each variable.
        soft: likelihood of each state, by variable.
    """
    return [Factor((index[name],), likelihood[None]) for name, likelihood in soft.items()]
