"""The solution that a solver returns, as plain data."""

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
        dag: graph of the read; None in a result loaded from a file.
        score: log score of the graph.
        hits: number of reads with this score.
        optimum_hits: number of reads with the optimal score; None if the optimum is unknown.
    """

    dag: nx.DiGraph | None
    score: float
    hits: int
    optimum_hits: int | None

    def summary(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return {"score": self.score, "hits": self.hits, "optimum_hits": self.optimum_hits}


@dataclass(frozen=True, eq=False)
class ReadSummary:
    """A summary of the reads of a sampler, with raw and repaired results.

    Attributes:
        sampleset: all reads that the sampler returned; None in a result loaded from a file.
        encoding: name of the QUBO encoding.
        reads: number of reads.
        distinct: number of distinct reads.
        qubo_variables: number of variables of the QUBO.
        interactions: number of quadratic terms of the QUBO.
        lowest_energy: lowest energy of a read. The energy of a feasible read with correct slack, order and auxiliary
            variables is minus its log score.
        feasible: fraction of raw reads that are DAGs within the parent limit.
        raw: best feasible raw read; None if no raw read is feasible.
        repaired: best repaired read.
        baseline: best log score of random orders, as many as reads and repaired in the same way.
        optimum: proved optimum; None if it was too expensive to compute.
    """

    sampleset: dimod.SampleSet | None
    encoding: str
    reads: int
    distinct: int
    qubo_variables: int
    interactions: int
    lowest_energy: float
    feasible: float
    raw: BestRead | None
    repaired: BestRead
    baseline: float
    optimum: float | None

    def summary(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return {
            "encoding": self.encoding,
            "reads": self.reads,
            "distinct": self.distinct,
            "qubo_variables": self.qubo_variables,
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
    """The division into subproblems, and how they were combined into one network.

    Attributes:
        combine: rule that combined the subproblems: `conquer`, `penalty` or `count`.
        size: number of variables of a subproblem.
        scheme: scheme that chose the subproblems.
        subproblems: number of subproblems.
        solver: solver of the subproblems.
        votes: matrix C, the number of solved subproblems with each edge (row to column); None without subproblems.
        against: matrix P, the number of solved subproblems that contain both variables of an edge, but not the edge.
        acyclic: whether the graph has no cycle. The rules of the paper may leave cycles.
        failed: reason for each subproblem that was not solved.
        finished: number of solved subproblems.
        candidates: candidate parents of each variable in the last global solve.
        global_solves: number of global solves.
        global_solver: solver of the global problem.
        skipped: description of the work that was skipped to save time; empty if none.
        interrupted: whether Ctrl-C stopped the run.
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
    global_solves: int | None = None
    global_solver: str | None = None
    skipped: str = ""
    interrupted: bool = False

    def summary(self) -> dict[str, Any]:
        """Return the fields as plain values, without the votes."""
        return {key: value for key, value in asdict(self).items() if key not in ("votes", "against")}


@dataclass(frozen=True)
class Bound:
    """A proved upper bound on the score.

    Attributes:
        score: upper bound on the log score of all networks within the parent limit.
        max_parents: parent limit.
    """

    score: float
    max_parents: int


@dataclass(frozen=True)
class Hardware:
    """The use of a quantum annealer in a run.

    Attributes:
        system: name of the chip.
        emulated: whether the chip was emulated on this machine.
        calls: number of submitted and answered calls.
        fetched: number of answers of an earlier run that were fetched by their ids.
        access_seconds: access time of the calls, which is charged.
        chains: number of chains in all reads.
        broken: number of broken chains.
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
        """The fraction of broken chains."""
        return self.broken / self.chains if self.chains else 0.0

    def __sub__(self, earlier: Hardware) -> Hardware:
        """Return the use since an earlier measurement."""
        names = ("calls", "fetched", "access_seconds", "chains", "broken")
        difference = {name: getattr(self, name) - getattr(earlier, name) for name in names}
        return Hardware(self.system, self.emulated, **difference)

    def summary(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return asdict(self) | {"chain_break_fraction": self.chain_break_fraction}


@dataclass(frozen=True, eq=False)
class Solution:
    """A structure that a solver found.

    Attributes:
        dag: learned graph. Raw reads and the rules of the paper may leave cycles; the score is NaN in this case.
        score: log score of the graph; higher is better.
        max_parents: parent limit; for the rules of the paper, which have no limit, the highest number of parents.
        solver: name of the solver.
        optimal: whether it is proved that no graph within the limits has a higher score.
        seconds: seconds spent in each stage.
        seed: seed that determines the graph; None if the solver uses no seed.
        reads: summary of a sampler's reads; None without a sampler.
        division: division into subproblems; None without subproblems.
        bound: proved upper bound on the score; None if unknown or if the optimum is known.
        hardware: use of a quantum annealer; None without a quantum annealer.
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
        """The edges as (parent, child), in the order of the variables."""
        parents_of = ordered_parents(self.dag, list(self.dag))
        return [(parent, child) for child, parents in parents_of.items() for parent in parents]

    @property
    def is_dag(self) -> bool:
        """Whether the graph has no cycles and is within the limits."""
        if isnan(self.score) or (self.division is not None and not self.division.acyclic):
            return False
        return bool(nx.is_directed_acyclic_graph(self.dag))
