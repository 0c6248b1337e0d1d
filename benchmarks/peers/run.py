"""Side by side with the peers: every tool on the same rows, one core each, one process each; writes a page and plots.

Use: python benchmarks/peers/run.py [--output FOLDER] [NETWORK...]   all networks by default

Needs pip install 'dagneal[peers]'. The networks come from pgmpy's wheel 0.1.26, which pip fetches. A finished run is a line
in FOLDER/peers.jsonl and is not run again; delete it to begin anew. A tool that is not installed is skipped, by name. The
times and scores of dagneal are also figures of benchmarks/harness.py. `--small` takes one network and dagneal alone.
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
from page import means, page, plot
from tools import LONGEST, TOOLS, harness

import dagneal as dn
from dagneal.networks.bif import parse_bif

HERE = Path(__file__).parent
NETWORKS = ("asia", "sachs", "child", "insurance", "alarm", "hailfinder")
SEEDS = (1, 2, 3)
ROWS = 10_000


def fetched() -> dict[str, dn.BayesianNetwork]:
    """The networks, from pgmpy's wheel."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        words = ["download", "--quiet", "--no-deps", "pgmpy==0.1.26", "--dest", folder]
        subprocess.run([sys.executable, "-m", "pip", *words], check=True, stderr=subprocess.DEVNULL)
        with zipfile.ZipFile(next(Path(folder).glob("pgmpy*.whl"))) as wheel:
            for entry in wheel.namelist():
                name = Path(entry).name.removesuffix(".bif.gz")
                if entry.endswith(".bif.gz") and name in NETWORKS:
                    found[name] = parse_bif(gzip.decompress(wheel.read(entry)).decode(), name)
    return found


def own_process(*words: str) -> subprocess.CompletedProcess[str]:
    """A script of this folder with one thread and no luck in the order of its sets."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    return subprocess.run(
        [sys.executable, "-W", "ignore", *words],
        capture_output=True,
        text=True,
        timeout=LONGEST + 60,
        env=os.environ | threads | {"PYTHONHASHSEED": "0"},
    )


def run(tool: str, rows: Path, seed: int) -> dict[str, Any]:
    """One tool on one file."""
    late = {"late": f"over {LONGEST:.0f} s"}
    try:
        done = own_process(str(HERE / "tools.py"), tool, str(rows), str(seed))
    except subprocess.TimeoutExpired:
        return late
    said = (done.stderr.strip().splitlines() or ["ended without a word"])[-1][:200]
    if done.returncode:
        return {"missing" if done.returncode == 3 else "failed": said}
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return found if found["seconds"] <= LONGEST else late


def judged(found: dict[str, Any], truth: dn.BayesianNetwork, data: dn.Dataset) -> dict[str, Any]:
    """Score and distance of what a tool found, by us."""
    if "edges" not in found:
        return found
    graph = nx.DiGraph()
    graph.add_nodes_from(data.names)
    graph.add_edges_from(map(tuple, found.pop("edges")))
    if not nx.is_directed_acyclic_graph(graph):
        return {"failed": "the graph has a cycle"}
    against = dn.compare(graph, truth.dag)
    figures = {"right": against.right, "wrong": against.wrong, "shd": against.shd, "cpdag": against.cpdag_shd}
    return found | figures | {"score": dn.scoring.Scorer(data, dn.BDeu(1.0)).score(graph)}


def records(folder: Path, networks: list[str], seeds: tuple[int, ...], tools: list[str]) -> Iterator[dict[str, Any]]:
    """All runs, those that are on record first; what was late with one seed is not tried with another.

    What was not installed, or failed, is tried again.
    """
    path = folder / "peers.jsonl"
    known = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = [each for each in known if "score" in each or "late" in each]
    path.write_text("".join(json.dumps(each) + "\n" for each in known))
    done = {(each["tool"], each["network"], each["seed"]) for each in known}
    late = {(each["tool"], each["network"]): each["late"] for each in known if "late" in each}
    yield from known
    truths = fetched()
    with tempfile.TemporaryDirectory() as place, path.open("a") as file:
        for network in networks:
            for seed in seeds:
                rows = Path(place) / f"{network}-{seed}.csv"
                sampled = truths[network].sample(ROWS, seed)
                sampled.frame().sample(fraction=1.0, shuffle=True, seed=seed).write_csv(rows)
                data = dn.read(rows)  # states as observed, for everybody
                for tool in tools:
                    if (tool, network, seed) in done:
                        continue
                    if (tool, network) in late:
                        found = {"late": late[tool, network]}
                    else:
                        found = judged(run(tool, rows, seed), truths[network], data)
                    record = {"tool": tool, "network": network, "seed": seed} | found
                    if "late" in record:
                        late[tool, network] = record["late"]
                    print(json.dumps(record), file=sys.stderr, flush=True)
                    file.write(json.dumps(record) + "\n")
                    file.flush()
                    yield record


def main() -> None:
    """Run all tools, write the page, and store our own figures."""
    folder_option = ("--output", {"default": None, "metavar": "FOLDER", "help": "docs by default"})
    names = ("networks", {"nargs": "*", "metavar": "NETWORK", "help": ", ".join(NETWORKS)})
    options = harness.parse_options(__doc__, folder_option, names)
    if odd := [name for name in options.networks if name not in NETWORKS]:
        raise SystemExit(f"there is no network {odd[0]!r}; give some of {', '.join(NETWORKS)}")
    with harness.Benchmark("peers", options) as bench, tempfile.TemporaryDirectory() as place:
        folder = Path(options.output or (place if bench.small else "docs"))
        folder.mkdir(exist_ok=True)
        networks = options.networks or list(NETWORKS[: 1 if bench.small else None])
        tools = ["dagneal"] if bench.small else list(TOOLS)
        order = {name: number for number, name in enumerate((*NETWORKS, *TOOLS))}
        found = sorted(
            records(folder, networks, SEEDS[: 1 if bench.small else None], tools),
            key=lambda each: (order[each["network"]], order[each["tool"]], each["seed"]),
        )
        if not bench.small:
            rates = own_process(str(HERE / "rates.py"))
            if rates.returncode:
                raise SystemExit(rates.stderr)
            (folder / "peers.md").write_text(page(found, json.loads(rates.stdout.strip().splitlines()[-1])))
            plot(found, folder / "peers.svg")
        for (tool, network), figures in means(found).items():
            if tool == "dagneal" and "seconds" in figures:
                bench.seconds(f"{network}, mean of the seeds", figures["seconds"])
                scores = [repr(each["score"]) for each in found if (each["tool"], each["network"]) == (tool, network)]
                bench.exact(f"{network}, scores", " ".join(scores))


if __name__ == "__main__":
    main()
