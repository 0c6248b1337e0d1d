"""Embeddings: maps from QUBO variables to qubits of a chip. They are found once, stored on disk and checked before use."""

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

Chains = dict[int, tuple[int, ...]]  # qubits of each QUBO variable; the variables are numbered
_TRIES = 3  # number of minorminer searches; the result with the fewest qubits is used
_SECONDS = 60.0  # time limit of one search
_HOPELESS = 4  # with fewer couplers per interaction than this, do not repeat a failed search


def qubo_graph(interactions: Iterable[tuple[int, int]], variables: int) -> nx.Graph:
    """Return the graph of a QUBO: its variables, numbered from 0, and its interactions.

    Args:
        interactions: pairs of variables.
        variables: number of variables.
    """
    graph = nx.Graph()
    graph.add_nodes_from(range(variables))
    graph.add_edges_from((int(a), int(b)) for a, b in interactions)
    return graph


def working_graph(sampler: Any) -> nx.Graph:
    """Return the graph of the working qubits and couplers.

    Args:
        sampler: sampler with `nodelist` and `edgelist`.
    """
    graph = nx.Graph()
    graph.add_nodes_from(sampler.nodelist)
    graph.add_edges_from(sampler.edgelist)
    return graph


def graph_name(graph: nx.Graph) -> str:
    """Return a hash of a graph: equal only for graphs with the same nodes and edges.

    Args:
        graph: graph whose nodes are numbers.
    """
    edges = sorted((min(a, b), max(a, b)) for a, b in graph.edges)
    return hashlib.blake2b(repr((sorted(graph.nodes), edges)).encode(), digest_size=12).hexdigest()


def find_embedding(source: nx.Graph, target: nx.Graph, seed: int = 0, timeout: float = _SECONDS) -> Chains:
    """Embed a graph on a chip with minorminer, or as part of a clique if minorminer fails.

    Args:
        source: graph of the QUBO variables, numbered from 0.
        target: graph of the working qubits.
        seed: random seed; equal seeds give equal embeddings.
        timeout: time limit of one search, in seconds.

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
            break  # a second search would hardly succeed
        chains = {variable: tuple(sorted(chain)) for variable, chain in found.items()}
        if chains and (not best or _size(chains) < _size(best)):
            best = chains
        if best and _size(best)[0] == len(source):  # one qubit per variable: cannot be improved
            break
    return best or clique_embedding(source, target)


def check_fits(source: nx.Graph, target: nx.Graph) -> None:
    """Raise an error if a graph cannot fit on a chip, before any search.

    A connected chain of L qubits has at least L - 1 couplers within it. If no qubit has more than d couplers, at most
    L d - 2 (L - 1) couplers lead out of the chain. A variable with e interactions needs L d - 2 (L - 1) >= e.

    Args:
        source: graph of the QUBO variables.
        target: graph of the working qubits.

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
    """Embed a graph as part of a clique: fast and with chains of equal length, but with many qubits.

    Args:
        source: graph of the QUBO variables.
        target: graph of the working qubits.
    """
    from minorminer.busclique import find_clique_embedding

    found = find_clique_embedding(sorted(source), target, use_cache=False)
    if not found:
        raise _too_large(source)
    return {variable: tuple(sorted(chain)) for variable, chain in found.items()}


def _size(chains: Chains) -> tuple[int, int]:
    lengths = [len(chain) for chain in chains.values()]
    return sum(lengths), max(lengths)


def embedding_error(chains: Mapping[int, Sequence[int]], source: nx.Graph, target: nx.Graph) -> str:
    """Describe the first error of an embedding. Return an empty string for a valid embedding.

    Args:
        chains: qubits of each QUBO variable.
        source: graph of the QUBO variables.
        target: graph of the working qubits.
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
    """Embeddings on disk, stored by chip and by graph of the QUBO.

    Args:
        folder: the folder of the files.
    """

    folder: Path

    def path(self, chip: str, kind: str, source: nx.Graph) -> Path:
        """Return the path of the file for one chip, kind and graph.

        Args:
            chip: name of the solver and its working graph.
            kind: `one` or `copies`.
            source: graph of the QUBO variables.
        """
        safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in chip)
        return self.folder / "embeddings" / f"{safe}-{kind}-{graph_name(source)}.json"

    def get(self, chip: str, kind: str, source: nx.Graph) -> list[Chains] | None:
        """Return stored embeddings, unchecked. Return None if there is no file, and an empty list if the file is damaged.

        Args:
            chip: name of the solver and its working graph.
            kind: `one` or `copies`.
            source: graph of the QUBO variables.
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
        """Store embeddings.

        Args:
            chip: name of the solver and its working graph.
            kind: `one` or `copies`.
            source: graph of the QUBO variables.
            embeddings: embeddings, each with the qubits of every QUBO variable.
        """
        path = self.path(chip, kind, source)
        path.parent.mkdir(parents=True, exist_ok=True)
        lists = [[list(chains[variable]) for variable in range(len(chains))] for chains in embeddings]
        with atomic_write(path) as file:
            file.write(json.dumps({"chip": chip, "bits": len(source), "embeddings": lists}).encode())
