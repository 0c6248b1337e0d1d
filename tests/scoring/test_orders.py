"""Scores of random orders."""

import networkx as nx
import numpy as np
import pytest

import dagneal as dn
from dagneal.scoring.orders import random_orders, score_orders
from support.reference import random_table


def test_orders():
    table = random_table(5, 2, seed=1)
    orders = np.concatenate(list(random_orders(5, 500, seed=2)))
    scores = score_orders(table, orders)
    best = dn.solvers.exact(table).score
    assert scores.max() <= best + 1e-9
    assert score_orders(
        table, np.array([list(nx.topological_sort(nx.relabel_nodes(dn.solvers.exact(table).dag, table.position)))])
    )[0] == pytest.approx(best, rel=1e-12)
    assert np.array_equal(np.concatenate(list(random_orders(5, 500, seed=2, block=500))), orders)
