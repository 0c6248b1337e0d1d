"""Tests of order search against exact search."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.solvers.order_search import search
from support.reference import random_data


@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(0, 3))
def test_order_search_finds_the_optimum_of_small_tables(seed, n, limit):
    data = random_data(n, 60, seed)
    rng = np.random.default_rng(seed)
    candidates = {name: [o for o in data.names if o != name and rng.random() < 0.8] for name in data.names}
    table = dn.scoring.Scorer(data).table(min(limit, n - 1), candidates)
    solution = dn.solvers.order_search(table, restarts=100, run=dn.Run(seed))
    assert solution.score == pytest.approx(dn.solvers.exact(table).score, rel=1e-12)
    assert not solution.optimal


def test_number_of_threads_does_not_change_the_result_of_order_search():
    table = dn.scoring.score_table(random_data(14, 100, seed=1))
    results = []
    for jobs in (1, 2):
        with dn.limits(jobs=jobs):
            results.append(search(table, restarts=20, run=dn.Run(3)))
    (order, score), (other_order, other_score) = results
    assert np.array_equal(order, other_order)
    assert score == other_score


def test_order_search_starts_from_the_initial_order():
    table = dn.scoring.score_table(random_data(14, 100, seed=1))
    best = dn.solvers.exact(table)
    order = np.array([table.position[name] for name in nx.topological_sort(best.dag)])
    assert search(table, restarts=0, initial=order, run=dn.Run(1))[1] == pytest.approx(best.score)
