"""Names and states with any characters work in all questions, conversions, files, estimators and commands."""

import json

import numpy as np
import polars as pl
import pytest

import dagneal as dn
from dagneal.cli import main
from dagneal.inference import ask, blanket, explain, most_probable, row_log_likelihood
from dagneal.inference.question import quote_label

NAMES = [
    *("a b", 'q"x', "it's", "ü ∆", "a,b", "line\nbreak", "x=y", "p|q", "(par)", "P", "do", "given", "network", "variable"),
    *("true", "1", "1.0", "nan", "None", "{z}", "a:b", "back\\slash", "tab\tx", "target", "x0", "<b>", "% $&", "P(a | b=c)"),
    *("do(x=1)", "_", "(other)", "probability", "\u200b"),
]
STATES = [
    *("", "1", "1.0", "01", "True", "true", "no, never", "yes=no", "a|b", "(x)", "below 3", "3 and above", "nan", "None"),
    *("(missing)", "(other)", " ", "line\nx", '"', "'", "{a: 1}", "P", "do", "-1", "1e5", "NA", "?", "ü", "0", "a b"),
]


def make_network(seed):
    """Return a network of five variables with hostile names and states."""
    rng = np.random.default_rng(seed)
    names = rng.permutation(NAMES)[:5].tolist()
    states = {name: tuple(rng.permutation(STATES)[: rng.integers(2, 4)].tolist()) for name in names}
    parents = {name: tuple(names[max(0, at - 2) : at]) for at, name in enumerate(names)}
    shapes = {name: [len(states[parent]) for parent in parents[name]] for name in names}
    cpts = {name: rng.dirichlet(np.ones(len(states[name])), shapes[name]) for name in names}
    return dn.BayesianNetwork(states, parents, cpts, "hostile")


@pytest.mark.parametrize("seed", range(8))
def test_questions_and_their_texts(seed):
    network = make_network(seed)
    first, second, *_, last = network.names
    state, likely = network.states[first][0], {network.states[second][0]: 0.5, network.states[second][1]: 1.0}
    answer = dn.query(network, last, {first: state, second: likely})
    again = ask(network, answer.title)  # the title is a question
    np.testing.assert_allclose(again.value.probabilities, answer.probabilities)
    assert again.value.title == answer.title
    either = dn.query(network, [last], {first: list(network.states[first][:2])})
    np.testing.assert_allclose(ask(network, either.title).value.probabilities, either.probabilities)
    effect = dn.do(network, {second: network.states[second][0]}, last)
    np.testing.assert_allclose(ask(network, effect.title).value.low, effect.low)
    single = ask(network, f"P({quote_label(last)}={quote_label(network.states[last][0])} | {answer.given})")
    assert single.value == pytest.approx(answer.probabilities[0])
    part = ask(network, f"P({quote_label(last)}={quote_label(network.states[last][0])} | do({effect.do}))")
    expected = effect[network.states[last][0]]  # the last digits of pyAgrum's answers can differ between calls
    for value in (part.value, ask(network, repr(part).rpartition(" = ")[0]).value):
        assert (value.low, value.high) == pytest.approx((expected.low, expected.high))
    assert ask(network, repr(single).rpartition(" = ")[0]).value == pytest.approx(single.value)
    assert set(most_probable(network, {first: state}).states) == set(network.names)
    assert explain(network, first, last, [second]).paths
    assert set(blanket(network, first)) <= set(network.names)
    assert network.cpt(last).height == np.prod([len(network.states[parent]) for parent in network.parents[last]])


@pytest.mark.parametrize("seed", range(8))
def test_conversions_and_files(seed, tmp_path):
    network = make_network(seed)
    first, *_, last = network.names
    expected = dn.query(network, last, {first: network.states[first][0]})
    dn.write_bif(network, tmp_path / "network.bif")
    backs = {
        "pyAgrum": dn.BayesianNetwork.from_pyagrum(network.to_pyagrum()),
        "pgmpy": dn.BayesianNetwork.from_pgmpy(network.to_pgmpy()),
        "networkx": dn.BayesianNetwork.from_networkx(network.to_networkx()),
        "BIF": dn.load(str(tmp_path / "network.bif")),
    }
    for kind, back in backs.items():
        assert dict(back.states) == dict(network.states), kind
        answer = dn.query(back, last, {first: network.states[first][0]})
        assert [answer[state] for state in network.states[last]] == pytest.approx(expected.probabilities.tolist()), kind


@pytest.mark.parametrize("seed", [1, 4])
def test_rows_results_estimators_and_commands(seed, tmp_path, capsys):
    network = make_network(seed)
    frame = network.sample(300, seed).frame().select(pl.all().cast(pl.String)).sample(fraction=1.0, shuffle=True, seed=1)
    last = network.names[-1]
    assert dn.predict(network, frame, last).height == 300
    assert np.isfinite(row_log_likelihood(network, frame)).all()
    assert dn.impute(network, frame).columns == list(network.names)
    result = dn.learn(frame)
    assert np.isfinite(result.log_likelihood(frame)).all()
    target = list(result.dag)[-1]
    assert "<svg" in result._repr_html_()
    frame.write_csv(tmp_path / "rows.csv")
    expected = result.predict(frame, target)
    for ending in ("json", "bif"):
        path = str(tmp_path / f"result.{ending}")
        result.save(path)
        assert main(["predict", path, str(tmp_path / "rows.csv"), "--target", target, "-o", f"{path}.csv"]) == 0
        found = pl.read_csv(f"{path}.csv", infer_schema=False)
        assert found.columns == expected.columns
        np.testing.assert_allclose(found[:, 1].cast(pl.Float64), expected[:, 1])
        assert main(["impute", path, str(tmp_path / "rows.csv"), "-o", f"{path}.csv"]) == 0
        question = f"P({quote_label(target)})"
        assert main(["query", path, question, "--json"]) == 0
        out = capsys.readouterr().out
        probabilities = json.loads(out[out.index("{") :])["probabilities"]
        assert probabilities == pytest.approx(result.query(target).probabilities.tolist())
    classifier = dn.BayesianNetworkClassifier().fit(frame.drop(last), frame[last])
    assert set(classifier.predict(frame.drop(last))) <= set(network.states[last])
    known = [name for name in frame.columns if set(frame[name]) - {"", "NA", "?", "nan", " ", "None", "(missing)"}]
    assert dn.BayesianNetworkImputer().fit_transform(frame.select(known)).columns == known
