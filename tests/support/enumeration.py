"""Brute force over the joint distribution and over equivalence classes, to test `dagneal.inference`."""

from itertools import combinations, product

import networkx as nx
import numpy as np

import dagneal as dn

HOSTILE = [
    *("a b", 'say "hi"', "{x}", "a,b", "x | y", "do(x)", "P(x)", "a=b", "ä€😀", "//c", "/* d */", "table", "network", "1"),
    *("'", "\\", "$x$", "<b>&amp;", "%s", "a_b", "a.b", "(missing) ", "yes", "NaN", "x;y", "tab\there"),
]


def random_network(n, seed, most_parents=3, hostile=False, zeros=False, most_states=3):
    """Return a random network, whose variables are in random topological order."""
    rng = np.random.default_rng(seed)
    labels = HOSTILE if hostile else [f"v{i}" for i in range(n)]
    names = [labels[i] for i in rng.permutation(len(labels))[:n]]
    order = rng.permutation(n)
    states, parents, cpts = {}, {}, {}
    for name in names:
        count = int(rng.integers(2, most_states + 1))
        chosen = [HOSTILE[i] for i in rng.permutation(len(HOSTILE))[:count]] if hostile else [f"s{k}" for k in range(count)]
        states[name] = tuple(chosen)
    for position, index in enumerate(order):
        before = [names[i] for i in order[:position]]
        own = rng.permutation(len(before))[: rng.integers(0, most_parents + 1)]
        parents[names[index]] = tuple(before[i] for i in own)
    for name in names:
        table = rng.dirichlet(np.ones(len(states[name])), [len(states[p]) for p in parents[name]])
        if zeros:
            table = np.where(rng.random(table.shape) < 0.2, 0.0, table)
            table[table.sum(axis=-1) == 0] = 1.0
            table /= table.sum(axis=-1, keepdims=True)
        cpts[name] = table
    return dn.BayesianNetwork(states, {name: parents[name] for name in names}, cpts, f"random {seed}")


def joint_table(network):
    """Return the joint distribution, with one axis per variable."""
    names = list(network.names)
    result = np.ones([len(network.states[name]) for name in names])
    for name in names:
        result = result * _spread(network.cpts[name], (*network.parents[name], name), names)
    return result


def _spread(table, scope, names):
    """Return a table with one axis for each of `names`; the axes that are not in the scope have length 1."""
    order = sorted(range(len(scope)), key=lambda axis: names.index(scope[axis]))
    shape = [1] * len(names)
    for axis, name in enumerate(scope):
        shape[names.index(name)] = table.shape[axis]
    return np.transpose(table, order).reshape(shape)


def restrict(joint, network, given):
    """Return the joint distribution times the likelihood of evidence: a state, or a dict from states to likelihoods."""
    names = list(network.names)
    for name, value in given.items():
        states = network.states[name]
        likelihood = np.array([value.get(s, 0.0) if isinstance(value, dict) else float(s == value) for s in states])
        joint = joint * _spread(likelihood, (name,), names)
    return joint


def marginal(joint, network, targets):
    """Return the normalised distribution of the targets."""
    names = list(network.names)
    others = tuple(axis for axis, name in enumerate(names) if name not in targets)
    table = joint.sum(axis=others)
    left = [name for name in names if name in targets]
    return np.transpose(table, [left.index(target) for target in targets]) / joint.sum()


def intervene(joint, network, dag, setting):
    """Return the joint distribution after an intervention in a DAG whose tables are the conditionals of `joint`."""
    names = list(network.names)
    result = np.ones(joint.shape)
    for axis, name in enumerate(names):
        if name in setting:
            point = np.array([float(state == setting[name]) for state in network.states[name]])
            result = result * _spread(point, (name,), names)
            continue
        family = {name, *dag.predecessors(name)}
        others = tuple(at for at, other in enumerate(names) if other not in family)
        both = joint.sum(axis=others, keepdims=True)
        below = both.sum(axis=axis, keepdims=True)
        result = result * np.divide(both, below, out=np.zeros_like(both), where=below > 0)
    return result


def truncated(network, setting):
    """Return the joint distribution after an intervention, from the tables of the network."""
    names = list(network.names)
    result = np.ones([len(network.states[name]) for name in names])
    for name in names:
        if name in setting:
            point = np.array([float(state == setting[name]) for state in network.states[name]])
            result = result * _spread(point, (name,), names)
        else:
            result = result * _spread(network.cpts[name], (*network.parents[name], name), names)
    return result


def class_members(dag, allowed=lambda parent, child: True):
    """Return all DAGs with the same skeleton and the same v-structures whose edges are all allowed."""
    edges = list(dag.edges)
    members = []
    for flips in product((False, True), repeat=len(edges)):
        member = nx.DiGraph()
        member.add_nodes_from(dag)
        member.add_edges_from((b, a) if flip else (a, b) for (a, b), flip in zip(edges, flips, strict=True))
        if not all(allowed(a, b) for a, b in member.edges):
            continue
        if nx.is_directed_acyclic_graph(member) and colliders(member) == colliders(dag):
            members.append(member)
    return members


def colliders(dag):
    """Return the v-structures of a DAG."""
    return {
        (frozenset((a, b)), child)
        for child in dag
        for a, b in combinations(dag.predecessors(child), 2)
        if not dag.has_edge(a, b) and not dag.has_edge(b, a)
    }
