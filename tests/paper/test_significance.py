"""Compare the tests of significance with simulation and enumeration."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

import dagneal as dn
from dagneal.paper.division_report import DivisionResult, judge
from dagneal.paper.division_runs import DivisionRuns, tally
from dagneal.paper.published import TABLE_9
from dagneal.paper.significance import (
    adjust,
    detectable_difference,
    distinct_counts,
    outside_t,
    permutation_p,
    predict_distinct,
    t_quantile,
)


@pytest.mark.parametrize("seed", range(20))
def test_permutation_p_matches_enumeration(seed):
    """The p-value equals the share of all subsets that are at least as far from the mean."""
    generator = np.random.default_rng(seed)
    ours, paper = generator.integers(0, 8, 8).tolist(), generator.integers(0, 8, 4).tolist()
    pooled = ours + paper
    expected = sum(pooled) / 3
    sums = [sum(subset) for subset in combinations(pooled, 4)]
    share = np.mean([abs(total - expected) >= abs(sum(paper) - expected) - 1e-9 for total in sums])
    assert permutation_p(ours, paper) == pytest.approx(share)


def test_permutation_p_rejects_true_hypotheses_rarely():
    """If ours and the paper's runs have one distribution, 5% of the p-values are at most 0.05."""
    generator = np.random.default_rng(0)
    draws = generator.binomial(20, 0.6, (2000, 25))
    rejected = np.mean([permutation_p(draw[:20].tolist(), draw[20:].tolist()) <= 0.05 for draw in draws])
    assert rejected <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000)
    assert rejected > 0.02


def test_holm_adjusts_like_its_definition():
    """The hypotheses that Holm's step-down procedure rejects at a level are those with adjusted p-values below it."""
    generator = np.random.default_rng(1)
    for _ in range(50):
        p_values = generator.random(6) ** 3
        adjusted = adjust(p_values.tolist())
        for level in (0.01, 0.05, 0.3):
            rejected = set()
            for rank, index in enumerate(np.argsort(p_values)):
                if p_values[index] > level / (6 - rank):
                    break
                rejected.add(int(index))
            assert rejected == {index for index, p in enumerate(adjusted) if p <= level}


def test_distinct_counts_match_enumeration():
    """The mean number of distinct edges in random subsets is near the mean over all subsets."""
    found = np.random.default_rng(2).random((8, 30)) < 0.3
    exact = np.mean([found[list(subset)].any(axis=0).sum() for subset in combinations(range(8), 5)])
    assert distinct_counts(found, 5).mean() == pytest.approx(exact, abs=0.2)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 9, 29])
def test_the_t_distribution_matches_its_integral(degrees):
    """Compare the finite sums with numeric integration of the density, which is proportional to (1 + t^2 / n)^-(n + 1)/2."""
    points = np.tan(np.linspace(0, np.pi / 2, 200_001)[:-1])
    density = (1 + points**2 / degrees) ** (-(degrees + 1) / 2)
    areas = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(points))])
    for distance in (0.0, 0.3, 1.0, 2.5, 6.0):
        inside = np.interp(distance, points, areas) / areas[-1]
        assert outside_t(distance, degrees) == pytest.approx(1 - inside, abs=1e-4)


@pytest.mark.parametrize("degrees", [1, 4, 9, 30])
def test_quantiles_of_the_t_distribution_invert_its_tails(degrees):
    for share in (0.5, 0.05, 0.001):
        assert outside_t(t_quantile(share, degrees), degrees) == pytest.approx(share)


def test_accepted_counts_are_those_that_are_not_significant():
    prediction = predict_distinct(np.random.default_rng(2).random((30, 40)) < 0.1, 5)
    assert prediction.p_value(round(prediction.mean)) == 1.0
    low, high = prediction.accepted_range(0.01, 40)
    assert 0 < low < high
    assert prediction.p_value(low) >= 0.01 > prediction.p_value(low - 1)
    assert prediction.p_value(high) >= 0.01 > prediction.p_value(high + 1)
    assert prediction.accepted_range(0.01, high - 1) == (low, high - 1)  # there are no more edges


@pytest.mark.parametrize("rates", [(0.02, 0.98), (0.05, 0.95), (0.1, 0.5)])
@pytest.mark.parametrize("runs", [10, 30])
def test_equal_runs_have_rarely_different_numbers_of_distinct_edges(runs, rates):
    """If both sets of runs come from the same distribution, about 1% of the tests at 1% find a difference."""
    generator = np.random.default_rng(runs)
    probabilities = generator.uniform(*rates, 40) if rates == (0.1, 0.5) else np.where(np.arange(40) < 30, *rates)
    found = generator.random((400, runs + 5, 40)) < probabilities
    p_values = [predict_distinct(own[5:], 5).p_value(int(own[:5].any(axis=0).sum())) for own in found]
    assert np.mean(np.array(p_values) < 0.01) <= 0.02
    assert min(p_values) > 0  # Holm's correction multiplies p-values


def test_other_runs_have_different_numbers_of_distinct_edges():
    """If the paper's runs repeat one network and ours differ, the test finds it, even with ten runs and 50 tests."""
    generator = np.random.default_rng(5)
    found = generator.random((10, 40)) < 0.5
    assert predict_distinct(found, 5).p_value(20) < 0.01 / 50


def test_the_power_is_that_of_the_test():
    """A detectable difference is detected in 80% of independent simulations, and a smaller one less often."""
    ours = np.random.default_rng(3).binomial(20, 0.6, 30).tolist()
    difference = detectable_difference(ours, 5, 0.001)
    assert difference > 1
    draws = np.random.default_rng(4).choice(ours, (400, 5))

    def power(shift):
        return np.mean([permutation_p(ours, (draw + shift).tolist()) < 0.001 for draw in draws])

    assert power(difference) > 0.7
    assert power(difference - 1) < 0.9
    assert detectable_difference((3,) * 5, 5, 0.001) == 0  # five against five runs have at least p = 0.004


def make_result(graphs, paper, k=4):
    """Return a `DivisionResult` of learned networks of lung-cancer."""
    truth = dn.load("lung-cancer").dag
    names = list(truth)
    adjacency = np.array([nx.to_numpy_array(graph, nodelist=names) > 0 for graph in graphs])
    correct, possible = nx.to_numpy_array(truth) > 0, ~np.eye(len(names), dtype=bool)
    runs = DivisionRuns("expected 10000", k, "sa", tuple(range(len(graphs))))
    return DivisionResult(runs, tally(graphs, truth), paper, (adjacency[:, correct], adjacency[:, possible & ~correct]))


def test_impossible_differences_are_not_detectable():
    """With four true edges, a difference of three edges is possible only if our mean is at most 1 or at least 3."""
    truth = dn.load("lung-cancer").dag
    edges = list(truth.edges)

    def learned(sizes):
        graphs = []
        for size in sizes:
            graph = nx.DiGraph()
            graph.add_nodes_from(truth)
            graph.add_edges_from(edges[:size])
            graphs.append(graph)
        return make_result(graphs, TABLE_9[4, "qa"])

    sizes = (0, 1, 2, 3, 4) * 2
    assert detectable_difference(sizes, 5, 0.01 / 6) > 2
    assert learned(sizes).detectable(6)[0] == 0
    assert 0 < learned((4,) * 10).detectable(6)[0] <= 4


def test_gains_are_sensitivity_plus_specificity():
    truth = dn.load("lung-cancer").dag
    result = make_result([truth, truth.reverse()], TABLE_9[4, "sa"])
    units = 16  # least common multiple of 4 true and 16 other edges
    sums = [value / units + 1 for value in result.gains()]
    comparisons = [dn.compare(graph, truth) for graph in (truth, truth.reverse())]
    assert sums == pytest.approx([c.sensitivity + c.specificity for c in comparisons])


def test_results_are_compared_with_the_paper():
    """Equal runs do not differ from the paper, and opposite runs do."""
    truth = dn.load("lung-cancer").dag
    equal = make_result([truth] * 30, TABLE_9[4, "sa"])
    assert equal.mean_p() == equal.distinct_p() == [1.0, 1.0]
    assert equal.distinct_means() == [4.0, 0.0]
    assert judge(equal, [1.0, 1.0, 1.0, 1.0], 26) == "none"
    opposite = make_result([truth.reverse()] * 30, TABLE_9[4, "sa"])
    assert max(opposite.mean_p()) < 1e-4
    assert max(opposite.distinct_p()) < 1e-4
    assert judge(opposite, [0.02, 0.009, 1.0, 1.0], 26) == "yes"
    five = make_result([truth] * 5, TABLE_9[4, "sa"])
    assert judge(five, [1.0, 1.0, 1.0, 1.0], 2) == "no power"  # the smallest p-value is 2 / 252, and 4 / 252 > 1%
    assert judge(five, [1.0, 1.0, 1.0, 1.0], 1) == "none"
    few = make_result([truth] * 2, TABLE_9[4, "sa"])
    assert not few.comparable
    assert judge(few, None, 26) == "only 2 runs"
    assert judge(make_result([truth] * 5, None), None, 26) == ""
