"""Plans: what a division would need of a quantum annealer, before anything is paid for."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil, comb
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from dagneal.errors import InputError, whole_number
from dagneal.learners.blocks import choose_blocks
from dagneal.qpu.chips import System, chip_graph
from dagneal.qpu.embed import Chains, EmbeddingCache, bit_graph, cache_folder, find_embedding
from dagneal.qpu.tile import find_copies
from dagneal.qubo.encode import Encoding, qubos
from dagneal.sets import bounded_masks
from dagneal.table import Blocks


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
        qubits: that one block takes.
        longest_chain: of these.
        mean_chain: of these.
        copies: blocks in one call.
        calls: to solve all blocks.
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
    qubits: int
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
    encoded = qubos(Blocks(names, "any", limit, np.arange(size)[None], masks, scores), encoding)
    return bit_graph(zip(encoded.rows, encoded.columns, strict=True), encoded.layout.bits)


def plan(
    variables: int,
    size: int | None,
    system: tuple[str, System],
    encoding: Encoding,
    scheme: str = "all",
    max_parents: int = 2,
    reads: int = 100,
    annealing_time: float = 20.0,
    seed: int = 0,
    cache: Path | None = None,
) -> tuple[Plan, list[Chains]]:
    """Work out what blocks of one size would need.

    Args:
        variables: of the whole problem.
        size: of a block; nothing for the whole at once.
        system: the name of a chip and what is known of it.
        encoding: how blocks are encoded; nothing is pruned, since the bits of pruned blocks depend on the data.
        scheme: which blocks; see `choose_blocks`.
        max_parents: the most parents of a child.
        reads: of a call.
        annealing_time: of a read, in microseconds.
        seed: of covers and embeddings.
        cache: where embeddings are kept.

    Returns:
        The plan, and where its copies lie on the chip.
    """
    name, chip = system
    whole_number("variables", variables, least=2)
    k = variables if size is None else whole_number("the size of blocks", size, least=2)
    if k > variables:
        raise InputError(f"blocks of {k} variables do not go into {variables}")
    everything = comb(variables, k)
    blocks = everything if scheme == "all" or k == variables else len(choose_blocks(variables, k, scheme, seed))
    source = block_graph(k, max_parents, encoding)
    graph = chip_graph(chip.topology, chip.shape)
    copies = _copies(source, graph, name, chip, blocks > 1, seed, EmbeddingCache(cache or cache_folder()))
    lengths = [len(chain) for chain in copies[0].values()]
    calls = ceil(blocks / len(copies))
    last = blocks - (calls - 1) * len(copies)
    used = sum(lengths)
    seconds = (calls - 1) * chip.timing.access_time(used * len(copies), reads, annealing_time)
    seconds += chip.timing.access_time(used * last, reads, annealing_time)
    found = Plan(
        system=name,
        variables=variables,
        size=k,
        blocks=blocks,
        encoding=encoding.name,
        bits=len(source),
        interactions=source.number_of_edges(),
        qubits=used,
        longest_chain=max(lengths),
        mean_chain=used / len(source),
        copies=len(copies),
        calls=calls,
        reads=reads,
        annealing_time=annealing_time,
        seconds=seconds / 1e6,
        seconds_one_by_one=blocks * chip.timing.access_time(used, reads, annealing_time) / 1e6,
        fits_directly=fits_directly(graph, max_parents, encoding),
    )
    return found, copies


def _copies(
    source: nx.Graph, graph: nx.Graph, name: str, chip: System, many: bool, seed: int, cache: EmbeddingCache
) -> list[Chains]:
    kind = "copies" if many else "one"
    kept = cache.get(f"ideal-{name}", kind, source)
    if kept:
        return kept
    found = find_copies(source, graph, chip.topology, chip.shape, seed) if many else []
    found = found or [find_embedding(source, graph, seed)]
    cache.put(f"ideal-{name}", kind, source, found)
    return found


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
