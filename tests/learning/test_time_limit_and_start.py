"""Time limits, the bound on the score and the initial network of `learn`."""

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
    """Thirty variables, too many for exact search: two copies of alarm-15 side by side, the second of other rows."""
    truth = dn.load("alarm-15")
    rows = []
    for seed in (1, 2):
        data = truth.sample(1_000, seed)
        codes = np.repeat(data.codes, data.weights, axis=1)
        rows.append(codes[:, np.random.default_rng(seed).permutation(1_000)])
    states = [*truth.states.values()] * 2
    return dn.Dataset.from_codes([f"{name} {part}" for part in "ab" for name in truth.names], states, np.vstack(rows))


def test_the_search_ends_when_time_is_over(wide, monkeypatch):
    looks = []  # at the clock: one before each further part of an ordering search
    monkeypatch.setattr(import_module("dagneal.runtime.run"), "perf_counter", lambda: looks.append(1) or time.perf_counter())
    whole = dn.learn(wide, time_limit=3600.0)
    usual = len(looks)
    looks.clear()
    quick = dn.learn(wide, time_limit=1e-6)
    assert len(looks) < usual / 4
    assert quick.division.rounds == 1
    assert nx.is_directed_acyclic_graph(quick.dag)
    assert quick.score <= whole.score + 1e-9
    assert not quick.optimal


def test_a_limit_that_ends_the_conquest_is_told(wide):
    sampler = SimulatedAnnealingSampler()
    solver = dn.Divide(dn.Anneal(sampler, num_reads=2, parameters={"num_sweeps": 5}), subproblems="cover:2")
    found = dn.learn(wide, solver, seed=1, time_limit=1e-6)
    assert found.division.rounds == 1
    full = dn.learn(wide, solver, seed=1)
    assert full.division.rounds == 1 or "time limit" in found.division.skipped


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf")])
def test_limits_that_are_none(wide, limit):
    with pytest.raises(dn.InputError, match="time_limit is"):
        dn.learn(wide, time_limit=limit)


@pytest.mark.slow
def test_what_is_begun_with_is_not_lost(wide):
    best = dn.learn(wide)
    scorer = dn.scoring.Scorer(wide)
    for solver in (dn.Auto(), dn.OrderSearch(rounds=0), dn.Divide(size=3)):
        found = dn.learn(wide, solver, max_parents=4, initial=best.dag)
        assert found.score >= best.score - 1e-6
        assert scorer.score(found.dag) == pytest.approx(found.score)


def test_starts_that_are_none(wide):
    data = dn.load("lung-cancer").expected(1_000)
    with pytest.raises(dn.InputError):
        dn.learn(data, initial=nx.DiGraph([("a", "b")]))
    cycle = nx.DiGraph([("Smoker", "Cancer"), ("Cancer", "Smoker")])
    cycle.add_nodes_from(data.names)
    with pytest.raises(dn.InputError):
        dn.learn(data, initial=cycle)
    truth = dn.load("lung-cancer").dag
    with pytest.raises(dn.InputError, match="initial is given, but this solver does not start from a network; leave it out"):
        dn.learn(data, dn.Anneal(SimulatedAnnealingSampler(), direct=True), initial=truth)
    assert dn.learn(data, initial=truth).optimal


def test_a_bound_is_told_and_holds(wide):
    found = dn.learn(wide, max_parents=3)
    assert found.bound.max_parents == 3
    assert found.score <= found.bound.score + 1e-6
    assert dn.learn(wide, dn.Auto(bound=False), max_parents=3).bound is None
    assert found.to_dict()["bound"] == {"score": found.bound.score, "max_parents": 3}
    solver = dn.Anneal(SimulatedAnnealingSampler(), num_reads=2, direct=True, parameters={"num_sweeps": 5})
    annealed = dn.learn(wide, solver, max_parents=2, seed=1)
    assert annealed.score <= annealed.bound.score


def test_a_time_limit_ends_the_blocks_of_a_sampler(wide):
    solver = dn.Anneal(SimulatedAnnealingSampler(), num_reads=2, parameters={"num_sweeps": 5})
    found = dn.learn(wide, solver, seed=1, time_limit=1e-6)
    division = found.division
    assert 0 < division.finished < division.subproblems
    assert f"the time limit left {division.subproblems - division.finished:,} subproblems unsolved" in division.skipped
    with pytest.raises(dn.InputError, match="cannot be cut short"):
        dn.learn(wide, dn.Anneal(SimulatedAnnealingSampler(), direct=True), time_limit=1.0)
    found = dn.learn(wide, dn.OrderSearch(rounds=10**9), max_parents=2, time_limit=0.2)  # all rounds would take days
    assert not found.optimal


@pytest.fixture
def strict(monkeypatch):
    """Counting stops at a deadline even if it would take a moment only."""
    monkeypatch.setattr(counts, "_SOON", 10_000)


@pytest.mark.parametrize("solver", [None, dn.Exact(), dn.OrderSearch()])
def test_a_limit_that_leaves_no_time_gives_a_network_all_the_same(strict, monkeypatch, solver):
    data = random_data(14, 300, 2)
    required = [("v0", "v5"), ("v1", "v5"), ("v5", "v2")]
    known = Knowledge(required=required, forbidden=[("v3", "v4")], roots=["v7"])
    found = dn.learn(data, solver, knowledge=known, time_limit=1e-9)
    assert set(required) <= set(found.edges)
    assert "time limit" in found.division.skipped
    assert not found.optimal
    assert found.score == pytest.approx(Scorer(data).score(found.dag))
    # The pairs are counted in time, the tables are not.
    counted = Counter.sums
    calls = []

    def sums(self, members, *rest):
        calls.append(len(members))
        self.run = dn.Run(deadline=NEVER if len(calls) == 1 else dn.Deadline(0.0))
        return counted(self, members, *rest)

    monkeypatch.setattr(Counter, "sums", sums)
    found = dn.learn(data, solver, knowledge=known, time_limit=1e6)
    assert set(required) < set(found.edges)
    assert not set(found.dag.predecessors("v7"))
    assert "larger sets of parents" in found.division.skipped
