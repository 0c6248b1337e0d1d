"""Proof attempts: first networks, limits, and missing or old libraries."""

from importlib.metadata import PackageNotFoundError

import networkx as nx
import numpy as np
import pytest

import dagneal as dn
from dagneal.base import machine
from dagneal.proofs import Families, attempt, check_proof, prove, relaxation
from dagneal.scoring.bounded import complete_table
from support.reference import random_data, random_table


def empty(table):
    return nx.empty_graph(table.names, create_using=nx.DiGraph)


@pytest.mark.parametrize("seed", range(6))
def test_any_first_network_leads_to_the_optimum(seed):
    table = random_table(9, 3, seed)
    best = dn.solvers.exact(table).score
    for initial in (None, empty(table), dn.solvers.exact(table).dag):
        result = prove(table, initial)
        assert (result.optimal, result.bound.stopped) == (True, "")
        assert result.score == pytest.approx(best, abs=1e-6)
        assert result.bound.score == result.score == pytest.approx(table.score(result.dag))


def test_larger_parent_sets_of_the_first_network_are_reduced():
    data = random_data(8, 200, 1)
    table = complete_table(dn.scoring.Scorer(data), 1)
    names = data.names
    large = nx.DiGraph([(parent, names[-1]) for parent in names[:-1]])
    assert prove(table, large).score == pytest.approx(dn.solvers.exact(dn.scoring.score_table(data, max_parents=1)).score)


def test_work_ends_an_attempt_at_the_same_place():
    table = complete_table(dn.scoring.Scorer(random_data(26, 300, 3)), 3)
    first, second = (prove(table, empty(table), work=1e5) for _ in range(2))
    assert first.bound == second.bound
    assert (first.bound.stopped, first.optimal) == ("effort", False)
    assert first.bound.score > first.score
    assert check_proof(first.proof, Families.of(table)) >= 0


def test_the_number_of_threads_does_not_change_the_proof():
    table = complete_table(dn.scoring.Scorer(random_data(26, 300, 3)), 3)
    results = []
    for jobs in (1, 2):
        with dn.limits(jobs=jobs):
            results.append(prove(table, empty(table)))
    first, second = results
    assert [step[1:] for step in first.trace] == [step[1:] for step in second.trace]
    assert first.dag.edges == second.dag.edges


def test_knowledge_that_requires_a_parent_is_obeyed():
    data = random_data(10, 200, 2)
    knowledge = {"required": [[data.names[3], data.names[1]], [data.names[4], data.names[1]]], "limits": {data.names[0]: 1}}
    scorer = dn.scoring.Scorer(data, knowledge=knowledge)
    result = prove(complete_table(scorer, 3))
    expected = dn.solvers.exact(scorer.table(3))
    assert result.score == pytest.approx(expected.score, abs=1e-6)
    assert {*result.dag.predecessors(data.names[1])} >= {data.names[3], data.names[4]}
    assert result.dag.in_degree(data.names[0]) <= 1


def test_missing_and_old_solvers_of_linear_programmes_are_reported(monkeypatch):
    def missing(_):
        raise PackageNotFoundError

    table = random_table(4, 2, 1)
    monkeypatch.setattr(attempt, "version", missing)
    with pytest.raises(dn.InputError, match=r"proofs need the package highspy; run pip install 'highspy>=1\.15'"):
        prove(table)
    monkeypatch.setattr(attempt, "version", lambda _: "1.9.0")
    with pytest.raises(dn.InputError, match=r"highspy 1\.9\.0 is too old for proofs; run pip install"):
        prove(table)


def test_too_little_memory_is_reported(monkeypatch):
    table = random_table(9, 3, 1)
    monkeypatch.setattr(machine, "memory_use", lambda: 10**9)
    message = r"a proof with [\d,]+ parent sets needs about .* or use a lower parent limit"
    with dn.limits(memory=10**9 + 10_000), pytest.raises(dn.InputError, match=message):
        prove(table, empty(table))


@pytest.mark.parametrize("seed", range(3))
def test_bounds_hold_for_any_multipliers(monkeypatch, seed):
    """A bound does not depend on the accuracy of HiGHS."""
    table = random_table(8, 3, seed)
    generator = np.random.default_rng(seed)
    solve = relaxation.Relaxation.solve

    def spoil(self):
        solve(self)
        self.multipliers = self.multipliers * generator.uniform(0.0, 2.0, len(self.multipliers))

    monkeypatch.setattr(relaxation.Relaxation, "solve", spoil)
    result = prove(table, empty(table), work=1e6)
    assert result.bound.score >= dn.solvers.exact(table).score - 1e-6
    check_proof(result.proof, Families.of(table))
