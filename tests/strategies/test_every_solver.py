"""What holds for every solver."""

import pickle
from importlib import import_module

import dwave.samplers
import networkx as nx
import pytest
from dwave.samplers import SimulatedAnnealingSampler, TabuSampler

import dagneal as dn
from dagneal.divide.subproblem_solvers import fingerprint_of
from dagneal.strategies.names import STRATEGIES

VOTES = [  # the rules of the paper limit the parents of a subproblem, not those of the network
    dn.Divide(size=3, combine="penalty", acyclic=True),
    dn.Divide(dn.Anneal("sa", num_reads=10), size=4, subproblems="cover:2", combine="penalty", acyclic=True),
    dn.Divide(dn.OrderSearch(rounds=5), size=3, combine="count", acyclic=True),
]
SOLVERS = [
    dn.Auto(),
    dn.Auto(bound=False),
    dn.Exact(),
    dn.Exhaustive(),
    dn.OrderSearch(),
    dn.OrderSearch(rounds=3, bound=False),
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
SLOW = [pytest.param(each, marks=pytest.mark.slow) for each in EMULATED]
every = pytest.mark.parametrize("solver", [*SOLVERS, *SLOW], ids=repr)


@pytest.fixture(scope="module")
def data():
    return dn.load("lung-cancer").sample(2_000, 1)


@pytest.fixture(autouse=True)
def shared_embeddings(embeddings, monkeypatch):
    monkeypatch.setenv("DAGNEAL_CACHE", str(embeddings))


@every
def test_a_dag_over_all_variables_with_its_score(solver, data):
    found = dn.learn(data, solver)
    assert isinstance(solver, dn.Solver)
    assert found.is_dag
    assert nx.is_directed_acyclic_graph(found.dag)
    assert list(found.dag) == list(data.names)
    assert found.score == pytest.approx(dn.scoring.Scorer(data).score(found.dag), rel=1e-12)
    best = dn.learn(data, dn.Exact(), max_parents=max(found.max_parents, 1)).score
    assert found.score <= best + 1e-6
    if found.optimal:
        assert found.score == pytest.approx(best)
    assert found.gap is None or found.gap >= 0.0
    assert all(value >= 0 for value in found.seconds.values())


@every
def test_the_same_seed_gives_the_same_answer(solver, data):
    first, second = (dn.learn(data, solver, run=dn.Run(5)) for _ in "ab")
    assert first.edges == second.edges
    assert first.score == second.score
    plain, again = first.to_dict(), second.to_dict()
    for each in (plain, again):
        each.pop("seconds")
    assert plain == again


@every
def test_knowledge_is_obeyed(solver, data):
    known = dn.Knowledge(
        required=[("Xray", "Dyspnoea")], forbidden=[("Smoker", "Cancer"), ("Cancer", "Smoker")], roots=["Pollution"]
    )
    found = dn.learn(data, solver, knowledge=known)
    assert ("Xray", "Dyspnoea") in found.edges
    assert not {("Smoker", "Cancer"), ("Cancer", "Smoker")} & set(found.edges)
    assert not list(found.dag.predecessors("Pollution"))
    assert found.is_dag
    assert found.knowledge == known


@pytest.mark.parametrize("solver", [*(solver for solver in SOLVERS if solver not in VOTES), *SLOW], ids=repr)
@pytest.mark.parametrize("limit", [0, 1])
def test_the_parent_limit_is_obeyed(solver, limit, data):
    found = dn.learn(data, solver, max_parents=limit)
    assert max(degree for _, degree in found.dag.in_degree) <= limit
    assert found.max_parents == limit
    assert found.score <= dn.learn(data, dn.Exact(), max_parents=limit).score + 1e-6


@every
def test_its_repr_says_all_that_a_journal_needs(solver):
    names = vars(dn) | {name: getattr(dn, name) for name in dn.__all__}
    names |= {"dwave": dwave}
    again = eval(repr(solver), names)
    assert fingerprint_of(again) == fingerprint_of(solver)
    assert fingerprint_of(pickle.loads(pickle.dumps(solver))) == fingerprint_of(solver)
    assert repr(again) == repr(solver)


def test_their_fingerprints_differ():
    solvers = SOLVERS + EMULATED
    assert len({fingerprint_of(solver) for solver in solvers}) == len(solvers)


@pytest.mark.parametrize("target", [*STRATEGIES.values(), "anneal:Anneal", "anneal:Divide"])
def test_every_solver_is_on_the_list(target):
    module, _, name = target.partition(":")
    kind = getattr(import_module(f"dagneal.strategies.{module}"), name)
    assert any(type(solver) is kind for solver in SOLVERS), "add it to SOLVERS here"


@every
def test_after_the_deadline_there_is_still_a_dag(solver, data):
    run = dn.Run(deadline=dn.Deadline(0.0))
    if isinstance(solver, dn.Anneal) and solver.is_direct:
        with pytest.raises(dn.InputError, match="give fewer reads, not a time limit"):
            dn.learn(data, solver, run=run)
        return
    found = dn.learn(data, solver, run=run)
    assert found.is_dag
    assert nx.is_directed_acyclic_graph(found.dag)
    assert list(found.dag) == list(data.names)
    assert found.score == pytest.approx(dn.scoring.Scorer(data).score(found.dag), rel=1e-12)


@every
def test_a_result_can_be_read_back(solver, data, tmp_path):
    found = dn.learn(data, solver)
    found.save(tmp_path / "found.json")
    again = dn.load_result(tmp_path / "found.json")
    assert again.to_dict() == found.to_dict()
    assert again.edges == found.edges
    assert list(again.dag) == list(found.dag)
    assert repr(again) == repr(found)


class Stored(dict):
    """A journal in memory."""

    def get(self, keys):
        return {key: self[key] for key in keys if key in self}

    put = dict.update


@every
def test_a_journal_is_written_to_or_refused(solver, data):
    if solver == dn.Divide():
        pytest.skip("exact triples under conquer are solved all at once, faster than a journal stores them")
    journal = Stored()
    if not getattr(solver, "uses_journal", False):
        with pytest.raises(dn.InputError, match="journal"):
            dn.learn(data, solver, run=dn.Run(journal=journal))
        return
    first = dn.learn(data, solver, run=dn.Run(journal=journal))
    assert journal
    again = dn.learn(data, solver, run=dn.Run(journal=journal))
    assert (again.edges, again.score) == (first.edges, first.score)


@every
def test_they_are_frozen(solver):
    name = next(iter(solver.__dataclass_fields__), "anything")
    with pytest.raises(AttributeError):
        setattr(solver, name, None)
