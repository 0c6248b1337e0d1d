"""The kinds of runs that the paper's tables are made of; each returns what came of it as plain values.

A result holds nothing that another run could change: it depends on its inputs alone. Times are kept apart from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from time import perf_counter
from typing import Any

import networkx as nx
import numpy as np

from dagneal.base.errors import InputError
from dagneal.base.kernels import Ints
from dagneal.data.dataset import Dataset
from dagneal.divide.division import divide
from dagneal.divide.subproblem_solvers import AnnealedSubproblems, ExactSubproblems, derive_seed, taken
from dagneal.divide.subproblems import choose_subproblems, count_votes
from dagneal.learning import learn
from dagneal.networks.network import BayesianNetwork
from dagneal.paper.annealers import annealer
from dagneal.paper.bundled import load
from dagneal.qubo.decode import decode
from dagneal.qubo.encode import PAPER, encode, qubo_vector, result_value
from dagneal.result import Learned
from dagneal.scoring.orders import dag_of_order, random_orders, score_orders
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.scores import score_named
from dagneal.scoring.table import ScoreTable
from dagneal.solvers.annealing import equal_scores
from dagneal.solvers.exact import exact
from dagneal.solvers.exhaustive import exhaustive

Plain = dict[str, Any]


@dataclass
class Outcome:
    """What came of a run.

    Attributes:
        result: as plain values.
        seconds: what it took, by stage.
    """

    result: Plain
    seconds: dict[str, float] = field(default_factory=dict)


def dataset(network: BayesianNetwork, data: str) -> Dataset:
    """The data that a few words name.

    Args:
        network: where they come from.
        data: `expected ROWS`, `expected ROWS floor`, or `sampled ROWS SEED`; then perhaps `padded`.

    >>> dataset(load("lung-cancer"), "expected 1000").rows
    1000
    """
    kind, rows, *rest = data.split()
    padded = rest[-1:] == ["padded"]
    rest = rest[:-1] if padded else rest
    if kind == "expected":
        found = network.expected(int(rows), "floor" if rest == ["floor"] else "nearest")
    else:
        found = network.sample(int(rows), int(rest[0]))
    return found.padded() if padded else found


@lru_cache(maxsize=64)
def problem(network: str, data: str, score: str = "bdeu:1") -> tuple[BayesianNetwork, Scorer, ScoreTable]:
    """A network, data from it, and their scores with at most two parents.

    Args:
        network: the name of a bundled one.
        data: see `dataset`.
        score: the name of a score.
    """
    truth = load(network)
    scorer = Scorer(dataset(truth, data), score_named(score))
    return truth, scorer, scorer.table(2)


def edges_of(dag: nx.DiGraph) -> list[list[str]]:
    """The edges of a graph as plain values, sorted."""
    return sorted([str(parent), str(child)] for parent, child in dag.edges)


def direct(network: str, data: str, solver: str, reads: int, seed: int, microseconds: float | None = None) -> Outcome:
    """The whole in the paper's encoding, sampled.

    Args:
        network: the name of a bundled one.
        data: see `dataset`.
        solver: `sa`, `qa` or `qpu`.
        reads: how many.
        seed: of the sampler.
        microseconds: of a read of a quantum annealer.
    """
    truth, _, table = problem(network, data)
    bqm = encode(table, PAPER)
    wanted = result_value(bqm, qubo_vector(table, truth.dag, PAPER))
    best = exact(table)
    time = {} if microseconds is None else {"annealing_time": float(microseconds)}
    begun = perf_counter()
    samples = annealer(solver).sample(bqm, num_reads=reads, seed=seed, **time)
    seconds = {"sample": perf_counter() - begun}
    found = decode(table, samples)
    lowest = int(np.argmin(found.energies))
    at_expected = np.abs(found.energies - bqm.offset - wanted) < 1e-6
    expected = nx.to_numpy_array(truth.dag, nodelist=table.names) > 0
    feasible = np.nan_to_num(found.raw_scores, nan=-np.inf)
    orders = max(float(score_orders(table, block).max()) for block in random_orders(len(table.names), reads, seed))
    result = {
        "value": float(found.energies[lowest] - bqm.offset),
        "expected_value": wanted,
        "optimum_value": -best.score - bqm.offset,
        "expected_hits": int((at_expected & (found.edges == expected).all(axis=(1, 2))).sum()),
        "equivalent_hits": int(at_expected.sum()),  # equivalent networks have the same energy
        "optimum_hits": int((np.abs(found.energies + best.score) < 1e-6).sum()),
        "edges": [
            [table.names[a], table.names[b]] for a, b in np.argwhere(found.edges[lowest]).tolist()
        ],  # of the lowest read, as it stands
        "raw_gap": None if np.isinf(feasible.max()) else best.score - float(feasible.max()),
        "repaired_gap": best.score - float(found.repaired_scores.max()),
        "baseline_gap": best.score - orders,
    }
    if "qpu_access_time" in samples.info.get("timing", {}):
        result["access_seconds"] = float(samples.info["timing"]["qpu_access_time"]) / 1e6
    return Outcome(result, seconds)


def optimum(network: str, data: str, score: str = "bdeu:1") -> Outcome:
    """The optimum with at most two parents, and what the truth scores.

    Args:
        network: the name of a bundled one.
        data: see `dataset`.
        score: the name of a score.
    """
    truth, scorer, table = problem(network, data, score)
    begun = perf_counter()
    best = exact(table)
    seconds = {"exact": perf_counter() - begun}
    score_of_truth = scorer.score(truth.dag)
    result = {
        "rows": scorer.data.rows,
        "edges": edges_of(best.dag),
        "score": best.score,
        "truth_score": score_of_truth,
        "truth_is_best": bool(equal_scores(score_of_truth, best.score)),
    }
    return Outcome(result, seconds)


def by_exhaustion(network: str, data: str) -> Outcome:
    """The paper's exhaustive search.

    Args:
        network: the name of a bundled one.
        data: see `dataset`.
    """
    truth, scorer, table = problem(network, data)
    exhaustive(problem("monty-hall", "expected 100")[2])  # so that nothing is compiled while the clock runs
    begun = perf_counter()
    best = exhaustive(table)
    seconds = {"exhaustive": perf_counter() - begun}
    found = bool(equal_scores(scorer.score(truth.dag), best.score))
    return Outcome({"edges": edges_of(best.dag), "score": best.score, "truth_is_best": found}, seconds)


def priors(network: str, rows: int, seeds: list[int]) -> Outcome:
    """On how many samples the truth is the optimum, for each of the paper's priors.

    Args:
        network: the name of a bundled one.
        rows: of a sample.
        seeds: the first, and the one after the last.
    """
    from dagneal.paper.published import PRIORS

    truth = load(network)
    hits = dict.fromkeys(PRIORS.values(), 0)
    begun = perf_counter()
    for seed in range(*seeds):
        data = truth.sample(rows, seed)
        for name in hits:
            scorer = Scorer(data, score_named(name))
            best = exact(scorer.table(2)).score
            hits[name] += bool(equal_scores(scorer.score(truth.dag), best))
    return Outcome({"samples": seeds[1] - seeds[0], "truth_is_best": hits}, {"priors": perf_counter() - begun})


def blocks(
    network: str,
    data: str,
    k: int,
    solver: str,
    seed: int = 0,
    reads: int = 100,
    microseconds: float | None = None,
    part: int = 0,
    parts: int = 1,
) -> Outcome:
    """The votes of blocks: raw as in the paper, repaired, and of random orders in place of reads.

    Args:
        network: the name of a bundled one.
        data: see `dataset`.
        k: variables in a block.
        solver: `exact`, `sa`, `qa`, `qpu`, or with many blocks in a call `tiled` (emulated) or `tiled-qpu`.
        seed: of the sampler.
        reads: of a block.
        microseconds: of a read of a quantum annealer.
        part: which part of the blocks.
        parts: into how many they are cut.
    """
    _, _, table = problem(network, data)
    n = len(table.names)
    chosen = choose_subproblems(n, k)[part::parts]
    gathered = table.gather(chosen)
    found: dict[str, Any] = {}
    begun = perf_counter()
    more: Plain = {}
    time = {} if microseconds is None else {"annealing_time": float(microseconds)}
    if solver == "exact":
        found["exact"] = ExactSubproblems().solve(gathered).adjacency
    elif solver.startswith("tiled"):
        tiles = annealer(solver).subproblem_solver({"num_reads": reads} | time, False, seed, PAPER)
        found["raw"] = tiles.solve(gathered).adjacency
        more = {"calls": tiles.calls, "access_seconds": tiles.access_seconds}
    else:
        annealing = AnnealedSubproblems(annealer(solver), {"num_reads": reads} | time, False, seed, PAPER)
        found = {kind: np.zeros((len(chosen), k, k), dtype=bool) for kind in ("raw", "repaired", "baseline")}
        for line, each in enumerate(annealing.reads(gathered)):
            if isinstance(each, str):
                raise InputError(f"block {', '.join(gathered.names(line))} failed: {each}")
            found["raw"][line] = taken(each, repair=False)[0]
            found["repaired"][line] = taken(each, repair=True)[0]
            found["baseline"][line] = _best_order(gathered.table(line), reads, derive_seed(seed, gathered.names(line)))
    votes = {kind: count_votes(n, chosen, adjacency)[0].tolist() for kind, adjacency in found.items()}
    together = count_votes(n, chosen, np.zeros((len(chosen), k, k), dtype=bool))[1].tolist()
    return Outcome({"votes": votes, "together": together, "blocks": len(chosen)} | more, {"blocks": perf_counter() - begun})


def _best_order(table: ScoreTable, count: int, seed: int) -> Any:
    """The best of some random orders, as an adjacency matrix."""
    orders: Ints = next(random_orders(len(table.names), count, seed))
    best = orders[int(np.argmax(score_orders(table, orders)))]
    return nx.to_numpy_array(dag_of_order(table, best), nodelist=table.names) > 0


def conquered(network: str, data: str) -> Outcome:
    """The conquest from exact triples, whatever the size of the network.

    Args:
        network: the name of a bundled one.
        data: see `dataset`.
    """
    truth, scorer, _ = problem(network, data)
    return _found(divide(scorer), scorer, truth)


def learned(network: str, data: str) -> Outcome:
    """What `learn` makes of the same data, with as many parents as it wants.

    Args:
        network: the name of a bundled one.
        data: see `dataset`.
    """
    truth, scorer, _ = problem(network, data)
    return _found(learn(scorer.data), scorer, truth)


def _found(found: Learned, scorer: Scorer, truth: BayesianNetwork) -> Outcome:
    result = {
        "edges": edges_of(found.dag),
        "score": found.score,
        "truth_score": scorer.score(truth.dag),
        "optimal": found.optimal,
        "solver": found.solver,
    }
    return Outcome(result, {"learn": sum(found.seconds.values())})
