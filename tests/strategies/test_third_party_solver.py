"""A solver that is not ours, wherever ours work: in `learn`, inside a division, in a bootstrap, with a journal."""

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
    assert np.array_equal(again.directions, found.directions)


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


# What it returns is checked


@dataclass(frozen=True)
class Returning:
    """A solver that returns what it was given, perhaps with the right score."""

    answer: object
    scored: bool = False

    def solve(self, problem, run):
        if not self.scored:
            return self.answer
        return replace(self.answer, score=problem.scorer.score(self.answer.dag))


NAMES = dn.load("lung-cancer").names


def graph(*edges, names=NAMES):
    found = nx.DiGraph()
    found.add_nodes_from(names)
    found.add_edges_from(edges)
    return found


CYCLE = graph(("Cancer", "Xray"), ("Xray", "Cancer"))
CROWDED = graph(*((parent, "Xray") for parent in NAMES if parent != "Xray"))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "Returning returned NoneType; a solver returns a Solution"),
        (graph(), "Returning returned DiGraph; a solver returns a Solution"),
        (dn.Solution(None, -5.0, 2, "s"), "Returning returned a NoneType as dag; give a networkx.DiGraph"),
        (dn.Solution(nx.Graph(graph()), -5.0, 2, "s"), "Returning returned a Graph as dag"),
        (dn.Solution(nx.MultiDiGraph(graph()), -5.0, 2, "s"), "Returning returned a MultiDiGraph as dag"),
        (
            dn.Solution(graph(names=NAMES[1:]), -5.0, 2, "s"),
            "the dag of Returning and the problem differ in their variables",
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
        (dn.Solution(graph(), -5.0, 2, 7), "Returning returned solver=7; give its name as text"),
        (dn.Solution(graph(), -5.0, 2, "s", optimal="yes"), "Returning returned optimal='yes'; give True or False"),
        (dn.Solution(graph(), -5.0, 2, "s", seconds=3), "Returning returned seconds=3"),
        (dn.Solution(graph(), -5.0, 2, "s", bound=3), "Returning returned bound=3; give a Bound or None"),
        (dn.Solution(CROWDED, -5.0, 4, "s"), "'Xray' has 4 parents; at most 3 were asked for"),
        (dn.Solution(CROWDED, -5.0, 2, "s"), "'Xray' has 4 parents; at most 2 are in its max_parents"),
        (dn.Solution(graph(), 100.0, 2, "s", optimal=True), r"returned the score 100.0, but its graph scores -\d"),
    ],
)
def test_a_wrong_solution_is_refused_by_name(answer, message, data):
    with pytest.raises(dn.InputError, match=message) as caught:
        dn.learn(data, Returning(answer), max_parents=3)
    assert "\n" not in str(caught.value)
    with pytest.raises(dn.InputError, match=message):
        dn.bootstrap(data, 2, Returning(answer), max_parents=3)


@pytest.mark.parametrize(
    ("known", "edges", "message"),
    [
        ({"required": ["Smoker -> Cancer"]}, [], "Returning returned no edge Smoker -> Cancer, which knowledge requires"),
        ({"leaves": ["Xray"]}, [("Xray", "Cancer")], "Returning returned the edge Xray -> Cancer, which knowledge forbids"),
        (
            {"limits": {"Cancer": 1}},
            [("Smoker", "Cancer"), ("Pollution", "Cancer")],
            "Returning returned 2 parents of 'Cancer', to which knowledge allows 1",
        ),
    ],
)
def test_knowledge_must_be_obeyed(known, edges, message, data):
    solver = Returning(dn.Solution(graph(*edges), 0.0, 2, "s"), scored=True)
    with pytest.raises(dn.InputError, match=message):
        dn.learn(data, solver, knowledge=known)
    assert dn.learn(data, solver).edges == sorted(edges, key=lambda edge: NAMES.index(edge[0]))


def test_numbers_of_numpy_become_plain_ones(data, tmp_path):
    dag = graph(("Cancer", "Xray"), names=NAMES[::-1])  # in another order
    score = dn.scoring.Scorer(data).score(dag)
    answer = dn.Solution(dag, np.float64(score), np.int64(2), "s", optimal=np.False_, seed=np.int64(3))
    found = dn.learn(data, Returning(answer))
    assert [type(value) for value in (found.score, found.max_parents, found.optimal)] == [float, int, bool]
    assert list(found.dag) == list(NAMES)
    assert found.is_dag
    found.save(tmp_path / "found.json")
    assert dn.load_result(tmp_path / "found.json").edges == [("Cancer", "Xray")]


def test_a_graph_is_a_network_only_without_cycles():
    assert dn.Solution(graph(), -5.0, 2, "s").is_dag
    assert not dn.Solution(graph(), float("nan"), 2, "s").is_dag
    assert not dn.Solution(CYCLE, -5.0, 2, "s").is_dag


def test_what_it_passes_on_may_have_cycles(data):
    """Raw reads and the rules of the paper may leave cycles; then there is no score."""

    class Passing:
        def solve(self, problem, run):
            found = dn.Divide(size=3, combine="penalty").solve(problem, run)
            return replace(found, dag=CYCLE, score=float("nan"), division=replace(found.division, acyclic=False))

    assert not dn.learn(data, Passing()).is_dag


def test_a_solver_that_is_late_is_still_checked(data):
    """Scoring its graph takes no notice of the deadline."""

    class Late:
        def solve(self, problem, run):
            dag = graph(*((parent, "Xray") for parent in NAMES[:3]))
            return dn.Solution(dag, dn.scoring.Scorer(problem.scorer.data).score(dag), 3, "late")

    found = dn.learn(data, Late(), run=dn.Run(deadline=dn.Deadline(0.0)))
    assert found.solver == "late"


def test_too_many_variables_are_refused_before_pairs_are_counted(monkeypatch):
    """With a time limit, pairs are counted in advance; not for a solver that refuses the problem anyway."""
    wide = random_data(66, 30, 1, arities=[2] * 66)
    run = dn.Run(deadline=dn.Deadline.after(600))

    def counted(scorer):
        raise AssertionError("pairs were counted")

    monkeypatch.setattr(solve, "count_pairs", counted)
    for solver in ("exact", "exhaustive", "order", "sa", dn.Divide(combine="penalty"), dn.Divide("sa")):
        with pytest.raises(dn.InputError, match=r"at most|only exact subproblems"):
            dn.learn(wide, solver, run=run)
    with pytest.raises(AssertionError, match="pairs were counted"):
        dn.learn(wide, dn.Divide(), run=run)
    with pytest.raises(AssertionError, match="pairs were counted"):
        dn.learn(wide, run=run)


def test_wrong_solutions_of_subproblems_are_named():
    """A solver that returns nothing fails by name; see `check_solution` for what else is refused."""

    @dataclass(frozen=True)
    class Nothing:
        def solve(self, problem, run):
            return None

    data = dn.load("lung-cancer").sample(200, 1)
    with pytest.raises(dn.InputError, match=r"no subproblem could be solved.*Nothing returned NoneType"):
        dn.learn(data, dn.Divide(Nothing(), size=3))
