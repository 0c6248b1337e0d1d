"""Networks in other formats, and the commands that score, fit and convert them."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.cli import main
from dagneal.networks.bundled import NAMES
from dagneal.networks.formats import _safe, graphml, read_structure, with_safe_labels, write_network

WORDS = ["Asy/Patch", "a b", "1", "x,y", "ä", "if", "-", "a_b"]


def odd_network() -> dn.BayesianNetwork:
    """Names and states that are no plain words."""
    return dn.BayesianNetwork(
        {"Asy/Patch": ("1", "1 0"), "a b": ("x,y", "-", "ä"), "c": ("yes", "no")},
        {"Asy/Patch": (), "a b": ("Asy/Patch",), "c": ("a b", "Asy/Patch")},
        {
            "Asy/Patch": [0.25, 0.75],
            "a b": [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]],
            "c": np.random.default_rng(0).dirichlet([1, 1], (3, 2)),
        },
        "odd net",
    )


def same(first: dn.BayesianNetwork, second: dn.BayesianNetwork) -> bool:
    return (
        dict(first.states) == dict(second.states)
        and dict(first.parents) == dict(second.parents)
        and all(np.allclose(first.cpts[name], second.cpts[name], atol=1e-12) for name in first.names)
    )


@pytest.mark.parametrize("ending", ["bif", "json"])
@pytest.mark.parametrize("name", [*NAMES, "odd"])
def test_networks_come_back_as_they_were(name, ending, tmp_path):
    network = odd_network() if name == "odd" else dn.load(name)
    path = tmp_path / f"network.{ending}"
    write_network(network, path)
    assert same(read_structure(str(path)), network)


@pytest.mark.parametrize("ending", ["graphml", "json"])
def test_graphs_come_back_as_they_were(ending, tmp_path):
    path = tmp_path / f"graph.{ending}"
    dag = odd_network().dag
    write_network(dag, path)
    found = read_structure(str(path))
    assert isinstance(found, nx.DiGraph)
    assert set(found.edges) == set(dag.edges)
    assert list(found) == list(dag)
    with pytest.raises(dn.InputError, match="has no probabilities"):
        write_network(dag, tmp_path / "graph.bif")


LETTERS = st.characters() | st.sampled_from(
    "\x00\x01\x08\x0b\x0c\x0e\x1f\x7f\x85\t\n\r\u2028\ud800\udfff\ufffe\uffff<&\"'\\"
)


@given(st.lists(st.text(LETTERS, min_size=1, max_size=4), unique=True, min_size=2, max_size=4))
def test_graphml_is_read_back_or_not_written(names):
    dag = nx.DiGraph([(names[0], names[1])])
    dag.add_nodes_from(names)
    try:
        text = graphml(dag)
    except dn.InputError:
        text = None
    if text is None:
        with pytest.raises((ValueError, SyntaxError)):  # XML has no place for them
            ElementTree.fromstring(f"<names>{escape(''.join(names))}</names>")
    else:
        found = nx.parse_graphml(text.encode().decode())
        assert list(found) == names
        assert list(found.edges) == [(names[0], names[1])]


@pytest.mark.parametrize("ending", ["graphml", "dot"])
def test_control_characters_in_names_are_refused_before_the_work(ending, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("a\x01b,c\n" + "0,0\n1,1\n" * 20)
    import_module("dagneal.confidence.measures")  # it keeps the function that it imports, so it must not import this one
    monkeypatch.setattr("dagneal.learning.learn", lambda *_, **__: pytest.fail("it was learned"))
    assert main(["learn", "data.csv", "-o", f"out.{ending}"]) == 2
    told = capsys.readouterr().err
    assert f".{ending} cannot hold the character '\\x01' of the variable 'a\\x01b'; rename it, or write .json" in told
    assert not Path(f"out.{ending}").exists()
    write_network(nx.DiGraph([("a\x01b", "c")]), f"out.{ending}", safe=True)
    assert "a_b" in Path(f"out.{ending}").read_text()
    write_network(nx.DiGraph([("a\x01b", "c")]), "out.json")
    assert list(read_structure("out.json")) == ["a\x01b", "c"]


@given(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=8)), unique=True, max_size=12))
def test_safe_labels_are_plain_and_different(labels):
    found = _safe(labels)
    assert list(found) == labels
    assert len(set(found.values())) == len(labels)
    assert all(word.isascii() and word.isidentifier() for word in found.values())


def test_safe_networks_are_read_by_another_tool(tmp_path):
    network = odd_network()
    write_network(network, tmp_path / "safe.bif", safe=True)
    write_network(with_safe_labels(network), tmp_path / "same.bif")
    assert (tmp_path / "safe.bif").read_bytes() == (tmp_path / "same.bif").read_bytes()
    program = (
        "import json, sys, pyagrum as gum\n"
        "bn = gum.loadBN(sys.argv[1])\n"
        "out = {}\n"
        "for name in bn.names():\n"
        "    cpt = bn.cpt(name)\n"
        "    out[name] = [list(bn.variable(name).labels()), sorted(bn.variable(p).name() for p in bn.parents(name)),\n"
        "                 sorted(round(float(v), 9) for v in cpt.toarray().ravel())]\n"
        "print(json.dumps(out))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "safe.bif")], capture_output=True, text=True, check=True
    )
    theirs = json.loads(ran.stdout)
    ours = with_safe_labels(network)
    assert set(theirs) == set(ours.names)
    for name, (labels, parents, values) in theirs.items():
        assert tuple(labels) == ours.states[name]
        assert parents == sorted(ours.parents[name])
        assert np.allclose(values, sorted(np.round(ours.cpts[name].ravel(), 9)))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "{", "is not a network"),
        ("a.json", "[]", "is not a network"),
        ("a.json", '{"variables": ["a", "a"], "edges": []}', "is not a network"),
        ("a.json", '{"variables": ["a"], "edges": [], "cpts": {}, "states": 3}', "is not a network"),
        ("a.graphml", "<graphml>", "is not a graph in GraphML"),
        ("a.graphml", '<!DOCTYPE x [<!ENTITY a "b">]><graphml/>', "entities"),
    ],
)
def test_bad_files_are_named(name, text, message, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(dn.InputError, match=message):
        read_structure(tmp_path / name)


def test_score_fit_and_convert(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["sample", "lung-cancer", "--rows", "2000", "-o", "lc.csv"]) == 0
    data = dn.read("lc.csv", states=dn.load("lung-cancer"))
    capsys.readouterr()
    words = ["--states", "lung-cancer"]
    assert main(["score", "lung-cancer", "lc.csv", "--json", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    truth = dn.load("lung-cancer")
    assert found["score"] == pytest.approx(dn.Scorer(data).score(truth.dag)) == sum(found["local"].values())
    assert found["log_likelihood"] == pytest.approx(dn.log_likelihood(truth, data))
    assert main(["learn", "lc.csv", "-o", "found.json", *words]) == 0
    assert "strengths" in json.loads((tmp_path / "found.json").read_text())
    assert main(["fit", "found.json", "lc.csv", "-o", "fitted.bif", *words]) == 0
    learned = dn.learn(data)
    assert same(dn.read_bif("fitted.bif"), dn.fit(learned.dag, data))
    assert main(["convert", "fitted.bif", "fitted.json"]) == 0
    assert main(["convert", "fitted.json", "again.bif"]) == 0
    assert same(dn.read_bif("again.bif"), dn.read_bif("fitted.bif"))
    assert main(["convert", "lung-cancer", "lc.dot"]) == 0
    assert '"Cancer" -> "Xray"' in (tmp_path / "lc.dot").read_text()
    capsys.readouterr()
    Path("bare.json").write_text('{"variables": ["a", "b"], "edges": [["a", "b"]]}')
    for line, message in (
        ("convert bare.json found.bif", "has no probabilities"),
        ("convert nowhere.bif a.json", "nowhere.bif"),
        ("convert found.json found.doc", "cannot tell the format"),
        ("fit found.json lc.csv -o a.bif --score bic", "no prior to fit with"),
        ("score waste lc.csv", "there is no column"),
    ):
        assert main(line.split()) == 2
        assert message in capsys.readouterr().err
        assert not (tmp_path / "a.bif").exists()


def test_a_result_as_json_holds_the_network(tmp_path, capsys):
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
    assert "with its own probabilities" in capsys.readouterr().out
    assert main(["convert", str(tmp_path / "a.json"), str(tmp_path / "a.json")]) == 2
    assert "written over itself" in capsys.readouterr().err
    assert main(["convert", str(tmp_path / "a.json"), str(tmp_path / "a.dot")]) == 0
    assert main(["convert", str(tmp_path / "a.dot"), str(tmp_path / "b.json")]) == 2
    assert ".dot files are written but not read" in capsys.readouterr().err


def test_columns_that_a_network_does_not_have_are_left_out(tmp_path, capsys):
    frame = dn.load("lung-cancer").sample(500, 1).frame().with_columns(patient=pl.Series([f"p{i}" for i in range(500)]))
    frame.write_csv(tmp_path / "a.csv")
    assert main(["score", "lung-cancer", str(tmp_path / "a.csv")]) == 0
    assert main(["fit", "lung-cancer", str(tmp_path / "a.csv"), "-o", str(tmp_path / "a.bif")]) == 0
    assert "patient" not in dn.load(str(tmp_path / "a.bif")).names


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda net: net["edges"].append(["c", "Asy/Patch"]), "the edge c -> Asy/Patch is in 'edges' but not in 'parents'"),
        (lambda net: net["edges"].pop(), "is in 'parents' but not in 'edges'"),
        (lambda net: net["variables"].append("new"), "'new' is in 'variables' but not in 'states'"),
        (lambda net: net["states"].update(new=["x", "y"]), "is not a network"),
        (lambda net: net["parents"].update(c=[["a b"], "Asy/Patch"]), "make them agree"),
        (lambda net: net["parents"].update(c={"a b": 1}), "is in 'edges' but not in 'parents'"),
        (lambda net: net["parents"].pop("c"), "is not a network"),
        (lambda net: net["cpts"].update(c=[[1.0], [0.5, 0.5]]), "is not a network"),
        (lambda net: net["parents"].update(c=["a b", "Asy/Patch", "a b"]), "the same parent twice"),
    ],
)
def test_a_network_that_was_edited_by_hand_must_agree_with_itself(tmp_path, change, message):
    path = tmp_path / "net.json"
    write_network(odd_network(), path)
    network = json.loads(path.read_text())
    change(network)
    path.write_text(json.dumps(network))
    with pytest.raises(dn.InputError, match=message):
        read_structure(path)


def test_edges_that_were_edited_count_where_there_are_no_probabilities(tmp_path):
    path = tmp_path / "net.json"
    write_network(odd_network(), path)
    network = json.loads(path.read_text())
    network["edges"] = [["c", "a b"]]
    del network["cpts"]
    path.write_text(json.dumps(network))
    assert list(read_structure(path).edges) == [("c", "a b")]


@pytest.mark.parametrize("letters", ["\r", "\n", '"', "a\rb"])
def test_names_that_bif_would_not_give_back_are_refused(tmp_path, letters):
    network = dn.BayesianNetwork({"a": (f"x{letters}", "y")}, {"a": ()}, {"a": [0.5, 0.5]})
    with pytest.raises(dn.InputError, match="cannot be written in BIF"):
        dn.write_bif(network, tmp_path / "net.bif")
    assert not (tmp_path / "net.bif").exists()
    write_network(network, tmp_path / "safe.bif", safe=True)
    assert dn.read_bif(tmp_path / "safe.bif").names == ("a",)


@pytest.mark.parametrize("ending", [".bif", ".json", ".graphml", ".dot"])
def test_lone_surrogates_are_refused(tmp_path, ending, capsys):
    (tmp_path / "net.json").write_text('{"variables": ["a\\ud800"], "edges": []}')
    assert main(["convert", str(tmp_path / "net.json"), str(tmp_path / f"out{ending}")]) == 2
    assert "not valid Unicode" in capsys.readouterr().err
    with pytest.raises(dn.InputError, match="not valid Unicode"):
        dn.BayesianNetwork({"a": ("x\udfff", "y")}, {"a": ()}, {"a": [0.5, 0.5]})


def test_files_with_a_byte_order_mark_are_read(tmp_path):
    for ending in (".bif", ".json"):
        path = tmp_path / f"net{ending}"
        write_network(odd_network(), path)
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
        assert same(read_structure(path), odd_network())


def test_a_network_file_may_have_any_name(tmp_path):
    path = tmp_path / os.fsdecode(b"net-\xff.bif")
    dn.write_bif(odd_network(), path)
    assert same(dn.read_bif(path), odd_network())


@pytest.mark.parametrize(
    "change",
    [
        lambda net: net["variables"].__setitem__(0, "c"),
        lambda net: net["states"].update(c="ab"),
        lambda net: net["cpts"].update({"Asy/Patch": [10**400, 0]}),
    ],
)
def test_malformed_parts_of_a_saved_network_are_refused(tmp_path, change):
    path = tmp_path / "net.json"
    write_network(odd_network(), path)
    network = json.loads(path.read_text())
    change(network)
    path.write_text(json.dumps(network))
    with pytest.raises(dn.InputError, match="is not a network"):
        read_structure(path)


def test_cycles_are_not_scored_and_saved_networks_are_sampled(tmp_path, capsys):
    dn.load("lung-cancer").sample(50, 1).frame().select("Smoker", "Cancer").write_csv(tmp_path / "two.csv")
    edges = [["Smoker", "Cancer"], ["Cancer", "Smoker"]]
    (tmp_path / "cycle.json").write_text(json.dumps({"variables": ["Smoker", "Cancer"], "edges": edges}))
    assert main(["score", str(tmp_path / "cycle.json"), str(tmp_path / "two.csv")]) == 2
    assert "cycle" in capsys.readouterr().err
    write_network(odd_network(), tmp_path / "net.json")
    assert main(["sample", str(tmp_path / "net.json"), "--rows", "3"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
