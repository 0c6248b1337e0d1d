"""Commands that score, fit, convert and sample networks."""

import json
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl
import pytest

import dagneal as dn
from dagneal.cli import main
from dagneal.networks.formats import read_structure, write_network
from support.networks import equal_networks, odd_network


@pytest.mark.parametrize("ending", ["graphml", "dot"])
def test_control_characters_in_names_are_reported_before_the_work(ending, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("a\x01b,c\n" + "0,0\n1,1\n" * 20)
    with monkeypatch.context() as patch:
        patch.setattr("dagneal.learning.learn", lambda *_, **__: pytest.fail("learn was called"))
        assert main(["learn", "data.csv", "-o", f"out.{ending}"]) == 2
    message = capsys.readouterr().err
    assert f"the variable 'a\\x01b' contains '\\x01', which .{ending} files cannot contain" in message
    assert "rename it, or write with --safe-labels" in message
    assert not Path(f"out.{ending}").exists()
    assert main(["learn", "data.csv", "-o", f"out.{ending}", "--safe-labels"]) == 0
    assert "a_b" in Path(f"out.{ending}").read_text()
    write_network(nx.DiGraph([("a\x01b", "c")]), f"out.{ending}", safe=True)
    assert "a_b" in Path(f"out.{ending}").read_text()
    write_network(nx.DiGraph([("a\x01b", "c")]), "out.json")
    assert list(read_structure("out.json")) == ["a\x01b", "c"]


def test_score_fit_and_convert(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["sample", "lung-cancer", "--rows", "2000", "-o", "lc.csv"]) == 0
    data = dn.read("lc.csv", states=dn.load("lung-cancer"))
    capsys.readouterr()
    words = ["--states", "lung-cancer"]
    assert main(["score", "lung-cancer", "lc.csv", "--json", *words]) == 0
    result = json.loads(capsys.readouterr().out)
    truth = dn.load("lung-cancer")
    assert result["score"] == pytest.approx(dn.scoring.Scorer(data).score(truth.dag)) == sum(result["local"].values())
    assert result["log_likelihood"] == pytest.approx(dn.log_likelihood(truth, data))
    assert main(["learn", "lc.csv", "-o", "learned.json", *words]) == 0
    assert "strengths" in json.loads((tmp_path / "learned.json").read_text())
    assert main(["fit", "learned.json", "lc.csv", "-o", "fitted.bif", *words]) == 0
    learned = dn.learn(data)
    assert equal_networks(dn.read_bif("fitted.bif"), dn.fit(learned.dag, data))
    assert main(["convert", "fitted.bif", "fitted.json"]) == 0
    assert main(["convert", "fitted.json", "again.bif"]) == 0
    assert equal_networks(dn.read_bif("again.bif"), dn.read_bif("fitted.bif"))
    assert main(["convert", "lung-cancer", "lc.dot"]) == 0
    assert '"Cancer" -> "Xray"' in (tmp_path / "lc.dot").read_text()
    capsys.readouterr()
    Path("bare.json").write_text('{"variables": ["a", "b"], "edges": [["a", "b"]]}')
    for line, message in (
        ("convert bare.json learned.bif", "has no probabilities"),
        ("convert nowhere.bif a.json", "nowhere.bif"),
        ("convert learned.json learned.doc", "has an unknown format"),
        ("fit learned.json lc.csv -o a.bif --score bic", "the fit needs a score with a prior, but --score is bic"),
        ("score waste lc.csv", "there is no column"),
    ):
        assert main(line.split()) == 2
        assert message in capsys.readouterr().err
        assert not (tmp_path / "a.bif").exists()


def test_a_json_result_contains_the_network(tmp_path, capsys):
    truth = dn.load("lung-cancer")
    truth.sample(500, 1).frame().write_csv(tmp_path / "a.csv")
    assert main(["learn", str(tmp_path / "a.csv"), "-o", str(tmp_path / "a.json")]) == 0
    assert main(["learn", str(tmp_path / "a.csv"), "-o", str(tmp_path / "a.bif")]) == 0
    assert main(["convert", str(tmp_path / "a.json"), str(tmp_path / "again.bif")]) == 0
    one, other = dn.load(str(tmp_path / "a.bif")), dn.load(str(tmp_path / "again.bif"))
    assert one.states == other.states
    for name in one.names:
        np.testing.assert_allclose(one.cpts[name], other.cpts[name], atol=1e-9)
    assert main(["score", str(tmp_path / "a.json"), str(tmp_path / "a.csv"), "--states", str(tmp_path / "a.json")]) == 0
    assert "log-likelihood with the probabilities of the network" in capsys.readouterr().out
    assert main(["convert", str(tmp_path / "a.json"), str(tmp_path / "a.json")]) == 2
    assert "is both input and output" in capsys.readouterr().err
    assert main(["convert", str(tmp_path / "a.json"), str(tmp_path / "a.dot")]) == 0
    assert main(["convert", str(tmp_path / "a.dot"), str(tmp_path / "b.json")]) == 2
    assert "dagneal cannot read .dot files" in capsys.readouterr().err


def test_columns_that_are_not_variables_of_the_network_are_ignored(tmp_path, capsys):
    frame = dn.load("lung-cancer").sample(500, 1).frame().with_columns(patient=pl.Series([f"p{i}" for i in range(500)]))
    frame.write_csv(tmp_path / "a.csv")
    assert main(["score", "lung-cancer", str(tmp_path / "a.csv")]) == 0
    assert main(["fit", "lung-cancer", str(tmp_path / "a.csv"), "-o", str(tmp_path / "a.bif")]) == 0
    assert "patient" not in dn.load(str(tmp_path / "a.bif")).names


@pytest.mark.parametrize("ending", [".bif", ".json", ".graphml", ".dot"])
def test_lone_surrogates_are_reported(tmp_path, ending, capsys):
    (tmp_path / "net.json").write_text('{"variables": ["a\\ud800"], "edges": []}')
    assert main(["convert", str(tmp_path / "net.json"), str(tmp_path / f"out{ending}")]) == 2
    assert "not valid Unicode" in capsys.readouterr().err
    with pytest.raises(dn.InputError, match="not valid Unicode"):
        dn.BayesianNetwork({"a": ("x\udfff", "y")}, {"a": ()}, {"a": [0.5, 0.5]})


def test_a_cyclic_graph_is_not_scored_and_a_saved_network_can_be_sampled(tmp_path, capsys):
    dn.load("lung-cancer").sample(50, 1).frame().select("Smoker", "Cancer").write_csv(tmp_path / "two.csv")
    edges = [["Smoker", "Cancer"], ["Cancer", "Smoker"]]
    (tmp_path / "cycle.json").write_text(json.dumps({"variables": ["Smoker", "Cancer"], "edges": edges}))
    assert main(["score", str(tmp_path / "cycle.json"), str(tmp_path / "two.csv")]) == 2
    assert "cycle" in capsys.readouterr().err
    write_network(odd_network(), tmp_path / "net.json")
    assert main(["sample", str(tmp_path / "net.json"), "--rows", "3"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
