"""What the direct runs on a quantum annealer share: the cases of Tables 3 to 6, and how they are summed up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb

import dagneal as dn
from dagneal.paper.items import mean
from dagneal.paper.problems import recorded_graph, true_network
from dagneal.paper.records import Case, Records


@dataclass(frozen=True)
class DirectRuns:
    """Runs of one solver on one problem, undivided.

    Attributes:
        network: the problem.
        solver: `sa`, `qa` or `qpu`.
        reads: of a run.
        seeds: of the runs.
        microseconds: of a read.
        data: see `problems.make_data`.
    """

    network: str
    solver: str
    reads: int
    seeds: tuple[int, ...]
    microseconds: int | None = None
    data: str = "expected 10000"

    def cases(self) -> list[Case]:
        """The runs."""
        inputs = {"network": self.network, "data": self.data, "solver": self.solver, "reads": self.reads}
        time = {} if self.microseconds is None else {"microseconds": self.microseconds}
        return [Case("direct", inputs | time | {"seed": seed}) for seed in self.seeds]

    def summary(self, records: Records) -> DirectSummary | None:
        """What they come to; nothing where none is finished.

        Args:
            records: what was run.
        """
        found = records.of(self.cases())
        if not found:
            return None
        results = [record.result for record in found]
        access = [r["access_seconds"] for r in results if "access_seconds" in r]
        return DirectSummary(
            runs=len(found),
            reads=self.reads,
            expected=sum(r["expected_hits"] > 0 for r in results),
            optimum=sum(r["optimum_hits"] > 0 for r in results),
            solutions=sum(r["expected_hits"] for r in results) / len(results),
            optima=sum(r["optimum_hits"] for r in results) / len(results),
            ratio=sum(r["value"] / r["expected_value"] for r in results) / len(results),
            best_ratio=results[0]["optimum_value"] / results[0]["expected_value"],
            raw_gap=_least(r["raw_gap"] for r in results),
            repaired_gap=max(r["repaired_gap"] for r in results),
            baseline_gap=max(r["baseline_gap"] for r in results),
            cpdag=tuple(_distance(self.network, r["edges"]) for r in results),
            seconds=mean(access) if access else mean([record.seconds["sample"] for record in found]),
        )


@dataclass(frozen=True)
class DirectSummary:
    """What direct runs come to.

    Attributes:
        runs: how many there are.
        reads: of a run.
        expected: runs that found the expected solution, edge by edge, as the paper's Tables 5 and 6 count success.
        optimum: runs that found the global minimum, as its Table 4 counts.
        solutions: reads of a run that are the expected solution, in the mean.
        optima: reads of a run that are the global minimum, in the mean.
        ratio: the result value: x^T Q x by that of the expected solution, without offset, in the mean.
        best_ratio: the same of the optimum.
        raw_gap: how far the best raw read of all runs lies below the optimum; nothing where no read is a network.
        repaired_gap: how far the best repaired read of the worst run lies below it.
        baseline_gap: likewise the best of as many random orders.
        cpdag: the distance of equivalence classes from the truth, of the lowest read of each run; None where it has a cycle.
        seconds: of a run: of access time for a quantum annealer, otherwise on this machine.
    """

    runs: int
    reads: int
    expected: int
    optimum: int
    solutions: float
    optima: float
    ratio: float
    best_ratio: float
    raw_gap: float | None
    repaired_gap: float
    baseline_gap: float
    cpdag: tuple[int | None, ...]
    seconds: float | None


def _distance(network: str, edges: list[list[str]]) -> int | None:
    return dn.compare(recorded_graph(network, edges), true_network(network).dag).cpdag_shd


def _least(gaps: Iterable[float | None]) -> float | None:
    return min((gap for gap in gaps if gap is not None), default=None)


def unlike(hits: int, runs: int, published: float, of: int = 10) -> bool:
    """Whether two shares of runs are told apart at 1% by Fisher's exact test.

    Args:
        hits: ours.
        runs: how many ours are.
        published: the paper's share.
        of: how many its runs are.

    >>> unlike(0, 10, 1.0), unlike(0, 10, 0.3)
    (True, False)
    """
    theirs = round(published * of)
    together = hits + theirs
    ways = [comb(runs, ours) * comb(of, together - ours) for ours in range(max(0, together - of), min(runs, together) + 1)]
    seen = comb(runs, hits) * comb(of, theirs)
    return sum(way for way in ways if way <= seen) < 0.01 * sum(ways)
