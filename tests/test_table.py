"""Tables: completeness, restriction, gathering, errors."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import random_data

import dagneal as dn


def test_a_table_is_complete_up_to_max_parents():
    data = random_data(6, 100, seed=0)
    table = dn.score_table(data, max_parents=3)
    scorer = dn.Scorer(data)
    assert table.unrestricted
    for child in data.names:
        others = [name for name in data.names if name != child]
        for size in range(4):
            for parents in combinations(others, size):
                assert table.local(child, parents) == scorer.local(child, parents)


def test_candidates_limit_the_parents():
    data = random_data(5, 100, seed=0)
    table = dn.score_table(data, max_parents=2, candidates={"v0": ["v3", "v1"], "v1": []})
    assert not table.unrestricted
    assert table.local("v0", ["v1", "v3"]) == dn.score_table(data).local("v0", ["v3", "v1"])
    assert [len(table.candidates_of(i)) for i in range(5)] == [2, 0, 4, 4, 4]
    with pytest.raises(dn.InputError, match="'v0' may not have the parents"):
        table.local("v0", ["v2"])
    with pytest.raises(dn.InputError, match=r"has 3 parents .* at most 2"):
        table.local("v4", ["v0", "v1", "v2"])


@given(st.integers(0, 10**6), st.integers(3, 7), st.integers(1, 3))
def test_restrict_and_gather_copy_the_scores(seed, n, m):
    data = random_data(n, 60, seed)
    rng = np.random.default_rng(seed)
    candidates = {name: [o for o in data.names if o != name and rng.random() < 0.7] for name in data.names}
    table = dn.Scorer(data).table(min(m, n - 1), candidates)
    size = int(rng.integers(2, n + 1))
    blocks = np.array(list(combinations(range(n), size)))
    cut = table.gather(blocks)
    for line in rng.permutation(len(blocks))[:5]:
        small = cut.table(int(line))
        names = [data.names[i] for i in blocks[line]]
        again = table.restrict(names)
        assert small.names == again.names == tuple(names)
        assert np.array_equal(small.scores, again.scores)
        for child in names:
            own = [o for o in names if o != child]
            for k in range(small.max_parents + 1):
                for parents in combinations(own, k):
                    if set(parents) <= set(candidates[child]):
                        assert small.local(child, parents) == table.local(child, parents)
                    else:
                        with pytest.raises(dn.InputError):
                            small.local(child, parents)


def test_score_of_a_graph():
    truth = dn.load("waste")
    data = truth.expected(10_000)
    scorer = dn.Scorer(data)
    table = scorer.table(2)
    with pytest.raises(dn.InputError, match="'DustEmission' has 3 parents"):
        table.score(truth.dag)  # the paper's network with three parents
    assert scorer.score(truth.dag) < 0
    small = nx.DiGraph(truth.dag)
    small.remove_edge("WasteType", "DustEmission")
    assert table.score(small) == pytest.approx(scorer.score(small), rel=1e-12)


@pytest.mark.parametrize(
    ("edges", "nodes", "message"),
    [
        ([("v0", "v1"), ("v1", "v0")], [], "has a cycle: v0 -> v1 -> v0"),
        ([("v0", "w")], [], "'w' is only in the graph"),
        ([], ["v0"], "'v1' is only in the data"),
    ],
)
def test_graphs_that_cannot_be_scored(edges, nodes, message):
    table = dn.score_table(random_data(3, 20, seed=1))
    graph = nx.DiGraph(edges)
    graph.add_nodes_from(nodes or table.names)
    with pytest.raises(dn.InputError, match=message):
        table.score(graph)


@pytest.mark.parametrize(
    "call", [lambda t: t.restrict(["v0"]), lambda t: t.restrict(["v0", "x"]), lambda t: t.gather([[1, 0]])]
)
def test_bad_blocks(call):
    with pytest.raises(dn.InputError):
        call(dn.score_table(random_data(3, 20, seed=1)))


@pytest.mark.parametrize(("limit", "message"), [(-1, "give 0 or more"), (4, "at most 3 parents"), (99, "at most 3 parents")])
def test_bad_parent_limits(limit, message):
    with pytest.raises(dn.InputError, match=message):
        dn.score_table(random_data(4, 20, seed=1), max_parents=limit)


def test_the_default_limit_is_lowered_for_small_tables():
    assert dn.score_table(random_data(2, 20, seed=1)).max_parents == 1
    assert dn.score_table(random_data(4, 20, seed=1)).max_parents == 2


@pytest.mark.parametrize("candidates", [{"nobody": []}, {"v0": ["nobody"]}, {"v0": ["v0"]}])
def test_bad_candidates(candidates):
    with pytest.raises(dn.InputError):
        dn.score_table(random_data(3, 20, seed=1), candidates=candidates)


def test_too_many_scores_or_candidates_are_refused_before_the_work():
    wide = dn.Dataset.merged([f"v{i}" for i in range(66)], [["0", "1"]] * 66, np.zeros((66, 1), dtype=int))
    with pytest.raises(dn.InputError, match="65 candidate parents"):
        dn.score_table(wide)
    with pytest.raises(dn.InputError, match="allow fewer parents"):
        dn.score_table(random_data(60, 5, seed=1), max_parents=6)
