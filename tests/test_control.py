"""Control: a time limit, a network to begin with."""

import json
import time

import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal.cli import main


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
    return dn.Dataset.merged([f"{name} {part}" for part in "ab" for name in truth.names], states, np.vstack(rows))


def test_the_search_ends_when_time_is_over(wide):
    dn.learn(wide)  # compiled
    begun = time.perf_counter()
    whole = dn.learn(wide)
    usual = time.perf_counter() - begun
    begun = time.perf_counter()
    quick = dn.learn(wide, time_limit=1e-6)
    assert time.perf_counter() - begun < usual + 1.0
    assert nx.is_directed_acyclic_graph(quick.dag)
    assert quick.score <= whole.score + 1e-9
    assert not quick.optimal
    assert dn.learn(wide, time_limit=600.0).score >= quick.score


def test_a_limit_that_ends_the_conquest_is_told(wide):
    sampler = SimulatedAnnealingSampler()
    options = {"solver": sampler, "num_reads": 2, "num_sweeps": 5, "seed": 1}
    found = dn.learn(wide, time_limit=1e-6, **options)
    assert found.division.rounds == 1
    full = dn.learn(wide, **options)
    assert full.division.rounds == 1 or "time limit" in found.division.skipped


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf")])
def test_limits_that_are_none(wide, limit):
    with pytest.raises(dn.InputError, match="time_limit is"):
        dn.learn(wide, time_limit=limit)


def test_what_is_begun_with_is_not_lost(wide):
    best = dn.learn(wide)
    scorer = dn.Scorer(wide)
    for options in ({}, {"solver": dn.order, "rounds": 0}, {"divide": 3}):
        found = (
            dn.learn(wide, 4, start=best.dag, **options)
            if options != {"divide": 3}
            else dn.learn(wide, 4, divide=3, start=best.dag)
        )
        assert found.score >= best.score - 1e-6
        assert scorer.score(found.dag) == pytest.approx(found.score)


def test_starts_that_are_none(wide):
    data = dn.load("lung-cancer").expected(1_000)
    with pytest.raises(dn.InputError):
        dn.learn(data, start=nx.DiGraph([("a", "b")]))
    cycle = nx.DiGraph([("Smoker", "Cancer"), ("Cancer", "Smoker")])
    cycle.add_nodes_from(data.names)
    with pytest.raises(dn.InputError):
        dn.learn(data, start=cycle)
    truth = dn.load("lung-cancer").dag
    with pytest.raises(dn.InputError, match="start is for"):
        dn.learn(data, start=truth, solver=SimulatedAnnealingSampler(), direct=True)
    assert dn.learn(data, start=truth).optimal


def test_control_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["sample", "lung-cancer", "--rows", "1000", "-o", "lc.csv"]) == 0
    capsys.readouterr()
    assert main(["learn", "lc.csv", "--start", "lung-cancer", "--time-limit", "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["optimal"]
    assert main(["learn", "lc.csv", "--start", "waste"]) == 2
    assert main(["learn", "lc.csv", "--time-limit", "0"]) == 2
    assert "time_limit is 0.0" in capsys.readouterr().err
