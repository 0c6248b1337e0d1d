"""Tests of `anneal` with many samplers: reads, summaries and failures."""

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
def test_any_sampler_finds_the_optimum_with_the_same_reads_for_the_same_seed(sampler):
    truth = dn.load("lung-cancer-4")
    table = dn.scoring.score_table(truth.expected_data(10_000))
    solution = dn.solvers.anneal(table, sampler, num_reads=50, seed=3)
    summary = solution.reads
    assert summary.reads == 50
    assert solution.optimal
    assert solution.score == pytest.approx(summary.optimum, rel=1e-12)
    assert summary.repaired.score >= (summary.raw.score if summary.raw else -np.inf) - 1e-9
    assert 1 <= summary.repaired.hits == summary.repaired.optimum_hits <= 50
    assert summary.baseline <= summary.optimum + 1e-9
    assert solution.seed == 3
    again = dn.solvers.anneal(table, sampler, num_reads=50, seed=3)
    if not isinstance(sampler, TabuSampler):  # the clock stops tabu search
        assert np.array_equal(again.reads.sampleset.record, summary.sampleset.record)
        assert again.reads.summary() == solution.reads.summary()


def test_tree_decomposition_finds_the_ground_state():
    table = dn.scoring.score_table(dn.load("lung-cancer").expected_data(10_000))
    solution = dn.solvers.anneal(table, TreeDecompositionSolver(), repair=False)
    assert solution.optimal
    assert solution.reads.lowest_energy == pytest.approx(-solution.score, rel=1e-9)
    assert solution.reads.raw.optimum_hits == 1


def test_repair_selects_the_repaired_or_the_raw_result():
    table = dn.scoring.score_table(dn.load("waste").expected_data(10_000))
    raw = dn.solvers.anneal(
        table, SimulatedAnnealingSampler(), repair=False, encoding=dn.PAPER, num_reads=20, num_sweeps=200, seed=1
    )
    repaired = dn.solvers.anneal(table, SimulatedAnnealingSampler(), encoding=dn.PAPER, num_reads=20, num_sweeps=200, seed=1)
    assert raw.reads.summary() == repaired.reads.summary()
    assert raw.score == raw.reads.raw.score < repaired.reads.repaired.score == repaired.score
    assert not raw.optimal


def test_score_is_nan_if_no_raw_read_is_feasible():
    class Full(dimod.Sampler):
        parameters, properties = {}, {}

        def sample(self, bqm):
            return dimod.SampleSet.from_samples_bqm(dict.fromkeys(bqm.variables, 1), bqm)

    table = dn.scoring.score_table(random_data(3, 50, seed=0))
    solution = dn.solvers.anneal(table, Full(), repair=False)
    assert np.isnan(solution.score)
    assert not solution.optimal
    assert solution.reads.raw is None
    assert solution.reads.feasible == 0
    assert not solution.is_dag
    assert dn.Learned.of(solution).to_dict()["score"] is None
    assert dn.solvers.anneal(table, Full()).score <= solution.reads.optimum
    with pytest.raises(dn.InputError, match="not a network"):
        _ = dn.learn(random_data(3, 50, seed=0), dn.Anneal(Full(), repair=False)).network


def test_occurrences_count_as_reads():
    class Twice(dimod.Sampler):
        parameters, properties = {}, {}

        def sample(self, bqm):
            first = TreeDecompositionSolver().sample(bqm).first
            return dimod.SampleSet.from_samples_bqm(first.sample, bqm, num_occurrences=[7])

    solution = dn.solvers.anneal(dn.scoring.score_table(random_data(3, 50, seed=0)), Twice())
    assert (solution.reads.reads, solution.reads.repaired.hits, solution.reads.raw.optimum_hits) == (7, 7, 7)


def test_unknown_sampler_parameters_are_errors():
    table = dn.scoring.score_table(random_data(3, 50, seed=0))
    with pytest.raises(dn.InputError, match=r"does not accept the parameter 'num_swepes'; it accepts .*num_sweeps"):
        dn.solvers.anneal(table, SimulatedAnnealingSampler(), num_swepes=5)
    with pytest.raises(dn.InputError, match=r"not a dimod\.Sampler"):
        dn.solvers.anneal(table, object())
    assert dn.solvers.anneal(table, PathIntegralAnnealingSampler(), num_reads=2, Gamma=2.0).reads.reads == 2


class FixedSampler(dimod.Sampler):
    """A sampler that returns the given graphs."""

    parameters, properties = {}, {}

    def __init__(self, graphs, table, occurrences=None):
        self.rows = np.array([dn.qubo.qubo_vector(table, graph, dn.PAPER) for graph in graphs])
        self.occurrences = occurrences or [1] * len(graphs)

    def sample(self, bqm):
        return dimod.SampleSet.from_samples_bqm((self.rows, bqm.variables), bqm, num_occurrences=self.occurrences)


def test_a_slightly_lower_score_is_not_optimal_with_two_billion_rows():
    codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    weights = [500_000_000, 500_000_000, 500_000_000, 500_000_000 + 200_000]
    data = dn.Dataset.from_codes(["a", "b"], [["0", "1"], ["0", "1"]], codes, np.array(weights))
    table = dn.scoring.score_table(data)
    gain = table.local("b", ["a"]) - table.local("b")
    empty = nx.empty_graph(["a", "b"], create_using=nx.DiGraph)
    edge = nx.DiGraph([("a", "b")])
    worse, better = (empty, edge) if gain > 0 else (edge, empty)
    assert 0.05 < abs(gain) < 20
    solution = dn.solvers.anneal(table, FixedSampler([worse], table), repair=False, encoding=dn.PAPER)
    assert not solution.optimal
    assert solution.reads.raw.optimum_hits == 0
    assert dn.solvers.anneal(table, FixedSampler([better], table), repair=False, encoding=dn.PAPER).optimal


def test_summary_of_known_reads():
    table = dn.scoring.score_table(dn.load("lung-cancer").expected_data(10_000))
    best = dn.solvers.exact(table).dag
    empty = nx.empty_graph(best.nodes, create_using=nx.DiGraph)
    sampler = FixedSampler([empty, best, empty], table, occurrences=[5, 2, 1])
    sampler.rows[2, :4] = 1  # Pollution is a parent of all others: a DAG, but with wrong slack
    sampler.rows[0, [0, 4]] = 1  # Pollution and Smoker are parents of each other
    summary = dn.solvers.anneal(table, sampler, repair=False, encoding=dn.PAPER).reads
    assert summary.reads == 8
    assert summary.feasible == pytest.approx(3 / 8)
    assert summary.lowest_energy == pytest.approx(-table.score(best))
    assert (summary.raw.hits, summary.raw.optimum_hits) == (2, 2)
    assert summary.repaired.hits >= 2


def test_baseline_is_the_best_of_as_many_random_orders_as_reads():
    table = random_table(6, 2, seed=3)
    solution = dn.solvers.anneal(table, SimulatedAnnealingSampler(), num_reads=37, num_sweeps=5, seed=11)
    orders = np.concatenate(list(random_orders(6, 37, seed=11)))
    assert solution.reads.baseline == score_orders(table, orders).max()
    assert solution.reads.baseline > score_orders(table, orders[:1]).max()


def test_failing_samplers_are_errors():
    class Failing(dimod.Sampler):
        parameters, properties = {}, {}

        def sample(self, bqm):
            raise RuntimeError("the annealer is warm")

    class Empty(dimod.Sampler):
        parameters, properties = {}, {}

        def sample(self, bqm):
            samples = np.empty((0, bqm.num_variables), dtype=np.int8)
            return dimod.SampleSet.from_samples((samples, bqm.variables), "BINARY", [])

    table = random_table(3, 2, seed=0)
    with pytest.raises(dn.InputError, match="Failing failed with no parameters: the annealer is warm"):
        dn.solvers.anneal(table, Failing())
    with pytest.raises(dn.InputError, match="Empty returned no reads"):
        dn.solvers.anneal(table, Empty())


def test_reads_survive_a_failing_exact_search(monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("dagneal.solvers.annealing.exact", fail)
    table = dn.scoring.score_table(dn.load("lung-cancer").expected_data(1000))
    with pytest.warns(SecondaryWarning, match="exact search for comparison failed: MemoryError"):
        solution = dn.solvers.anneal(table, SimulatedAnnealingSampler(), num_reads=5)
    assert solution.reads.reads == 5
    assert solution.reads.optimum is None
    assert not solution.optimal
