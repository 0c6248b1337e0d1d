"""Solution: what a solver returns, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import isnan
from typing import TYPE_CHECKING, Any

import networkx as nx

from dagneal.graphs.dags import ordered_parents

if TYPE_CHECKING:
    import dimod

    from dagneal.base.kernels import Ints


@dataclass(frozen=True, eq=False)
class BestRead:
    """The best of a sampler's reads, raw or repaired.

    Attributes:
        dag: the graph; None in a result that was read from a file.
        score: its log score.
        hits: the number of reads with this score.
        optimum_hits: the number of reads with the optimal score; None where the optimum is not known.
    """

    dag: nx.DiGraph | None
    score: float
    hits: int
    optimum_hits: int | None

    def summary(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {"score": self.score, "hits": self.hits, "optimum_hits": self.optimum_hits}


@dataclass(frozen=True, eq=False)
class ReadSummary:
    """The reads of a sampler, with raw and repaired results apart.

    Attributes:
        sampleset: all reads, as the sampler returned them; None in a result that was read from a file.
        encoding: the encoding of the QUBO, by name.
        reads: the number of reads.
        distinct: the number of different reads.
        bits: the variables of the QUBO.
        interactions: its quadratic terms.
        lowest_energy: the lowest energy of a read; minus a log score where the read is feasible.
        feasible: the share of raw reads that are DAGs within the parent limit.
        raw: the best feasible raw read; None where there is none.
        repaired: the best repaired read.
        baseline: the log score of the best of as many random orders, repaired in the same way.
        optimum: the proved optimum, where it was cheap enough to compute.
    """

    sampleset: dimod.SampleSet | None
    encoding: str
    reads: int
    distinct: int
    bits: int
    interactions: int
    lowest_energy: float
    feasible: float
    raw: BestRead | None
    repaired: BestRead
    baseline: float
    optimum: float | None

    def summary(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {
            "encoding": self.encoding,
            "reads": self.reads,
            "distinct": self.distinct,
            "bits": self.bits,
            "interactions": self.interactions,
            "lowest_energy": self.lowest_energy,
            "feasible_share": self.feasible,
            "raw": None if self.raw is None else self.raw.summary(),
            "repaired": self.repaired.summary(),
            "random_order_baseline": self.baseline,
            "optimum": self.optimum,
        }


@dataclass(frozen=True, eq=False)
class Division:
    """How a network was put together from subproblems.

    Attributes:
        combine: `conquer`, `penalty` or `count`.
        size: variables in a subproblem.
        scheme: which subproblems there are.
        subproblems: the number of subproblems.
        solver: what solved them.
        votes: C, the number of solved subproblems with each edge (row to column); None where there were no subproblems.
        against: P, the number of those that hold both ends of the edge, but not the edge.
        acyclic: whether the graph has no cycle; the rules of the paper may leave some.
        failed: the subproblems that could not be solved, with the reason.
        finished: the number of solved subproblems.
        candidates: the possible parents of each variable in the last global solve.
        rounds: the number of global solves.
        global_solver: what solved the global problem.
        skipped: what was left out to keep the cost down, in words.
        interrupted: whether Ctrl-C ended the work early.
    """

    combine: str
    size: int
    scheme: str
    subproblems: int
    solver: str
    votes: Ints | None = None
    against: Ints | None = None
    acyclic: bool = True
    failed: dict[str, str] = field(default_factory=dict)
    finished: int = 0
    candidates: dict[str, list[str]] | None = None
    rounds: int | None = None
    global_solver: str | None = None
    skipped: str = ""
    interrupted: bool = False

    def summary(self) -> dict[str, Any]:
        """Return the figures as plain values, without the votes."""
        return {key: value for key, value in asdict(self).items() if key not in ("votes", "against")}


@dataclass(frozen=True)
class Bound:
    """A proved upper bound on the score.

    Attributes:
        score: no network within the limit has a higher log score.
        max_parents: the limit.
    """

    score: float
    max_parents: int


@dataclass(frozen=True)
class Hardware:
    """The use that a run made of a quantum annealer.

    Attributes:
        system: the name of the chip.
        emulated: whether it was emulated on this machine.
        calls: the number of calls that were sent and answered.
        fetched: answers of an earlier run, fetched by their ids.
        access_seconds: access time of the calls, which is what is charged for them.
        chains: chains of all reads together.
        broken: the number of broken chains.
    """

    system: str
    emulated: bool
    calls: int = 0
    fetched: int = 0
    access_seconds: float = 0.0
    chains: int = 0
    broken: int = 0

    @property
    def chain_break_fraction(self) -> float:
        """The share of broken chains."""
        return self.broken / self.chains if self.chains else 0.0

    def __sub__(self, earlier: Hardware) -> Hardware:
        """Return the use since an earlier moment."""
        names = ("calls", "fetched", "access_seconds", "chains", "broken")
        since = {name: getattr(self, name) - getattr(earlier, name) for name in names}
        return Hardware(self.system, self.emulated, **since)

    def summary(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return asdict(self) | {"chain_break_fraction": self.chain_break_fraction}


@dataclass(frozen=True, eq=False)
class Solution:
    """A structure that a solver found.

    Attributes:
        dag: the graph; it may have cycles where raw reads or the rules of the paper leave some, and then the score is NaN.
        score: its log score, higher is better.
        max_parents: the parent limit; under the rules of the paper, which have none, the most parents that occur.
        solver: what found it.
        optimal: True only where it is proved that no graph within the limits scores higher.
        seconds: time spent, by stage.
        seed: the seed that the graph depends on; None where there was none.
        reads: the figures of a sampler's reads.
        division: how it was put together from subproblems.
        bound: a proved upper bound on the score, where the optimum is not known but this is.
        hardware: the use of a quantum annealer.
    """

    dag: nx.DiGraph
    score: float
    max_parents: int
    solver: str
    optimal: bool = False
    seconds: Mapping[str, float] = field(default_factory=dict)
    seed: int | None = None
    reads: ReadSummary | None = None
    division: Division | None = None
    bound: Bound | None = None
    hardware: Hardware | None = None

    @property
    def edges(self) -> list[tuple[str, str]]:
        """The edges, parent first, in the order of the variables."""
        return [(parent, child) for child, its in ordered_parents(self.dag, list(self.dag)).items() for parent in its]

    @property
    def is_dag(self) -> bool:
        """Whether the graph is a network: without cycles and within the limits."""
        if isnan(self.score) or (self.division is not None and not self.division.acyclic):
            return False
        return bool(nx.is_directed_acyclic_graph(self.dag))
