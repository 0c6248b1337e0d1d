"""Embeddings: how the bits of a QUBO are laid on the qubits of a chip; found once, kept on disk, checked before use."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx

from dagneal.base.errors import InputError
from dagneal.base.files import replacing

Chains = dict[int, tuple[int, ...]]  # for each bit, numbered, its qubits
_TRIES = 3  # searches of minorminer, of which the one with fewest qubits is taken
_SECONDS = 60.0  # after which one search gives up
_HOPELESS = 4  # times more couplers than products, below which a search that failed once is not tried again


def bit_graph(edges: Iterable[tuple[int, int]], bits: int) -> nx.Graph:
    """The graph of a QUBO over numbered bits.

    Args:
        edges: its products of two bits.
        bits: how many there are.
    """
    graph = nx.Graph()
    graph.add_nodes_from(range(bits))
    graph.add_edges_from((int(a), int(b)) for a, b in edges)
    return graph


def working_graph(sampler: Any) -> nx.Graph:
    """The graph of the qubits and couplers that work.

    Args:
        sampler: with `nodelist` and `edgelist`.
    """
    graph = nx.Graph()
    graph.add_nodes_from(sampler.nodelist)
    graph.add_edges_from(sampler.edgelist)
    return graph


def graph_name(graph: nx.Graph) -> str:
    """A name that only graphs with the same nodes and edges share.

    Args:
        graph: over numbers.
    """
    edges = sorted((min(a, b), max(a, b)) for a, b in graph.edges)
    return hashlib.blake2b(repr((sorted(graph.nodes), edges)).encode(), digest_size=12).hexdigest()


def find_embedding(source: nx.Graph, target: nx.Graph, seed: int = 0, timeout: float = _SECONDS) -> Chains:
    """Lay a graph on a chip: by minorminer, or as part of a clique where that fails.

    Args:
        source: the graph of the bits, numbered from 0.
        target: the graph of the working qubits.
        seed: the same seed gives the same embedding.
        timeout: seconds after which a search gives up.

    >>> from dagneal.qpu.chips import chip_graph
    >>> chains = find_embedding(nx.complete_graph(3), chip_graph("pegasus", (2,)))
    >>> sorted(map(len, chains.values()))
    [1, 1, 1]
    """
    import minorminer

    if not len(source):
        return {}
    check_fits(source, target)
    best: Chains = {}
    for turn in range(_TRIES):
        found = minorminer.find_embedding(source, target, random_seed=seed * _TRIES + turn, timeout=timeout, tries=1)
        if not found and turn == 0 and source.number_of_edges() * _HOPELESS > target.number_of_edges():
            break  # another minute would not help
        chains = {bit: tuple(sorted(chain)) for bit, chain in found.items()}
        if chains and (not best or _size(chains) < _size(best)):
            best = chains
        if best and _size(best)[0] == len(source):  # no chains at all
            break
    return best or clique_embedding(source, target)


def check_fits(source: nx.Graph, target: nx.Graph) -> None:
    """Refuse at once what can never fit on a chip.

    A chain of L qubits is connected, so of the at most L d ends of couplers at them 2 (L - 1) lie within it: a bit with e
    products needs a chain with L d - 2 (L - 1) >= e.

    Args:
        source: the graph of the bits.
        target: the graph of the working qubits.

    >>> check_fits(nx.complete_graph(100), nx.grid_2d_graph(10, 10))
    Traceback (most recent call last):
    dagneal.base.errors.InputError: 100 bits with 4950 products do not fit on this chip; choose smaller subproblems
    """
    if not len(target):
        raise InputError("this chip has no working qubit")
    most = max(degree for _, degree in target.degree)
    need = sum(max(1, -(-(degree - 2) // (most - 2))) if most > 2 else 1 for _, degree in source.degree)
    if need > len(target) or source.number_of_edges() > target.number_of_edges():
        raise _too_large(source)


def _too_large(source: nx.Graph) -> InputError:
    return InputError(
        f"{len(source)} bits with {source.number_of_edges()} products do not fit on this chip; choose smaller subproblems"
    )


def clique_embedding(source: nx.Graph, target: nx.Graph) -> Chains:
    """Lay a graph on a chip as part of a clique, at once and with chains of equal length, but with many qubits.

    Args:
        source: the graph of the bits.
        target: the graph of the working qubits.
    """
    from minorminer.busclique import find_clique_embedding

    found = find_clique_embedding(sorted(source), target, use_cache=False)
    if not found:
        raise _too_large(source)
    return {bit: tuple(sorted(chain)) for bit, chain in found.items()}


def _size(chains: Chains) -> tuple[int, int]:
    lengths = [len(chain) for chain in chains.values()]
    return sum(lengths), max(lengths)


def fault(chains: Mapping[int, Sequence[int]], source: nx.Graph, target: nx.Graph) -> str:
    """What is wrong with an embedding, in words; empty if nothing is.

    Args:
        chains: for each bit its qubits.
        source: the graph of the bits.
        target: the graph of the working qubits.
    """
    owner: dict[Hashable, int] = {}
    if more := [bit for bit in chains if bit not in source]:
        return f"there is no bit {more[0]}"
    for bit in source:
        chain = chains.get(bit, ())
        if not chain:
            return f"bit {bit} has no qubit"
        for qubit in chain:
            if qubit not in target:
                return f"qubit {qubit} does not work"
            if qubit in owner:
                return f"qubit {qubit} is used twice"
            owner[qubit] = bit
        if len(chain) > 1 and not nx.is_connected(target.subgraph(chain)):
            return f"the chain of bit {bit} is not connected"
    for a, b in source.edges:
        if not any(target.has_edge(p, q) for p in chains[a] for q in chains[b]):
            return f"bits {a} and {b} are not coupled"
    return ""


@dataclass(frozen=True)
class EmbeddingCache:
    """Embeddings on disk, by chip and by the graph of the bits.

    Args:
        folder: where they are kept.
    """

    folder: Path

    def path(self, chip: str, kind: str, source: nx.Graph) -> Path:
        """The file of an embedding.

        Args:
            chip: the name of the solver and of its working graph.
            kind: `one` or `copies`.
            source: the graph of the bits.
        """
        safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in chip)
        return self.folder / "embeddings" / f"{safe}-{kind}-{graph_name(source)}.json"

    def get(self, chip: str, kind: str, source: nx.Graph) -> list[Chains] | None:
        """Embeddings that were kept, unchecked; nothing if there are none or the file is damaged.

        Args:
            chip: the name of the solver and of its working graph.
            kind: `one` or `copies`.
            source: the graph of the bits.
        """
        try:
            stored: Any = json.loads(self.path(chip, kind, source).read_text(encoding="utf-8"))
            return [{bit: tuple(map(int, chain)) for bit, chain in enumerate(chains)} for chains in stored["embeddings"]]
        except OSError:
            return None
        except (ValueError, KeyError, TypeError):
            return []

    def put(self, chip: str, kind: str, source: nx.Graph, embeddings: Sequence[Chains]) -> None:
        """Keep embeddings.

        Args:
            chip: the name of the solver and of its working graph.
            kind: `one` or `copies`.
            source: the graph of the bits.
            embeddings: for each bit its qubits.
        """
        path = self.path(chip, kind, source)
        path.parent.mkdir(parents=True, exist_ok=True)
        listed = [[list(chains[bit]) for bit in range(len(chains))] for chains in embeddings]
        with replacing(path) as file:
            file.write(json.dumps({"chip": chip, "bits": len(source), "embeddings": listed}).encode())
