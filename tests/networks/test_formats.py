"""Networks and graphs in the formats of other tools."""

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
from dagneal.networks.bif import make_labels_safe, safe_labels
from dagneal.networks.bundled import NAMES
from dagneal.networks.formats import graphml, read_structure, write_network
from support.enumeration import random_network
from support.networks import equal_networks, odd_network

# A program that prints what pyAgrum reads from a BIF file.
PYAGRUM = """
import json, sys, pyagrum as gum
bn = gum.loadBN(sys.argv[1])
print(json.dumps({name: list(bn.variable(name).labels()) for name in bn.names()}))
"""
WORDS = ["Asy/Patch", "a b", "1", "x,y", "ä", "if", "-", "a_b"]


@pytest.mark.parametrize("ending", ["bif", "json"])
@pytest.mark.parametrize("name", [*NAMES, "odd"])
def test_written_networks_are_read_back_unchanged(name, ending, tmp_path):
    network = odd_network() if name == "odd" else dn.load(name)
    path = tmp_path / f"network.{ending}"
    write_network(network, path)
    assert equal_networks(read_structure(str(path)), network)


@pytest.mark.parametrize("ending", ["graphml", "json"])
def test_written_graphs_are_read_back_unchanged(ending, tmp_path):
    path = tmp_path / f"graph.{ending}"
    dag = odd_network().dag
    write_network(dag, path)
    graph = read_structure(str(path))
    assert isinstance(graph, nx.DiGraph)
    assert set(graph.edges) == set(dag.edges)
    assert list(graph) == list(dag)
    with pytest.raises(dn.InputError, match="has no probabilities"):
        write_network(dag, tmp_path / "graph.bif")


LETTERS = st.characters() | st.sampled_from(
    "\x00\x01\x08\x0b\x0c\x0e\x1f\x7f\x85\t\n\r\u2028\ud800\udfff\ufffe\uffff<&\"'\\"
)


@given(st.lists(st.text(LETTERS, min_size=1, max_size=4), unique=True, min_size=2, max_size=4))
def test_graphml_is_read_back_unchanged_or_rejected_if_not_valid_xml(names):
    dag = nx.DiGraph([(names[0], names[1])])
    dag.add_nodes_from(names)
    try:
        text = graphml(dag)
    except dn.InputError:
        text = None
    if text is None:
        with pytest.raises((ValueError, SyntaxError)):  # XML cannot contain these names
            ElementTree.fromstring(f"<names>{escape(''.join(names))}</names>")
    else:
        graph = nx.parse_graphml(text.encode().decode())
        assert list(graph) == names
        assert list(graph.edges) == [(names[0], names[1])]


@given(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=8)), unique=True, max_size=12))
def test_safe_labels_are_distinct_identifiers(labels):
    safe = safe_labels(labels)
    assert list(safe) == labels
    assert len(set(safe.values())) == len(labels)
    assert all(word.isascii() and word.isidentifier() for word in safe.values())


def test_pyagrum_reads_networks_with_safe_labels(tmp_path):
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
    process = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "safe.bif")], capture_output=True, text=True, check=True
    )
    theirs = json.loads(process.stdout)
    ours = make_labels_safe(network)
    assert set(theirs) == set(ours.names)
    for name, (labels, parents, values) in theirs.items():
        assert tuple(labels) == ours.states[name]
        assert parents == sorted(ours.parents[name])
        assert np.allclose(values, sorted(np.round(ours.cpts[name].ravel(), 9)))


def test_pyagrum_reads_hostile_names_and_dagneal_restores_them(tmp_path):
    for seed in range(6):
        network = random_network(6, seed, hostile=True)
        path = tmp_path / f"{seed}.bif"
        write_network(network, path)
        assert equal_networks(read_structure(path), network)
        assert read_structure(path).name == network.name
        done = subprocess.run([sys.executable, "-c", PYAGRUM, str(path)], capture_output=True, text=True, check=True)
        assert sorted(map(len, json.loads(done.stdout).values())) == sorted(map(len, network.states.values()))
        write_network(network, path, safe=True)
        assert read_structure(path).names == make_labels_safe(network).names


def test_plain_names_stay_unchanged_in_bif_files(tmp_path):
    states = {"a-b": ("0", "1"), "x.y": ("yes", "no"), "_": ("True", "-1")}
    network = dn.BayesianNetwork(states, dict.fromkeys(states, ()), {name: [0.5, 0.5] for name in states})
    write_network(network, tmp_path / "a.bif")
    text = (tmp_path / "a.bif").read_text()
    assert "original name" not in text
    write_network(network, tmp_path / "b.bif", safe=False)
    assert (tmp_path / "b.bif").read_text() == text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (r'"Asy/Patch"', r'"Asy\q"', "line 4: the original name is not a JSON text"),
        (r'"Asy/Patch"', r'"a b"', "two variables have the same original name"),
    ],
)
def test_damaged_original_names_are_reported(tmp_path, old, new, message):
    write_network(odd_network(), tmp_path / "a.bif")
    text = (tmp_path / "a.bif").read_text()
    assert old in text
    (tmp_path / "a.bif").write_text(text.replace(old, new))
    with pytest.raises(dn.InputError, match=message):
        read_structure(tmp_path / "a.bif")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "{", "is not a network"),
        ("a.json", "[]", "is not a network"),
        ("a.json", '{"variables": ["a", "a"], "edges": []}', "is not a network"),
        ("a.json", '{"variables": ["a"], "edges": [], "cpts": {}, "states": 3}', "is not a network"),
        ("a.graphml", "<graphml>", "is not a GraphML graph"),
        ("a.graphml", '<!DOCTYPE x [<!ENTITY a "b">]><graphml/>', "entities"),
    ],
)
def test_invalid_files_are_rejected(name, text, message, tmp_path):
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
def test_contradictions_within_a_network_file_are_rejected(tmp_path, change, message):
    path = tmp_path / "net.json"
    write_network(odd_network(), path)
    network = json.loads(path.read_text())
    change(network)
    path.write_text(json.dumps(network))
    with pytest.raises(dn.InputError, match=message):
        read_structure(path)


def test_edges_can_be_edited_if_the_file_has_no_probabilities(tmp_path):
    path = tmp_path / "net.json"
    write_network(odd_network(), path)
    network = json.loads(path.read_text())
    network["edges"] = [["c", "a b"]]
    del network["cpts"]
    path.write_text(json.dumps(network))
    assert list(read_structure(path).edges) == [("c", "a b")]


@pytest.mark.parametrize("letters", ["\r", "\n", '"', "a\rb"])
def test_names_that_bif_cannot_represent_are_rejected(tmp_path, letters):
    network = dn.BayesianNetwork({"a": (f"x{letters}", "y")}, {"a": ()}, {"a": [0.5, 0.5]})
    with pytest.raises(dn.InputError, match="cannot be written in BIF"):
        dn.write_bif(network, tmp_path / "net.bif", safe=False)
    assert not (tmp_path / "net.bif").exists()
    dn.write_bif(network, tmp_path / "restorable.bif")
    assert dn.read_bif(tmp_path / "restorable.bif").states == network.states
    write_network(network, tmp_path / "safe.bif", safe=True)
    assert dn.read_bif(tmp_path / "safe.bif").names == ("a",)


def test_files_with_a_byte_order_mark_are_read(tmp_path):
    for ending in (".bif", ".json"):
        path = tmp_path / f"net{ending}"
        write_network(odd_network(), path)
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
        assert equal_networks(read_structure(path), odd_network())


def test_a_network_file_name_need_not_be_valid_utf_8(tmp_path):
    path = tmp_path / os.fsdecode(b"net-\xff.bif")
    dn.write_bif(odd_network(), path)
    assert equal_networks(dn.read_bif(path), odd_network())


@pytest.mark.parametrize(
    "change",
    [
        lambda net: net["variables"].__setitem__(0, "c"),
        lambda net: net["states"].update(c="ab"),
        lambda net: net["cpts"].update({"Asy/Patch": [10**400, 0]}),
    ],
)
def test_malformed_network_files_are_rejected(tmp_path, change):
    path = tmp_path / "net.json"
    write_network(odd_network(), path)
    network = json.loads(path.read_text())
    change(network)
    path.write_text(json.dumps(network))
    with pytest.raises(dn.InputError, match="is not a network"):
        read_structure(path)


def test_network_of_blip(tmp_path):
    path = tmp_path / "x.res"
    path.write_text("0: -1636.48 \n1: -1257.54  (3,2)\n2: -3612.07  (3)\n3: -7e2\n\nScore: -63394.247 \n")
    graph = read_structure(path)
    assert list(graph) == ["0", "1", "2", "3"]
    assert set(graph.edges) == {("3", "1"), ("2", "1"), ("3", "2")}
    for text, message in [
        ("0: -1\nx: -1\n", "x.res, line 2: not a variable of a BLIP network"),
        ("0: -1\n0: -1\n", "x.res, line 2: not a variable"),
        ("0: -1 (1)\n", "the parent 1 of 0 has no line"),
        ("0: -1 (1)\n1: -1 (0)\n", "cycle"),
    ]:
        path.write_text(text)
        with pytest.raises(dn.InputError, match=message):
            read_structure(path)
