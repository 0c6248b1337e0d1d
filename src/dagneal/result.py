"""Learned: what a learner returns, and how it is saved."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx

from dagneal.base.errors import InputError, secondary
from dagneal.base.files import replacing
from dagneal.graphs.dags import graph_of, ordered_parents

if TYPE_CHECKING:
    import dimod

    from dagneal.base.kernels import Ints
    from dagneal.data.dataset import Dataset
    from dagneal.networks.network import BayesianNetwork
    from dagneal.scoring.scores import Dirichlet, Score


@dataclass(frozen=True, eq=False)
class Outcome:
    """The best of a sampler's reads, read in one way.

    Attributes:
        dag: the graph.
        score: its log score.
        hits: how many reads have this score.
        optimum_hits: how many reads have the optimal score; None where the optimum is not known.
    """

    dag: nx.DiGraph
    score: float
    hits: int
    optimum_hits: int | None


@dataclass(frozen=True, eq=False)
class Annealed:
    """What a sampler's reads came to, raw and repaired told apart.

    Attributes:
        sampleset: all reads, as the sampler returned them.
        encoding: the penalties of the QUBO.
        reads: how many reads there are.
        distinct: how many of them differ.
        bits: the variables of the QUBO.
        interactions: its products of two bits.
        lowest_energy: the lowest energy of a read; minus a log score where the read is feasible.
        feasible: the share of raw reads that are DAGs within the parent limit.
        raw: the best feasible raw read; None where there is none.
        repaired: the best repaired read.
        baseline: the log score of the best of as many random orders, repaired in the same way.
        optimum: the proved optimum, where it was cheap enough to compute.
    """

    sampleset: dimod.SampleSet
    encoding: str
    reads: int
    distinct: int
    bits: int
    interactions: int
    lowest_energy: float
    feasible: float
    raw: Outcome | None
    repaired: Outcome
    baseline: float
    optimum: float | None

    def summary(self) -> dict[str, Any]:
        """The figures as plain values."""

        def outcome(found: Outcome | None) -> dict[str, Any] | None:
            if found is None:
                return None
            return {"score": found.score, "hits": found.hits, "optimum_hits": found.optimum_hits}

        return {
            "encoding": self.encoding,
            "reads": self.reads,
            "distinct": self.distinct,
            "bits": self.bits,
            "interactions": self.interactions,
            "lowest_energy": self.lowest_energy,
            "feasible_share": self.feasible,
            "raw": outcome(self.raw),
            "repaired": outcome(self.repaired),
            "random_order_baseline": self.baseline,
            "optimum": self.optimum,
        }


@dataclass(frozen=True, eq=False)
class Division:
    """How a network was put together from blocks.

    Attributes:
        rule: `conquer`, `penalty` or `count`.
        size: variables in a block.
        scheme: which blocks there are.
        blocks: how many there are.
        solver: what solved them.
        votes: C, in how many solved blocks each edge (row to column) is; None where there were no blocks.
        against: P, in how many of those that hold both its ends it is not.
        acyclic: whether the graph has no cycle; the paper's rules may leave some.
        failed: the blocks that could not be solved, with the reason.
        finished: how many were solved; fewer than `blocks` if some failed or the division was interrupted.
        candidates: the possible parents of each variable in the last solve of the whole.
        rounds: how often the whole was solved.
        whole: what solved the whole.
        skipped: what was left out to keep the cost down, in words.
        interrupted: whether Ctrl-C ended it early.
    """

    rule: str
    size: int
    scheme: str
    blocks: int
    solver: str
    votes: Ints | None = None
    against: Ints | None = None
    acyclic: bool = True
    failed: dict[str, str] = field(default_factory=dict)
    finished: int = 0
    candidates: dict[str, list[str]] | None = None
    rounds: int | None = None
    whole: str | None = None
    skipped: str = ""
    interrupted: bool = False

    def summary(self) -> dict[str, Any]:
        """The figures as plain values, without the votes."""
        return {key: value for key, value in asdict(self).items() if key not in ("votes", "against")}


@dataclass(frozen=True)
class Bound:
    """What is proved where the optimum is not known.

    Attributes:
        score: no network within the limit has a higher log score.
        max_parents: the limit.
    """

    score: float
    max_parents: int


@dataclass(frozen=True, eq=False)
class Learned:
    """A learned structure.

    Attributes:
        dag: the graph; with `repair=False` and no feasible read it may have cycles, and the score is NaN.
        score: its log score, higher is better.
        score_name: which score.
        max_parents: the parent limit; under the paper's rules, which have none, the most parents that occur.
        solver: what found it.
        optimal: True only where it is proved that no graph within the limits scores higher.
        seconds: time spent, by stage.
        seed: the seed of the run, where there was one.
        annealed: the figures of a sampler's reads.
        division: how it was put together from blocks, if it was.
        hardware: what was asked of a quantum annealer: system, emulated or not, calls, access time, broken chains.
        bound: a score that no network exceeds, where the optimum is not known but this is.
        knowledge: what was known before, as plain values.
        confidence: how sure it is, as plain values, where that was asked for.
        data: the data it was learned from, where they are at hand.
        prior: the prior for fitting probabilities to them.
        criterion: the score that was maximised, where it is at hand.
    """

    dag: nx.DiGraph
    score: float
    score_name: str
    max_parents: int
    solver: str
    optimal: bool
    seconds: dict[str, float] = field(default_factory=dict)
    seed: int | None = None
    annealed: Annealed | None = None
    division: Division | None = None
    hardware: dict[str, Any] | None = None
    bound: Bound | None = None
    knowledge: dict[str, Any] | None = None
    confidence: dict[str, Any] | None = None
    data: Dataset | None = None
    prior: Dirichlet | None = None
    criterion: Score | None = None

    @cached_property
    def network(self) -> BayesianNetwork:
        """The graph with probabilities fitted to the data, when they are first asked for."""
        from dagneal.networks.network import fit

        if self.data is None:
            raise InputError("probabilities need the data: fit(found.dag, data)")
        if self.division is not None and not self.division.acyclic:
            raise InputError("the votes leave a cycle, so there are no probabilities; drop its weakest edge with --acyclic")
        if math.isnan(self.score):
            raise InputError("the best read is not a network, so it has no probabilities; repair it or give more reads")
        return fit(self.dag, self.data, self.prior)

    @property
    def _is_network(self) -> bool:
        return not math.isnan(self.score) and (self.division is None or self.division.acyclic)

    @property
    def edges(self) -> list[tuple[str, str]]:
        """The edges, parent first, in the order of the variables."""
        return [(parent, child) for child, its in ordered_parents(self.dag, list(self.dag)).items() for parent in its]

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, as `dagneal learn --json` prints it."""
        found: dict[str, Any] = {
            "variables": list(self.dag),
            "edges": [list(edge) for edge in self.edges],
            "score": None if math.isnan(self.score) else self.score,
            "score_name": self.score_name,
            "max_parents": self.max_parents,
            "solver": self.solver,
            "seed": self.seed,
            "seconds": {stage: round(value, 6) for stage, value in self.seconds.items()},
            "optimal": self.optimal,
        }
        if self.bound is not None:
            found["bound"] = asdict(self.bound)
        found |= self.confidence or {}
        if self.annealed is not None:
            found["annealed"] = self.annealed.summary()
        if self.data is not None:
            found["data"] = {"rows": self.data.rows, "prepared": list(self.data.prepared)}
        if self.knowledge is not None:
            found["knowledge"] = self.knowledge
        if self.hardware is not None:
            found["hardware"] = self.hardware
        if self.division is not None:
            found["division"] = self.division.summary()
            found["acyclic"] = found["division"].pop("acyclic")
            if self.division.votes is not None and self.division.against is not None:  # by row and column, as the variables
                found["votes"] = {"for": self.division.votes.tolist(), "against": self.division.against.tolist()}
        return found

    def save(self, path: str | os.PathLike[str], safe: bool = False) -> None:
        """Save the result; the ending of the name says how.

        Args:
            path: a name ending in .html (a page to look at), .json (all there is to know), .bif (with fitted probabilities),
                .graphml or .dot.
            safe: make names and states of .bif, .graphml and .dot plain words first, for tools that take no others.
        """
        from dagneal.base.files import check_format
        from dagneal.networks.formats import FORMATS, PAGE, write_network

        check_format(path, (*FORMATS, PAGE))
        suffix = Path(path).suffix.lower()
        if suffix == ".json":
            from dagneal.networks.formats import network_dict

            fitted: dict[str, Any] = {}
            if self.data is not None and self._is_network:
                with secondary("fitting probabilities"):
                    fitted = network_dict(self.network)
            with replacing(path) as file:
                file.write((json.dumps(fitted | self.to_dict(), indent=1) + "\n").encode())
        elif suffix == PAGE:
            from dagneal.report.page import write_page

            write_page(self, path)
        else:
            write_network(self.network if suffix == ".bif" else self.ordered_dag, path, safe)

    @property
    def ordered_dag(self) -> nx.DiGraph:
        """The graph with its edges in the order of the variables."""
        return graph_of(self.dag, self.edges)
