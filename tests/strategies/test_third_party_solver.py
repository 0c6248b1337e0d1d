"""A solver that is not ours, wherever ours work: in `learn`, inside a division, in a bootstrap, with a journal."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import networkx as nx
import numpy as np
import pytest

import dagneal as dn


@dataclass(frozen=True)
class RandomOrders:
    """The best of some random orders of the variables."""

    count: int = 100

    def solve(self, problem, run):
        table = problem.table(max_parents=2)
        orders = next(dn.scoring.random_orders(len(table.names), self.count, run.seed, required=table.required))
        best = orders[np.argmax(dn.scoring.score_orders(table, orders))]
        dag = dn.scoring.dag_of_order(table, best)
        return dn.Solution(dag, table.score(dag), table.max_parents, solver="random orders", seed=run.seed)


@dataclass(frozen=True)
class Counted(RandomOrders):
    """The same, which counts its calls."""

    def solve(self, problem, run):
        CALLS.append(problem.names)
        return super().solve(problem, run)


CALLS: list[tuple[str, ...]] = []


@pytest.fixture(scope="module")
def data():
    return dn.load("lung-cancer").sample(2_000, 1)


def test_it_is_a_solver(data):
    assert isinstance(RandomOrders(), dn.Solver)
    found = dn.learn(data, RandomOrders(), seed=7)
    assert found.solver == "random orders"
    assert found.seed == 7
    assert found.max_parents == 2
    assert not found.optimal
    assert found.score == pytest.approx(dn.scoring.Scorer(data).score(found.dag), rel=1e-12)
    assert found.score == pytest.approx(dn.learn(data, dn.Exact(), max_parents=2).score)  # 100 of 120 orders
    assert found.network.dag.edges == found.dag.edges
    one, other = (dn.learn(data, RandomOrders(1), seed=seed).score for seed in (1, 2))
    assert one != other


def test_the_limit_of_the_problem_comes_first(data):
    found = dn.learn(data, RandomOrders(), max_parents=1)
    assert found.max_parents == 1
    assert max(degree for _, degree in found.dag.in_degree) <= 1


@pytest.mark.parametrize("combine", ["conquer", "penalty", "count"])
def test_inside_a_division(data, combine):
    found = dn.learn(data, dn.Divide(RandomOrders(), size=3, combine=combine), seed=3)
    assert found.division.solver == "RandomOrders"
    assert (found.division.finished, found.division.failed) == (10, {})
    assert found.division.global_solver == ("exact" if combine == "conquer" else None)
    exact = dn.learn(data, dn.Divide(dn.Exact(), size=3, combine=combine), seed=3)
    ours, exacts = (each.division.votes + each.division.votes.T for each in (found, exact))
    assert np.array_equal(ours, exacts)  # a hundred orders of three variables leave none out
    if combine == "conquer":
        assert found.score == pytest.approx(exact.score)


@pytest.mark.slow
def test_in_other_processes(data):
    """It is pickled with the tasks, but not the journal and the executor of the run."""
    solver = dn.Divide(RandomOrders(), size=3, combine="penalty")
    here = dn.learn(data, solver, seed=3)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        there = dn.learn(data, solver, run=dn.Run(3, executor=pool))
    assert not there.division.failed
    assert np.array_equal(here.division.votes, there.division.votes)


def test_in_a_bootstrap(data):
    found = dn.bootstrap(data, 5, RandomOrders())
    assert found.samples == 5
    assert found.of("Cancer", "Xray")[0] == 1.0
    again = dn.learn(data).bootstrap(5, RandomOrders())
    assert np.array_equal(again.directions, dn.bootstrap(data, 5, RandomOrders(), max_parents=4).directions)


def test_with_a_journal(data, tmp_path):
    solver = dn.Divide(Counted(), size=3, combine="penalty")
    expected = dn.learn(data, dn.Divide(RandomOrders(), size=3, combine="penalty"), seed=3)
    calls = []
    for _ in range(2):
        CALLS.clear()
        with dn.Run(3, journal=tmp_path / "run.db") as run:
            found = dn.learn(data, solver, run=run)
        assert np.array_equal(found.division.votes, expected.division.votes)
        calls.append(len(CALLS))
    assert calls == [10, 0]
    with dn.Run(3, journal=tmp_path / "run.db") as run:  # other settings make another solver
        dn.learn(data, dn.Divide(Counted(count=99), size=3, combine="penalty"), run=run)
    assert len(CALLS) == 10
    CALLS.clear()
    for samples, new in ((4, 4), (6, 2)):
        with dn.Run(3, journal=tmp_path / "samples.db") as run:
            assert dn.bootstrap(data, samples, Counted(), run=run).samples == samples
        assert len(CALLS) == new
        CALLS.clear()


def test_knowledge_is_part_of_the_table(data):
    known = {"required": ["Xray -> Cancer"], "forbidden": ["Smoker -> Cancer"], "roots": ["Smoker"]}
    found = dn.learn(data, RandomOrders(), knowledge=known)
    assert ("Xray", "Cancer") in found.edges
    assert ("Smoker", "Cancer") not in found.edges
    assert not list(found.dag.predecessors("Smoker"))
    assert nx.is_directed_acyclic_graph(found.dag)


def test_what_is_no_solver_is_refused(data):
    with pytest.raises(dn.InputError, match=r"solver is the class RandomOrders; give an instance: RandomOrders\(\)"):
        dn.learn(data, RandomOrders)
    with pytest.raises(dn.InputError, match="solver is function; give a solver such as"):
        dn.learn(data, dn.solvers.exact)
