"""Confidence measures: bootstrap, strengths, priors and rows held out."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import log

import networkx as nx
import numpy as np
import pytest

import dagneal as dn
from dagneal.confidence.bootstrap import Bootstrap, bootstrap, resample
from dagneal.confidence.measures import compare_classes, holdout, log_likelihood, sensitivity, strengths
from dagneal.report.page import page
from dagneal.report.summary import bootstrap_line, confidence_lines
from support.reference import random_data


@pytest.fixture(scope="module")
def data():
    return dn.load("lung-cancer").sample(5_000, 3)


def test_samples_are_draws_of_as_many_rows(data):
    drawn = [resample(data, 1, number) for number in range(200)]
    assert {sample.rows for sample in drawn} == {5_000}
    commonest = int(np.argmax(data.weights))
    counts = []
    for sample in drawn:
        same = (sample.codes == data.codes[:, [commonest]]).all(axis=0)
        counts.append(int(sample.weights[same].sum()))
    share = data.weights[commonest] / 5_000
    spread = np.sqrt(5_000 * share * (1 - share))
    assert abs(np.mean(counts) - data.weights[commonest]) < 4 * spread / np.sqrt(200)
    assert 0.8 * spread < np.std(counts) < 1.2 * spread
    assert np.array_equal(resample(data, 1, 7).weights, drawn[7].weights)


def test_shares_are_those_of_learning_from_each_sample(data):
    with ThreadPoolExecutor(2) as two, ThreadPoolExecutor(1) as one:
        found = bootstrap(data, 30, run=dn.Run(seed=5, executor=two))
        again = bootstrap(data, 30, run=dn.Run(seed=5, executor=one))
    assert np.array_equal(found.directions, again.directions)
    adjacent = 0
    for number in range(30):
        dag = dn.learn(resample(data, 5, number)).dag
        adjacent += dag.has_edge("Pollution", "Cancer") or dag.has_edge("Cancer", "Pollution")
    assert found.of("Pollution", "Cancer")[0] == pytest.approx(adjacent / 30)
    assert np.allclose(found.edges, found.edges.T)
    assert np.allclose(found.directions + found.directions.T, found.edges)
    listed = found.to_dict()["pairs"]
    assert [each["adjacent"] for each in listed] == sorted((each["adjacent"] for each in listed), reverse=True)


def test_directions_that_nothing_decides_are_half_each():
    """Two variables: the equivalence class has one undirected edge."""
    codes = np.repeat(np.array([[0, 0, 1, 1], [0, 1, 0, 1]]), [40, 10, 10, 40], axis=1)
    data = dn.Dataset.from_codes(["a", "b"], [("0", "1")] * 2, codes)
    found = bootstrap(data, 20)
    assert found.of("a", "b") == (1.0, 0.5)
    assert found.of("b", "a") == (1.0, 0.5)


calls = []


@dataclass(frozen=True)
class InterruptedOnce:
    """Exact search that Ctrl-C ends at its eighth call."""

    def solve(self, problem, run):
        calls.append(1)
        if len(calls) == 8:
            raise KeyboardInterrupt
        return dn.Exact().solve(problem, run)


def test_a_bootstrap_resumes(data, tmp_path):
    calls.clear()
    with ThreadPoolExecutor(1) as pool, dn.Run(executor=pool, journal=tmp_path / "run.db") as run:
        first = bootstrap(data, 20, InterruptedOnce(), run=run)
        assert first.interrupted
        assert 7 <= first.samples < 20  # what had begun was finished
        assert first.requested == 20
        assert bootstrap_line(first) == f"bootstrap: {first.samples} of 20 samples (stopped by Ctrl-C)"
        found = bootstrap(data, 20, InterruptedOnce(), run=run)
    assert len(calls) == 20 + 1
    assert np.array_equal(found.directions, bootstrap(data, 20).directions)
    assert bootstrap_line(found) == "bootstrap: 20 samples"


def test_strengths_are_differences_of_scores(data):
    found = dn.learn(data)
    scorer = dn.scoring.Scorer(data)
    for each in strengths(found.dag, data):
        without = found.dag.copy()
        without.remove_edge(each.parent, each.child)
        assert each.loss == pytest.approx(scorer.score(found.dag) - scorer.score(without))
        turned = without.copy()
        turned.add_edge(each.child, each.parent)
        if each.turned is None:
            assert not nx.is_directed_acyclic_graph(turned)
        else:
            assert each.turned == pytest.approx(scorer.score(found.dag) - scorer.score(turned))
        assert each.decided == (not dn.cpdag(found.dag).has_edge(each.child, each.parent))


def test_the_score_of_the_network_and_knowledge_count(data):
    found = dn.learn(data, score=dn.BIC())
    assert found.strengths() == strengths(found.dag, data, dn.BIC()) == strengths(found.dag, data, "bic")
    assert found.strengths() != strengths(found.dag, data)
    known = dn.Knowledge(required=[("Xray", "Cancer")])
    found = dn.learn(data, knowledge=known)
    assert next(each for each in found.strengths() if each.parent == "Xray").decided
    assert bootstrap(data, 10, knowledge=known).of("Xray", "Cancer") == (1.0, 1.0)


def test_a_bootstrap_ends_with_its_time(data):
    with ThreadPoolExecutor(1) as pool:
        found = bootstrap(data, 50, run=dn.Run(deadline=dn.Deadline(0.0), executor=pool))
    assert found.samples == 1


def test_a_bootstrap_that_was_stopped_says_so(data, tmp_path):
    found = dn.learn(data)
    late = found.bootstrap(50, run=dn.Run(deadline=dn.Deadline(0.0)))  # one sample, which had begun
    for stopped, line in (
        (late, "bootstrap: 1 of 50 samples (stopped by the time limit)"),
        (replace(late, interrupted=True), "bootstrap: 1 of 50 samples (stopped by Ctrl-C)"),
        (replace(late, requested=1), "bootstrap: 1 sample"),
    ):
        measured = found.with_confidence(dn.Confidence(found.strengths(), stopped))
        plain = measured.to_dict()["bootstrap"]
        assert (plain["samples"], plain["requested"]) == (1, stopped.requested)
        assert plain["interrupted"] is stopped.interrupted
        measured.save(tmp_path / "found.json")
        for each in (measured, dn.load_result(tmp_path / "found.json")):
            assert confidence_lines(each)[-1].strip() == line
            assert f"<p>{line}</p>" in page(each)


def test_log_likelihood_row_by_row():
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
    with pytest.raises(dn.InputError, match="other variables or states"):
        log_likelihood(dn.load("lung-cancer"), data)


def test_rows_held_out_are_not_learned_from(data):
    found = holdout(data, 0.2, run=dn.Run(1))
    assert found.rows == 1_000
    assert found.log_likelihood > found.without_edges
    assert holdout(data, 0.2, run=dn.Run(1)) == found
    assert holdout(data, 0.2, run=dn.Run(2)) != found
    truth = dn.load("lung-cancer")
    assert abs(found.log_likelihood - log_likelihood(truth, truth.sample(100_000, 9)) / 100_000) < 0.1
    for share in (0.0, 1.0, -1.0, float("nan"), 1e-9):
        with pytest.raises(dn.InputError, match="held out"):
            holdout(data, share)


def test_priors_side_by_side(data):
    found = sensitivity(data, [0.1, 1, 10])
    assert list(found) == [0.1, 1.0, 10.0]
    assert found[1.0].edges == dn.learn(data).edges
    assert found[10.0].score == dn.learn(data, score=dn.BDeu(10)).score != found[1.0].score


def test_classes_are_set_side_by_side_not_their_members():
    chain, turned = nx.DiGraph([("a", "b"), ("b", "c")]), nx.DiGraph([("c", "b"), ("b", "a")])
    assert compare_classes([chain, turned]) == {("a", "b"): ["open", "open"], ("b", "c"): ["open", "open"]}
    known = dn.Knowledge(roots=["a"])
    assert compare_classes([chain], known)["a", "b"] == ["->"]


def test_an_edge_that_no_resample_has_is_weak(tmp_path):
    found = dn.learn(dn.load("lung-cancer").sample(500, 1))
    none = Bootstrap.from_dict(list(found.dag), {"samples": 5, "requested": 5, "interrupted": False, "pairs": []})
    text = page(found.with_confidence(dn.Confidence(bootstrap=none, threshold=0.5)))
    assert len(re.findall(r'class="edge weak', text)) >= len(found.edges)


@pytest.mark.parametrize("total", [10**9 - 1, 10**9, 4 * 10**12])
def test_holdout_of_very_many_rows(total):
    small = dn.load("lung-cancer").expected(1000)
    data = dn.Dataset(small.names, small.states, small.codes, small.weights * (total // small.rows))
    held = dn.holdout(data, 0.25)
    assert held.rows == pytest.approx(0.25 * data.rows, rel=1e-3)
    assert held.log_likelihood > held.without_edges
    assert dn.holdout(data, 0.25) == held


def test_strengths_agree_with_turning_each_edge_round():
    for seed in range(5):
        found = dn.learn(random_data(7, 300, seed), max_parents=3)
        for each in found.strengths():
            graph = found.dag.copy()
            graph.remove_edge(each.parent, each.child)
            assert (each.turned is None) == nx.has_path(graph, each.parent, each.child)
