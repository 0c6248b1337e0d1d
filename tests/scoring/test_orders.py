"""Scores of variable orders."""

import networkx as nx
import numpy as np
import pytest

import dagneal as dn
from dagneal.scoring.orders import random_orders, score_orders
from support.reference import random_table


def test_order_scores_reach_but_do_not_exceed_the_optimum():
    table = random_table(5, 2, seed=1)
    orders = np.concatenate(list(random_orders(5, 500, seed=2)))
    scores = score_orders(table, orders)
    best = dn.solvers.exact(table)
    assert scores.max() <= best.score + 1e-9
    order = list(nx.topological_sort(nx.relabel_nodes(best.dag, table.position)))
    assert score_orders(table, np.array([order]))[0] == pytest.approx(best.score, rel=1e-12)
    assert np.array_equal(np.concatenate(list(random_orders(5, 500, seed=2, chunk=500))), orders)
