"""The table of docs/others.md: pgmpy's and pyAgrum's score-based searches and ours, on the same rows, on one core.

PYTHONHASHSEED=0 taskset -c 0 python benchmarks/others.py FOLDER [SEEDS]     FOLDER has .bif.gz files, as pgmpy's wheel does
"""

import gzip
import os
import sys
import time
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd

import dagneal as dn
from dagneal.bif import parse_bif

NETWORKS = ("asia", "sachs", "child", "insurance", "alarm")


def ours(data: dn.Dataset, frame: pd.DataFrame) -> nx.DiGraph:
    return dn.learn(data).dag


def agrum(data: dn.Dataset, frame: pd.DataFrame) -> nx.DiGraph:
    import pyagrum

    learner = pyagrum.BNLearner(frame)
    learner.setNumberOfThreads(1)
    learner.useScoreBDeu()
    learner.useLocalSearchWithTabuList(100)
    found = learner.learnDAG()
    names = [learner.names()[node] for node in range(len(frame.columns))]
    graph = nx.DiGraph()
    graph.add_nodes_from(frame.columns)
    graph.add_edges_from((names[a], names[b]) for a, b in found.arcs())
    return graph


def pgm(data: dn.Dataset, frame: pd.DataFrame) -> nx.DiGraph:
    from pgmpy.causal_discovery import HillClimbSearch
    from pgmpy.structure_score import BDeu

    score = BDeu(frame, equivalent_sample_size=1)
    found = HillClimbSearch(score, return_type="dag", show_progress=False).fit(frame).causal_graph_
    graph = nx.DiGraph()
    graph.add_nodes_from(frame.columns)
    graph.add_edges_from(found.edges)
    return graph


TOOLS = (ours, agrum, pgm)


def rows(truth: dn.BayesianNetwork, seed: int) -> pd.DataFrame:
    codes = np.concatenate(list(truth.sample_codes(10_000, seed)), axis=1)
    columns = [np.array(truth.states[name])[line] for name, line in zip(truth.names, codes, strict=True)]
    return pd.DataFrame(dict(zip(truth.names, columns, strict=True)), dtype="category")


def main(folder: Path, seeds: int) -> None:
    """Means over the seeds; below: nats below the best of the three on the same rows."""
    warnings.simplefilter("ignore")
    print("| network | tool | s | below | CPDAG distance |\n|---|---|---|---|---|", flush=True)
    for name in NETWORKS:
        truth = parse_bif(gzip.decompress((folder / f"{name}.bif.gz").read_bytes()).decode(), name)
        found: dict[str, list[tuple[float, float, float]]] = {tool.__name__: [] for tool in TOOLS}
        for seed in range(seeds + 1):
            frame = rows(truth, seed)
            data = dn.read(frame)
            scorer = dn.Scorer(data)
            for tool in TOOLS:
                begun = time.perf_counter()
                graph = tool(data, frame)
                spent = time.perf_counter() - begun
                if seed:  # the first is for imports and compilation
                    figures = (spent, scorer.score(graph), float(dn.compare(graph, truth.dag).cpdag_shd))
                    found[tool.__name__].append(figures)
        best = np.max([np.array(each)[:, 1] for each in found.values()], axis=0)
        for tool, each in found.items():
            spent, score, distance = np.array(each).T
            print(
                f"| {name} | {tool} | {spent.mean():.2f} | {(best - score).mean():.1f} | {distance.mean():.1f} |", flush=True
            )


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3)
