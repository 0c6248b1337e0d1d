"""The paragraph at the top of the terminal output and of the page, and the list of warnings."""

import re
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import dagneal as dn
from dagneal.cli import main
from dagneal.confidence.bootstrap import Bootstrap
from dagneal.confidence.measures import Strength
from dagneal.report.overview import overview, overview_parts
from dagneal.report.page import page
from dagneal.report.summary import summary_lines
from dagneal.report.terminal import draw_text
from dagneal.solvers.solution import Bound, Division, SearchSummary


@pytest.fixture(scope="module")
def learned():
    return dn.learn(dn.load("lung-cancer").sample(1_000, 7))


def text(solution, **options):
    """Return the overview as one text. Check that it is a short paragraph."""
    sentences = overview(solution, **options)
    assert 1 <= len(sentences) <= 8
    for sentence in sentences:
        assert re.fullmatch(r"[A-Z0-9].*\.", sentence), sentence
        assert "  " not in sentence
        assert len(sentence.split()) < 45
    return " ".join(sentences)


def frequencies(solution, value, directions=1.0, samples=200, **more):
    """Return a bootstrap in which all edges of a solution have one frequency, and the pairs in `more` are adjacent."""
    names = list(solution.dag)
    matrix = np.zeros((len(names), len(names)))
    for a, b in solution.edges:
        matrix[names.index(a), names.index(b)] = value * directions
        matrix[names.index(b), names.index(a)] = value * (1 - directions)
    for pair, frequency in more.items():
        a, b = pair.split("_")
        matrix[names.index(a), names.index(b)] = frequency
    return Bootstrap(tuple(names), samples, matrix + matrix.T, matrix, samples)


def with_bootstrap(solution, bootstrap):
    return solution.with_confidence(dn.Confidence(strengths=solution.strengths(), bootstrap=bootstrap))


def test_a_usual_result(learned):
    assert overview(learned) == [
        "The network has 4 edges between 5 variables, learned from 1,000 rows with the score BDeu(1).",
        "The strongest link is Cancer -- Xray (the log score falls by 10.65 without it).",
        "The weakest link is Pollution -> Smoker (the log score falls by 1.22 without it, which is weak evidence).",
        "Directions: 2 compelled (stability unknown without a bootstrap), 2 undetermined.",
        "No other network has a higher score on these rows (proved), but that does not make this one true.",
        "Next: measure the stability of the edges with result.bootstrap(200); add what you know about directions, such as "
        "knowledge={'tiers': [...]}.",
    ]
    assert learned.describe() == " ".join(overview(learned))
    assert "--bootstrap 200; add what you know about directions, such as --tiers FIRST:LATER." in text(
        learned, command_line=True
    )
    assert "Pollution → Smoker" in text(learned, arrow="→")


def test_the_figures_are_those_of_the_strengths(learned):
    drops = {f"{each.parent} {each.child}": each.drop_if_removed for each in learned.strengths()}
    strongest, weakest = max(drops, key=drops.get), min(drops, key=drops.get)
    paragraph = text(learned)
    for name, edge in (("strongest", strongest), ("weakest", weakest)):
        a, b = edge.split()
        assert re.search(rf"{name} link is {a} (->|--) {b} \(the log score falls by {drops[edge]:.2f} ", paragraph)


def test_with_a_bootstrap_the_weakest_link_is_the_rarest(learned):
    bootstrap = frequencies(learned, 1.0, Pollution_Cancer=0.55)
    place = bootstrap.names.index("Cancer"), bootstrap.names.index("Smoker")
    bootstrap.edges[place] = bootstrap.edges[place[::-1]] = bootstrap.directions[place] = 0.6
    paragraph = text(with_bootstrap(learned, bootstrap))
    assert "weakest link is Cancer -> Smoker (the log score falls by 9.84 without it; 60% of the bootstrap" in paragraph
    assert "Directions: 2 supported by the data, 2 undetermined." in paragraph
    assert "1 edge is frequent in the bootstrap but absent from the network: Pollution -> Cancer." in paragraph
    assert "result.bootstrap" not in paragraph
    more = with_bootstrap(learned, frequencies(learned, 1.0, Pollution_Cancer=0.55, Smoker_Xray=0.7))
    assert "2 edges are frequent in the bootstrap but absent from the network, such as Smoker -> Xray." in text(more)


def test_few_bootstrap_samples_are_named(learned):
    assert "use more bootstrap samples" in text(with_bootstrap(learned, frequencies(learned, 1.0, samples=10)))
    assert "use more bootstrap samples" not in text(with_bootstrap(learned, frequencies(learned, 1.0)))


def test_nothing_left_to_do_but_to_predict():
    truth = dn.load("lung-cancer")
    result = dn.learn(truth.expected_data(10_000))
    assert overview(with_bootstrap(result, frequencies(result, 1.0)))[-1] == (
        "Next: check how well it predicts with dn.holdout(data)."
    )


def test_no_edges():
    generator = np.random.default_rng(1)
    data = dn.Dataset.from_codes("abc", [("0", "1")] * 3, generator.integers(0, 2, (3, 400)))
    assert overview(dn.learn(data)) == [
        "The network has no edges between 3 variables, learned from 400 rows with the score BDeu(1): no edge raises the "
        "score.",
        "No other network has a higher score on these rows (proved), but that does not make this one true.",
        "Next: use more rows, or add columns.",
    ]


def test_one_edge():
    data = dn.load("lung-cancer").sample(1_000, 7)
    result = dn.learn(data, knowledge={"required": ["Cancer -> Xray"]}, max_parents=1)
    single = replace(result, dag=nx.DiGraph([("Cancer", "Xray")]))
    paragraph = text(single)
    assert "Its only link is Cancer -> Xray (the log score falls by 10.65 without it)." in paragraph
    assert "Its direction is fixed by knowledge." in paragraph


def test_scores_without_data(tmp_path):
    data = dn.load("lung-cancer").sample(500, 1)
    table = dn.scoring.score_table(data, max_parents=2)
    dn.scoring.write_scores(table, tmp_path / "x.jkl")
    assert "learned from scores (x.jkl), without data" in text(dn.learn(tmp_path / "x.jkl"))
    result = dn.learn(table)
    paragraph = text(result)
    assert "without data" in paragraph
    assert "No other network with these parent sets has a higher score (proved)" in paragraph
    assert "rows" not in paragraph
    assert "strongest" not in paragraph


def test_one_variable():
    dag = nx.DiGraph()
    dag.add_node("a")
    assert overview(dn.Learned(dag, -1.0, 0, "exact", True, score_name="BDeu(1)")) == [
        "The network has one variable, learned from scores (BDeu(1)), without data: there is only one variable.",
        "No other network with these parent sets has a higher score (proved), but that does not make this one true.",
        "Next: learn from the data instead of scores, to measure each link.",
    ]


def test_a_loaded_result_says_the_same(learned, tmp_path):
    result = with_bootstrap(learned, frequencies(learned, 1.0, Pollution_Cancer=0.55))
    result.save(tmp_path / "x.json")
    assert overview(dn.load_result(tmp_path / "x.json")) == overview(result)


def test_what_is_proved(learned):
    assert "No other network with at most 2 parents per variable has a higher score on these rows (proved)" in text(
        replace(learned, max_parents=2)
    )
    ruled = replace(learned, knowledge=dn.Knowledge(leaves=["Xray"]))
    assert "No other network that obeys the background knowledge has a higher score" in text(ruled)
    likely = replace(learned, knowledge=dn.Knowledge(probabilities={("Smoker", "Cancer"): 0.9}))
    assert "No other network has a higher score" in text(likely)
    unproved = replace(learned, optimal=False)
    assert "It is not proved that no other network has a higher score on these rows." in text(unproved)
    gap = replace(unproved, bound=Bound(learned.score + 2.5, learned.max_parents, "effort"), search=SearchSummary(()))
    assert "Another network may score higher, but by at most 2.500 (proved)." in text(gap)
    measured = with_bootstrap(gap, frequencies(gap, 1.0))
    assert "Next: try to close the gap with dn.Auto(prove=300); " in text(measured)
    assert "Next: try to close the gap with --prove 300; " in text(measured, command_line=True)
    fewer = text(replace(unproved, bound=Bound(learned.score, 2)))
    assert (
        "No other network with at most 2 parents per variable has a higher score on these rows (proved); a network" in fewer
    )


def test_an_early_end_is_named(learned):
    for reason, words in (("time", "the time limit"), ("interrupt", "Ctrl-C")):
        early = replace(learned, optimal=False, search=SearchSummary((), reason))
        assert f"The search was stopped early by {words}; it is not proved that" in text(early)
        assert "Next: give the search more time; " in text(early)
        finished = replace(early, search=SearchSummary((), reason, locally_optimal=True))  # only the proof was stopped
        assert "stopped early" not in text(finished)


def test_a_graph_with_a_cycle(learned):
    division = Division("count", 3, "all", 10, "exact", acyclic=False)
    cyclic = replace(learned, dag=nx.DiGraph([("a", "b"), ("b", "a")]), score=float("nan"), optimal=False, division=division)
    assert overview(cyclic, command_line=True) == [
        "The graph is not a network: it has a cycle, so it has no score.",
        "Next: remove the weakest edge of each cycle with --set acyclic=true.",
    ]
    assert "with repair=True." in text(replace(cyclic, division=None))


def test_a_consensus(learned):
    result = with_bootstrap(learned, frequencies(learned, 1.0)).consensus()
    paragraph = text(result)
    assert "those that are frequent in bootstrap samples of 1,000 rows" in paragraph
    assert "nothing is proved about it" in paragraph


def test_votes_of_subproblems():
    data = dn.load("alarm-15").sample(200, 1)
    result = dn.learn(data, dn.Divide(size=3, combine="count"))
    assert result.is_dag
    paragraph = text(result, command_line=True)
    assert "Votes of subproblems do not maximise the score, so nothing is proved about it." in paragraph
    assert "Next: let the score choose the edges, with --rule conquer; " in paragraph
    worst = min(result.strengths(), key=lambda each: each.drop_if_removed)
    assert f"the log score rises by {-worst.drop_if_removed:.2f} without it, so the data speak against it" in paragraph


def test_thousands_of_variables():
    names = [f"variable {i}" for i in range(3_000)]
    dag = nx.DiGraph([(names[i // 2], names[i]) for i in range(1, 2_000)])
    dag.add_nodes_from(names)
    result = dn.Learned(dag, -1.0, 4, "search", score_name="BDeu(1)", search=SearchSummary(()))
    paragraph = text(result)
    assert "1,999 edges between 3,000 variables" in paragraph
    assert "1,000 variables have no edge." in paragraph


def test_warnings_change_the_suggestions():
    generator = np.random.default_rng(0)
    a = generator.integers(0, 6, 60)
    b = np.where(generator.random(60) < 0.9, a, generator.integers(0, 6, 60))
    states = [tuple("uvwxyz")] * 3
    result = dn.learn(dn.Dataset.from_codes(["a", "b", "a copy"], states, np.array([a, b, a])), max_parents=2)
    assert "drop a duplicate column with --drop 'a copy'" in text(result, command_line=True)
    copies = np.array([a, b, (a + b) % 6])
    rules = {"required": ["a -> c", "b -> c"]}
    result = dn.learn(dn.Dataset.from_codes("abc", states, copies), knowledge=rules, max_parents=2)
    assert "reduce the number of parameters with --max-parents 1" in text(result, command_line=True)
    assert "reduce the number of parameters with max_parents=1" in text(result)
    many = dn.Dataset.from_codes("ab", [tuple(map(str, range(30)))] * 2, np.arange(240).reshape(2, 120) % 30)
    assert "merge rare states with --rare 0.042" in text(dn.learn(many, max_parents=0), command_line=True)
    small = dn.Dataset.from_codes("ab", [tuple("uvwxyz")] * 2, np.random.default_rng(0).integers(0, 6, (2, 20)))
    assert "Next: use more rows" in text(dn.learn(small, max_parents=0))


# In the outputs


def test_the_paragraph_is_at_the_top_of_all_outputs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["sample", "lung-cancer", "--rows", "100", "-o", "x.csv"]) == 0
    capsys.readouterr()
    assert main(["learn", "x.csv", "-o", "x.html", "-o", "x.json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "preparation: all 5 columns used as they are"
    assert lines[4].startswith("The network has ")
    result = dn.load_result("x.json")
    assert overview(result, command_line=True)[0] in " ".join(lines)
    assert f"<dt>Learned</dt><dd>{overview(result)[0]}" in (tmp_path / "x.html").read_text()
    assert main(["confidence", "x.json", "x.csv"]) == 0
    assert capsys.readouterr().out.startswith("The network has ")


def test_warnings_are_printed_and_on_the_page():
    codes = np.arange(40) % 20
    data = dn.Dataset.from_codes(["<a>", "\x1b[31m"], [tuple(map(str, range(20)))] * 2, np.array([codes, codes[::-1]]))
    result = dn.learn(data)
    assert len(result.warnings) >= 2
    lines = summary_lines(result)
    assert sum(line.startswith("  Warning: ") for line in lines) == len(result.warnings)
    assert not any("\x1b" in line for line in lines)
    shown = page(result)
    assert shown.count('<section class="warnings"><h2>Warnings</h2>') == 1
    assert "&lt;a&gt;" in shown
    assert "<a>" not in shown
    calm = dn.learn(dn.load("lung-cancer").expected_data(10_000))
    assert calm.warnings == []
    assert "Warning" not in "\n".join(summary_lines(calm))
    assert 'class="warnings"' not in page(calm).split("</style>")[1]


def test_the_page_distinguishes_directions():
    truth = dn.load("lung-cancer")
    result = dn.learn(truth.expected_data(10_000), knowledge=dn.Knowledge(roots=["Smoker"]))
    bare = page(result).split("</style>")[1]
    drawing, legend = bare.split('<svg id="network"')[1].split('<div class="legend">')
    assert legend.count('class="edge light"') == legend.count('class="edge fixed"') == 1
    assert drawing.count('class="edge light w') == 3
    assert drawing.count('class="edge fixed w') == 1
    assert drawing.count('class="head"') == 4
    assert bare.count("<td>compelled, stability unknown</td>") == 3
    firm = page(with_bootstrap(result, frequencies(result, 1.0))).split('<svg id="network"')[1]
    assert 'class="edge light' not in firm
    assert firm.count("<td>supported by the data</td>") == 3
    loose = page(with_bootstrap(result, frequencies(result, 1.0, directions=0.7))).split('<svg id="network"')[1]
    assert loose.split('<div class="legend">')[0].count('class="head"') == 1  # only the edge that knowledge fixes
    assert loose.count("<td>undetermined</td>") == 3


def test_the_terminal_drawing_distinguishes_directions():
    dag = nx.DiGraph([("a", "b")])
    heads = {word: draw_text(dag, directions={("a", "b"): word})[-2].strip() for word in dn.Direction}
    assert list(heads.values()) == ["V", "V", "v", "|"]


def test_labels_say_what_is_strong_and_what_is_doubtful():
    def labels(weakest_drop, frequency):
        strengths = [Strength("a", "b", 90.0, 1.0, False), Strength("b", "c", weakest_drop, 1.0, False)]
        result = dn.Learned(nx.DiGraph([("a", "b"), ("b", "c")]), -1.0, 2, "exact", True, score_name="BDeu(1)")
        confidence = dn.Confidence(strengths, bootstrap=frequencies(result, frequency))
        return [label for label, _ in overview_parts(result.with_confidence(confidence))]

    assert labels(50.0, 1.0)[:3] == ["Learned", "Strong", "Strong"]
    assert labels(1.0, 1.0)[:3] == ["Learned", "Strong", "Doubtful"]
    assert labels(50.0, 0.5)[:3] == ["Learned", "Doubtful", "Doubtful"]
    assert "Proved" in labels(50.0, 1.0)


def test_no_line_of_the_page_ends_inside_an_option(learned):
    text = page(learned, command="dagneal learn x.csv")
    assert '<span class="option">--bootstrap</span> 200' in text
    hostile = page(dn.Learned(nx.DiGraph([("x --<b>", "y")]), -1.0, 1, "exact", True, score_name="x"), command="x")
    assert "--<b>" not in hostile
