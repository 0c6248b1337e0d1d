"""Consensus networks, the significance threshold, and near misses."""

import json
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

import dagneal as dn
from dagneal.report.edges import NEAR_MISS, describe_edges
from dagneal.report.page import page
from dagneal.report.summary import confidence_lines
from support.reference import random_data


def frequencies(names, forward):
    """Return a `Bootstrap` from a dict of directions: frequency of each directed edge."""
    directions = np.zeros((len(names), len(names)))
    for (a, b), value in forward.items():
        directions[names.index(a), names.index(b)] = value
    return dn.Bootstrap(tuple(names), 100, directions + directions.T, directions, 100)


def six_pairs(values):
    """Return a `Bootstrap` of four variables whose six pairs have the given frequencies."""
    return frequencies("abcd", dict(zip(combinations("abcd", 2), values, strict=True)))


def distance(values, t):
    """Return the L1 distance between the distribution function of values and that of the ideal case."""
    edges = np.array([0.0, *sorted(values), 1.0])
    shares = [np.mean(np.array(values) <= left) for left in edges[:-1]]
    return sum(abs(share - t) * width for share, width in zip(shares, np.diff(edges), strict=True))


def test_threshold_of_the_published_example():
    values = [0.2242, 0.0460, 0.8935, 0.3921, 0.7689, 0.9439]  # Scutari and Nagarajan (2013), section 3
    assert six_pairs(values).significance_threshold() == pytest.approx(0.3921)
    assert len(dn.consensus(six_pairs(values)).edges) == 3


@pytest.mark.parametrize("seed", range(20))
def test_threshold_minimises_the_distance_to_the_ideal_case(seed):
    values = np.random.default_rng(seed).beta(0.4, 0.6, 6)
    threshold = six_pairs(values).significance_threshold()
    t = np.mean(values <= threshold)
    assert distance(values, t) <= min(distance(values, other) for other in np.linspace(0, 1, 501)) + 1e-9


def test_threshold_without_small_frequencies_keeps_all_edges():
    assert six_pairs([0.6] * 6).significance_threshold() == 0.0
    assert len(dn.consensus(six_pairs([0.6] * 6)).edges) == 6
    assert len(dn.consensus(six_pairs([0.0] * 6), threshold=0.0).edges) == 0


def test_given_threshold_is_the_lowest_frequency():
    measured = six_pairs([0.2, 0.3, 0.5, 0.7, 0.0, 0.9])
    assert len(dn.consensus(measured, 0.5).edges) == 3
    assert len(dn.consensus(measured, 0.25).edges) == 4
    for wrong in (1.5, -0.1, "x", True, float("nan")):
        with pytest.raises(dn.InputError, match="threshold"):
            dn.consensus(measured, wrong)


def test_agreed_directions_win_and_the_weakest_edge_of_a_cycle_is_reversed():
    measured = frequencies("abc", {("a", "b"): 1.0, ("b", "c"): 0.95, ("c", "a"): 0.9})
    assert sorted(dn.consensus(measured).edges) == [("a", "b"), ("a", "c"), ("b", "c")]


def test_open_directions_add_no_v_structure():
    """In a chain, small majorities of opposite directions would make a v-structure that the samples do not claim."""
    for names in ("abcde", "edcba", "badce"):
        forward = {("a", "b"): 0.52, ("b", "a"): 0.48, ("c", "b"): 0.53, ("b", "c"): 0.47}
        forward |= {("c", "d"): 0.5, ("d", "c"): 0.5, ("e", "d"): 0.51, ("d", "e"): 0.49}
        dag = dn.consensus(frequencies(names, forward))
        assert nx.is_isomorphic(dag.to_undirected(), nx.path_graph(5))
        assert max(dict(dag.in_degree).values()) == 1


def test_open_directions_follow_from_agreed_ones():
    forward = {("a", "c"): 0.9, ("b", "c"): 0.9, ("c", "d"): 0.45, ("d", "c"): 0.45}
    assert dn.consensus(frequencies("dcba", forward)).has_edge("c", "d")  # d -> c would make new v-structures


def test_knowledge_and_parent_limit_are_respected():
    forward = {(a, b): 0.4 + 0.01 * i for i, (a, b) in enumerate(combinations("abcdef", 2))}
    forward |= {(b, a): 0.4 for a, b in combinations("abcdef", 2)}
    measured = frequencies("abcdef", forward)
    knowledge = dn.Knowledge(
        required=[("f", "a")], forbidden=[("a", "b"), ("c", "d"), ("d", "c")], roots=["e"], limits={"b": 1}
    )
    dag = dn.consensus(measured, 0.1, knowledge, max_parents=2)
    assert nx.is_directed_acyclic_graph(dag)
    assert dag.has_edge("f", "a")
    assert not {("a", "b"), ("c", "d"), ("d", "c")} & set(dag.edges)
    assert dag.in_degree("e") == 0
    assert dag.in_degree("b") <= 1
    assert max(dict(dag.in_degree).values()) == 2
    rare = dn.consensus(measured, 1.0, knowledge)
    assert list(rare.edges) == [("f", "a")]  # a required edge needs no frequency


@pytest.mark.parametrize("seed", range(30))
def test_random_consensus_is_a_dag_with_all_frequent_edges(seed):
    generator = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(9)]
    share, edge = generator.random((9, 9)), np.triu(generator.random((9, 9)), 1)
    forward = edge * share + (edge * (1 - share)).T
    dag = dn.consensus(dn.Bootstrap(tuple(names), 100, forward + forward.T, forward, 100), 0.4)
    assert nx.is_directed_acyclic_graph(dag)
    expected = {frozenset((names[a], names[b])) for a, b in np.argwhere(edge >= 0.4)}
    assert {frozenset(each) for each in dag.edges} == expected


def test_learned_consensus_has_score_network_and_settings():
    truth = dn.load("lung-cancer")
    result = dn.learn(truth.sample(5_000, 3), knowledge={"required": ["Xray -> Cancer"]})
    averaged = result.consensus(samples=20, run=dn.Run(seed=1))
    assert averaged.dag.has_edge("Xray", "Cancer")
    assert averaged.score == pytest.approx(dn.scoring.Scorer(result.data).score(averaged.dag))
    assert (averaged.optimal, averaged.solver, averaged.is_dag) == (False, "consensus", True)
    assert averaged.network.dag.edges == averaged.dag.edges
    assert averaged.knowledge == result.knowledge
    measured = result.with_confidence(dn.Confidence(bootstrap=result.bootstrap(20, run=dn.Run(seed=1))))
    assert measured.consensus().edges == averaged.edges
    assert result.consensus(threshold=1.0, samples=20).dag.has_edge("Xray", "Cancer")


def test_consensus_keeps_the_parent_limit_of_the_user(tmp_path):
    result = dn.learn(random_data(6, 300, 2), max_parents=1)
    averaged = result.consensus(threshold=0.05, samples=20)
    assert max(dict(averaged.dag.in_degree).values()) <= 1
    averaged.save(tmp_path / "x.json")
    assert dn.load_result(tmp_path / "x.json").edges == averaged.edges


def test_near_misses_are_frequent_edges_that_the_network_lacks():
    measured = frequencies("abcd", {("a", "b"): 0.9, ("b", "c"): 0.2, ("c", "b"): 0.5, ("c", "d"): 0.6, ("a", "d"): 0.4})
    dag = nx.DiGraph([("b", "a")])
    dag.add_nodes_from("cd")
    misses = measured.near_misses(dag)
    assert [(miss.parent, miss.child) for miss in misses] == [("c", "b"), ("c", "d")]
    assert misses[0].frequency == pytest.approx(0.7)
    assert misses[0].forward == pytest.approx(0.5 / 0.7)
    assert len(measured.near_misses(dag, least=0.3)) == 3
    assert len(measured.near_misses(dag, least=0.0)) == 3  # pairs that no sample has are no near misses
    with pytest.raises(dn.InputError, match="least"):
        measured.near_misses(dag, least=2)


@pytest.fixture
def missed():
    """A result whose bootstrap has a frequent edge that the network lacks."""
    result = dn.learn(dn.load("lung-cancer").sample(2_000, 1))
    names = list(result.dag)
    present = dict.fromkeys(result.edges, 0.9)
    return result.with_confidence(
        dn.Confidence(
            result.strengths(), frequencies(names, present | {("Xray", "Dyspnoea"): 0.75, ("Smoker", "Xray"): 0.3})
        )
    )


def test_near_misses_are_printed_and_saved(missed, tmp_path):
    text = "\n".join(confidence_lines(missed))
    assert "frequent in the bootstrap, but not in the network" in text
    assert "Xray -> Dyspnoea    0.75    1.00" in text
    assert "Smoker -> Xray" not in text
    expected = [{"parent": "Xray", "child": "Dyspnoea", "frequency": 0.75, "forward": 1.0}]
    assert missed.to_dict()["near_misses"] == expected
    missed.save(tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text())["near_misses"] == expected
    assert len(dn.load_result(tmp_path / "x.json").near_misses) == 1


def test_near_misses_are_drawn_on_request(missed, tmp_path):
    hidden = page(missed).split("</style>")[1]
    assert hidden.count('class="edge near-miss off"') == hidden.count("edge near-miss off") == 1
    drawn = page(missed, near_misses=True).split("</style>")[1]
    assert drawn.count('class="edge near-miss" tabindex') == 1
    assert "frequent in the bootstrap, not in the network" in drawn
    (miss,) = [edge for edge in describe_edges(missed, None, near_misses=True) if edge["kind"] == NEAR_MISS]
    assert (miss["arrow"], miss["frequency"]) == (False, 0.75)
    missed.save(tmp_path / "x.html", near_misses=True)
    assert "edge near-miss" in (tmp_path / "x.html").read_text()
    truth = dn.load("lung-cancer").dag.copy()
    truth.add_edge("Dyspnoea", "Xray")  # an edge that is missing is not drawn twice
    kinds = [edge["kind"] for edge in describe_edges(missed, truth, near_misses=True)]
    assert kinds.count("missing") == 1
    assert NEAR_MISS not in kinds
