"""Side by side with the peers: every tool on the same rows, one core each, one process each; writes a page and plots.

Use: python run.py [-o FOLDER] [NETWORK...]   by default all of asia, sachs, child, insurance, alarm and hailfinder

Needs pip install 'dagneal[peers]'. The networks come from pgmpy's wheel 0.1.26, which pip fetches. A finished run is a line
in FOLDER/peers.jsonl and is not run again. A tool that is not installed is skipped, by name.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import dagneal as dn
from dagneal.bif import parse_bif

HERE = Path(__file__).parent
NETWORKS = ("asia", "sachs", "child", "insurance", "alarm", "hailfinder")
SEEDS = (1, 2, 3)
ROWS = 10_000
LONGEST = 300.0  # seconds of a search
SMALLER = NETWORKS[:5]


def fetched(folder: Path) -> dict[str, dn.BayesianNetwork]:
    """The networks, from pgmpy's wheel."""
    words = ["download", "--quiet", "--no-deps", "pgmpy==0.1.26", "--dest", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True, stderr=subprocess.DEVNULL)
    found = {}
    with zipfile.ZipFile(next(folder.glob("pgmpy*.whl"))) as wheel:
        for entry in wheel.namelist():
            name = Path(entry).name.removesuffix(".bif.gz")
            if entry.endswith(".bif.gz") and name in NETWORKS:
                found[name] = parse_bif(gzip.decompress(wheel.read(entry)).decode(), name)
    return found


def tools() -> list[str]:
    sys.path.insert(0, str(HERE))
    from tools import TOOLS

    return list(TOOLS)


def run(tool: str, rows: Path, seed: int) -> dict[str, Any]:
    """One tool on one file."""
    words = [sys.executable, "-W", "ignore", str(HERE / "tools.py"), tool, str(rows), str(seed)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=LONGEST + 60, env=os.environ | threads | {"PYTHONHASHSEED": "0"}
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"over {LONGEST:.0f} s"}
    if done.returncode == 3:
        return {"missing": done.stderr.strip().splitlines()[-1]}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["?"])[-1][:200]}
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return found if found["seconds"] <= LONGEST else {"failed": f"over {LONGEST:.0f} s"}


def judged(found: dict[str, Any], truth: dn.BayesianNetwork, data: dn.Dataset) -> dict[str, Any]:
    """Score and distance of what a tool found, by us."""
    import networkx as nx

    if "edges" not in found:
        return found
    graph = nx.DiGraph()
    graph.add_nodes_from(data.names)
    graph.add_edges_from(map(tuple, found.pop("edges")))
    if not nx.is_directed_acyclic_graph(graph):
        return {"failed": "the graph has a cycle"}
    against = dn.compare(graph, truth.dag)
    figures = {"right": against.right, "wrong": against.wrong, "shd": against.shd, "cpdag": against.cpdag_shd}
    return found | figures | {"score": dn.Scorer(data).score(graph)}


def records(folder: Path, networks: list[str]) -> Iterator[dict[str, Any]]:
    """All runs, those that are on record first."""
    path = folder / "peers.jsonl"
    known = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(each["tool"], each["network"], each["seed"]) for each in known}
    yield from known
    with tempfile.TemporaryDirectory() as place, path.open("a") as file:
        truths = fetched(Path(place))
        for network in networks:
            for seed in SEEDS:
                rows = Path(place) / f"{network}-{seed}.csv"
                sampled = truths[network].sample(ROWS, seed)
                sampled.frame().sample(fraction=1.0, shuffle=True, seed=seed).write_csv(rows)
                data = dn.read(rows)  # states as observed, for everybody
                for tool in tools():
                    if (tool, network, seed) in done:
                        continue
                    found = judged(run(tool, rows, seed), truths[network], data)
                    record = {"tool": tool, "network": network, "seed": seed} | found
                    print(json.dumps(record), file=sys.stderr, flush=True)
                    file.write(json.dumps(record) + "\n")
                    file.flush()
                    yield record


def local_scores() -> list[str]:
    """Local scores per second, on one core, of those that offer them."""
    truth = dn.load("waste")
    million = truth.sample(10**6, 1)
    with tempfile.TemporaryDirectory() as place:
        alarm = fetched(Path(place))["alarm"].sample(ROWS, 1)
    lines = ["| | all sets of at most 2 parents on alarm, 10,000 rows | all sets of at most 3 on 9 variables x 10^6 rows |"]
    lines.append("|---|---|---|")
    with dn.limits(jobs=1):
        cells = []
        for data, parents in ((alarm, 2), (million, 3)):
            dn.Scorer(data).table(parents)
            begun = time.perf_counter()
            table = dn.Scorer(data).table(parents)
            seconds = time.perf_counter() - begun
            cells.append(f"{len(table.scores):,} in {seconds:.3f} s: {len(table.scores) / seconds:,.0f} a second")
    lines.append(f"| dagneal | {cells[0]} | {cells[1]} |")
    try:
        import pybnesian
    except ImportError:
        return [*lines, "| pybnesian | not installed | |"]
    rows = alarm.frame().to_pandas()
    score = pybnesian.BDe(rows, iss=1.0)
    model = pybnesian.DiscreteBN(list(rows.columns))
    asked = [
        (c, list(p)) for c in rows.columns for k in range(3) for p in combinations([v for v in rows.columns if v != c], k)
    ]
    some = [asked[i] for i in np.random.default_rng(0).permutation(len(asked))[:3000]]
    begun = time.perf_counter()
    for child, parents in some:
        score.local_score(model, child, parents)
    rate = len(some) / (time.perf_counter() - begun)
    return [*lines, f"| pybnesian | {rate:,.0f} a second, of {len(some):,} drawn at random | |"]


def page(found: list[dict[str, Any]], more: list[str]) -> str:
    """The page, as Markdown."""
    networks = [name for name in NETWORKS if any(each["network"] == name for each in found)]
    best = {}
    for each in found:
        if "score" in each:
            key = each["network"], each["seed"]
            best[key] = max(best.get(key, -np.inf), each["score"])
    lines = ["# Side by side", "", _INTRODUCTION.strip(), ""]
    lines += ["| | " + " | ".join(networks) + " |", "|---|" + "---|" * len(networks)]
    for tool in dict.fromkeys(each["tool"] for each in found):
        cells = []
        for network in networks:
            own = [each for each in found if each["tool"] == tool and each["network"] == network]
            fine = [each for each in own if "score" in each]
            if not fine:
                why = next((each.get("failed") or "not installed" for each in own), "")
                cells.append(why)
                continue
            below = mean(best[network, each["seed"]] - each["score"] for each in fine)
            figures = [mean(each[name] for each in fine) for name in ("seconds", "memory", "right", "wrong", "shd", "cpdag")]
            seconds, memory, right, wrong, shd, cpdag = figures
            part = "" if len(fine) == len(own) else f" ({len(fine)} of {len(own)})"
            cells.append(
                f"{seconds:.2f} s, {memory:.2f} GB; {below:.1f}; {right:.0f}/{wrong:.0f}, {shd:.0f}, {cpdag:.1f}{part}"
            )
        lines.append(f"| {tool} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", "![Score and time](peers.svg)", "", "## Local scores", "", *more, ""])


_INTRODUCTION = """
Every tool on the same 10,000 rows of each network, seeds 1 to 3, means; one core and one process each, BDeu with an
equivalent sample size of 1 and the states that occur, no other limits than the tool's own defaults (dagneal: at most four
parents; SA alone: two). In each cell: seconds of the search without imports and reading, peak memory of the whole process;
**nats below the best score that any tool found on the same rows**; edges right/wrong, SHD, distance between equivalence
classes. All graphs are scored by dagneal; equivalence classes are extended to a DAG first. `make peers`.
"""


def plot(found: list[dict[str, Any]], path: Path) -> None:
    """Nats below the best against seconds, a panel for each network."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "dagneal"
    networks = [name for name in NETWORKS if any(each["network"] == name and "score" in each for each in found)]
    figure, panels = pyplot.subplots(2, -(-len(networks) // 2), figsize=(12, 7), squeeze=False)
    names = list(dict.fromkeys(each["tool"] for each in found))
    for panel, network in zip(panels.flat, networks, strict=False):
        own = [each for each in found if each["network"] == network and "score" in each]
        best = {s: max(each["score"] for each in own if each["seed"] == s) for s in {each["seed"] for each in own}}
        for number, tool in enumerate(names):
            points = [(each["seconds"], best[each["seed"]] - each["score"] + 0.1) for each in own if each["tool"] == tool]
            if points:
                panel.scatter(*zip(*points, strict=True), label=tool, marker="osD^v<>Px*"[number % 10])
        panel.set(title=network, xscale="log", yscale="log", xlabel="seconds", ylabel="nats below the best + 0.1")
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=5)
    figure.tight_layout(rect=(0, 0.09, 1, 1))
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", "--output", default="docs")
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    options = parser.parse_args()
    folder = Path(options.output)
    found = list(records(folder, list(options.networks)))
    more = local_scores()
    (folder / "peers.md").write_text(page(found, more))
    plot(found, folder / "peers.svg")


if __name__ == "__main__":
    main()
