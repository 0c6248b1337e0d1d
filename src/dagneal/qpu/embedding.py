"""Embeddings: each QUBO variable is represented by a chain, which is one qubit or several connected qubits.

Embeddings are stored on disk and checked before use.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx

from dagneal.base.errors import InputError
from dagneal.base.files import atomic_write
from dagneal.qpu.chips import chip_graph

Chains = dict[int, tuple[int, ...]]  # number of each QUBO variable -> qubits of its chain
_TRIES = 3  # number of searches by minorminer; the embedding with the fewest qubits is used
_SECONDS = 60.0  # time limit of one search by minorminer
_HOPELESS = 4  # if the chip has fewer couplers per interaction than this, do not repeat a failed search


def qubo_graph(interactions: Iterable[tuple[int, int]], variables: int) -> nx.Graph:
    """Return the graph of a QUBO. The nodes are the variables, numbered from 0. The edges are the interactions.

    Args:
        interactions: pairs of variables that interact.
        variables: number of variables.
    """
    graph = nx.Graph()
    graph.add_nodes_from(range(variables))
    graph.add_edges_from((int(a), int(b)) for a, b in interactions)
    return graph


def working_graph(sampler: Any) -> nx.Graph:
    """Return the graph of a sampler's working qubits and couplers.

    Args:
        sampler: sampler with `nodelist` (qubits) and `edgelist` (couplers). If its properties name a topology, the graph has
            the attributes of that topology, which embeddings of cliques need.
    """
    topology = sampler.properties.get("topology")
    graph = nx.Graph() if topology is None else nx.Graph(**chip_graph(topology["type"], tuple(topology["shape"])).graph)
    graph.add_nodes_from(sampler.nodelist)
    graph.add_edges_from(sampler.edgelist)
    return graph


def graph_name(graph: nx.Graph) -> str:
    """Return a hash that identifies a graph by its nodes and edges.

    Args:
        graph: graph whose nodes are integers.
    """
    edges = sorted((min(a, b), max(a, b)) for a, b in graph.edges)
    return hashlib.blake2b(repr((sorted(graph.nodes), edges)).encode(), digest_size=12).hexdigest()


def find_embedding(
    source: nx.Graph, target: nx.Graph, seed: int = 0, timeout: float = _SECONDS, tries: int = _TRIES
) -> Chains:
    """Embed a QUBO on a chip with minorminer. If minorminer fails, use `clique_embedding`.

    Args:
        source: graph of the QUBO; see `qubo_graph`.
        target: graph of the chip's working qubits.
        seed: random seed; equal seeds give equal embeddings.
        timeout: time limit of each search, in seconds.
        tries: number of searches. The embedding with the fewest qubits is returned.

    >>> from dagneal.qpu.chips import chip_graph
    >>> chains = find_embedding(nx.complete_graph(3), chip_graph("pegasus", (2,)))
    >>> sorted(map(len, chains.values()))
    [1, 1, 1]
    """
    if not len(source):
        return {}
    check_fits(source, target)
    best: Chains = {}
    for turn in range(tries):
        chains = search_embedding(source, target, seed * tries + turn, timeout)
        if not chains and turn == 0 and source.number_of_edges() * _HOPELESS > target.number_of_edges():
            break  # a second search would hardly succeed
        if chains and (not best or _size(chains) < _size(best)):
            best = chains
        if best and _size(best)[0] == len(source):  # one qubit per variable: cannot be improved
            break
    return best or clique_embedding(source, target)


def search_embedding(source: nx.Graph, target: nx.Graph, seed: int, timeout: float) -> Chains:
    """Return the result of one search by minorminer, or {} if it finds no embedding.

    Args:
        source: graph of the QUBO; see `qubo_graph`.
        target: graph of the chip's working qubits.
        seed: random seed of the search.
        timeout: time limit in seconds.
    """
    import minorminer

    found = minorminer.find_embedding(source, target, random_seed=seed, timeout=timeout, tries=1)
    return {variable: tuple(sorted(chain)) for variable, chain in found.items()}


def check_fits(source: nx.Graph, target: nx.Graph) -> None:
    """Raise an error if a QUBO is certainly too large for a chip. This saves a long search.

    A chain of L qubits contains at least L - 1 couplers. If each qubit has at most d couplers, at most L d - 2 (L - 1)
    couplers connect the chain to other chains. A variable with e interactions therefore needs a chain with
    L d - 2 (L - 1) >= e.

    Args:
        source: graph of the QUBO; see `qubo_graph`.
        target: graph of the chip's working qubits.

    >>> check_fits(nx.complete_graph(100), nx.grid_2d_graph(10, 10))
    Traceback (most recent call last):
    dagneal.base.errors.InputError: 100 QUBO variables and 4950 interactions do not fit on this chip; use smaller subproblems
    """
    if not len(target):
        raise InputError("this chip has no working qubit")
    most = max(degree for _, degree in target.degree)
    need = sum(max(1, -(-(degree - 2) // (most - 2))) if most > 2 else 1 for _, degree in source.degree)
    if need > len(target) or source.number_of_edges() > target.number_of_edges():
        raise _too_large(source)


def _too_large(source: nx.Graph) -> InputError:
    return InputError(
        f"{len(source)} QUBO variables and {source.number_of_edges()} interactions do not fit on this chip; "
        "use smaller subproblems"
    )


def clique_embedding(source: nx.Graph, target: nx.Graph) -> Chains:
    """Embed a QUBO as a clique, which means as if all pairs of variables interacted. This is fast, but uses many qubits.

    Args:
        source: graph of the QUBO; see `qubo_graph`.
        target: graph of the chip's working qubits.
    """
    from minorminer.busclique import busgraph_cache

    if "family" not in target.graph:  # a chip of unknown topology
        raise _too_large(source)
    # find_clique_embedding(..., use_cache=False) exhausts the memory on Zephyr chips, with minorminer 0.2.22.
    found = busgraph_cache(target).find_clique_embedding(sorted(source))
    if not found:
        raise _too_large(source)
    return {variable: tuple(sorted(chain)) for variable, chain in found.items()}


def _size(chains: Chains) -> tuple[int, int]:
    lengths = [len(chain) for chain in chains.values()]
    return sum(lengths), max(lengths)


def embedding_error(chains: Mapping[int, Sequence[int]], source: nx.Graph, target: nx.Graph) -> str:
    """Return a description of the first error of an embedding, or an empty string if the embedding is valid.

    Args:
        chains: dict from each QUBO variable to the qubits of its chain.
        source: graph of the QUBO; see `qubo_graph`.
        target: graph of the chip's working qubits.
    """
    owner: dict[Hashable, int] = {}
    if unknown := [variable for variable in chains if variable not in source]:
        return f"the QUBO has no variable {unknown[0]}"
    for variable in source:
        chain = chains.get(variable, ())
        if not chain:
            return f"variable {variable} has no qubit"
        for qubit in chain:
            if qubit not in target:
                return f"qubit {qubit} does not work"
            if qubit in owner:
                return f"qubit {qubit} is used twice"
            owner[qubit] = variable
        if len(chain) > 1 and not nx.is_connected(target.subgraph(chain)):
            return f"the chain of variable {variable} is not connected"
    for a, b in source.edges:
        if not any(target.has_edge(p, q) for p in chains[a] for q in chains[b]):
            return f"variables {a} and {b} interact, but their chains are not coupled"
    return ""


@dataclass(frozen=True)
class EmbeddingCache:
    """A cache of embeddings on disk. The method `path` returns the file for a chip and a QUBO.

    Args:
        folder: cache folder. The files are in the subfolder `embeddings` of this folder.
    """

    folder: Path

    def path(self, chip: str, kind: str, source: nx.Graph) -> Path:
        """Return the path of the file that stores the embeddings of a QUBO on a chip.

        Args:
            chip: text that identifies the chip and its working qubits.
            kind: kind of the embeddings; see `EmbeddingFinder.find`.
            source: graph of the QUBO; see `qubo_graph`.
        """
        safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in chip)
        return self.folder / "embeddings" / f"{safe}-{kind}-{graph_name(source)}.json"

    def get(self, chip: str, kind: str, source: nx.Graph) -> list[Chains] | None:
        """Return stored embeddings without checking them. Return None if there is no file, and [] if the file is damaged.

        Args:
            chip: text that identifies the chip and its working qubits.
            kind: kind of the embeddings; see `EmbeddingFinder.find`.
            source: graph of the QUBO; see `qubo_graph`.
        """
        try:
            stored: Any = json.loads(self.path(chip, kind, source).read_text(encoding="utf-8"))
            return [
                {number: tuple(map(int, chain)) for number, chain in enumerate(chains)} for chains in stored["embeddings"]
            ]
        except OSError:
            return None
        except (ValueError, KeyError, TypeError):
            return []

    def put(self, chip: str, kind: str, source: nx.Graph, embeddings: Sequence[Chains]) -> None:
        """Store embeddings of a QUBO on a chip.

        Args:
            chip: text that identifies the chip and its working qubits.
            kind: kind of the embeddings; see `EmbeddingFinder.find`.
            source: graph of the QUBO; see `qubo_graph`.
            embeddings: embeddings to store.
        """
        path = self.path(chip, kind, source)
        path.parent.mkdir(parents=True, exist_ok=True)
        lists = [[list(chains[variable]) for variable in range(len(chains))] for chains in embeddings]
        with atomic_write(path) as file:
            file.write(json.dumps({"chip": chip, "bits": len(source), "embeddings": lists}).encode())
