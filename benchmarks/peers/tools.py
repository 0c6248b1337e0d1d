"""Run one tool on one file, in a separate process on one core: python tools.py TOOL ROWS.csv SEED [--cpu]

Prints one JSON object: the learned edges, the seconds of the search (without imports and reading) and the peak memory. If
the tool is not installed, the process prints its name and exits with status 3. `--cpu` measures CPU time instead of wall
time, for a machine that does other work at the same time; it does not work for tools in R.
"""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parent.parent))
import harness

TIME_LIMIT = 150.0  # seconds per search
Edges = list[tuple[str, str]]
TOOLS: dict[str, Callable[[str, int], tuple[Edges, float]]] = {}
R_TOOLS = ("R bnlearn climb, 10 restarts", "R bnlearn tabu", "BLIP")


def tool(name: str) -> Callable[[Callable[[str, int], tuple[Edges, float]]], Any]:
    """Return a decorator that registers a learner under a name."""

    def register(function: Callable[[str, int], tuple[Edges, float]]) -> Any:
        TOOLS[name] = function
        return function

    return register


def read_frame(path: str) -> Any:
    import pandas

    return pandas.read_csv(path, dtype=str, keep_default_na=False).astype("category")  # "None" is a state


@tool("dagneal")
def dagneal(path: str, seed: int) -> tuple[Edges, float]:
    import dagneal as dn

    data = dn.read(path)
    score = dn.BDeu(1.0)
    dn.learn(dn.load("alarm-15").sample(200, 1), dn.Auto(), score=score, max_parents=None)  # compiles the kernels
    dn.learn(data, dn.Auto(), score=score, max_parents=1)
    start = time.perf_counter()
    result = dn.learn(data, dn.Auto(), score=score, max_parents=None, seed=seed)
    return result.edges, time.perf_counter() - start


@tool("dwave-samplers SA alone")
def sa_alone(path: str, seed: int) -> tuple[Edges, float]:
    """Sample the QUBO of the global problem (at most two parents) by simulated annealing; return the best valid read."""
    from dwave.samplers import SimulatedAnnealingSampler

    import dagneal as dn

    data = dn.read(path)
    score, sampler = dn.BDeu(1.0), SimulatedAnnealingSampler()
    small = dn.scoring.score_table(dn.load("lung-cancer").expected_data(100), score, 2)
    dn.solvers.anneal(small, sampler, encoding=dn.TIGHT, num_reads=1)  # compiles the kernels
    start = time.perf_counter()
    table = dn.scoring.score_table(data, score, 2)
    solution = dn.solvers.anneal(table, sampler, repair=False, encoding=dn.TIGHT, num_reads=200, seed=seed)
    if isnan(solution.score):
        raise SystemExit("no read is a valid network")
    return solution.edges, time.perf_counter() - start


@tool("pybnesian climb")
def pybnesian_climb(path: str, seed: int) -> tuple[Edges, float]:
    import pybnesian

    rows = read_frame(path)
    start = time.perf_counter()
    score = pybnesian.BDe(rows, iss=1.0)
    empty = pybnesian.DiscreteBN(list(rows.columns))
    model = pybnesian.GreedyHillClimbing().estimate(pybnesian.ArcOperatorSet(), score, empty)
    return [tuple(arc) for arc in model.arcs()], time.perf_counter() - start


def _pyagrum(path: str, algorithm: str) -> tuple[Edges, float]:
    import pyagrum

    learner = pyagrum.BNLearner(read_frame(path))  # contains the coded data
    start = time.perf_counter()
    learner.setNumberOfThreads(1)
    learner.useScoreBDeu()
    getattr(learner, algorithm)(*([100, 2] if algorithm == "useLocalSearchWithTabuList" else []))
    dag = learner.learnDAG()
    seconds = time.perf_counter() - start
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

    rows = read_frame(path)
    start = time.perf_counter()
    score = BDeu(rows, equivalent_sample_size=1)
    dag = HillClimbSearch(score, return_type="dag", show_progress=False).fit(rows).causal_graph_
    return list(dag.edges()), time.perf_counter() - start


@tool("pgmpy GES")
def pgmpy_ges(path: str, seed: int) -> tuple[Edges, float]:
    from pgmpy.causal_discovery import GES
    from pgmpy.structure_score import BDeu

    rows = read_frame(path)
    start = time.perf_counter()
    score = BDeu(rows, equivalent_sample_size=1)
    cpdag = GES(score).fit(rows).causal_graph_
    seconds = time.perf_counter() - start
    names = list(rows.columns)
    edges = {(names.index(a), names.index(b)) for a, b in cpdag.edges()}
    matrix = np.zeros((len(names), len(names)))
    for a, b in edges:  # a reversible edge occurs in both directions
        matrix[a, b], matrix[b, a] = -1, -1 if (b, a) in edges else 1
    return extend_to_dag(names, matrix), seconds


@tool("causal-learn GES")
def causallearn_ges(path: str, seed: int) -> tuple[Edges, float]:
    from causallearn.search.ScoreBased.GES import ges

    rows = read_frame(path)
    codes = rows.apply(lambda column: column.cat.codes).to_numpy()
    start = time.perf_counter()
    result = ges(codes, score_func="local_score_BDeu", parameters=None)
    seconds = time.perf_counter() - start
    return extend_to_dag(list(rows.columns), result["G"].graph), seconds


@tool("causal-learn PC")
def causallearn_pc(path: str, seed: int) -> tuple[Edges, float]:
    from causallearn.search.ConstraintBased.PC import pc

    rows = read_frame(path)
    codes = rows.apply(lambda column: column.cat.codes).to_numpy()
    start = time.perf_counter()
    result = pc(codes, alpha=0.01, indep_test="chisq", show_progress=False)
    seconds = time.perf_counter() - start
    return extend_to_dag(list(rows.columns), result.G.graph), seconds


@tool("tabu as bnlearn documents it")
def documented_tabu(path: str, seed: int) -> tuple[Edges, float]:
    from tabu import tabu_search

    import dagneal as dn

    data = dn.read(path)
    dn.scoring.score_table(data, dn.BDeu(1.0), 1)  # compiles the kernels
    start = time.perf_counter()
    dag = tabu_search(data, 100)
    return list(dag.edges), time.perf_counter() - start


def _run_r(name: str, path: str, seed: int) -> tuple[Edges, float]:
    if shutil.which("Rscript") is None:
        raise ImportError("Rscript is not on the path")
    words = ["Rscript", str(Path(__file__).with_name("tools.R")), name, path, str(seed)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=TIME_LIMIT)
    if done.returncode == 3:
        raise ImportError(done.stderr.strip())
    if done.returncode:
        raise SystemExit(done.stderr.strip())
    *edges, seconds = done.stdout.strip().splitlines()
    return [(a, b) for a, b in (edge.split("\t") for edge in edges if edge)], float(seconds)


for _name in R_TOOLS:
    tool(_name)(partial(_run_r, _name))


def extend_to_dag(names: list[str], matrix: Any) -> Edges:
    """Extend a CPDAG to a DAG with the algorithm of Dor and Tarsi.

    If there is no extension, direct each reversible edge by the order of the columns unless that makes a cycle, and break
    the remaining cycles.

    Args:
        names: names of the variables.
        matrix: the CPDAG. An edge from i to j is -1 at [i, j] and 1 at [j, i]; a reversible edge is -1 at both.
    """
    import networkx as nx

    n = len(names)
    arcs = {(i, j) for i in range(n) for j in range(n) if matrix[i, j] == -1 and matrix[j, i] == 1}
    reversible = {(i, j) for i in range(n) for j in range(n) if matrix[i, j] == -1 and matrix[j, i] == -1}
    dag, left = set(arcs), set(range(n))
    into, loose = set(arcs), set(reversible)
    while left:
        for sink in sorted(left):
            if any(a == sink for a, _ in into):
                continue
            neighbours = {a for a, b in loose if b == sink}
            adjacent = neighbours | {a for a, b in into if b == sink}
            if all(((x, y) in into or (y, x) in into or (x, y) in loose) for x in neighbours for y in adjacent if x != y):
                dag |= {(a, sink) for a in neighbours}
                break
        else:
            graph = nx.DiGraph(dag)
            for a, b in sorted(loose):
                if a < b and (a, b) not in dag and (b, a) not in dag:
                    backward = graph.has_node(a) and graph.has_node(b) and nx.has_path(graph, b, a)
                    graph.add_edge(*((b, a) if backward else (a, b)))
            while True:  # a valid CPDAG has no directed cycle; remove edges until none is left
                try:
                    graph.remove_edge(*nx.find_cycle(graph)[-1])
                except nx.NetworkXNoCycle:
                    return [(names[a], names[b]) for a, b in graph.edges]
        left.remove(sink)
        into = {(a, b) for a, b in into if sink not in (a, b)}
        loose = {(a, b) for a, b in loose if sink not in (a, b)}
    return [(names[a], names[b]) for a, b in sorted(dag)]


def main(name: str, path: str, seed: int) -> None:
    harness.use_one_core()
    try:
        edges, seconds = TOOLS[name](path, seed)
    except ImportError as error:
        print(f"{name}: {error}", file=sys.stderr)
        raise SystemExit(3) from error
    memory = harness.peak_memory(children=name in R_TOOLS)
    print("\n" + json.dumps({"edges": [list(edge) for edge in edges], "seconds": seconds, "memory": memory}))


if __name__ == "__main__":
    if sys.argv[4:] == ["--cpu"]:
        time.perf_counter = time.process_time
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
