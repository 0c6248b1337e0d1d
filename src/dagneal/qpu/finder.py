"""The class `EmbeddingFinder` returns stored embeddings that are still valid, or searches for new embeddings."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

import networkx as nx

from dagneal.base.errors import InputError
from dagneal.qpu.embedding import Chains, EmbeddingCache, check_fits, find_embedding
from dagneal.qpu.tiling import check_copies, find_copies


@dataclass(frozen=True, eq=False)
class EmbeddingFinder:
    """Finds embeddings on one chip and stores them.

    Args:
        name: text that identifies the chip and its working qubits.
        graph: graph of the chip's working qubits.
        topology: `chimera`, `pegasus` or `zephyr`.
        shape: size parameters of the chip's graph, such as `(16,)`.
        cache: cache of embeddings on disk.
        notes: list to which messages about problems with stored embeddings are added.
        seconds: list to which the duration of each search is added.
    """

    name: str
    graph: nx.Graph
    topology: str
    shape: tuple[int, ...]
    cache: EmbeddingCache
    notes: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def find(self, source: nx.Graph, kind: str = "one", seed: int = 0) -> list[Chains]:
        """Return one embedding of a QUBO, or as many disjoint embeddings as fit on the chip.

        Args:
            source: graph of the QUBO; see `qubo_graph`.
            kind: `one` for the best embedding of several searches, `copies` for as many disjoint embeddings as fit, or
                `single-NUMBER` for the result of one search, whose seed is the number.
            seed: random seed of the search.
        """
        stored = self.cache.get(self.name, kind, source)
        if stored is not None:
            valid, reason = check_copies(stored, source, self.graph)
            if stored and not reason:
                return valid
            path = self.cache.path(self.name, kind, source)
            self.notes.append(f"{path}: {reason or 'the file is damaged'}; searched for a new embedding")
        check_fits(source, self.graph)
        started = perf_counter()
        copies = self._search(source, kind, seed)
        self.seconds.append(perf_counter() - started)
        try:
            self.cache.put(self.name, kind, source, copies)
        except (InputError, OSError) as error:  # not fatal: the next run will search again
            self.notes.append(f"cannot store an embedding ({error}); set DAGNEAL_CACHE to a writable folder")
        return copies

    def _search(self, source: nx.Graph, kind: str, seed: int) -> list[Chains]:
        """Search for embeddings; see `find`."""
        if kind.startswith("single-"):
            return [find_embedding(source, self.graph, int(kind.removeprefix("single-")), tries=1)]
        copies = find_copies(source, self.graph, self.topology, self.shape[:1], seed) if kind == "copies" else []
        return copies or [find_embedding(source, self.graph, seed)]
