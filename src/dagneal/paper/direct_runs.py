"""Direct runs solve a problem without dividing it. This module lists and summarises the direct runs of Tables 3 to 6."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import dagneal as dn
from dagneal.paper.annealers import emulator_model
from dagneal.paper.items import mean
from dagneal.paper.problems import recorded_graph, true_network
from dagneal.paper.records import Case, Records
from dagneal.paper.significance import LEVEL


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
            ratios=tuple(r["value"] / r["expected_value"] for r in results),
            best_ratio=results[0]["optimum_value"] / results[0]["expected_value"],
            raw_gaps=tuple(r["raw_gap"] for r in results),
            hits=tuple(r["optimum_hits"] > 0 for r in results),
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
        ratios: result value of each run: x^T Q x of the best read, divided by x^T Q x of the expected solution.
        best_ratio: result value of the optimum.
        raw_gaps: gap of the best raw read of each run; None if no raw read is a valid network.
        hits: whether each run found the global minimum.
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
    ratios: tuple[float, ...]
    best_ratio: float
    raw_gaps: tuple[float | None, ...]
    hits: tuple[bool, ...]
    repaired_gap: float
    baseline_gap: float
    cpdag_distances: tuple[int | None, ...]
    seconds: float | None

    @property
    def ratio(self) -> float:
        """Mean result value."""
        return sum(self.ratios) / len(self.ratios)


def _distance(network: str, edges: list[list[str]]) -> int | None:
    return dn.compare(recorded_graph(network, edges), true_network(network).dag).cpdag_shd


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
    return sum(weight for weight in weights if weight <= observed) < LEVEL * sum(weights)


def format_differing(runs: int, published: float) -> str:
    """Return the numbers of our successes that Fisher's exact test at 1% counts as a difference, as text.

    Args:
        runs: number of our runs.
        published: share of the paper's runs that succeeded.

    >>> format_differing(10, 0.0), format_differing(10, 0.4), format_differing(10, 1.0)
    ('7 or more', 'none', '3 or fewer')
    """
    differing = [hits for hits in range(runs + 1) if shares_differ(hits, runs, published)]
    low = [hits for hits in differing if hits < published * runs]
    high = [hits for hits in differing if hits > published * runs]
    parts = ([f"{max(low)} or fewer"] if low else []) + ([f"{min(high)} or more"] if high else [])
    return ", ".join(parts) or "none"


@dataclass(frozen=True)
class Cell:
    """Successes of our runs and of the paper's runs in one cell of a table.

    Attributes:
        hits: number of our runs that succeeded.
        runs: number of our runs.
        paper_hits: number of the paper's runs that succeeded.
        paper_runs: number of the paper's runs.
    """

    hits: int
    runs: int
    paper_hits: int
    paper_runs: int = 10


def joint_p(cells: Sequence[Cell], weights: Sequence[int] | None = None) -> float:
    """Return the p-value of an exact two-sided test of all cells together: do our successes differ from the paper's?

    Given the total of each cell, our number of successes has a hypergeometric distribution if both shares are equal. The
    test uses the sum of our successes over all cells. With weights that grow with time, it compares the trends in time.

    Args:
        cells: cells of a table.
        weights: one whole number per cell; by default all are 1.

    >>> joint_p([Cell(5, 10, 1)] * 5) < 0.0001, joint_p([Cell(2, 10, 2)] * 5) > 0.9999
    (True, True)
    """
    weights = [1] * len(cells) if weights is None else weights
    chances, expected = {0: 1.0}, 0.0
    for cell, weight in zip(cells, weights, strict=True):
        total = cell.hits + cell.paper_hits
        counts = range(max(0, total - cell.paper_runs), min(cell.runs, total) + 1)
        ways = comb(cell.runs + cell.paper_runs, total)
        own: dict[int, float] = {}
        for n in counts:  # with a weight of 0, all counts give the same sum
            own[weight * n] = own.get(weight * n, 0.0) + comb(cell.runs, n) * comb(cell.paper_runs, total - n) / ways
        expected += weight * total * cell.runs / (cell.runs + cell.paper_runs)
        chances = _add(chances, own)
    observed = sum(weight * cell.hits for cell, weight in zip(cells, weights, strict=True))
    return min(1.0, sum(p for s, p in chances.items() if abs(s - expected) >= abs(observed - expected) - 1e-9))


def trend_p(groups: Sequence[tuple[Sequence[int], Sequence[bool]]]) -> float:
    """Return the one-sided p-value of an exact permutation test: do runs with higher scores succeed more often?

    Successes are permuted within groups. Runs with one seed share their embedding, so each seed is a group of our runs.

    Args:
        groups: for each group, the scores of its runs (such as the rank of the annealing time), and whether they succeeded.

    >>> trend_p([((0, 1, 2), (False, False, True))] * 2), trend_p([((0, 1), (True, False))])
    (0.1111111111111111, 1.0)
    """
    chances = {0: 1.0}
    for scores, hits in groups:
        ways = [{0: 1.0}, *({} for _ in range(sum(hits)))]  # ways[m][s]: number of subsets with m runs and the sum s
        for score in scores:
            for size in range(len(ways) - 1, 0, -1):
                for total, number in ways[size - 1].items():
                    ways[size][total + score] = ways[size].get(total + score, 0.0) + number
        every = comb(len(scores), sum(hits))
        chances = _add(chances, {total: number / every for total, number in ways[-1].items()})
    observed = sum(score for scores, hits in groups for score, hit in zip(scores, hits, strict=True) if hit)
    return min(1.0, sum(p for total, p in chances.items() if total >= observed))


def _add(first: dict[int, float], second: dict[int, float]) -> dict[int, float]:
    """Return the distribution of the sum of two independent numbers."""
    both: dict[int, float] = {}
    for a, p in first.items():
        for b, q in second.items():
            both[a + b] = both.get(a + b, 0.0) + p * q
    return both
