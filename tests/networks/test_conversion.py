"""Networks in pyAgrum, pgmpy and networkx, in memory, with any names and states."""

import networkx as nx
import numpy as np
import pytest

import dagneal as dn
from dagneal.networks.bundled import NAMES
from support.enumeration import random_network
from support.networks import equal_networks, odd_network


def empty_names():
    """Return a network with empty names, a variable of one state, and names that differ only in special characters."""
    return dn.BayesianNetwork(
        {"": ("", " "), "a b": ("x",), "a_b": ("{", "}", '"'), "a\nb": ("0", "1")},
        {"": (), "a b": ("",), "a_b": ("a b", ""), "a\nb": ("a_b",)},
        {
            "": [0.3, 0.7],
            "a b": [[1.0], [1.0]],
            "a_b": np.random.default_rng(0).dirichlet([1, 1, 1], (1, 2)),
            "a\nb": np.random.default_rng(1).dirichlet([1, 1], 3),
        },
        'na"me {}',
    )


CASES = {name: dn.load(name) for name in NAMES} | {
    "odd": odd_network(),
    "empty": empty_names(),
    **{f"hostile {seed}": random_network(6, seed, hostile=True) for seed in range(5)},
}


@pytest.mark.parametrize("kind", ["pyagrum", pytest.param("pgmpy", marks=pytest.mark.slow), "networkx"])
def test_networks_are_converted_and_back(kind):
    for network in CASES.values():
        converted = getattr(network, f"to_{kind}")()
        again = getattr(dn.BayesianNetwork, f"from_{kind}")(converted)
        assert equal_networks(again, network)
        assert again.names == network.names


@pytest.mark.parametrize("name", CASES)
def test_pyagrum_has_the_names_and_probabilities(name):
    network = CASES[name]
    model = network.to_pyagrum()
    assert set(model.names()) == set(network.names)
    for each in network.names:
        assert tuple(model.variable(each).labels()) == network.states[each]
        tensor = model.cpt(each)
        for place in np.ndindex(network.cpts[each].shape):
            family = (*network.parents[each], each)
            states = {v: network.states[v][at] for v, at in zip(family, place, strict=True)}
            assert tensor[states] == pytest.approx(network.cpts[each][place], abs=1e-15)


def test_numbers_as_variables_of_pyagrum_become_states():
    import pyagrum

    model = pyagrum.fastBN("a[3,5]->b{x|y}")
    network = dn.BayesianNetwork.from_pyagrum(model)
    assert network.states == {"a": ("3", "4", "5"), "b": ("x", "y")}


def test_a_graph_without_the_order_of_parents_is_converted():
    graph = nx.DiGraph([("a", "c"), ("b", "c")])
    nx.set_node_attributes(graph, dict.fromkeys("abc", ("0", "1")), "states")
    tables = {"a": [0.5, 0.5], "b": [0.1, 0.9], "c": np.full((2, 2, 2), 0.5)}
    nx.set_node_attributes(graph, tables, "cpt")
    assert dn.BayesianNetwork.from_networkx(graph).parents["c"] == ("a", "b")
    graph.nodes["c"]["parents"] = ("b",)
    with pytest.raises(dn.InputError, match="'parents' of the node 'c' does not agree"):
        dn.BayesianNetwork.from_networkx(graph)
    del graph.nodes["c"]["cpt"]
    with pytest.raises(dn.InputError, match="'c' has no attribute 'cpt'"):
        dn.BayesianNetwork.from_networkx(graph)


@pytest.mark.parametrize("kind", ["pyagrum", "pgmpy", "networkx"])
def test_other_objects_are_refused(kind):
    with pytest.raises(dn.InputError, match="is of type int; give a"):
        getattr(dn.BayesianNetwork, f"from_{kind}")(3)


def test_a_table_of_probabilities_is_a_frame():
    network = empty_names()
    frame = network.cpt("a_b")
    assert frame.columns == ["a b", "", "a_b={", "a_b=}", 'a_b="']
    assert frame.height == 2
    assert frame.row(1)[:2] == ("x", " ")
    np.testing.assert_array_equal(frame.row(1)[2:], network.cpts["a_b"][0, 1])
    assert network.cpt("").columns == ["=", "= "]
    clash = dn.BayesianNetwork({"a": ("x",), "a=x": ("y",)}, {"a": ("a=x",), "a=x": ()}, {"a": [[1.0]], "a=x": [1.0]})
    assert clash.cpt("a").columns == ["a=x", "a=x "]
    with pytest.raises(dn.InputError, match="'b' is not a variable"):
        network.cpt("b")
