"""Properties that every solver has."""

import pickle
from importlib import import_module

import dwave.samplers
import networkx as nx
import pytest
from dwave.samplers import SimulatedAnnealingSampler, TabuSampler

import dagneal as dn
from dagneal.divide.subproblem_solvers import fingerprint_of
from dagneal.strategies.names import STRATEGIES
from support.solving import without_times

VOTES = [  # the parent limit applies to subproblems, not to the network
    dn.Divide(size=3, combine="penalty", acyclic=True),
    dn.Divide(dn.Anneal("sa", num_reads=10), size=4, subproblems="cover:2", combine="penalty", acyclic=True),
    dn.Divide(dn.OrderSearch(restarts=5), size=3, combine="count", acyclic=True),
]
SOLVERS = [
    dn.Auto(),
    dn.Auto(prove=False),
    dn.Exact(),
    dn.Exhaustive(),
    dn.OrderSearch(),
    dn.OrderSearch(restarts=3, prove=False),
    dn.Anneal("sa", num_reads=20),
    dn.Anneal(SimulatedAnnealingSampler(), direct=True, parameters={"num_sweeps": 50, "num_reads": 10}),
    dn.Anneal(SimulatedAnnealingSampler(), num_reads=20, direct=True, encoding=dn.PAPER),
    dn.Anneal(TabuSampler(), num_reads=5),
    dn.Anneal("sqa", num_reads=5),
    dn.Anneal("greedy", num_reads=50),
    dn.Anneal("random", num_reads=50),
    dn.Anneal("tree"),
    dn.Divide(),
    dn.Divide("order", size=4),
    dn.Divide(dn.Anneal("sa", num_reads=20), size=3, subproblem_parameters={"num_reads": 5}),
    *VOTES,
]
EMULATED = [dn.Anneal("qpu-emulated", num_reads=10), dn.Anneal("qpu-emulated", num_reads=10, direct=True)]
SLOW = [pytest.param(solver, marks=pytest.mark.slow) for solver in EMULATED]
every_solver = pytest.mark.parametrize("solver", [*SOLVERS, *SLOW], ids=repr)


@pytest.fixture(scope="module")
def data():
    return dn.load("lung-cancer").sample(2_000, 1)


@pytest.fixture(autouse=True)
def shared_embeddings(embeddings, monkeypatch):
    monkeypatch.setenv("DAGNEAL_CACHE", str(embeddings))


@every_solver
def test_result_is_a_dag_over_all_variables_with_a_correct_score(solver, data):
    result = dn.learn(data, solver)
    assert isinstance(solver, dn.Solver)
    assert result.is_dag
    assert nx.is_directed_acyclic_graph(result.dag)
    assert list(result.dag) == list(data.names)
    assert result.score == pytest.approx(dn.scoring.Scorer(data).score(result.dag), rel=1e-12)
    best = dn.learn(data, dn.Exact(), max_parents=max(result.max_parents, 1)).score
    assert result.score <= best + 1e-6
    if result.optimal:
        assert result.score == pytest.approx(best)
    assert result.gap is None or result.gap >= 0.0
    assert all(value >= 0 for value in result.seconds.values())


@every_solver
def test_same_seed_gives_the_same_result(solver, data):
    first, second = (dn.learn(data, solver, run=dn.Run(5)) for _ in "ab")
    assert first.edges == second.edges
    assert first.score == second.score
    assert without_times(first.to_dict()) == without_times(second.to_dict())


@every_solver
def test_background_knowledge_is_obeyed(solver, data):
    knowledge = dn.Knowledge(
        required=[("Xray", "Dyspnoea")], forbidden=[("Smoker", "Cancer"), ("Cancer", "Smoker")], roots=["Pollution"]
    )
    result = dn.learn(data, solver, knowledge=knowledge)
    assert ("Xray", "Dyspnoea") in result.edges
    assert not {("Smoker", "Cancer"), ("Cancer", "Smoker")} & set(result.edges)
    assert not list(result.dag.predecessors("Pollution"))
    assert result.is_dag
    assert result.knowledge == knowledge


@pytest.mark.parametrize("solver", [*(solver for solver in SOLVERS if solver not in VOTES), *SLOW], ids=repr)
@pytest.mark.parametrize("limit", [0, 1])
def test_parent_limit_is_obeyed(solver, limit, data):
    result = dn.learn(data, solver, max_parents=limit)
    assert max(degree for _, degree in result.dag.in_degree) <= limit
    assert result.max_parents == limit
    assert result.score <= dn.learn(data, dn.Exact(), max_parents=limit).score + 1e-6


@every_solver
def test_repr_restores_the_solver(solver):
    names = vars(dn) | {name: getattr(dn, name) for name in dn.__all__}
    names |= {"dwave": dwave}
    again = eval(repr(solver), names)
    assert fingerprint_of(again) == fingerprint_of(solver)
    assert fingerprint_of(pickle.loads(pickle.dumps(solver))) == fingerprint_of(solver)
    assert repr(again) == repr(solver)


def test_fingerprints_differ():
    solvers = SOLVERS + EMULATED
    assert len({fingerprint_of(solver) for solver in solvers}) == len(solvers)


@pytest.mark.parametrize("target", [*STRATEGIES.values(), "anneal:Anneal", "anneal:Divide"])
def test_every_solver_class_is_tested(target):
    module, _, name = target.partition(":")
    solver_class = getattr(import_module(f"dagneal.strategies.{module}"), name)
    assert any(type(solver) is solver_class for solver in SOLVERS), "add the solver to SOLVERS in this file"


@every_solver
def test_result_after_the_deadline_is_a_dag(solver, data):
    run = dn.Run(deadline=dn.Deadline(0.0))
    if isinstance(solver, dn.Anneal) and solver.is_direct:
        with pytest.raises(dn.InputError, match="cannot obey a time limit"):
            dn.learn(data, solver, run=run)
        return
    result = dn.learn(data, solver, run=run)
    assert result.is_dag
    assert nx.is_directed_acyclic_graph(result.dag)
    assert list(result.dag) == list(data.names)
    assert result.score == pytest.approx(dn.scoring.Scorer(data).score(result.dag), rel=1e-12)


@every_solver
def test_saved_result_can_be_loaded(solver, data, tmp_path):
    result = dn.learn(data, solver)
    result.save(tmp_path / "result.json")
    again = dn.load_result(tmp_path / "result.json")
    assert again.to_dict() == result.to_dict()
    assert again.edges == result.edges
    assert list(again.dag) == list(result.dag)
    assert repr(again) == repr(result)


class MemoryJournal(dict):
    """A journal in memory."""

    def get(self, keys):
        return {key: self[key] for key in keys if key in self}

    put = dict.update


@every_solver
def test_journal_is_used_or_rejected(solver, data):
    if solver == dn.Divide():
        pytest.skip("exact triples under conquer are not stored, because solving them is faster")
    journal = MemoryJournal()
    if not getattr(solver, "uses_journal", False):
        with pytest.raises(dn.InputError, match="journal"):
            dn.learn(data, solver, run=dn.Run(journal=journal))
        return
    first = dn.learn(data, solver, run=dn.Run(journal=journal))
    assert journal
    again = dn.learn(data, solver, run=dn.Run(journal=journal))
    assert (again.edges, again.score) == (first.edges, first.score)


@every_solver
def test_solver_is_frozen(solver):
    name = next(iter(solver.__dataclass_fields__), "anything")
    with pytest.raises(AttributeError):
        setattr(solver, name, None)
