"""Direct runs solve a problem without dividing it. This module lists and summarises the direct runs of Tables 3 to 6."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb
from typing import Any

import dagneal as dn
from dagneal.paper.annealers import emulator_model
from dagneal.paper.items import mean
from dagneal.paper.problems import recorded_graph, true_network
from dagneal.paper.records import Case, Records


@dataclass(frozen=True)
class DirectRuns:
    """Direct runs of one solver on one problem. A direct run does not divide the problem.

    The runs differ only in their seeds.

    Attributes:
        network: name of a bundled network.
        solver: `sa`, `qa` or `qpu`.
        reads: reads per run.
        seeds: one seed per run.
        microseconds: annealing time per read; None for simulated annealing.
        data: description of the data; see `problems.make_data`.
    """

    network: str
    solver: str
    reads: int
    seeds: tuple[int, ...]
    microseconds: int | None = None
    data: str = "expected 10000"

    def cases(self) -> list[Case]:
        """Return the runs, one case per seed."""
        inputs: dict[str, Any] = {"network": self.network, "data": self.data, "solver": self.solver, "reads": self.reads}
        time = {} if self.microseconds is None else {"microseconds": self.microseconds}
        if self.solver == "qa":
            inputs["model"] = emulator_model()
        return [Case("direct", inputs | time | {"seed": seed}) for seed in self.seeds]

    def summary(self, records: Records) -> DirectSummary | None:
        """Summarise the finished runs, or return None if no run is finished.

        Args:
            records: records of finished runs.
        """
        finished = records.select(self.cases())
        if not finished:
            return None
        results = [record.result for record in finished]
        access = [r["access_seconds"] for r in results if "access_seconds" in r]
        return DirectSummary(
            runs=len(finished),
            reads=self.reads,
            expected_runs=sum(r["expected_hits"] > 0 for r in results),
            optimum_runs=sum(r["optimum_hits"] > 0 for r in results),
            expected_reads=sum(r["expected_hits"] for r in results) / len(results),
            optimum_reads=sum(r["optimum_hits"] for r in results) / len(results),
            ratio=sum(r["value"] / r["expected_value"] for r in results) / len(results),
            best_ratio=results[0]["optimum_value"] / results[0]["expected_value"],
            raw_gap=_smallest(r["raw_gap"] for r in results),
            repaired_gap=max(r["repaired_gap"] for r in results),
            baseline_gap=max(r["baseline_gap"] for r in results),
            cpdag_distances=tuple(_distance(self.network, r["edges"]) for r in results),
            seconds=mean(access) if access else mean([record.seconds["sample"] for record in finished]),
        )


@dataclass(frozen=True)
class DirectSummary:
    """Summary of direct runs. A gap is the log score of the optimum minus the log score of a result.

    Attributes:
        runs: number of runs.
        reads: reads per run.
        expected_runs: number of runs that found exactly the expected solution, as counted in the paper's Tables 5 and 6.
        optimum_runs: number of runs that found the global minimum, as counted in the paper's Table 4.
        expected_reads: mean number of reads per run that equal the expected solution.
        optimum_reads: mean number of reads per run with the energy of the global minimum.
        ratio: mean result value. A result value is x^T Q x of the best read, divided by x^T Q x of the expected solution.
        best_ratio: result value of the optimum.
        raw_gap: gap of the best raw read of all runs; None if no raw read is a valid network.
        repaired_gap: gap of the best repaired read in the worst run.
        baseline_gap: gap of the best random order in the worst run. Each run has as many random orders as reads.
        cpdag_distances: for each run, the CPDAG distance between the truth and the read with the lowest energy; None if this
            read has a cycle.
        seconds: mean seconds per run. This is the access time for quantum annealing, and the time on this machine
            for simulated annealing.
    """

    runs: int
    reads: int
    expected_runs: int
    optimum_runs: int
    expected_reads: float
    optimum_reads: float
    ratio: float
    best_ratio: float
    raw_gap: float | None
    repaired_gap: float
    baseline_gap: float
    cpdag_distances: tuple[int | None, ...]
    seconds: float | None


def _distance(network: str, edges: list[list[str]]) -> int | None:
    return dn.compare(recorded_graph(network, edges), true_network(network).dag).cpdag_shd


def _smallest(gaps: Iterable[float | None]) -> float | None:
    return min((gap for gap in gaps if gap is not None), default=None)


def shares_differ(hits: int, runs: int, published: float, paper_runs: int = 10) -> bool:
    """Return whether Fisher's exact test at 1% finds a difference between our success rate and the paper's.

    Args:
        hits: number of our runs that succeeded.
        runs: number of our runs.
        published: share of the paper's runs that succeeded.
        paper_runs: number of the paper's runs.

    >>> shares_differ(0, 10, 1.0), shares_differ(0, 10, 0.3)
    (True, False)
    """
    paper_hits = round(published * paper_runs)
    total = hits + paper_hits
    ours = range(max(0, total - paper_runs), min(runs, total) + 1)
    weights = [comb(runs, count) * comb(paper_runs, total - count) for count in ours]
    observed = comb(runs, hits) * comb(paper_runs, paper_hits)
    return sum(weight for weight in weights if weight <= observed) < 0.01 * sum(weights)
