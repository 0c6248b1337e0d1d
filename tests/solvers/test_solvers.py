"""Learners against each other and against enumeration."""

import dimod
import networkx as nx
import numpy as np
import pytest
from dwave.samplers import (
    PathIntegralAnnealingSampler,
    RandomSampler,
    SimulatedAnnealingSampler,
    SteepestDescentSolver,
    TabuSampler,
    TreeDecompositionSolver,
)
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.scoring.orders import random_orders, score_orders
from support.reference import all_dags, as_graph, dag_scores, random_data, random_table


def independent_data(n: int, rows: int, seed: int) -> dn.Dataset:
    rng = np.random.default_rng(seed)
    return dn.read(rng.integers(0, 2, (rows, n)))


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("seed", range(5))
def test_exhaustive_equals_exact(n, seed):
    for table in (dn.score_table(random_data(n, 100, seed), max_parents=2), random_table(n, 2, seed)):
        brute = dn.exhaustive(table)
        assert brute.optimal
        assert brute.score == pytest.approx(dn.exact(table).score, rel=1e-12)


@pytest.mark.parametrize(("n", "m"), [(2, 1), (2, 0), (3, 1), (4, 1), (4, 0), (5, 1)])
def test_exhaustive_with_fewer_parents(n, m):
    table = random_table(n, m, seed=n)
    assert dn.exhaustive(table).score == pytest.approx(dn.exact(table).score, rel=1e-12)


@pytest.mark.parametrize("n", [3, 4])
def test_exhaustive_charges_no_dag_for_its_order(n):
    """Make each DAG the best in turn: none is penalised, the empty graph least of all."""
    for dag in all_dags(n):
        if max(map(len, dag)) <= 2:
            table = random_table(n, 2, seed=0, spread=0.0)
            for child, parents in enumerate(dag):
                others = [v for v in range(n) if v != child]
                mask = sum(1 << others.index(p) for p in parents)
                entries = table.entries_of(child)
                table.scores[entries][table.masks[entries] == mask] += 10.0
            assert nx.utils.graphs_equal(dn.exhaustive(table).dag, as_graph(table, dag))


@pytest.mark.parametrize("n", [3, 4, 5])
def test_independent_data_give_the_empty_graph(n):
    table = dn.score_table(independent_data(n, 2000, seed=1))
    for learner in (dn.exact, dn.exhaustive):
        assert learner(table).edges == []


def test_exhaustive_is_the_same_for_any_number_of_threads():
    table = random_table(5, 2, seed=3)
    assert dn.exhaustive(table, workers=1).edges == dn.exhaustive(table, workers=3).edges


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(0, 4))
def test_exact_equals_enumeration_for_any_parent_limit_and_candidates(seed, n, m):
    data = random_data(n, 60, seed)
    rng = np.random.default_rng(seed)
    candidates = {name: [o for o in data.names if o != name and rng.random() < 0.8] for name in data.names}
    m = min(m, n - 1)
    table = dn.Scorer(data).table(m, candidates)
    full = dn.Scorer(data).table(m)
    allowed = [
        dag for dag in _dags(n) if all(data.names[p] in candidates[data.names[c]] for c, ps in enumerate(dag) for p in ps)
    ]
    found = dn.exact(table)
    assert found.score == pytest.approx(dag_scores(full, allowed).max(), rel=1e-12)
    assert max(d for _, d in found.dag.in_degree) <= m


def _dags(n: int):
    if n not in _CACHE:
        _CACHE[n] = all_dags(n)
    return _CACHE[n]


_CACHE: dict = {}


@pytest.mark.parametrize(("n", "m"), [(12, 3), (13, 2), (12, 11)])
def test_exact_beyond_one_block_of_low_variables(n, m):
    """More variables than the small arrays hold; a plain dynamic programme over dictionaries gives the same."""
    table = dn.score_table(random_data(n, 80, seed=n, arities=[2] * n), max_parents=m)
    best = {0: 0.0}
    local = []
    for child in range(n):
        entries = table.entries_of(child)
        others = table.candidates_of(child)
        masks = [sum(1 << int(v) for b, v in enumerate(others) if int(mask) >> b & 1) for mask in table.masks[entries]]
        local.append(sorted(zip(table.scores[entries].tolist(), masks, strict=True), reverse=True))
    for w in range(1, 1 << n):
        best[w] = max(
            best[w ^ 1 << i] + next(s for s, mask in local[i] if mask & ~(w ^ 1 << i) == 0) for i in range(n) if w >> i & 1
        )
    assert dn.exact(table).score == pytest.approx(best[(1 << n) - 1], rel=1e-12)


def test_exact_finds_no_edges_that_gain_nothing():
    """A column with one state is as good as no parent; it is left out."""
    data = dn.Dataset.merged(
        ["a", "b", "c"], [["x"], ["0", "1"], ["0", "1"]], np.array([[0] * 40, [0, 1] * 20, [0, 1] * 20])
    )
    assert dn.exact(dn.score_table(data)).edges in ([("b", "c")], [("c", "b")])


@pytest.mark.parametrize(
    "sampler",
    [
        SimulatedAnnealingSampler(),
        PathIntegralAnnealingSampler(),
        TabuSampler(),
        SteepestDescentSolver(),
        RandomSampler(),
    ],
    ids=lambda s: type(s).__name__,
)
def test_any_sampler(sampler):
    truth = dn.load("lung-cancer-4")
    table = dn.score_table(truth.expected(10_000))
    found = dn.anneal(table, sampler, num_reads=50, seed=3)
    figures = found.annealed
    assert figures.reads == 50
    assert found.optimal
    assert found.score == pytest.approx(figures.optimum, rel=1e-12)
    assert figures.repaired.score >= (figures.raw.score if figures.raw else -np.inf) - 1e-9
    assert 1 <= figures.repaired.hits == figures.repaired.optimum_hits <= 50
    assert figures.baseline <= figures.optimum + 1e-9
    assert found.seed == 3
    again = dn.anneal(table, sampler, num_reads=50, seed=3)
    if not isinstance(sampler, TabuSampler):  # tabu search stops by the clock
        assert np.array_equal(again.annealed.sampleset.record, figures.sampleset.record)
        assert again.to_dict()["annealed"] == found.to_dict()["annealed"]


def test_the_tree_solver_finds_the_ground_state():
    table = dn.score_table(dn.load("lung-cancer").expected(10_000))
    found = dn.anneal(table, TreeDecompositionSolver(), repair=False)
    assert found.optimal
    assert found.annealed.lowest_energy == pytest.approx(-found.score, rel=1e-9)
    assert found.annealed.raw.optimum_hits == 1


def test_raw_and_repaired_reads_are_told_apart():
    table = dn.score_table(dn.load("waste").expected(10_000))
    raw = dn.anneal(
        table, SimulatedAnnealingSampler(), repair=False, encoding=dn.PAPER, num_reads=20, num_sweeps=200, seed=1
    )
    repaired = dn.anneal(table, SimulatedAnnealingSampler(), encoding=dn.PAPER, num_reads=20, num_sweeps=200, seed=1)
    assert raw.annealed.summary() == repaired.annealed.summary()
    assert raw.score == raw.annealed.raw.score < repaired.annealed.repaired.score == repaired.score
    assert not raw.optimal


def test_reads_that_are_no_network_are_said_to_be_none():
    class Full(dimod.Sampler):
        parameters, properties = {}, {}

        def sample(self, bqm):
            return dimod.SampleSet.from_samples_bqm(dict.fromkeys(bqm.variables, 1), bqm)

    table = dn.score_table(random_data(3, 50, seed=0))
    found = dn.anneal(table, Full(), repair=False)
    assert np.isnan(found.score)
    assert not found.optimal
    assert found.annealed.raw is None
    assert found.annealed.feasible == 0
    assert found.to_dict()["score"] is None
    assert dn.anneal(table, Full()).score <= found.annealed.optimum
    with pytest.raises(dn.InputError, match="not a network"):
        _ = dn.learn(random_data(3, 50, seed=0), solver=Full(), repair=False).network


def test_occurrences_are_counted():
    class Twice(dimod.Sampler):
        parameters, properties = {}, {}

        def sample(self, bqm):
            first = TreeDecompositionSolver().sample(bqm).first
            return dimod.SampleSet.from_samples_bqm(first.sample, bqm, num_occurrences=[7])

    found = dn.anneal(dn.score_table(random_data(3, 50, seed=0)), Twice())
    assert (found.annealed.reads, found.annealed.repaired.hits, found.annealed.raw.optimum_hits) == (7, 7, 7)


def test_keywords_that_a_sampler_does_not_take_are_refused():
    table = dn.score_table(random_data(3, 50, seed=0))
    with pytest.raises(dn.InputError, match=r"does not take the parameter 'num_swepes'; it takes .*num_sweeps"):
        dn.anneal(table, SimulatedAnnealingSampler(), num_swepes=5)
    with pytest.raises(dn.InputError, match=r"not a dimod\.Sampler"):
        dn.anneal(table, object())
    assert dn.anneal(table, PathIntegralAnnealingSampler(), num_reads=2, Gamma=2.0).annealed.reads == 2


def test_orders():
    table = random_table(5, 2, seed=1)
    orders = np.concatenate(list(random_orders(5, 500, seed=2)))
    scores = score_orders(table, orders)
    best = dn.exact(table).score
    assert scores.max() <= best + 1e-9
    assert score_orders(table, np.array([list(nx.topological_sort(nx.relabel_nodes(dn.exact(table).dag, table.position)))]))[
        0
    ] == pytest.approx(best, rel=1e-12)
    assert np.array_equal(np.concatenate(list(random_orders(5, 500, seed=2, block=500))), orders)


def test_limits_are_said():
    with pytest.raises(dn.InputError, match="at most 5 variables, not 6; use exact"):
        dn.exhaustive(random_table(6, 2, seed=0))
    with pytest.raises(dn.InputError, match="at most 28 variables, not 29"):
        dn.exact(random_table(29, 1, seed=0))
    with pytest.raises(dn.InputError, match="3 parents are allowed"):
        dn.exhaustive(random_table(5, 3, seed=0))


def test_learn_in_one_call(tmp_path):
    truth = dn.load("lung-cancer")
    found = dn.learn(truth.sample(10_000, seed=7), seed=7)
    assert set(found.edges) == set(truth.dag.edges)
    assert found.optimal
    assert found.network.cpts["Smoker"] == pytest.approx([0.7, 0.3], abs=0.02)
    annealed = dn.learn(truth.sample(10_000, seed=7), solver=SimulatedAnnealingSampler(), num_reads=100, seed=7)
    assert annealed.score == pytest.approx(found.score)
    assert annealed.seed == 7
    assert dn.learn(truth.sample(100, seed=7), max_parents=1, score=dn.BIC(), solver=dn.exhaustive).score_name == "BIC"
    for bad in (["exact"], 7):
        with pytest.raises(dn.InputError, match="give a dimod sampler"):
            dn.learn(truth.sample(100, seed=1), solver=bad)
    with pytest.raises(dn.InputError, match="takes no seed"):
        dn.learn(truth.sample(100, seed=1), solver=TreeDecompositionSolver(), seed=1)


def test_parameters_need_a_solver():
    with pytest.raises(dn.InputError, match="name the solver too"):
        dn.learn(random_data(4, 30, seed=1), num_reads=2)


def test_nothing_is_optimal_without_a_proof(monkeypatch):
    import importlib

    for module in ("solvers.annealing", "divide.division"):
        monkeypatch.setattr(importlib.import_module(f"dagneal.{module}"), "EXACT_BESIDE", 3)
    for direct in (True, False):
        data = random_data(4, 30, seed=1)
        found = dn.learn(data, solver=SimulatedAnnealingSampler(), direct=direct, num_reads=100, seed=1)
        assert not found.optimal
        assert found.annealed.optimum is None
        assert found.annealed.repaired.optimum_hits is None


@pytest.mark.parametrize("ending", ["json", "bif", "graphml", "dot"])
def test_saving(tmp_path, ending):
    import json

    found = dn.learn(dn.load("lung-cancer").expected(10_000))
    path = tmp_path / f"found.{ending}"
    found.save(path)
    if ending == "json":
        saved = json.loads(path.read_text())
        assert saved | found.to_dict() == saved
        assert set(saved) - set(found.to_dict()) == {"name", "states", "parents", "cpts"}
    elif ending == "bif":
        assert dn.read_bif(path).dag.edges == found.dag.edges
    elif ending == "graphml":
        assert set(nx.read_graphml(path).edges) == set(found.edges)
    else:
        assert '"Pollution" -> "Cancer";' in path.read_text()


def test_saving_what_cannot_be_saved(tmp_path):
    found = dn.exact(random_table(3, 2, seed=0))
    with pytest.raises(dn.InputError, match="need the data"):
        found.save(tmp_path / "found.bif")
    with pytest.raises(dn.InputError, match="end the name in"):
        found.save(tmp_path / "found.txt")
    with pytest.raises(dn.InputError, match="no folder"):
        found.save(tmp_path / "nowhere" / "found.json")
    assert list(tmp_path.iterdir()) == []


class Given(dimod.Sampler):
    """A sampler that returns what it was told to."""

    parameters, properties = {}, {}

    def __init__(self, graphs, table, occurrences=None):
        self.rows = np.array([dn.qubo_vector(table, graph, dn.PAPER) for graph in graphs])
        self.occurrences = occurrences or [1] * len(graphs)

    def sample(self, bqm):
        return dimod.SampleSet.from_samples_bqm((self.rows, bqm.variables), bqm, num_occurrences=self.occurrences)


def test_a_near_miss_is_not_optimal_however_many_rows_there_are():
    codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    weights = [500_000_000, 500_000_000, 500_000_000, 500_000_000 + 200_000]
    data = dn.Dataset.merged(["a", "b"], [["0", "1"], ["0", "1"]], codes, np.array(weights))
    table = dn.score_table(data)
    gain = table.local("b", ["a"]) - table.local("b")
    empty = nx.empty_graph(["a", "b"], create_using=nx.DiGraph)
    edge = nx.DiGraph([("a", "b")])
    worse, better = (empty, edge) if gain > 0 else (edge, empty)
    assert 0.05 < abs(gain) < 20
    miss = dn.anneal(table, Given([worse], table), repair=False, encoding=dn.PAPER)
    assert not miss.optimal
    assert miss.annealed.raw.optimum_hits == 0
    assert dn.anneal(table, Given([better], table), repair=False, encoding=dn.PAPER).optimal


def test_figures_of_reads_by_hand():
    table = dn.score_table(dn.load("lung-cancer").expected(10_000))
    best = dn.exact(table).dag
    empty = nx.empty_graph(best.nodes, create_using=nx.DiGraph)
    sampler = Given([empty, best, empty], table, occurrences=[5, 2, 1])
    sampler.rows[2, :4] = 1  # Pollution a parent of all, against the limit's slack: still a DAG
    sampler.rows[0, [0, 4]] = 1  # Pollution and Smoker parents of each other
    figures = dn.anneal(table, sampler, repair=False, encoding=dn.PAPER).annealed
    assert figures.reads == 8
    assert figures.feasible == pytest.approx(3 / 8)
    assert figures.lowest_energy == pytest.approx(-table.score(best))
    assert (figures.raw.hits, figures.raw.optimum_hits) == (2, 2)
    assert figures.repaired.hits >= 2


def test_the_baseline_is_the_best_of_as_many_random_orders_as_reads():
    table = random_table(6, 2, seed=3)
    found = dn.anneal(table, SimulatedAnnealingSampler(), num_reads=37, num_sweeps=5, seed=11)
    orders = np.concatenate(list(random_orders(6, 37, seed=11)))
    assert found.annealed.baseline == score_orders(table, orders).max()
    assert found.annealed.baseline > score_orders(table, orders[:1]).max()


def test_samplers_that_fail():
    class Failing(dimod.Sampler):
        parameters, properties = {}, {}

        def sample(self, bqm):
            raise RuntimeError("the annealer is warm")

    class Silent(dimod.Sampler):
        parameters, properties = {}, {}

        def sample(self, bqm):
            nothing = np.empty((0, bqm.num_variables), dtype=np.int8)
            return dimod.SampleSet.from_samples((nothing, bqm.variables), "BINARY", [])

    table = random_table(3, 2, seed=0)
    with pytest.raises(dn.InputError, match="Failing refused the problem with no parameters: the annealer is warm"):
        dn.anneal(table, Failing())
    with pytest.raises(dn.InputError, match="Silent returned no reads"):
        dn.anneal(table, Silent())


def test_probabilities_are_fitted_only_when_asked_for():
    """Two columns of 11,000 names: a network, but not one whose table fits anywhere."""
    codes = np.arange(11_000)
    data = dn.Dataset.merged(["a", "b"], [[f"s{i}" for i in range(11_000)]] * 2, np.array([codes, codes]))
    found = dn.learn(data)
    assert found.optimal
    if found.edges:
        with pytest.raises(dn.InputError, match="121,000,000"):
            _ = found.network
    with pytest.raises(dn.InputError, match="no Dirichlet prior"):
        dn.fit(found.dag, data, dn.BIC())
