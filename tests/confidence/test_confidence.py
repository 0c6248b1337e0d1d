"""Measures of confidence: bootstrap, score drops, priors and held-out rows."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import log

import networkx as nx
import numpy as np
import pytest

import dagneal as dn
from dagneal.confidence.bootstrap import Bootstrap, bootstrap, bootstrap_sample
from dagneal.confidence.measures import compare_classes, holdout, log_likelihood, sensitivity, strengths
from dagneal.report.page import page
from dagneal.report.summary import bootstrap_line, confidence_lines
from support.reference import random_data


@pytest.fixture(scope="module")
def data():
    return dn.load("lung-cancer").sample(5_000, 3)


@pytest.mark.parametrize(("method", "rows", "variance"), [("subsample", 4_000, 0.8 * 0.2), ("rows", 5_000, 1.0)])
def test_bootstrap_samples_have_the_mean_and_variance_of_their_method(data, method, rows, variance):
    samples = [bootstrap_sample(data, 1, number, method) for number in range(200)]
    assert {sample.rows for sample in samples} == {rows}
    commonest = int(np.argmax(data.weights))
    counts = []
    for sample in samples:
        same = (sample.codes == data.codes[:, [commonest]]).all(axis=0)
        counts.append(int(sample.weights[same].sum()))
    share = data.weights[commonest] / 5_000
    spread = np.sqrt(variance * 5_000 * share * (1 - share))
    assert abs(np.mean(counts) - rows * share) < 4 * spread / np.sqrt(200)
    assert 0.8 * spread < np.std(counts) < 1.2 * spread
    assert np.array_equal(bootstrap_sample(data, 1, 7, method).weights, samples[7].weights)


def test_subsamples_repeat_no_row(data):
    for number in range(20):
        sample = bootstrap_sample(data, 2, number)
        weight_of = dict(zip(map(tuple, data.codes.T.tolist()), data.weights, strict=True))
        rows = zip(map(tuple, sample.codes.T.tolist()), sample.weights, strict=True)
        assert all(weight <= weight_of[row] for row, weight in rows)


def test_a_sample_of_very_few_rows():
    data = dn.Dataset.from_codes(["a", "b"], [("0", "1")] * 2, np.array([[0], [1]]))
    assert bootstrap_sample(data, 1, 0).rows == 1
    assert bootstrap(data, 3).samples == 3


def test_bootstrap_rejects_unknown_methods(data):
    with pytest.raises(dn.InputError, match=r"method is 'half'; give one of 'subsample', 'rows'"):
        bootstrap(data, 5, method="half")


def test_subsamples_have_as_many_edges_as_the_network_and_bootstrap_rows_have_more():
    """Repeated rows look like evidence, most of all for a column with many states and few rows."""
    generator = np.random.default_rng(1)
    wide, signal = generator.integers(0, 40, 400), generator.integers(0, 2, 400)
    copies = [np.where(generator.random(400) < 0.8, signal, 1 - signal) for _ in range(3)]
    noise = [generator.integers(0, 3, 400) for _ in range(2)]
    names, states = [f"v{i}" for i in range(7)], [[str(s) for s in range(n)] for n in (40, 2, 2, 2, 2, 3, 3)]
    result = dn.learn(dn.Dataset.from_codes(names, states, np.array([wide, signal, *copies, *noise])))
    edges = {method: np.triu(result.bootstrap(30, method=method).edges).sum() for method in ("subsample", "rows")}
    assert abs(edges["subsample"] / len(result.edges) - 1) < 0.15
    assert edges["rows"] > 1.15 * len(result.edges)


def test_results_of_earlier_versions_are_classical_bootstraps():
    plain = {"samples": 5, "requested": 5, "interrupted": False, "pairs": []}
    assert Bootstrap.from_dict(["a", "b"], plain).method == "rows"
    assert Bootstrap.from_dict(["a", "b"], plain | {"method": "subsample"}).to_dict()["method"] == "subsample"
    with pytest.raises(dn.InputError, match="method"):
        Bootstrap.from_dict(["a", "b"], plain | {"method": "x"})


def test_frequencies_equal_those_of_single_samples(data):
    with ThreadPoolExecutor(2) as two, ThreadPoolExecutor(1) as one:
        result = bootstrap(data, 30, run=dn.Run(seed=5, executor=two))
        again = bootstrap(data, 30, run=dn.Run(seed=5, executor=one))
    assert np.array_equal(result.directions, again.directions)
    adjacent = 0
    for number in range(30):
        dag = dn.learn(bootstrap_sample(data, 5, number)).dag
        adjacent += dag.has_edge("Pollution", "Cancer") or dag.has_edge("Cancer", "Pollution")
    assert result.frequency("Pollution", "Cancer")[0] == pytest.approx(adjacent / 30)
    assert np.allclose(result.edges, result.edges.T)
    assert np.allclose(result.directions + result.directions.T, result.edges)
    frequencies = [pair["adjacent"] for pair in result.to_dict()["pairs"]]
    assert frequencies == sorted(frequencies, reverse=True)


def test_reversible_edge_has_half_the_frequency_in_each_direction():
    """A reversible edge between two variables counts as half a sample in each direction."""
    codes = np.repeat(np.array([[0, 0, 1, 1], [0, 1, 0, 1]]), [40, 10, 10, 40], axis=1)
    data = dn.Dataset.from_codes(["a", "b"], [("0", "1")] * 2, codes)
    result = bootstrap(data, 20)
    assert result.frequency("a", "b") == (1.0, 0.5)
    assert result.frequency("b", "a") == (1.0, 0.5)


calls = []


@dataclass(frozen=True)
class InterruptedOnce:
    """Exact search that Ctrl-C interrupts at the eighth call."""

    def solve(self, problem, run):
        calls.append(1)
        if len(calls) == 8:
            raise KeyboardInterrupt
        return dn.Exact().solve(problem, run)


def test_interrupted_bootstrap_resumes(data, tmp_path):
    calls.clear()
    with ThreadPoolExecutor(1) as pool, dn.Run(executor=pool, journal=tmp_path / "run.db") as run:
        first = bootstrap(data, 20, InterruptedOnce(), run=run)
        assert first.interrupted
        assert 7 <= first.samples < 20  # running samples were finished
        assert first.requested == 20
        assert bootstrap_line(first) == f"bootstrap: {first.samples} of 20 samples of 80% of the rows (stopped by Ctrl-C)"
        result = bootstrap(data, 20, InterruptedOnce(), run=run)
    assert len(calls) == 20 + 1
    assert np.array_equal(result.directions, bootstrap(data, 20).directions)
    assert bootstrap_line(result) == "bootstrap: 20 samples of 80% of the rows"


def test_score_drops_are_differences_of_scores(data):
    result = dn.learn(data)
    scorer = dn.scoring.Scorer(data)
    for each in strengths(result.dag, data):
        without = result.dag.copy()
        without.remove_edge(each.parent, each.child)
        assert each.drop_if_removed == pytest.approx(scorer.score(result.dag) - scorer.score(without))
        flipped = without.copy()
        flipped.add_edge(each.child, each.parent)
        if each.drop_if_reversed is None:
            assert not nx.is_directed_acyclic_graph(flipped)
        else:
            assert each.drop_if_reversed == pytest.approx(scorer.score(result.dag) - scorer.score(flipped))
        assert each.compelled == (not dn.cpdag(result.dag).has_edge(each.child, each.parent))


def test_strengths_use_the_score_and_the_background_knowledge(data):
    result = dn.learn(data, score=dn.BIC())
    assert result.strengths() == strengths(result.dag, data, dn.BIC()) == strengths(result.dag, data, "bic")
    assert result.strengths() != strengths(result.dag, data)
    knowledge = dn.Knowledge(required=[("Xray", "Cancer")])
    result = dn.learn(data, knowledge=knowledge)
    assert next(each for each in result.strengths() if each.parent == "Xray").compelled
    assert bootstrap(data, 10, knowledge=knowledge).frequency("Xray", "Cancer") == (1.0, 1.0)


def test_bootstrap_stops_at_the_deadline(data):
    with ThreadPoolExecutor(1) as pool:
        result = bootstrap(data, 50, run=dn.Run(deadline=dn.Deadline(0.0), executor=pool))
    assert result.samples == 1


def test_stopped_bootstrap_is_reported(data, tmp_path):
    result = dn.learn(data)
    late = result.bootstrap(50, run=dn.Run(deadline=dn.Deadline(0.0)))  # one sample was already running
    for stopped, line in (
        (late, "bootstrap: 1 of 50 samples of 80% of the rows (stopped by the time limit)"),
        (replace(late, interrupted=True), "bootstrap: 1 of 50 samples of 80% of the rows (stopped by Ctrl-C)"),
        (replace(late, requested=1), "bootstrap: 1 sample of 80% of the rows"),
        (replace(late, requested=1, method="rows"), "bootstrap: 1 sample of as many rows, with replacement"),
    ):
        measured = result.with_confidence(dn.Confidence(result.strengths(), stopped))
        plain = measured.to_dict()["bootstrap"]
        assert (plain["samples"], plain["requested"]) == (1, stopped.requested)
        assert plain["interrupted"] is stopped.interrupted
        measured.save(tmp_path / "result.json")
        for each in (measured, dn.load_result(tmp_path / "result.json")):
            assert confidence_lines(each)[-1].strip() == line
            assert f"<p>B{line[1:]}.</p>" in page(each)


def test_log_likelihood_equals_the_sum_over_rows():
    network = dn.load("waste")
    data = network.sample(50, 1)
    total = 0.0
    for row, weight in zip(data.codes.T.tolist(), data.weights, strict=True):
        value = dict(zip(data.names, row, strict=True))
        for name in data.names:
            table = network.cpts[name]
            for parent in network.parents[name]:
                table = table[value[parent]]
            total += weight * log(table[value[name]])
    assert log_likelihood(network, data) == pytest.approx(total)
    with pytest.raises(dn.InputError, match="differ in variables or states"):
        log_likelihood(dn.load("lung-cancer"), data)


def test_holdout_evaluates_unseen_rows(data):
    result = holdout(data, 0.2, run=dn.Run(1))
    assert result.rows == 1_000
    assert result.log_likelihood > result.without_edges
    assert holdout(data, 0.2, run=dn.Run(1)) == result
    assert holdout(data, 0.2, run=dn.Run(2)) != result
    truth = dn.load("lung-cancer")
    assert abs(result.log_likelihood - log_likelihood(truth, truth.sample(100_000, 9)) / 100_000) < 0.1
    for share in (0.0, 1.0, -1.0, float("nan"), 1e-9):
        with pytest.raises(dn.InputError, match=r"held-out|holding out"):
            holdout(data, share)


def test_sensitivity_learns_with_each_prior(data):
    result = sensitivity(data, [0.1, 1, 10])
    assert list(result) == [0.1, 1.0, 10.0]
    assert result[1.0].edges == dn.learn(data).edges
    assert result[10.0].score == dn.learn(data, score=dn.BDeu(10)).score != result[1.0].score


def test_compare_classes_compares_equivalence_classes():
    chain, flipped = nx.DiGraph([("a", "b"), ("b", "c")]), nx.DiGraph([("c", "b"), ("b", "a")])
    assert compare_classes([chain, flipped]) == {("a", "b"): ["reversible"] * 2, ("b", "c"): ["reversible"] * 2}
    knowledge = dn.Knowledge(roots=["a"])
    assert compare_classes([chain], knowledge)["a", "b"] == ["->"]


def test_edge_with_frequency_zero_is_weak(tmp_path):
    result = dn.learn(dn.load("lung-cancer").sample(500, 1))
    empty = Bootstrap.from_dict(list(result.dag), {"samples": 5, "requested": 5, "interrupted": False, "pairs": []})
    text = page(result.with_confidence(dn.Confidence(bootstrap=empty, threshold=0.5)))
    assert len(re.findall(r'class="edge weak', text)) >= len(result.edges)


@pytest.mark.parametrize("total", [10**9 - 1, 10**9, 4 * 10**12])
def test_holdout_of_very_many_rows(total):
    small = dn.load("lung-cancer").expected_data(1000)
    data = dn.Dataset(small.names, small.states, small.codes, small.weights * (total // small.rows))
    split = dn.holdout(data, 0.25)
    assert split.rows == pytest.approx(0.25 * data.rows, rel=1e-3)
    assert split.log_likelihood > split.without_edges
    assert dn.holdout(data, 0.25) == split


def test_drop_if_reversed_is_none_if_reversal_creates_a_cycle():
    for seed in range(5):
        result = dn.learn(random_data(7, 300, seed), max_parents=3)
        for each in result.strengths():
            graph = result.dag.copy()
            graph.remove_edge(each.parent, each.child)
            assert (each.drop_if_reversed is None) == nx.has_path(graph, each.parent, each.child)
