"""Markov blankets, paths and d-separation."""

import networkx as nx
import numpy as np
import pytest

import dagneal as dn
from dagneal.inference import blanket, explain
from support.enumeration import joint_table, marginal, random_network, restrict


@pytest.mark.parametrize("seed", range(6))
def test_the_blanket_screens_off_the_other_variables(seed):
    network = random_network(6, seed)
    for name in network.names:
        members = blanket(network, name)
        others = [other for other in network.names if other not in (name, *members)]
        given = {member: network.states[member][0] for member in members}
        table = restrict(joint_table(network), network, given)
        expected = marginal(table, network, [name])
        for other in others:
            more = restrict(table, network, {other: network.states[other][0]})
            np.testing.assert_allclose(marginal(more, network, [name]), expected, atol=1e-9)
        for member in members:  # no member can be left out, because probabilities are random
            rest = {each: state for each, state in given.items() if each != member}
            graph = network.dag
            assert not nx.is_d_separator(graph, {name}, {member}, set(rest))


@pytest.mark.parametrize("seed", range(12))
def test_variables_are_dependent_exactly_if_a_path_is_open(seed):
    network = random_network(6, seed, most_parents=2)
    rng = np.random.default_rng(seed)
    for _ in range(6):
        first, second, *rest = (network.names[i] for i in rng.permutation(6))
        given = rest[: rng.integers(0, 4)]
        relation = explain(network, first, second, given, most=10_000)
        assert relation.complete
        assert relation.separated == (not any(path.open for path in relation.paths))
        if relation.separator is not None:
            assert nx.is_d_separator(network.dag, {first}, {second}, {*given, *relation.separator})


def test_edges_that_data_do_not_direct_are_named():
    chain = nx.DiGraph([("a", "b"), ("b", "c")])
    relation = explain(chain, "a", "c")
    assert relation.undetermined == (("a", "b"), ("b", "c"))
    assert repr(relation).splitlines()[-1] == "data do not determine the direction of a -> b, b -> c"
    assert explain(nx.DiGraph([("a", "b"), ("c", "b")]), "a", "c").undetermined == ()
    data = dn.load("lung-cancer").sample(3_000, seed=1)
    result = dn.learn(data, knowledge={"roots": ["Smoker"]}, seed=1)
    free = {edge for edge, direction in result.directions.items() if direction == dn.Direction.UNDETERMINED}
    assert set(result.explain("Smoker", "Xray").undetermined) <= free
    assert not any("Smoker" in edge for edge in result.explain("Smoker", "Xray").undetermined)


def test_a_relation_is_explained_in_words():
    network = dn.load("lung-cancer")
    text = repr(explain(network, "Smoker", "Pollution"))
    assert text == "Smoker and Pollution are independent\n  Smoker -> Cancer <- Pollution  (blocked at Cancer)"
    assert "dependent given Xray" in repr(explain(network, "Smoker", "Pollution", ["Xray"]))
    assert "no further known variables make them independent" in repr(explain(network.dag, "Smoker", "Cancer"))
    assert "independent if Cancer is also known" in repr(explain(network, "Smoker", "Xray"))
    assert "only the 1 shortest path shown" in repr(explain(dn.load("alarm-15"), "HRBP", "Catechol", most=1))
    with pytest.raises(dn.InputError, match="two different variables"):
        explain(network, "Smoker", "Smoker")
    with pytest.raises(dn.InputError, match="did you mean 'Smoker'"):
        blanket(network, "Smokr")
    with pytest.raises(dn.InputError, match="give a network"):
        blanket(3, "Smoker")
