"""Compare the answers of the HTML page in Chromium with pyAgrum, and measure its size and speed.

    python benchmarks/acceptance/page.py                      # the networks of the bnlearn repository come with pip
    python benchmarks/acceptance/page.py --networks FOLDER    # or from a folder of BIF files

Each question goes through the whole page: the evidence is in the address, the page asks its worker, and the reply of the
worker is recorded. Parts:

- 200 random evidence sets over 10 networks: all marginals and the probability of the evidence against pyAgrum.
- Most probable explanations, against `dagneal.inference.most_probable`, by the probability of the explanation.
- Interventions with and without evidence on random networks, against `dagneal.do`: the range over the equivalence class.
- Evidence with a probability far below the smallest double.
- Time of an update, from the new address until the bars are drawn; size of the page of alarm, and time to open it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Mapping
from math import exp, log
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote

import numpy as np
import pyagrum
from verdict import Verdicts

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

import dagneal as dn
from dagneal.inference import most_probable
from dagneal.report.page import page
from dagneal.result import Learned
from networks import OPTION, fetch_networks
from support.enumeration import random_network

TOLERANCE = 1e-9
SETS = 20  # evidence sets for each network
MOST_EVIDENCE = 6
# Record the replies of the worker, and tell when the page has drawn them.
RECORDER = """
window.replies = [];
const Real = window.Worker;
window.Worker = class extends Real {
  constructor(address) { super(address); this.addEventListener("message", ({ data }) => window.replies.push(data)); }
};
"""
ASK = """
const [fragment, done] = arguments, panel = document.getElementById("panel"), begun = performance.now();
replies.length = 0;
const answered = () => {
  if (panel.getAttribute("aria-busy") !== "false") return;
  observer.disconnect();
  requestAnimationFrame(() => {
    const milliseconds = performance.now() - begun, reply = replies.find((one) => one.kind === "answer");
    const plain = (tables) => tables && tables.map((table) => Array.from(table));
    const range = reply.range && { ...reply.range, low: plain(reply.range.low), high: plain(reply.range.high) };
    done({ ...reply, milliseconds, inside: reply.milliseconds, marginals: plain(reply.marginals), range });
  });
};
const observer = new MutationObserver(answered);
observer.observe(panel, { attributes: true });
if (location.hash === `#${fragment}`) dispatchEvent(new Event("hashchange"));
else location.hash = fragment;
"""
EXPLAIN = """
const done = arguments[0], box = document.getElementById("explanation");
const observer = new MutationObserver(() => {
  if (box.hidden) return;
  observer.disconnect();
  done(replies.findLast((one) => one.kind === "explain"));
});
observer.observe(box, { attributes: true });
document.getElementById("explain").click();
"""


def fragment(network: dn.BayesianNetwork, given: Mapping[str, int], kind: str = "observe") -> list[str]:
    return [f"{kind}:{quote(name, safe='')}={quote(network.states[name][code], safe='')}" for name, code in given.items()]


class Page:
    """Pages of networks in one browser."""

    def __init__(self, folder: Path) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for word in (
            "headless",
            "no-sandbox",
            "disable-gpu",
            "window-size=1300,1000",
            f"user-data-dir={folder / 'profile'}",
        ):
            options.add_argument(f"--{word}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.window = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self.window.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": RECORDER})
        self.window.set_script_timeout(120)
        self.path = folder / "page.html"
        self.messages: list[str] = []

    def open(self, network: dn.BayesianNetwork) -> int:
        """Open the page of a network, and return its size in bytes."""
        self.network = network
        self.path.write_text(
            page(Learned(network.dag, -1.0, 4, "known", fitted=network, score_name="none")), encoding="utf-8"
        )
        self.window.get("about:blank")
        self.window.get(self.path.as_uri())
        return self.path.stat().st_size

    def ask(self, observed: Mapping[str, int], fixed: Mapping[str, int] | None = None) -> dict[str, Any]:
        parts = [*fragment(self.network, observed), *fragment(self.network, fixed or {}, "do")]
        parts.append(f"show:{quote(self.network.names[0], safe='')}")
        reply: dict[str, Any] = self.window.execute_async_script(ASK, "&".join(parts))
        self.window.execute_script("document.getElementById('panel').removeAttribute('aria-busy')")
        return reply

    def explain(self) -> dict[str, Any]:
        reply: dict[str, Any] = self.window.execute_async_script(EXPLAIN)
        return reply

    def close(self) -> None:
        self.messages += [line["message"] for line in self.window.get_log("browser")]
        self.window.quit()


def draw_evidence(network: dn.BayesianNetwork, count: int, seed: int) -> list[dict[str, int]]:
    """Draw evidence of positive probability: some states of sampled rows."""
    generator = np.random.default_rng(seed)
    rows = next(iter(network.sample_codes(count, seed))).T
    most = min(MOST_EVIDENCE, len(network.names) - 1)
    chosen = [generator.permutation(len(network.names))[: generator.integers(0, most + 1)] for _ in range(count)]
    return [{network.names[i]: int(row[i]) for i in which} for row, which in zip(rows, chosen, strict=True)]


def joint_log(network: dn.BayesianNetwork, codes: Mapping[str, int]) -> float:
    """Return the log-probability of a complete assignment."""
    return sum(
        log(network.cpts[name][tuple(codes[parent] for parent in network.parents[name])][codes[name]])
        for name in network.names
    )


def compare_evidence(verdicts: Verdicts, pages: Page, networks: Mapping[str, dn.BayesianNetwork]) -> None:
    """Compare marginals, probabilities of evidence with pyAgrum, and explanations with those of the library."""
    worst = dict.fromkeys(("marginals", "P(evidence), relative", "explanation, log-probability"), 0.0)
    count = 0
    for number, (name, network) in enumerate(networks.items()):
        pages.open(network)
        engine = pyagrum.LazyPropagation(network.to_pyagrum())
        times, inside = [], []
        for given in draw_evidence(network, SETS, number):
            count += 1
            reply = pages.ask(given)
            times.append(reply["milliseconds"])
            inside.append(reply["inside"])
            engine.setEvidence(given)
            engine.makeInference()
            for variable, values in zip(network.names, reply["marginals"], strict=True):
                theirs = engine.posterior(variable).toarray()
                worst["marginals"] = max(worst["marginals"], float(np.abs(np.array(values) - theirs).max()))
            relative = abs(exp(reply["log"]) / (engine.evidenceProbability() if given else 1.0) - 1)
            worst["P(evidence), relative"] = max(worst["P(evidence), relative"], relative)
            best = pages.explain()
            codes = dict(zip(network.names, best["states"], strict=True))
            labels = {variable: network.states[variable][code] for variable, code in given.items()}
            theirs_best = {n: network.states[n].index(label) for n, label in most_probable(network, labels).states.items()}
            difference = max(
                joint_log(network, theirs_best) - joint_log(network, codes), abs(best["log"] - joint_log(network, codes))
            )
            worst["explanation, log-probability"] = max(worst["explanation, log-probability"], difference)
        print(
            f"      {name}: {len(network.names)} variables, update {median(times):.0f} ms (largest {max(times):.0f}), "
            f"of which inference {median(inside):.1f} ms (largest {max(inside):.1f})"
        )
        limit = {"alarm": 100, "win95pts": 500}.get(name)
        if limit is not None:
            verdicts.add(f"update of {name}, largest of {SETS} (ms)", f"{max(times):.0f}", f"< {limit}", max(times) < limit)
    for what, figure in worst.items():
        verdicts.add(
            f"largest difference over {count} evidence sets: {what}", f"{figure:.1e}", f"{TOLERANCE:g}", figure <= TOLERANCE
        )


def compare_effects(verdicts: Verdicts, pages: Page) -> None:
    """Compare the range of interventions over the equivalence class with `dagneal.do`."""
    worst, wide, count = 0.0, 0, 0
    for seed in range(12):
        network = random_network(6, 100 + seed)
        pages.open(network)
        generator = np.random.default_rng(seed)
        for given in draw_evidence(network, 4, seed):
            names = [str(name) for name in generator.permutation(network.names)]
            x, *others = names
            observed = {name: code for name, code in given.items() if name in others[:2]}
            state = int(generator.integers(len(network.states[x])))
            reply = pages.ask(observed, {x: state})
            known = {name: network.states[name][code] for name, code in observed.items()}
            for target in others:
                if target in observed:
                    continue
                effect = dn.do(network, {x: network.states[x][state]}, target, known or None)
                at = network.names.index(target)
                low, high = (
                    (reply["range"][key][at] for key in ("low", "high"))
                    if reply.get("range")
                    else (reply["marginals"][at],) * 2
                )
                worst = max(worst, float(np.abs(effect.low - low).max()), float(np.abs(effect.high - high).max()))
                wide += not effect.identified
                count += 1
    verdicts.add(
        f"largest difference over {count} effects ({wide} are ranges)", f"{worst:.1e}", f"{TOLERANCE:g}", worst <= TOLERANCE
    )


def check_tiny(verdicts: Verdicts, pages: Page) -> None:
    """Observe 400 leaves, each with probability about 1e-5."""
    leaves = [f"leaf {i}" for i in range(400)]
    table = np.array([[1 - 1e-5, 1e-5], [1 - 2e-5, 2e-5]])
    network = dn.BayesianNetwork(
        {"root": ("a", "b")} | dict.fromkeys(leaves, ("no", "yes")),
        {"root": ()} | dict.fromkeys(leaves, ("root",)),
        {"root": np.array([0.5, 0.5])} | dict.fromkeys(leaves, table),
    )
    pages.open(network)
    reply = pages.ask(dict.fromkeys(leaves, 1))
    expected = 400 * log(1e-5) + log(0.5) + log(1 + 2.0**400)
    verdicts.add("log-probability of 400 rare states, relative", f"{abs(reply['log'] / expected - 1):.1e}", "1e-12",
                 abs(reply["log"] / expected - 1) <= 1e-12)  # fmt: skip


def check_refusal(verdicts: Verdicts, pages: Page) -> None:
    """Ask a network with a treewidth that is too large: the answer is a refusal, and enough evidence leads to an answer."""
    size = 24
    names = [f"x{i}" for i in range(size)]
    states = dict.fromkeys(names, ("a", "b"))
    parents: dict[str, tuple[str, ...]] = dict.fromkeys(names, ())
    cpts: dict[str, Any] = {name: np.array([0.5, 0.5]) for name in names}
    for a in range(size):
        for b in range(a):
            name = f"y{a}-{b}"
            states[name], parents[name] = ("a", "b"), (names[a], names[b])
            cpts[name] = np.random.default_rng(a * size + b).dirichlet([1, 1], (2, 2))
    network = dn.BayesianNetwork(states, parents, cpts)
    pages.open(network)
    reply = pages.ask({})
    refused = "refused" in reply and "treewidth 23" in pages.window.find_element("id", "notice").text
    verdicts.add("refusal for treewidth 23 (ms)", f"{reply['milliseconds']:.0f}", "refused", refused)
    reply = pages.ask(dict.fromkeys(names[:6], 0))
    text = "answer after 6 states are known: treewidth 17 (ms)"
    verdicts.add(text, f"{reply['milliseconds']:.0f}", "answered", "marginals" in reply)


def check_page(verdicts: Verdicts, pages: Page, network: dn.BayesianNetwork) -> None:
    """Learn alarm with a bootstrap, and measure the size of the page and the time to open it."""
    data = network.sample(5_000, 1)
    result = dn.learn(data, time_limit=30)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "alarm.html"
        result.save(path, truth=network, title="alarm.csv")
        size = path.stat().st_size
        times = []
        for _ in range(3):
            pages.window.get("about:blank")
            pages.window.get(path.as_uri())
            times.append(
                pages.window.execute_script(
                    "const [n] = performance.getEntriesByType('navigation'); return n.loadEventEnd - n.startTime"
                )
            )
    verdicts.add("page of alarm with a comparison (kB)", f"{size / 1000:.0f}", "< 2000", size < 2e6)
    verdicts.add("time to open it, median of 3 (ms)", f"{median(times):.0f}", "< 1000", median(times) < 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(OPTION[0], **OPTION[1])
    known = fetch_networks(["alarm", "win95pts"], parser.parse_args().networks)
    networks = {name: dn.load(name) for name in ("lung-cancer", "waste-2p-dep", "alarm-15")}
    networks |= {f"random {seed}": random_network(8 + 4 * seed, seed, most_states=4) for seed in range(4)}
    networks |= {"random with zeros": random_network(10, 7, zeros=True)} | known
    verdicts = Verdicts()
    with tempfile.TemporaryDirectory() as folder:
        pages = Page(Path(folder))
        try:
            compare_evidence(verdicts, pages, networks)
            compare_effects(verdicts, pages)
            check_tiny(verdicts, pages)
            check_refusal(verdicts, pages)
            check_page(verdicts, pages, known["alarm"])
        finally:
            pages.close()
    verdicts.add("messages on the console", len(pages.messages), "0", not pages.messages)
    for message in pages.messages[:5]:
        print(message)
    verdicts.exit()


if __name__ == "__main__":
    main()
