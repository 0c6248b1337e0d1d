"""Plans: what a division would need of a quantum annealer, before anything is paid for."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from math import comb
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from dagneal.base.caches import user_cache_folder
from dagneal.base.defaults import READS, SUBPROBLEM_READS
from dagneal.base.errors import InputError, whole_number
from dagneal.divide.candidates import allowed_by_share, named_candidates, small_evidence
from dagneal.divide.subproblems import choose_subproblems
from dagneal.qpu.chips import System, chip_graph
from dagneal.qpu.embedding import Chains, EmbeddingCache, bit_graph
from dagneal.qpu.finder import Places
from dagneal.qpu.submission import check_call, split_reads
from dagneal.qubo.encode import Encoding, qubos
from dagneal.scoring.scorer import Scorer, checked_max_parents
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


def plan(
    variables: int,
    size: int | None,
    system: tuple[str, System],
    encoding: Encoding,
    scheme: str = "all",
    max_parents: int = 2,
    reads: int = SUBPROBLEM_READS,
    annealing_time: float = 20.0,
    seed: int = 0,
    cache: Path | None = None,
    notes: list[str] | None = None,
    source: nx.Graph | None = None,
) -> tuple[Plan, list[Chains]]:
    """Work out what blocks of one size would need.

    Args:
        variables: of the whole problem.
        size: of a block; nothing for the whole at once.
        system: the name of a chip and what is known of it.
        encoding: how blocks are encoded; nothing is pruned, since the bits of pruned blocks depend on the data.
        scheme: which blocks; see `choose_subproblems`.
        max_parents: the most parents of a child.
        reads: of a call.
        annealing_time: of a read, in microseconds.
        seed: of covers and embeddings.
        cache: where embeddings are kept.
        notes: what is noticed about kept embeddings is added here.
        source: the graph of the bits of a block, where it is known; otherwise that of any block of this size.

    Returns:
        The plan, and where its copies lie on the chip.
    """
    name, chip = system
    whole_number("variables", variables, least=2)
    k = variables if size is None else whole_number("the size of blocks", size, least=2)
    if k > variables:
        raise InputError(f"blocks of {k} variables do not go into {variables}")
    whole_number("max_parents", checked_max_parents(max_parents, variables), least=1)
    call = {"num_reads": reads, "annealing_time": annealing_time}
    check_call(chip.properties, call)
    everything = comb(variables, k)
    blocks = everything if scheme == "all" or k == variables else len(choose_subproblems(variables, k, scheme, seed))
    source = block_graph(k, max_parents, encoding) if source is None else source
    if not len(source):
        raise InputError("no edge can raise the score of these data, so there is nothing to send to a quantum annealer")
    places = _places(name, chip, cache, notes)
    copies = places.find(source, many=blocks > 1, seed=seed)
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
        reads=reads,
        annealing_time=annealing_time,
        seconds=seconds,
        seconds_one_by_one=blocks * _cost(chip, round(float(taken.mean())), call)[1],
        fits_directly=fits_directly(places.graph, max_parents, replace(encoding, prune=False)),
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


def plan_whole(
    scorer: Scorer,
    system: tuple[str, System],
    encoding: Encoding,
    max_parents: int | None = None,
    reads: int = READS,
    annealing_time: float = 20.0,
    cache: Path | None = None,
    notes: list[str] | None = None,
) -> WholePlan:
    """Work out what the first solve of the whole would need, the blocks of three being solved here, exactly.

    Args:
        scorer: the data.
        system: the name of a chip and what is known of it.
        encoding: how the whole is encoded.
        max_parents: the most parents of a child; 4 by default, as in `divide`.
        reads: of the solve.
        annealing_time: of a read, in microseconds.
        cache: where embeddings are kept.
        notes: what is noticed about kept embeddings is added here.
    """
    name, chip = system
    call = {"num_reads": reads, "annealing_time": annealing_time}
    check_call(chip.properties, call)
    names = scorer.data.names
    limit = parent_limit(max_parents, len(names))
    _, votes, together = small_evidence(scorer.table(min(2, limit)), choose_subproblems(len(names), 3))
    candidates = named_candidates(allowed_by_share(votes, together, 1.0), names)
    source = table_graph(scorer.table(limit, candidates), encoding)
    lengths = [len(chain) for chain in _places(name, chip, cache, notes).find(source)[0].values()]
    calls, seconds = _cost(chip, sum(lengths), call)
    return WholePlan(
        system=name,
        candidates=max(map(len, candidates.values())),
        bits=len(source),
        interactions=source.number_of_edges(),
        qubits=sum(lengths),
        longest_chain=max(lengths, default=0),
        calls=calls,
        reads=reads,
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


def _places(name: str, chip: System, cache: Path | None, notes: list[str] | None) -> Places:
    graph = chip_graph(chip.topology, chip.shape)
    kept = EmbeddingCache(cache or user_cache_folder())
    return Places(f"ideal-{name}", graph, chip.topology, chip.shape, kept, [] if notes is None else notes)


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
