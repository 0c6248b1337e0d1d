"""The HTML page: its content, and its behaviour in a browser."""

import base64
import json
import re
from dataclasses import replace
from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal.cli import main
from dagneal.confidence.bootstrap import bootstrap
from dagneal.confidence.measures import Strength
from dagneal.report.edges import describe_edges
from dagneal.report.neighbourhood import nearest
from dagneal.report.page import page
from dagneal.result import Learned
from dagneal.solvers.solution import Bound
from support.pages import emulate, find_violations, numbers

HOSTILE = ['<script>alert("x")</script>', "'\"&<>", "=1+1", "العربية", "😀 smile", "x" * 3000]


def hostile_network():
    codes = np.random.default_rng(0).integers(0, 2, (len(HOSTILE), 300))
    codes[1:, :250] = codes[:-1, :250]
    data = dn.Dataset.from_codes(HOSTILE, [("</script>", "<b>")] * len(HOSTILE), codes)
    return dn.learn(data)


def test_names_are_escaped():
    text = page(hostile_network(), title="<img src=x onerror=alert(1)>", command="</pre><script>1</script>")
    assert text.count("<script") == 3  # the data, and the programs of the worker and of the page
    assert text.count("</script>") == 3
    assert "<img" not in text
    assert "<b>" not in text
    data = re.search(r'id="data">(.*?)</script>', text, re.S).group(1)
    assert {node["name"] for node in json.loads(data)["nodes"]} == set(HOSTILE)


def test_the_page_needs_no_network_access():
    text = page(hostile_network())
    assert not re.search(r'(src|href)=(?!"#)', text)  # links within the page are allowed
    assert "http" not in text.replace("http://www.w3.org", "").replace("http-equiv", "")


@pytest.mark.slow
def test_the_page_has_all_sections(tmp_path):
    truth = dn.load("alarm-15")
    data = truth.sample(3_000, 1)
    solver = dn.Anneal(SimulatedAnnealingSampler(), num_reads=20)
    result = dn.learn(data, solver, seed=1, knowledge=dn.Knowledge(roots=["SaO2"]))
    text = page(result, truth.dag, "alarm.csv", "dagneal learn alarm.csv")
    headings = (
        "Ask the network",
        "Evidence",
        "What changed",
        "Edges",
        "Explanation",
        "Data",
        "Background knowledge",
        "Reads of the annealer",
    )
    headings += ("Votes of the subproblems", "Reproduce this result")
    assert tuple(re.findall("<h[23][^>]*>(.*?)</h[23]>", text)) == headings
    assert "15 variables, 3,000 rows" in text
    kinds = re.findall(r'class="edge ([a-z-]+)[^>]*data-from', text)
    comparison = dn.compare(result.dag, truth.dag)
    assert kinds.count("true-positive") == comparison.true_positives
    reversed_edges = kinds.count("reversed") + kinds.count("equivalent")
    assert reversed_edges + kinds.count("false-positive") == comparison.false_positives
    result.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


def bare(dag, **more):
    """Return a result with a graph and a score only."""
    return Learned(dag, -1.0, 2, "exact", True, score_name="BDeu(1)", **more)


def test_a_reversed_edge_is_equivalent_if_it_is_reversible_in_both_graphs():
    truth = nx.DiGraph([("a", "b"), ("b", "c"), ("d", "e"), ("f", "e"), ("g", "h")])
    learned = nx.DiGraph([("c", "b"), ("b", "a"), ("e", "d"), ("f", "e"), ("g", "h"), ("a", "i")])
    truth.add_node("i")
    kinds = {(edge["from"], edge["to"]): edge["kind"] for edge in describe_edges(bare(learned), truth)}
    assert kinds == {
        ("c", "b"): "equivalent",
        ("b", "a"): "equivalent",
        ("e", "d"): "reversed",  # compelled in the truth: d and f are both parents of e
        ("f", "e"): "true-positive",
        ("g", "h"): "true-positive",
        ("a", "i"): "false-positive",
    }
    text = page(bare(learned), truth)
    assert text.count('class="edge equivalent" tabindex') == 2
    assert text.count("<td>reversed but equivalent</td>") == 2
    # Background knowledge makes the edges of the chain compelled, so they are not equivalent.
    constrained = bare(learned, knowledge=dn.Knowledge(required=[("c", "b")]))
    assert [edge["kind"] for edge in describe_edges(constrained, truth)].count("equivalent") == 0


def test_equivalent_edges_agree_with_an_enumeration_of_the_equivalence_class():
    for seed in range(30):
        generator = np.random.default_rng(seed)
        graphs = []
        for _ in range(2):
            order = generator.permutation(4)
            graph = nx.DiGraph()
            graph.add_nodes_from("abcd")
            graph.add_edges_from(
                ("abcd"[order[i]], "abcd"[order[j]]) for i in range(4) for j in range(i + 1, 4) if generator.random() < 0.5
            )
            graphs.append(graph)
        learned, truth = graphs
        reversible = []
        for graph in graphs:  # enumerate all networks of the equivalence class
            pairs = list(graph.edges)
            members = []
            for flips in product((False, True), repeat=len(pairs)):
                other = nx.DiGraph([(b, a) if flip else (a, b) for (a, b), flip in zip(pairs, flips, strict=True)])
                other.add_nodes_from("abcd")
                if nx.is_directed_acyclic_graph(other) and dn.compare(other, graph).cpdag_shd == 0:
                    members.append(set(other.edges))
            reversible.append({(a, b) for a, b in pairs if any((b, a) in edges for edges in members)})
        expected = {(a, b) for a, b in reversible[0] if (b, a) in reversible[1]}
        edges = describe_edges(bare(learned), truth)
        assert {(edge["from"], edge["to"]) for edge in edges if edge["kind"] == "equivalent"} == expected


def test_the_page_explains_why_there_are_no_edges():
    data = dn.Dataset.from_codes(["a", "b", "c"], [("0", "1")] * 3, np.random.default_rng(1).integers(0, 2, (3, 400)))
    joined = dn.load("lung-cancer").sample(1_000, 1)
    every = [(a, b) for a in joined.names for b in joined.names if a != b]

    def reason(*args, **options):
        return re.search("There are no edges: (.*?)[.]</p>", page(dn.learn(*args, **options))).group(1)

    assert reason(data) == "no edge raises the score"
    assert reason(joined, max_parents=0) == "the parent limit is 0"
    assert reason(joined, knowledge=dn.Knowledge(forbidden=every)) == "the background knowledge allows none"
    limits = dict.fromkeys(joined.names, 0)
    assert reason(joined, knowledge=dn.Knowledge(limits=limits)) == "the background knowledge allows none"
    assert (
        reason(data, knowledge=dn.Knowledge(roots=["a"])) == "no edge allowed by the background knowledge raises the score"
    )
    assert "no edge was found to raise the score" in page(replace(dn.learn(data), optimal=False))
    divided = dn.learn(data, dn.Divide(size=3, combine="count"))
    assert not divided.edges
    assert "no edge has enough votes of the subproblems" in page(divided)


def test_stored_strengths_are_not_computed_again():
    result = dn.learn(dn.load("lung-cancer").sample(1_000, 1))
    strengths = result.strengths()
    stored = [replace(strength, drop_if_removed=12345.0 + i) for i, strength in enumerate(strengths)]
    edges = describe_edges(result.with_confidence(dn.Confidence(stored)), None)
    assert [edge["drop_if_removed"] for edge in edges] == [12345.0 + i for i in range(len(stored))]
    edges = describe_edges(result, None)
    assert [edge["drop_if_removed"] for edge in edges] == [strength.drop_if_removed for strength in strengths]


def test_every_heading_and_term_is_explained():
    truth = dn.load("lung-cancer")
    data = truth.sample(1_000, 1)
    result = dn.learn(data).with_confidence(dn.Confidence(bootstrap=bootstrap(data, 5)))
    text = page(result, truth.dag)
    table = text[text.index('id="edges"') : text.index("<h3>Explanation")]
    headings = re.findall('<button type="button">(.*?)</button>', table)
    terms = re.findall("<dt>(.*?)</dt><dd>[A-Z].*?[.]</dd>", text[text.index("<h3>Explanation") :])
    assert headings[:3] == ["from", "to", "compared with the truth"]
    assert terms == ["from, to", *headings[2:], "BDeu(1)", "log score", "highest (proved)"]
    text = page(replace(result, optimal=False, bound=Bound(-100.0, result.max_parents)))
    assert "upper bound -100.000" in text
    assert re.findall("<dt>(.*?)</dt>", text)[-2:] == ["not proved to be the highest", "upper bound, gap"]
    text = page(replace(result, optimal=False, bound=Bound(-100.0, 2)))
    assert "upper bound for at most 2 parents only: -100.000" in text
    assert re.findall("<dt>(.*?)</dt>", text)[-2:] == ["not proved to be the highest", "upper bound"]


def test_a_reversal_that_makes_a_cycle_is_marked():
    dag = nx.DiGraph([("a", "b"), ("b", "c"), ("a", "c")])
    strengths = [Strength(a, b, 5.0, None if (a, b) == ("a", "c") else 2.0, False) for a, b in dag.edges]
    text = page(bare(dag, confidence=dn.Confidence(strengths)))
    assert text.count(">cycle</td>") == 1
    assert "5.00 nats if removed; reversal makes a cycle" in text


def test_long_names_are_shortened_but_complete_in_the_title():
    long = "x" * 3000
    text = page(bare(nx.DiGraph([(long, "y")])))
    cell = re.search(r'<td>(<span aria-hidden="true".*?)</td>', text).group(1)
    assert f'title="{long}"' in cell
    assert f'<span class="full">{long}</span>' in cell
    assert re.search(r"<span aria-hidden[^>]*>(.*?)<", cell).group(1) == "x" * 26 + "…" + "x" * 13
    tip, label = re.search(r'data-tip="([^"]*)" aria-label="([^"]*)"', text).groups()
    assert len(tip) < 100
    assert long in label


# In a browser


def test_hover_sort_drag_and_zoom(shown, tmp_path):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By

    truth = dn.load("lung-cancer")
    data = truth.sample(5_000, 1)
    result = dn.learn(data).with_confidence(dn.Confidence(bootstrap=bootstrap(data, 20)))
    window = shown(result, truth=truth.dag)
    tip = window.find_element(By.ID, "tip")
    assert not tip.is_displayed()
    edge = window.find_element(By.CSS_SELECTOR, '.edge[data-from="Cancer"][data-to="Xray"] .hit')
    ActionChains(window).move_to_element(edge).perform()
    assert tip.is_displayed()
    assert "nats if removed" in tip.text
    assert "of bootstrap samples" in tip.text

    def column(number):
        return [row.text for row in window.find_elements(By.CSS_SELECTOR, f"#edges tbody td:nth-child({number})")]

    head = window.find_elements(By.CSS_SELECTOR, "#edges th button")
    position = [button.text for button in head].index("score drop if removed")
    head[position].click()
    up = [float(text.replace(",", "")) for text in column(position + 1)]
    assert up == sorted(up)
    assert len(up) == len(result.edges)
    head[position].click()
    assert [float(text.replace(",", "")) for text in column(position + 1)] == up[::-1]
    width = "return document.getElementById('network').viewBox.baseVal.width"
    full = window.execute_script(width)
    window.find_element(By.ID, "in").click()
    assert window.execute_script(width) < full
    window.find_element(By.ID, "fit").click()
    assert window.execute_script(width) == full
    assert window.save_screenshot(str(tmp_path / "page.png"))
    assert (tmp_path / "page.png").stat().st_size > 10_000


def test_names_may_contain_line_breaks(shown):
    codes = np.random.default_rng(0).integers(0, 2, (3, 100))
    codes[1] = codes[0]
    data = dn.Dataset.from_codes(["a\r\nb", "c\rd", "e"], [("0", "1")] * 3, codes)
    window = shown(dn.learn(data))
    assert window.execute_script("return document.querySelectorAll('#network .edge .line[d]').length") == 1


def test_names_cannot_inject_scripts(shown):
    window = shown(hostile_network())
    assert window.execute_script("return document.querySelectorAll('script').length") == 3
    assert window.execute_script("return document.querySelectorAll('.node').length") == len(HOSTILE)


def test_edges_follow_a_dragged_variable(shown):
    from selenium.webdriver import ActionChains, Keys
    from selenium.webdriver.common.by import By

    # The edge from a to c bends around b.
    window = shown(bare(nx.DiGraph([("a", "b"), ("b", "c"), ("a", "c"), ("d", "c")])))
    for name in ("a", "c"):
        node = window.find_element(By.CSS_SELECTOR, f'.node[data-name="{name}"]')
        paths = window.find_elements(By.CSS_SELECTOR, '.edge[data-from="a"][data-to="c"] path')
        before = [path.get_attribute("d") for path in paths]
        ActionChains(window).drag_and_drop_by_offset(node, 60, 20).perform()
        assert all(path.get_attribute("d") != old for path, old in zip(paths, before, strict=True))
        assert paths[1].get_attribute("d").count("Q") == before[1].count("Q") == 2  # the bend stays
        ActionChains(window).drag_and_drop_by_offset(node, -60, -20).perform()
        for path, old in zip(paths, before, strict=True):  # the script draws as Python does
            assert np.allclose(numbers(path.get_attribute("d")), numbers(old), atol=0.5)
    node.send_keys(Keys.ARROW_UP * 9)  # above the bend, which is then skipped
    assert "Q" not in paths[1].get_attribute("d")


def test_an_arrowhead_keeps_its_kind_when_a_variable_is_dragged(shown):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By

    rules = dn.Knowledge(required=[("a", "b")])
    window = shown(bare(nx.DiGraph([("a", "b"), ("b", "c"), ("d", "c")]), knowledge=rules))
    node = window.find_element(By.CSS_SELECTOR, '.node[data-name="b"]')
    heads = window.find_elements(By.CSS_SELECTOR, "#network .edge .head")
    drawn = [head.get_attribute("d") for head in heads]
    assert [path.count("M") for path in drawn] == [2, 1, 1]  # the fixed edge has a bar behind its arrowhead
    ActionChains(window).drag_and_drop_by_offset(node, -50, 10).drag_and_drop_by_offset(node, 50, -10).perform()
    for head, old in zip(heads, drawn, strict=True):  # the script draws as Python does
        assert head.get_attribute("d").count("M") == old.count("M")
        assert np.allclose(numbers(head.get_attribute("d")), numbers(old), atol=0.5)
    fill = [head.value_of_css_property("fill") for head in heads]
    stroke = [head.value_of_css_property("stroke") for head in heads]
    assert [a == b for a, b in zip(fill, stroke, strict=True)] == [True, False, False]  # hollow without a bootstrap


def test_a_tap_shows_the_details_of_an_edge(shown):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.wait import WebDriverWait

    window = shown(bare(nx.DiGraph([("a", "b"), ("c", "b")])))
    tip = window.find_element(By.ID, "tip")
    middle = "const g = document.querySelector(arguments[0]).getBoundingClientRect()"
    middle += "; return [g.x + g.width / 2, g.y + g.height / 2]"

    def tap(selector):
        x, y = window.execute_script(middle, selector)
        for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
            window.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    window.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    try:
        tap('.edge[data-from="a"] .line')
        WebDriverWait(window, 3).until(lambda _: tip.is_displayed())
        assert "a → b" in tip.text
        tap('.edge[data-from="c"] .line')
        WebDriverWait(window, 3).until(lambda _: "c → b" in tip.text)
        tap("h1")
        WebDriverWait(window, 3).until(lambda _: not tip.is_displayed())
    finally:
        window.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def test_the_keyboard_reaches_everything(shown):
    from selenium.webdriver import ActionChains, Keys
    from selenium.webdriver.common.by import By

    window = shown(bare(nx.DiGraph([("a", "b"), ("c", "b")])))
    reached = []
    for _ in range(16):
        ActionChains(window).send_keys(Keys.TAB).perform()
        reached.append(
            window.execute_script(
                "const e = document.activeElement; return e.getAttribute('aria-label') || e.id || e.textContent"
            )
        )
    assert reached[:8] == ["Skip the drawing", "search", "highlight", "in", "out", "fit", "save-svg", "save-png"]
    assert reached[8:10] == [f"{name} → b; direction compelled, stability unknown" for name in "ac"]
    assert reached[10:13] == ["variable a; children b", "variable b; parents a, c", "variable c; children b"]
    assert reached[13:16] == ["edges", "from", "to"]
    ActionChains(window).key_down(Keys.SHIFT).send_keys(Keys.TAB * 4).key_up(Keys.SHIFT).perform()
    tip = window.find_element(By.ID, "tip")
    assert tip.text == "variable b; parents a, c".removeprefix("variable ")
    ActionChains(window).send_keys(Keys.ESCAPE).perform()
    assert not tip.is_displayed()


def long_names():
    names = [f"{'a rather long name ' * 3}{i}" for i in range(8)]
    codes = np.random.default_rng(0).integers(0, 3, (8, 500))
    codes[1:, :400] = codes[:-1, :400]
    return dn.learn(dn.Dataset.from_codes(names, [("some state", "another state", "y" * 300)] * 8, codes), max_parents=2)


def annealed():
    data = dn.load("alarm-15").sample(1_000, 1)
    result = dn.learn(data, dn.Anneal(SimulatedAnnealingSampler(), num_reads=20), seed=1)
    return result.with_confidence(dn.Confidence(bootstrap=bootstrap(data, 5)))


@pytest.fixture(scope="module")
def results():
    """Return four results: with reads, votes and a truth; with long names; without edges; with the plot of a search."""
    lone, data = nx.DiGraph(), dn.load("alarm-15").sample(500, 1)
    lone.add_nodes_from(f"variable {i}" for i in range(100))
    return [(annealed(), dn.load("alarm-15").dag), (long_names(), None), (bare(lone), None), (dn.learn(data), None)]


@pytest.mark.parametrize("how", [{}, {"scheme": "dark"}, {"width": 360}, {"media": "print"}], ids=str)
def test_axe_finds_no_accessibility_problem(shown, results, axe, how):
    for result, truth in results:
        window = shown(result, truth=truth, command="dagneal learn " + "long.csv " * 30)
        try:
            emulate(window, **how)
            window.execute_script("const edge = document.querySelector('.edge'); if (edge) edge.focus()")  # show the tip
            violations, passes = find_violations(window, axe)
        finally:
            emulate(window)
        assert len(passes) > 15
        assert "color-contrast" in passes
        assert violations == []


def test_axe_detects_accessibility_problems(shown, axe):
    window = shown(bare(nx.DiGraph([("a", "b")])))
    window.execute_script("document.querySelector('h1').style.color = '#eee'; document.documentElement.lang = ''")
    violations, _ = find_violations(window, axe)
    assert {"color-contrast", "html-has-lang"} <= {name for _, name, _ in violations}


def test_the_page_fits_on_a_phone(shown, results):
    for result, truth in results:
        window = shown(result, truth=truth, title="a long name of a file " * 5, command="dagneal learn " + "x" * 300)
        try:
            emulate(window, width=360)
            wide = window.execute_script("return document.documentElement.scrollWidth")
            window.execute_script("const edge = document.querySelector('.edge'); if (edge) edge.focus()")
            with_tip = window.execute_script("return document.documentElement.scrollWidth")
        finally:
            emulate(window)
        assert (wide, with_tip) == (360, 360)


def test_the_page_fits_on_paper(shown, results):
    for result, truth in results:
        window = shown(result, truth=truth, command="dagneal learn " + "x" * 300)
        width, height = 688, 1017  # A4 without margins, at 96 pixels per inch
        try:
            emulate(window, "dark", "print", width)
            boxes = "return [...document.querySelectorAll('svg, table, pre, dl')].map(e => "
            boxes += "e.getBoundingClientRect().toJSON())"
            for box in window.execute_script(boxes):
                assert box["right"] <= width + 1
            tall = [box["height"] for box in window.execute_script(boxes.replace(", table, pre, dl", ""))]
            assert max(tall) < height  # a drawing is not split between pages
            assert window.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
            full = window.execute_script("return document.getElementById('network').getAttribute('viewBox')")
            window.execute_script("document.getElementById('in').click(); dispatchEvent(new Event('beforeprint'))")
            assert numbers(window.execute_script("return document.getElementById('network').getAttribute('viewBox')")) == (
                pytest.approx(numbers(full), abs=0.1)
            )
            paper = {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True}
            assert base64.b64decode(window.execute_cdp_cmd("Page.printToPDF", paper)["data"]).startswith(b"%PDF")
        finally:
            emulate(window)


def test_the_command_writes_a_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["sample", "lung-cancer", "--rows", "1000", "-o", "lc.csv"]) == 0
    assert main(["learn", "lc.csv", "--truth", "lung-cancer", "--bootstrap", "5", "-o", "lc.html"]) == 0
    text = (tmp_path / "lc.html").read_text()
    assert "Network learned from lc.csv" in text
    assert "bootstrap frequency" in text
    assert main(["learn", "lc.csv", "-o", "lc.json"]) == 0
    assert main(["confidence", "lc.json", "lc.csv", "--holdout", "0.2", "--ess", "0.1,1", "-o", "lc.html"]) == 0
    text = (tmp_path / "lc.html").read_text()
    assert "200 held-out rows" in text
    assert "equivalent sample size 0.1" in text


def large_network():
    """Return a result with 150 variables: a chain of groups, with a hub in the first group."""
    generator = np.random.default_rng(4)
    dag = nx.DiGraph()
    dag.add_nodes_from(f"v{i}" for i in range(150))
    for i in range(1, 150):
        dag.add_edge(f"v{int(generator.integers(max(0, i - 25), i))}", f"v{i}")
    dag.add_edges_from(("v0", f"v{i}") for i in range(1, 12))
    return bare(dag)


def test_a_large_network_shows_the_neighbourhood_of_a_variable():
    text = page(large_network())
    assert "shows the 50 of 150 variables that are nearest to v0" in text
    shown = re.findall(r'<g class="node([a-z ]*)"', text)
    assert len(shown) == 150
    assert sum("away" not in classes for classes in shown) == 50
    assert sum("centre" in classes for classes in shown) == 1
    assert any("more" in classes for classes in shown)
    assert text.count("<script") == 3
    small = page(bare(nx.DiGraph([("a", "b")])))
    assert "neighbourhood of" not in small.split("<script>")[0]
    assert "layOutNeighbourhood = " not in small


def test_the_neighbourhood_can_be_chosen(shown):
    result = large_network()
    window = shown(result)
    names = "return [...document.querySelectorAll('.node:not(.away)')].map(g => g.dataset.name)"
    first = set(window.execute_script(names))
    assert len(first) == 50
    choose = "const s = document.getElementById('centre'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))"
    number = {name: str(at) for at, name in enumerate(result.dag)}
    boxes = "return [...document.querySelectorAll('.node:not(.away)')].map(g => g.getBoundingClientRect().toJSON())"
    for centre in ("v149", "v70", "v0"):
        window.execute_script(choose, number[centre])
        now = window.execute_script(names)
        assert set(now) == set(nearest(result.dag, centre, 50))
        assert centre in now
        places = window.execute_script(boxes)
        for one, two in combinations(places, 2):
            across = one["right"] < two["x"] or two["right"] < one["x"]
            assert across or one["bottom"] < two["y"] or two["bottom"] < one["y"]
        edges = window.execute_script(
            "return [...document.querySelectorAll('#network .edge:not(.away)')].map(g => [g.dataset.from, g.dataset.to])"
        )
        assert {tuple(edge) for edge in edges} == {edge for edge in result.dag.edges if set(edge) <= set(now)}
        size = window.execute_script("return document.querySelector('.node:not(.away) text').getScreenCTM().a * 13")
        assert 10.9 < size < 15.1
        text = window.execute_script("return document.getElementById('nearby').textContent")
        assert f"nearest to {centre}." in text
    assert set(now) == first


def test_letters_are_readable_at_first_sight(shown):
    for wide, least in ((1_280, 10.9), (360, 10.9)):
        window = shown(bare(large_network().dag.subgraph([f"v{i}" for i in range(90)]).copy()))
        try:
            emulate(window, width=wide)
            size = "return document.querySelector('.node text').getScreenCTM().a * 13"
            assert window.execute_script(size) >= least
            assert window.execute_script("return document.documentElement.scrollWidth") <= wide
        finally:
            emulate(window)
