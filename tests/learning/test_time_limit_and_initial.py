"""Time limits, upper bounds and initial DAGs of `learn`."""

import time
from importlib import import_module

import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal.graphs.knowledge import Knowledge
from dagneal.runtime.run import NEVER
from dagneal.scoring.counting import counter as counts
from dagneal.scoring.counting.counter import Counter
from dagneal.scoring.scorer import Scorer
from support.reference import random_data


@pytest.fixture(scope="module")
def wide():
    """Two independent samples of alarm-15 side by side: 30 variables, too many for exact search."""
    truth = dn.load("alarm-15")
    rows = []
    for seed in (1, 2):
        data = truth.sample(1_000, seed)
        codes = np.repeat(data.codes, data.weights, axis=1)
        rows.append(codes[:, np.random.default_rng(seed).permutation(1_000)])
    states = [*truth.states.values()] * 2
    return dn.Dataset.from_codes([f"{name} {part}" for part in "ab" for name in truth.names], states, np.vstack(rows))


def test_search_stops_at_the_time_limit(wide, monkeypatch):
    clock_reads = []  # one entry before each step of the search
    monkeypatch.setattr(
        import_module("dagneal.runtime.run"), "perf_counter", lambda: clock_reads.append(1) or time.perf_counter()
    )
    complete = dn.learn(wide, time_limit=3600.0)
    usual = len(clock_reads)
    clock_reads.clear()
    quick = dn.learn(wide, time_limit=1e-6)
    assert len(clock_reads) < usual / 4
    assert nx.is_directed_acyclic_graph(quick.dag)
    assert quick.score <= complete.score + 1e-9
    assert not quick.optimal


def test_time_limit_of_the_candidate_search_is_reported(wide):
    sampler = SimulatedAnnealingSampler()
    solver = dn.Divide(dn.Anneal(sampler, num_reads=2, parameters={"num_sweeps": 5}), subproblems="cover:2")
    result = dn.learn(wide, solver, seed=1, time_limit=1e-6)
    assert result.division.global_solves == 1
    full = dn.learn(wide, solver, seed=1)
    assert full.division.global_solves == 1 or "time limit" in result.division.skipped


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf")])
def test_invalid_time_limits_are_rejected(wide, limit):
    with pytest.raises(dn.InputError, match="time_limit is"):
        dn.learn(wide, time_limit=limit)


@pytest.mark.slow
def test_result_is_at_least_as_good_as_the_initial_dag(wide):
    best = dn.learn(wide)
    scorer = dn.scoring.Scorer(wide)
    for solver in (dn.Auto(), dn.OrderSearch(restarts=0), dn.Divide(size=3)):
        result = dn.learn(wide, solver, max_parents=4, initial=best.dag)
        assert result.score >= best.score - 1e-6
        assert scorer.score(result.dag) == pytest.approx(result.score)


def test_invalid_initial_dags_are_rejected(wide):
    data = dn.load("lung-cancer").expected_data(1_000)
    with pytest.raises(dn.InputError):
        dn.learn(data, initial=nx.DiGraph([("a", "b")]))
    cycle = nx.DiGraph([("Smoker", "Cancer"), ("Cancer", "Smoker")])
    cycle.add_nodes_from(data.names)
    with pytest.raises(dn.InputError):
        dn.learn(data, initial=cycle)
    truth = dn.load("lung-cancer").dag
    with pytest.raises(dn.InputError, match="this solver cannot start from an initial DAG; remove initial="):
        dn.learn(data, dn.Anneal(SimulatedAnnealingSampler(), direct=True), initial=truth)
    assert dn.learn(data, initial=truth).optimal


def test_upper_bound_is_valid_and_stored(wide):
    result = dn.learn(wide, dn.Auto(prove=1e-6), max_parents=3)
    assert result.bound.max_parents == 3
    assert result.score <= result.bound.score + 1e-6
    assert dn.learn(wide, dn.Auto(prove=False), max_parents=3).bound is None
    assert result.to_dict()["bound"] == {"score": result.bound.score, "max_parents": 3, "stopped": "time"}
    solver = dn.Anneal(SimulatedAnnealingSampler(), num_reads=2, direct=True, parameters={"num_sweeps": 5})
    annealed = dn.learn(wide, solver, max_parents=2, seed=1)
    assert annealed.score <= annealed.bound.score


def test_time_limit_stops_the_subproblems_of_a_sampler(wide):
    solver = dn.Anneal(SimulatedAnnealingSampler(), num_reads=2, parameters={"num_sweeps": 5})
    result = dn.learn(wide, solver, seed=1, time_limit=1e-6)
    division = result.division
    assert 0 < division.finished < division.subproblems
    assert f"{division.subproblems - division.finished:,} subproblems, because of the time limit" in division.skipped
    with pytest.raises(dn.InputError, match="cannot obey a time limit"):
        dn.learn(wide, dn.Anneal(SimulatedAnnealingSampler(), direct=True), time_limit=1.0)
    result = dn.learn(wide, dn.OrderSearch(restarts=10**9), max_parents=2, time_limit=0.2)  # all restarts would take days
    assert not result.optimal


@pytest.fixture
def strict(monkeypatch):
    """Make counting stop at a deadline even for small tasks."""
    monkeypatch.setattr(counts, "_DEADLINE_WORK", 10_000)


@pytest.mark.parametrize("solver", [None, dn.Exact(), dn.OrderSearch()])
def test_very_short_time_limit_still_gives_a_network(strict, monkeypatch, solver):
    data = random_data(14, 300, 2)
    required = [("v0", "v5"), ("v1", "v5"), ("v5", "v2")]
    knowledge = Knowledge(required=required, forbidden=[("v3", "v4")], roots=["v7"])
    result = dn.learn(data, solver, knowledge=knowledge, time_limit=1e-9)
    assert set(required) <= set(result.edges)
    assert "time limit" in result.division.skipped
    assert not result.optimal
    assert result.score == pytest.approx(Scorer(data).score(result.dag))
    # Now pairs are counted in time, but larger parent sets are not.
    counted = Counter.sums
    calls = []

    def sums(self, members, *rest):
        calls.append(len(members))
        self.run = dn.Run(deadline=NEVER if len(calls) == 1 else dn.Deadline(0.0))
        return counted(self, members, *rest)

    monkeypatch.setattr(Counter, "sums", sums)
    result = dn.learn(data, solver, knowledge=knowledge, time_limit=1e6)
    assert set(required) < set(result.edges)
    assert not set(result.dag.predecessors("v7"))
    if solver is None:
        assert result.search.stopped == "time"
    else:
        assert "larger parent sets" in result.division.skipped
