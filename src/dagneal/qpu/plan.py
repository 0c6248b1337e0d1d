"""Plans: what a division would need of a quantum annealer, before anything is paid for."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from math import comb
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from dagneal.base.caches import user_cache_folder
from dagneal.base.defaults import ANNEALING_TIME, PAPER_PARENTS, READS, SEED, SUBPROBLEM_READS, SYSTEM
from dagneal.base.errors import InputError, whole_number
from dagneal.divide.candidates import allowed_by_share, named_candidates, small_evidence
from dagneal.divide.subproblems import choose_subproblems
from dagneal.qpu.chips import System, chip_graph, system_named
from dagneal.qpu.embedding import Chains, EmbeddingCache, bit_graph
from dagneal.qpu.finder import EmbeddingFinder
from dagneal.qpu.submission import check_call, split_reads
from dagneal.qubo.encode import TIGHT, Encoding, qubos
from dagneal.scoring.scorer import Scorer, check_max_parents
from dagneal.scoring.sets import bounded_masks
from dagneal.scoring.table import ScoreTable, Subproblems
from dagneal.solvers.policy import parent_limit


@dataclass(frozen=True)
class Plan:
    """What solving blocks of one size would need.

    Attributes:
        system: the chip.
        variables: of the whole problem.
        size: of a block; as many as there are variables if it is not divided.
        blocks: how many there are.
        encoding: of a block.
        bits: of a block's QUBO.
        interactions: its products of two bits.
        qubits: that one block takes, in the mean over its copies.
        longest_chain: of all copies.
        mean_chain: likewise.
        copies: blocks in one call.
        calls: to solve all blocks; more where the reads of one call would pass the limits of the chip.
        reads: of a call.
        annealing_time: of a read, in microseconds.
        seconds: of QPU access time in all.
        seconds_one_by_one: of QPU access time with one block in a call, as in the paper.
        fits_directly: variables of the largest problem that surely fits undivided, as part of the largest clique.
    """

    system: str
    variables: int
    size: int
    blocks: int
    encoding: str
    bits: int
    interactions: int
    qubits: float
    longest_chain: int
    mean_chain: float
    copies: int
    calls: int
    reads: int
    annealing_time: float
    seconds: float
    seconds_one_by_one: float
    fits_directly: int

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values."""
        return asdict(self)


def block_graph(size: int, max_parents: int, encoding: Encoding) -> nx.Graph:
    """The graph of the bits of any block of a size: with one encoding it depends on nothing else.

    Args:
        size: variables in a block.
        max_parents: the most parents of a child.
        encoding: how blocks are encoded; nothing is pruned.

    >>> from dagneal.qubo.encode import PAPER
    >>> graph = block_graph(4, 2, PAPER)
    >>> graph.number_of_nodes(), graph.number_of_edges()
    (26, 64)
    """
    limit = min(max_parents, size - 1)
    masks = bounded_masks(size - 1, limit)
    names = tuple(map(str, range(size)))
    scores = -np.random.default_rng(0).random((1, size, len(masks)))
    return table_graph(Subproblems(names, "any", limit, np.arange(size)[None], masks, scores), encoding)


@dataclass(frozen=True)
class PlanSettings:
    """The chip that a plan is for, and how problems would be sent to it.

    Args:
        system: the name of a chip, or a topology such as `pegasus`.
        encoding: how problems are encoded.
        max_parents: the most parents of a child; by default 2 in a subproblem, and 4 in the global problem.
        reads: of a call; by default 100 for subproblems, and 1,000 for the global problem.
        annealing_time: of a read, in microseconds.
        cache: the folder of stored embeddings; the user's by default.
    """

    system: str = SYSTEM
    encoding: Encoding = TIGHT
    max_parents: int | None = None
    reads: int | None = None
    annealing_time: float = ANNEALING_TIME
    cache: Path | None = None

    def call(self, reads: int) -> dict[str, Any]:
        """Return the parameters of a call, if the chip takes them.

        Args:
            reads: their number, where none is given.
        """
        call = {"num_reads": reads if self.reads is None else self.reads, "annealing_time": self.annealing_time}
        check_call(system_named(self.system)[1].properties, call)
        return call


def plan(
    variables: int,
    size: int | None,
    settings: PlanSettings,
    scheme: str = "all",
    seed: int = SEED,
    source: nx.Graph | None = None,
    notes: list[str] | None = None,
) -> tuple[Plan, list[Chains]]:
    """Work out what subproblems of one size would need.

    Args:
        variables: of the global problem.
        size: of a subproblem; None for the global problem at once.
        settings: the chip, and how problems would be sent to it. Nothing is pruned, since the variables of pruned QUBOs
            depend on the data.
        scheme: which subproblems; see `choose_subproblems`.
        seed: of covers and embeddings.
        source: the graph of the QUBO of a subproblem, where it is known; otherwise that of any subproblem of this size.
        notes: remarks on stored embeddings are added here.

    Returns:
        The plan, and where its copies lie on the chip.
    """
    name, chip = system_named(settings.system)
    encoding = settings.encoding
    whole_number("variables", variables, least=2)
    k = variables if size is None else whole_number("size", size, least=2)
    if k > variables:
        raise InputError(f"size is {k}; subproblems have at most {variables} variables, as many as there are")
    default = min(PAPER_PARENTS, variables - 1)
    limit = default if settings.max_parents is None else check_max_parents(settings.max_parents, variables)
    max_parents = whole_number("max_parents", limit, least=1)
    call = settings.call(SUBPROBLEM_READS)
    everything = comb(variables, k)
    blocks = everything if scheme == "all" or k == variables else len(choose_subproblems(variables, k, scheme, seed))
    source = block_graph(k, max_parents, encoding) if source is None else source
    if not len(source):
        raise InputError("no edge can raise the score of these data, so there is nothing to send to a quantum annealer")
    finder = _finder(settings, notes)
    copies = finder.find(source, many=blocks > 1, seed=seed)
    taken = np.array([sum(map(len, chains.values())) for chains in copies])
    longest = max(len(chain) for chains in copies for chain in chains.values())
    full, last = divmod(blocks, len(copies))
    calls, seconds = _cost(chip, int(taken.sum()), call)
    calls, seconds = calls * full, seconds * full
    if last:
        more, further = _cost(chip, int(taken[:last].sum()), call)
        calls, seconds = calls + more, seconds + further
    found = Plan(
        system=name,
        variables=variables,
        size=k,
        blocks=blocks,
        encoding=encoding.name,
        bits=len(source),
        interactions=source.number_of_edges(),
        qubits=round(float(taken.mean()), 1),
        longest_chain=longest,
        mean_chain=float(taken.mean()) / len(source),
        copies=len(copies),
        calls=calls,
        reads=call["num_reads"],
        annealing_time=settings.annealing_time,
        seconds=seconds,
        seconds_one_by_one=blocks * _cost(chip, round(float(taken.mean())), call)[1],
        fits_directly=fits_directly(finder.graph, max_parents, replace(encoding, prune=False)),
    )
    return found, copies


@dataclass(frozen=True)
class WholePlan:
    """What a solve of the whole on candidate parents would need, once the blocks are solved.

    Attributes:
        system: the chip.
        candidates: the most possible parents of a variable.
        bits: of the QUBO.
        interactions: its products of two bits.
        qubits: that it takes.
        longest_chain: of these.
        calls: of one solve; there is one in each round of the conquest, of which there are usually 2 to 5.
        reads: of one solve.
        seconds: of QPU access time for one solve.
    """

    system: str
    candidates: int
    bits: int
    interactions: int
    qubits: int
    longest_chain: int
    calls: int
    reads: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values."""
        return asdict(self)


def plan_whole(scorer: Scorer, settings: PlanSettings, notes: list[str] | None = None) -> WholePlan:
    """Work out what the first global solve would need; the subproblems of three variables are solved here, exactly.

    Args:
        scorer: the data.
        settings: the chip, and how the global problem would be sent to it.
        notes: remarks on stored embeddings are added here.
    """
    name, chip = system_named(settings.system)
    call = settings.call(READS)
    names = scorer.data.names
    limit = parent_limit(settings.max_parents, len(names))
    _, votes, together = small_evidence(scorer.table(min(PAPER_PARENTS, limit)), choose_subproblems(len(names), 3))
    candidates = named_candidates(allowed_by_share(votes, together, 1.0), names)
    source = table_graph(scorer.table(limit, candidates), settings.encoding)
    lengths = [len(chain) for chain in _finder(settings, notes).find(source)[0].values()]
    calls, seconds = _cost(chip, sum(lengths), call)
    return WholePlan(
        system=name,
        candidates=max(map(len, candidates.values())),
        bits=len(source),
        interactions=source.number_of_edges(),
        qubits=sum(lengths),
        longest_chain=max(lengths, default=0),
        calls=calls,
        reads=call["num_reads"],
        seconds=seconds,
    )


def table_graph(table: ScoreTable | Subproblems, encoding: Encoding) -> nx.Graph:
    """The graph of the bits of a table's QUBO.

    Args:
        table: local scores.
        encoding: how they are encoded.
    """
    encoded = qubos(table, encoding)
    return bit_graph(zip(encoded.rows, encoded.columns, strict=True), encoded.layout.bits)


def _finder(settings: PlanSettings, notes: list[str] | None) -> EmbeddingFinder:
    name, chip = system_named(settings.system)
    graph = chip_graph(chip.topology, chip.shape)
    stored = EmbeddingCache(settings.cache or user_cache_folder())
    return EmbeddingFinder(f"ideal-{name}", graph, chip.topology, chip.shape, stored, [] if notes is None else notes)


def _cost(chip: System, qubits: int, call: dict[str, Any]) -> tuple[int, float]:
    """The calls that reads take within the limits of a chip, and the seconds of access time that they are charged."""
    parts = split_reads(chip.properties, call)
    times = [chip.timing.access_time(qubits, part["num_reads"], part["annealing_time"]) for part in parts]
    return len(parts), sum(times) / 1e6


def fits_directly(graph: nx.Graph, max_parents: int, encoding: Encoding) -> int:
    """The most variables whose QUBO has no more bits than the largest clique of a chip has.

    Args:
        graph: of the chip.
        max_parents: the most parents of a child.
        encoding: how the whole is encoded.
    """
    from minorminer.busclique import busgraph_cache

    clique = len(busgraph_cache(graph).largest_clique())
    n = 2
    while len(block_graph(n + 1, max_parents, encoding)) <= clique:
        n += 1
    return n
