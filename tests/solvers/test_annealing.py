"""Samplers on the QUBO: reads, figures and failures."""

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

import dagneal as dn
from dagneal.base.errors import SecondaryWarning
from dagneal.scoring.orders import random_orders, score_orders
from support.reference import random_data, random_table


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
    table = dn.scoring.score_table(truth.expected(10_000))
    found = dn.solvers.anneal(table, sampler, num_reads=50, seed=3)
    figures = found.reads
    assert figures.reads == 50
    assert found.optimal
    assert found.score == pytest.approx(figures.optimum, rel=1e-12)
    assert figures.repaired.score >= (figures.raw.score if figures.raw else -np.inf) - 1e-9
    assert 1 <= figures.repaired.hits == figures.repaired.optimum_hits <= 50
    assert figures.baseline <= figures.optimum + 1e-9
    assert found.seed == 3
    again = dn.solvers.anneal(table, sampler, num_reads=50, seed=3)
    if not isinstance(sampler, TabuSampler):  # tabu search stops by the clock
        assert np.array_equal(again.reads.sampleset.record, figures.sampleset.record)
        assert again.reads.summary() == found.reads.summary()


def test_the_tree_solver_finds_the_ground_state():
    table = dn.scoring.score_table(dn.load("lung-cancer").expected(10_000))
    found = dn.solvers.anneal(table, TreeDecompositionSolver(), repair=False)
    assert found.optimal
    assert found.reads.lowest_energy == pytest.approx(-found.score, rel=1e-9)
    assert found.reads.raw.optimum_hits == 1


def test_raw_and_repaired_reads_are_told_apart():
    table = dn.scoring.score_table(dn.load("waste").expected(10_000))
    raw = dn.solvers.anneal(
        table, SimulatedAnnealingSampler(), repair=False, encoding=dn.PAPER, num_reads=20, num_sweeps=200, seed=1
    )
    repaired = dn.solvers.anneal(table, SimulatedAnnealingSampler(), encoding=dn.PAPER, num_reads=20, num_sweeps=200, seed=1)
    assert raw.reads.summary() == repaired.reads.summary()
    assert raw.score == raw.reads.raw.score < repaired.reads.repaired.score == repaired.score
    assert not raw.optimal


def test_reads_that_are_no_network_are_said_to_be_none():
    class Full(dimod.Sampler):
        parameters, properties = {}, {}

        def sample(self, bqm):
            return dimod.SampleSet.from_samples_bqm(dict.fromkeys(bqm.variables, 1), bqm)

    table = dn.scoring.score_table(random_data(3, 50, seed=0))
    found = dn.solvers.anneal(table, Full(), repair=False)
    assert np.isnan(found.score)
    assert not found.optimal
    assert found.reads.raw is None
    assert found.reads.feasible == 0
    assert not found.is_dag
    assert dn.Learned.of(found).to_dict()["score"] is None
    assert dn.solvers.anneal(table, Full()).score <= found.reads.optimum
    with pytest.raises(dn.InputError, match="not a network"):
        _ = dn.learn(random_data(3, 50, seed=0), dn.Anneal(Full(), repair=False)).network


def test_occurrences_are_counted():
    class Twice(dimod.Sampler):
        parameters, properties = {}, {}

        def sample(self, bqm):
            first = TreeDecompositionSolver().sample(bqm).first
            return dimod.SampleSet.from_samples_bqm(first.sample, bqm, num_occurrences=[7])

    found = dn.solvers.anneal(dn.scoring.score_table(random_data(3, 50, seed=0)), Twice())
    assert (found.reads.reads, found.reads.repaired.hits, found.reads.raw.optimum_hits) == (7, 7, 7)


def test_keywords_that_a_sampler_does_not_take_are_refused():
    table = dn.scoring.score_table(random_data(3, 50, seed=0))
    with pytest.raises(dn.InputError, match=r"does not take the parameter 'num_swepes'; it takes .*num_sweeps"):
        dn.solvers.anneal(table, SimulatedAnnealingSampler(), num_swepes=5)
    with pytest.raises(dn.InputError, match=r"not a dimod\.Sampler"):
        dn.solvers.anneal(table, object())
    assert dn.solvers.anneal(table, PathIntegralAnnealingSampler(), num_reads=2, Gamma=2.0).reads.reads == 2


class Given(dimod.Sampler):
    """A sampler that returns what it was told to."""

    parameters, properties = {}, {}

    def __init__(self, graphs, table, occurrences=None):
        self.rows = np.array([dn.qubo.qubo_vector(table, graph, dn.PAPER) for graph in graphs])
        self.occurrences = occurrences or [1] * len(graphs)

    def sample(self, bqm):
        return dimod.SampleSet.from_samples_bqm((self.rows, bqm.variables), bqm, num_occurrences=self.occurrences)


def test_a_near_miss_is_not_optimal_however_many_rows_there_are():
    codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    weights = [500_000_000, 500_000_000, 500_000_000, 500_000_000 + 200_000]
    data = dn.Dataset.from_codes(["a", "b"], [["0", "1"], ["0", "1"]], codes, np.array(weights))
    table = dn.scoring.score_table(data)
    gain = table.local("b", ["a"]) - table.local("b")
    empty = nx.empty_graph(["a", "b"], create_using=nx.DiGraph)
    edge = nx.DiGraph([("a", "b")])
    worse, better = (empty, edge) if gain > 0 else (edge, empty)
    assert 0.05 < abs(gain) < 20
    miss = dn.solvers.anneal(table, Given([worse], table), repair=False, encoding=dn.PAPER)
    assert not miss.optimal
    assert miss.reads.raw.optimum_hits == 0
    assert dn.solvers.anneal(table, Given([better], table), repair=False, encoding=dn.PAPER).optimal


def test_figures_of_reads_by_hand():
    table = dn.scoring.score_table(dn.load("lung-cancer").expected(10_000))
    best = dn.solvers.exact(table).dag
    empty = nx.empty_graph(best.nodes, create_using=nx.DiGraph)
    sampler = Given([empty, best, empty], table, occurrences=[5, 2, 1])
    sampler.rows[2, :4] = 1  # Pollution a parent of all, against the limit's slack: still a DAG
    sampler.rows[0, [0, 4]] = 1  # Pollution and Smoker parents of each other
    figures = dn.solvers.anneal(table, sampler, repair=False, encoding=dn.PAPER).reads
    assert figures.reads == 8
    assert figures.feasible == pytest.approx(3 / 8)
    assert figures.lowest_energy == pytest.approx(-table.score(best))
    assert (figures.raw.hits, figures.raw.optimum_hits) == (2, 2)
    assert figures.repaired.hits >= 2


def test_the_baseline_is_the_best_of_as_many_random_orders_as_reads():
    table = random_table(6, 2, seed=3)
    found = dn.solvers.anneal(table, SimulatedAnnealingSampler(), num_reads=37, num_sweeps=5, seed=11)
    orders = np.concatenate(list(random_orders(6, 37, seed=11)))
    assert found.reads.baseline == score_orders(table, orders).max()
    assert found.reads.baseline > score_orders(table, orders[:1]).max()


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
        dn.solvers.anneal(table, Failing())
    with pytest.raises(dn.InputError, match="Silent returned no reads"):
        dn.solvers.anneal(table, Silent())


def test_an_exact_search_that_fails_does_not_lose_the_reads(monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("dagneal.solvers.annealing.exact", fail)
    table = dn.scoring.score_table(dn.load("lung-cancer").expected(1000))
    with pytest.warns(SecondaryWarning, match="exact search beside the annealer failed: MemoryError"):
        found = dn.solvers.anneal(table, SimulatedAnnealingSampler(), num_reads=5)
    assert found.reads.reads == 5
    assert found.reads.optimum is None
    assert not found.optimal
