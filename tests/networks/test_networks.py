"""Networks: BIF files, sampling and fitting."""

import json
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.networks.bif import format_bif, parse_bif
from dagneal.networks.bundled import NAMES

DOG = """
// Produced by JavaBayes
network "Dog-Problem" { //5 variables
    property "credal-set constant-density-bounded 1.1" ;
}
variable  "light-on" { type discrete[2] {  "true"  "false" }; property "position = (218, 195)" ; }
variable  "bowel-problem" { type discrete[2] {  "true"  "false" }; }
variable  "dog-out" { type discrete[2] {  "true"  "false" }; }
variable  "family-out" { type discrete[2] {  "true"  "false" }; }
/* a comment
   of two lines */
probability (  "light-on"  "family-out" ) { (true) 0.6 0.4 ; (false) 0.05 0.95 ; }
probability (  "bowel-problem" ) { table 0.01 0.99 ; }
probability (  "dog-out"  "bowel-problem"  "family-out" ) { table 0.99 0.97 0.9 0.3 0.01 0.03 0.1 0.7 ; }
probability (  "family-out" ) { table 0.15 0.85 ; }
"""

ODD = """network odd { }
variable Age { type discrete [ 3 ] { <5, 5-12, >=12 }; }
variable Grade { type discrete [ 2 ] { 0.5, 1.5 }; }
variable Zone { type discrete [ 3 ] { a/b, x+y, n.a. }; }
probability ( Age ) { table 0.2, 0.3, 0.5; }
probability ( Grade | Age, Zone ) {
  default 0.5, 0.5;
  (<5, a/b) 0.1, 0.9;
  (>=12, n.a.) 1.0, 0.0;
}
probability ( Zone ) { table 1e-1, 2E-1, 0.7; }
"""


@pytest.mark.parametrize(
    ("name", "variables", "edges", "parents"),
    [
        ("monty-hall", 3, 2, 2),
        ("lung-cancer-4", 4, 3, 2),
        ("lung-cancer", 5, 4, 2),
        ("waste", 9, 9, 3),
        ("waste-2p", 9, 8, 2),
        ("waste-2p-dep", 9, 9, 2),
        ("alarm-15", 15, 15, 4),
    ],
)
def test_sizes_of_the_bundled_networks(name, variables, edges, parents):
    network = dn.load(name)
    assert (len(network.names), network.dag.number_of_edges()) == (variables, edges)
    assert max(d for _, d in network.dag.in_degree) == parents
    assert name in NAMES


def test_variants_of_bif_syntax():
    dog = parse_bif(DOG)
    assert dog.parents["dog-out"] == ("bowel-problem", "family-out")
    assert dog.cpts["dog-out"][0, 1] == pytest.approx([0.97, 0.03])
    assert dog.cpts["light-on"][1] == pytest.approx([0.05, 0.95])
    odd = parse_bif(ODD)
    assert odd.states["Age"] == ("<5", "5-12", ">=12")
    assert odd.cpts["Grade"][0, 0] == pytest.approx([0.1, 0.9])
    assert odd.cpts["Grade"][1, 1] == pytest.approx([0.5, 0.5])
    assert odd.cpts["Zone"] == pytest.approx([0.1, 0.2, 0.7])


def equal(one: dn.BayesianNetwork, other: dn.BayesianNetwork) -> bool:
    return (
        dict(one.states) == dict(other.states)
        and dict(one.parents) == dict(other.parents)
        and all(np.array_equal(one.cpts[n], other.cpts[n]) for n in one.states)
    )


@pytest.mark.parametrize("name", NAMES)
def test_written_bif_files_are_read_back_unchanged(name, tmp_path):
    dn.write_bif(dn.load(name), tmp_path / "copy.bif")
    assert equal(dn.read_bif(tmp_path / "copy.bif"), dn.load(name))


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters='"'), min_size=1, max_size=6),
        min_size=2,
        max_size=5,
        unique=True,
    ),
    st.integers(0, 10**6),
)
def test_bif_keeps_any_name(names, seed):
    rng = np.random.default_rng(seed)
    states = {name: tuple(names) for name in names}
    parents = {name: tuple(names[:i][:2]) for i, name in enumerate(names)}
    cpts = {}
    for name in names:
        table = rng.random((len(names),) * (len(parents[name]) + 1))
        cpts[name] = table / table.sum(axis=-1, keepdims=True)
    network = dn.BayesianNetwork(states, parents, cpts)
    assert equal(parse_bif(format_bif(network)), network)


def test_pyagrum_reads_the_same_tables(tmp_path):
    """The tolerance is that of single precision, which pyAgrum uses."""
    paths = {}
    for name in NAMES:
        paths[name] = str(tmp_path / f"{name}.bif")
        dn.write_bif(dn.load(name), paths[name])
    # In a separate process: importing pyAgrum fails if warnings are errors.
    script = (
        "import json, sys, pyagrum as gum\n"
        "out = {}\n"
        "for name, path in json.loads(sys.argv[1]).items():\n"
        "    bn = gum.loadBN(path)\n"
        "    out[name] = {v: {'labels': list(bn.variable(v).labels()), 'axes': list(reversed(bn.cpt(v).names)),\n"
        "                     'values': bn.cpt(v).toarray().tolist()} for v in bn.names()}\n"
        "print(json.dumps(out))\n"
    )
    process = subprocess.run([sys.executable, "-c", script, json.dumps(paths)], capture_output=True, text=True, check=True)
    for name, tables in json.loads(process.stdout).items():
        network = dn.load(name)
        assert set(tables) == set(network.names)
        for variable, table in tables.items():
            assert tuple(table["labels"]) == network.states[variable]
            ours = (*network.parents[variable], variable)
            values = np.transpose(np.array(table["values"]), [table["axes"].index(v) for v in ours])
            np.testing.assert_allclose(values, network.cpts[variable], atol=1e-6)


COIN = "network n {}\nvariable a { type discrete [ 2 ] { x, y }; }\nvariable b { type discrete [ 2 ] { x, y }; }\n"
BAD = {
    "cycle": (
        COIN + "probability ( a | b ) { default 0.5, 0.5; }\nprobability ( b | a ) { default 0.5, 0.5; }",
        "cycle: a -> b -> a|cycle: b -> a -> b",
    ),
    "sum": (
        COIN + "probability ( a ) { table 0.5, 0.6; }\nprobability ( b ) { table 0.5, 0.5; }",
        r"of 'a' sum to 1.1 \(0.5, 0.6\)",
    ),
    "row sum": (
        COIN + "probability ( a ) { table 0.5, 0.5; }\nprobability ( b | a ) { (x) 0.1, 0.9; (y) 0.5, 0.4; }",
        r"'b' given \(y\)",
    ),
    "negative": (
        COIN + "probability ( a ) { table -0.5, 1.5; }\nprobability ( b ) { table 0.5, 0.5; }",
        "include a negative value",
    ),
    "parent": (COIN + "probability ( a | c ) { table 0.5, 0.5; }", "line 4: the variable 'c' is not declared"),
    "child": (COIN + "probability ( c ) { table 0.5, 0.5; }", "line 4: the variable 'c' is not declared"),
    "state": (COIN + "probability ( a | b ) {\n (z) 0.5, 0.5; }", "line 5: 'b' has no state 'z'; it has x, y"),
    "missing row": (COIN + "probability ( a | b ) { (x) 0.5, 0.5; }", r"'a' given \(y\) are missing"),
    "nan": (COIN + "probability ( a ) { table nan, 1.0; }", "not a finite number"),
    "row twice": (COIN + "probability ( a | b ) { (x) 0.5, 0.5; (x) 0.4, 0.6; }", r"the row \(x\) of 'a' is given twice"),
    "no table": (COIN + "probability ( a ) { table 0.5, 0.5; }", "'b' has no probabilities"),
    "count": (COIN + "probability ( a ) { table 0.5; }", "has 1 numbers instead of 2"),
    "word": (COIN + "probability ( a ) { table 0.5, half; }", "not a finite number"),
    "twice": (COIN + "variable a { type discrete [ 2 ] { x, y }; }", "declared twice"),
    "twice given": (COIN + "probability ( a ) { table 0.5, 0.5; }\n" * 2, "given twice"),
    "arity": ("network n {} variable a { type discrete [ 3 ] { x, y }; }", "declares 3 states but lists 2"),
    "same states": (
        "network n {} variable a { type discrete [ 2 ] { x, x }; } probability ( a ) { table 0.5, 0.5; }",
        "give one or more distinct states",
    ),
    "continuous": ("network n {} variable a { type continuous [ 3 ] { x, y }; }", "only discrete"),
    "no type": ("network n {} variable a { }", "has no type"),
    "empty": ("", "empty"),
    "only network": ("network n { }", "no variable"),
    "cut": (COIN + "probability ( a ) { table 0.5,", "ends too early"),
    "other": ("a,b\n1,2\n", "expected"),
    "open quote": ('network "n { }', "not closed"),
    "states for parents": (
        COIN + "probability ( a | b ) { (x, y) 0.5, 0.5; }",
        "has 2 parent states, but 'a' has 1 parents",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_errors_in_bif_files_are_reported(case, tmp_path):
    text, message = BAD[case]
    path = tmp_path / "bad.bif"
    path.write_text(text)
    with pytest.raises(dn.InputError, match=message) as caught:
        dn.read_bif(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=80))
def test_any_text_is_read_or_rejected(text):
    for attempt in (text, DOG + text, ODD.replace("default", text)):
        problem = "BIF"
        try:
            parse_bif(attempt)
        except dn.InputError as error:
            problem = str(error)
        assert problem.startswith("BIF")


def test_files_that_are_not_networks_are_rejected(tmp_path):
    with pytest.raises(dn.InputError, match=r"there is no network 'nothing'; .*lung-cancer"):
        dn.load("nothing")
    with pytest.raises(dn.InputError, match="No such file"):
        dn.load(str(tmp_path / "nothing.bif"))
    (tmp_path / "binary.bif").write_bytes(bytes(range(256)))
    with pytest.raises(dn.InputError, match="UTF-8"):
        dn.load(str(tmp_path / "binary.bif"))
    quoted = dn.BayesianNetwork({'a"b': ("x", "y")}, {'a"b': ()}, {'a"b': np.array([0.5, 0.5])})
    with pytest.raises(dn.InputError, match="cannot be written in BIF"):
        dn.write_bif(quoted, tmp_path / "quoted.bif", safe=False)
    assert not (tmp_path / "quoted.bif").exists()


def test_sampling_follows_the_tables():
    network = dn.load("alarm-15")
    data = network.sample(200_000, seed=1)
    assert data.rows == 200_000
    codes = dict(zip(data.names, data.codes, strict=True))
    compared = 0
    for name in network.names:
        for given_states in np.ndindex(network.cpts[name].shape[:-1]):
            chosen = np.ones(len(data.weights), dtype=bool)
            for parent, state in zip(network.parents[name], given_states, strict=True):
                chosen &= codes[parent] == state
            rows = data.weights[chosen].sum()
            if rows > 2000:
                seen = [data.weights[chosen & (codes[name] == k)].sum() / rows for k in range(len(network.states[name]))]
                assert seen == pytest.approx(network.cpts[name][given_states], abs=0.05)
                compared += 1
    assert compared > 50


def test_a_seed_determines_the_rows_which_come_in_chunks(monkeypatch):
    from dagneal.networks import network as module

    network = dn.load("waste")
    data = network.sample(5000, seed=3)
    assert np.array_equal(network.sample(5000, seed=3).weights, data.weights)
    assert not np.array_equal(network.sample(5000, seed=4).weights, data.weights)
    monkeypatch.setattr(module, "_CHUNK", 1000)
    assert [chunk.shape for chunk in network.sample_codes(2500, seed=3)] == [(9, 1000), (9, 1000), (9, 500)]


@pytest.mark.parametrize(("one", "two"), [(0.29, 0.1), (0.3, 0.1), (0.7, 0.1), (0.57, 0.01), (0.58, 0.5)])
def test_expected_counts_have_no_binary_rounding_errors(one, two):
    network = dn.BayesianNetwork(
        {"a": ("x", "y"), "b": ("x", "y")}, {"a": (), "b": ()}, {"a": [one, 1 - one], "b": [two, 1 - two]}
    )
    data = network.expected_data(10_000, "floor")
    assert data.rows == 10_000
    assert data.weights[0] == round(10_000 * one * two)


def test_bif_keeps_the_name_of_a_network():
    assert parse_bif(DOG, "dog.bif").name == "Dog-Problem"
    assert parse_bif(format_bif(parse_bif(DOG))).name == "Dog-Problem"
    assert dn.load("waste").name == "waste"


@pytest.mark.parametrize("call", [lambda n: n.sample(0), lambda n: n.expected_data(0), lambda n: n.expected_data(10, "up")])
def test_invalid_sampling_arguments_are_rejected(call):
    with pytest.raises(dn.InputError):
        call(dn.load("waste"))


def test_fit_with_bds_divides_the_prior_among_the_states_that_occur():
    codes = np.array([[0, 0, 2, 2, 2], [0, 1, 1, 1, 0]])
    data = dn.Dataset.from_codes(["a", "b"], [["x", "y", "z"], ["0", "1"]], codes)
    probabilities = dn.fit(nx.DiGraph([("a", "b")]), data, dn.BDs(4)).cpts["b"]
    expected = [[(1 + 1) / (2 + 2), (1 + 1) / (2 + 2)], [0.5, 0.5], [(1 + 1) / (3 + 2), (2 + 1) / (3 + 2)]]
    assert probabilities == pytest.approx(np.array(expected))


def test_fit_adds_the_pseudo_counts():
    data = dn.Dataset.from_codes(["a", "b"], [["x", "y"], ["x", "y", "z"]], np.array([[0, 0, 0, 1], [0, 0, 1, 1]]))
    dag = nx.DiGraph([("a", "b")])
    assert dn.fit(dag, data, dn.K2()).cpts["b"] == pytest.approx(np.array([[3 / 6, 2 / 6, 1 / 6], [1 / 4, 2 / 4, 1 / 4]]))
    tiny = dn.fit(dag, data, dn.BDeu(6e-6)).cpts["b"]
    assert tiny == pytest.approx(np.array([[2 / 3, 1 / 3, 0], [0, 1, 0]]), abs=1e-5)
    with pytest.raises(dn.InputError, match="'b' is only in the data"):
        dn.fit(nx.DiGraph([("a", "c")]), data)
    with pytest.raises(dn.InputError, match="cycle"):
        dn.fit(nx.DiGraph([("a", "b"), ("b", "a")]), data)


def test_invalid_tables_and_parents_are_rejected():
    with pytest.raises(dn.InputError, match="shape"):
        dn.BayesianNetwork({"a": ("x", "y")}, {"a": ()}, {"a": np.array([1.0])})
    with pytest.raises(dn.InputError, match="not declared"):
        dn.BayesianNetwork({"a": ("x", "y")}, {"a": ("b",)}, {"a": np.array([1.0])})
