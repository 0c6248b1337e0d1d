"""Third-party solvers: in `learn`, inside a division, in a bootstrap and with a journal."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import networkx as nx
import numpy as np
import pytest

import dagneal as dn
from dagneal.strategies import solve
from support.reference import random_data


@dataclass(frozen=True)
class RandomOrders:
    """A solver that returns the best of some random orders."""

    count: int = 100

    def solve(self, problem, run):
        table = problem.table(max_parents=2)
        orders = next(dn.scoring.random_orders(len(table.names), self.count, run.seed, required=table.required))
        best = orders[np.argmax(dn.scoring.score_orders(table, orders))]
        dag = dn.scoring.dag_of_order(table, best)
        return dn.Solution(dag, table.score(dag), table.max_parents, solver="random orders", seed=run.seed)


@dataclass(frozen=True)
class Counted(RandomOrders):
    """A solver like `RandomOrders` that records its calls."""

    def solve(self, problem, run):
        CALLS.append(problem.names)
        return super().solve(problem, run)


CALLS: list[tuple[str, ...]] = []


@pytest.fixture(scope="module")
def data():
    return dn.load("lung-cancer").sample(2_000, 1)


def test_learn_with_a_third_party_solver(data):
    assert isinstance(RandomOrders(), dn.Solver)
    result = dn.learn(data, RandomOrders(), seed=7)
    assert result.solver == "random orders"
    assert result.seed == 7
    assert result.max_parents == 2
    assert not result.optimal
    assert result.score == pytest.approx(dn.scoring.Scorer(data).score(result.dag), rel=1e-12)
    assert result.score == pytest.approx(
        dn.learn(data, dn.Exact(), max_parents=2).score
    )  # 100 random orders of 5 variables suffice
    assert result.network.dag.edges == result.dag.edges
    first, second = (dn.learn(data, RandomOrders(1), seed=seed).score for seed in (1, 2))
    assert first != second


def test_requested_parent_limit_overrides_the_solver(data):
    result = dn.learn(data, RandomOrders(), max_parents=1)
    assert result.max_parents == 1
    assert max(degree for _, degree in result.dag.in_degree) <= 1


@pytest.mark.parametrize("combine", ["conquer", "penalty", "count"])
def test_third_party_solver_in_a_division(data, combine):
    result = dn.learn(data, dn.Divide(RandomOrders(), size=3, combine=combine), seed=3)
    assert result.division.solver == "RandomOrders"
    assert (result.division.finished, result.division.failed) == (10, {})
    assert result.division.global_solver == ("exact" if combine == "conquer" else None)
    exact = dn.learn(data, dn.Divide(dn.Exact(), size=3, combine=combine), seed=3)
    adjacent, expected = (each.division.votes + each.division.votes.T for each in (result, exact))
    assert np.array_equal(adjacent, expected)  # 100 random orders include all 6 orders of three variables
    if combine == "conquer":
        assert result.score == pytest.approx(exact.score)


@pytest.mark.slow
def test_third_party_solver_in_other_processes(data):
    """A solver is pickled with the tasks; journal and executor of the run are not."""
    solver = dn.Divide(RandomOrders(), size=3, combine="penalty")
    here = dn.learn(data, solver, seed=3)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        there = dn.learn(data, solver, run=dn.Run(3, executor=pool))
    assert not there.division.failed
    assert np.array_equal(here.division.votes, there.division.votes)


def test_third_party_solver_in_a_bootstrap(data):
    result = dn.bootstrap(data, 5, RandomOrders())
    assert result.samples == 5
    assert result.frequency("Cancer", "Xray")[0] == 1.0
    again = dn.learn(data).bootstrap(5, RandomOrders())
    assert np.array_equal(again.directions, result.directions)


def test_third_party_solver_with_a_journal(data, tmp_path):
    solver = dn.Divide(Counted(), size=3, combine="penalty")
    expected = dn.learn(data, dn.Divide(RandomOrders(), size=3, combine="penalty"), seed=3)
    calls = []
    for _ in range(2):
        CALLS.clear()
        with dn.Run(3, journal=tmp_path / "run.db") as run:
            result = dn.learn(data, solver, run=run)
        assert np.array_equal(result.division.votes, expected.division.votes)
        calls.append(len(CALLS))
    assert calls == [10, 0]
    with dn.Run(3, journal=tmp_path / "run.db") as run:  # other settings have other journal keys
        dn.learn(data, dn.Divide(Counted(count=99), size=3, combine="penalty"), run=run)
    assert len(CALLS) == 10
    CALLS.clear()
    for samples, new in ((4, 4), (6, 2)):
        with dn.Run(3, journal=tmp_path / "samples.db") as run:
            assert dn.bootstrap(data, samples, Counted(), run=run).samples == samples
        assert len(CALLS) == new
        CALLS.clear()


def test_table_includes_the_background_knowledge(data):
    knowledge = {"required": ["Xray -> Cancer"], "forbidden": ["Smoker -> Cancer"], "roots": ["Smoker"]}
    result = dn.learn(data, RandomOrders(), knowledge=knowledge)
    assert ("Xray", "Cancer") in result.edges
    assert ("Smoker", "Cancer") not in result.edges
    assert not list(result.dag.predecessors("Smoker"))
    assert nx.is_directed_acyclic_graph(result.dag)


def test_other_objects_are_rejected(data):
    with pytest.raises(dn.InputError, match=r"solver is the class RandomOrders; give an instance: RandomOrders\(\)"):
        dn.learn(data, RandomOrders)
    with pytest.raises(dn.InputError, match="solver is function; give a solver such as"):
        dn.learn(data, dn.solvers.exact)


# Checks of returned solutions


@dataclass(frozen=True)
class Returning:
    """A solver that returns a given answer, optionally with the correct score."""

    answer: object
    scored: bool = False

    def solve(self, problem, run):
        if not self.scored:
            return self.answer
        return replace(self.answer, score=problem.scorer.score(self.answer.dag))


NAMES = dn.load("lung-cancer").names


def graph(*edges, names=NAMES):
    dag = nx.DiGraph()
    dag.add_nodes_from(names)
    dag.add_edges_from(edges)
    return dag


CYCLE = graph(("Cancer", "Xray"), ("Xray", "Cancer"))
CROWDED = graph(*((parent, "Xray") for parent in NAMES if parent != "Xray"))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "Returning returned NoneType; a solver must return a Solution"),
        (graph(), "Returning returned DiGraph; a solver must return a Solution"),
        (dn.Solution(None, -5.0, 2, "s"), "Returning returned a NoneType as dag; give a networkx.DiGraph"),
        (dn.Solution(nx.Graph(graph()), -5.0, 2, "s"), "Returning returned a Graph as dag"),
        (dn.Solution(nx.MultiDiGraph(graph()), -5.0, 2, "s"), "Returning returned a MultiDiGraph as dag"),
        (
            dn.Solution(graph(names=NAMES[1:]), -5.0, 2, "s"),
            "the dag of Returning and the problem have different variables",
        ),
        (dn.Solution(graph(("a", "Xray")), -5.0, 2, "s"), "'a' is only in the dag of Returning"),
        (dn.Solution(CYCLE, -5.0, 2, "s"), "the dag of Returning has a cycle: Cancer -> Xray -> Cancer"),
        (dn.Solution(CYCLE, float("nan"), 2, "s"), "the dag of Returning has a cycle"),
        (dn.Solution(graph(), None, 2, "s"), "Returning returned the score None; give a number"),
        (dn.Solution(graph(), "x", 2, "s"), "Returning returned the score 'x'"),
        (dn.Solution(graph(), float("-inf"), 2, "s"), "Returning returned the score -inf"),
        (dn.Solution(graph(), -5.0, None, "s"), "max_parents of the solution of Returning is None; give a whole number"),
        (dn.Solution(graph(), -5.0, 2.5, "s"), "max_parents of the solution of Returning is 2.5"),
        (dn.Solution(graph(), -5.0, 2, "s", seed="x"), "seed of the solution of Returning is 'x'"),
        (dn.Solution(graph(), -5.0, 2, 7), "Returning returned solver=7; give the name of the solver as text"),
        (dn.Solution(graph(), -5.0, 2, "s", optimal="yes"), "Returning returned optimal='yes'; give True or False"),
        (dn.Solution(graph(), -5.0, 2, "s", seconds=3), "Returning returned seconds=3"),
        (dn.Solution(graph(), -5.0, 2, "s", bound=3), "Returning returned bound=3; give a Bound or None"),
        (dn.Solution(CROWDED, -5.0, 4, "s"), "4 parents of 'Xray'; the problem allows at most 3"),
        (dn.Solution(CROWDED, -5.0, 2, "s"), "4 parents of 'Xray'; max_parents of the solution allows at most 2"),
        (dn.Solution(graph(), 100.0, 2, "s", optimal=True), r"returned the score 100.0, but the score of its graph is -\d"),
    ],
)
def test_invalid_solution_is_rejected_with_the_name_of_the_solver(answer, message, data):
    with pytest.raises(dn.InputError, match=message) as caught:
        dn.learn(data, Returning(answer), max_parents=3)
    assert "\n" not in str(caught.value)
    with pytest.raises(dn.InputError, match=message):
        dn.bootstrap(data, 2, Returning(answer), max_parents=3)


@pytest.mark.parametrize(
    ("knowledge", "edges", "message"),
    [
        (
            {"required": ["Smoker -> Cancer"]},
            [],
            "without the edge Smoker -> Cancer, which the background knowledge requires",
        ),
        ({"leaves": ["Xray"]}, [("Xray", "Cancer")], "the edge Xray -> Cancer, which the background knowledge forbids"),
        (
            {"limits": {"Cancer": 1}},
            [("Smoker", "Cancer"), ("Pollution", "Cancer")],
            "Returning returned a graph with 2 parents of 'Cancer'; the background knowledge allows at most 1",
        ),
    ],
)
def test_solution_must_obey_the_background_knowledge(knowledge, edges, message, data):
    solver = Returning(dn.Solution(graph(*edges), 0.0, 2, "s"), scored=True)
    with pytest.raises(dn.InputError, match=message):
        dn.learn(data, solver, knowledge=knowledge)
    assert dn.learn(data, solver).edges == sorted(edges, key=lambda edge: NAMES.index(edge[0]))


def test_numpy_numbers_become_python_numbers(data, tmp_path):
    dag = graph(("Cancer", "Xray"), names=NAMES[::-1])  # other order of variables
    score = dn.scoring.Scorer(data).score(dag)
    answer = dn.Solution(dag, np.float64(score), np.int64(2), "s", optimal=np.False_, seed=np.int64(3))
    result = dn.learn(data, Returning(answer))
    assert [type(value) for value in (result.score, result.max_parents, result.optimal)] == [float, int, bool]
    assert list(result.dag) == list(NAMES)
    assert result.is_dag
    result.save(tmp_path / "result.json")
    assert dn.load_result(tmp_path / "result.json").edges == [("Cancer", "Xray")]


def test_is_dag_requires_an_acyclic_graph_and_a_score():
    assert dn.Solution(graph(), -5.0, 2, "s").is_dag
    assert not dn.Solution(graph(), float("nan"), 2, "s").is_dag
    assert not dn.Solution(CYCLE, -5.0, 2, "s").is_dag


def test_solver_can_return_a_graph_with_cycles(data):
    """A solver can return a graph with cycles from raw reads or from the rules of the paper; its score is NaN."""

    class Passing:
        def solve(self, problem, run):
            result = dn.Divide(size=3, combine="penalty").solve(problem, run)
            return replace(result, dag=CYCLE, score=float("nan"), division=replace(result.division, acyclic=False))

    assert not dn.learn(data, Passing()).is_dag


def test_late_solution_is_checked(data):
    """A solution after the deadline is still scored and checked."""

    class Late:
        def solve(self, problem, run):
            dag = graph(*((parent, "Xray") for parent in NAMES[:3]))
            return dn.Solution(dag, dn.scoring.Scorer(problem.scorer.data).score(dag), 3, "late")

    result = dn.learn(data, Late(), run=dn.Run(deadline=dn.Deadline(0.0)))
    assert result.solver == "late"


def test_too_many_variables_are_rejected_before_pairs_are_counted(monkeypatch):
    """With a time limit, pairs are counted first, unless the solver will reject the number of variables."""
    wide = random_data(66, 30, 1, arities=[2] * 66)
    run = dn.Run(deadline=dn.Deadline.after(600))

    def fail(scorer):
        raise AssertionError("pairs were counted")

    monkeypatch.setattr(solve, "count_pairs", fail)
    with pytest.raises(dn.InputError, match="at most"):
        dn.learn(wide, "exhaustive", run=run)
    with pytest.raises(AssertionError, match="pairs were counted"):
        dn.learn(wide, dn.Divide(), run=run)
    with pytest.raises(AssertionError, match="pairs were counted"):
        dn.learn(wide, run=run)


def test_invalid_solutions_of_subproblems_are_reported():
    """The error names the solver that returned an invalid solution; see `check_solution`."""

    @dataclass(frozen=True)
    class Nothing:
        def solve(self, problem, run):
            return None

    data = dn.load("lung-cancer").sample(200, 1)
    with pytest.raises(dn.InputError, match=r"all subproblems failed.*Nothing returned NoneType"):
        dn.learn(data, dn.Divide(Nothing(), size=3))
