"""The ordering search against exact search."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.solvers.order_search import search
from support.reference import random_data


@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(0, 3))
def test_ordering_search_finds_the_optimum_of_small_tables(seed, n, limit):
    data = random_data(n, 60, seed)
    rng = np.random.default_rng(seed)
    candidates = {name: [o for o in data.names if o != name and rng.random() < 0.8] for name in data.names}
    table = dn.scoring.Scorer(data).table(min(limit, n - 1), candidates)
    found = dn.solvers.order_search(table, rounds=100, run=dn.Run(seed))
    assert found.score == pytest.approx(dn.solvers.exact(table).score, rel=1e-12)
    assert not found.optimal


def test_ordering_search_is_the_same_for_any_number_of_threads_and_begins_where_told():
    table = dn.scoring.score_table(random_data(14, 100, seed=1))
    found = []
    for jobs in (1, 2):
        with dn.limits(jobs=jobs):
            found.append(search(table, rounds=20, run=dn.Run(3)))
    one, two = found
    assert np.array_equal(one[0], two[0])
    assert one[1] == two[1]
    best = dn.solvers.exact(table)
    order = np.array([table.position[name] for name in nx.topological_sort(best.dag)])
    assert search(table, rounds=0, initial=order, run=dn.Run(1))[1] == pytest.approx(best.score)
