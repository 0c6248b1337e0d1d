"""Compare dagneal with other tools on the same rows, one process on one core each; write a page and a plot.

Usage: python benchmarks/peers/run.py [--output FOLDER] [NETWORK...]   all networks by default

Needs pip install 'dagneal[peers]'. The networks come from the wheel of pgmpy 0.1.26, which pip downloads. Each finished run
is a line in FOLDER/peers.jsonl and is not repeated; delete the file to start again. Missing tools are skipped.
benchmarks/harness.py also records the times and scores of dagneal. `--small` runs only dagneal on one network.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
from page import means, page, plot
from tools import TIME_LIMIT, TOOLS, harness

import dagneal as dn

sys.path.append(str(Path(__file__).parent.parent))
from networks import fetch_networks, write_sample

HERE = Path(__file__).parent
# By number of variables: a tool that exceeds the time limit on one network is not run on the networks after it.
NETWORKS = (
    *("asia", "sachs", "child", "insurance", "alarm", "hailfinder"),
    *("hepar2", "win95pts", "munin1", "andes", "diabetes"),
)
SEEDS = (1, 2, 3)
ROWS = 10_000


def run_script(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a script of this folder with one thread and a fixed hash seed."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    return subprocess.run(
        [sys.executable, "-W", "ignore", *words],
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT + 60,
        env=os.environ | threads | {"PYTHONHASHSEED": "0"},
    )


def run(tool: str, rows: Path, seed: int) -> dict[str, Any]:
    """Run one tool on one file and return its record."""
    late = {"late": f"over {TIME_LIMIT:.0f} s"}
    try:
        done = run_script(str(HERE / "tools.py"), tool, str(rows), str(seed), "--cpu")
    except subprocess.TimeoutExpired:
        return late
    message = (done.stderr.strip().splitlines() or ["ended without a message"])[-1][:200]
    if done.returncode:
        return {"missing" if done.returncode == 3 else "failed": message}
    record = json.loads(done.stdout.strip().splitlines()[-1])
    return record if record["seconds"] <= TIME_LIMIT else late


def evaluate(record: dict[str, Any], truth: dn.BayesianNetwork, data: dn.Dataset) -> dict[str, Any]:
    """Replace the edges in a record by their score and their distance to the true network."""
    if "edges" not in record:
        return record
    graph = nx.DiGraph()
    graph.add_nodes_from(data.names)
    graph.add_edges_from(map(tuple, record.pop("edges")))
    if not nx.is_directed_acyclic_graph(graph):
        return {"failed": "the graph has a cycle"}
    comparison = dn.compare(graph, truth.dag)
    figures = {
        "right": comparison.true_positives,
        "wrong": comparison.false_positives,
        "shd": comparison.shd,
        "cpdag": comparison.cpdag_shd,
    }
    return record | figures | {"score": dn.scoring.Scorer(data, dn.BDeu(1.0)).score(graph)}


def records(folder: Path, networks: list[str], seeds: tuple[int, ...], tools: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the records of all runs, stored records first.

    If a tool exceeds the time limit with one seed, it is not run with other seeds and on larger networks. Tools that failed
    or were not installed are run again.
    """
    path = folder / "peers.jsonl"
    stored = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    stored = [record for record in stored if "score" in record or "late" in record]
    path.write_text("".join(json.dumps(record) + "\n" for record in stored))
    done = {(record["tool"], record["network"], record["seed"]) for record in stored}
    late = {record["tool"]: record["late"] for record in reversed(stored) if "late" in record}
    yield from stored
    truths = fetch_networks(networks)
    with tempfile.TemporaryDirectory() as place, path.open("a") as file:
        for network in networks:
            for seed in seeds:
                rows = Path(place) / f"{network}-{seed}.csv"
                data = write_sample(truths[network], ROWS, seed, rows)
                for tool in tools:
                    if (tool, network, seed) in done:
                        continue
                    result = {"late": late[tool]} if tool in late else evaluate(run(tool, rows, seed), truths[network], data)
                    record = {"tool": tool, "network": network, "seed": seed} | result
                    if "late" in record:
                        late.setdefault(tool, f"not run, because {network} took {record['late']}")
                    print(json.dumps(record), file=sys.stderr, flush=True)
                    file.write(json.dumps(record) + "\n")
                    file.flush()
                    yield record


def main() -> None:
    """Run all tools, write the page, and record dagneal's figures."""
    folder_option = ("--output", {"default": None, "metavar": "FOLDER", "help": "docs/results by default"})
    names = ("networks", {"nargs": "*", "metavar": "NETWORK", "help": ", ".join(NETWORKS)})
    options = harness.parse_options(__doc__, folder_option, names)
    if unknown := [name for name in options.networks if name not in NETWORKS]:
        raise SystemExit(f"unknown network {unknown[0]!r}; give some of {', '.join(NETWORKS)}")
    with harness.Benchmark("peers", options) as bench, tempfile.TemporaryDirectory() as place:
        folder = Path(options.output or (place if bench.small else "docs/results"))
        folder.mkdir(exist_ok=True)
        networks = options.networks or list(NETWORKS[: 1 if bench.small else None])
        tools = ["dagneal"] if bench.small else list(TOOLS)
        order = {name: number for number, name in enumerate((*NETWORKS, *TOOLS))}
        all_records = sorted(
            records(folder, networks, SEEDS[: 1 if bench.small else None], tools),
            key=lambda record: (order[record["network"]], order[record["tool"]], record["seed"]),
        )
        if not bench.small:
            rates = run_script(str(HERE / "rates.py"))
            if rates.returncode:
                raise SystemExit(rates.stderr)
            (folder / "peers.md").write_text(page(all_records, json.loads(rates.stdout.strip().splitlines()[-1])))
            plot(all_records, folder / "peers.svg")
        for (tool, network), figures in means(all_records).items():
            if tool == "dagneal" and "seconds" in figures:
                bench.seconds(f"{network}, mean of the seeds", figures["seconds"])
                scores = [repr(r["score"]) for r in all_records if (r["tool"], r["network"]) == (tool, network)]
                bench.exact(f"{network}, scores", " ".join(scores))


if __name__ == "__main__":
    main()
