"""Tiling: place many disjoint copies of one small embedding on a chip, so that one call solves many problems."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx

from dagneal.qpu.chips import chip_graph
from dagneal.qpu.embedding import Chains, embedding_error

_RESTARTS = 400  # the number of searches in a tile is about _RESTARTS / (number of QUBO variables)
_SMALL = 16  # up to this number of QUBO variables, try embeddings without chains and several copies in one tile
_CHAINED = 60  # above this number of QUBO variables, assume that an embedding needs long chains
_SUBGRAPH_SECONDS = 10  # the searches that succeed take at most 1.5 s, so that a slow machine finds the same embeddings
_SIZES = {"chimera": range(1, 9), "pegasus": range(2, 9), "zephyr": range(1, 7)}  # sizes of tiles to try


def find_copies(source: nx.Graph, target: nx.Graph, topology: str, shape: tuple[int, ...], seed: int = 0) -> list[Chains]:
    """Return as many disjoint embeddings of one QUBO as fit on a chip.

    The search finds one or a few good embeddings in a small tile of the chip. It then repeats the tile across the chip, and
    skips embeddings that need qubits or couplers that do not work.

    Args:
        source: graph of the QUBO; see `qubo_graph`.
        target: graph of the chip's working qubits.
        topology: `chimera`, `pegasus` or `zephyr`.
        shape: size parameters of the chip's graph, such as `(16,)`.
        seed: random seed; equal seeds give equal embeddings.

    >>> from dagneal.qpu.chips import chip_graph
    >>> len(find_copies(nx.complete_graph(3), chip_graph("pegasus", (3,)), "pegasus", (3,)))
    18
    """
    best: list[Chains] = []
    ideal = chip_graph(topology, shape)  # its nodes have coordinates, unlike those of `target`
    for size in _SIZES[topology]:
        tile = chip_graph(topology, (min(size, shape[0]), *shape[1:]))
        if len(tile) < (1.4 if len(source) <= _CHAINED else 2.5) * len(source):
            continue
        for together in range(1, 5 if len(source) <= _SMALL else 2):  # several copies use a tile better than one
            if together * len(source) > len(tile) or len(target) // len(source) <= len(best):
                break
            for group in _search_tile(source, tile, together, seed):
                copies = _move(group, source, tile, ideal, target, topology)
                if len(copies) > len(best):
                    best = copies
        if best and (len(tile) >= 6 * len(source) or len(source) > _CHAINED):
            break  # larger tiles waste the qubits between the copies
    return best


def _search_tile(source: nx.Graph, tile: nx.Graph, together: int, seed: int) -> Iterator[list[Chains]]:
    """Yield groups of `together` disjoint embeddings in a tile. Each group uses fewer qubits than the previous group.

    If a first, quick search finds a group with only one qubit per variable, this is the only group.
    """
    import minorminer
    from minorminer import subgraph

    count = len(source)
    several = nx.disjoint_union_all([source] * together)
    fewest = len(tile) + 1
    if count <= _SMALL:
        subgraphs = subgraph.find_subgraph(several, tile, seed=seed, timeout=_SUBGRAPH_SECONDS)
        if subgraphs:
            yield [
                {variable: (subgraphs[copy * count + variable],) for variable in range(count)} for copy in range(together)
            ]
            return
    for turn in range(max(3, min(24, _RESTARTS // count))):
        found = minorminer.find_embedding(several, tile, random_seed=seed * 24 + turn, timeout=20, tries=1)
        used = sum(map(len, found.values()))
        if found and used < fewest:
            fewest = used
            yield [
                {variable: tuple(sorted(found[copy * count + variable])) for variable in range(count)}
                for copy in range(together)
            ]
        if fewest == together * count:
            break


def _move(
    group: list[Chains], source: nx.Graph, tile: nx.Graph, ideal: nx.Graph, target: nx.Graph, topology: str
) -> list[Chains]:
    """Repeat the embeddings of one tile across the chip. Return the resulting embeddings that are valid and disjoint."""
    import dwave.graphs as graphs

    mappings = {
        "chimera": graphs.chimera_sublattice_mappings,
        "pegasus": graphs.pegasus_sublattice_mappings,
        "zephyr": graphs.zephyr_sublattice_mappings,
    }[topology]
    used: set[int] = set()
    copies: list[Chains] = []
    for mapping in mappings(tile, ideal):
        for chains in group:
            moved = {variable: tuple(mapping(qubit) for qubit in chain) for variable, chain in chains.items()}
            qubits = {qubit for chain in moved.values() for qubit in chain}
            if not qubits & used and not embedding_error(moved, source, target):
                used |= qubits
                copies.append(moved)
    return copies


def check_copies(copies: list[Chains], source: nx.Graph, target: nx.Graph) -> tuple[list[Chains], str]:
    """Return a tuple: the valid embeddings, and a description of the first error. Without errors, the description is empty.

    Args:
        copies: embeddings to check.
        source: graph of the QUBO; see `qubo_graph`.
        target: graph of the chip's working qubits.
    """
    valid, first_error, used = [], "", set[int]()
    for chains in copies:
        error = embedding_error(chains, source, target)
        qubits = {qubit for chain in chains.values() for qubit in chain}
        if not error and qubits & used:
            error = f"qubit {min(qubits & used)} is in two copies"
        if error:
            first_error = first_error or error
        else:
            used |= qubits
            valid.append(chains)
    return valid, first_error
