"""Conversion of networks to and from pyAgrum, pgmpy and networkx, in memory. Names and states stay unchanged.

The functions that convert to dagneal return the arguments of `BayesianNetwork`.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats

if TYPE_CHECKING:
    from dagneal.networks.network import BayesianNetwork

Parts = tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]], dict[str, Floats], str]


def import_optional(module: str, install: str, purpose: str) -> Any:
    """Import an optional package. If it is not installed, raise an error that says how to install it.

    Args:
        module: name of the module.
        install: arguments of `pip install`.
        purpose: what needs the package; the subject of the message.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pgmpy imports modules that are deprecated
            return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise InputError(f"{purpose} needs {name}, which is not installed; run pip install {install!r}") from error


def import_pyagrum(purpose: str) -> Any:
    """Import pyAgrum. If it is not installed, raise an error that says how to install it.

    Args:
        purpose: what needs pyAgrum; the subject of the message.
    """
    return import_optional("pyagrum", "dagneal[ask]", purpose)


def to_pyagrum(network: BayesianNetwork, numbered: bool = False) -> Any:
    """Return a network as a `pyagrum.BayesNet`.

    Args:
        network: network to convert.
        numbered: True to use the indices of variables and states as their names.
    """
    gum = import_pyagrum("the conversion" if not numbered else "the query")
    result = gum.BayesNet("network" if numbered else network.name)
    index = {name: at for at, name in enumerate(network.names)}
    for name, at in index.items():
        states = network.states[name]
        if numbered:
            result.add(gum.RangeVariable(str(at), "", 0, len(states) - 1))
        else:
            result.add(gum.LabelizedVariable(name, name, list(states)))
    for child, parents in network.parents.items():
        for parent in parents:
            result.addArc(index[parent], index[child])
    for name, at in index.items():
        family = (*network.parents[name], name)
        tensor = result.cpt(at)
        place = {str(index[each]) if numbered else each: axis for axis, each in enumerate(family)}
        axes = [place[each] for each in reversed(tensor.names)]  # the first variable of a tensor varies fastest
        tensor.fillWith(np.transpose(network.cpts[name], axes).ravel().tolist())
    return result


def from_pyagrum(model: Any) -> Parts:
    """Return the parts of a `pyagrum.BayesNet`.

    Args:
        model: network of pyAgrum.
    """
    if not hasattr(model, "cpt") or not hasattr(model, "nodes"):
        raise InputError(f"model is of type {type(model).__name__}; give a pyagrum.BayesNet")
    nodes = sorted(model.nodes())
    name_of = {node: model.variable(node).name() for node in nodes}
    states = {name_of[node]: tuple(map(str, model.variable(node).labels())) for node in nodes}
    parents, tables = {}, {}
    for node in nodes:
        tensor = model.cpt(node)
        family = [name for name in tensor.names if name != name_of[node]]
        # The axes of `toarray` are in the reverse order of the names; arrays of one axis are the same in both orders.
        order = list(reversed(tensor.names))
        values = np.asarray(tensor.toarray(), dtype=np.float64).reshape([len(states[name]) for name in order])
        parents[name_of[node]] = tuple(family)
        tables[name_of[node]] = np.transpose(values, [order.index(name) for name in (*family, name_of[node])])
    title = model.propertyWithDefault("name", "network") if hasattr(model, "propertyWithDefault") else "network"
    return states, parents, tables, str(title)


def to_pgmpy(network: BayesianNetwork) -> Any:
    """Return a network as a `DiscreteBayesianNetwork` of pgmpy.

    Args:
        network: network to convert.
    """
    models = import_optional("pgmpy.models", "pgmpy>=1.1", "the conversion")
    factors = import_optional("pgmpy.factors.discrete", "pgmpy>=1.1", "the conversion")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = models.DiscreteBayesianNetwork()
        model.add_nodes_from(network.names)
        model.add_edges_from(network.dag.edges)
        for name, parents in network.parents.items():
            arity = len(network.states[name])
            table = np.moveaxis(network.cpts[name], -1, 0).reshape(arity, -1)
            model.add_cpds(
                factors.TabularCPD(
                    name,
                    arity,
                    table,
                    evidence=list(parents) or None,
                    evidence_card=[len(network.states[parent]) for parent in parents] or None,
                    state_names={each: list(network.states[each]) for each in (name, *parents)},
                )
            )
    return model


def from_pgmpy(model: Any) -> Parts:
    """Return the parts of a discrete network of pgmpy. Names and states become texts.

    Args:
        model: network of pgmpy with a table for each variable.
    """
    if not hasattr(model, "get_cpds"):
        raise InputError(f"model is of type {type(model).__name__}; give a DiscreteBayesianNetwork of pgmpy")
    states: dict[str, tuple[str, ...]] = {}
    parents: dict[str, tuple[str, ...]] = {}
    tables: dict[str, Floats] = {}
    names = _texts(list(model.nodes()), "variables")
    cpds = {node: model.get_cpds(node) for node in model.nodes()}
    for node, cpd in cpds.items():
        if cpd is None:
            raise InputError(f"the variable {node!r} has no table; add it with add_cpds")
        states[names[node]] = tuple(_texts(cpd.state_names[node], f"states of {node!r}").values())
    for cpd in cpds.values():
        own, *given = cpd.variables
        table = np.asarray(cpd.values, dtype=np.float64)
        for axis, parent in enumerate(given, start=1):
            labels = [str(label) for label in cpd.state_names[parent]]
            table = np.take(table, [labels.index(state) for state in states[names[parent]]], axis=axis)
        parents[names[own]] = tuple(names[parent] for parent in given)
        tables[names[own]] = np.moveaxis(table, 0, -1)
    return states, parents, tables, str(getattr(model, "name", None) or "network")


def _texts(items: Sequence[Hashable], what: str) -> dict[Hashable, str]:
    """Return the text of each item. Raise an error if two texts are equal."""
    texts = {item: str(item) for item in items}
    if len(set(texts.values())) < len(texts):
        raise InputError(f"two {what} have the same text; rename one")
    return texts


def to_networkx(network: BayesianNetwork) -> nx.DiGraph:
    """Return a network as a graph. Nodes have the attributes `states`, `parents` and `cpt`.

    Args:
        network: network to convert.
    """
    graph = nx.DiGraph(name=network.name)
    for name in network.names:
        graph.add_node(name, states=network.states[name], parents=network.parents[name], cpt=network.cpts[name])
    graph.add_edges_from((parent, child) for child, parents in network.parents.items() for parent in parents)
    return graph


def from_networkx(graph: nx.DiGraph) -> Parts:
    """Return the parts of a graph whose nodes have the attributes `states` and `cpt`, and optionally `parents`.

    Args:
        graph: graph. Without the attribute `parents`, the axes of a table are in the order of `graph.predecessors`.
    """
    if not isinstance(graph, nx.DiGraph):
        raise InputError(f"graph is of type {type(graph).__name__}; give a networkx.DiGraph")
    names = _texts(list(graph), "variables")
    states, parents, tables = {}, {}, {}
    for node, values in graph.nodes.items():
        for key in ("states", "cpt"):
            if not isinstance(values, Mapping) or key not in values:
                raise InputError(f"the node {node!r} has no attribute {key!r}; add it, as to_networkx does")
        given = tuple(values.get("parents", graph.predecessors(node)))
        if set(given) != set(graph.predecessors(node)):
            raise InputError(f"the attribute 'parents' of the node {node!r} does not agree with the edges; remove it")
        states[names[node]] = tuple(map(str, values["states"]))
        parents[names[node]] = tuple(names[parent] for parent in given)
        tables[names[node]] = values["cpt"]
    return states, parents, tables, str(graph.name or "network")
