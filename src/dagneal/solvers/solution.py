"""The solution that a solver returns, as plain data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import isnan
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import networkx as nx

from dagneal.graphs.dags import ordered_parents
from dagneal.search.trace import TracePoint

if TYPE_CHECKING:
    import dimod

    from dagneal.base.kernels import Ints


@dataclass(frozen=True, eq=False)
class BestRead:
    """The best raw read or the best repaired read of a sampler.

    Attributes:
        dag: graph of the read; None in a result loaded from a file.
        score: log score of the graph.
        hits: number of reads with this score.
        optimum_hits: number of reads with the proved highest score; None if that score is unknown.
    """

    dag: nx.DiGraph | None
    score: float
    hits: int
    optimum_hits: int | None

    def summary(self) -> dict[str, Any]:
        """Return `score`, `hits` and `optimum_hits` as plain values."""
        return {"score": self.score, "hits": self.hits, "optimum_hits": self.optimum_hits}


@dataclass(frozen=True, eq=False)
class ReadSummary:
    """A summary of the reads of a sampler.

    A raw read is the graph that the sampler returned. A repaired read keeps only the order of the variables: every child
    gets its best parents among the variables before it. A raw read is feasible if it is a DAG with allowed parent sets.

    Attributes:
        sampleset: all reads that the sampler returned; None in a result loaded from a file.
        encoding: name of the QUBO encoding.
        reads: number of reads.
        distinct: number of distinct reads.
        qubo_variables: number of variables of the QUBO.
        interactions: number of quadratic terms of the QUBO.
        lowest_energy: lowest energy of a read. The energy of a feasible read with correct slack, order and auxiliary
            variables is minus its log score.
        feasible: fraction of raw reads that are DAGs with allowed parent sets.
        raw: best feasible raw read; None if no raw read is feasible.
        repaired: best repaired read.
        baseline: best log score of as many random orders as there are reads, for comparison.
        optimum: proved highest log score; None if it was too expensive to compute.
        chain_breaks: fraction of broken chains in each read; None if the sampler reports none.
        info: information of a quantum annealer about the call, such as its timing; empty for other samplers.
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
    chain_breaks: tuple[float, ...] | None = None
    info: Mapping[str, Any] = field(default_factory=dict)

    def summary(self) -> dict[str, Any]:
        """Return all fields except the sample set and the graphs, as plain values."""
        more: dict[str, Any] = {} if self.chain_breaks is None else {"chain_break_fractions": list(self.chain_breaks)}
        more |= {"info": dict(self.info)} if self.info else {}
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
        } | more


@dataclass(frozen=True, eq=False)
class Division:
    """The division of a problem into subproblems, and the combination of their solutions into one network.

    Attributes:
        combine: rule that combined the solutions: `conquer`, or one of the paper's rules `penalty` and `count`.
        size: number of variables in each subproblem.
        scheme: name of the rule that chose the subproblems.
        subproblems: number of subproblems.
        solver: name of the solver of the subproblems.
        votes: matrix C of the paper. `votes[parent, child]` is the number of subproblems whose solution has the edge
            parent -> child. None without subproblems.
        against: matrix P of the paper. `against[parent, child]` is the number of solved subproblems that contain both
            variables, but whose solution lacks the edge parent -> child. None without subproblems.
        acyclic: whether the combined graph has no cycle. The rules `penalty` and `count` may leave cycles.
        failed: error message of each subproblem that was not solved; the key lists the variables of the subproblem.
        finished: number of solved subproblems.
        candidates: candidate parents of each variable when the global problem was last solved.
        global_solves: number of times that the global problem was solved.
        global_solver: name of the solver of the global problem.
        skipped: notes about skipped work and other limits of the search; empty if there are none.
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
        """Return all fields except `votes` and `against`, as plain values."""
        return {key: value for key, value in asdict(self).items() if key not in ("votes", "against")}


@dataclass(frozen=True)
class SearchSummary:
    """A summary of an anytime search.

    Attributes:
        trace: best score after each improvement, with the time, the stage and the proved upper bound.
        stopped: reason for an early end: `"time"` or `"interrupt"`; empty if the search finished all its stages.
        locally_optimal: whether no single addition, removal, reversal or replacement of an edge within the parent limit,
            over all variables, raises the score. False also means that this was not checked, because the search stopped
            early.
        at_limit: variables with as many parents as the limit allows that the user gave.
    """

    trace: tuple[TracePoint, ...]
    stopped: str = ""
    locally_optimal: bool = False
    at_limit: tuple[str, ...] = ()

    def summary(self) -> dict[str, Any]:
        """Return all fields as plain values. A point of the trace is a list: seconds, score, stage, bound."""
        points = [[round(point.seconds, 6), point.score, point.stage, point.bound] for point in self.trace]
        return asdict(self) | {"trace": points, "at_limit": list(self.at_limit)}


@dataclass(frozen=True)
class EMSummary:
    """A summary of structural EM, which learns from rows with unknown values.

    Attributes:
        missing_values: number of unknown values.
        incomplete_rows: number of rows with unknown values.
        iterations: number of structures that were learned from completed data.
        log_likelihood: log-likelihood of the known values, in nats (natural-log units).
        trace: score of each better network; it never falls.
        exact: whether each row was completed in all possible ways for the structure search. False means that rows with many
            unknown values were represented by draws.
        stopped: reason for an early end: `"time"`, `"interrupt"`, or `"size"` if the next network was too densely connected;
            empty if no structure was better.
    """

    missing_values: int
    incomplete_rows: int
    iterations: int
    log_likelihood: float
    trace: tuple[float, ...]
    exact: bool
    stopped: str = ""

    def summary(self) -> dict[str, Any]:
        """Return all fields as plain values."""
        return asdict(self) | {"trace": list(self.trace)}


@dataclass(frozen=True)
class Bound:
    """A proved upper bound on the score.

    Attributes:
        score: upper bound on the log score of all networks within the parent limit.
        max_parents: parent limit of these networks.
        stopped: reason why the attempt to prove a lower bound ended: `"effort"`, `"time"` or `"interrupt"`; empty if the
            bound is the score of a network.
    """

    score: float
    max_parents: int
    stopped: str = ""


@runtime_checkable
class Certificate(Protocol):
    """A proof that can be saved, such as `dagneal.proofs.Proof`."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the proof to a file.

        Args:
            path: name of the file.
        """


@dataclass(frozen=True)
class CallSummary:
    """One call of a quantum annealer. A call can solve many subproblems.

    Attributes:
        problem_ids: ids of the call in the service, empty for a local sampler. There are several ids if the reads were split
            because of the limits of a call.
        fetched: number of answers that an earlier run had paid for.
        problems: number of problems that the call solved.
        reads: number of reads of each problem.
        qubits: number of qubits in use.
        chain_strength: prefactor of the chain strength.
        chain_break_fraction: fraction of broken chains, as a mean over the reads and the problems. Single qubits count as
            chains, as in Ocean.
        largest_chain_break_fraction: largest fraction of broken chains of a problem, as a mean over its reads.
        timing: times in microseconds, as the service reported them.
        parameters: parameters of the solver, such as `annealing_time`. Lists with a value for each qubit are left out.
    """

    problem_ids: tuple[str, ...]
    fetched: int
    problems: int
    reads: int
    qubits: int
    chain_strength: float
    chain_break_fraction: float
    largest_chain_break_fraction: float
    timing: Mapping[str, float]
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> tuple[float, ...]:
        """Key by which calls are sorted."""
        breaks = (self.chain_break_fraction, self.largest_chain_break_fraction)
        return -self.problems, -self.qubits, -self.reads, self.chain_strength, *breaks


@dataclass(frozen=True)
class Hardware:
    """The use of a quantum annealer in a run.

    Attributes:
        system: name of the chip.
        emulated: whether the chip was only emulated in software.
        calls: number of calls that were submitted and answered.
        fetched: number of answers to calls of an earlier run. They were fetched by their ids instead of submitted again.
        access_seconds: access time of the quantum annealer, for which the provider charges.
        chains: number of chains of two or more qubits, summed over all reads. A chain is a group of qubits that represents
            one variable. A single qubit cannot break, so it does not count.
        broken: number of broken chains, whose qubits have different values.
        embedding_seconds: time of the searches for embeddings, which are part of other stages. Stored embeddings take none.
        settings: settings of the annealer: the chain strength, spin-reversal transforms, and the model of an emulated chip.
        log: the calls of this run, those with the most problems first.
    """

    system: str
    emulated: bool
    calls: int = 0
    fetched: int = 0
    access_seconds: float = 0.0
    chains: int = 0
    broken: int = 0
    embedding_seconds: float = 0.0
    settings: Mapping[str, Any] = field(default_factory=dict)
    log: tuple[CallSummary, ...] = ()

    @property
    def chain_break_fraction(self) -> float:
        """The fraction of broken chains among those of two or more qubits; 0 without such chains."""
        return self.broken / self.chains if self.chains else 0.0

    def __sub__(self, earlier: Hardware) -> Hardware:
        """Return the use of the quantum annealer since the measurement `earlier`."""
        names = ("calls", "fetched", "access_seconds", "chains", "broken", "embedding_seconds")
        difference = {name: getattr(self, name) - getattr(earlier, name) for name in names}
        log = sorted(self.log[len(earlier.log) :], key=lambda call: call.order)  # answers arrive in any order
        return Hardware(self.system, self.emulated, **difference, settings=self.settings, log=tuple(log))

    def summary(self) -> dict[str, Any]:
        """Return the fields and the chain break fraction as plain values."""
        plain = asdict(self) | {"chain_break_fraction": self.chain_break_fraction}
        log = [call | {"problem_ids": list(call["problem_ids"])} for call in plain.pop("log")]
        return plain | {"log": log}


@dataclass(frozen=True, eq=False)
class Solution:
    """The network structure that a solver found.

    Attributes:
        dag: learned graph. It may have cycles if it is a raw read, or if one of the paper's rules `penalty` and `count`
            combined it from subproblems.
        score: log score of the graph; higher is better. NaN if the graph has cycles or a parent set that is not allowed.
        max_parents: parent limit. The rules `penalty` and `count` apply no limit; then `max_parents` is the largest number
            of parents in the graph.
        solver: name of the solver.
        optimal: whether it is proved that no allowed graph has a higher score.
        seconds: seconds spent in each stage.
        seed: seed that determines the graph; None if the solver uses no seed.
        reads: summary of a sampler's reads; None without a sampler.
        division: division into subproblems; None without subproblems.
        bound: proved upper bound on the score; None if unknown or if the optimum is known.
        hardware: use of a quantum annealer; None without a quantum annealer.
        search: summary of an anytime search; None for other solvers.
        proof: proof that the solution is optimal, or of its upper bound; None if there is none.
        em: summary of structural EM; None for data without unknown values.
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
    search: SearchSummary | None = None
    proof: Certificate | None = None
    em: EMSummary | None = None

    @property
    def edges(self) -> list[tuple[str, str]]:
        """The edges as (parent, child), sorted by child and then by parent, in the order of the variables."""
        parents_of = ordered_parents(self.dag, list(self.dag))
        return [(parent, child) for child, parents in parents_of.items() for parent in parents]

    @property
    def gap(self) -> float | None:
        """The difference between a proved upper bound on the score and the score itself; 0 if the solution is optimal.

        None if there is no bound, or if the bound holds only for fewer parents than this solution may have.
        """
        if self.optimal:
            return 0.0
        if self.bound is None or self.bound.max_parents < self.max_parents or isnan(self.score):
            return None
        return max(self.bound.score - self.score, 0.0)

    @property
    def is_dag(self) -> bool:
        """Whether the graph has no cycle and its score is not NaN. The score is NaN if a parent set is not allowed."""
        if isnan(self.score) or (self.division is not None and not self.division.acyclic):
            return False
        return bool(nx.is_directed_acyclic_graph(self.dag))
