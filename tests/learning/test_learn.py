"""`learn`: arguments, limits and claims of optimality."""

import pytest
from dwave.samplers import (
    SimulatedAnnealingSampler,
    TreeDecompositionSolver,
)

import dagneal as dn
from support.reference import random_data


def test_learn_finds_the_true_network(tmp_path):
    truth = dn.load("lung-cancer")
    result = dn.learn(truth.sample(10_000, seed=7), seed=7)
    assert set(result.edges) == set(truth.dag.edges)
    assert result.optimal
    assert result.network.cpts["Smoker"] == pytest.approx([0.7, 0.3], abs=0.02)
    annealed = dn.learn(truth.sample(10_000, seed=7), dn.Anneal(SimulatedAnnealingSampler(), num_reads=100), seed=7)
    assert annealed.score == pytest.approx(result.score)
    assert annealed.seed == 7
    assert result.seed == 7
    assert dn.learn(truth.sample(100, seed=7), dn.Exhaustive(), max_parents=1, score=dn.BIC()).score_name == "BIC"
    for invalid in (["exact"], 7):
        with pytest.raises(dn.InputError, match="give a solver such as"):
            dn.learn(truth.sample(100, seed=1), invalid)
    with pytest.raises(dn.InputError, match="has no seed parameter"):
        dn.learn(truth.sample(100, seed=1), TreeDecompositionSolver(), seed=1)


def test_solver_settings_are_not_arguments_of_learn():
    with pytest.raises(dn.InputError, match="num_reads is a setting of a solver"):
        dn.learn(random_data(4, 30, seed=1), num_reads=2)


def test_optimal_is_false_without_a_proof(monkeypatch):
    import importlib

    for module in ("solvers.annealing", "divide.division"):
        monkeypatch.setattr(importlib.import_module(f"dagneal.{module}"), "EXACT_FOR_COMPARISON", 3)
    for direct in (True, False):
        data = random_data(4, 30, seed=1)
        result = dn.learn(data, dn.Anneal(SimulatedAnnealingSampler(), num_reads=100, direct=direct), seed=1)
        assert not result.optimal
        assert result.reads.optimum is None
        assert result.reads.repaired.optimum_hits is None


def test_exhaustive_search_reports_its_variable_limit():
    data = random_data(70, 50, 1)
    with pytest.raises(dn.InputError, match="exhaustive search supports at most 5 variables, not 70"):
        dn.learn(data, solver="exhaustive")


def test_solver_that_returns_no_solution_is_reported():
    class Integer:
        def solve(self, problem, run):
            return 3

    with pytest.raises(dn.InputError, match="Integer returned int; a solver must return a Solution"):
        dn.learn(random_data(3, 50, 1), Integer())
