"""CPDAGs agree with enumerated equivalence classes."""

from itertools import combinations

import networkx as nx
import pytest

import dagneal as dn
from support.reference import all_dags, random_data


def graphs(n):
    """Yield all DAGs over n nodes."""
    for parents in all_dags(n):
        graph = nx.DiGraph()
        graph.add_nodes_from(range(n))
        graph.add_edges_from((p, c) for c, ps in enumerate(parents) for p in ps)
        yield graph


def skeleton_and_v_structures(graph):
    """Return the skeleton and the v-structures. DAGs are equivalent if both are equal (Verma and Pearl)."""
    skeleton = frozenset(frozenset(edge) for edge in graph.edges)
    colliders = frozenset(
        (frozenset((a, b)), c)
        for c in graph
        for a, b in combinations(graph.predecessors(c), 2)
        if frozenset((a, b)) not in skeleton
    )
    return skeleton, colliders


@pytest.mark.parametrize(("n", "classes"), [(1, 1), (2, 2), (3, 11), (4, 185)])
def test_a_cpdag_is_the_union_of_its_equivalence_class(n, classes):
    members: dict = {}
    for graph in graphs(n):
        members.setdefault(skeleton_and_v_structures(graph), []).append(graph)
    assert len(members) == classes  # OEIS A007984
    for group in members.values():
        union = {edge for graph in group for edge in graph.edges}
        for graph in group:
            assert set(dn.cpdag(graph).edges) == union


def test_scores_are_equal_if_and_only_if_graphs_are_equivalent():
    scorer = dn.scoring.Scorer(random_data(4, 500, seed=6))
    by_class: dict = {}
    for graph in graphs(4):
        named = nx.relabel_nodes(graph, {i: f"v{i}" for i in range(4)})
        pattern = frozenset(dn.cpdag(named).edges)
        by_class.setdefault(pattern, set()).add(round(scorer.score(named), 6))
    assert all(len(scores) == 1 for scores in by_class.values())
    assert len({next(iter(s)) for s in by_class.values()}) == len(by_class) == 185
