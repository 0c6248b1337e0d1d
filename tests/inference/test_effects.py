"""Effects of interventions equal enumeration of all members of the class."""

import networkx as nx
import numpy as np
import pytest

import dagneal as dn
from dagneal.graphs.dags import cpdag, orient
from dagneal.graphs.knowledge import equivalence_class
from dagneal.inference.effects import class_graph, possible_parents
from support.enumeration import (
    class_members,
    intervene,
    joint_table,
    marginal,
    random_network,
    restrict,
    truncated,
)


def random_dag(n, seed, density):
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    graph = nx.DiGraph()
    graph.add_nodes_from(f"v{i}" for i in range(n))
    graph.add_edges_from(
        (f"v{order[i]}", f"v{order[j]}") for i in range(n) for j in range(i + 1, n) if rng.random() < density
    )
    return graph


def random_knowledge(dag, seed):
    """Return knowledge that the DAG obeys."""
    rng = np.random.default_rng(seed)
    edges = [edge for edge in dag.edges if rng.random() < 0.25]
    order = list(nx.topological_sort(dag))
    tiers = [order[:2], order[2:]] if seed % 3 == 0 else []
    return dn.Knowledge(required=edges[::2], forbidden=[(b, a) for a, b in edges[1::2]], tiers=tiers)


@pytest.mark.parametrize("seed", range(40))
def test_parent_sets_of_members_are_found_without_enumeration(seed):
    dag = random_dag(5 + seed % 2, seed, 0.3 + 0.5 * (seed % 5) / 5)
    names = list(dag)
    for knowledge in (dn.Knowledge(), random_knowledge(dag, seed)):
        rules = knowledge.constraints(names, len(names))
        index = {name: i for i, name in enumerate(names)}
        required = set(knowledge.required)
        members = class_members(
            dag, lambda a, b, r=rules, q=required, i=index: bool(r.allowed[i[a], i[b]]) and (b, a) not in q
        )
        graph = class_graph(dag, knowledge)
        assert set(graph.edges) == set(equivalence_class(dag, knowledge).edges)
        for chosen in (("v0",), ("v1", "v3"), ("v2", "v0", "v4")):
            expected = {tuple(frozenset(member.predecessors(name)) for name in chosen) for member in members}
            assert possible_parents(graph, chosen) == expected


@pytest.mark.parametrize("seed", range(20))
def test_effects_equal_enumeration_of_the_class(seed):
    network = random_network(5, seed, most_parents=2, hostile=seed % 4 == 3)
    joint = joint_table(network)
    rng = np.random.default_rng(seed)
    for size in (1, 1, 2):
        names = [network.names[i] for i in rng.permutation(5)]
        setting = {name: network.states[name][0] for name in names[:size]}
        target, other = names[-1], names[-2]
        for given in ({}, {other: network.states[other][-1]}):
            values = []
            for member in class_members(network.dag):
                after = restrict(intervene(joint, network, member, setting), network, given)
                values.append(marginal(after, network, [target]))
            low, high = np.min(values, axis=0), np.max(values, axis=0)
            effect = dn.do(network, setting, target, given)
            np.testing.assert_allclose(effect.low, low, atol=1e-9)
            np.testing.assert_allclose(effect.high, high, atol=1e-9)
            assert effect.identified == bool((high - low < 1e-9).all())
            assert "assuming no hidden common causes" in repr(effect)
            if effect.identified:
                np.testing.assert_allclose(effect.distribution.probabilities, low, atol=1e-9)
            else:
                assert " to " in repr(effect)
                with pytest.raises(dn.InputError, match=r"possible parent sets of .* give different effects"):
                    _ = effect.distribution
            trusted = dn.do(network, setting, target, given, trust_directions=True)
            expected = marginal(restrict(truncated(network, setting), network, given), network, [target])
            np.testing.assert_allclose(trusted.low, expected, atol=1e-12)
            assert trusted.identified
            assert "all edges of the network are causal" in repr(trusted)


def test_knowledge_narrows_a_range():
    chain = dn.BayesianNetwork(
        {"a": ("0", "1"), "b": ("0", "1")}, {"a": (), "b": ("a",)}, {"a": [0.4, 0.6], "b": [[0.9, 0.1], [0.2, 0.8]]}
    )
    effect = dn.do(chain, {"a": "1"}, "b")
    assert effect["1"] == pytest.approx((0.52, 0.8))
    assert str(effect["1"]) == "0.52 to 0.8"
    assert effect.frame().to_dict(as_series=False) == {
        "b": ["0", "1"],
        "low": pytest.approx([0.2, 0.52]),
        "high": pytest.approx([0.48, 0.8]),
    }
    assert effect.parent_sets in (({"a": ()}, {"a": ("b",)}), ({"a": ("b",)}, {"a": ()}))
    known = dn.do(chain, {"a": "1"}, "b", knowledge={"tiers": [["a"], ["b"]]})
    assert known.identified
    assert known["1"] == pytest.approx((0.8, 0.8))
    other = dn.do(chain, {"a": "1"}, "b", knowledge={"forbidden": ["a -> b"]})  # another member obeys
    assert other["1"] == pytest.approx((0.52, 0.52))


@pytest.mark.parametrize("seed", range(40))
def test_knowledge_that_the_network_violates_selects_other_members(seed):
    dag = random_dag(5, seed, 0.5)
    rng = np.random.default_rng(seed)
    edges = list(dag.edges)
    forbidden = [edges[i] for i in rng.permutation(len(edges))[: rng.integers(1, 3)]]
    members = class_members(dag, lambda a, b: (a, b) not in forbidden)
    if not members:
        with pytest.raises(dn.InputError, match=r"of the class have the forbidden edge|obeys all the knowledge"):
            class_graph(dag, {"forbidden": forbidden})
        return
    graph = class_graph(dag, {"forbidden": forbidden})
    assert set(graph.edges) == {edge for member in members for edge in member.edges}
    for name in dag:
        assert possible_parents(graph, [name]) == {(frozenset(member.predecessors(name)),) for member in members}


def test_knowledge_that_no_member_obeys_is_refused():
    network = dn.load("lung-cancer")
    with pytest.raises(dn.InputError, match="all networks of the class have the forbidden edge Smoker -> Cancer"):
        dn.do(network, {"Smoker": "True"}, "Cancer", knowledge={"forbidden": ["Smoker -> Cancer"]})
    with pytest.raises(dn.InputError, match="no network of the class has the required edge Smoker -> Xray"):
        dn.do(network, {"Smoker": "True"}, "Cancer", knowledge={"required": ["Smoker -> Xray"]})


def test_the_knowledge_of_a_result_is_used():
    data = dn.load("lung-cancer").sample(4_000, seed=1)
    free = dn.learn(data, knowledge={"forbidden": ["Smoker -> Pollution"]}, seed=1)
    tiers = [["Pollution", "Smoker"], ["Cancer"], ["Xray", "Dyspnoea"]]
    result = dn.learn(data, knowledge={"tiers": tiers}, seed=1)
    setting = {"Cancer": "True"}
    assert result.do(setting, "Xray").identified
    assert dn.do(result, setting, "Xray").identified
    assert isinstance(free.do(setting, "Xray").low, np.ndarray)


def test_an_intervention_without_support_is_stated():
    network = dn.BayesianNetwork(
        {"a": ("0", "1"), "b": ("0", "1"), "c": ("0", "1")},
        {"a": (), "b": ("a",), "c": ("a", "b")},
        {"a": [0.5, 0.5], "b": [[1, 0], [0.5, 0.5]], "c": [[[0.9, 0.1], [0.5, 0.5]], [[0.4, 0.6], [0.2, 0.8]]]},
    )
    effect = dn.do(network, {"b": "1"}, "c")
    assert {"b": ("a",)} in effect.unsupported  # b is never 1 if a is 0
    assert not effect.identified
    assert "cannot be evaluated, because the intervention has probability 0" in repr(effect)
    with pytest.raises(dn.InputError, match=r"cannot be computed.*trust_directions=True"):
        dn.do(network, {"b": "1"}, "c", knowledge={"required": ["a -> b", "a -> c", "b -> c"]})
    trusted = dn.do(network, {"b": "1"}, "c", trust_directions=True)
    assert trusted["1"].low == pytest.approx(0.5 * 0.5 + 0.5 * 0.8)


def test_an_intervention_without_support_does_not_change_other_variables():
    waste = dn.load("waste")
    setting = {"FilterState": "Intact"}
    effect = dn.do(waste, setting, "WasteType")
    assert effect.identified
    np.testing.assert_allclose(effect.low, dn.query(waste, "WasteType").probabilities, atol=1e-12)
    assert not dn.do(waste, setting, "DustEmission").identified


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({}, "Cancer"), "interventions is {}"),
        (({"Smoke": "True"}, "Cancer"), "did you mean 'Smoker'"),
        (({"Smoker": "yes"}, "Cancer"), "'Smoker' has no state 'yes'"),
        (({"Smoker": "True"}, "Smoker"), "both set by the intervention and a target"),
        (({"Smoker": "True"}, "Cancer", {"Smoker": "True"}), "both set by the intervention and given"),
    ],
)
def test_wrong_interventions_are_named(arguments, message):
    with pytest.raises(dn.InputError) as error:
        dn.do(dn.load("lung-cancer"), *arguments)
    assert message in str(error.value)


def test_too_many_members_are_refused():
    n = 16
    names = [f"v{i}" for i in range(n)]
    complete = nx.DiGraph([(a, b) for i, a in enumerate(names) for b in names[i + 1 :]])
    with pytest.raises(dn.InputError, match="more than 10,000 combinations of parents of v0"):
        possible_parents(cpdag(complete), ["v0"])


def test_directions_follow_from_more_directions():
    dag = nx.DiGraph([("a", "b"), ("b", "c"), ("c", "d")])
    assert sorted(orient(cpdag(dag), [("b", "c")]).edges) == [("a", "b"), ("b", "a"), ("b", "c"), ("c", "d")]
