"""`learn` with each solver: strategy, limits and claims of optimality."""

import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from support.reference import random_data


def binary_data(n, seed=1):
    return random_data(n, 100, seed, arities=[2] * n)


def test_auto_uses_exact_search_for_few_variables():
    result = dn.learn(binary_data(8))
    assert (result.solver, result.optimal, result.division, result.max_parents) == ("exact", True, None, 4)


def test_auto_uses_the_anytime_search_for_more_variables():
    result = dn.learn(binary_data(24), seed=1)
    assert (result.solver, result.optimal, result.division) == ("search", False, None)
    assert result.search.locally_optimal
    assert result.bound.max_parents == 4


def test_auto_computes_no_bound_if_all_parent_sets_cost_too_much(monkeypatch):
    import importlib

    monkeypatch.setattr(importlib.import_module("dagneal.solvers.policy"), "COMPLETE_WORK", 1e4)
    monkeypatch.setattr(importlib.import_module("dagneal.search.anytime"), "MAX_COMPLETE_COST", 1e4)
    result = dn.learn(binary_data(24), seed=1)
    assert (result.solver, result.bound) == ("search", None)


def test_exact_search_raises_the_parent_limit_if_it_binds():
    generator = np.random.default_rng(1)
    codes = generator.integers(0, 2, (3_000, 7))
    codes[:, 6] = codes[:, :6].sum(axis=1) >= 3
    data = dn.read(codes, names=list("abcdefg"))
    result = dn.learn(data)
    assert result.optimal
    assert (result.max_parents, max(degree for _, degree in result.dag.in_degree)) == (6, 6)
    assert dn.learn(data, max_parents=4).max_parents == 4


def test_exact_search_and_its_limit():
    assert dn.learn(binary_data(8), dn.Exact()).optimal
    with pytest.raises(dn.InputError, match="at most 28 variables"):
        dn.learn(binary_data(29), dn.Exact(), max_parents=1)


def test_direct_sampler_solves_the_complete_qubo():
    solver = dn.Anneal(SimulatedAnnealingSampler(), num_reads=20, direct=True, encoding=dn.PAPER)
    result = dn.learn(binary_data(4), solver, seed=1)
    assert result.reads.qubo_variables == 26
    assert result.division is None
    assert result.max_parents == 2


def test_sampler_solves_subproblems_and_the_global_problem():
    result = dn.learn(binary_data(6), dn.Anneal(SimulatedAnnealingSampler(), num_reads=20), seed=1)
    assert (result.division.combine, result.division.size, result.division.subproblems) == ("conquer", 3, 20)
    assert result.division.solver == result.division.global_solver == "SimulatedAnnealingSampler"
    assert result.max_parents == 4
    assert result.reads.encoding == dn.TIGHT.name
    assert (
        result.reads.optimum == dn.solvers.exact(dn.scoring.score_table(binary_data(6), max_parents=4)).score
    )  # over all parents
    assert result.reads.raw is not None
    assert result.reads.baseline <= result.reads.optimum + 1e-9
    assert result.optimal == (abs(result.score - result.reads.optimum) < 1e-6)


def test_sampler_solves_two_variables_without_subproblems():
    result = dn.learn(binary_data(2), dn.Anneal(SimulatedAnnealingSampler(), num_reads=20), seed=1)
    assert result.division.global_solver == "SimulatedAnnealingSampler"
    assert "without subproblems" in result.division.skipped
    assert result.reads is not None


@pytest.mark.slow
def test_annealing_alone_finds_the_optimum_of_alarm():
    truth = dn.load("alarm-15")
    for seed in (1, 2):
        annealed = dn.Anneal(SimulatedAnnealingSampler(), num_reads=200)
        solver = dn.Divide(annealed, subproblem_parameters={"num_reads": 20})
        result = dn.learn(truth.sample(10_000, seed), solver, seed=seed)
        assert dn.compare(result.dag, truth.dag).cpdag_shd == 0
        assert result.optimal
        assert result.reads.qubo_variables <= 140


@pytest.mark.parametrize("rule", ["penalty", "count", "conquer"])
def test_divide_uses_the_sampler_with_every_rule(rule):
    annealed = dn.Anneal(SimulatedAnnealingSampler(), num_reads=5, parameters={"num_sweeps": 50})
    result = dn.learn(binary_data(5), dn.Divide(annealed, size=3, combine=rule), seed=1)
    assert (result.division.combine, result.division.subproblems) == (rule, 10)
    assert result.division.solver == "SimulatedAnnealingSampler"
    assert result.division.global_solver == ("SimulatedAnnealingSampler" if rule == "conquer" else None)


def test_exhaustive_search():
    assert dn.learn(binary_data(5), dn.Exhaustive()).solver == "exhaustive"
