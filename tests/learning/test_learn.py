"""`learn`: its arguments, its limits and its claims of optimality."""

import pytest
from dwave.samplers import (
    SimulatedAnnealingSampler,
    TreeDecompositionSolver,
)

import dagneal as dn
from support.reference import random_data


def test_learn_in_one_call(tmp_path):
    truth = dn.load("lung-cancer")
    found = dn.learn(truth.sample(10_000, seed=7), seed=7)
    assert set(found.edges) == set(truth.dag.edges)
    assert found.optimal
    assert found.network.cpts["Smoker"] == pytest.approx([0.7, 0.3], abs=0.02)
    annealed = dn.learn(truth.sample(10_000, seed=7), dn.Anneal(SimulatedAnnealingSampler(), num_reads=100), seed=7)
    assert annealed.score == pytest.approx(found.score)
    assert annealed.seed == 7
    assert found.seed == 7
    assert dn.learn(truth.sample(100, seed=7), dn.Exhaustive(), max_parents=1, score=dn.BIC()).score_name == "BIC"
    for bad in (["exact"], 7):
        with pytest.raises(dn.InputError, match="give a solver such as"):
            dn.learn(truth.sample(100, seed=1), bad)
    with pytest.raises(dn.InputError, match="takes no seed"):
        dn.learn(truth.sample(100, seed=1), TreeDecompositionSolver(), seed=1)


def test_parameters_need_a_solver():
    with pytest.raises(dn.InputError, match="num_reads is a setting of a solver"):
        dn.learn(random_data(4, 30, seed=1), num_reads=2)


def test_nothing_is_optimal_without_a_proof(monkeypatch):
    import importlib

    for module in ("solvers.annealing", "divide.division"):
        monkeypatch.setattr(importlib.import_module(f"dagneal.{module}"), "EXACT_BESIDE", 3)
    for direct in (True, False):
        data = random_data(4, 30, seed=1)
        found = dn.learn(data, dn.Anneal(SimulatedAnnealingSampler(), num_reads=100, direct=direct), seed=1)
        assert not found.optimal
        assert found.reads.optimum is None
        assert found.reads.repaired.optimum_hits is None


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        ("exact", "exact search takes at most 28 variables, not 70"),
        ("order", "order search takes at most 65 variables, not 70"),
        ("exhaustive", "exhaustive search takes at most 5 variables, not 70"),
        ("sa", "SimulatedAnnealingSampler takes at most 65 variables, not 70"),
    ],
)
def test_each_solver_names_its_own_limit(solver, message):
    data = random_data(70, 50, 1)
    with pytest.raises(dn.InputError, match=message):
        dn.learn(data, solver=solver)


def test_a_solver_that_returns_no_network_is_named():
    class Three:
        def solve(self, problem, run):
            return 3

    with pytest.raises(dn.InputError, match="Three returned int; a solver returns a Solution"):
        dn.learn(random_data(3, 50, 1), Three())
