"""Questions to the network on the HTML page, and its controls: data, answers, links, export and safety."""

import base64
import json
import re
from urllib.parse import quote
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest

import dagneal as dn
from dagneal.inference import most_probable
from dagneal.report.page import page
from dagneal.report.question_data import question_data
from dagneal.report.scripts import page_script
from dagneal.result import Learned
from support.enumeration import HOSTILE, random_network
from support.pages import emulate, find_violations, numbers

SCRIPTS = [*HOSTILE, "</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "\u2028\u2029", "x" * 3000]


def known(network, **more):
    """Return a result with the given network."""
    return Learned(network.dag, -1.0, 4, "exact", True, fitted=network, score_name="BDeu(1)", **more)


def hostile_network():
    """Return a chain of variables whose names and states look like programs."""
    names = SCRIPTS[-8:]
    states = {name: (SCRIPTS[at], "no") for at, name in enumerate(names)}
    parents = {name: () if at == 0 else (names[at - 1],) for at, name in enumerate(names)}
    cpts = {name: np.array([0.3, 0.7] if at == 0 else [[0.9, 0.1], [0.2, 0.8]]) for at, name in enumerate(names)}
    return dn.BayesianNetwork(states, parents, cpts, "hostile")


def block(text):
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))


# The data of the page


def test_the_page_stores_the_tables_without_rounding():
    network = random_network(8, 3)
    data = block(page(known(network)))
    names = [node["name"] for node in data["nodes"]]
    stored = np.frombuffer(base64.b64decode(data["questions"]["tables"]), "<f8")
    assert [tuple(states) for states in data["questions"]["states"]] == [network.states[name] for name in names]
    assert [[names[at] for at in own] for own in data["questions"]["parents"]] == [list(network.parents[n]) for n in names]
    assert np.array_equal(stored, np.concatenate([network.cpts[name].ravel() for name in names]))


def test_the_page_stores_the_possible_parents():
    network = dn.BayesianNetwork(
        dict.fromkeys("abcd", ("0", "1")),
        {"a": (), "b": ("a",), "c": ("b", "d"), "d": ()},
        {"a": [0.5, 0.5], "b": [[0.5, 0.5], [0.1, 0.9]], "c": np.full((2, 2, 2), 0.5), "d": [0.5, 0.5]},
    )
    sets = question_data(known(network), "abcd")[0]["sets"]
    assert sets == [[[], [1]], [[], [0]], [[1, 3]], [[]]]  # a - b is reversible, and c is a collider
    sets = question_data(known(network, knowledge=dn.Knowledge(required=[("a", "b")])), "abcd")[0]["sets"]
    assert sets == [[[]], [[0]], [[1, 3]], [[]]]
    sets = question_data(known(network, knowledge=dn.Knowledge(forbidden=[("b", "c")])), "abcd")[0]["sets"]
    assert sets == [None] * 4  # no network of the class obeys the knowledge


def test_the_page_says_why_it_cannot_answer(monkeypatch):
    data = dn.load("lung-cancer").sample(200, 1)
    result = dn.learn(data)
    assert question_data(result, data.names)[0] is not None
    monkeypatch.setattr("dagneal.report.question_data.PAGE_PROBABILITIES", 5)
    assert "probabilities, and the page stores at most 5" in question_data(result, data.names)[1]
    assert "probabilities, and the page stores at most 5" in question_data(known(dn.load("lung-cancer")), data.names)[1]
    cyclic = Learned(nx.DiGraph([("a", "b"), ("b", "a")]), float("nan"), 2, "sa", data=data)
    assert "cycle" in question_data(cyclic, "ab")[1]


def test_a_loaded_result_can_be_asked(tmp_path):
    dn.learn(dn.load("lung-cancer").sample(200, 1)).save(tmp_path / "result.json")
    questions, reason = question_data(dn.load_result(tmp_path / "result.json"), dn.load("lung-cancer").names)
    assert reason == ""
    assert questions["states"][0] == ["Low", "High"]


def test_the_data_block_is_plain_ascii():
    text = page(known(hostile_network()))
    assert "\u2028" not in text.split('id="data">')[1].split("</script>")[0]
    assert re.search(r'id="data">[\x20-\x7e]*</script>', text)
    assert {node["name"] for node in block(text)["nodes"]} == set(hostile_network().names)


def test_the_policy_allows_only_this_page():
    text = page(known(dn.load("lung-cancer")))
    policy = re.search('<meta http-equiv="Content-Security-Policy"[^>]*>', text).group()
    assert text.index(policy) < text.index("<style>") < text.index("<script")
    assert "default-src &#x27;none&#x27;" in policy
    assert "unsafe" not in policy
    assert " style=" not in re.sub(r"<(style|script).*?</\1>", "", text, flags=re.S)
    assert not re.search(r"<[^>]* on[a-z]+=", re.sub(r"<script.*?</script>", "", text, flags=re.S))
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|eval\(", page_script(large=True))


# In a browser

HIGHLIGHT = "const e = document.getElementById('highlight'); e.value = arguments[0]; e.dispatchEvent(new Event('change'))"
EDGES = "[...document.querySelectorAll('#network .edge')]"


def chain_network():
    """Return a chain, in which no direction is determined."""
    return dn.BayesianNetwork(
        dict.fromkeys("abc", ("no", "yes")),
        {"a": (), "b": ("a",), "c": ("b",)},
        {"a": [0.4, 0.6], "b": [[0.9, 0.1], [0.2, 0.8]], "c": [[0.7, 0.3], [0.1, 0.9]]},
    )


def wait(window, condition):
    from selenium.webdriver.support.wait import WebDriverWait

    return WebDriverWait(window, 20, poll_frequency=0.05).until(lambda _: condition())


def settled(window):
    """Wait until the page has drawn the answer."""
    wait(
        window,
        lambda: window.execute_script("return document.getElementById('panel').getAttribute('aria-busy') === 'false'"),
    )


def select(window, name):
    window.execute_script(
        "[...document.querySelectorAll('.node')].find((g) => g.dataset.name === arguments[0])"
        ".dispatchEvent(new MouseEvent('click', { bubbles: true }))",
        name,
    )
    settled(window)


def click_state(window, variable, state):
    select(window, variable)
    at = window.execute_script(
        "return [...document.querySelectorAll('.bar-row .state')].findIndex((e) => e.textContent === arguments[0])", state
    )
    window.find_elements("css selector", ".bar-row")[at].click()
    settled(window)


def bars(window):
    """Return the lengths of the bars and of the hatched parts, as probabilities."""
    widths = "return [...document.querySelectorAll('.bar-row')].map((row) => [row.querySelector('.low').style.width, "
    widths += "row.querySelector('.span').style.width])"
    return np.array([[numbers(text)[0] / 100 for text in pair] for pair in window.execute_script(widths)])


def text_of(window, name):
    return window.execute_script("return document.getElementById(arguments[0]).textContent", name)


def test_evidence_updates_the_answers(shown):
    network = dn.load("lung-cancer")
    window = shown(known(network))
    assert "No evidence yet" in text_of(window, "probability")
    click_state(window, "Smoker", "True")
    click_state(window, "Xray", "Positive")
    select(window, "Cancer")
    given = {"Smoker": "True", "Xray": "Positive"}
    assert bars(window)[:, 0] == pytest.approx(dn.query(network, "Cancer", given).probabilities, abs=1e-6)
    assert numbers(text_of(window, "probability"))[0] == pytest.approx(
        dn.inference.evidence_probability(network, given), rel=1e-3
    )
    sizes = window.execute_script("""return [...document.querySelectorAll('.node .evidence')].map(
        (text) => [text, text.previousSibling].map((element) => element.getBBox().width))""")
    assert [text < badge < text + 20 for text, badge in sizes] == [True, True]
    before = window.execute_script("return [...document.querySelectorAll('.before')].map((e) => e.style.left)")
    assert [numbers(text)[0] / 100 for text in before] == pytest.approx(dn.query(network, "Cancer").probabilities, abs=1e-6)
    assert "Cancer" in text_of(window, "changed")
    assert "Cancer: " in text_of(window, "announcement")
    window.find_element("id", "explain").click()
    wait(window, lambda: window.find_element("id", "explanation").is_displayed())
    best = most_probable(network, given)
    pairs = dict(zip(*(window.execute_script("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)",
                 f"#explanation {part}") for part in ("button", ".state")), strict=True))  # fmt: skip
    assert pairs == {name: state for name, state in best.states.items() if name not in given}
    assert numbers(text_of(window, "explanation"))[0] == pytest.approx(best.probability, rel=1e-3)
    window.find_element("css selector", "#evidence .remove").click()
    settled(window)
    assert bars(window)[:, 0] == pytest.approx(dn.query(network, "Cancer", {"Xray": "Positive"}).probabilities, abs=1e-6)
    window.find_element("id", "clear").click()
    settled(window)
    assert bars(window)[:, 0] == pytest.approx(dn.query(network, "Cancer").probabilities, abs=1e-6)
    assert window.execute_script("return location.hash") == ""


def test_interventions_have_the_range_of_the_class(shown):
    network = dn.load("lung-cancer")
    window = shown(known(network))
    select(window, "Cancer")
    window.execute_script("document.getElementById('mode-do').click()")
    click_state(window, "Cancer", "True")
    select(window, "Smoker")
    effect = dn.do(network, {"Cancer": "True"}, "Smoker")
    assert effect.identified
    assert bars(window)[:, 0] == pytest.approx(effect.low, abs=1e-6)
    assert "no hidden common causes" in text_of(window, "caveats")
    assert "All networks of the equivalence class" in text_of(window, "caveats")
    collider = dn.BayesianNetwork(
        dict.fromkeys("abc", ("no", "yes")),
        {"a": (), "b": (), "c": ("a", "b")},
        {"a": [0.4, 0.6], "b": [0.5, 0.5], "c": np.full((2, 2, 2), 0.5)},
    )
    matrix = np.zeros((3, 3))
    matrix[[0, 1, 2, 2], [2, 2, 0, 1]] = 0.5  # frequent edges, whose direction changes between samples
    unstable = dn.Confidence(bootstrap=dn.Bootstrap(tuple("abc"), 100, matrix + matrix.T, matrix, 100))
    window = shown(known(collider, confidence=unstable), "#do:a=yes&show:c")
    settled(window)
    assert "the direction of 1 edge at a set variable is undetermined" in text_of(window, "caveats")
    chain = chain_network()
    window = shown(known(chain), "#do:b=yes&observe:c=yes&show:a")
    settled(window)
    effect = dn.do(chain, {"b": "yes"}, "a", {"c": "yes"})
    assert not effect.identified
    assert bars(window)[:, 0] == pytest.approx(effect.low, abs=1e-6)
    assert bars(window).sum(axis=1) == pytest.approx(effect.high, abs=1e-6)
    assert "does not support a single number: 3 possible parent sets" in text_of(window, "caveats")
    window.execute_script("location.hash = '#do:b=yes&do:a=yes&show:c'")
    wait(window, lambda: "does not support a single number. The bars follow" in text_of(window, "caveats"))


def test_impossible_evidence_gets_a_message(shown):
    network = dn.load("monty-hall")
    names = network.states
    child = next(name for name in names if len(network.parents[name]) == 2)
    index = np.argwhere(network.cpts[child] == 0)[0]
    chosen = {name: names[name][at] for name, at in zip((*network.parents[child], child), index, strict=True)}
    window = shown(known(network))
    for name, state in chosen.items():
        click_state(window, name, state)
    assert "This evidence is impossible" in text_of(window, "notice")
    window.find_element("css selector", "#evidence li:last-child .remove").click()
    settled(window)
    assert text_of(window, "notice") == ""
    assert "P(evidence) = " in text_of(window, "probability")


def test_the_address_stores_the_question(shown):
    network = random_network(6, 1, hostile=True)
    first, second, third = network.names[:3]
    window = shown(known(network))
    click_state(window, first, network.states[first][0])
    window.execute_script("document.getElementById('mode-do').click()")
    click_state(window, second, network.states[second][1])
    select(window, third)
    fragment = window.execute_script("return location.hash")
    expected = bars(window)
    window = shown(known(network), fragment)
    settled(window)
    assert bars(window) == pytest.approx(expected)
    assert window.execute_script("return document.querySelectorAll('#evidence li').length") == 2
    assert window.execute_script("return location.hash") == fragment
    state = quote(network.states[first][0], safe="")
    window = shown(known(network), f"#observe:{quote(first, safe='')}={state}&observe:nobody=x&do:%E0%A4%A=1")
    settled(window)
    assert "2 parts that do not fit this network" in text_of(window, "address-problem")
    assert window.execute_script("return document.querySelectorAll('#evidence li').length") == 1


def test_a_treewidth_above_the_limit_is_refused(shown):
    roots = [f"root {i}" for i in range(5)]
    states = {name: tuple(map(str, range(40))) for name in roots}
    parents, cpts = dict.fromkeys(roots, ()), {name: np.full(40, 1 / 40) for name in roots}
    generator = np.random.default_rng(0)
    for a in range(5):
        for b in range(a):
            name = f"child {a} {b}"
            states[name], parents[name] = ("no", "yes"), (roots[a], roots[b])
            cpts[name] = generator.dirichlet([1, 1], (40, 40))
    network = dn.BayesianNetwork(states, parents, cpts)
    window = shown(known(network))
    select(window, "root 0")
    refusal = text_of(window, "notice")
    assert "102,400,000 numbers (treewidth 4)" in refusal
    assert "up to 4,194,304 numbers" in refusal
    click_state(window, "root 0", "0")
    select(window, "root 1")
    assert text_of(window, "notice") == ""
    assert bars(window)[:, 0] == pytest.approx(dn.query(network, "root 1", {"root 0": "0"}).probabilities, abs=1e-6)
    assert window.execute_script("return document.querySelectorAll('#table tbody tr').length") == 1


def test_a_page_without_probabilities_has_no_bars(shown):
    from selenium.webdriver.common.by import By

    window = shown(Learned(nx.DiGraph([("a", "b"), ("c", "b")]), -1.0, 2, "exact", True, score_name="BDeu(1)"))
    window.find_element(By.CSS_SELECTOR, '.node[data-name="b"]').click()
    assert "the result has no data" in text_of(window, "notice")
    assert text_of(window, "relatives") == "Parentsac"
    assert not window.find_element(By.ID, "ask").is_displayed()


def test_conditional_tables_are_paged(shown):
    states = {name: tuple("abcdefgh") for name in ("p", "q", "r")} | {"x": ("no", "yes")}
    cpts = {name: np.full(8, 1 / 8) for name in ("p", "q", "r")}
    cpts["x"] = np.random.default_rng(0).dirichlet([1, 1], (8, 8, 8))
    network = dn.BayesianNetwork(states, dict.fromkeys("pqr", ()) | {"x": ("p", "q", "r")}, cpts)
    window = shown(known(network))
    select(window, "x")
    window.execute_script("document.getElementById('table-box').open = true")
    assert "Rows 1 to 50 of 512" in text_of(window, "table-rows")
    for _ in range(10):
        window.find_element("id", "table-next").click()
    assert "Rows 501 to 512 of 512" in text_of(window, "table-rows")
    cells = window.execute_script(
        "return [...document.querySelectorAll('#table tbody tr:last-child > *')].map((e) => e.title || e.textContent)"
    )
    assert cells[:3] == ["h", "h", "h"]
    assert [float(cell) for cell in cells[3:]] == list(network.cpts["x"][7, 7, 7])
    assert not window.find_element("id", "table-next").is_enabled()


def test_search_and_highlights(shown):
    from selenium.webdriver import Keys

    network = dn.load("lung-cancer")
    window = shown(known(network))
    search = window.find_element("id", "search")
    search.send_keys("er")
    names = window.execute_script("return [...document.querySelectorAll('#found button')].map((e) => e.textContent)")
    assert names == [name for name in network.names if "er" in name.lower()]
    assert window.execute_script("return document.querySelectorAll('.node.match').length") == len(names)
    search.send_keys(Keys.ESCAPE)
    search.send_keys("cancer", Keys.ENTER)
    settled(window)
    assert text_of(window, "variable-name") == "Cancer"
    assert window.execute_script("return document.activeElement.dataset.name") == "Cancer"
    related = "return [...document.querySelectorAll('.node.related')].map((g) => g.dataset.name).sort()"
    for kind, expected in (
        ("blanket", {"Pollution", "Smoker", "Xray", "Dyspnoea"}),
        ("ancestors", nx.ancestors(network.dag, "Cancer")),
        ("descendants", nx.descendants(network.dag, "Cancer")),
    ):
        window.execute_script(
            "const e = document.getElementById('highlight'); e.value = arguments[0]; e.dispatchEvent(new Event('change'))",
            kind,
        )
        assert window.execute_script(related) == sorted(expected)
        assert text_of(window, "highlighted")
    select(window, "Smoker")
    assert window.execute_script(related) == sorted(nx.descendants(network.dag, "Smoker"))


def test_the_slider_hides_rare_edges_and_near_misses_appear(shown):
    result = dn.learn(dn.load("lung-cancer").sample(2_000, 1))
    names, matrix = list(result.dag), np.zeros((5, 5))
    frequency = dict(zip([*result.edges, ("Xray", "Dyspnoea")], (1.0, 0.95, 0.7, 0.4, 0.6), strict=True))
    for (a, b), value in frequency.items():
        matrix[names.index(a), names.index(b)] = value
    measured = dn.Bootstrap(tuple(names), 100, matrix + matrix.T, matrix, 100)
    result = result.with_confidence(dn.Confidence(bootstrap=measured))
    window = shown(result)
    shown_edges = f"return {EDGES}.filter((g) => getComputedStyle(g).display !== 'none').length"
    assert window.execute_script(shown_edges) == len(result.edges)
    window.execute_script(
        "const e = document.getElementById('least'); e.value = 90; e.dispatchEvent(new Event('input')); "
        "e.dispatchEvent(new Event('change'))"
    )
    assert window.execute_script(shown_edges) == 2
    assert text_of(window, "least-value") == "90% · 2 of 4 edges"
    window.execute_script("const e = document.getElementById('least'); e.value = 0; e.dispatchEvent(new Event('input'))")
    window.find_element("id", "misses").click()
    assert window.execute_script(shown_edges) == 5
    styles = "return [...document.querySelectorAll('#network .edge .line')].map((e) => getComputedStyle(e).strokeDasharray)"
    solid, *dashed = [[*map(float, numbers(text))] for text in dict.fromkeys(window.execute_script(styles))]
    assert solid == []  # a frequency of 80% or more
    assert len(dashed) == 3  # below 80%, below the threshold, and a near miss
    widths = f"return {EDGES}.slice(0, 4).map((g) => parseFloat(getComputedStyle(g.querySelector('.line')).strokeWidth))"
    drops = [strength.drop_if_removed for strength in result.strengths()]
    order = np.argsort(drops)
    assert np.all(np.diff(np.array(window.execute_script(widths))[order]) >= 0)  # a stronger edge is never thinner


def test_the_drawing_is_exported(shown, tmp_path):
    from PIL import Image

    folder = tmp_path / "downloads"
    network = hostile_network()
    window = shown(known(network))
    window.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
    click_state(window, network.names[1], "no")
    for kind in ("svg", "png"):
        window.find_element("id", f"save-{kind}").click()
        path = folder / f"network.{kind}"
        wait(window, path.exists)
        wait(window, lambda path=path: path.stat().st_size > 0)
    root = ElementTree.parse(folder / "network.svg").getroot()
    tags = {element.tag.partition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "g", "path", "rect", "text", "title"}
    titles = [element.text for element in root.iter() if element.tag.endswith("title")]
    assert len(titles) == len(network.names)
    assert not any(name in element.attrib for element in root.iter() for name in ("style", "class", "data-name"))
    with Image.open(folder / "network.png") as image:
        assert image.size == (round(2 * float(root.get("width"))), round(2 * float(root.get("height"))))
        assert len(image.convert("RGB").getcolors(1 << 24)) > 10  # something is drawn


def test_questions_with_the_keyboard_only(shown):
    from selenium.webdriver import ActionChains, Keys

    network = dn.load("lung-cancer")
    window = shown(known(network))

    def press(*keys):
        ActionChains(window).send_keys(*keys).perform()

    def focus_until(condition):
        for _ in range(40):
            press(Keys.TAB)
            if window.execute_script(f"const e = document.activeElement; return {condition}"):
                outline = window.execute_script(
                    "const e = document.activeElement, s = getComputedStyle(e); "
                    "return s.outlineStyle !== 'none' || e.closest('.node, .edge, label') !== null"
                )
                assert outline  # the focus is visible
                return
        raise AssertionError(condition)

    focus_until("e.dataset.name === 'Smoker'")
    press(Keys.ENTER)
    settled(window)
    assert text_of(window, "variable-name") == "Smoker"
    focus_until("e.classList.contains('bar-row') && e.textContent.startsWith('True')")
    press(Keys.SPACE)
    settled(window)
    assert window.execute_script("return document.activeElement.getAttribute('aria-pressed')") == "true"
    assert window.execute_script("return location.hash").startswith("#observe:Smoker=True")
    focus_until("e.classList.contains('remove')")
    press(Keys.ENTER)
    settled(window)
    assert window.execute_script("return document.activeElement.id") == "variable-name"
    window.execute_script("document.getElementById('mode-observe').focus()")
    press(Keys.ARROW_RIGHT)
    assert window.execute_script("return document.getElementById('mode-do').checked")
    focus_until("e.classList.contains('bar-row')")
    press(Keys.ENTER)
    settled(window)
    assert window.execute_script("return location.hash").startswith("#do:Smoker=")


def test_one_finger_scrolls_and_two_fingers_zoom(shown):
    window = shown(known(random_network(12, 1)))
    view = "const v = document.getElementById('network').viewBox.baseVal; return [v.x, v.y, v.width]"
    try:
        emulate(window, width=360)
        window.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
        window.execute_script("document.getElementById('network').scrollIntoView({ block: 'center' })")
        box = window.execute_script("return document.getElementById('network').getBoundingClientRect().toJSON()")
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        full, top = window.execute_script(view), window.execute_script("return scrollY")

        def touch(kind, *points):
            places = [{"x": a, "y": b, "id": at} for at, (a, b) in enumerate(points)]
            window.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

        touch("touchStart", (x - 30, y), (x + 30, y))
        touch("touchMove", (x - 60, y), (x + 60, y))
        touch("touchMove", (x - 30, y), (x + 90, y))
        touch("touchEnd")
        zoomed = window.execute_script(view)
        assert zoomed[2] == pytest.approx(full[2] / 2, rel=0.05)
        assert window.execute_script("return scrollY") == top
        touch("touchStart", (x, y))
        for step in range(1, 13):
            touch("touchMove", (x, y - 10 * step))
        touch("touchEnd")
        wait(window, lambda: window.execute_script("return scrollY") > top + 60)
        assert window.execute_script(view) == zoomed
    finally:
        window.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
        emulate(window)


CHAIN = "#do:b=yes&observe:c=yes&show:a"


@pytest.mark.parametrize("how", [{}, {"scheme": "dark"}, {"width": 360}, {"media": "print"}], ids=str)
def test_axe_finds_no_problem_with_an_answer(shown, axe, how):
    chain = chain_network()
    window = shown(known(chain), CHAIN)
    settled(window)
    try:
        emulate(window, **how)
        window.execute_script("document.getElementById('table-box').open = true; document.getElementById('explain').click()")
        window.execute_script(HIGHLIGHT, "ancestors")
        wait(window, lambda: window.execute_script("return !document.getElementById('explanation').hidden"))
        violations, passes = find_violations(window, axe)
        width = window.execute_script("return document.documentElement.scrollWidth - innerWidth")
    finally:
        emulate(window)
    assert violations == []
    assert "color-contrast" in passes
    assert width <= 0


def test_the_answer_is_printed_without_controls(shown):
    window = shown(known(dn.load("lung-cancer")), "#observe:Smoker=True&show:Cancer")
    settled(window)
    try:
        emulate(window, "dark", "print", 688)
        displayed = "const e = document.querySelector(arguments[0]); return e.getClientRects().length > 0"
        for selector in ("#bars .bar-row", "#evidence li", "#probability", "#network"):
            assert window.execute_script(displayed, selector), selector
        for selector in (".toolbar", "#mode", "#explain", "#evidence .remove", "#table-box"):
            assert not window.execute_script(displayed, selector), selector
        assert base64.b64decode(window.execute_cdp_cmd("Page.printToPDF", {})["data"]).startswith(b"%PDF")
    finally:
        emulate(window)


def test_hostile_names_stay_text(shown):
    network = hostile_network()
    window = shown(known(network))
    count = "return [document.querySelectorAll('script, img, iframe, b').length, Boolean(window.alerted)]"
    window.execute_script("window.alert = () => { window.alerted = true; }")
    start = window.execute_script(count)
    for name in network.names:
        click_state(window, name, network.states[name][0])
    window.find_element("id", "explain").click()
    wait(window, lambda: window.find_element("id", "explanation").is_displayed())
    window.find_element("id", "search").send_keys("<")
    assert window.execute_script(count) == start == [3, False]
    labels = window.execute_script("return [...document.querySelectorAll('#evidence .name')].map((e) => e.title)")
    assert labels == list(network.names)
    assert window.execute_script("return document.documentElement.scrollWidth <= innerWidth")


def test_the_policy_blocks_scripts_styles_and_addresses(shown):
    window = shown(known(dn.load("lung-cancer")))
    window.execute_script(
        "const script = document.createElement('script'); script.textContent = 'window.ran = true'; "
        "window.p = document.createElement('p'); p.setAttribute('style', 'color: red'); document.body.append(script, p)"
    )
    assert window.execute_script("return [Boolean(window.ran), p.style.color]") == [False, ""]
    reply = window.execute_async_script(
        "const done = arguments[0]; fetch('data:text/plain,x').then(() => done('sent'), () => done('blocked'))"
    )
    assert reply == "blocked"
    assert len(window.get_log("browser")) >= 3  # and this removes the messages
