"""Annealing: the bridge from a table of scores to any dimod sampler, and back."""

from __future__ import annotations

import inspect
from numbers import Integral
from time import perf_counter
from typing import Any

import dimod
import networkx as nx
import numpy as np

from dagneal.errors import InputError
from dagneal.kernels import Floats, Progress
from dagneal.learned import Annealed, Learned, Outcome
from dagneal.learners.exact import exact
from dagneal.orders import random_orders, score_orders
from dagneal.qubo.decode import Reads, decode
from dagneal.qubo.encode import PAPER, Encoding, encode
from dagneal.table import ScoreTable

EXACT_BESIDE = 20  # up to this many variables the optimum costs a fraction of a second


def anneal(
    table: ScoreTable,
    sampler: dimod.Sampler,
    repair: bool = True,
    encoding: Encoding = PAPER,
    progress: Progress | None = None,
    **parameters: Any,
) -> Learned:
    """Learn a structure with any sampler of Ocean's dimod interface.

    Args:
        table: local scores with at most two parents.
        sampler: what solves the QUBO.
        repair: report the best repaired read; otherwise the best raw one.
        encoding: how the table is written as a QUBO.
        progress: told when the sampler starts and ends.
        **parameters: passed to the sampler as they are, such as `num_reads=1000, seed=7`.

    Returns:
        The best DAG found, and in `annealed` all that there is to know about the reads: raw and repaired results, the
        random-order baseline, the proved optimum where it is cheap, and the sample set. `optimal` is True where the score
        equals the proved optimum.

    >>> from dwave.samplers import SimulatedAnnealingSampler
    >>> from dagneal.networks import load
    >>> from dagneal.scorer import score_table
    >>> table = score_table(load("lung-cancer").expected(10_000))
    >>> found = anneal(table, SimulatedAnnealingSampler(), num_reads=100, seed=7)
    >>> found.optimal, found.annealed.reads
    (True, 100)
    """
    check_parameters(sampler, parameters)
    seed = int(parameters["seed"]) if isinstance(parameters.get("seed"), Integral) else None
    begun = perf_counter()
    bqm = encode(table, encoding)
    encoded = perf_counter()
    if progress is not None:
        progress("sampling", 0, 1)
    try:
        sampleset = sampler.sample(bqm, **parameters)
        sampleset.resolve()
    except Exception as error:  # whatever a sampler raises; the original stays attached
        given = ", ".join(f"{name}={value!r}" for name, value in parameters.items()) or "no parameters"
        raise InputError(f"{type(sampler).__name__} refused the problem with {given}: {error}") from error
    if not len(sampleset):
        raise InputError(f"{type(sampler).__name__} returned no reads")
    if progress is not None:
        progress("sampling", 1, 1)
    sampled = perf_counter()
    reads = decode(table, sampleset)
    decoded = perf_counter()
    baseline = max(
        float(score_orders(table, orders).max())
        for orders in random_orders(len(table.names), int(reads.occurrences.sum()), abs(seed or 0))
    )
    optimum = exact(table).score if len(table.names) <= EXACT_BESIDE else None
    compared = perf_counter()
    annealed = _summarised(reads, bqm, sampleset, encoding, baseline, optimum)
    dag, score = _chosen(annealed, reads, repair)
    return Learned(
        dag=dag,
        score=score,
        score_name=table.score_name,
        max_parents=table.max_parents,
        solver=type(sampler).__name__,
        optimal=optimum is not None and bool(_equal(score, optimum)),
        seconds={
            "encode": encoded - begun,
            "sample": sampled - encoded,
            "decode": decoded - sampled,
            "compare": compared - decoded,
        },
        seed=seed,
        annealed=annealed,
    )


def check_parameters(sampler: dimod.Sampler, parameters: dict[str, Any]) -> None:
    """Refuse keywords that the sampler does not take; dimod would only warn, and go on without them."""
    if not isinstance(sampler, dimod.Sampler):
        raise InputError(f"{type(sampler).__name__} is not a dimod.Sampler")
    signature = inspect.signature(sampler.sample).parameters.values()
    named = {p.name for p in signature if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    known = (set(sampler.parameters) | named) - {"bqm"}
    for name in parameters:
        if name not in known:
            taken = ", ".join(sorted(known)) or "none"
            raise InputError(f"{type(sampler).__name__} does not take the parameter {name!r}; it takes {taken}")


def _summarised(
    reads: Reads,
    bqm: dimod.BinaryQuadraticModel,
    sampleset: dimod.SampleSet,
    encoding: Encoding,
    baseline: float,
    optimum: float | None,
) -> Annealed:
    def hits(scores: Floats, wanted: float) -> int:
        return int(reads.occurrences[_equal(scores, wanted)].sum())

    def outcome(scores: Floats, raw: bool) -> Outcome:
        best = int(np.nanargmax(scores))
        dag = reads.raw_graph(best) if raw else reads.repaired_dag(best)
        score = float(scores[best])
        return Outcome(dag, score, hits(scores, score), None if optimum is None else hits(scores, optimum))

    total = int(reads.occurrences.sum())
    return Annealed(
        sampleset=sampleset,
        encoding=encoding.penalties,
        reads=total,
        bits=bqm.num_variables,
        interactions=bqm.num_interactions,
        lowest_energy=float(reads.energies.min()),
        feasible=float(reads.occurrences[reads.feasible].sum()) / total,
        raw=outcome(reads.raw_scores, raw=True) if reads.feasible.any() else None,
        repaired=outcome(reads.repaired_scores, raw=False),
        baseline=baseline,
        optimum=optimum,
    )


def _chosen(annealed: Annealed, reads: Reads, repair: bool) -> tuple[nx.DiGraph, float]:
    if repair:
        return annealed.repaired.dag, annealed.repaired.score
    if annealed.raw is not None:
        return annealed.raw.dag, annealed.raw.score
    return reads.raw_graph(int(np.argmin(reads.energies))), float("nan")


def _equal(scores: Floats | float, wanted: float) -> Any:
    """Equal up to the rounding of sums of local scores: at 10^10 nats, which are 10^9 rows, a thousandth of one."""
    return np.abs(np.asarray(scores) - wanted) <= 1e-9 + 1e-13 * abs(wanted)
