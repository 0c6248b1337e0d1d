"""Tests of the support for the direction of each edge, and the warning about rows per parameter."""

import json
import re

import networkx as nx
import numpy as np
import pytest

import dagneal as dn
from dagneal.confidence.bootstrap import Bootstrap, NearMiss
from dagneal.confidence.consensus import CONSENSUS
from dagneal.confidence.judgement import judge_directions, judge_near_miss
from dagneal.confidence.parameter_counts import ROWS_PER_PARAMETER, inspect_families
from dagneal.graphs.directions import Direction
from dagneal.report.summary import edge_text, structure_lines

COLLIDER = nx.DiGraph([("a", "c"), ("b", "c"), ("c", "d")])  # all three edges are compelled
CHAIN = nx.DiGraph([("a", "b"), ("b", "c")])  # both edges are reversible


def votes(names, forward):
    """Return a bootstrap in which the edge (a, b) has these fractions of samples in each direction."""
    directions = np.zeros((len(names), len(names)))
    for (a, b), (there, back) in forward.items():
        directions[names.index(a), names.index(b)], directions[names.index(b), names.index(a)] = there, back
    return Bootstrap(tuple(names), 100, directions + directions.T, directions, 100)


def test_without_a_bootstrap_the_stability_is_unknown():
    assert set(judge_directions(COLLIDER).values()) == {Direction.COMPELLED}
    assert set(judge_directions(CHAIN).values()) == {Direction.UNDETERMINED}


def test_knowledge_fixes_only_the_directions_that_it_names():
    rules = dn.Knowledge(required=[("a", "b")])
    assert judge_directions(CHAIN, rules) == {("a", "b"): Direction.FIXED, ("b", "c"): Direction.COMPELLED}
    for rules in (dn.Knowledge(forbidden=[("b", "a")]), dn.Knowledge(tiers=["a", "bc"]), dn.Knowledge(roots=["a"])):
        assert judge_directions(CHAIN, rules)["a", "b"] is Direction.FIXED
    assert judge_directions(CHAIN, dn.Knowledge(limits={"b": 3}))["a", "b"] is Direction.UNDETERMINED


@pytest.mark.parametrize(
    ("there", "back", "expected"),
    [
        (1.0, 0.0, Direction.SUPPORTED),
        (0.8, 0.2, Direction.SUPPORTED),  # the limit
        (0.79, 0.21, Direction.UNDETERMINED),
        (0.2, 0.8, Direction.UNDETERMINED),
        (0.4, 0.1, Direction.SUPPORTED),  # 80% of the samples that have the edge, which is not weak
        (0.49, 0.0, Direction.UNDETERMINED),  # all samples that have the edge agree, but it is weak
        (0.0, 0.0, Direction.UNDETERMINED),
    ],
)
def test_four_fifths_of_the_samples_with_the_edge_must_agree(there, back, expected):
    measured = votes(list("abcd"), {("a", "c"): (there, back), ("b", "c"): (1.0, 0.0), ("c", "d"): (1.0, 0.0)})
    judged = judge_directions(COLLIDER, None, measured)
    assert judged == {("a", "c"): expected, ("b", "c"): Direction.SUPPORTED, ("c", "d"): Direction.SUPPORTED}


def test_a_reversible_edge_is_undetermined_unless_the_samples_chose_its_direction():
    measured = votes(list("abc"), {("a", "b"): (1.0, 0.0), ("b", "c"): (0.6, 0.4)})
    assert set(judge_directions(CHAIN, None, measured).values()) == {Direction.UNDETERMINED}
    judged = judge_directions(CHAIN, None, measured, from_votes=True)
    assert judged == {("a", "b"): Direction.SUPPORTED, ("b", "c"): Direction.UNDETERMINED}


def test_the_threshold_of_weak_edges_counts():
    measured = votes(list("abcd"), dict.fromkeys(COLLIDER.edges, (0.6, 0.0)))
    assert set(judge_directions(COLLIDER, None, measured, 0.6).values()) == {Direction.SUPPORTED}
    assert set(judge_directions(COLLIDER, None, measured, 0.61).values()) == {Direction.UNDETERMINED}


def test_a_consensus_takes_its_directions_from_the_samples():
    data = dn.load("lung-cancer").sample(1_000, 7)
    learned = dn.learn(data)
    result = learned.with_confidence(dn.Confidence(bootstrap=learned.bootstrap(20)))
    averaged = result.consensus()
    assert averaged.solver == CONSENSUS
    measured = result.confidence.bootstrap
    for edge, direction in averaged.directions.items():
        agreement = measured.frequency(*edge)[1]
        assert (direction is Direction.SUPPORTED) == (agreement >= 0.8)


def test_near_misses_have_an_arrow_if_the_samples_agree():
    assert judge_near_miss(NearMiss("a", "b", 0.6, 0.8)) is Direction.SUPPORTED
    assert judge_near_miss(NearMiss("a", "b", 1.0, 0.79)) is Direction.UNDETERMINED


def test_a_graph_with_a_cycle_is_not_judged():
    graph = dn.Learned(nx.DiGraph([("a", "b"), ("b", "a")]), float("nan"), 2, "x", score_name="BDeu(1)")
    assert graph.directions == {}
    assert graph.to_dict()["directions"] == []


def test_undetermined_edges_have_no_arrow_in_text():
    judged = {("a", "c"): Direction.UNDETERMINED, ("b", "c"): Direction.SUPPORTED, ("c", "d"): Direction.FIXED}
    assert structure_lines(COLLIDER, judged) == [
        "  a",
        "  c <- b  -- a",
        "  b",
        "  d <- c",
        "",
        "  <- fixed by knowledge, or supported by the data;  -- direction undetermined",
    ]
    assert edge_text("a", "c", judged["a", "c"]) == "a -- c"
    assert edge_text("b", "c", judged["b", "c"]) == "b -> c"


def test_all_outputs_agree(tmp_path):
    """The terminal, the page, DOT, GraphML and JSON use the same judgement."""
    from dagneal.report.edges import describe_edges
    from dagneal.report.summary import confidence_lines

    data = dn.load("lung-cancer").sample(1_000, 7)
    learned = dn.learn(data, knowledge=dn.Knowledge(tiers=[["Pollution"], ["Smoker"]]))
    for measured in (None, learned.bootstrap(20)):
        result = learned.with_confidence(dn.Confidence(strengths=learned.strengths(), bootstrap=measured))
        expected = {edge: str(direction) for edge, direction in result.directions.items()}
        assert len(set(expected.values())) >= 2
        for each in describe_edges(result, None):
            word = expected[each["from"], each["to"]]
            assert (each["direction"], each["arrow"]) == (word, word != "undetermined")
            assert (each["head"] == "light") == (word == Direction.COMPELLED)
            assert (each["head"] == "fixed") == (word == Direction.FIXED)
        lines = "\n".join(confidence_lines(result))
        for (a, b), word in expected.items():
            sign = "--" if word == "undetermined" else "->"
            assert re.search(rf"{a} {sign} {b} .* {word}", lines)
        result.save(tmp_path / "x.dot")
        dot = (tmp_path / "x.dot").read_text()
        for (a, b), word in expected.items():
            assert re.search(rf'"{a}" -> "{b}" \[.*, direction="{word}"\];', dot)
            assert (f'"{a}" -> "{b}" [dir=none' in dot) == (word == "undetermined")
        result.save(tmp_path / "x.graphml")
        graph = nx.read_graphml(tmp_path / "x.graphml")
        assert nx.get_edge_attributes(graph, "direction") == expected
        result.save(tmp_path / "x.json")
        loaded = dn.load_result(tmp_path / "x.json")
        assert loaded.directions == result.directions
        assert loaded.to_dict()["directions"] == [
            {"parent": a, "child": b, "direction": expected[a, b]} for a, b in result.edges
        ]


def test_a_file_with_an_invalid_threshold_is_rejected(tmp_path):
    learned = dn.learn(dn.load("lung-cancer").sample(500, 1))
    learned.with_confidence(dn.Confidence(bootstrap=learned.bootstrap(2))).save(tmp_path / "x.json")
    plain = json.loads((tmp_path / "x.json").read_text()) | {"threshold": -1}
    (tmp_path / "x.json").write_text(json.dumps(plain))
    with pytest.raises(dn.InputError, match="threshold is -1"):
        dn.load_result(tmp_path / "x.json")


# Rows per parameter


def few(rows, states=4):
    """Return data of two independent columns."""
    codes = np.random.default_rng(0).integers(0, states, (2, rows))
    return dn.Dataset.from_codes("ab", [tuple(map(str, range(states)))] * 2, codes)


def test_few_rows_per_parameter_are_reported():
    (caution,) = inspect_families(nx.DiGraph([("a", "b")]), few(59))  # 4 * 3 parameters need 60 rows
    assert (caution.kind, caution.columns) == (ROWS_PER_PARAMETER, ("b",))
    assert "'b' with parent 'a' has 12 parameters for 59 rows" in caution.text
    assert "option max_parents" in caution.text


def test_five_rows_per_parameter_are_enough():
    assert inspect_families(nx.DiGraph([("a", "b")]), few(60)) == []


def test_a_variable_without_parents_can_have_too_many_states():
    graph = nx.DiGraph()
    graph.add_nodes_from("ab")
    assert inspect_families(graph, few(15)) == []
    (caution,) = inspect_families(graph, few(14))
    assert caution.columns == ("a", "b")
    assert caution.text.startswith("2 variables have fewer than 5 rows per parameter: 'a' has 3 parameters for 14 rows.")


def test_warnings_are_kept_in_files(tmp_path):
    data = few(40)
    result = dn.learn(data, knowledge={"required": ["a -> b"]})
    assert [warning.kind for warning in result.warnings] == [ROWS_PER_PARAMETER]
    result.save(tmp_path / "x.json")
    loaded = dn.load_result(tmp_path / "x.json")
    assert loaded.warnings == result.warnings
    assert loaded.with_data(data).warnings == result.warnings
    assert "warnings" not in dn.learn(few(400)).to_dict()
