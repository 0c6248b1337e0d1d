"""The page: what it holds, and how it behaves in a real browser."""

import base64
import json
import os
import re
from dataclasses import replace
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal.cli import main
from dagneal.confidence.bootstrap import bootstrap
from dagneal.report.edges import edges_of
from dagneal.report.page import page
from dagneal.result import Learned

HOSTILE = ['<script>alert("x")</script>', "'\"&<>", "=1+1", "العربية", "😀 smile", "x" * 3000]


def hostile_network():
    codes = np.random.default_rng(0).integers(0, 2, (len(HOSTILE), 300))
    codes[1:, :250] = codes[:-1, :250]
    data = dn.Dataset.from_codes(HOSTILE, [("</script>", "<b>")] * len(HOSTILE), codes)
    return dn.learn(data)


def test_names_stay_text():
    text = page(hostile_network(), title="<img src=x onerror=alert(1)>", command="</pre><script>1</script>")
    assert text.count("<script") == 2  # the data and the program of the page
    assert text.count("</script>") == 2
    assert "<img" not in text
    assert "<b>" not in text
    data = re.search(r'id="data">(.*?)</script>', text, re.S).group(1)
    assert {node["name"] for node in json.loads(data)["nodes"]} == set(HOSTILE)


def test_nothing_is_fetched():
    text = page(hostile_network())
    assert not re.search(r'(src|href)=(?!"#)', text)  # a place on the page itself is no fetching
    assert "http" not in text.replace("http://www.w3.org", "")


@pytest.mark.slow
def test_what_the_page_tells(tmp_path):
    truth = dn.load("alarm-15")
    data = truth.sample(3_000, 1)
    solver = dn.Anneal(SimulatedAnnealingSampler(), num_reads=20)
    found = dn.learn(data, solver, seed=1, knowledge=dn.Knowledge(roots=["SaO2"]))
    text = page(found, truth.dag, "alarm.csv", "dagneal learn alarm.csv")
    for words in (
        "Reads of the annealer",
        "Votes of the blocks",
        "Known before",
        "To repeat it",
        "15 variables, 3,000 rows",
    ):
        assert words in text
    kinds = re.findall(r'class="edge ([a-z]+)', text)
    against = dn.compare(found.dag, truth.dag)
    assert kinds.count("right") == against.right
    assert kinds.count("turned") + kinds.count("equivalent") + kinds.count("wrong") == against.wrong
    found.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


def bare(dag, **more):
    """A result that is a graph alone."""
    return Learned(dag, -1.0, 2, "exact", True, score_name="BDeu(1)", **more)


def test_a_turned_edge_that_the_data_cannot_tell_is_equivalent():
    truth = nx.DiGraph([("a", "b"), ("b", "c"), ("d", "e"), ("f", "e"), ("g", "h")])
    found = nx.DiGraph([("c", "b"), ("b", "a"), ("e", "d"), ("f", "e"), ("g", "h"), ("a", "i")])
    truth.add_node("i")
    kinds = {(edge["from"], edge["to"]): edge["kind"] for edge in edges_of(bare(found), truth)}
    assert kinds == {
        ("c", "b"): "equivalent",
        ("b", "a"): "equivalent",
        ("e", "d"): "turned",  # the truth decides it: d and f meet in e
        ("f", "e"): "right",
        ("g", "h"): "right",
        ("a", "i"): "wrong",
    }
    text = page(bare(found), truth)
    assert "equivalent: the data cannot tell" in text
    assert text.count('class="edge equivalent"') == 2
    assert text.count("<td>equivalent</td>") == 2
    # Knowledge decides the edges of the chain, so they are wrong.
    told = bare(found, knowledge=dn.Knowledge(required=[("c", "b")]))
    assert [edge["kind"] for edge in edges_of(told, truth)].count("equivalent") == 0


def test_equivalent_edges_are_those_that_an_equivalent_network_has():
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
        found, truth = graphs
        both_ways = []
        for graph in graphs:  # by enumeration: all networks with the same edges and the same class
            pairs = list(graph.edges)
            same = []
            for turns in product((False, True), repeat=len(pairs)):
                other = nx.DiGraph([(b, a) if turn else (a, b) for (a, b), turn in zip(pairs, turns, strict=True)])
                other.add_nodes_from("abcd")
                if nx.is_directed_acyclic_graph(other) and dn.compare(other, graph).cpdag_shd == 0:
                    same.append(set(other.edges))
            both_ways.append({(a, b) for a, b in pairs if any((b, a) in each for each in same)})
        expected = {(a, b) for a, b in both_ways[0] if (b, a) in both_ways[1]}
        edges = edges_of(bare(found), truth)
        assert {(edge["from"], edge["to"]) for edge in edges if edge["kind"] == "equivalent"} == expected


def test_why_there_are_no_edges():
    data = dn.Dataset.from_codes(["a", "b", "c"], [("0", "1")] * 3, np.random.default_rng(1).integers(0, 2, (3, 400)))
    joined = dn.load("lung-cancer").sample(1_000, 1)
    every = [(a, b) for a in joined.names for b in joined.names if a != b]

    def why(*args, **options):
        return re.search("There are no edges: (.*?)[.]</p>", page(dn.learn(*args, **options))).group(1)

    assert why(data) == "no variable tells enough about another to raise the score"
    assert why(joined, max_parents=0) == "at most 0 parents were allowed"
    assert why(joined, knowledge=dn.Knowledge(forbidden=every)) == "what was known before allows none"
    limits = dict.fromkeys(joined.names, 0)
    assert why(joined, knowledge=dn.Knowledge(limits=limits)) == "what was known before allows none"
    assert why(data, knowledge=dn.Knowledge(roots=["a"])) == "none that what was known before allows raises the score"
    assert "none was found" in page(replace(dn.learn(data), optimal=False))
    blocks = dn.learn(data, dn.Divide(size=3, combine="count"))
    assert not blocks.edges
    assert "the votes of the blocks leave none" in page(blocks)


def test_strengths_that_are_known_are_not_computed_again():
    found = dn.learn(dn.load("lung-cancer").sample(1_000, 1))
    known = found.strengths()
    told = [replace(each, loss=12345.0 + i) for i, each in enumerate(known)]
    edges = edges_of(found.with_confidence(dn.Confidence(told)), None)
    assert [edge["loss"] for edge in edges] == [12345.0 + i for i in range(len(told))]
    assert [edge["loss"] for edge in edges_of(found, None)] == [each.loss for each in known]


def test_long_names_are_shortened_and_kept():
    long = "x" * 3000
    text = page(bare(nx.DiGraph([(long, "y")])))
    cell = re.search(r'<td>(<span aria-hidden="true".*?)</td>', text).group(1)
    assert f'title="{long}"' in cell
    assert f'<span class="whole">{long}</span>' in cell
    assert re.search(r"<span aria-hidden[^>]*>(.*?)<", cell).group(1) == "x" * 26 + "…" + "x" * 13
    tip, label = re.search(r'data-tip="([^"]*)" aria-label="([^"]*)"', text).groups()
    assert len(tip) < 100
    assert long in label


# In a browser


@pytest.fixture
def shown(browser, tmp_path):
    """Open a page; afterwards the console must have had no complaint."""

    def show(found, **more):
        path = tmp_path / "page.html"
        path.write_text(page(found, **more), encoding="utf-8")
        browser.get(path.as_uri())
        return browser

    yield show
    assert [line["message"] for line in browser.get_log("browser")] == []


def test_hover_sort_drag_and_zoom(shown, tmp_path):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By

    truth = dn.load("lung-cancer")
    data = truth.sample(5_000, 1)
    found = dn.learn(data).with_confidence(dn.Confidence(bootstrap=bootstrap(data, 20)))
    window = shown(found, truth=truth.dag)
    tip = window.find_element(By.ID, "tip")
    assert not tip.is_displayed()
    edge = window.find_element(By.CSS_SELECTOR, '.edge[data-from="Cancer"][data-to="Xray"] .hit')
    ActionChains(window).move_to_element(edge).perform()
    assert tip.is_displayed()
    assert "the score loses" in tip.text
    assert "of resamples" in tip.text

    def column(number):
        return [row.text for row in window.find_elements(By.CSS_SELECTOR, f"#edges tbody td:nth-child({number})")]

    head = window.find_elements(By.CSS_SELECTOR, "#edges th button")
    position = [each.text for each in head].index("loses without it, nats")
    head[position].click()
    up = [float(text.replace(",", "")) for text in column(position + 1)]
    assert up == sorted(up)
    assert len(up) == len(found.edges)
    head[position].click()
    assert [float(text.replace(",", "")) for text in column(position + 1)] == up[::-1]
    width = "return document.getElementById('network').viewBox.baseVal.width"
    whole = window.execute_script(width)
    window.find_element(By.ID, "in").click()
    assert window.execute_script(width) < whole
    window.find_element(By.ID, "fit").click()
    assert window.execute_script(width) == whole
    assert window.save_screenshot(str(tmp_path / "page.png"))
    assert (tmp_path / "page.png").stat().st_size > 10_000


def test_line_breaks_in_names_do_no_harm(shown):
    codes = np.random.default_rng(0).integers(0, 2, (3, 100))
    codes[1] = codes[0]
    data = dn.Dataset.from_codes(["a\r\nb", "c\rd", "e"], [("0", "1")] * 3, codes)
    window = shown(dn.learn(data))
    assert window.execute_script("return document.querySelectorAll('.edge .line[d]').length") == 1


def test_hostile_names_do_nothing(shown):
    window = shown(hostile_network())
    assert window.execute_script("return document.querySelectorAll('script').length") == 2
    assert window.execute_script("return document.querySelectorAll('.node').length") == len(HOSTILE)


def numbers(text):
    return [float(number) for number in re.findall(r"-?[\d.]+", text)]


def test_edges_follow_a_variable(shown):
    from selenium.webdriver import ActionChains, Keys
    from selenium.webdriver.common.by import By

    # b is in the way of the edge from a to c, which therefore has a bend
    window = shown(bare(nx.DiGraph([("a", "b"), ("b", "c"), ("a", "c"), ("d", "c")])))
    for name in ("a", "c"):
        node = window.find_element(By.CSS_SELECTOR, f'.node[data-name="{name}"]')
        paths = window.find_elements(By.CSS_SELECTOR, '.edge[data-from="a"][data-to="c"] path')
        before = [path.get_attribute("d") for path in paths]
        ActionChains(window).drag_and_drop_by_offset(node, 60, 20).perform()
        assert all(path.get_attribute("d") != old for path, old in zip(paths, before, strict=True))
        assert paths[1].get_attribute("d").count("Q") == before[1].count("Q") == 2  # its bend stays
        ActionChains(window).drag_and_drop_by_offset(node, -60, -20).perform()
        for path, old in zip(paths, before, strict=True):  # the script draws as Python does
            assert np.allclose(numbers(path.get_attribute("d")), numbers(old), atol=0.5)
    node.send_keys(Keys.ARROW_UP * 9)  # above the bend, which is left out
    assert "Q" not in paths[1].get_attribute("d")


def test_a_tap_tells_of_an_edge(shown):
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
    for _ in range(12):
        ActionChains(window).send_keys(Keys.TAB).perform()
        reached.append(
            window.execute_script("const e = document.activeElement; return e.getAttribute('aria-label') || e.textContent")
        )
    assert reached[:4] == ["Skip the drawing", "Larger", "Smaller", "Whole"]
    assert reached[4:6] == ["a → b", "c → b"]
    assert reached[6:9] == ["variable a; children b", "variable b; parents a, c", "variable c; children b"]
    assert reached[9:] == ["edges", "from", "to"]
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
    found = dn.learn(data, dn.Anneal(SimulatedAnnealingSampler(), num_reads=20), seed=1)
    return found.with_confidence(dn.Confidence(bootstrap=bootstrap(data, 5)))


@pytest.fixture(scope="module")
def results():
    """A result with all that a page can hold, with the truth; one with long names; one without edges."""
    lone = nx.DiGraph()
    lone.add_nodes_from(f"variable {i}" for i in range(100))
    return [(annealed(), dn.load("alarm-15").dag), (long_names(), None), (bare(lone), None)]


@pytest.fixture(scope="module")
def axe():
    """The source of axe-core, which is not kept here."""
    package = find_spec("axe_playwright_python")  # found and not imported, which would need its driver of browsers
    if package is None or package.origin is None:
        if os.environ.get("DAGNEAL_BROWSER") == "required":
            pytest.fail("axe-core is needed here and was not found; `make test` installs it")
        pytest.skip("axe-core is not installed; pip install --no-deps axe-playwright-python has it")
    return (Path(package.origin).parent / "axe.min.js").read_text(encoding="utf-8")


def seen_as(window, scheme="light", media="", width=None):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    window.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
    if width is None:
        window.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    else:
        size = {"width": width, "height": 740, "deviceScaleFactor": 2, "mobile": not media}
        window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


@pytest.mark.parametrize("how", [{}, {"scheme": "dark"}, {"width": 360}, {"media": "print"}], ids=str)
def test_everybody_can_use_it(shown, results, axe, how):
    for found, truth in results:
        window = shown(found, truth=truth, command="dagneal learn " + "long.csv " * 30)
        try:
            seen_as(window, **how)
            window.execute_script("const edge = document.querySelector('.edge'); if (edge) edge.focus()")  # with its words
            window.execute_script(axe)
            report = window.execute_async_script("axe.run().then(arguments[0])")
        finally:
            seen_as(window)
        assert len(report["passes"]) > 15
        assert any(rule["id"] == "color-contrast" for rule in report["passes"])
        told = [
            (rule["impact"], rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in report["violations"]
        ]
        assert [rule for rule in told if rule[0] in ("serious", "critical")] == []


def test_axe_finds_what_is_wrong(shown, axe):
    window = shown(bare(nx.DiGraph([("a", "b")])))
    window.execute_script("document.querySelector('h1').style.color = '#eee'; document.documentElement.lang = ''")
    window.execute_script(axe)
    report = window.execute_async_script("axe.run().then(arguments[0])")
    assert {"color-contrast", "html-has-lang"} <= {rule["id"] for rule in report["violations"]}


def test_it_fits_on_a_phone(shown, results):
    for found, truth in results:
        window = shown(found, truth=truth, title="a long name of a file " * 5, command="dagneal learn " + "x" * 300)
        try:
            seen_as(window, width=360)
            wide = window.execute_script("return document.documentElement.scrollWidth")
            window.execute_script("const edge = document.querySelector('.edge'); if (edge) edge.focus()")
            with_words = window.execute_script("return document.documentElement.scrollWidth")
        finally:
            seen_as(window)
        assert (wide, with_words) == (360, 360)


def test_it_fits_on_paper(shown, results):
    for found, truth in results:
        window = shown(found, truth=truth, command="dagneal learn " + "x" * 300)
        width, height = 688, 1017  # of A4 less its margins, at 96 to the inch
        try:
            seen_as(window, "dark", "print", width)
            boxes = "return [...document.querySelectorAll('svg, table, pre')].map(e => e.getBoundingClientRect().toJSON())"
            for box in window.execute_script(boxes):
                assert box["right"] <= width + 1
            tall = [box["height"] for box in window.execute_script(boxes.replace(", table, pre", ""))]
            assert max(tall) < height  # and they are not broken
            assert window.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
            whole = window.execute_script("return document.getElementById('network').getAttribute('viewBox')")
            window.execute_script("document.getElementById('in').click(); dispatchEvent(new Event('beforeprint'))")
            assert numbers(window.execute_script("return document.getElementById('network').getAttribute('viewBox')")) == (
                pytest.approx(numbers(whole), abs=0.1)
            )
            paper = {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True}
            assert base64.b64decode(window.execute_cdp_cmd("Page.printToPDF", paper)["data"]).startswith(b"%PDF")
        finally:
            seen_as(window)


def test_the_command_writes_a_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["sample", "lung-cancer", "--rows", "1000", "-o", "lc.csv"]) == 0
    assert main(["learn", "lc.csv", "--truth", "lung-cancer", "--bootstrap", "5", "-o", "lc.html"]) == 0
    text = (tmp_path / "lc.html").read_text()
    assert "The network of lc.csv" in text
    assert "share of resamples" in text
    assert main(["learn", "lc.csv", "-o", "lc.json"]) == 0
    assert main(["confidence", "lc.json", "lc.csv", "--holdout", "0.2", "--ess", "0.1,1", "-o", "lc.html"]) == 0
    text = (tmp_path / "lc.html").read_text()
    assert "200 rows held out" in text
    assert "equivalent sample size 0.1" in text
