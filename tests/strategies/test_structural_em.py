"""Structural EM: expected counts against brute force, a score that never falls, and what the result states."""

import json
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import dagneal as dn
from dagneal.inference.elimination import UNKNOWN, IndexedNetwork
from dagneal.inference.expectation import IncompleteRows, expect
from dagneal.strategies.completion import UNIT, complete, incomplete_rows, network_from_counts
from dagneal.strategies.structural_em import StructuralEM
from support.enumeration import joint_table, random_network

BIC = dn.BIC()


def remove(frame, share, seed):
    """Return a frame of texts in which a share of the values is missing, at random."""
    rng = np.random.default_rng(seed)
    texts = frame.select(pl.all().cast(pl.String))
    gaps = {name: pl.Series(rng.random(len(texts)) < share) for name in texts.columns}
    return texts.with_columns(pl.when(gap).then(None).otherwise(pl.col(name)).alias(name) for name, gap in gaps.items())


def random_rows(network, rows, share, seed):
    """Return codes of random rows with gaps; the first row has no known value, and the second one no gap."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate(list(network.sample_codes(rows, seed)), axis=1).astype(np.int32)
    codes[rng.random(codes.shape) < share] = UNKNOWN
    codes[:, 0] = UNKNOWN
    codes[:, 1] = 0
    return codes


def brute_force(network, codes, weights):
    """Return the expected counts of each family, and the log-likelihood of the known values."""
    joint = joint_table(network)
    index = IndexedNetwork(network)
    counts, total = [np.zeros(table.shape) for table in index.tables], 0.0
    for row, weight in zip(codes.T, weights, strict=True):
        mask = np.zeros(joint.shape)
        mask[tuple(slice(None) if code == UNKNOWN else code for code in row)] = 1.0
        posterior = joint * mask
        total += weight * np.log(posterior.sum())
        posterior /= posterior.sum()
        for table, scope in zip(counts, index.scopes, strict=True):
            others = tuple(axis for axis in range(joint.ndim) if axis not in scope)
            left = sorted(scope)
            table += weight * np.transpose(posterior.sum(axis=others), [left.index(member) for member in scope])
    return counts, total


@pytest.mark.parametrize("seed", range(6))
def test_expected_counts_equal_brute_force(seed, monkeypatch):
    network = random_network(6, seed)
    codes = random_rows(network, 40, 0.1 + 0.15 * seed, seed)
    weights = np.random.default_rng(seed).integers(1, 4, codes.shape[1])
    if seed % 2:
        monkeypatch.setattr("dagneal.inference.expectation._CELLS", 500)  # several chunks
    data = IncompleteRows(codes, weights, [len(states) for states in network.states.values()])
    counts, total = expect(network, data, data.count_complete(IndexedNetwork(network).scopes))
    expected, log_likelihood = brute_force(network, codes, weights)
    assert total == pytest.approx(log_likelihood, rel=1e-12)
    for mine, other in zip(counts, expected, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-9)
    assert data.missing == int(((codes == UNKNOWN) * weights).sum())


@pytest.mark.parametrize("seed", range(3))
def test_completions_have_their_posterior_weights(seed):
    network = random_network(4, seed)
    codes = random_rows(network, 30, 0.3, seed)[:, 2:]
    data = IncompleteRows(codes, np.ones(codes.shape[1], dtype=np.int64), [len(s) for s in network.states.values()])
    completed, exact = complete(network, data, seed)
    assert exact
    assert completed.rows == UNIT * codes.shape[1]
    expected, _ = brute_force(network, codes, data.weights if not data.complete.size else np.ones(codes.shape[1]))
    for scope, table in zip(IndexedNetwork(network).scopes, expected, strict=True):
        keys = tuple(completed.codes[member] for member in scope)
        counts = np.zeros(table.shape)
        np.add.at(counts, keys, completed.weights / UNIT)
        np.testing.assert_allclose(counts, table, atol=codes.shape[1] * 16 / UNIT / 2)
        assert counts.sum() == pytest.approx(codes.shape[1])


def test_drawn_completions_keep_the_known_values():
    network = random_network(12, 1)
    codes = random_rows(network, 50, 0.8, 3)
    data = IncompleteRows(codes, np.ones(50, dtype=np.int64), [len(s) for s in network.states.values()])
    completed, exact = complete(network, data, 0)
    assert not exact
    assert completed.rows == UNIT * 50
    known = (data.codes != UNKNOWN) & (data.codes == 0)
    least = [int((data.weights * line).sum() + (data.complete[at] == 0).sum()) for at, line in enumerate(known)]
    for at, count in enumerate(least):
        assert completed.weights[completed.codes[at] == 0].sum() >= UNIT * count


def test_em_of_the_parameters_never_lowers_the_likelihood():
    truth = dn.load("lung-cancer")
    data = dn.read(remove(truth.sample(400, 1).frame(), 0.4, 2), missing="em")
    em = StructuralEM(data, BIC, None, dn.Run())
    parents = {name: list(truth.parents[name]) for name in data.names}
    place = {name: at for at, name in enumerate(data.names)}
    families = [[place[v] for v in (*parents[name], name)] for name in data.names]
    complete_counts = em.rows.count_complete(families)
    rng = np.random.default_rng(0)
    counts = [rng.random([em.rows.arities[v] for v in family]) for family in families]
    network = network_from_counts(em.states, parents, counts)
    values = []
    for _ in range(25):
        counts, value = expect(network, em.rows, complete_counts)
        values.append(value)
        network = network_from_counts(em.states, parents, counts)
    assert all(later >= earlier - 1e-9 for earlier, later in pairwise(values))
    assert values[-1] > values[0] + 10


@pytest.mark.parametrize("share", [0.1, 0.4])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_score_never_falls_and_is_the_penalised_likelihood(share, seed):
    network = random_network(6, seed, most_parents=2)
    data = dn.read(remove(network.sample(500, seed).frame(), share, seed), missing="em", states=network)
    result = dn.learn(data, seed=3)
    trace = result.em.trace
    assert all(later >= earlier for earlier, later in pairwise(trace))
    assert trace[-1] == result.score
    assert not result.optimal
    assert result.gap is None
    # the score with the tables of the result, which are smoothed a little, cannot be higher
    rows = incomplete_rows(data)
    codes = np.concatenate([rows.complete, rows.codes], axis=1)
    weights = np.concatenate([rows.complete_weights, rows.weights])
    _, log_likelihood = brute_force(result.network, codes, weights)
    parameters = sum(table.size - table.size // table.shape[-1] for table in result.network.cpts.values())
    assert result.score == pytest.approx(result.em.log_likelihood - 0.5 * np.log(500) * parameters)
    assert log_likelihood <= result.em.log_likelihood + 1e-6
    assert log_likelihood == pytest.approx(result.em.log_likelihood, abs=5)
    assert result.em.missing_values == rows.missing > 0
    again = dn.learn(data, seed=3)
    assert again.score == result.score
    assert again.edges == result.edges


def test_em_recovers_more_than_dropping_rows():
    truth = dn.load("lung-cancer")
    frame = remove(truth.sample(4000, 5).frame(), 0.2, 6)
    em = dn.learn(dn.read(frame, missing="em")).compare(truth)
    dropped = dn.learn(dn.read(frame, missing="drop"), score="bic").compare(truth)
    assert em.cpdag_shd <= dropped.cpdag_shd


def test_without_gaps_em_is_bic():
    data = dn.load("lung-cancer").sample(500, 1).frame()
    result, plain = dn.learn(dn.read(data, missing="em")), dn.learn(dn.read(data), score="bic")
    assert result.edges == plain.edges
    assert result.score == pytest.approx(plain.score, abs=0.05)
    assert result.em.missing_values == 0


def test_knowledge_and_other_solvers():
    truth = dn.load("lung-cancer")
    data = dn.read(remove(truth.sample(800, 1).frame(), 0.2, 1), missing="em")
    rules = {"required": [("Xray", "Pollution")], "leaves": ["Smoker"], "probabilities": {("Cancer", "Dyspnoea"): 0.9999}}
    for solver in (dn.Auto(), "exact", "order"):
        result = dn.learn(data, solver, knowledge=rules, max_parents=2)
        assert result.dag.has_edge("Xray", "Pollution")
        assert not result.dag.out_degree("Smoker")
        assert result.dag.has_edge("Cancer", "Dyspnoea")
        assert "with structural EM" in result.solver


def test_a_time_limit_returns_a_network():
    data = dn.read(remove(dn.load("alarm-15").sample(500, 1).frame(), 0.2, 1), missing="em")
    result = dn.learn(data, time_limit=1e-6)
    assert result.em.stopped == "time"
    assert result.is_dag
    assert len(result.network.names) == 15


def test_ctrl_c_returns_the_best_network_so_far(monkeypatch):
    data = dn.read(remove(dn.load("lung-cancer").sample(500, 1).frame(), 0.2, 1), missing="em")
    calls = []
    original = StructuralEM._propose

    def interrupt(self, *arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(self, *arguments)

    monkeypatch.setattr(StructuralEM, "_propose", interrupt)
    assert dn.learn(data).em.stopped == "interrupt"
    calls[:] = [1]
    with pytest.raises(KeyboardInterrupt):
        dn.learn(data)


def test_the_result_is_saved_and_asked(tmp_path):
    truth = dn.load("lung-cancer")
    frame = remove(truth.sample(500, 1).frame(), 0.2, 1)
    result = dn.learn(dn.read(frame, missing="em"))
    result.save(tmp_path / "r.json")
    loaded = dn.load_result(tmp_path / "r.json")
    assert loaded.em == result.em
    assert loaded.network.cpts["Cancer"].tolist() == result.network.cpts["Cancer"].tolist()
    assert json.loads((tmp_path / "r.json").read_text())["em"]["missing_values"] == result.em.missing_values
    filled = result.impute(frame)
    assert filled.null_count().sum_horizontal().item() == 0
    assert "missing values in" in result.describe()
    with pytest.raises(dn.InputError, match="strengths needs complete data"):
        result.strengths()
    with pytest.raises(dn.InputError, match="takes no data"):
        result.with_data(dn.read(frame, missing="em"))


def test_errors(tmp_path):
    frame = remove(dn.load("lung-cancer").sample(200, 1).frame(), 0.2, 1)
    data = dn.read(frame, missing="em")
    assert "with gaps" in repr(data)
    with pytest.raises(dn.InputError, match=r"score is BDeu\(1\), but missing='em' .* use score='bic'"):
        dn.learn(data, score="bdeu")
    with pytest.raises(dn.InputError, match="which only learn and questions to networks accept"):
        dn.bootstrap(data, 2)
    with pytest.raises(dn.InputError, match="a journal cannot be used"):
        dn.learn(data, dn.Divide(dn.Exact(), size=3), run=dn.Run(journal=tmp_path / "run.db"))
    empty = frame.with_columns(pl.lit(None, dtype=pl.String).alias("nothing"))
    with pytest.raises(dn.InputError, match="column 'nothing' has no known value; drop it"):
        dn.learn(dn.read(empty, missing="em"))


def test_a_dense_network_is_rejected_with_the_reason(monkeypatch):
    monkeypatch.setattr("dagneal.inference.elimination.LARGEST_TABLE", 3)
    data = dn.read(remove(dn.load("lung-cancer").sample(2000, 1).frame(), 0.2, 1), missing="em")
    with pytest.raises(dn.InputError, match=r"missing='em' needs a table of .* because the network is densely connected"):
        dn.learn(data)


def test_a_prepared_table_keeps_its_gaps(tmp_path):
    frame = remove(dn.load("lung-cancer").sample(300, 1).frame(), 0.2, 1)
    path = tmp_path / "gaps.csv"
    frame.with_columns(dose=pl.Series(np.random.default_rng(1).normal(size=300))).write_csv(path)
    data = dn.prepare(path, missing="em").data
    assert data.incomplete
    assert len(data.states[data.names.index("dose")]) < 50
    result = dn.learn(data)
    assert result.em.missing_values == frame.null_count().sum_horizontal().item()
    assert "(missing)" not in {state for states in result.network.states.values() for state in states}
