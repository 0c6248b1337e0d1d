"""`dagneal query`, `predict` and `impute`."""

import io
import json
from contextlib import suppress

import polars as pl
import pytest
from hypothesis import assume, given, strategies as st

import dagneal as dn
from dagneal.cli import main
from dagneal.inference.question import parse_question, quote_label
from support.enumeration import random_network


def run(capsys, *words):
    """Run a command and return its status, its output and its messages."""
    status = main(list(words))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_questions_are_answered(capsys):
    network = dn.load("lung-cancer")
    status, out, _ = run(capsys, "query", "lung-cancer", "P(Cancer | Smoker=True, Xray=Positive)", "--json")
    plain = json.loads(out)
    expected = dn.query(network, "Cancer", {"Smoker": "True", "Xray": "Positive"})
    assert status == 0
    assert plain["probabilities"] == pytest.approx(expected.probabilities.tolist(), abs=1e-12)
    assert plain["states"] == {"Cancer": ["False", "True"]}
    _, out, _ = run(capsys, "query", "lung-cancer", "P(Cancer, Smoker | Xray=Positive)")
    assert out.splitlines()[0] == "P(Cancer, Smoker | Xray=Positive)"
    assert len(out.splitlines()) == 5
    _, out, _ = run(capsys, "query", "lung-cancer", "P(Cancer=True, Smoker=True)", "--json")
    assert json.loads(out)["probability"] == pytest.approx(dn.query(network, ["Cancer", "Smoker"])["True", "True"])
    _, out, _ = run(capsys, "query", "lung-cancer", "P(Cancer=True | Smoker={True: 2, False: 1})")
    soft = dn.query(network, "Cancer", {"Smoker": {"True": 2, "False": 1}})["True"]
    assert out == f"P(Cancer=True | Smoker={{True: 2, False: 1}}) = {soft:.6g}\n"
    _, out, _ = run(capsys, "query", "lung-cancer", "P(Cancer | do(Smoker=True), Xray=Positive)")
    assert "assuming no hidden common causes" in out


def test_effects_are_ranges_unless_knowledge_decides(capsys, tmp_path):
    chain = dn.BayesianNetwork(
        {"a": ("0", "1"), "b": ("0", "1")}, {"a": (), "b": ("a",)}, {"a": [0.4, 0.6], "b": [[0.9, 0.1], [0.2, 0.8]]}
    )
    path = str(tmp_path / "chain.bif")
    dn.write_bif(chain, path)
    _, out, _ = run(capsys, "query", path, "P(b=1 | do(a=1))")
    assert out.splitlines()[0] == "P(b=1 | do(a=1)) = 0.52 to 0.8, assuming no hidden common causes"
    assert "2 possible parent sets of a give different effects" in out
    for words in (["--tiers", "a:b"], ["--trust-directions"]):
        _, out, _ = run(capsys, "query", path, "P(b=1 | do(a=1))", "--json", *words)
        plain = json.loads(out)
        assert plain["low"] == plain["high"] == pytest.approx(0.8)
        assert plain["identified"]
        assert plain["assumption"].startswith("assuming no hidden common causes")


def test_options_for_effects_need_an_intervention(capsys):
    for words in (["--tiers", "Smoker:Cancer"], ["--trust-directions"]):
        status, _, err = run(capsys, "query", "lung-cancer", "P(Cancer | Smoker=True)", *words)
        assert (status, "--trust-directions only matter in a question with do(...)" in err) == (2, True)


def test_hostile_names_can_be_asked(capsys, tmp_path):
    network = random_network(5, 3, hostile=True)
    path = str(tmp_path / "hostile.bif")
    dn.write_bif(network, path)
    first, second, third = network.names[:3]
    state = network.states[second][1]
    condition = (
        f"{quote_label(second)}={quote_label(state)}, do({quote_label(third)}={quote_label(network.states[third][0])})"
    )
    question = parse_question(f"P({quote_label(first)} | {condition})")
    assert question.targets == (first,)
    assert question.given == {second: state}
    assert question.interventions == {third: network.states[third][0]}
    status, out, _ = run(
        capsys, "query", path, f"P({quote_label(first)} | {quote_label(second)}={quote_label(state)})", "--json"
    )
    assert status == 0
    expected = dn.query(network, first, {second: state}).probabilities.tolist()
    assert json.loads(out)["probabilities"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "text", ["a b", "", "x=y", "a,b", "P", "do", 'q"q', "back\\slash", "(x)", " pad ", "c:d", "'", "{}|"]
)
def test_quoted_names_are_read_back(text):
    quoted = quote_label(text)
    assert parse_question(f"P({quoted}, other | z={quoted}, do(w={quoted}))").targets == (text, "other")
    assert parse_question(f"P({quoted}={quoted})").states == {text: text}
    assert parse_question(f"P(x | z={{{quoted}, {quote_label(text + '2')}}})").given == {"z": [text, text + "2"]}
    assert parse_question(f"P(x | z={{{quoted}: 0.5, k: 1}})").given == {"z": {text: 0.5, "k": 1.0}}


@given(st.text(max_size=12), st.text(max_size=12))
def test_any_name_can_be_quoted(name, state):
    assume(name != "other")
    question = parse_question(f"P(other | {quote_label(name)}={quote_label(state)})")
    assert question.given == {name: state}
    question = parse_question(f"P(other | z={{{quote_label(name)}: 0.25, other: 1}})")
    assert question.given == {"z": {name: 0.25, "other": 1.0}}


@given(st.text(alphabet="P(){}|,=:'\" do\\ab1.", max_size=30))
def test_any_text_gives_a_question_or_a_message(text):
    with suppress(dn.InputError):
        assert parse_question(f"P({text})").targets


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("Cancer", "is not clear at the beginning: expected 'P('; write for example P(Cancer | Smoker=yes"),
        ("P(Cancer", "expected ')'; separate conditions with commas"),
        ("P()", "expected the name of a variable, not ')'"),
        ("P(Cancer | Smoker)", "after 'P(Cancer | Smoker': expected '=' and a state of 'Smoker'"),
        ("P(Cancer=True, Smoker)", "give a state for all targets, or for none of them"),
        ("P(Cancer, Cancer)", "'Cancer' is given twice"),
        ("P(Cancer | Smoker=True, do(Smoker=True))", "'Smoker' is given twice"),
        ('P("Cancer)', "a quote is not closed"),
        ("P(Cancer | Smoker=(x))", "put names and states with special characters in quotes"),
        ("P(Cancer) extra", "the question ends here"),
        ("P(Cancer | Smoker={True: much})", "'much' is not a number"),
        ("P(Cancer | Smoker={True: 1, False})", "for all states of 'Smoker' in braces, or for none"),
        ("P(Cancr)", "did you mean 'Cancer'?"),
        ("P(Cancer | Smoker=yes)", "'Smoker' has no state 'yes'; its states are 'False', 'True'"),
    ],
)
def test_wrong_questions_are_explained(capsys, question, message):
    status, out, err = run(capsys, "query", "lung-cancer", question)
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


def test_rows_are_predicted_and_filled(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    network = dn.load("lung-cancer")
    frame = network.sample(40, seed=1).frame().cast(pl.String)
    frame.drop("Cancer").write_csv("new.csv")
    gaps = frame.with_columns(Smoker=pl.Series([None, *frame["Smoker"][1:]]))
    gaps.write_csv("gaps.csv")
    status, out, _ = run(capsys, "predict", "lung-cancer", "new.csv", "--target", "Cancer", "-o", "out.csv", "--json")
    assert (status, json.loads(out)["rows"]) == (0, 40)
    expected = dn.predict(network, frame, "Cancer")
    assert pl.read_csv("out.csv", infer_schema=False)["Cancer"].to_list() == expected["Cancer"].to_list()
    status, out, _ = run(capsys, "predict", "lung-cancer", "new.csv", "--target", "Cancer")
    assert pl.read_csv(io.StringIO(out))["Cancer=True"].to_list() == pytest.approx(expected["Cancer=True"].to_list())
    for ending in ("csv", "tsv", "parquet"):
        status, out, _ = run(capsys, "impute", "lung-cancer", "gaps.csv", "-o", f"full.{ending}")
        assert (status, out) == (0, f"40 rows without missing values written to full.{ending}\n")
    assert pl.read_parquet("full.parquet").cast(pl.String).equals(dn.impute(network, gaps).cast(pl.String))
    first = run(capsys, "impute", "lung-cancer", "gaps.csv", "--method", "sample", "--seed", "3")
    assert first == run(capsys, "impute", "lung-cancer", "gaps.csv", "--method", "sample", "--seed", "3")


def test_results_and_ensembles_are_models(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = dn.load("lung-cancer").sample(800, seed=2)
    data.frame().write_csv("rows.csv")
    result = dn.learn(data, knowledge={"tiers": [["Pollution", "Smoker"], ["Cancer"], ["Xray", "Dyspnoea"]]}, seed=1)
    result.save("result.json")
    mixture = dn.ensemble(data, networks=5)
    mixture.save("ensemble.json")
    for name, model in (("result.json", result), ("ensemble.json", mixture)):
        _, out, _ = run(capsys, "query", name, "P(Cancer | Smoker=True)", "--json")
        assert json.loads(out)["probabilities"] == pytest.approx(model.query("Cancer", {"Smoker": "True"}).probabilities)
        assert run(capsys, "predict", name, "rows.csv", "--target", "Cancer", "-o", "p.csv")[0] == 0
    _, out, _ = run(capsys, "query", "result.json", "P(Xray | do(Cancer=True))", "--json")
    assert json.loads(out)["identified"]  # the tiers of the result direct the edges
    status, _, err = run(capsys, "query", "ensemble.json", "P(Xray | do(Cancer=True))")
    assert (status, "needs one network, not an ensemble" in err) == (2, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("predict lung-cancer rows.csv --target Cancr", "did you mean 'Cancer'?"),
        ("predict lung-cancer odd.csv --target Cancer", "'Smoker' has the value 'sometimes'"),
        ("predict lung-cancer odd.csv --target Cancer", "treat such values as unknown with --unseen missing"),
        ("predict lung-cancer few.csv --target Cancer", "there is no column 'Pollution' (and 1 more are absent)"),
        ("predict lung-cancer rows.csv --target Cancer --json", "it needs -o FILE"),
        ("predict lung-cancer rows.csv --target Cancer -o x.doc", "x.doc has an unknown format"),
        ("impute lung-cancer few.csv", "treat it as unknown with --unseen missing"),
        ("impute graph.json rows.csv", "has no states and probabilities"),
        ("predict lung-cancer other.csv --target Cancer", "no column is a variable of the network"),
        ("query nowhere.json P(a)", "cannot be read"),
    ],
)
def test_wrong_files_are_explained(words, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = dn.load("lung-cancer").sample(5, seed=1).frame().cast(pl.String)
    frame.write_csv("rows.csv")
    frame.with_columns(Smoker=pl.Series(["sometimes", *frame["Smoker"][1:]])).write_csv("odd.csv")
    frame.drop("Pollution", "Dyspnoea").write_csv("few.csv")
    pl.DataFrame({"x": ["1", "2"], "y": ["3", "4"]}).write_csv("other.csv")
    (tmp_path / "graph.json").write_text('{"variables": ["a", "b"], "edges": [["a", "b"]]}')
    status, _, err = run(capsys, *words.split())
    assert (status, message in err) == (2, True), err
