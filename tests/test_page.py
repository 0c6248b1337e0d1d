"""The page: what it holds, and how it behaves in a real browser."""

import json
import os
import re
import shutil

import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal.cli import main
from dagneal.confidence import bootstrap
from dagneal.report.layout import layered
from dagneal.report.page import page
from dagneal.report.text import drawn

HOSTILE = ['<script>alert("x")</script>', "'\"&<>", "=1+1", "العربية", "😀 smile", "x" * 3000]


def hostile_network():
    codes = np.random.default_rng(0).integers(0, 2, (len(HOSTILE), 300))
    codes[1:, :250] = codes[:-1, :250]
    data = dn.Dataset.merged(HOSTILE, [("</script>", "<b>")] * len(HOSTILE), codes)
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
    assert not re.search(r"(src|href)=", text)
    assert "http" not in text.replace("http://www.w3.org", "")


def test_what_the_page_tells(tmp_path):
    truth = dn.load("alarm-15")
    data = truth.sample(3_000, 1)
    sampler = SimulatedAnnealingSampler()
    found = dn.learn(data, solver=sampler, num_reads=20, seed=1, knowledge=dn.Knowledge(roots=["SaO2"]))
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
    assert kinds.count("turned") + kinds.count("wrong") == against.wrong
    found.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


def test_layers_put_parents_above_children_and_boxes_apart():
    for seed in range(20):
        graph = nx.gnp_random_graph(12, 0.2, seed, directed=True)
        dag = nx.DiGraph([(f"v{a}", f"v{b}") for a, b in graph.edges if a < b])
        dag.add_nodes_from(f"v{i}" for i in range(12))
        widths = {name: 40.0 + 5 * len(name) for name in dag}
        place = layered(dag, widths)
        assert all(place[a][1] < place[b][1] for a, b in dag.edges)
        for a in dag:
            for b in dag:
                if a < b and place[a][1] == place[b][1]:
                    assert abs(place[a][0] - place[b][0]) >= (widths[a] + widths[b]) / 2


def test_a_graph_with_a_cycle_is_drawn_too():
    assert len(layered(nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c")]), dict.fromkeys("abc", 40.0))) == 3


def test_small_networks_are_drawn_with_letters():
    for name in ("monty-hall", "lung-cancer-4", "lung-cancer"):
        dag = dn.load(name).dag
        lines = drawn(dag, 120)
        row = {variable: next(i for i, line in enumerate(lines) if variable in line) for variable in dag}
        assert all(row[parent] < row[child] for parent, child in dag.edges)
        assert max(map(len, lines)) <= 120
    assert drawn(dn.load("lung-cancer").dag, 10) == []
    assert drawn(nx.DiGraph([("a", "b"), ("b", "c"), ("a", "c")])) == []  # an edge would run through b
    assert drawn(dn.load("alarm-15").dag) == []
    assert drawn(nx.DiGraph([("a", "b"), ("b", "a")])) == []


# In a browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        if os.environ.get("DAGNEAL_BROWSER") == "required":
            pytest.fail("chromium and chromedriver are needed here and were not found")
        pytest.skip("chromium and chromedriver are not installed; Debian's packages chromium and chromium-driver have them")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    quiet = "no-first-run disable-background-networking disable-component-update disable-sync disable-quic"
    for word in f"headless no-sandbox disable-gpu window-size=1100,1400 {quiet}".split():
        options.add_argument(f"--{word}")
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=Service(driver))
    yield made
    made.quit()


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
    from dataclasses import replace

    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By

    truth = dn.load("lung-cancer")
    data = truth.sample(5_000, 1)
    found = replace(dn.learn(data), confidence={"bootstrap": bootstrap(data, 20).to_dict()})
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
    node = window.find_element(By.CSS_SELECTOR, '.node[data-name="Xray"]')
    before = node.get_attribute("transform"), edge.get_attribute("d")
    ActionChains(window).drag_and_drop_by_offset(node, 60, 20).perform()
    assert node.get_attribute("transform") != before[0]
    assert edge.get_attribute("d") != before[1]
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
    data = dn.Dataset.merged(["a\r\nb", "c\rd", "e"], [("0", "1")] * 3, codes)
    window = shown(dn.learn(data))
    assert window.execute_script("return document.querySelectorAll('.edge .line[d]').length") == 1


def test_hostile_names_do_nothing(shown):
    window = shown(hostile_network())
    assert window.execute_script("return document.querySelectorAll('script').length") == 2
    assert window.execute_script("return document.querySelectorAll('.node').length") == len(HOSTILE)


def test_it_fits_on_a_phone(shown):
    window = shown(dn.learn(dn.load("alarm-15").sample(1_000, 1)))
    window.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    )
    wide = window.execute_script("return document.documentElement.scrollWidth")
    window.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide <= 390


def test_the_command_writes_a_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["sample", "lung-cancer", "--rows", "1000", "-o", "lc.csv"]) == 0
    assert main(["learn", "lc.csv", "--truth", "lung-cancer", "--bootstrap", "5", "-o", "lc.html"]) == 0
    text = (tmp_path / "lc.html").read_text()
    assert "The network of lc.csv" in text
    assert "share of resamples" in text
    assert main(["learn", "lc.csv", "--holdout", "0.2", "--ess", "0.1,1", "-o", "lc.html"]) == 0
    text = (tmp_path / "lc.html").read_text()
    assert "200 rows held out" in text
    assert "equivalent sample size 0.1" in text
