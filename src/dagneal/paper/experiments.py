"""The kinds of runs that the paper's tables are made of; each returns what came of it as plain values.

A result holds nothing that another run could change: it depends on its inputs alone. Times are kept apart from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import networkx as nx
import numpy as np

import dagneal as dn
from dagneal.paper.annealers import Annealers
from dagneal.paper.problems import scored_problem, sort_edges, true_network
from dagneal.paper.published import PRIORS

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


def direct(
    annealers: Annealers, network: str, data: str, solver: str, reads: int, seed: int, microseconds: float | None = None
) -> Outcome:
    """Sample the global problem in the paper's encoding.

    Args:
        annealers: the samplers.
        network: the name of a bundled one.
        data: see `problems.make_data`.
        solver: `sa`, `qa` or `qpu`.
        reads: how many.
        seed: of the sampler.
        microseconds: of a read of a quantum annealer.

    Returns:
        - `value`: the lowest energy without the offset.
        - `expected_value`, `optimum_value`: the same of the truth and of the optimum.
        - `expected_hits`: the number of reads that are the truth.
        - `equivalent_hits`, `optimum_hits`: the number of reads with the energy of the truth and of the optimum.
        - `edges`: pairs of names, of the lowest read as it stands.
        - `raw_gap`: how far the best raw read scores below the optimum; None if no raw read is a network.
        - `repaired_gap`, `baseline_gap`: the same for the best repaired read and the best random order.
        - `access_seconds`: of a quantum annealer, if it reports them.

        Seconds: `sample`.
    """
    truth, _, table = scored_problem(network, data)
    bqm = dn.qubo.encode(table, dn.PAPER)
    wanted = dn.qubo.result_value(bqm, dn.qubo.qubo_vector(table, truth.dag, dn.PAPER))
    best = dn.solvers.exact(table)
    time = {} if microseconds is None else {"annealing_time": float(microseconds)}
    begun = perf_counter()
    samples = annealers.sampler(solver).sample(bqm, num_reads=reads, seed=seed, **time)
    seconds = {"sample": perf_counter() - begun}
    found = dn.qubo.decode(table, samples)
    lowest = int(np.argmin(found.energies))
    at_expected = np.abs(found.energies - bqm.offset - wanted) < 1e-6
    expected = nx.to_numpy_array(truth.dag, nodelist=table.names) > 0
    feasible = np.nan_to_num(found.raw_scores, nan=-np.inf)
    orders = max(
        float(dn.scoring.score_orders(table, chunk).max())
        for chunk in dn.scoring.random_orders(len(table.names), reads, seed)
    )
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
        data: see `problems.make_data`.
        score: the name of a score.

    Returns:
        - `rows`: their number.
        - `edges`, `score`: of the optimum.
        - `truth_score`: the score of the truth.
        - `truth_is_best`: whether the two scores are equal.

        Seconds: `exact`.
    """
    truth, scorer, table = scored_problem(network, data, score)
    begun = perf_counter()
    best = dn.solvers.exact(table)
    seconds = {"exact": perf_counter() - begun}
    score_of_truth = scorer.score(truth.dag)
    result = {
        "rows": scorer.data.rows,
        "edges": sort_edges(best.dag),
        "score": best.score,
        "truth_score": score_of_truth,
        "truth_is_best": bool(dn.solvers.equal_scores(score_of_truth, best.score)),
    }
    return Outcome(result, seconds)


def search_exhaustively(network: str, data: str) -> Outcome:
    """The paper's exhaustive search.

    Args:
        network: the name of a bundled one.
        data: see `problems.make_data`.

    Returns:
        - `edges`, `score`: of the best network.
        - `truth_is_best`: whether the truth has this score.

        Seconds: `exhaustive`.
    """
    truth, scorer, table = scored_problem(network, data)
    _, _, small = scored_problem("monty-hall", "expected 100")
    dn.solvers.exhaustive(small)  # so that nothing is compiled while the clock runs
    begun = perf_counter()
    best = dn.solvers.exhaustive(table)
    seconds = {"exhaustive": perf_counter() - begun}
    found = bool(dn.solvers.equal_scores(scorer.score(truth.dag), best.score))
    return Outcome({"edges": sort_edges(best.dag), "score": best.score, "truth_is_best": found}, seconds)


def priors(network: str, rows: int, seeds: list[int]) -> Outcome:
    """On how many samples the truth is the optimum, for each of the paper's priors.

    Args:
        network: the name of a bundled one.
        rows: of a sample.
        seeds: the first, and the one after the last.

    Returns:
        - `samples`: their number.
        - `truth_is_best`: by the name of the score, the number of samples whose optimum is the truth.

        Seconds: `priors`.
    """
    truth = true_network(network)
    hits = dict.fromkeys(PRIORS.values(), 0)
    begun = perf_counter()
    for seed in range(*seeds):
        data = truth.sample(rows, seed)
        for name in hits:
            scorer = dn.scoring.Scorer(data, dn.scoring.as_score(name))
            best = dn.solvers.exact(scorer.table(2)).score
            hits[name] += bool(dn.solvers.equal_scores(scorer.score(truth.dag), best))
    return Outcome({"samples": seeds[1] - seeds[0], "truth_is_best": hits}, {"priors": perf_counter() - begun})


def conquer_triples(network: str, data: str) -> Outcome:
    """Learn by divide et impera from exact triples, whatever the size of the network.

    Args:
        network: the name of a bundled one.
        data: see `problems.make_data`.

    Returns:
        - `edges`, `score`: of the network that was found.
        - `truth_score`: the score of the truth.
        - `optimal`: whether the network is proved optimal.
        - `solver`: what found it.

        Seconds: `learn`.
    """
    truth, scorer, _ = scored_problem(network, data)
    return _outcome(dn.Divide().solve(dn.Problem(scorer), dn.Run()), scorer, truth)


def learn_network(network: str, data: str) -> Outcome:
    """What `learn` makes of the same data, with as many parents as it wants.

    Args:
        network: the name of a bundled one.
        data: see `problems.make_data`.

    Returns:
        The same keys as `conquer_triples`.
    """
    truth, scorer, _ = scored_problem(network, data)
    return _outcome(dn.learn(scorer.data), scorer, truth)


def _outcome(found: dn.Solution | dn.Learned, scorer: dn.scoring.Scorer, truth: dn.BayesianNetwork) -> Outcome:
    result = {
        "edges": sort_edges(found.dag),
        "score": found.score,
        "truth_score": scorer.score(truth.dag),
        "optimal": found.optimal,
        "solver": found.solver,
    }
    return Outcome(result, {"learn": sum(found.seconds.values())})
