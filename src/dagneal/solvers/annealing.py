"""Solve a score table with any dimod sampler: encode it as a QUBO, sample, and decode the reads."""

from __future__ import annotations

import json
import sys
from collections.abc import Hashable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from inspect import signature
from numbers import Integral
from threading import RLock
from time import perf_counter
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from dagneal.base.errors import InputError, hint, warn_on_failure
from dagneal.base.kernels import Floats
from dagneal.base.redaction import redact, safe_cause
from dagneal.qubo.decode import Reads, decode
from dagneal.qubo.encode import TIGHT, Encoding, as_encoding, qubos
from dagneal.qubo.statistics import treewidth
from dagneal.runtime.run import DEFAULT_RUN, Run
from dagneal.scoring.orders import random_orders, score_orders
from dagneal.scoring.table import ScoreTable, check_table
from dagneal.solvers.exact import exact
from dagneal.solvers.initial_states import check_initial_state, encode_initial_state
from dagneal.solvers.policy import EXACT_FOR_COMPARISON
from dagneal.solvers.samplers import Embedded, needs_lock, parameters_of, with_defaults
from dagneal.solvers.solution import BestRead, ReadSummary, Solution

if TYPE_CHECKING:
    import dimod

_LARGEST_INFO = 10_000  # characters of a value in the information about a call; larger values are left out
_SAMPLER_LOCK = RLock()  # for samplers that only one thread may use at a time


def anneal(
    table: ScoreTable,
    sampler: dimod.Sampler,
    repair: bool = True,
    encoding: Encoding | str = TIGHT,
    run: Run = DEFAULT_RUN,
    **parameters: Any,
) -> Solution:
    """Learn the structure of a network with any sampler that implements the dimod interface.

    Args:
        table: local scores, with any parent limit and any candidate parents.
        sampler: dimod sampler for the QUBO.
        repair: True to return the best repaired read, False to return the best raw read; see `dagneal.qubo.Reads`.
        encoding: QUBO encoding, as an `Encoding` or a text such as `"paper"`.
        run: `Run` object with the seed and the progress function. The sampler gets the seed if it accepts one.
        **parameters: parameters of the sampler, such as `num_reads=1000, seed=7`. Defaults are in
            `dagneal.solvers.samplers`; most samplers get 1,000 reads. `initial_state` may be a DAG.

    Returns:
        A solution with the best graph found. Its attribute `reads` contains the best raw and repaired reads, the best score
        of random orders for comparison, the proved optimum (up to 20 variables), and the sample set. `optimal` is True if
        the score equals the proved optimum.

    >>> from dwave.samplers import SimulatedAnnealingSampler
    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> table = score_table(load("lung-cancer").expected_data(10_000))
    >>> solution = anneal(table, SimulatedAnnealingSampler(), num_reads=100, seed=7)
    >>> solution.optimal, solution.reads.reads
    (True, 100)
    """
    check_table(table)
    encoding = as_encoding(encoding)
    check_parameters(sampler, parameters)
    check_initial_state(parameters, table.names)
    parameters = with_defaults(sampler, parameters)
    if "seed" in parameters_of(sampler):
        parameters = {"seed": run.seed} | parameters
    seed = int(parameters["seed"]) if isinstance(parameters.get("seed"), Integral) else None
    sampling = sample(table, sampler, encoding, parameters, run)
    begun = perf_counter()
    optimum = None
    if len(table.names) <= EXACT_FOR_COMPARISON:
        with warn_on_failure("the exact search for comparison"):
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
    """The result of one sampler call, with decoded reads.

    Attributes:
        encoding: QUBO encoding.
        bqm: QUBO of the score table.
        sampleset: reads that the sampler returned.
        reads: decoded reads.
        seconds: seconds spent in each stage.
    """

    encoding: Encoding
    bqm: dimod.BinaryQuadraticModel
    sampleset: dimod.SampleSet
    reads: Reads
    seconds: dict[str, float]

    def best(self, repair: bool) -> tuple[nx.DiGraph, float]:
        """Return (graph, score): the graph of the best read, and its log score.

        If raw reads are used and none is feasible, return the graph of the read with the lowest energy, and the score NaN.

        Args:
            repair: True to use repaired reads, False to use raw reads.
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
        sampler: dimod sampler for the QUBO.
        encoding: QUBO encoding.
        parameters: parameters of the sampler.
        run: `Run` object that receives the progress reports.
    """
    check_parameters(sampler, parameters)
    begun = perf_counter()
    qubo = qubos(table, encoding)
    bqm = qubo.model(0, table.names)
    parameters = encode_initial_state(parameters, table, qubo.layout, bqm.variables, encoding)
    encoded = perf_counter()
    run.progress("sampling", 0, 1)
    sampleset = sample_model(sampler, bqm, parameters)
    run.progress("sampling", 1, 1)
    done = perf_counter()
    reads = decode(table, sampleset)
    seconds = {"encode": encoded - begun, "sample": done - encoded, "decode": perf_counter() - done}
    return Sampling(encoding, bqm, sampleset, reads, seconds)


def sample_model(sampler: dimod.Sampler, bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any]) -> dimod.SampleSet:
    """Sample a QUBO. Any error of the sampler becomes an `InputError` with a one-line message.

    The sampler gets numbered variables, because some samplers accept no other labels. The returned reads have the original
    labels.

    Args:
        sampler: dimod sampler.
        bqm: QUBO. If it has no variables, the sampler is not called, and one read without variables is returned.
        parameters: parameters of the sampler.
    """
    import dimod

    name = type(sampler).__name__
    if not bqm.num_variables:
        return dimod.SampleSet.from_samples(([[]], []), energy=[bqm.offset], vartype=bqm.vartype)
    limit = sampler.properties.get("max_treewidth")
    if limit is not None and (width := treewidth(bqm)) > limit:
        raise InputError(
            f"{name} accepts a treewidth of at most {limit}, but this QUBO has about {width}; use another sampler"
        )
    numbers = _number_labels(bqm)
    if numbers and _uses_labels(sampler, bqm, parameters):
        numbers = {}
    try:
        with _SAMPLER_LOCK if needs_lock(sampler) else nullcontext():
            sampleset = sampler.sample(bqm.relabel_variables(numbers, inplace=False) if numbers else bqm, **parameters)
        sampleset.resolve()
    except InputError:
        raise
    except Exception as error:  # samplers raise any type; the original error stays attached as the cause
        given = ", ".join(f"{name}={value!r}" for name, value in parameters.items()) or "no parameters"
        reason = next(iter(redact(str(error)).splitlines()), type(error).__name__)
        raise InputError(f"{name} failed with {given}: {reason}") from safe_cause(error)
    if not len(sampleset):
        raise InputError(f"{name} returned no reads")
    return _relabel(sampleset, {number: label for label, number in numbers.items()}) if numbers else sampleset


def _number_labels(bqm: dimod.BinaryQuadraticModel) -> dict[Any, int]:
    """Return a dict from variable labels to numbers; an empty dict if all labels are integers already.

    Smaller labels get smaller numbers. So a sampler that sorts the variables uses the same order for labels and numbers.
    """
    labels = list(bqm.variables)
    if all(isinstance(label, int) for label in labels):
        return {}
    with suppress(TypeError):  # labels that cannot be compared keep their order
        labels.sort()
    return {label: number for number, label in enumerate(labels)}


def _uses_labels(sampler: dimod.Sampler, bqm: dimod.BinaryQuadraticModel, parameters: Mapping[str, Any]) -> bool:
    """Return whether a sampler or its parameters contain labels of the model's variables, for example in an embedding."""
    import dimod

    labels = set(bqm.variables)

    def contains_label(value: Any) -> bool:
        if isinstance(value, dimod.SampleSet):
            return not labels.isdisjoint(value.variables)
        if isinstance(value, Hashable) and not isinstance(value, str | bytes):
            with suppress(TypeError):  # a tuple that contains a list has no hash
                if value in labels:
                    return True
        if isinstance(value, Mapping):
            return any(map(contains_label, value))
        return isinstance(value, list | tuple | set | frozenset) and any(map(contains_label, value))

    embedding = sampler.embedding if isinstance(sampler, Embedded) else None
    nodes = sampler.nodelist if isinstance(sampler, dimod.Structured) else None
    return any(contains_label(value) for value in (embedding, nodes, *parameters.values()))


def _relabel(sampleset: dimod.SampleSet, labels: Mapping[int, Any]) -> dimod.SampleSet:
    """Return the reads with the original labels. An embedding in `sampleset.info` also gets the original labels."""
    relabelled = sampleset.relabel_variables(labels, inplace=False)
    context = relabelled.info.get("embedding_context")
    if isinstance(context, Mapping) and isinstance(context.get("embedding"), Mapping):
        embedding = {labels.get(number, number): chain for number, chain in context["embedding"].items()}
        relabelled.info["embedding_context"] = {**context, "embedding": embedding}
    return relabelled


def is_sampler(value: Any) -> bool:
    """Return whether an object is a dimod sampler. This function does not import dimod: without it there are no samplers.

    Args:
        value: any object.
    """
    dimod = sys.modules.get("dimod")
    return dimod is not None and isinstance(value, dimod.Sampler)


def check_parameters(sampler: dimod.Sampler, parameters: dict[str, Any]) -> None:
    """Check that a sampler accepts all given parameters. dimod itself only warns and ignores unknown parameters."""
    if not is_sampler(sampler):
        raise InputError(
            f"{type(sampler).__name__} is not a dimod.Sampler; give a sampler such as SimulatedAnnealingSampler()"
        )
    accepted = parameters_of(sampler)
    for name in parameters:
        if name not in accepted:
            kind, names = type(sampler).__name__, ", ".join(sorted(accepted)) or "none"
            if name in signature(type(sampler)).parameters:
                raise InputError(f"{name} is a setting of {kind}, not of its calls; give it where you create the sampler")
            raise InputError(f"{kind} does not accept the parameter {name!r}; it accepts {names}{hint(name, accepted)}")


def summarize(sampling: Sampling, optimum: float | None, seed: int | None) -> ReadSummary:
    """Summarize the reads, and compare their scores with the proved optimum and with equally many random orders.

    Args:
        sampling: result of a sampler call.
        optimum: proved highest log score; None if unknown.
        seed: seed of the random orders.
    """
    reads, samples = sampling.reads, sampling.sampleset
    total = int(reads.occurrences.sum())
    baseline = max(
        float(score_orders(reads.table, orders).max())
        for orders in random_orders(len(reads.table.names), total, abs(seed or 0), required=reads.table.required)
    )

    def hits(scores: Floats, target: float) -> int:
        return int(reads.occurrences[equal_scores(scores, target)].sum())

    def best(repair: bool) -> BestRead:
        dag, score = sampling.best(repair)
        scores = reads.repaired_scores if repair else reads.raw_scores
        return BestRead(dag, score, hits(scores, score), None if optimum is None else hits(scores, optimum))

    return ReadSummary(
        sampleset=samples,
        encoding=sampling.encoding.name,
        reads=total,
        distinct=count_distinct(samples),
        qubo_variables=sampling.bqm.num_variables,
        interactions=sampling.bqm.num_interactions,
        lowest_energy=float(reads.energies.min()),
        feasible=float(reads.occurrences[reads.feasible].sum()) / total,
        raw=best(repair=False) if reads.feasible.any() else None,
        repaired=best(repair=True),
        baseline=baseline,
        optimum=optimum,
        chain_breaks=(breaks := _chain_breaks(samples)),
        info={} if breaks is None else plain_info(samples.info),
    )


def _chain_breaks(sampleset: dimod.SampleSet) -> tuple[float, ...] | None:
    """Return the fraction of broken chains in each read, as Ocean's composites and `QPU` report it; None without it."""
    record = sampleset.record
    if "chain_break_fraction" not in record.dtype.names:
        return None
    return tuple(np.repeat(record["chain_break_fraction"], record.num_occurrences).round(6).tolist())


def plain_info(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return the information of a sampler about a call, without values that are large or cannot be written as JSON.

    Args:
        info: attribute `info` of a sample set.

    >>> plain_info({"timing": {"qpu_access_time": np.float64(8.5)}, "problem": object()})
    {'timing': {'qpu_access_time': 8.5}}
    """
    plain = {}
    for name, value in info.items():
        with suppress(TypeError, ValueError, AttributeError):
            text = json.dumps(value, default=lambda entry: entry.tolist(), allow_nan=False)
            if len(text) <= _LARGEST_INFO:
                plain[str(name)] = json.loads(text)
    return plain


def count_distinct(sampleset: dimod.SampleSet) -> int:
    """Return the number of distinct reads.

    Args:
        sampleset: reads of a sampler.
    """
    packed = np.packbits(np.asarray(sampleset.record.sample) > 0, axis=1)
    return len(np.unique(packed, axis=0)) if packed.shape[1] else 1


def equal_scores(scores: Floats | float, target: float) -> Any:
    """Return whether log scores equal a target, up to the rounding errors of sums of local scores.

    For example, the tolerance is 0.001 for a log score of 10^10, which is typical of 10^9 rows.
    """
    return np.abs(np.asarray(scores) - target) <= 1e-9 + 1e-13 * abs(target)
