"""Orders rearranged by minimum cuts, compared with networkx and with a new computation of the score."""

import networkx as nx
import numpy as np
import pytest

from dagneal.search import cuts
from dagneal.search.climb import ClimbArrays, prepare, settle
from dagneal.search.parent_sets import ParentSets
from dagneal.search.space import OrderState


def random_space(n, seed):
    """Return a search space in which each child has up to 60 random sets of one to three of the next ten variables."""
    generator = np.random.default_rng(seed)
    sets = ParentSets(n)
    sets.add(np.arange(n), np.full((n, 1), -1, dtype=np.int32), np.zeros(n))
    for child in range(n):
        near = [(child + step) % n for step in range(-5, 6) if step]
        for _ in range(60):
            row = np.sort(generator.choice(near, generator.integers(1, 4), replace=False)).astype(np.int32)[None, :]
            sets.add(np.array([child]), row, generator.exponential(50.0, 1))
    return sets.space()


def start(space, seed):
    """Return a local optimum of a random order."""
    state = OrderState.start(space, np.random.default_rng(seed).permutation(len(space.first) - 1), seed)
    settle(space, state, ClimbArrays.create(space))
    return state


@pytest.mark.parametrize("seed", range(5))
def test_state_is_consistent_and_the_score_does_not_fall(seed):
    space = random_space(60, seed)
    state = start(space, seed)
    before = state.score[0]
    cuts.improve_by_cuts(space, state, cuts.CutArrays.create(space, state), np.arange(60), 600)
    again = OrderState.start(space, state.order, 1)
    prepare(space, again)
    assert state.score[0] > before
    assert state.score[0] == pytest.approx(again.score[0])
    assert (state.chosen == again.chosen).all()
    assert (state.position == again.position).all()
    assert (state.before == again.before).all()


def test_only_the_centres_are_children():
    """Without tries at variables that could improve, the order stays the same."""
    space = random_space(40, 1)
    state = start(space, 1)
    best = np.array([child for child in range(40) if state.chosen[child] == space.start[child]])
    order = state.order.copy()
    cuts.improve_by_cuts(space, state, cuts.CutArrays.create(space, state), best, 200)
    assert (state.order == order).all()


def test_cut_is_minimum():
    """The capacity of the found cut equals the maximum flow of networkx."""
    compared = 0
    for seed in range(10):
        space = random_space(50, seed)
        state = start(space, seed)
        for source in range(50):
            entry = space.start[source]
            if entry == state.chosen[source]:
                continue
            edges = cuts.Edges.create(space)
            cuts.list_edges(space, state, edges)
            high = cuts.mark_sinks(space, state, edges, source, entry)
            cuts.mark_paths(state, edges, source, high)
            assert cuts.find_cut(space, state, edges, source, high, 1e9)
            graph, found = nx.DiGraph(), 0.0
            graph.add_nodes_from([source, "sink"])
            for edge in range(edges.first[50]):
                parent, child = edges.parent[edge], edges.child[edge]
                if all(edges.below[v] and edges.above[v] for v in (parent, child)):
                    capacity = cuts.edge_capacity(space, state, edges, edge, parent != source)
                    graph.add_edge(parent, child, capacity=capacity)
                    found += capacity * (edges.reached[parent] and not edges.reached[child])
            graph.add_edges_from((v, "sink") for v in np.flatnonzero(edges.sink))
            assert found == pytest.approx(nx.maximum_flow_value(graph, source, "sink"), abs=1e-6)
            compared += found > 0
    assert compared > 50
