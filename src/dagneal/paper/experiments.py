"""The kinds of runs behind the paper's tables. Each function performs one kind of run.

A result consists of plain values and depends only on the inputs of the run. Times are stored separately.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import thread_time
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
    """The result of a run and its duration.

    Attributes:
        result: results by name, as values that JSON can store.
        seconds: CPU seconds of each stage, by name. Unlike wall-clock time, they hardly depend on other work of the machine.
    """

    result: Plain
    seconds: dict[str, float] = field(default_factory=dict)


def sample_directly(
    annealers: Annealers,
    network: str,
    data: str,
    solver: str,
    reads: int,
    seed: int,
    microseconds: float | None = None,
    model: str = "",
) -> Outcome:
    """Solve a problem without dividing it: sample its QUBO in the paper's encoding.

    Args:
        annealers: samplers of the evaluation.
        network: name of a bundled network.
        data: description of the data; see `problems.make_data`.
        solver: `sa`, `qa` or `qpu`.
        reads: number of reads.
        seed: seed of the sampler.
        microseconds: annealing time per read on a quantum annealer.
        model: model of the emulator; see `annealers.emulator_model`. It only identifies the run.

    Returns:
        An `Outcome` with these keys in `result`:

        - `value`: lowest energy of all reads, without the offset of the QUBO.
        - `expected_value`, `optimum_value`: energy of the truth and of the optimum, without the offset of the QUBO.
        - `expected_hits`: number of reads that equal the truth.
        - `equivalent_hits`: number of reads with the energy of the truth.
        - `optimum_hits`: number of reads with the energy of the optimum.
        - `edges`: edges of the raw read with the lowest energy, as pairs of names.
        - `raw_gap`: score of the optimum minus score of the best raw read; None if no raw read is a valid network.
        - `repaired_gap`, `baseline_gap`: the same gap for the best repaired read and the best random order.
        - `access_seconds`: access time of a quantum annealer, if reported.

        The duration is `seconds["sample"]`.
    """
    truth, _, table = scored_problem(network, data)
    bqm = dn.qubo.encode(table, dn.PAPER)
    expected_value = dn.qubo.result_value(bqm, dn.qubo.qubo_vector(table, truth.dag, dn.PAPER))
    best = dn.solvers.exact(table)
    time = {} if microseconds is None else {"annealing_time": float(microseconds)}
    begun = thread_time()
    samples = annealers.sampler(solver).sample(bqm, num_reads=reads, seed=seed, **time)
    seconds = {"sample": thread_time() - begun}
    decoded = dn.qubo.decode(table, samples)
    lowest = int(np.argmin(decoded.energies))
    at_expected = np.abs(decoded.energies - bqm.offset - expected_value) < 1e-6
    expected = nx.to_numpy_array(truth.dag, nodelist=table.names) > 0
    feasible = np.nan_to_num(decoded.raw_scores, nan=-np.inf)
    best_order = max(
        float(dn.scoring.score_orders(table, chunk).max())
        for chunk in dn.scoring.random_orders(len(table.names), reads, seed)
    )
    result = {
        "value": float(decoded.energies[lowest] - bqm.offset),
        "expected_value": expected_value,
        "optimum_value": -best.score - bqm.offset,
        "expected_hits": int((at_expected & (decoded.edges == expected).all(axis=(1, 2))).sum()),
        "equivalent_hits": int(at_expected.sum()),  # equivalent networks have the same energy
        "optimum_hits": int((np.abs(decoded.energies + best.score) < 1e-6).sum()),
        "edges": [[table.names[a], table.names[b]] for a, b in np.argwhere(decoded.edges[lowest]).tolist()],
        "raw_gap": None if np.isinf(feasible.max()) else best.score - float(feasible.max()),
        "repaired_gap": best.score - float(decoded.repaired_scores.max()),
        "baseline_gap": best.score - best_order,
    }
    if "qpu_access_time" in samples.info.get("timing", {}):
        result["access_seconds"] = float(samples.info["timing"]["qpu_access_time"]) / 1e6
    return Outcome(result, seconds)


def find_optimum(network: str, data: str, score: str = "bdeu:1") -> Outcome:
    """Find the optimum with at most two parents per variable, and compare its score with the score of the truth.

    Args:
        network: name of a bundled network.
        data: description of the data; see `problems.make_data`.
        score: name of the score, such as `bdeu:1`.

    Returns:
        An `Outcome` with these keys in `result`:

        - `rows`: number of rows.
        - `edges`, `score`: edges and score of the optimum.
        - `truth_score`: score of the truth.
        - `truth_is_best`: whether the truth has the score of the optimum.

        The duration is `seconds["exact"]`.
    """
    truth, scorer, table = scored_problem(network, data, score)
    begun = thread_time()
    best = dn.solvers.exact(table)
    seconds = {"exact": thread_time() - begun}
    truth_score = scorer.score(truth.dag)
    result = {
        "rows": scorer.data.rows,
        "edges": sort_edges(best.dag),
        "score": best.score,
        "truth_score": truth_score,
        "truth_is_best": bool(dn.solvers.equal_scores(truth_score, best.score)),
    }
    return Outcome(result, seconds)


def search_exhaustively(network: str, data: str) -> Outcome:
    """Find the best network by the paper's exhaustive search.

    Args:
        network: name of a bundled network.
        data: description of the data; see `problems.make_data`.

    Returns:
        An `Outcome` with these keys in `result`:

        - `edges`, `score`: edges and score of the best network.
        - `truth_is_best`: whether the truth has the same score.

        The duration is `seconds["exhaustive"]`.
    """
    truth, scorer, table = scored_problem(network, data)
    _, _, small = scored_problem("monty-hall", "expected 100")
    dn.solvers.exhaustive(small)  # compile before the clock starts
    begun = thread_time()
    best = dn.solvers.exhaustive(table)
    seconds = {"exhaustive": thread_time() - begun}
    truth_is_best = bool(dn.solvers.equal_scores(scorer.score(truth.dag), best.score))
    return Outcome({"edges": sort_edges(best.dag), "score": best.score, "truth_is_best": truth_is_best}, seconds)


def compare_priors(network: str, rows: int, seeds: list[int]) -> Outcome:
    """Count the sampled datasets whose optimum is the truth, for each of the paper's priors.

    Args:
        network: name of a bundled network.
        rows: rows per dataset.
        seeds: list [first seed, last seed + 1]. Each seed gives one dataset.

    Returns:
        An `Outcome` with these keys in `result`:

        - `samples`: number of datasets.
        - `truth_is_best`: number of datasets whose optimum is the truth, by name of the score.

        The duration is `seconds["priors"]`.
    """
    truth = true_network(network)
    hits = dict.fromkeys(PRIORS.values(), 0)
    begun = thread_time()
    for seed in range(*seeds):
        data = truth.sample(rows, seed)
        for name in hits:
            scorer = dn.scoring.Scorer(data, dn.scoring.as_score(name))
            best = dn.solvers.exact(scorer.table(2)).score
            hits[name] += bool(dn.solvers.equal_scores(scorer.score(truth.dag), best))
    return Outcome({"samples": seeds[1] - seeds[0], "truth_is_best": hits}, {"priors": thread_time() - begun})


def search_candidates(network: str, data: str) -> Outcome:
    """Learn by divide et impera: solve subproblems of three variables exactly, then run the candidate search.

    Args:
        network: name of a bundled network.
        data: description of the data; see `problems.make_data`.

    Returns:
        An `Outcome` with these keys in `result`:

        - `edges`, `score`: edges and score of the learned network.
        - `truth_score`: score of the truth.
        - `optimal`: whether the network is proved optimal.
        - `solver`: name of the solver that found the network.

        The duration is `seconds["learn"]`.
    """
    truth, scorer, _ = scored_problem(network, data)
    return _outcome(dn.Divide().solve(dn.Problem(scorer), dn.Run()), scorer, truth)


def learn_network(network: str, data: str) -> Outcome:
    """Learn a network with `dagneal.learn` and its default parent limit.

    Args:
        network: name of a bundled network.
        data: description of the data; see `problems.make_data`.

    Returns:
        An `Outcome` with the same keys as the `Outcome` of `search_candidates`.
    """
    truth, scorer, _ = scored_problem(network, data)
    return _outcome(dn.learn(scorer.data), scorer, truth)


def _outcome(solution: dn.Solution | dn.Learned, scorer: dn.scoring.Scorer, truth: dn.BayesianNetwork) -> Outcome:
    result = {
        "edges": sort_edges(solution.dag),
        "score": solution.score,
        "truth_score": scorer.score(truth.dag),
        "optimal": solution.optimal,
        "solver": solution.solver,
    }
    return Outcome(result, {"learn": sum(solution.seconds.values())})
