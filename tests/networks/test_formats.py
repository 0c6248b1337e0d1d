"""Networks in other formats."""

import json
import os
import subprocess
import sys
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.networks.bundled import NAMES
from dagneal.networks.formats import _safe, graphml, make_labels_safe, read_structure, write_network
from support.networks import odd_network, same

WORDS = ["Asy/Patch", "a b", "1", "x,y", "ä", "if", "-", "a_b"]


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


@given(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=8)), unique=True, max_size=12))
def test_safe_labels_are_plain_and_different(labels):
    found = _safe(labels)
    assert list(found) == labels
    assert len(set(found.values())) == len(labels)
    assert all(word.isascii() and word.isidentifier() for word in found.values())


def test_safe_networks_are_read_by_another_tool(tmp_path):
    network = odd_network()
    write_network(network, tmp_path / "safe.bif", safe=True)
    write_network(make_labels_safe(network), tmp_path / "same.bif")
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
    ours = make_labels_safe(network)
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
