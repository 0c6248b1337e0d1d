"""Posterior probabilities of edges: priors, background knowledge, methods, and how results show them."""

import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import dagneal as dn
from dagneal.confidence.posteriors import EdgePosteriors, edge_posteriors
from dagneal.graphs.knowledge import Knowledge
from dagneal.report.page import page
from dagneal.report.summary import confidence_lines, posterior_lines
from dagneal.solvers.edge_chains import Convergence
from support.reference import enumerate_edges, random_data, random_table


@pytest.mark.parametrize("prior", ["uniform", "sparse", "orders", "sparse-orders"])
@pytest.mark.parametrize("limit", [1, 3])
def test_posteriors_equal_enumeration(prior, limit):
    data = random_data(4, 60, 2)
    result = edge_posteriors(data, max_parents=limit, prior=prior)
    assert np.abs(result.probabilities - enumerate_edges(data, limit, prior)).max() < 1e-10
    assert (result.method, result.prior, result.max_parents, result.converged) == ("exact", prior, limit, True)
    assert np.array_equal(result.adjacency, result.adjacency.T)


@pytest.mark.parametrize(
    ("knowledge", "obeys"),
    [
        ({"required": [("v0", "v1")]}, lambda dag: 0 in dag[1]),
        ({"forbidden": [("v0", "v1"), ("v1", "v0")]}, lambda dag: 0 not in dag[1] and 1 not in dag[0]),
        ({"tiers": [["v0", "v3"], ["v1"]]}, lambda dag: 1 not in dag[0] and 1 not in dag[3]),
        ({"roots": ["v2"], "leaves": ["v0"]}, lambda dag: not dag[2] and all(0 not in parents for parents in dag)),
        ({"limits": {"v1": 1, "v0": 0}}, lambda dag: len(dag[1]) <= 1 and not dag[0]),
    ],
)
@pytest.mark.parametrize("rows", [5, 100])
def test_background_knowledge_is_obeyed_exactly(knowledge, obeys, rows):
    """With five rows, a penalty on the score would not be enough."""
    data = random_data(4, rows, 1)
    result = edge_posteriors(data, knowledge=knowledge)
    assert np.abs(result.probabilities - enumerate_edges(data, 3, obeys=obeys)).max() < 1e-10


@pytest.mark.parametrize("per_order", [False, True])
def test_chains_agree_with_exact_sums(per_order, monkeypatch):
    data = random_data(6, 60, 4)
    prior = "orders" if per_order else "uniform"
    knowledge = {"required": [("v1", "v2")], "forbidden": [("v0", "v1")]}
    exact = edge_posteriors(data, max_parents=2, knowledge=knowledge, prior=prior)
    monkeypatch.setattr("dagneal.confidence.posteriors._is_exact", lambda variables, per_order: False)
    result = edge_posteriors(data, max_parents=2, knowledge=knowledge, prior=prior)
    assert result.method == "order MCMC"
    assert result.converged
    assert result.candidates is None
    assert np.abs(result.probabilities - exact.probabilities).max() < 0.04
    assert result.probability("v1", "v2") == (pytest.approx(1.0), pytest.approx(1.0))
    assert result.probabilities[0, 1] == 0.0


def test_chains_depend_only_on_the_seed():
    table = random_table(5, 2, 1, spread=3.0)
    with dn.limits(jobs=1):
        one = dn.solvers.sample_edges(table, run=dn.Run(seed=4))
    with dn.limits(jobs=3):
        three = dn.solvers.sample_edges(table, run=dn.Run(seed=4))
    assert np.array_equal(one.edges, three.edges)
    assert one.convergence == three.convergence
    assert not np.array_equal(one.edges, dn.solvers.sample_edges(table, run=dn.Run(seed=5)).edges)


def test_chains_that_do_not_agree_have_not_converged():
    rng = np.random.default_rng(0)
    same = rng.normal(size=(4, 4000))
    edges = np.full((4, 2, 2), 0.5)
    good = dn.solvers.edge_chains.diagnose(same, edges)
    assert good.converged
    assert good.effective_samples == pytest.approx(16_000, rel=0.1)
    apart = same + np.arange(4)[:, None]
    assert dn.solvers.edge_chains.diagnose(apart, edges).rhat > 1.5
    drifting = same + np.linspace(0, 3, 4000)
    assert dn.solvers.edge_chains.diagnose(drifting, edges).rhat > 1.2
    edges[0, 0, 1] = 0.6
    assert dn.solvers.edge_chains.diagnose(same, edges).difference == pytest.approx(0.1)
    stuck = dn.solvers.edge_chains.diagnose(np.repeat([[1.0], [2.0]], 10, axis=1), edges)
    assert stuck.rhat is None
    assert not stuck.converged


def test_effective_samples_of_an_autoregressive_process():
    """For x' = a x + noise, the variance of the mean is larger by the factor (1 + a) / (1 - a)."""
    rng = np.random.default_rng(1)
    trace = np.zeros((4, 20_000))
    for step in range(1, trace.shape[1]):
        trace[:, step] = 0.8 * trace[:, step - 1] + rng.normal(size=4)
    effective = dn.solvers.edge_chains.diagnose(trace, np.zeros((4, 2, 2))).effective_samples
    assert effective == pytest.approx(80_000 / 9, rel=0.15)


def test_a_deadline_ends_the_chains():
    table = random_table(5, 2, 1)
    sums = dn.solvers.sample_edges(table, run=dn.Run(deadline=dn.Deadline(0.0)))
    assert sums.convergence.late
    assert sums.convergence.sweeps == 100
    with pytest.raises(dn.InputError, match="the time limit ended"):
        edge_posteriors(random_data(4, 50, 1), run=dn.Run(deadline=dn.Deadline(0.0)))


@pytest.mark.slow
def test_many_variables_get_candidates():
    """With more than 22 variables, the strongest edges are still found, and no variable gets too many parents."""
    data = random_data(26, 2000, 3, [2] * 26)
    result = edge_posteriors(data, max_parents=2, run=dn.Run(deadline=dn.Deadline.after(10)))
    assert (result.method, result.candidates) == ("order MCMC", 16)
    strong = [each for each in dn.learn(data, max_parents=2).strengths() if each.drop_if_removed > 50]
    assert len(strong) > 5
    assert all(result.probability(each.parent, each.child)[0] > 0.9 for each in strong)
    assert (result.probabilities.sum(axis=0) <= 2 + 1e-9).all()


def test_invalid_arguments_are_refused():
    data = random_data(3, 50, 1)
    with pytest.raises(dn.InputError, match="prior is 'flat'"):
        edge_posteriors(data, prior="flat")
    with pytest.raises(dn.InputError, match="seed is a setting of a run"):
        edge_posteriors(data, seed=3)
    with pytest.raises(dn.InputError, match="prove is not an argument of edge_posteriors"):
        edge_posteriors(data, prove=True)
    with pytest.raises(dn.InputError, match="max_parents is 3"):
        edge_posteriors(data, max_parents=3)
    with pytest.raises(dn.InputError, match="score is given, but"):
        edge_posteriors(dn.scoring.score_table(data), score="bic")
    with pytest.raises(dn.InputError, match="'v9' is not a variable"):
        edge_posteriors(data).probability("v9", "v1")


def test_score_tables_and_their_required_edges_are_accepted():
    data = random_data(4, 8, 1)
    knowledge = Knowledge(required=[("v0", "v1")])
    table = dn.scoring.Scorer(data, knowledge=knowledge).table(3)
    expected = edge_posteriors(data, knowledge=knowledge).probabilities
    assert np.allclose(edge_posteriors(table).probabilities, expected, atol=1e-12)


@pytest.fixture
def learned():
    return dn.learn(dn.load("lung-cancer").sample(2000, 3))


def test_results_store_posteriors_and_restore_them(learned, tmp_path):
    chains = Convergence(4, 100, None, 0.5, 3.0, late=True)
    for posteriors in (learned.posteriors("sparse"), replace(learned.posteriors(), convergence=chains, candidates=3)):
        path = tmp_path / "a.json"
        learned.with_confidence(dn.Confidence(posteriors=posteriors)).save(path)
        again = dn.load_result(path).confidence.posteriors
        assert np.array_equal(again.probabilities, posteriors.probabilities)
        assert again.to_dict() == posteriors.to_dict()
        assert (again.prior, again.convergence) == (posteriors.prior, posteriors.convergence)
    adjacent = [pair["adjacent"] for pair in posteriors.to_dict()["pairs"]]
    assert all(first >= second for first, second in pairwise(adjacent))
    plain = json.loads(path.read_text())
    plain["posteriors"]["prior"] = "flat"
    path.write_text(json.dumps(plain))
    with pytest.raises(dn.InputError, match="prior is 'flat'"):
        dn.load_result(path)


def test_the_parent_limit_is_that_of_the_result(learned):
    assert learned.posteriors().max_parents == 4
    assert dn.learn(learned.data, max_parents=1).posteriors().max_parents == 1
    with pytest.raises(dn.InputError, match="posteriors needs the data"):
        replace(learned, data=None).posteriors()


def test_text_and_page_show_posteriors_next_to_the_bootstrap(learned):
    posteriors = learned.posteriors()
    (parent, child), *_ = learned.edges
    adjacent, forward = posteriors.probability(parent, child)
    shown = learned.with_confidence(dn.Confidence(learned.strengths(), learned.bootstrap(3), posteriors=posteriors))
    lines = confidence_lines(shown)
    assert re.search(r"bootstrap frequency +posterior$", lines[0])
    row = next(line for line in lines if f"{parent} -> {child}" in line)
    assert re.search(rf"{adjacent:.2f} +{forward:.2f}( +weak)?$", row)
    assert any("posterior probabilities: exact, prior uniform" in line for line in lines)
    alone = confidence_lines(learned.with_confidence(dn.Confidence(learned.strengths(), posteriors=posteriors)))
    assert alone[0].endswith("posterior")
    html = page(shown)
    assert "posterior of this direction" in html
    assert "Posterior probabilities: exact" in html
    assert f"posterior probability {adjacent:.0%}" in html


def test_text_says_if_chains_have_not_converged():
    posteriors = EdgePosteriors(("a", "b"), np.zeros((2, 2)), "order MCMC", "uniform", 1, 1)
    late = posteriors_with(posteriors, Convergence(4, 100, 1.5, 0.2, 30.0, late=True))
    assert "not converged (the time limit ended them early)" in posterior_lines(late)[-1]
    stuck = posteriors_with(posteriors, Convergence(4, 100, None, 0.2, 30.0))
    assert "R-hat undefined" in posterior_lines(stuck)[1]
    assert "stay in different networks" in posterior_lines(stuck)[-1]
    good = posteriors_with(posteriors, Convergence(4, 100, 1.001, 0.02, 3000.0))
    assert len(posterior_lines(good)) == 2


def posteriors_with(posteriors, convergence):
    return replace(posteriors, convergence=convergence)
