"""The largest problem that fits on a chip without division."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass

import networkx as nx

from dagneal.base.errors import InputError
from dagneal.base.files import atomic_write
from dagneal.qpu.embedding import (
    Chains,
    EmbeddingCache,
    check_fits,
    clique_embedding,
    embedding_error,
    search_embedding,
)
from dagneal.qpu.targets import Target

PAPER_LARGEST = 18  # "around 18 Bayesian variables": the paper's estimate for Pegasus, with its encoding and two parents
_SECONDS = 180.0  # time limit of one search
_SEARCHES = 2  # number of searches before a size is given up

GraphOf = Callable[[int], nx.Graph]
"""Function that returns the graph of the QUBO of a problem with a number of variables."""


@dataclass(frozen=True)
class Capacity:
    """The largest problem that was embedded on a chip without division.

    Attributes:
        variables: number of variables of the problem.
        qubits: number of qubits of its embedding.
        longest_chain: number of qubits in the longest chain.
        smallest_failure: smallest number of variables for which no embedding was found.
        proved: whether a problem with `smallest_failure` variables certainly does not fit.
        searches: number of searches for each size.
        seconds: time limit of each search.
    """

    variables: int
    qubits: int
    longest_chain: int
    smallest_failure: int
    proved: bool
    searches: int = _SEARCHES
    seconds: float = _SECONDS


def guaranteed_size(chip: nx.Graph, graph_of: GraphOf) -> int:
    """Return the number of variables of the largest problem that certainly fits on a chip without division.

    In a clique, all pairs of variables interact. If the largest clique that fits on the chip has c variables, every QUBO
    with at most c variables fits.

    Args:
        chip: graph of the chip's qubits.
        graph_of: function that returns the graph of the QUBO of a problem.
    """
    from minorminer.busclique import busgraph_cache

    clique = len(busgraph_cache(chip).largest_clique())
    n = 2
    while len(graph_of(n + 1)) <= clique:
        n += 1
    return n


def find_capacity(
    target: Target, graph_of: GraphOf, name: str, cache: EmbeddingCache, seed: int = 0, search: bool = True
) -> Capacity | None:
    """Return the largest problem for which an embedding is found on a chip.

    A bisection searches between the size that certainly fits and the smallest size that certainly does not: a problem can
    be embedded if a larger one can. A failed search does not prove that there is no embedding. The result is stored.

    Args:
        target: the chip.
        graph_of: function that returns the graph of the QUBO of a problem.
        name: text that identifies the QUBOs, such as the encoding and the parent limit.
        cache: folder of stored embeddings and results.
        seed: random seed of the searches.
        search: False to return only a stored result.

    Returns:
        The largest problem; None if no result is stored and `search` is False.
    """
    path = cache.path(f"{target.identity}-{name}", "capacity", graph_of(3))
    with suppress(OSError, ValueError, TypeError):
        stored = Capacity(**json.loads(path.read_text(encoding="utf-8")))
        if stored.qubits:
            return stored
    if not search:
        return None
    low, high = guaranteed_size(target.graph, graph_of), 3
    while not _is_hopeless(graph_of(high), target.graph):
        high += 1
    best = _embed(graph_of(low), target.graph, seed) or clique_embedding(graph_of(low), target.graph)
    proved = True
    while high - low > 1:
        middle = (low + high) // 2
        chains = _embed(graph_of(middle), target.graph, seed)
        if chains:
            low, best = middle, chains
        else:
            high, proved = middle, False
    lengths = [len(chain) for chain in best.values()]
    result = Capacity(low, sum(lengths), max(lengths, default=0), high, proved)
    with suppress(InputError, OSError):  # not fatal: the next plan will search again
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(json.dumps(asdict(result)).encode())
    return result


def _is_hopeless(source: nx.Graph, chip: nx.Graph) -> bool:
    """Return whether a QUBO is certainly too large for a chip."""
    try:
        check_fits(source, chip)
    except InputError:
        return True
    return False


def _embed(source: nx.Graph, chip: nx.Graph, seed: int) -> Chains:
    """Return an embedding, or {} if no search finds one."""
    for turn in range(_SEARCHES):
        chains = search_embedding(source, chip, seed * _SEARCHES + turn, _SECONDS)
        if chains and not embedding_error(chains, source, chip):
            return chains
    return {}
