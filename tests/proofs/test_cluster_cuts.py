"""Cluster cuts, compared with all sets of variables and all DAGs."""

from itertools import combinations

import numpy as np
import pytest

from dagneal.proofs.cluster_cuts import Support, edge_weights, find_clusters, find_cycles
from support.reference import all_dags


def random_support(n, generator):
    """Return random families of each child with weights that sum to 1."""
    children, rows, weights = [], [], []
    for child in range(n):
        others = [v for v in range(n) if v != child]
        for weight in generator.dirichlet(np.ones(3)):
            parents = sorted(generator.choice(others, generator.integers(0, 4), replace=False).tolist())
            children.append(child)
            rows.append([*parents, *[-1] * (3 - len(parents))])
            weights.append(weight)
    return Support(np.array(children), np.array(rows, dtype=np.int32), np.array(weights))


def violation(support, members, k):
    """Return by how much a support violates a cut: k minus the weight of members with fewer than k parents in the set."""
    inside = np.isin(support.rows, members).sum(axis=1)
    return k - support.weights[np.isin(support.children, members) & (inside < k)].sum()


def all_violations(support, n):
    sets = [c for size in range(2, n + 1) for c in combinations(range(n), size)]
    return {(c, k): violation(support, c, k) for c in sets for k in (1, 2) if len(c) > k}


def test_no_dag_violates_a_cut():
    n = 4
    for dag in all_dags(n):
        rows = np.array([[*sorted(parents), *[-1] * (n - len(parents))] for parents in dag], dtype=np.int32)
        assert max(all_violations(Support(np.arange(n), rows, np.ones(n)), n).values()) <= 0.0


@pytest.mark.parametrize("n", [4, 6, 8])
def test_cuts_are_violated_and_the_worst_cut_is_found(n):
    generator = np.random.default_rng(n)
    pairs = list(combinations(range(n), 2))
    for _ in range(10):
        support = random_support(n, generator)
        every = all_violations(support, n)
        cuts = find_clusters(support, pairs, n, most=50)
        for cut in cuts:
            assert violation(support, cut.members, cut.k) > 1e-4
        assert len(set(cuts)) == len(cuts)
        rating = {key: value / len(key[0]) ** 0.5 for key, value in every.items()}
        best = max(rating, key=lambda key: rating[key])
        assert rating[best] <= 1e-4 or rating[cuts[0]] == pytest.approx(rating[best])
        assert len(find_clusters(support, pairs, n, most=2)) <= 2


def test_shortest_cycles_are_found():
    """The edges 0 -> 1 -> 2 -> 0 have weight 1. The edge 2 -> 3 is in no cycle, and the cycle 4 -> 5 -> 4 is long."""
    rows = np.array([[2], [0], [1], [2], [5], [4]], dtype=np.int32)
    support = Support(np.arange(6), rows, np.array([1.0, 1.0, 1.0, 1.0, 0.2, 0.2]))
    assert edge_weights(support, 6)[5, 4] == 0.2
    assert find_cycles(support, 6) == [(0, 1, 2)]
    assert find_cycles(support._replace(weights=np.ones(6)), 6) == [(0, 1, 2), (4, 5)]
    assert find_clusters(support, [], 6, most=5) == []
