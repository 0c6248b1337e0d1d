"""`learn` with each solver: strategy, limits and claims of optimality."""

import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal.base.errors import OutOfTimeError
from dagneal.report.summary import summary_lines
from dagneal.search import anytime
from dagneal.strategies import classical, proving
from support.reference import random_data


def binary_data(n, seed=1):
    return random_data(n, 100, seed, arities=[2] * n)


def test_auto_uses_exact_search_for_few_variables():
    result = dn.learn(binary_data(8))
    assert (result.solver, result.optimal, result.division, result.max_parents) == ("exact", True, None, 7)


def test_auto_uses_the_anytime_search_for_more_variables():
    result = dn.learn(binary_data(24), seed=1)
    assert (result.solver, result.optimal, result.division) == ("search", True, None)
    assert result.search.locally_optimal
    assert result.max_parents == 4


def test_auto_computes_no_bound_if_all_parent_sets_cost_too_much(monkeypatch):
    monkeypatch.setattr(anytime, "MAX_COMPLETE_COST", 1e3)
    monkeypatch.setattr(proving, "MAX_COMPLETE_COST", 1e3)
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


@pytest.mark.parametrize(("n", "limit"), [(8, 4), (21, 2), (30, 3)])
def test_exact_search_by_dynamic_programming_and_by_branch_and_cut(n, limit):
    data = binary_data(n)
    result = dn.learn(data, dn.Exact(), max_parents=limit)
    assert (result.solver, result.optimal, result.max_parents) == ("exact", True, limit)
    assert list(result.seconds) == (["score", "solve"] if n <= 20 else ["search", "score", "proof"])
    if n <= 21:
        assert result.score == pytest.approx(dn.solvers.exact(dn.scoring.score_table(data, max_parents=limit)).score)
    else:
        assert result.score >= dn.learn(data, max_parents=limit).score - 1e-6


def test_exact_search_returns_to_dynamic_programming(monkeypatch):
    """If branch and cut takes longer than expected, dynamic programming finds the optimum."""
    monkeypatch.setattr(classical, "_SUBSET_WORK", 0.0)
    result = dn.learn(binary_data(21), dn.Exact(), max_parents=2)
    assert result.optimal
    assert list(result.seconds) == ["search", "score", "proof", "solve"]


def test_a_time_limit_ends_exact_search_with_a_gap():
    result = dn.learn(binary_data(30), dn.Exact(), max_parents=2, time_limit=1e-6)
    assert not result.optimal


def test_exact_search_of_a_table_with_many_variables():
    data = binary_data(30)
    table = dn.scoring.score_table(data, max_parents=2)
    result = dn.learn(table, dn.Exact())
    assert result.optimal
    assert result.score == pytest.approx(dn.learn(data, dn.Exact(), max_parents=2).score)


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), "yes", None])
def test_invalid_budgets_of_proofs_are_rejected(value):
    for solver in (dn.Auto, dn.OrderSearch):
        with pytest.raises(dn.InputError, match=r"prove is .*; give True, False, or a number of seconds above 0"):
            solver(prove=value)


def test_proofs_obey_background_knowledge():
    data = binary_data(24)
    free = dn.learn(data, max_parents=2)
    parent, child = free.edges[0]
    knowledge = {"forbidden": [[parent, child]], "required": [[data.names[5], data.names[9]]]}
    result = dn.learn(data, max_parents=2, knowledge=knowledge)
    assert result.optimal
    assert (data.names[5], data.names[9]) in result.edges
    assert (parent, child) not in result.edges
    order = dn.learn(data, dn.OrderSearch(prove=False), max_parents=2, knowledge=knowledge)
    assert result.score >= order.score - 1e-6
    assert result.score < free.score


def test_samplers_are_compared_with_a_proved_optimum_beyond_exact_search():
    data = binary_data(24)
    result = dn.learn(data, dn.Anneal(dn.SimulatedAnnealing(), num_reads=20), max_parents=2, seed=1)
    best = dn.learn(data, max_parents=2)
    assert result.reads.optimum == pytest.approx(best.score)
    assert result.optimal == (abs(result.score - best.score) < 1e-6)
    assert dn.learn(data, dn.Anneal(dn.SimulatedAnnealing(), 20, prove=False), max_parents=2).reads.optimum is None


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


@pytest.mark.parametrize(("error", "reason"), [(KeyboardInterrupt(), "interrupt"), (OutOfTimeError("late"), "time")])
def test_exact_search_returns_the_best_network_so_far_if_the_lists_take_too_long(monkeypatch, error, reason):
    data = binary_data(24)

    def fail(*_):
        raise error

    monkeypatch.setattr(classical, "complete_table", fail)
    result = dn.learn(data, dn.Exact(), max_parents=2)
    assert (result.solver, result.optimal, result.gap, result.search.stopped) == ("exact", False, None, reason)
    assert result.score == pytest.approx(dn.learn(data, dn.Auto(prove=False), max_parents=2).score)


def test_exact_search_with_scores_of_many_variables_needs_no_data():
    data = binary_data(24)
    table = dn.scoring.score_table(data, max_parents=2)
    result, expected = dn.learn(table, dn.Exact()), dn.learn(data, dn.Exact(), max_parents=2)
    assert (result.optimal, result.score) == (True, pytest.approx(expected.score))


def test_results_of_incomplete_scores_name_the_scores(tmp_path):
    path = tmp_path / "m.res"
    path.write_text("0: -10.5\n0: -8.0 (1)\n1: -9.0\n2: -5.5\n3: -1.0\n3: -0.5 (0,1,2)\n")
    result = dn.learn(path)
    proved = f"highest of all networks with the parent sets of {result.score_name} (proved)"
    assert any(line.endswith(proved) for line in summary_lines(result))
    result.save(tmp_path / "x.html")
    assert proved in (tmp_path / "x.html").read_text()
