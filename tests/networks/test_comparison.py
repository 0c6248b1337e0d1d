"""Comparison of a learned graph with the true graph."""

import networkx as nx
import pytest
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.networks.comparison import structural_distance
from support.reference import random_table


def test_comparison_of_small_graphs():
    truth = nx.DiGraph([("a", "b"), ("b", "c"), ("d", "c")])
    learned = nx.DiGraph([("a", "b"), ("c", "b"), ("a", "d")])
    result = dn.compare(learned, truth)
    assert (result.true_positives, result.false_positives, result.missing) == (1, 2, 2)
    assert result.sensitivity == pytest.approx(1 / 3)
    assert result.specificity == pytest.approx(7 / 9)  # 12 possible edges, 3 true; 2 of the other 9 were learned
    assert result.precision == pytest.approx(1 / 3)
    assert result.f1 == pytest.approx(1 / 3)
    assert result.shd == 3  # b - c reversed, c - d missing, a - d added
    assert result.to_dict()["cpdag_shd"] == result.cpdag_shd


def test_score_gap():
    truth = dn.load("waste")  # has a child with three parents, more than the table
    scorer = dn.scoring.Scorer(truth.expected_data(10_000))
    solution = dn.solvers.exact(scorer.table(2))
    result = dn.compare(solution.dag, truth.dag, scorer)
    assert result.score == pytest.approx(solution.score)
    assert result.score_gap == pytest.approx(scorer.score(truth.dag) - solution.score)
    assert dn.compare(solution.dag, truth.dag).score_gap is None


def test_specificity_is_over_all_ordered_pairs_as_in_the_paper():
    """In Table 9 (k = 3, SA), sensitivity and specificity are 1 with all 4 edges of lung-cancer and no wrong edge."""
    truth = dn.load("lung-cancer").dag
    assert (dn.compare(truth, truth).sensitivity, dn.compare(truth, truth).specificity) == (1.0, 1.0)
    extended = nx.DiGraph(truth)
    extended.add_edge("Pollution", "Xray")
    assert dn.compare(extended, truth).specificity == pytest.approx(15 / 16)


def test_comparison_of_graphs_with_cycles_and_without_edges():
    empty = nx.empty_graph(["a", "b"], create_using=nx.DiGraph)
    cyclic = nx.DiGraph([("a", "b"), ("b", "a")])
    one = nx.DiGraph([("a", "b")])
    assert dn.compare(cyclic, one).cpdag_shd is None
    assert dn.compare(empty, empty).f1 == dn.compare(empty, empty).sensitivity == 1.0
    assert dn.compare(one, empty).precision == 0.0
    with pytest.raises(dn.InputError, match="'c' is only in the first graph"):
        dn.compare(nx.DiGraph([("a", "c")]), nx.DiGraph([("a", "d")]))
    with pytest.raises(dn.InputError, match="cycle"):
        dn.cpdag(cyclic)


@given(st.integers(0, 10**6), st.integers(2, 6))
def test_distances_are_symmetric_and_zero_for_equal_graphs(seed, n):
    one, two = dn.solvers.exact(random_table(n, min(2, n - 1), seed)).dag, dn.solvers.exact(random_table(n, 1, seed + 1)).dag
    forward, backward = dn.compare(one, two), dn.compare(two, one)
    assert (forward.shd, forward.cpdag_shd, forward.false_positives) == (backward.shd, backward.cpdag_shd, backward.missing)
    assert dn.compare(one, one).shd == dn.compare(one, one).cpdag_shd == 0
    assert structural_distance(one, two) <= n * (n - 1) // 2
    assert forward.true_positives + forward.missing == two.number_of_edges()
