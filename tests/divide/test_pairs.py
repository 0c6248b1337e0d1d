"""Networks from pair statistics: compare with enumeration."""

from itertools import product

import networkx as nx
import numpy as np
import pytest

import dagneal as dn
from dagneal.divide.pairs import count_pairs, learn_from_pairs
from dagneal.scoring.scorer import Scorer
from support.reference import random_data


@pytest.mark.parametrize("seed", range(6))
def test_network_from_pairs_is_optimal_with_one_parent_per_child(seed):
    data = random_data(4, 100, seed)
    names = data.names
    plain = Scorer(data)
    best = -np.inf
    for choice in product((None, *names), repeat=4):
        edges = [(parent, child) for parent, child in zip(choice, names, strict=True) if parent is not None]
        graph = nx.DiGraph()
        graph.add_nodes_from(names)
        graph.add_edges_from(edges)
        if nx.is_directed_acyclic_graph(graph):
            best = max(best, plain.score(graph))
    scorer = Scorer(data)
    result = learn_from_pairs(scorer, count_pairs(scorer), dn.Run())
    assert result.score == pytest.approx(best)
    assert plain.score(result.dag) == pytest.approx(best)
