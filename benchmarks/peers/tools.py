"""One tool on one file, in a process of its own on one core: python tools.py TOOL ROWS.csv SEED

Prints one JSON object: the edges that were found, the seconds of the search (without imports and reading), the peak memory.
A tool that is not installed ends with status 3 and its name.
"""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parent.parent))
import harness

LONGEST = 300.0  # seconds of a search
Edges = list[tuple[str, str]]
TOOLS: dict[str, Callable[[str, int], tuple[Edges, float]]] = {}
IN_R = ("R bnlearn climb, 10 restarts", "R bnlearn tabu", "BLIP")


def tool(name: str) -> Callable[[Callable[[str, int], tuple[Edges, float]]], Any]:
    def keep(function: Callable[[str, int], tuple[Edges, float]]) -> Any:
        TOOLS[name] = function
        return function

    return keep


def frame(path: str) -> Any:
    import pandas

    return pandas.read_csv(path, dtype=str, keep_default_na=False).astype("category")  # "None" is a state


@tool("dagneal")
def dagneal(path: str, seed: int) -> tuple[Edges, float]:
    import dagneal as dn

    data = dn.read(path)
    score = dn.BDeu(1.0)
    dn.learn(dn.load("alarm-15").sample(200, 1), dn.Auto(), score=score, max_parents=4)  # compiled before
    dn.learn(data, dn.Auto(), score=score, max_parents=1)
    begun = time.perf_counter()
    found = dn.learn(data, dn.Auto(), score=score, max_parents=min(4, len(data.names) - 1), seed=seed)
    return found.edges, time.perf_counter() - begun


@tool("dwave-samplers SA alone")
def sa_alone(path: str, seed: int) -> tuple[Edges, float]:
    """Simulated annealing on the QUBO of the whole, at most two parents, the best read that is a network as it stands."""
    from dwave.samplers import SimulatedAnnealingSampler

    import dagneal as dn

    data = dn.read(path)
    score, sampler = dn.BDeu(1.0), SimulatedAnnealingSampler()
    small = dn.scoring.score_table(dn.load("lung-cancer").expected(100), score, 2)
    dn.solvers.anneal(small, sampler, encoding=dn.TIGHT, num_reads=1)  # compiled before
    begun = time.perf_counter()
    table = dn.scoring.score_table(data, score, 2)
    found = dn.solvers.anneal(table, sampler, repair=False, encoding=dn.TIGHT, num_reads=200, seed=seed)
    if found.score != found.score:
        raise SystemExit("no read is a network")
    return found.edges, time.perf_counter() - begun


@tool("pybnesian climb")
def pybnesian_climb(path: str, seed: int) -> tuple[Edges, float]:
    import pybnesian

    rows = frame(path)
    begun = time.perf_counter()
    score = pybnesian.BDe(rows, iss=1.0)
    start = pybnesian.DiscreteBN(list(rows.columns))
    found = pybnesian.GreedyHillClimbing().estimate(pybnesian.ArcOperatorSet(), score, start)
    return [tuple(arc) for arc in found.arcs()], time.perf_counter() - begun


def _pyagrum(path: str, algorithm: str) -> tuple[Edges, float]:
    import pyagrum

    rows = frame(path)
    begun = time.perf_counter()
    learner = pyagrum.BNLearner(rows)
    learner.setNumberOfThreads(1)
    learner.useScoreBDeu()
    getattr(learner, algorithm)(*([100, 2] if algorithm == "useLocalSearchWithTabuList" else []))
    dag = learner.learnDAG()
    seconds = time.perf_counter() - begun
    names = learner.names()
    return [(names[a], names[b]) for a, b in dag.arcs()], seconds


@tool("pyAgrum climb")
def pyagrum_climb(path: str, seed: int) -> tuple[Edges, float]:
    return _pyagrum(path, "useGreedyHillClimbing")


@tool("pyAgrum tabu")
def pyagrum_tabu(path: str, seed: int) -> tuple[Edges, float]:
    return _pyagrum(path, "useLocalSearchWithTabuList")


@tool("pgmpy climb")
def pgmpy_climb(path: str, seed: int) -> tuple[Edges, float]:
    from pgmpy.causal_discovery import HillClimbSearch
    from pgmpy.structure_score import BDeu

    rows = frame(path)
    begun = time.perf_counter()
    score = BDeu(rows, equivalent_sample_size=1)
    found = HillClimbSearch(score, return_type="dag", show_progress=False).fit(rows).causal_graph_
    return list(found.edges()), time.perf_counter() - begun


@tool("pgmpy GES")
def pgmpy_ges(path: str, seed: int) -> tuple[Edges, float]:
    from pgmpy.causal_discovery import GES
    from pgmpy.structure_score import BDeu

    rows = frame(path)
    begun = time.perf_counter()
    score = BDeu(rows, equivalent_sample_size=1)
    found = GES(score).fit(rows).causal_graph_
    seconds = time.perf_counter() - begun
    names = list(rows.columns)
    edges = {(names.index(a), names.index(b)) for a, b in found.edges()}
    matrix = np.zeros((len(names), len(names)))
    for a, b in edges:  # an open edge is there both ways
        matrix[a, b], matrix[b, a] = -1, -1 if (b, a) in edges else 1
    return directed(names, matrix), seconds


@tool("causal-learn GES")
def causallearn_ges(path: str, seed: int) -> tuple[Edges, float]:
    from causallearn.search.ScoreBased.GES import ges

    rows = frame(path)
    codes = rows.apply(lambda column: column.cat.codes).to_numpy()
    begun = time.perf_counter()
    found = ges(codes, score_func="local_score_BDeu", parameters=None)
    seconds = time.perf_counter() - begun
    return directed(list(rows.columns), found["G"].graph), seconds


@tool("causal-learn PC")
def causallearn_pc(path: str, seed: int) -> tuple[Edges, float]:
    from causallearn.search.ConstraintBased.PC import pc

    rows = frame(path)
    codes = rows.apply(lambda column: column.cat.codes).to_numpy()
    begun = time.perf_counter()
    found = pc(codes, alpha=0.01, indep_test="chisq", show_progress=False)
    seconds = time.perf_counter() - begun
    return directed(list(rows.columns), found.G.graph), seconds


@tool("tabu as bnlearn documents it")
def documented_tabu(path: str, seed: int) -> tuple[Edges, float]:
    from tabu import tabu_search

    import dagneal as dn

    data = dn.read(path)
    dn.scoring.score_table(data, dn.BDeu(1.0), 1)  # compiled before
    begun = time.perf_counter()
    found = tabu_search(data, 100)
    return list(found.edges), time.perf_counter() - begun


def _r(name: str, path: str, seed: int) -> tuple[Edges, float]:
    if shutil.which("Rscript") is None:
        raise ImportError("Rscript is not on the path")
    words = ["Rscript", str(Path(__file__).with_name("tools.R")), name, path, str(seed)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST)
    if done.returncode == 3:
        raise ImportError(done.stderr.strip())
    if done.returncode:
        raise SystemExit(done.stderr.strip())
    *edges, seconds = done.stdout.strip().splitlines()
    return [(a, b) for a, b in (edge.split("\t") for edge in edges if edge)], float(seconds)


for _name in IN_R:
    tool(_name)(partial(_r, _name))


def directed(names: list[str], matrix: Any) -> Edges:
    """A DAG of the class that a matrix describes: an edge from i to j is -1 at [i, j] and 1 at [j, i], an open one -1 twice.

    Dor and Tarsi's extension; where there is none, open edges lead the way of the columns that makes no cycle.
    """
    import networkx as nx

    n = len(names)
    arcs = {(i, j) for i in range(n) for j in range(n) if matrix[i, j] == -1 and matrix[j, i] == 1}
    lines = {(i, j) for i in range(n) for j in range(n) if matrix[i, j] == -1 and matrix[j, i] == -1}
    found, left = set(arcs), set(range(n))
    into, loose = set(arcs), set(lines)
    while left:
        for sink in sorted(left):
            if any(a == sink for a, _ in into):
                continue
            near = {a for a, b in loose if b == sink}
            joined = near | {a for a, b in into if b == sink}
            if all(((x, y) in into or (y, x) in into or (x, y) in loose) for x in near for y in joined if x != y):
                found |= {(a, sink) for a in near}
                break
        else:
            graph = nx.DiGraph(found)
            for a, b in sorted(loose):
                if a < b and (a, b) not in found and (b, a) not in found:
                    turned = graph.has_node(a) and graph.has_node(b) and nx.has_path(graph, b, a)
                    graph.add_edge(*((b, a) if turned else (a, b)))
            while True:  # a class with a cycle is no class; its edges are dropped until there is none
                try:
                    graph.remove_edge(*nx.find_cycle(graph)[-1])
                except nx.NetworkXNoCycle:
                    return [(names[a], names[b]) for a, b in graph.edges]
        left.remove(sink)
        into = {(a, b) for a, b in into if sink not in (a, b)}
        loose = {(a, b) for a, b in loose if sink not in (a, b)}
    return [(names[a], names[b]) for a, b in sorted(found)]


def main(name: str, path: str, seed: int) -> None:
    harness.use_one_core()
    try:
        edges, seconds = TOOLS[name](path, seed)
    except ImportError as error:
        print(f"{name}: {error}", file=sys.stderr)
        raise SystemExit(3) from error
    memory = harness.peak_memory(children=name in IN_R)
    print("\n" + json.dumps({"edges": [list(edge) for edge in edges], "seconds": seconds, "memory": memory}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
