"""The result of `learn`: properties, methods, files and probabilities."""

import json
import random
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal.confidence.measures import Strength
from dagneal.confidence.parameter_counts import count_probabilities
from dagneal.divide.subproblem_solvers import Solutions
from dagneal.report.page import page
from dagneal.report.summary import summary_lines
from support.reference import random_data, random_table


class Circle:
    """A subproblem solver whose votes form a cycle."""

    name = "circle"

    def solve_many(self, subproblems):
        count, size = subproblems.members.shape
        adjacency = np.zeros((count, size, size), dtype=bool)
        adjacency[:, [0, 1, 2], [1, 2, 0]] = True
        return Solutions(adjacency, np.zeros(count))

    def fingerprint(self):
        return self.name


@pytest.fixture(scope="module")
def truth():
    return dn.load("lung-cancer")


@pytest.fixture(scope="module")
def data(truth):
    return truth.sample(2_000, 1)


@pytest.fixture(scope="module")
def result(data):
    return dn.learn(data)


@pytest.fixture(scope="module")
def cyclic():
    return dn.learn(random_data(3, 50, 1), dn.Divide(Circle(), combine="penalty"))


@pytest.fixture(scope="module")
def wide():
    """A result with an upper bound but without a proof of optimality, because the time for the proof was too short."""
    return dn.learn(random_data(24, 100, 1, arities=[2] * 24), dn.Auto(prove=1e-9), max_parents=2, seed=1)


# Properties


def test_repr_is_one_line(result, cyclic, wide, data):
    edges = len(result.edges)
    assert repr(result) == f"Learned(5 variables, {edges} edges, BDeu(1) = {result.score:.3f}, highest score proved)"
    assert repr(cyclic) == "Learned(3 variables, 3 edges, BDeu(1) = nan, not a network)"
    size = f"Learned(24 variables, {len(wide.edges)} edges"
    assert repr(wide) == f"{size}, BDeu(1) = {wide.score:.3f}, within {wide.gap:.3f} of the highest score)"
    assert repr(dn.learn(data, dn.OrderSearch(restarts=1))).endswith("highest score not proved)")
    one = dn.learn(data, max_parents=0, score="bic")
    assert repr(one) == f"Learned(5 variables, 0 edges, BIC = {one.score:.3f}, highest score proved)"


def test_is_dag_and_errors_for_cyclic_results(result, cyclic, data):
    assert result.is_dag
    assert not cyclic.is_dag
    for access in (lambda: cyclic.network, lambda: cyclic.cpdag):
        with pytest.raises(dn.InputError, match=r"the combined votes contain a cycle, .* with acyclic=True"):
            access()
    assert dn.learn(random_data(3, 50, 1), dn.Divide(Circle(), combine="penalty", acyclic=True)).is_dag


def test_gap(result, wide, data):
    assert result.gap == 0.0
    assert wide.gap == wide.bound.score - wide.score > 0
    assert dn.learn(data, dn.OrderSearch(restarts=1)).gap is None
    assert replace(wide, score=float("nan")).gap is None


def test_bound_for_fewer_parents_is_no_gap(wide):
    """A network with more parents than the bound covers can score above the bound."""
    larger = replace(wide, max_parents=3, score=wide.bound.score + 5)
    assert larger.gap is None
    assert repr(larger).endswith("highest score not proved)")
    assert "upper bound for at most 2 parents only" in "\n".join(summary_lines(larger))


def test_drawing_for_notebooks(result, cyclic, data):
    html = result._repr_html_()
    assert html.count("<svg") == 1
    for name in data.names:
        assert name in html
    assert "<svg" in cyclic._repr_html_()


def test_result_is_frozen(result):
    with pytest.raises(AttributeError):
        result.score = 0.0


# Methods


def test_graph_and_equivalence_class(result, truth):
    graph = result.to_networkx()
    assert isinstance(graph, nx.DiGraph)
    assert list(graph) == list(truth.names)
    assert list(graph.edges) == sorted(result.edges, key=lambda edge: list(truth.names).index(edge[0]))
    assert set(graph.edges) == set(result.edges)
    graph.add_edge("Smoker", "Xray")  # a copy
    assert set(result.dag.edges) == set(result.edges)
    assert nx.utils.graphs_equal(result.cpdag, dn.cpdag(result.dag))


def test_strengths(result, data):
    strengths = result.strengths()
    assert [(each.parent, each.child) for each in strengths] == result.edges
    assert strengths == dn.strengths(result.dag, data)
    measured = result.with_confidence(dn.Confidence(strengths=strengths[:1]))
    assert measured.strengths() == strengths[:1]
    assert result.confidence is None


def test_bootstrap(result, data):
    default = result.bootstrap(5, run=dn.Run(3))
    assert default.samples == 5
    assert np.array_equal(default.directions, dn.bootstrap(data, 5, run=dn.Run(3)).directions)
    exact = result.bootstrap(5, dn.Exact(), dn.Run(3))
    assert np.array_equal(default.directions, exact.directions)  # Auto uses exact search for five variables
    constrained = dn.learn(data, knowledge={"required": ["Xray -> Cancer"]}, max_parents=1)
    assert constrained.bootstrap(3).frequency("Xray", "Cancer") == (1.0, 1.0)
    divided = dn.learn(data, dn.Divide(combine="penalty", acyclic=True))
    assert divided.search_limit is None  # the rules of the paper have no parent limit
    assert divided.bootstrap(2).samples == 2


def test_comparison_with_the_truth(result, truth, data):
    by_network, by_graph = result.compare(truth), result.compare(truth.dag)
    assert by_network == by_graph == dn.compare(result.dag, truth.dag, dn.scoring.Scorer(data))
    same = dn.learn(truth.expected_data(10_000)).compare(truth)
    assert same.shd == 0
    assert result.compare(dn.Learned.of(dn.Solution(truth.dag, -1.0, 2, "other"))) == by_graph
    with pytest.raises(dn.InputError, match="have different variables"):
        result.compare(dn.load("waste"))
    for invalid in ("lung-cancer", nx.Graph(truth.dag), None):
        with pytest.raises(dn.InputError, match=r"truth is .*; give a network such as dn.load\('lung-cancer'\)"):
            result.compare(invalid)


def test_search_limit_is_the_requested_parent_limit(data, tmp_path):
    """A new search uses the requested parent limit, not the limit that the solver chose."""
    cases = [
        (None, dn.Auto(), None),
        (None, dn.OrderSearch(restarts=1), None),  # the default of order search is 3
        (None, dn.Exhaustive(), None),
        (3, dn.Exact(), 3),
        (np.int64(3), dn.Divide(combine="penalty", acyclic=True), 3),
        (None, dn.Divide(combine="penalty", acyclic=True), None),
        (None, dn.Anneal("sa", num_reads=5), None),
        (None, dn.Anneal("sa", num_reads=5, direct=True), 2),
        (1, dn.Anneal("sa", num_reads=5, direct=True), 1),
    ]
    for requested, solver, limit in cases:
        result = dn.learn(data, solver, max_parents=requested)
        assert (result.requested_parents, result.search_limit) == (requested, limit)
        assert result.to_dict()["requested_parents"] == requested
        result.save(tmp_path / "result.json")
        assert dn.load_result(tmp_path / "result.json").search_limit == limit
    xor = random_data(6, 300, 1, arities=[2] * 6)
    few = dn.learn(xor, dn.OrderSearch(restarts=1))
    assert np.array_equal(few.bootstrap(3).directions, dn.bootstrap(xor, 3).directions)
    two = dn.learn(random_data(2, 50, 1), dn.Anneal("sa", num_reads=5, direct=True))
    assert two.search_limit == 1
    assert two.bootstrap(2).samples == 2


def test_new_measures_keep_old_measures(result, data):
    frequencies = result.bootstrap(3)
    first = result.with_confidence(dn.Confidence(bootstrap=frequencies, threshold=0.8))
    holdout = dn.holdout(data)
    second = first.with_confidence(dn.Confidence(holdout=holdout)).with_confidence(dn.Confidence(sensitivity={1.0: []}))
    assert second.confidence.bootstrap is frequencies
    assert second.confidence.threshold == 0.8
    assert second.confidence.holdout is holdout
    assert second.confidence.sensitivity == {1.0: []}
    third = second.with_confidence(dn.Confidence(bootstrap=result.bootstrap(2)))
    assert (third.confidence.bootstrap.samples, third.confidence.threshold) == (2, 0.5)
    assert third.confidence.holdout is holdout


# Adding the data


class CustomScore(dn.BIC):
    """A user-defined score; result files do not store it."""

    name = "custom"


def test_with_data_accepts_only_the_training_data(result, data, tmp_path):
    result.save(tmp_path / "result.json")
    read = dn.load_result(tmp_path / "result.json")
    assert read.data is None
    assert read.data_summary == result.data_summary
    assert (read.data_summary.rows, read.data_summary.fingerprint) == (2_000, data.fingerprint)
    assert read.with_data(data.frame()).strengths() == result.strengths()
    truth = dn.load("lung-cancer")
    for other, message in (
        (
            truth.sample(1_999, 1),
            "the data have 1,999 rows, but the result was learned from 2,000 rows; give the training data",
        ),
        (truth.sample(2_000, 2), "the data differ from the training data in values"),
        (dn.load("waste").sample(2_000, 1), "the result and the data have different variables"),
    ):
        with pytest.raises(dn.InputError, match=message):
            read.with_data(other)
    read.save(tmp_path / "again.json")
    assert dn.load_result(tmp_path / "again.json").data_summary == result.data_summary
    read.save(tmp_path / "page.html")
    assert "2,000 rows" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_with_data_checks_the_score_without_a_fingerprint(result, data):
    plain = dn.Learned.of(dn.Solution(result.dag, result.score, 4, "exact"), score_name="BDeu(1)", criterion=dn.BDeu())
    assert plain.data_summary is None
    assert plain.with_data(data).strengths() == result.strengths()
    with pytest.raises(
        dn.InputError, match=rf"the score of this result is {result.score:.3f}, but BDeu\(1\) of these data is"
    ):
        plain.with_data(dn.load("lung-cancer").sample(2_000, 2))


def test_user_defined_score_is_not_stored(data, truth, tmp_path):
    learned = dn.learn(data, score=CustomScore())
    learned.save(tmp_path / "result.json")
    read = dn.load_result(tmp_path / "result.json")
    assert (read.criterion, read.score_name) == (None, "custom")
    for method in (lambda r: r.strengths(), lambda r: r.bootstrap(2), lambda r: r.compare(truth)):
        with pytest.raises(dn.InputError, match=r"needs the score 'custom', .*; call result.with_data\(data, score=...\)"):
            method(read.with_data(data))
    complete = read.with_data(data, CustomScore())
    assert complete.strengths() == learned.strengths()
    assert complete.compare(truth) == learned.compare(truth)
    assert np.array_equal(complete.bootstrap(3).directions, learned.bootstrap(3).directions)
    with pytest.raises(
        dn.InputError, match=r"the score of this result is .*, but K2 of these data is .*; give the training data"
    ):
        read.with_data(data, "k2")
    by_bic = dn.learn(data, score="bic")
    assert by_bic.with_data(data, "bic").criterion == dn.BIC()
    with pytest.raises(dn.InputError, match="score is 'k2', but the result was learned with BIC; remove score"):
        by_bic.with_data(data, "k2")
    read.with_data(data).save(tmp_path / "page.html")  # without score drops


# Files


def confidence_of(result, data):
    """Return all measures of confidence."""
    return dn.Confidence(
        strengths=result.strengths(),
        bootstrap=result.bootstrap(4),
        threshold=0.7,
        sensitivity={size: each.edges for size, each in dn.sensitivity(data, [0.5, 10]).items()},
        holdout=dn.holdout(data),
    )


KNOWN = {"required": ["Xray -> Cancer"], "leaves": ["Dyspnoea"], "limits": {"Cancer": 2}, "tiers": [["Smoker"], ["Xray"]]}
LIKELY = {"probabilities": {("Xray", "Cancer"): 0.999, ("Smoker", "Dyspnoea"): 0.7}}
DIRECT = dn.Anneal(SimulatedAnnealingSampler(), num_reads=20, direct=True)
RAW = dn.Anneal("sa", num_reads=2, direct=True, encoding="paper", repair=False, parameters={"num_sweeps": 1})
VOTES = dn.Divide(dn.Anneal("sa", num_reads=5), size=3, combine="count")


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda result, data: result, id="exact"),
        pytest.param(
            lambda result, data: dn.learn(random_data(3, 50, 1), dn.Divide(Circle(), combine="penalty")), id="cycle"
        ),
        pytest.param(
            lambda result, data: dn.learn(random_data(24, 100, 1, arities=[2] * 24), max_parents=2, seed=1), id="bound"
        ),
        pytest.param(lambda result, data: dn.learn(data, DIRECT, seed=2), id="reads"),
        pytest.param(lambda result, data: dn.learn(data, RAW, seed=2), id="raw reads"),
        pytest.param(lambda result, data: dn.learn(data, dn.Anneal("sa", num_reads=5), seed=2), id="candidates"),
        pytest.param(lambda result, data: dn.learn(data, VOTES, seed=2), id="votes of reads"),
        pytest.param(lambda result, data: dn.learn(data, dn.Anneal("qpu-emulated", num_reads=5)), id="hardware"),
        pytest.param(lambda result, data: result.with_confidence(confidence_of(result, data)), id="confidence"),
        pytest.param(lambda result, data: dn.learn(data, knowledge=KNOWN, score="bdeu:2.5"), id="knowledge"),
        pytest.param(lambda result, data: dn.learn(data, score="bic"), id="another score"),
        pytest.param(lambda result, data: dn.learn(data, knowledge=LIKELY, score="qnml"), id="probabilities"),
    ],
)
def test_loaded_result_equals_the_saved_result(make, result, data, tmp_path, embeddings, monkeypatch):
    monkeypatch.setenv("DAGNEAL_CACHE", str(embeddings))
    saved = make(result, data)
    saved.save(tmp_path / "result.json")
    read = dn.load_result(tmp_path / "result.json")
    plain = json.loads(json.dumps(saved.to_dict()))
    assert plain["data"]["fingerprint"] == saved.data.fingerprint
    assert json.loads(json.dumps(read.to_dict())) == plain
    assert repr(read) == repr(saved)
    assert (read.edges, list(read.dag)) == (saved.edges, list(saved.dag))
    assert (read.optimal, read.is_dag, read.gap, read.seed) == (saved.optimal, saved.is_dag, saved.gap, saved.seed)
    assert (read.requested_parents, read.search_limit) == (saved.requested_parents, saved.search_limit)
    assert (read.bound, read.hardware) == (saved.bound, saved.hardware)
    assert (read.knowledge, read.criterion, read.log_prior) == (saved.knowledge, saved.criterion, saved.log_prior)
    assert (read.reads is None, read.division is None) == (saved.reads is None, saved.division is None)
    if saved.reads is not None:
        assert read.reads.summary() == saved.reads.summary()
        assert read.reads.sampleset is None
    if saved.division is not None:
        assert read.division.summary() == saved.division.summary()
        assert np.array_equal(read.division.votes, saved.division.votes)
        assert np.array_equal(read.division.against, saved.division.against)
    if saved.is_dag:
        assert set(read.network.cpts) == set(saved.network.cpts)
        assert all(read.network.cpts[name] == pytest.approx(saved.network.cpts[name]) for name in saved.network.cpts)
        assert nx.utils.graphs_equal(read.cpdag, saved.cpdag)
    read.save(tmp_path / "again.json")
    assert dn.load_result(tmp_path / "again.json").to_dict() == read.to_dict()


def test_loaded_result_without_data_raises_clear_errors(result, data, truth, tmp_path):
    result.save(tmp_path / "result.json")
    read = dn.load_result(tmp_path / "result.json")
    message = (
        r"strengths needs the data, .* result.with_data\(data\).strengths\(\), or dn.strengths\(result.dag, data, score\)"
    )
    with pytest.raises(dn.InputError, match=message):
        read.strengths()
    with pytest.raises(dn.InputError, match=r"bootstrap needs the data, .* or dn.bootstrap\(data\)"):
        read.bootstrap(2)
    assert read.compare(truth).shd == result.compare(truth).shd
    complete = read.with_data(data)
    assert complete.strengths() == result.strengths()
    assert np.array_equal(complete.bootstrap(3).directions, result.bootstrap(3).directions)
    read.save(tmp_path / "result.bif")
    assert set(dn.read_bif(tmp_path / "result.bif").dag.edges) == set(result.edges)


def test_confidence_is_loaded(result, data, tmp_path):
    measured = result.with_confidence(confidence_of(result, data))
    measured.save(tmp_path / "result.json")
    read = dn.load_result(tmp_path / "result.json").confidence
    assert read.strengths == measured.confidence.strengths
    assert read.threshold == 0.7
    assert read.sensitivity == measured.confidence.sensitivity
    assert read.holdout == measured.confidence.holdout
    assert (read.bootstrap.samples, read.bootstrap.requested, read.bootstrap.interrupted) == (4, 4, False)
    assert np.allclose(read.bootstrap.directions, measured.confidence.bootstrap.directions)


def test_main_keys_of_the_json_format(result, data):
    plain = result.to_dict()
    assert plain["format_version"] == 2
    assert plain["variables"] == list(data.names)
    assert plain["edges"] == [list(edge) for edge in result.edges]
    assert (plain["score"], plain["optimal"], plain["data"]["rows"]) == (result.score, True, 2_000)


VERSION_1 = {
    "format_version": 1,
    "variables": ["a", "b"],
    "edges": [["a", "b"]],
    "score": -20.5,
    "score_name": "BDeu(1)",
    "max_parents": 1,
    "requested_parents": None,
    "solver": "SimulatedAnnealingSampler",
    "seed": 3,
    "seconds": {"score": 0.1, "blocks": 0.2, "conquer": 0.3},
    "optimal": False,
    "criterion": "bdeu:1.0",
    "strengths": [{"parent": "a", "child": "b", "loss": 4.5, "turned": None, "decided": False}],
    "annealed": {
        "encoding": "tight",
        "reads": 10,
        "distinct": 2,
        "bits": 4,
        "interactions": 3,
        "lowest_energy": 20.5,
        "feasible_share": 0.5,
        "raw": {"score": -20.5, "hits": 4, "optimum_hits": None},
        "repaired": {"score": -20.5, "hits": 9, "optimum_hits": None},
        "random_order_baseline": -20.5,
        "optimum": None,
    },
    "division": {
        "combine": "conquer",
        "size": 2,
        "scheme": "all",
        "subproblems": 1,
        "solver": "SimulatedAnnealingSampler",
        "failed": {},
        "finished": 1,
        "candidates": {"a": [], "b": ["a"]},
        "rounds": 2,
        "global_solver": "SimulatedAnnealingSampler",
        "skipped": "",
        "interrupted": False,
    },
    "acyclic": True,
}


def test_version_1_file_loads_like_version_2(tmp_path):
    """A file of version 1 gives the same result as the same file with the keys of version 2."""
    (tmp_path / "old.json").write_text(json.dumps(VERSION_1))
    old = dn.load_result(tmp_path / "old.json")
    strength = {"parent": "a", "child": "b", "drop_if_removed": 4.5, "drop_if_reversed": None, "compelled": False}
    new = VERSION_1 | {
        "format_version": 2,
        "gap": None,
        "seconds": {"score": 0.1, "subproblems": 0.2, "conquer": 0.3},
        "strengths": [strength],
        "directions": [{"parent": "a", "child": "b", "direction": "undetermined"}],
        "annealed": VERSION_1["annealed"] | {"qubo_variables": 4},
        "division": VERSION_1["division"] | {"global_solves": 2},
    }
    del new["annealed"]["bits"], new["division"]["rounds"]
    (tmp_path / "new.json").write_text(json.dumps(new))
    assert old.to_dict() == dn.load_result(tmp_path / "new.json").to_dict() == new
    assert (old.reads.qubo_variables, old.division.global_solves, old.seconds["subproblems"]) == (4, 2, 0.2)
    assert old.strengths() == [Strength("a", "b", 4.5, None, False)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda plain: plain.update(format_version=3),
            "has format version 3; this version of dagneal reads versions 1 and 2",
        ),
        (lambda plain: plain.update(format_version="1"), "has format version '1'"),
        (lambda plain: plain.pop("format_version"), "is not a result of `dagneal learn`: it has no format_version"),
        (lambda plain: plain.pop("solver"), "is not a valid result: KeyError: 'solver'"),
        (lambda plain: plain.update(seconds=3), "is not a valid result: ValueError: seconds is 3, not a JSON object"),
        (lambda plain: plain.update(bound={"size": 3}), "is not a valid result: KeyError: 'score'"),
        (lambda plain: plain.update(max_parents="many"), "is not a valid result: ValueError"),
    ],
)
def test_invalid_result_is_rejected(change, message, result, tmp_path):
    plain = result.to_dict()
    change(plain)
    (tmp_path / "result.json").write_text(json.dumps(plain))
    with pytest.raises(dn.InputError, match=message) as caught:
        dn.load_result(tmp_path / "result.json")
    assert "\n" not in str(caught.value)


REPLACEMENTS = [None, True, -1, 0, 1, 1e400, float("nan"), "x", "", [], [1], {}, {"a": 1}, [[1, 2]], 2**80, "removed"]


def paths_of(plain, above=()):
    """Yield the path of every value; only the first two items of a list."""
    for key in list(plain)[:99] if isinstance(plain, dict) else range(min(len(plain), 2)):
        yield (*above, key)
        if isinstance(plain[key], dict | list):
            yield from paths_of(plain[key], (*above, key))


def test_damaged_files_are_loaded_or_rejected(result, data, tmp_path, embeddings, monkeypatch):
    """A damaged file gives one clear error, or a usable result."""
    monkeypatch.setenv("DAGNEAL_CACHE", str(embeddings))
    generator = random.Random(3)
    results = [
        result.with_confidence(confidence_of(result, data)),
        dn.learn(data, DIRECT, seed=2),
        dn.learn(data, dn.Anneal("qpu-emulated", num_reads=5)),
        dn.learn(data, VOTES, seed=2, knowledge=KNOWN),
    ]
    read, messages = 0, []
    for original in results:
        original.save(tmp_path / "result.json")
        text = (tmp_path / "result.json").read_text()
        paths = list(paths_of(json.loads(text)))
        for path in generator.choices(paths, k=200):
            plain = json.loads(text)
            container = plain
            for key in path[:-1]:
                container = container[key]
            value = generator.choice(REPLACEMENTS)
            if value == "removed":
                del container[path[-1]]
            else:
                container[path[-1]] = value
            (tmp_path / "changed.json").write_text(json.dumps(plain))
            try:
                changed = dn.load_result(tmp_path / "changed.json")
            except dn.InputError as error:
                messages.append(str(error))
                continue
            read += 1
            assert repr(changed).startswith("Learned(")
            json.dumps(changed.to_dict())
            summary_lines(changed)
            page(changed)
    assert read > 20
    assert len(messages) > 400
    assert not any("\n" in message for message in messages)


def test_other_files_are_rejected(result, tmp_path):
    result.save(tmp_path / "result.bif")
    with pytest.raises(dn.InputError, match=r"is not a result; give a \.json file"):
        dn.load_result(tmp_path / "result.bif")
    with pytest.raises(dn.InputError, match="cannot be read"):
        dn.load_result(tmp_path / "nowhere.json")
    with pytest.raises(dn.InputError, match="path is 5"):
        dn.load_result(5)
    with pytest.raises(dn.InputError, match="path is 5"):
        result.save(5)
    (tmp_path / "list.json").write_text("[1, 2]")
    with pytest.raises(dn.InputError):
        dn.load_result(tmp_path / "list.json")


@pytest.mark.parametrize("ending", ["json", "bif", "graphml", "dot"])
def test_save_in_every_format(tmp_path, ending):
    result = dn.learn(dn.load("lung-cancer").expected_data(10_000))
    path = tmp_path / f"result.{ending}"
    result.save(path)
    if ending == "json":
        saved = json.loads(path.read_text())
        assert saved | result.to_dict() == saved
        assert set(saved) - set(result.to_dict()) == {"name", "states", "parents", "cpts"}
    elif ending == "bif":
        assert dn.read_bif(path).dag.edges == result.dag.edges
    elif ending == "graphml":
        assert set(nx.read_graphml(path).edges) == set(result.edges)
    else:
        style = '[arrowhead=empty, direction="compelled, stability unknown"]'
        assert f'"Pollution" -> "Cancer" {style};' in path.read_text()


def test_save_errors(tmp_path):
    result = dn.Learned.of(dn.solvers.exact(random_table(3, 2, seed=0)))
    with pytest.raises(dn.InputError, match="has no data to fit probabilities to"):
        result.save(tmp_path / "result.bif")
    with pytest.raises(dn.InputError, match="end the name in"):
        result.save(tmp_path / "result.txt")
    with pytest.raises(dn.InputError, match="no folder"):
        result.save(tmp_path / "nowhere" / "result.json")
    assert list(tmp_path.iterdir()) == []


def test_probabilities_are_fitted_on_first_access():
    """Learning works with two columns of 11,000 states, although the probability table is too large."""
    codes = np.arange(11_000)
    data = dn.Dataset.from_codes(["a", "b"], [[f"s{i}" for i in range(11_000)]] * 2, np.array([codes, codes]))
    result = dn.learn(data)
    assert result.optimal
    if result.edges:
        with pytest.raises(dn.InputError, match="121,000,000"):
            _ = result.network
    with pytest.raises(dn.InputError, match="not a Dirichlet prior"):
        dn.fit(result.dag, data, dn.BIC())


def test_too_many_probabilities_are_left_out_of_a_json_file(tmp_path, monkeypatch):
    truth = dn.load("lung-cancer")
    learned = dn.learn(truth.sample(500, 1))
    learned.save(tmp_path / "all.json")
    monkeypatch.setattr("dagneal.result.STORED_PROBABILITIES", 5)
    with pytest.warns(UserWarning, match=r"the network has \d+ probabilities, so .*few.json omits them"):
        learned.save(tmp_path / "few.json")
    both = dn.load_result(tmp_path / "all.json"), dn.load_result(tmp_path / "few.json")
    assert both[0].fitted is not None
    assert both[1].fitted is None
    assert both[0].edges == both[1].edges == learned.edges
    total = sum(table.size for table in learned.network.cpts.values())
    assert count_probabilities(learned.dag, learned.data) == total
