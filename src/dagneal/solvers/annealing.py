"""Annealing: the bridge from a table of scores to any dimod sampler, and back."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from numbers import Integral
from threading import RLock
from time import perf_counter
from typing import Any

import dimod
import networkx as nx
import numpy as np

from dagneal.base.errors import InputError, hint, secondary
from dagneal.base.kernels import Floats
from dagneal.base.redaction import redact, safe_cause
from dagneal.qubo.decode import Reads, decode
from dagneal.qubo.encode import TIGHT, Encoding, as_encoding, encode
from dagneal.qubo.statistics import treewidth
from dagneal.runtime.run import DEFAULT_RUN, Run
from dagneal.scoring.orders import random_orders, score_orders
from dagneal.scoring.table import ScoreTable, check_table
from dagneal.solvers.exact import exact
from dagneal.solvers.policy import EXACT_BESIDE
from dagneal.solvers.samplers import Embedded, parameters_of, takes_turns, with_defaults
from dagneal.solvers.solution import BestRead, ReadSummary, Solution

_TURN = RLock()  # of samplers that threads must not share


def anneal(
    table: ScoreTable,
    sampler: dimod.Sampler,
    repair: bool = True,
    encoding: Encoding | str = TIGHT,
    run: Run = DEFAULT_RUN,
    **parameters: Any,
) -> Solution:
    """Learn a structure with any sampler of Ocean's dimod interface.

    Args:
        table: local scores, with any parent limit and any candidate parents.
        sampler: what solves the QUBO.
        repair: report the best repaired read; otherwise the best raw one.
        encoding: how the table is written as a QUBO: an encoding, or words such as `"paper"`.
        run: gives the seed, if the sampler takes one.
        **parameters: passed to the sampler as they are, such as `num_reads=1000, seed=7`. Parameters that are not given are
            those of `dagneal.solvers.samplers`: 1,000 reads for most samplers.

    Returns:
        The best DAG found, and in `reads` all that there is to know about the reads: raw and repaired results, the
        random-order baseline, the proved optimum where it is cheap, and the sample set. `optimal` is True where the score
        equals the proved optimum.

    >>> from dwave.samplers import SimulatedAnnealingSampler
    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> table = score_table(load("lung-cancer").expected(10_000))
    >>> found = anneal(table, SimulatedAnnealingSampler(), num_reads=100, seed=7)
    >>> found.optimal, found.reads.reads
    (True, 100)
    """
    check_table(table)
    encoding = as_encoding(encoding)
    check_parameters(sampler, parameters)
    parameters = with_defaults(sampler, parameters)
    if "seed" in parameters_of(sampler):
        parameters = {"seed": run.seed} | parameters
    seed = int(parameters["seed"]) if isinstance(parameters.get("seed"), Integral) else None
    sampling = sample(table, sampler, encoding, parameters, run)
    begun = perf_counter()
    optimum = None
    if len(table.names) <= EXACT_BESIDE:
        with secondary("the exact search beside the annealer"):
            optimum = exact(table).score
    dag, score = sampling.best(repair)
    return Solution(
        dag=dag,
        score=score,
        max_parents=table.max_parents,
        solver=type(sampler).__name__,
        optimal=optimum is not None and bool(equal_scores(score, optimum)),
        reads=summarize(sampling, optimum, seed),
        seconds=sampling.seconds | {"compare": perf_counter() - begun},
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class Sampling:
    """One call of a sampler, with what its reads mean.

    Attributes:
        encoding: how the table was encoded.
        bqm: the QUBO.
        sampleset: what the sampler returned.
        reads: what that means.
        seconds: time spent, by stage.
    """

    encoding: Encoding
    bqm: dimod.BinaryQuadraticModel
    sampleset: dimod.SampleSet
    reads: Reads
    seconds: dict[str, float]

    def best(self, repair: bool) -> tuple[nx.DiGraph, float]:
        """The best graph and its score: repaired, or raw; if no raw read is a network, that of lowest energy, with NaN.

        Args:
            repair: which.
        """
        scores = self.reads.repaired_scores if repair else self.reads.raw_scores
        if repair or self.reads.feasible.any():
            read = int(np.nanargmax(scores))
            return self.reads.repaired_dag(read) if repair else self.reads.raw_graph(read), float(scores[read])
        return self.reads.raw_graph(int(np.argmin(self.reads.energies))), float("nan")


def sample(
    table: ScoreTable,
    sampler: dimod.Sampler,
    encoding: Encoding,
    parameters: dict[str, Any],
    run: Run = DEFAULT_RUN,
) -> Sampling:
    """Encode a table, sample the QUBO, and decode the reads.

    Args:
        table: local scores.
        sampler: what solves the QUBO.
        encoding: how the table is written as a QUBO.
        parameters: passed to the sampler.
        run: its progress is reported.
    """
    check_parameters(sampler, parameters)
    begun = perf_counter()
    bqm = encode(table, encoding)
    encoded = perf_counter()
    run.progress("sampling", 0, 1)
    sampleset = sample_model(sampler, bqm, parameters)
    run.progress("sampling", 1, 1)
    done = perf_counter()
    reads = decode(table, sampleset)
    seconds = {"encode": encoded - begun, "sample": done - encoded, "decode": perf_counter() - done}
    return Sampling(encoding, bqm, sampleset, reads, seconds)


def sample_model(sampler: dimod.Sampler, bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any]) -> dimod.SampleSet:
    """Sample a QUBO, and say in one line what went wrong if something does.

    The sampler sees numbers in place of labels, since some samplers take no others. The reads have the labels again.

    Args:
        sampler: what solves it.
        bqm: the QUBO; one without bits has one state, and the sampler is not asked.
        parameters: passed to the sampler.
    """
    name = type(sampler).__name__
    if not bqm.num_variables:
        return dimod.SampleSet.from_samples(([[]], []), energy=[bqm.offset], vartype=bqm.vartype)
    widest = sampler.properties.get("max_treewidth")
    if widest is not None and (width := treewidth(bqm)) > widest:
        raise InputError(f"{name} takes QUBOs of treewidth at most {widest}, and this one has about {width}: use another")
    numbers = _numbers(bqm)
    if numbers and _uses_labels(sampler, bqm, parameters):
        numbers = {}
    try:
        with _TURN if takes_turns(sampler) else nullcontext():
            sampleset = sampler.sample(bqm.relabel_variables(numbers, inplace=False) if numbers else bqm, **parameters)
        sampleset.resolve()
    except Exception as error:  # whatever a sampler raises; the original stays attached
        given = ", ".join(f"{name}={value!r}" for name, value in parameters.items()) or "no parameters"
        said = next(iter(redact(str(error)).splitlines()), type(error).__name__)
        raise InputError(f"{name} refused the problem with {given}: {said}") from safe_cause(error)
    if not len(sampleset):
        raise InputError(f"{name} returned no reads")
    return _relabel(sampleset, {number: label for label, number in numbers.items()}) if numbers else sampleset


def _numbers(bqm: dimod.BinaryQuadraticModel) -> dict[Any, int]:
    """A number for each label; empty where the labels are these numbers already.

    Numbers sort as the labels do, since some samplers sort variables: so they see the same problem in the same order.
    """
    labels = list(bqm.variables)
    if all(isinstance(label, int) for label in labels):
        return {}
    with suppress(TypeError):  # labels that cannot be compared keep their order
        labels.sort()
    return {label: number for number, label in enumerate(labels)}


def _uses_labels(sampler: dimod.Sampler, bqm: dimod.BinaryQuadraticModel, parameters: Mapping[str, Any]) -> bool:
    """Whether a sampler or its parameters refer to variables by their labels, as embeddings and initial states do."""
    labels = set(bqm.variables)

    def mentions(value: Any) -> bool:
        if isinstance(value, dimod.SampleSet):
            return not labels.isdisjoint(value.variables)
        if isinstance(value, Hashable) and not isinstance(value, str | bytes):
            with suppress(TypeError):  # a tuple with a list in it
                if value in labels:
                    return True
        if isinstance(value, Mapping):
            return any(map(mentions, value))
        return isinstance(value, list | tuple | set | frozenset) and any(map(mentions, value))

    embedding = sampler.embedding if isinstance(sampler, Embedded) else None
    nodes = sampler.nodelist if isinstance(sampler, dimod.Structured) else None
    return any(mentions(value) for value in (embedding, nodes, *parameters.values()))


def _relabel(sampleset: dimod.SampleSet, labels: Mapping[int, Any]) -> dimod.SampleSet:
    """The reads with the labels of the QUBO; also those of an embedding that they come with."""
    found = sampleset.relabel_variables(labels, inplace=False)
    context = found.info.get("embedding_context")
    if isinstance(context, Mapping) and isinstance(context.get("embedding"), Mapping):
        embedding = {labels.get(number, number): chain for number, chain in context["embedding"].items()}
        found.info["embedding_context"] = {**context, "embedding": embedding}
    return found


def check_parameters(sampler: dimod.Sampler, parameters: dict[str, Any]) -> None:
    """Refuse keywords that the sampler does not take; dimod would only warn, and go on without them."""
    if not isinstance(sampler, dimod.Sampler):
        raise InputError(f"{type(sampler).__name__} is not a dimod.Sampler; give one such as SimulatedAnnealingSampler()")
    known = parameters_of(sampler)
    for name in parameters:
        if name not in known:
            taken = ", ".join(sorted(known)) or "none"
            raise InputError(
                f"{type(sampler).__name__} does not take the parameter {name!r}; it takes {taken}{hint(name, known)}"
            )


def summarize(sampling: Sampling, optimum: float | None, seed: int | None) -> ReadSummary:
    """Summarize the reads, beside the proved optimum and as many random orders.

    Args:
        sampling: the reads.
        optimum: the proved optimum, where it is known.
        seed: of the random orders.
    """
    reads = sampling.reads
    total = int(reads.occurrences.sum())
    baseline = max(
        float(score_orders(reads.table, orders).max())
        for orders in random_orders(len(reads.table.names), total, abs(seed or 0), required=reads.table.required)
    )

    def hits(scores: Floats, wanted: float) -> int:
        return int(reads.occurrences[equal_scores(scores, wanted)].sum())

    def best(repair: bool) -> BestRead:
        dag, score = sampling.best(repair)
        scores = reads.repaired_scores if repair else reads.raw_scores
        return BestRead(dag, score, hits(scores, score), None if optimum is None else hits(scores, optimum))

    return ReadSummary(
        sampleset=sampling.sampleset,
        encoding=sampling.encoding.name,
        reads=total,
        distinct=count_distinct(sampling.sampleset),
        bits=sampling.bqm.num_variables,
        interactions=sampling.bqm.num_interactions,
        lowest_energy=float(reads.energies.min()),
        feasible=float(reads.occurrences[reads.feasible].sum()) / total,
        raw=best(repair=False) if reads.feasible.any() else None,
        repaired=best(repair=True),
        baseline=baseline,
        optimum=optimum,
    )


def count_distinct(sampleset: dimod.SampleSet) -> int:
    """How many different reads there are.

    Args:
        sampleset: what a sampler returned.
    """
    bits = np.packbits(np.asarray(sampleset.record.sample) > 0, axis=1)
    return len(np.unique(bits, axis=0)) if bits.shape[1] else 1


def equal_scores(scores: Floats | float, wanted: float) -> Any:
    """Equal up to the rounding of sums of local scores: at 10^10 nats, which are 10^9 rows, a thousandth of one."""
    return np.abs(np.asarray(scores) - wanted) <= 1e-9 + 1e-13 * abs(wanted)
