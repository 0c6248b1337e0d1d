"""Score tables: completeness, restriction, subproblems and errors."""

from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, strategies as st

import dagneal as dn
from support.reference import all_dags, dag_scores, random_data


def test_a_table_has_all_sets_up_to_max_parents():
    data = random_data(6, 100, seed=0)
    table = dn.scoring.score_table(data, max_parents=3)
    scorer = dn.scoring.Scorer(data)
    assert table.unrestricted
    for child in data.names:
        others = [name for name in data.names if name != child]
        for size in range(4):
            for parents in combinations(others, size):
                assert table.local(child, parents) == scorer.local(child, parents)


def test_candidates_limit_the_parents():
    data = random_data(5, 100, seed=0)
    table = dn.scoring.score_table(data, max_parents=2, candidates={"v0": ["v3", "v1"], "v1": []})
    assert not table.unrestricted
    assert table.local("v0", ["v1", "v3"]) == dn.scoring.score_table(data).local("v0", ["v3", "v1"])
    assert [len(table.candidates_of(i)) for i in range(5)] == [2, 0, 4, 4, 4]
    with pytest.raises(dn.InputError, match="'v0' cannot have the parents"):
        table.local("v0", ["v2"])
    with pytest.raises(dn.InputError, match=r"has 3 parents .* at most 2"):
        table.local("v4", ["v0", "v1", "v2"])


@given(st.integers(0, 10**6), st.integers(3, 7), st.integers(1, 3))
def test_restrict_and_gather_copy_the_scores(seed, n, m):
    data = random_data(n, 60, seed)
    rng = np.random.default_rng(seed)
    candidates = {name: [o for o in data.names if o != name and rng.random() < 0.7] for name in data.names}
    table = dn.scoring.Scorer(data).table(min(m, n - 1), candidates)
    size = int(rng.integers(2, n + 1))
    members = np.array(list(combinations(range(n), size)))
    subproblems = table.gather(members)
    for index in rng.permutation(len(members))[:5]:
        small = subproblems.table(int(index))
        names = [data.names[i] for i in members[index]]
        restricted = table.restrict(names)
        assert small.names == restricted.names == tuple(names)
        assert np.array_equal(small.scores, restricted.scores)
        for child in names:
            others = [o for o in names if o != child]
            for k in range(small.max_parents + 1):
                for parents in combinations(others, k):
                    if set(parents) <= set(candidates[child]):
                        assert small.local(child, parents) == table.local(child, parents)
                    else:
                        with pytest.raises(dn.InputError):
                            small.local(child, parents)


def test_a_table_scores_graphs_within_its_parent_limit():
    truth = dn.load("waste")
    data = truth.expected_data(10_000)
    scorer = dn.scoring.Scorer(data)
    table = scorer.table(2)
    with pytest.raises(dn.InputError, match="'DustEmission' has 3 parents"):
        table.score(truth.dag)  # the true network has a child with three parents
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
def test_graphs_that_cannot_be_scored_are_rejected(edges, nodes, message):
    table = dn.scoring.score_table(random_data(3, 20, seed=1))
    graph = nx.DiGraph(edges)
    graph.add_nodes_from(nodes or table.names)
    with pytest.raises(dn.InputError, match=message):
        table.score(graph)


@pytest.mark.parametrize(
    "call", [lambda t: t.restrict(["v0"]), lambda t: t.restrict(["v0", "x"]), lambda t: t.gather([[1, 0]])]
)
def test_invalid_subproblems_are_rejected(call):
    with pytest.raises(dn.InputError):
        call(dn.scoring.score_table(random_data(3, 20, seed=1)))


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        (-1, "give a whole number of at least 0"),
        (1.5, "max_parents is 1.5"),
        ("two", "max_parents is 'two'"),
        (4, "at most 3 parents"),
        (99, "at most 3 parents"),
    ],
)
def test_invalid_parent_limits_are_rejected(limit, message):
    with pytest.raises(dn.InputError, match=message):
        dn.scoring.score_table(random_data(4, 20, seed=1), max_parents=limit)


def test_the_default_limit_is_lowered_for_small_tables():
    assert dn.scoring.score_table(random_data(2, 20, seed=1)).max_parents == 1
    assert dn.scoring.score_table(random_data(4, 20, seed=1)).max_parents == 2


@pytest.mark.parametrize("candidates", [{"unknown": []}, {"v0": ["unknown"]}, {"v0": ["v0"]}])
def test_invalid_candidates_are_rejected(candidates):
    with pytest.raises(dn.InputError):
        dn.scoring.score_table(random_data(3, 20, seed=1), candidates=candidates)


def test_too_many_scores_are_rejected_before_counting():
    with pytest.raises(dn.InputError, match="use a lower parent limit"):
        dn.scoring.score_table(random_data(60, 5, seed=1), max_parents=6)


def remove_sets(table: dn.scoring.ScoreTable, child: int, forbidden) -> dn.scoring.ScoreTable:
    """Return the table without some parent sets of one child."""
    entries = table.entries_of(child)
    keep = np.ones(len(table.scores), dtype=bool)
    keep[entries] = [not forbidden(int(mask)) for mask in table.masks[entries, 0]]
    start = np.concatenate([[0], np.cumsum([keep[table.entries_of(c)].sum() for c in range(len(table.names))])])
    return replace(table, start=start, masks=table.masks[keep], scores=table.scores[keep])


def test_absent_parent_sets_are_never_used():
    """In this table v0 must have v1 (bit 0 of its masks) as a parent."""
    from dagneal.qubo.polynomial import moebius
    from dagneal.scoring.orders import dag_of_order, score_orders

    data = random_data(4, 100, seed=4)
    full = dn.scoring.score_table(data)
    table = remove_sets(full, 0, lambda mask: not mask & 1)
    assert not table.unrestricted
    best = dn.solvers.exact(table)
    assert ("v1", "v0") in best.edges
    fitting = [dag for dag in all_dags(4) if 1 in dag[0]]
    assert best.score == pytest.approx(dag_scores(full, fitting).max(), rel=1e-12)
    orders = np.array([[0, 1, 2, 3], [1, 0, 2, 3]])
    assert np.isinf(score_orders(table, orders)).tolist() == [True, False]
    assert ("v1", "v0") in dag_of_order(table, orders[1]).edges
    with pytest.raises(dn.InputError, match="'v0' has no parent set among the allowed variables"):
        dag_of_order(table, orders[0])
    with pytest.raises(dn.InputError, match="lacks parent sets of 'v0'"):
        moebius(table)
    with pytest.raises(dn.InputError, match="no score for 'v0' without parents"):
        dn.qubo.encode(table)
    assert table.restrict(["v0", "v1"]).local("v0", ["v1"]) == full.local("v0", ["v1"])
    lonely = table.restrict(["v0", "v2"])  # v0 has no parent set left
    assert np.isinf(lonely.gather([[0, 1]]).scores[0, 0]).all()
    with pytest.raises(dn.InputError, match="no DAG is possible"):
        dn.solvers.exact(lonely)


def test_restricting_a_table_keeps_its_candidates():
    data = random_data(80, 30, seed=3, arities=[2] * 80)
    names = data.names
    table = dn.scoring.Scorer(data).table(2, {n: [names[i - 1], names[i - 2]] if i > 1 else [] for i, n in enumerate(names)})
    small = table.restrict(names[:66])
    assert len(small.candidates_of(65)) == 2
    assert small.local("v65", ["v64", "v63"]) == table.local("v65", ["v63", "v64"])
    with pytest.raises(dn.InputError, match=r"use table\.restrict"):
        table.gather([list(range(66))])
    for invalid in ([[1, 90]], [[-1, 2]]):
        with pytest.raises(dn.InputError, match="outside 0 to 79"):
            table.gather(invalid)


def test_pruning_keeps_the_best_set_among_any_allowed_parents():
    table = dn.scoring.score_table(random_data(6, 80, seed=2), max_parents=3)
    start, masks, scores = table.pruned
    assert len(masks) < len(table.masks)
    for child in range(6):
        kept = list(zip(masks[start[child] : start[child + 1], 0], scores[start[child] : start[child + 1]], strict=True))
        for allowed in range(1 << 5):
            entries = table.entries_of(child)
            inside = table.masks[entries, 0] & np.uint64(~allowed & 0xFFFF) == 0
            assert max(s for m, s in kept if int(m) & ~allowed == 0) == table.scores[entries][inside].max()
