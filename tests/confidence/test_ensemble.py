"""Ensembles: mixtures of networks that were learned on bootstrap samples."""

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import polars as pl
import pytest

import dagneal as dn
from dagneal.confidence.bootstrap import bootstrap_sample


@pytest.fixture(scope="module")
def data():
    return dn.load("waste-2p").sample(300, 3)


@pytest.fixture(scope="module")
def mixture(data):
    return dn.ensemble(data, 12, run=dn.Run(seed=5))


def probability(network, row):
    """Return the probability of a row, a dict of states, by the product of table entries."""
    result = 1.0
    for name in network.names:
        at = tuple(network.states[v].index(row[v]) for v in (*network.parents[name], name))
        result *= network.cpts[name][at]
    return result


def test_networks_are_those_of_the_samples_with_parameters_of_all_rows(data, mixture):
    samples = [bootstrap_sample(data, 5, number) for number in range(12)]
    graphs = [frozenset(dn.learn(sample, score=dn.BDeu(10)).dag.edges) for sample in samples]
    assert {frozenset(network.dag.edges) for network in mixture.networks} == set(graphs)
    assert len(mixture.networks) == len(set(graphs))
    for network, weight in zip(mixture.networks, mixture.weights, strict=True):
        assert weight == pytest.approx(graphs.count(frozenset(network.dag.edges)) / 12)
        fitted = dn.fit(network.dag, data, dn.BDeu(10))
        assert all(np.array_equal(network.cpts[name], fitted.cpts[name]) for name in network.names)
    assert list(mixture.weights) == sorted(mixture.weights, reverse=True)
    assert (mixture.samples, mixture.requested) == (12, 12)


def test_log_likelihood_is_that_of_the_mixture_in_the_order_of_the_rows(data, mixture):
    frame = data.frame().sample(fraction=1.0, shuffle=True, seed=1)[:60]
    values = mixture.log_likelihood(frame)
    assert values.shape == (60,)
    for row, value in zip(frame.cast(pl.String).iter_rows(named=True), values, strict=True):
        expected = sum(w * probability(n, row) for n, w in zip(mixture.networks, mixture.weights, strict=True))
        assert value == pytest.approx(np.log(expected))
    assert np.allclose(mixture.log_likelihood(frame.select(reversed(frame.columns))), values)
    one = dn.Ensemble(mixture.networks[:1], np.array([1.0]))
    assert one.log_likelihood(data) @ data.weights == pytest.approx(dn.log_likelihood(mixture.networks[0], data))


def test_log_likelihood_in_chunks(data, mixture, monkeypatch):
    whole = mixture.log_likelihood(data)
    monkeypatch.setattr("dagneal.confidence.ensemble._VALUES", 100)
    assert np.array_equal(mixture.log_likelihood(data), whole)


def test_files_and_arrays_give_one_value_per_row(data, mixture, tmp_path):
    frame = data.frame()
    frame.write_csv(tmp_path / "rows.csv")
    values = mixture.log_likelihood(frame)
    assert np.allclose(mixture.log_likelihood(tmp_path / "rows.csv"), values)
    network = dn.BayesianNetwork(
        {"a": ("0", "1"), "b": ("0", "1")}, {"a": (), "b": ("a",)}, {"a": [0.3, 0.7], "b": [[1, 0], [0.5, 0.5]]}
    )
    pair = dn.Ensemble((network,), np.ones(1))
    rows = np.array([[0, 1], [1, 1], [0, 0]])
    assert np.allclose(pair.log_likelihood(rows), [-np.inf, np.log(0.35), np.log(0.3)])
    with pytest.raises(dn.InputError, match="no column is a variable of the network"):
        pair.log_likelihood(data)
    with pytest.raises(dn.InputError, match="2"):
        pair.log_likelihood(np.array([[0, 2]]))


def test_samples_have_the_probabilities_of_the_mixture():
    states = {"a": ("0", "1"), "b": ("0", "1")}
    one = dn.BayesianNetwork(states, {"a": (), "b": ()}, {"a": [0.9, 0.1], "b": [0.5, 0.5]})
    two = dn.BayesianNetwork(states, {"a": (), "b": ("a",)}, {"a": [0.2, 0.8], "b": [[0.9, 0.1], [0.1, 0.9]]})
    pair = dn.Ensemble((one, two), np.array([0.25, 0.75]))
    sample = pair.sample(40_000, seed=1)
    assert sample.rows == 40_000
    assert sample.states == (("0", "1"), ("0", "1"))
    frequency = {
        tuple(codes): weight / 40_000 for codes, weight in zip(sample.codes.T.tolist(), sample.weights, strict=True)
    }
    for a, b in product((0, 1), repeat=2):
        row = {"a": str(a), "b": str(b)}
        expected = 0.25 * probability(one, row) + 0.75 * probability(two, row)
        assert abs(frequency[a, b] - expected) < 4 * np.sqrt(expected * (1 - expected) / 40_000)
    assert pair.sample(100, seed=1).fingerprint == pair.sample(100, seed=1).fingerprint


def test_same_ensemble_for_any_number_of_workers_and_from_a_journal(data, mixture, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        assert dn.ensemble(data, 12, run=dn.Run(seed=5, executor=pool)).to_dict() == mixture.to_dict()
    finished = []
    with dn.Run(seed=5, journal=tmp_path / "run.db", progress=lambda *step: finished.append(step)) as run:
        frequencies = dn.bootstrap(data, 12, score=dn.BDeu(10.0), run=run)
        before = len(finished)
        assert dn.ensemble(data, 12, run=run).to_dict() == mixture.to_dict()
        assert len(finished) == before  # the samples are those of the bootstrap
    first, second = data.names[:2]
    adjacent = [dag.has_edge(first, second) or dag.has_edge(second, first) for dag in (n.dag for n in mixture.networks)]
    assert frequencies.frequency(first, second)[0] == pytest.approx(float(mixture.weights @ adjacent))


def test_save_and_load(mixture, data, tmp_path):
    mixture.save(tmp_path / "mixture.json")
    loaded = dn.load_ensemble(tmp_path / "mixture.json")
    assert loaded.to_dict() == mixture.to_dict()
    assert np.array_equal(loaded.log_likelihood(data), mixture.log_likelihood(data))
    assert repr(loaded) == repr(mixture) == f"Ensemble({len(mixture.networks)} networks, {len(data.names)} variables)"
    families = mixture.to_dict()["families"]
    assert len({(each["child"], *each["parents"]) for each in families}) == len(families)  # each table is stored once
    with pytest.raises(dn.InputError, match=r"end the name in \.json"):
        mixture.save(tmp_path / "mixture.bif")


def test_names_and_states_may_have_any_characters(tmp_path):
    names, states = ['a "b"\n', "ü, {x}"], [["//", "\\", "'"], [" ", "<5"]]
    data = dn.Dataset.from_codes(names, states, np.random.default_rng(1).integers(0, 2, (2, 50)))
    mixture = dn.ensemble(data, 3)
    mixture.save(tmp_path / "mixture.json")
    assert dict(dn.load_ensemble(tmp_path / "mixture.json").states) == dict(zip(names, map(tuple, states), strict=True))


def damaged(plain):
    """Yield invalid versions of a saved ensemble."""
    yield [], "not an ensemble"
    yield plain | {"kind": "x"}, "not an ensemble"
    yield plain | {"format_version": 9}, "format version 9"
    yield {key: value for key, value in plain.items() if key != "states"}, "not a valid ensemble"
    yield plain | {"networks": []}, "at least one network"
    yield plain | {"states": plain["states"] | {"new": ["0", "1"]}}, "one family per variable"
    first = plain["networks"][0]
    yield plain | {"networks": [first | {"weight": -1.0}]}, "weights"
    yield plain | {"networks": [first | {"weight": float("nan")}]}, "weight"
    yield plain | {"networks": [first | {"families": [999]}]}, "indices of families"
    yield plain | {"networks": [first | {"families": [0] * len(plain["states"])}]}, "one family per variable"
    family = plain["families"][0]
    yield plain | {"families": [family | {"cpt": [2.0]}, *plain["families"][1:]]}, "not a valid ensemble"
    yield plain | {"families": [family | {"parents": ["x"]}, *plain["families"][1:]]}, "not a valid ensemble"


def test_damaged_files_give_one_clear_message(mixture, tmp_path):
    path = tmp_path / "mixture.json"
    for content, message in damaged(mixture.to_dict()):
        path.write_text(json.dumps(content))
        with pytest.raises(dn.InputError, match=message) as caught:
            dn.load_ensemble(path)
        assert str(path) in str(caught.value)
    path.write_text("{")
    with pytest.raises(dn.InputError, match="not an ensemble"):
        dn.load_ensemble(path)
    with pytest.raises(dn.InputError, match="cannot be read"):
        dn.load_ensemble(tmp_path / "none.json")


def test_learned_results_make_ensembles(data):
    result = dn.learn(data)
    assert result.ensemble(3, method="rows").samples == 3
    late = result.ensemble(50, run=dn.Run(deadline=dn.Deadline(0.0)))
    assert 1 <= late.samples < late.requested == 50


@pytest.mark.parametrize(
    ("learned", "given", "expected"),
    [("bdeu:1", None, "bdeu:10"), ("bdeu:20", None, "bdeu:20"), ("bic", None, "bic"), ("bdeu:20", "bdeu:2", "bdeu:2")],
)
def test_an_ensemble_uses_a_score_that_predicts_well(data, learned, given, expected):
    mixture = dn.learn(data, score=learned).ensemble(4, run=dn.Run(seed=2), score=given)
    assert mixture.to_dict() == dn.ensemble(data, 4, score=expected, run=dn.Run(seed=2)).to_dict()
    assert (
        dn.ensemble(data, 4, run=dn.Run(seed=2)).to_dict()
        == dn.ensemble(data, 4, score="bdeu:10", run=dn.Run(seed=2)).to_dict()
    )


def test_an_ensemble_of_nearly_distinct_rows_has_no_superfluous_edges():
    """Classical samples repeat rows of a table with many states, and their networks then have far too many edges."""
    names, shares = "abcdef", [0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05]
    states = {name: tuple("01234567") for name in names}
    truth = dn.BayesianNetwork(states, dict.fromkeys(names, ()), dict.fromkeys(names, shares))
    data, new = truth.sample(400, 1), truth.sample(2_000, 2)

    def edges(mixture):
        return sum(
            weight * len(network.dag.edges) for network, weight in zip(mixture.networks, mixture.weights, strict=True)
        )

    default, classical = dn.ensemble(data, 8), dn.ensemble(data, 8, method="rows", score="bdeu:1")
    assert edges(default) < 1 < 3 < edges(classical)
    values = [mixture.log_likelihood(new) @ new.weights for mixture in (default, classical)]
    assert values[0] > values[1] + 100


def test_invalid_ensembles_are_rejected():
    small, other = dn.load("lung-cancer-4"), dn.load("lung-cancer")
    for networks, weights, message in (
        ((), [], "at least one network"),
        ((small, other), [0.5, 0.5], "same variables"),
        ((small,), [0.5], "sum to 1"),
        ((small, small), [1.0], "one per network"),
    ):
        with pytest.raises(dn.InputError, match=message):
            dn.Ensemble(networks, np.array(weights))
    with pytest.raises(dn.InputError, match="networks"):
        dn.ensemble(small.sample(50, 1), 0)
