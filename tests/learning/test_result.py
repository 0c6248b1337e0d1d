"""The result of `learn`: what it says, its methods, its files and its probabilities."""

import json
import random
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal.divide.subproblem_solvers import Solutions
from dagneal.report.page import page
from dagneal.report.summary import summary_lines
from support.reference import random_data, random_table


class Circle:
    """A subproblem solver whose votes leave a cycle."""

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
def found(data):
    return dn.learn(data)


@pytest.fixture(scope="module")
def cyclic():
    return dn.learn(random_data(3, 50, 1), dn.Divide(Circle(), combine="penalty"))


@pytest.fixture(scope="module")
def wide():
    """A result without a proof, but with a bound: more variables than exact search takes in seconds."""
    return dn.learn(random_data(24, 100, 1, arities=[2] * 24), max_parents=2, seed=1)


# What it says


def test_its_repr_is_one_line(found, cyclic, wide, data):
    assert repr(found) == f"Learned(5 variables, {len(found.edges)} edges, BDeu(1) = {found.score:.3f}, optimal)"
    assert repr(cyclic) == "Learned(3 variables, 3 edges, BDeu(1) = nan, not a network)"
    size = f"Learned(24 variables, {len(wide.edges)} edges"
    assert repr(wide) == f"{size}, BDeu(1) = {wide.score:.3f}, within {wide.gap:.3f} of the optimum)"
    assert repr(dn.learn(data, dn.OrderSearch(rounds=1))).endswith("not proved optimal)")
    one = dn.learn(data, max_parents=0, score="bic")
    assert repr(one) == f"Learned(5 variables, 0 edges, BIC = {one.score:.3f}, optimal)"


def test_whether_it_is_a_network(found, cyclic, data):
    assert found.is_dag
    assert not cyclic.is_dag
    for what in (lambda: cyclic.network, lambda: cyclic.cpdag):
        with pytest.raises(dn.InputError, match=r"the votes leave a cycle, .* with acyclic=True"):
            what()
    assert dn.learn(random_data(3, 50, 1), dn.Divide(Circle(), combine="penalty", acyclic=True)).is_dag


def test_its_gap(found, wide, data):
    assert found.gap == 0.0
    assert wide.gap == wide.bound.score - wide.score > 0
    assert dn.learn(data, dn.OrderSearch(rounds=1)).gap is None
    assert replace(wide, score=float("nan")).gap is None


def test_its_drawing_for_notebooks(found, cyclic, data):
    html = found._repr_html_()
    assert html.count("<svg") == 1
    for name in data.names:
        assert name in html
    assert "<svg" in cyclic._repr_html_()


def test_it_cannot_be_changed(found):
    with pytest.raises(AttributeError):
        found.score = 0.0


# Its methods


def test_its_graph_and_equivalence_class(found, truth):
    graph = found.to_networkx()
    assert isinstance(graph, nx.DiGraph)
    assert list(graph) == list(truth.names)
    assert list(graph.edges) == sorted(found.edges, key=lambda edge: list(truth.names).index(edge[0]))
    assert set(graph.edges) == set(found.edges)
    graph.add_edge("Smoker", "Xray")  # a copy
    assert set(found.dag.edges) == set(found.edges)
    assert nx.utils.graphs_equal(found.cpdag, dn.cpdag(found.dag))


def test_its_strengths(found, data):
    its = found.strengths()
    assert [(each.parent, each.child) for each in its] == found.edges
    assert its == dn.strengths(found.dag, data)
    measured = found.with_confidence(dn.Confidence(strengths=its[:1]))
    assert measured.strengths() == its[:1]
    assert found.confidence is None


def test_its_bootstrap(found, data):
    ours = found.bootstrap(5, run=dn.Run(3))
    assert ours.samples == 5
    assert np.array_equal(ours.directions, dn.bootstrap(data, 5, run=dn.Run(3)).directions)
    exact = found.bootstrap(5, dn.Exact(), dn.Run(3))
    assert np.array_equal(ours.directions, exact.directions)  # what Auto does with five variables
    known = dn.learn(data, knowledge={"required": ["Xray -> Cancer"]}, max_parents=1)
    assert known.bootstrap(3).of("Xray", "Cancer") == (1.0, 1.0)
    divided = dn.learn(data, dn.Divide(combine="penalty", acyclic=True))
    assert divided.search_limit is None  # the rules of the paper have no parent limit
    assert divided.bootstrap(2).samples == 2


def test_its_comparison_with_the_truth(found, truth, data):
    by_network, by_graph = found.compare(truth), found.compare(truth.dag)
    assert by_network == by_graph == dn.compare(found.dag, truth.dag, dn.scoring.Scorer(data))
    same = dn.learn(truth.expected(10_000)).compare(truth)
    assert same.shd == 0
    assert found.compare(dn.Learned.of(dn.Solution(truth.dag, -1.0, 2, "other"))) == by_graph
    with pytest.raises(dn.InputError, match="differ in their variables"):
        found.compare(dn.load("waste"))
    for wrong in ("lung-cancer", nx.Graph(truth.dag), None):
        with pytest.raises(dn.InputError, match=r"truth is .*; give a network such as dn.load\('lung-cancer'\)"):
            found.compare(wrong)


def test_further_searches_have_the_limit_that_was_asked_for(data, tmp_path):
    """Not that of the result, which may be the default of its solver, or what the rules of the paper found."""
    cases = [
        (None, dn.Auto(), None),
        (None, dn.OrderSearch(rounds=1), None),  # its own default is 3
        (None, dn.Exhaustive(), None),
        (3, dn.Exact(), 3),
        (np.int64(3), dn.Divide(combine="penalty", acyclic=True), 3),
        (None, dn.Divide(combine="penalty", acyclic=True), None),
        (None, dn.Anneal("sa", num_reads=5), None),
        (None, dn.Anneal("sa", num_reads=5, direct=True), 2),
        (1, dn.Anneal("sa", num_reads=5, direct=True), 1),
    ]
    for asked, solver, limit in cases:
        result = dn.learn(data, solver, max_parents=asked)
        assert (result.requested_parents, result.search_limit) == (asked, limit)
        assert result.to_dict()["requested_parents"] == asked
        result.save(tmp_path / "found.json")
        assert dn.load_result(tmp_path / "found.json").search_limit == limit
    xor = random_data(6, 300, 1, arities=[2] * 6)
    few = dn.learn(xor, dn.OrderSearch(rounds=1))
    assert np.array_equal(few.bootstrap(3).directions, dn.bootstrap(xor, 3).directions)
    two = dn.learn(random_data(2, 50, 1), dn.Anneal("sa", num_reads=5, direct=True))
    assert two.search_limit == 1
    assert two.bootstrap(2).samples == 2


def test_new_measures_do_not_remove_old_ones(found, data):
    resampled = found.bootstrap(3)
    first = found.with_confidence(dn.Confidence(bootstrap=resampled, threshold=0.8))
    held = dn.holdout(data)
    second = first.with_confidence(dn.Confidence(holdout=held)).with_confidence(dn.Confidence(sensitivity={1.0: []}))
    assert second.confidence.bootstrap is resampled
    assert second.confidence.threshold == 0.8
    assert second.confidence.holdout is held
    assert second.confidence.sensitivity == {1.0: []}
    third = second.with_confidence(dn.Confidence(bootstrap=found.bootstrap(2)))
    assert (third.confidence.bootstrap.samples, third.confidence.threshold) == (2, 0.5)
    assert third.confidence.holdout is held


# Its data again


class Mine(dn.BIC):
    """A score of the user's own, which no file holds."""

    name = "mine"


def test_its_data_come_back_only_if_they_are_the_same(found, data, tmp_path):
    found.save(tmp_path / "found.json")
    read = dn.load_result(tmp_path / "found.json")
    assert read.data is None
    assert read.data_summary == found.data_summary
    assert (read.data_summary.rows, read.data_summary.fingerprint) == (2_000, data.fingerprint)
    assert read.with_data(data.frame()).strengths() == found.strengths()
    truth = dn.load("lung-cancer")
    for other, message in (
        (truth.sample(1_999, 1), r"the data have 1,999 rows, and the result was learned from 2,000; give the data that"),
        (truth.sample(2_000, 2), "the data have as many rows as those of the result, but other content"),
        (dn.load("waste").sample(2_000, 1), "the result and the data differ in their variables"),
    ):
        with pytest.raises(dn.InputError, match=message):
            read.with_data(other)
    read.save(tmp_path / "again.json")
    assert dn.load_result(tmp_path / "again.json").data_summary == found.data_summary
    read.save(tmp_path / "page.html")
    assert "2,000 rows" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_result_without_a_fingerprint_is_checked_by_its_score(found, data):
    plain = dn.Learned.of(dn.Solution(found.dag, found.score, 4, "exact"), score_name="BDeu(1)", criterion=dn.BDeu())
    assert plain.data_summary is None
    assert plain.with_data(data).strengths() == found.strengths()
    with pytest.raises(dn.InputError, match=rf"the network scores {found.score:.3f} in this result, but .* by BDeu\(1\)"):
        plain.with_data(dn.load("lung-cancer").sample(2_000, 2))


def test_a_score_of_your_own_is_given_again(data, truth, tmp_path):
    mine = dn.learn(data, score=Mine())
    mine.save(tmp_path / "found.json")
    read = dn.load_result(tmp_path / "found.json")
    assert (read.criterion, read.score_name) == (None, "mine")
    for what in (lambda its: its.strengths(), lambda its: its.bootstrap(2), lambda its: its.compare(truth)):
        with pytest.raises(dn.InputError, match=r"needs the score 'mine' .*; call result.with_data\(data, score=...\)"):
            what(read.with_data(data))
    whole = read.with_data(data, Mine())
    assert whole.strengths() == mine.strengths()
    assert whole.compare(truth) == mine.compare(truth)
    assert np.array_equal(whole.bootstrap(3).directions, mine.bootstrap(3).directions)
    with pytest.raises(dn.InputError, match=r"the network scores .* by K2 with these data; give the data and the score"):
        read.with_data(data, "k2")
    known = dn.learn(data, score="bic")
    assert known.with_data(data, "bic").criterion == dn.BIC()
    with pytest.raises(dn.InputError, match="score is 'k2', but the result was learned with BIC; leave score out"):
        known.with_data(data, "k2")
    read.with_data(data).save(tmp_path / "page.html")  # without figures that need the score


# Its files


def confidence_of(found, data):
    """All measures of confidence."""
    return dn.Confidence(
        strengths=found.strengths(),
        bootstrap=found.bootstrap(4),
        threshold=0.7,
        sensitivity={size: each.edges for size, each in dn.sensitivity(data, [0.5, 10]).items()},
        holdout=dn.holdout(data),
    )


KNOWN = {"required": ["Xray -> Cancer"], "leaves": ["Dyspnoea"], "limits": {"Cancer": 2}, "tiers": [["Smoker"], ["Xray"]]}
DIRECT = dn.Anneal(SimulatedAnnealingSampler(), num_reads=20, direct=True)
RAW = dn.Anneal("sa", num_reads=2, direct=True, encoding="paper", repair=False, parameters={"num_sweeps": 1})
VOTES = dn.Divide(dn.Anneal("sa", num_reads=5), size=3, combine="count")


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda found, data: found, id="exact"),
        pytest.param(
            lambda found, data: dn.learn(random_data(3, 50, 1), dn.Divide(Circle(), combine="penalty")), id="cycle"
        ),
        pytest.param(
            lambda found, data: dn.learn(random_data(24, 100, 1, arities=[2] * 24), max_parents=2, seed=1), id="bound"
        ),
        pytest.param(lambda found, data: dn.learn(data, DIRECT, seed=2), id="reads"),
        pytest.param(lambda found, data: dn.learn(data, RAW, seed=2), id="raw reads"),
        pytest.param(lambda found, data: dn.learn(data, dn.Anneal("sa", num_reads=5), seed=2), id="candidates"),
        pytest.param(lambda found, data: dn.learn(data, VOTES, seed=2), id="votes of reads"),
        pytest.param(lambda found, data: dn.learn(data, dn.Anneal("qpu-emulated", num_reads=5)), id="hardware"),
        pytest.param(lambda found, data: found.with_confidence(confidence_of(found, data)), id="confidence"),
        pytest.param(lambda found, data: dn.learn(data, knowledge=KNOWN, score="bdeu:2.5"), id="knowledge"),
        pytest.param(lambda found, data: dn.learn(data, score="bic"), id="another score"),
    ],
)
def test_it_is_read_back(make, found, data, tmp_path, embeddings, monkeypatch):
    monkeypatch.setenv("DAGNEAL_CACHE", str(embeddings))
    saved = make(found, data)
    saved.save(tmp_path / "found.json")
    read = dn.load_result(tmp_path / "found.json")
    plain = json.loads(json.dumps(saved.to_dict()))
    assert plain["data"]["fingerprint"] == saved.data.fingerprint
    assert json.loads(json.dumps(read.to_dict())) == plain
    assert repr(read) == repr(saved)
    assert (read.edges, list(read.dag)) == (saved.edges, list(saved.dag))
    assert (read.optimal, read.is_dag, read.gap, read.seed) == (saved.optimal, saved.is_dag, saved.gap, saved.seed)
    assert (read.requested_parents, read.search_limit) == (saved.requested_parents, saved.search_limit)
    assert (read.bound, read.hardware) == (saved.bound, saved.hardware)
    assert (read.knowledge, read.criterion) == (saved.knowledge, saved.criterion)
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


def test_what_is_read_back_says_when_it_needs_the_data(found, data, truth, tmp_path):
    found.save(tmp_path / "found.json")
    read = dn.load_result(tmp_path / "found.json")
    message = (
        r"strengths needs the data, .* result.with_data\(data\).strengths\(\), or dn.strengths\(result.dag, data, score\)"
    )
    with pytest.raises(dn.InputError, match=message):
        read.strengths()
    with pytest.raises(dn.InputError, match=r"bootstrap needs the data, .* or dn.bootstrap\(data\)"):
        read.bootstrap(2)
    assert read.compare(truth).shd == found.compare(truth).shd
    whole = read.with_data(data)
    assert whole.strengths() == found.strengths()
    assert np.array_equal(whole.bootstrap(3).directions, found.bootstrap(3).directions)
    read.save(tmp_path / "found.bif")
    assert set(dn.read_bif(tmp_path / "found.bif").dag.edges) == set(found.edges)


def test_its_confidence_is_read_back(found, data, tmp_path):
    measured = found.with_confidence(confidence_of(found, data))
    measured.save(tmp_path / "found.json")
    read = dn.load_result(tmp_path / "found.json").confidence
    assert read.strengths == measured.confidence.strengths
    assert read.threshold == 0.7
    assert read.sensitivity == measured.confidence.sensitivity
    assert read.holdout == measured.confidence.holdout
    assert (read.bootstrap.samples, read.bootstrap.requested, read.bootstrap.interrupted) == (4, 4, False)
    assert np.allclose(read.bootstrap.directions, measured.confidence.bootstrap.directions)


def test_the_keys_that_other_programs_use(found, data):
    plain = found.to_dict()
    assert plain["format_version"] == 1
    assert plain["variables"] == list(data.names)
    assert plain["edges"] == [list(edge) for edge in found.edges]
    assert (plain["score"], plain["optimal"], plain["data"]["rows"]) == (found.score, True, 2_000)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda plain: plain.update(format_version=2), "has the format version 2; this version of dagneal reads 1"),
        (lambda plain: plain.update(format_version="1"), "has the format version '1'"),
        (lambda plain: plain.pop("format_version"), "is no result of `dagneal learn`; it has no format_version"),
        (lambda plain: plain.pop("solver"), "is no valid result: KeyError: 'solver'"),
        (lambda plain: plain.update(seconds=3), "is no valid result: ValueError: seconds is 3, not a mapping"),
        (lambda plain: plain.update(bound={"size": 3}), "is no valid result: KeyError: 'score'"),
        (lambda plain: plain.update(max_parents="many"), "is no valid result: ValueError"),
    ],
)
def test_what_is_no_result_is_refused(change, message, found, tmp_path):
    plain = found.to_dict()
    change(plain)
    (tmp_path / "found.json").write_text(json.dumps(plain))
    with pytest.raises(dn.InputError, match=message) as caught:
        dn.load_result(tmp_path / "found.json")
    assert "\n" not in str(caught.value)


WRONG = [None, True, -1, 0, 1, 1e400, float("nan"), "x", "", [], [1], {}, {"a": 1}, [[1, 2]], 2**80, "removed"]


def places_of(plain, above=()):
    """Yield the places of all values; of a list only the first two."""
    for key in list(plain)[:99] if isinstance(plain, dict) else range(min(len(plain), 2)):
        yield (*above, key)
        if isinstance(plain[key], dict | list):
            yield from places_of(plain[key], (*above, key))


def test_changed_files_are_read_or_refused(found, data, tmp_path, embeddings, monkeypatch):
    """Whatever is in a file, there is one clear error, or a result that works."""
    monkeypatch.setenv("DAGNEAL_CACHE", str(embeddings))
    generator = random.Random(3)
    results = [
        found.with_confidence(confidence_of(found, data)),
        dn.learn(data, DIRECT, seed=2),
        dn.learn(data, dn.Anneal("qpu-emulated", num_reads=5)),
        dn.learn(data, VOTES, seed=2, knowledge=KNOWN),
    ]
    read, messages = 0, []
    for result in results:
        result.save(tmp_path / "found.json")
        text = (tmp_path / "found.json").read_text()
        places = list(places_of(json.loads(text)))
        for place in generator.choices(places, k=200):
            plain = json.loads(text)
            around = plain
            for key in place[:-1]:
                around = around[key]
            value = generator.choice(WRONG)
            if value == "removed":
                del around[place[-1]]
            else:
                around[place[-1]] = value
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


def test_other_files_are_no_results(found, tmp_path):
    found.save(tmp_path / "found.bif")
    with pytest.raises(dn.InputError, match=r"is no result; results are saved as \.json"):
        dn.load_result(tmp_path / "found.bif")
    with pytest.raises(dn.InputError, match="cannot be read"):
        dn.load_result(tmp_path / "nowhere.json")
    with pytest.raises(dn.InputError, match="path is 5"):
        dn.load_result(5)
    with pytest.raises(dn.InputError, match="path is 5"):
        found.save(5)
    (tmp_path / "list.json").write_text("[1, 2]")
    with pytest.raises(dn.InputError):
        dn.load_result(tmp_path / "list.json")


@pytest.mark.parametrize("ending", ["json", "bif", "graphml", "dot"])
def test_saving(tmp_path, ending):
    found = dn.learn(dn.load("lung-cancer").expected(10_000))
    path = tmp_path / f"found.{ending}"
    found.save(path)
    if ending == "json":
        saved = json.loads(path.read_text())
        assert saved | found.to_dict() == saved
        assert set(saved) - set(found.to_dict()) == {"name", "states", "parents", "cpts"}
    elif ending == "bif":
        assert dn.read_bif(path).dag.edges == found.dag.edges
    elif ending == "graphml":
        assert set(nx.read_graphml(path).edges) == set(found.edges)
    else:
        assert '"Pollution" -> "Cancer";' in path.read_text()


def test_saving_what_cannot_be_saved(tmp_path):
    found = dn.Learned.of(dn.solvers.exact(random_table(3, 2, seed=0)))
    with pytest.raises(dn.InputError, match="need the data"):
        found.save(tmp_path / "found.bif")
    with pytest.raises(dn.InputError, match="end the name in"):
        found.save(tmp_path / "found.txt")
    with pytest.raises(dn.InputError, match="no folder"):
        found.save(tmp_path / "nowhere" / "found.json")
    assert list(tmp_path.iterdir()) == []


def test_probabilities_are_fitted_only_when_asked_for():
    """Two columns of 11,000 names: a network, but not one whose table fits anywhere."""
    codes = np.arange(11_000)
    data = dn.Dataset.from_codes(["a", "b"], [[f"s{i}" for i in range(11_000)]] * 2, np.array([codes, codes]))
    found = dn.learn(data)
    assert found.optimal
    if found.edges:
        with pytest.raises(dn.InputError, match="121,000,000"):
            _ = found.network
    with pytest.raises(dn.InputError, match="no Dirichlet prior"):
        dn.fit(found.dag, data, dn.BIC())
