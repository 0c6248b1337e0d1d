"""Arguments of `learn` and related functions: names, defaults and error messages."""

from concurrent.futures import ThreadPoolExecutor

import dimod
import networkx as nx
import numpy as np
import pandas
import pytest
from dwave.samplers import (
    SimulatedAnnealingSampler,
)

import dagneal as dn
from support.samplers import Recorder
from support.solving import solve


@pytest.fixture(scope="module")
def data():
    return dn.load("lung-cancer").sample(2_000, 1)


@pytest.fixture(scope="module")
def table(data):
    return dn.scoring.score_table(data)


@pytest.mark.slow
def test_default_number_of_reads(data, table):
    sampler = SimulatedAnnealingSampler()
    assert dn.learn(data, dn.Anneal(sampler, direct=True)).reads.reads == 1000
    assert dn.learn(data, sampler).reads.reads == 1000
    assert dn.solvers.anneal(table, sampler).reads.reads == 1000
    assert solve(dn.scoring.Scorer(data), dn.Divide(sampler)).reads.reads == 1000
    assert dn.StructureLearner(solver=sampler).fit(data.frame()).result_.reads.reads == 1000
    assert dn.learn(data, dn.Anneal(sampler, num_reads=7, direct=True)).reads.reads == 7


@pytest.mark.parametrize(("given", "few", "many"), [(None, 100, 1000), (9, 9, 9)])
def test_number_of_reads_of_subproblems_and_the_global_problem(data, given, few, many):
    sampler = Recorder()
    unpruned = "tight,unpruned"  # a pruned subproblem can have no QUBO variables
    result = dn.learn(data, dn.Anneal(sampler, num_reads=given, encoding=unpruned))
    reads = [call["num_reads"] for call in sampler.calls]
    assert reads[:10] == [few] * 10
    assert set(reads[10:]) == {many}
    assert len(reads) > 10
    assert result.division.failed == {}
    sampler = Recorder()
    solver = dn.Divide(dn.Anneal(sampler, num_reads=given, encoding=unpruned), subproblem_parameters={"num_reads": 5})
    dn.learn(data, solver)
    assert [call["num_reads"] for call in sampler.calls[:10]] == [5] * 10


def test_default_seed_of_a_direct_sampler_is_zero(data, table):
    solver = dn.Anneal(SimulatedAnnealingSampler(), num_reads=20, direct=True, parameters={"num_sweeps": 2})
    first, again = (dn.learn(data, solver) for _ in "ab")
    assert np.array_equal(first.reads.sampleset.record.sample, again.reads.sampleset.record.sample)
    assert first.seed == again.seed == 0
    sampler = Recorder()
    dn.solvers.anneal(table, sampler)
    dn.solvers.anneal(table, sampler, seed=None)
    dn.solvers.anneal(table, sampler, seed=4)
    assert [call["seed"] for call in sampler.calls] == [0, None, 4]


def test_hybrid_sampler_solves_the_global_problem_directly(data, monkeypatch):
    import dwave.system

    class Hybrid(Recorder):
        pass

    monkeypatch.setattr(dwave.system, "LeapHybridSampler", Hybrid)
    sampler = Hybrid()
    assert dn.learn(data, sampler).division is None
    assert len(sampler.calls) == 1
    assert dn.learn(data, dn.Divide(sampler, size=3)).division is not None
    assert dn.learn(data, dn.Anneal(sampler, direct=False)).division is not None


# Labels


def test_sampler_gets_integer_labels_and_reads_have_names(data, table):
    sampler = Recorder()
    result = dn.learn(data, dn.Anneal(sampler, num_reads=30, direct=True), seed=2)
    assert set(result.reads.sampleset.variables) == set(dn.qubo.encode(table).variables)
    assert sorted(sampler.labels[0]) == list(range(len(sampler.labels[0])))
    solver = dn.Anneal(SimulatedAnnealingSampler(), num_reads=30, direct=True, parameters={"num_sweeps": 50})
    plain = dn.learn(data, solver, seed=2)
    assert np.array_equal(plain.reads.sampleset.record.sample, result.reads.sampleset.record.sample)
    assert plain.score == result.score


def test_distinct_reads_are_counted(data, tmp_path):
    class Stuck(Recorder):
        def sample(self, bqm, num_reads=None, seed=None):
            read = super().sample(bqm, 1, seed=1).record.sample
            return dimod.SampleSet.from_samples_bqm((np.repeat(read, num_reads, axis=0), list(bqm.variables)), bqm)

    result = dn.learn(data, dn.Anneal(Stuck(), num_reads=100, direct=True))
    assert (result.reads.reads, result.reads.distinct) == (100, 1)
    assert result.reads.summary()["distinct"] == result.to_dict()["annealed"]["distinct"] == 1
    result.save(tmp_path / "page.html")
    assert "100 reads, 1 distinct" in (tmp_path / "page.html").read_text(encoding="utf-8")


# Names


@pytest.mark.slow
def test_sources_scores_and_solvers_by_name(data, table, tmp_path):
    frame = data.frame()
    for source in (
        frame,
        pandas.DataFrame(frame.to_dict(as_series=False)),
        np.repeat(data.codes, data.weights, axis=1).T.astype(int),
    ):
        assert dn.learn(source).score == pytest.approx(dn.learn(data).score)
    frame.write_csv(tmp_path / "lc.csv")
    assert dn.learn(tmp_path / "lc.csv").score == pytest.approx(dn.learn(data).score)
    assert dn.learn(data, score="bic").score_name == "BIC"
    assert dn.learn(data, score="bdeu:10").score == dn.learn(data, score=dn.BDeu(10)).score
    assert dn.scoring.Scorer(data, "k2").criterion == dn.K2()
    assert dn.scoring.score_table(data, "bic").score_name == "BIC"
    assert dn.learn(data, "exact").solver == "exact"
    assert dn.learn(data, solver="auto").to_dict()["edges"] == dn.learn(data).to_dict()["edges"]
    assert dn.learn(data, "order").solver == "order"
    assert dn.learn(dn.load("lung-cancer-4").expected_data(500), solver="exhaustive").solver == "exhaustive"
    assert dn.learn(data, "tabu").solver == "TabuSampler"
    assert dn.learn(data, dn.Anneal("sa", num_reads=5)).solver == "SimulatedAnnealing"
    assert solve(dn.scoring.Scorer(data), dn.Divide("tree")).division.solver == "TreeDecompositionSolver"
    paper = dn.Anneal("sa", num_reads=5, encoding="paper", direct=True)
    assert dn.learn(data, paper).reads.encoding.startswith("paper")
    paper = dn.Anneal("sa", num_reads=5, encoding="paper")
    assert solve(table, dn.Divide(paper, combine="penalty")).division.subproblems == 10
    assert dn.bootstrap(data, 3, score="bic", solver="exact").samples == 3
    assert dn.bootstrap(frame, 3).samples == 3
    assert dn.holdout(frame, score="bic").rows == 400
    assert list(dn.sensitivity(frame, [1, 2])) == [1.0, 2.0]


def test_background_knowledge_as_dict_or_file(data, tmp_path):
    plain = {"required": ["Xray -> Cancer", ("Smoker", "Dyspnoea")], "leaves": ["Dyspnoea"], "limits": {"Cancer": 2}}
    expected = dn.Knowledge(required=[("Xray", "Cancer"), ("Smoker", "Dyspnoea")], leaves=["Dyspnoea"], limits={"Cancer": 2})
    (tmp_path / "k.toml").write_text(
        'required = ["Xray -> Cancer", ["Smoker", "Dyspnoea"]]\nleaves = ["Dyspnoea"]\n[limits]\nCancer = 2\n'
    )
    reference = dn.learn(data, knowledge=expected)
    for given in (plain, tmp_path / "k.toml", str(tmp_path / "k.toml")):
        result = dn.learn(data, knowledge=given)
        assert (result.edges, result.score, result.knowledge) == (reference.edges, reference.score, reference.knowledge)
    assert dn.scoring.Scorer(data, knowledge=plain).knowledge == expected
    assert reference.knowledge == expected
    assert dn.learn(data, knowledge={}).knowledge is None
    assert (
        dn.StructureLearner(knowledge=plain, solver="exact", criterion=dn.BIC())
        .fit(data.frame())
        .graph_.has_edge("Xray", "Cancer")
    )
    assert dn.bootstrap(data, 2, knowledge=plain).frequency("Xray", "Cancer") == (1.0, 1.0)


def test_emulated_annealer_by_name(data):
    result = dn.learn(data, dn.Anneal("qpu-emulated", num_reads=20))
    assert result.hardware.emulated
    assert result.solver == "EmulatedQPU"


# Errors

SA = SimulatedAnnealingSampler()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": "quantile:4"}, r"bins is an option of dn.read; call dn.learn\(dn.read\(data, bins=...\)\)"),
        ({"missing": "drop", "solver": SA}, "missing is an option of dn.read"),
        ({"weights": "count", "solver": "exact"}, "weights is an option of dn.read"),
        ({"size": 4, "solver": SA}, r"size is a setting of a solver; call dn.learn\(data, dn.Divide\(..., size=...\)\)"),
        ({"size": 4}, r"dn.Divide\(..., size=...\)"),
        ({"num_reads": 4}, r"num_reads is a setting of a solver; call dn.learn\(data, dn.Anneal\(..., num_reads=...\)\)"),
        ({"max_parent": 3}, "did you mean 'max_parents'"),
        ({"max_parent": 3, "solver": SA}, "did you mean 'max_parents'"),
        (
            {"num_sweeps": 3, "solver": SA},
            r"pass parameters of a sampler with dn.Anneal\(sampler, parameters=\{'num_sweeps': ...\}\)",
        ),
        ({"restarts": 3}, r"restarts is a setting of a solver; call dn.learn\(data, dn.OrderSearch\(..., restarts=...\)\)"),
        ({"restarts": 3, "solver": "order"}, r"dn.OrderSearch\(..., restarts=...\)"),
        ({"prove": False}, "prove is a setting of a solver"),
        ({"journal": "run.db"}, r"journal is a setting of a run; call dn.learn\(data, run=dn.Run\(journal=...\)\)"),
        ({"solver": "simulated"}, "there is no solver 'simulated'; give one of auto, exact"),
        ({"solver": "exat"}, "did you mean 'exact'"),
        ({"solver": SimulatedAnnealingSampler}, r"solver is the class SimulatedAnnealingSampler; give an instance"),
        ({"solver": 7}, r"solver is int; give a solver such as dn.Exact\(\), a dimod sampler, or a name"),
        ({"score": "bix"}, "there is no score 'bix'"),
        ({"score": 3}, "score is 3; give a score such as"),
        ({"score": dn.BIC}, r"score is the class BIC; give an instance: BIC\(\)"),
        ({"max_parents": "3"}, "max_parents is '3'; give a whole number"),
        ({"max_parents": 2.5}, "max_parents is 2.5"),
        ({"seed": "x"}, "seed is 'x'; give a whole number"),
        ({"seed": "x", "solver": SA}, "seed is 'x'"),
        ({"seed": 1, "run": dn.Run()}, "seed and time_limit cannot be combined with run"),
        ({"time_limit": 1, "run": dn.Run()}, "seed and time_limit cannot be combined with run"),
        ({"solver": "tree", "seed": 1}, "tree has no seed parameter"),
        ({"solver": dn.Divide("tree"), "seed": 1}, "tree has no seed parameter"),
        ({"solver": "leap-hybrid", "seed": 1}, "leap-hybrid has no seed parameter"),
        ({"run": 7}, r"run has the type int; give dn.Run\(...\)"),
        ({"time_limit": "60"}, "time_limit is '60'; give a number of seconds above 0"),
        ({"time_limit": True}, "time_limit is True"),
        ({"initial": "lung-cancer"}, "initial is 'lung-cancer'; give a networkx.DiGraph"),
        ({"initial": nx.Graph()}, "initial is .*; give a networkx.DiGraph"),
        ({"solver": dn.Divide(subproblems=7)}, "subproblems is 7"),
        ({"knowledge": 5}, "knowledge is 5; give a Knowledge, a dict"),
        ({"knowledge": {"leafs": ["Xray"]}}, "knowledge: 'leafs' is not a key of knowledge; .* did you mean 'leaves'"),
        ({"knowledge": {"leaves": "Xray"}}, "knowledge: leaves must be a list of names"),
        ({"knowledge": {"required": ["Xray"]}}, "knowledge: 'Xray' in required is not an edge"),
        ({"knowledge": {"limits": 3}}, "knowledge: limits must be a mapping such as"),
        ({"knowledge": {"leaves": ["Nose"]}}, "'Nose' in leaves is not a variable of the data"),
        ({"knowledge": "nowhere.toml"}, "nowhere.toml cannot be read"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_invalid_arguments_of_learn(options, message, data):
    with pytest.raises(dn.InputError, match=message) as caught:
        dn.learn(data, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dn.Run(seed="x"), "seed is 'x'; give a whole number"),
        (lambda: dn.Run(executor=3), "executor is 3; give a concurrent.futures.Executor"),
        (lambda: dn.Run(journal=3), "journal is 3; give the path of a file"),
        (lambda: dn.Run(progress=5), "progress is 5"),
        (lambda: dn.Run(deadline=60), r"deadline is 60; give dn.Deadline.after\(seconds\)"),
        (
            lambda: dn.Anneal(SA, parameters={"num_read": 3}),
            "parameter 'num_read'; it accepts .*; did you mean 'num_reads'",
        ),
        (lambda: dn.Anneal(SA, num_reads=3, parameters={"num_reads": 3}), "num_reads is given twice"),
        (lambda: dn.Anneal(SA, num_reads=0), "num_reads is 0; give a whole number of at least 1"),
        (lambda: dn.Anneal(SA, encoding="papyrus"), "the encoding 'papyrus'"),
        (lambda: dn.Anneal(SA, encoding=3), "encoding is 3; give an Encoding"),
        (lambda: dn.Anneal(SA, direct="yes"), "direct is 'yes'; give True or False"),
        (lambda: dn.Anneal(SA, repair=1), "repair is 1; give True or False"),
        (
            lambda: dn.Anneal(SimulatedAnnealingSampler),
            r"class .*; give an instance: SimulatedAnnealingSampler\(\)",
        ),
        (lambda: dn.Anneal(7), "sampler is int; give a dimod sampler, or a name such as 'sa'"),
        (lambda: dn.Anneal("exact"), "there is no sampler 'exact'; give one of sa, sqa"),
        (lambda: dn.Anneal("tabou"), "did you mean 'tabu'"),
        (lambda: dn.Anneal(SA, parameters=5), "^parameters is 5; give a dict such as"),
        (lambda: dn.Anneal(SA, parameters={5: 1}), r"^parameters is \{5: 1\}; give a dict such as"),
        (lambda: dn.Auto(prove="no"), "^prove is 'no'; give True, False, or a number"),
        (lambda: dn.OrderSearch(prove=0), "^prove is 0; give True, False, or a number"),
        (lambda: dn.OrderSearch(restarts=-1), "^restarts is -1; give a whole number of at least 0"),
        (lambda: dn.OrderSearch(restarts="3"), "^restarts is '3'; give a whole number"),
        (lambda: dn.Divide(acyclic=1), "acyclic is 1; give True or False"),
        (lambda: dn.Divide(size="3"), "^size is '3'; give a whole number"),
        (lambda: dn.Divide("sa", subproblem_parameters=5), "^subproblem_parameters is 5; give a dict"),
        (
            lambda: dn.Divide(subproblem_parameters={"num_reads": 3}),
            r"are only for samplers; give Divide\(Anneal\(sampler\), ...\)",
        ),
        (lambda: dn.Divide(combine="vote"), "combine is 'vote'; give one of 'conquer', 'penalty', 'count'"),
        (lambda: dn.Divide("exat"), "did you mean 'exact'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_invalid_settings(call, message):
    with pytest.raises(dn.InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_invalid_arguments_of_related_functions(data, table):
    cases = [
        (lambda: dn.learn(5), "cannot read data from int"),
        (lambda: dn.solvers.anneal(data, SA), "a ScoreTable is needed, not Dataset"),
        (lambda: dn.solvers.anneal(table, 5), "int is not a dimod.Sampler; give a sampler such as"),
        (lambda: dn.solvers.anneal(table, SA, sede=3), "did you mean 'seed'"),
        (lambda: dn.Problem(data), "source is a Dataset; give a Scorer or a ScoreTable"),
        (lambda: dn.Problem(table, max_parents=2), "a ScoreTable already has a parent limit"),
        (lambda: dn.solvers.exact(data), "a ScoreTable is needed, not Dataset"),
        (lambda: dn.solvers.order_search(data), "a ScoreTable is needed, not Dataset"),
        (lambda: dn.solvers.exhaustive(data), "a ScoreTable is needed, not Dataset"),
        (lambda: dn.bootstrap(data, 2, bins=3), r"call dn.bootstrap\(dn.read\(data, bins=...\)\)"),
        (lambda: dn.bootstrap(data, 2, max_parent=3), "did you mean 'max_parents'"),
        (lambda: dn.bootstrap(data, 2, size=4), r"call dn.bootstrap\(data, solver=dn.Divide\(..., size=...\)\)"),
        (lambda: dn.bootstrap(data, 2, seed=4), r"call dn.bootstrap\(data, run=dn.Run\(seed=...\)\)"),
        (lambda: dn.bootstrap(data, 2, time_limit=4), r"run=dn.Run\(deadline=dn.Deadline.after\(60\)\)"),
        (lambda: dn.bootstrap(data, 2, knowledge={"leaf": []}), "'leaf' is not a key of knowledge"),
        (lambda: dn.bootstrap(data, 2, run=7), r"run has the type int; give dn.Run\(...\)"),
        (lambda: dn.bootstrap(data, 2, run=dn.Run), r"run is the class Run; give dn.Run\(...\)"),
        (lambda: dn.learn(data).bootstrap(2, run=None), r"run has the type NoneType; give dn.Run\(...\)"),
        (lambda: dn.holdout(data, run="run.db"), r"run has the type str; give dn.Run\(...\)"),
        (lambda: dn.holdout(data, "x"), "share of held-out rows is 'x'; give a number between 0 and 1"),
        (lambda: dn.holdout(data, sore="bic"), "did you mean 'score'"),
        (lambda: dn.sensitivity(data, [1], score="bic"), "score is not an argument of sensitivity"),
        (lambda: dn.sensitivity(data, [1], run=7), r"run has the type int; give dn.Run\(...\)"),
        (lambda: dn.sensitivity(data, [1, "x"]), "an equivalent sample size is 'x'; give a list of numbers"),
        (lambda: dn.sensitivity(data, [0]), "the equivalent sample size is 0"),
        (lambda: dn.holdout(data, score="bix"), "there is no score 'bix'"),
        (lambda: dn.scoring.Scorer(data, score="bix"), "there is no score 'bix'"),
        (lambda: dn.scoring.Scorer(data, knowledge={"leaf": []}), "'leaf' is not a key of knowledge"),
        (lambda: dn.scoring.score_table(data, 7), "score is 7"),
        (lambda: dn.StructureLearner(criterion=4).fit(data.frame()), "score is 4"),
        (lambda: dn.StructureLearner(solver="ex").fit(data.frame()), "there is no solver 'ex'"),
        (lambda: dn.StructureLearner(knowledge=[1]).fit(data.frame()), r"knowledge is \[1\]"),
        (lambda: dn.StructureLearner(seed="x").fit(data.frame()), "seed is 'x'"),
    ]
    for call, message in cases:
        with pytest.raises(dn.InputError, match=message):
            call()


def test_numpy_seed_executor_and_journal_are_accepted(data, tmp_path):
    with ThreadPoolExecutor(2) as executor, dn.SqliteJournal(tmp_path / "run.db") as journal:
        run = dn.Run(np.int64(3), dn.Deadline.after(np.float64(600)), executor=executor, journal=journal)
        result = dn.learn(data, dn.Divide(size=3), run=run)
    assert result.seed == 3
