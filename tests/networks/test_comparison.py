"""Comparison of two graphs."""

import networkx as nx
import pytest
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.networks.comparison import structural_distance
from support.reference import random_table


def test_a_comparison_by_hand():
    truth = nx.DiGraph([("a", "b"), ("b", "c"), ("d", "c")])
    found = nx.DiGraph([("a", "b"), ("c", "b"), ("a", "d")])
    result = dn.compare(found, truth)
    assert (result.right, result.wrong, result.missing) == (1, 2, 2)
    assert result.sensitivity == pytest.approx(1 / 3)
    assert result.specificity == pytest.approx(7 / 9)  # 4 * 3 possible edges, 3 true ones, 2 of the other 9 found
    assert result.precision == pytest.approx(1 / 3)
    assert result.f1 == pytest.approx(1 / 3)
    assert result.shd == 3  # b - c turned, c - d missing, a - d extra
    assert result.to_dict()["cpdag_shd"] == result.cpdag_shd


def test_the_score_gap():
    truth = dn.load("waste")  # three parents: no table of two holds it
    scorer = dn.scoring.Scorer(truth.expected(10_000))
    found = dn.solvers.exact(scorer.table(2))
    result = dn.compare(found.dag, truth.dag, scorer)
    assert result.score == pytest.approx(found.score)
    assert result.score_gap == pytest.approx(scorer.score(truth.dag) - found.score)
    assert dn.compare(found.dag, truth.dag).score_gap is None


def test_the_paper_counts_specificity_over_all_ordered_pairs():
    """Table 9, k = 3, SA: all 4 edges of lung-cancer found with no wrong one gives 1 and 1."""
    truth = dn.load("lung-cancer").dag
    assert (dn.compare(truth, truth).sensitivity, dn.compare(truth, truth).specificity) == (1.0, 1.0)
    with_one = nx.DiGraph(truth)
    with_one.add_edge("Pollution", "Xray")
    assert dn.compare(with_one, truth).specificity == pytest.approx(15 / 16)


def test_graphs_with_cycles_and_without_edges():
    empty = nx.empty_graph(["a", "b"], create_using=nx.DiGraph)
    both = nx.DiGraph([("a", "b"), ("b", "a")])
    one = nx.DiGraph([("a", "b")])
    assert dn.compare(both, one).cpdag_shd is None
    assert dn.compare(empty, empty).f1 == dn.compare(empty, empty).sensitivity == 1.0
    assert dn.compare(one, empty).precision == 0.0
    with pytest.raises(dn.InputError, match="'c' is only in the first graph"):
        dn.compare(nx.DiGraph([("a", "c")]), nx.DiGraph([("a", "d")]))
    with pytest.raises(dn.InputError, match="cycle"):
        dn.cpdag(both)


@given(st.integers(0, 10**6), st.integers(2, 6))
def test_distances_are_distances(seed, n):
    one, two = dn.solvers.exact(random_table(n, min(2, n - 1), seed)).dag, dn.solvers.exact(random_table(n, 1, seed + 1)).dag
    there, back = dn.compare(one, two), dn.compare(two, one)
    assert (there.shd, there.cpdag_shd, there.wrong) == (back.shd, back.cpdag_shd, back.missing)
    assert dn.compare(one, one).shd == dn.compare(one, one).cpdag_shd == 0
    assert structural_distance(one, two) <= n * (n - 1) // 2
    assert there.right + there.missing == two.number_of_edges()
