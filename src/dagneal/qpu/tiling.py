"""Tiles: as many disjoint copies of one small embedding as a chip holds, so that one call solves many problems."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx

from dagneal.qpu.chips import chip_graph
from dagneal.qpu.embedding import Chains, fault

_RESTARTS = 400  # searches for a good embedding in a tile, by bits: a larger problem has fewer
_SMALL = 16  # bits up to which a place without chains is looked for, and several copies in one tile
_CHAINED = 60  # bits beyond which chains take up more than the bits themselves
_SIZES = {"chimera": range(1, 9), "pegasus": range(2, 9), "zephyr": range(1, 7)}


def find_copies(source: nx.Graph, target: nx.Graph, topology: str, shape: tuple[int, ...], seed: int = 0) -> list[Chains]:
    """Disjoint embeddings of one graph, as many as fit.

    A good embedding, or a few that lie together, is found in a small tile of the chip and moved over it. Where qubits are
    missing, copies that need them are left out.

    Args:
        source: the graph of the bits, numbered from 0.
        target: the graph of the working qubits.
        topology: chimera, pegasus or zephyr.
        shape: the size of the chip's graph.
        seed: the same seed gives the same copies.

    >>> from dagneal.qpu.chips import chip_graph
    >>> len(find_copies(nx.complete_graph(3), chip_graph("pegasus", (3,)), "pegasus", (3,)))
    18
    """
    best: list[Chains] = []
    ideal = chip_graph(topology, shape)  # knows its coordinates
    for size in _SIZES[topology]:
        tile = chip_graph(topology, (min(size, shape[0]), *shape[1:]))
        if len(tile) < (1.4 if len(source) <= _CHAINED else 2.5) * len(source):
            continue
        for together in range(1, 5 if len(source) <= _SMALL else 2):  # several in one tile leave less of it unused
            if together * len(source) > len(tile) or len(target) // len(source) <= len(best):
                break
            for group in _in_tile(source, tile, together, seed):
                copies = _move(group, source, tile, ideal, target, topology)
                if len(copies) > len(best):
                    best = copies
        if best and (len(tile) >= 6 * len(source) or len(source) > _CHAINED):
            break  # larger tiles waste what lies between the copies
    return best


def _in_tile(source: nx.Graph, tile: nx.Graph, together: int, seed: int) -> Iterator[list[Chains]]:
    """Disjoint embeddings in a tile, better and better: without chains if one is found, else with fewer qubits each time."""
    import minorminer
    from minorminer import subgraph

    bits = len(source)
    several = nx.disjoint_union_all([source] * together)
    fewest = len(tile) + 1
    if bits <= _SMALL:
        found = {bit: (qubit,) for bit, qubit in subgraph.find_subgraph(several, tile, seed=seed, timeout=2).items()}
        if found:
            yield [{bit: found[copy * bits + bit] for bit in range(bits)} for copy in range(together)]
            return
    for turn in range(max(3, min(24, _RESTARTS // bits))):
        found = minorminer.find_embedding(several, tile, random_seed=seed * 24 + turn, timeout=20, tries=1)
        used = sum(map(len, found.values()))
        if found and used < fewest:
            fewest = used
            yield [{bit: tuple(sorted(found[copy * bits + bit])) for bit in range(bits)} for copy in range(together)]
        if fewest == together * bits:
            break


def _move(
    group: list[Chains], source: nx.Graph, tile: nx.Graph, ideal: nx.Graph, target: nx.Graph, topology: str
) -> list[Chains]:
    """Copies of embeddings at all places of their tile, the first that fit."""
    import dwave.graphs as graphs

    mappings = {
        "chimera": graphs.chimera_sublattice_mappings,
        "pegasus": graphs.pegasus_sublattice_mappings,
        "zephyr": graphs.zephyr_sublattice_mappings,
    }[topology]
    used: set[int] = set()
    found: list[Chains] = []
    for mapping in mappings(tile, ideal):
        for chains in group:
            moved = {bit: tuple(mapping(qubit) for qubit in chain) for bit, chain in chains.items()}
            qubits = {qubit for chain in moved.values() for qubit in chain}
            if not qubits & used and not fault(moved, source, target):
                used |= qubits
                found.append(moved)
    return found


def check_copies(copies: list[Chains], source: nx.Graph, target: nx.Graph) -> tuple[list[Chains], str]:
    """The copies that still work, and what is wrong with the first that does not.

    Args:
        copies: disjoint embeddings.
        source: the graph of the bits.
        target: the graph of the working qubits.
    """
    good, first, used = [], "", set[int]()
    for chains in copies:
        why = fault(chains, source, target)
        qubits = {qubit for chain in chains.values() for qubit in chain}
        if not why and qubits & used:
            why = f"qubit {min(qubits & used)} is in two copies"
        if why:
            first = first or why
        else:
            used |= qubits
            good.append(chains)
    return good, first
