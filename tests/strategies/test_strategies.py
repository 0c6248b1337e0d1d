"""What `learn` does, by solver and strategy."""

from math import comb

import pytest
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from support.reference import random_data

# What `learn` does, by solver and strategy: one test per cell of the design's table.


def data_of(n, seed=1):
    return random_data(n, 100, seed, arities=[2] * n)


def test_learn_auto_is_exact_where_that_takes_seconds():
    found = dn.learn(data_of(8))
    assert (found.solver, found.optimal, found.division, found.max_parents) == ("exact", True, None, 4)


def test_learn_auto_is_the_conquest_beyond():
    found = dn.learn(data_of(24), seed=1)
    assert (found.solver, found.optimal, found.division.global_solver) == ("conquer", False, "order")
    assert found.division.scheme == "all sets of at most 3 parents"


def test_learn_auto_takes_triples_where_all_sets_cost_too_much(monkeypatch):
    import importlib

    monkeypatch.setattr(importlib.import_module("dagneal.solvers.policy"), "COMPLETE_WORK", 1e4)
    found = dn.learn(data_of(24), seed=1)
    assert (found.division.size, found.division.scheme, found.division.subproblems) == (3, "all", comb(24, 3))


def test_learn_exact():
    assert dn.learn(data_of(8), dn.Exact()).optimal
    with pytest.raises(dn.InputError, match="at most 28 variables"):
        dn.learn(data_of(29), dn.Exact(), max_parents=1)


def test_learn_directly_with_a_sampler_solves_the_whole_qubo():
    solver = dn.Anneal(SimulatedAnnealingSampler(), num_reads=20, direct=True, encoding=dn.PAPER)
    found = dn.learn(data_of(4), solver, seed=1)
    assert found.reads.bits == 26
    assert found.division is None
    assert found.max_parents == 2


def test_learn_with_a_sampler_solves_blocks_and_the_whole_with_it():
    found = dn.learn(data_of(6), dn.Anneal(SimulatedAnnealingSampler(), num_reads=20), seed=1)
    assert (found.division.combine, found.division.size, found.division.subproblems) == ("conquer", 3, 20)
    assert found.division.solver == found.division.global_solver == "SimulatedAnnealingSampler"
    assert found.max_parents == 4
    assert found.reads.encoding == dn.TIGHT.name
    assert (
        found.reads.optimum == dn.solvers.exact(dn.scoring.score_table(data_of(6), max_parents=4)).score
    )  # over all parents
    assert found.reads.raw is not None
    assert found.reads.baseline <= found.reads.optimum + 1e-9
    assert found.optimal == (abs(found.score - found.reads.optimum) < 1e-6)


def test_two_variables_are_solved_by_the_sampler_too():
    found = dn.learn(data_of(2), dn.Anneal(SimulatedAnnealingSampler(), num_reads=20), seed=1)
    assert found.division.global_solver == "SimulatedAnnealingSampler"
    assert "solved directly" in found.division.skipped
    assert found.reads is not None


@pytest.mark.slow
def test_the_whole_pipeline_by_annealing_alone():
    truth = dn.load("alarm-15")
    for seed in (1, 2):
        annealed = dn.Anneal(SimulatedAnnealingSampler(), num_reads=200)
        solver = dn.Divide(annealed, subproblem_parameters={"num_reads": 20})
        found = dn.learn(truth.sample(10_000, seed), solver, seed=seed)
        assert dn.compare(found.dag, truth.dag).cpdag_shd == 0
        assert found.optimal
        assert found.reads.bits <= 140


@pytest.mark.parametrize("rule", ["penalty", "count", "conquer"])
def test_learn_divided(rule):
    annealed = dn.Anneal(SimulatedAnnealingSampler(), num_reads=5, parameters={"num_sweeps": 50})
    found = dn.learn(data_of(5), dn.Divide(annealed, size=3, combine=rule), seed=1)
    assert (found.division.combine, found.division.subproblems) == (rule, 10)
    assert found.division.solver == "SimulatedAnnealingSampler"
    assert found.division.global_solver == ("SimulatedAnnealingSampler" if rule == "conquer" else None)


def test_learn_exhaustive():
    assert dn.learn(data_of(5), dn.Exhaustive()).solver == "exhaustive"
