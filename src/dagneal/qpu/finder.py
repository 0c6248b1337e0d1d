"""The embedding finder: takes an embedding from the cache if it is still valid, and searches for a new one otherwise."""

from __future__ import annotations

from dataclasses import dataclass, field

import networkx as nx

from dagneal.base.errors import InputError
from dagneal.qpu.embedding import Chains, EmbeddingCache, check_fits, find_embedding
from dagneal.qpu.tiling import check_copies, find_copies


@dataclass(frozen=True, eq=False)
class EmbeddingFinder:
    """Find embeddings on one chip, and store them.

    Args:
        name: name of the chip and its working graph.
        graph: graph of the working qubits.
        topology: chimera, pegasus or zephyr.
        shape: size of the chip's graph.
        cache: stores embeddings.
        notes: list to which remarks on stored embeddings are added.
    """

    name: str
    graph: nx.Graph
    topology: str
    shape: tuple[int, ...]
    cache: EmbeddingCache
    notes: list[str] = field(default_factory=list)

    def find(self, source: nx.Graph, many: bool = False, seed: int = 0) -> list[Chains]:
        """Return disjoint embeddings of one graph: one, or as many as fit.

        Args:
            source: graph of the QUBO variables, numbered from 0.
            many: whether to return as many as fit.
            seed: random seed of the search.
        """
        kind = "copies" if many else "one"
        stored = self.cache.get(self.name, kind, source)
        if stored is not None:
            valid, reason = check_copies(stored, source, self.graph)
            if stored and not reason:
                return valid
            path = self.cache.path(self.name, kind, source)
            self.notes.append(f"{path}: {reason or 'the file is damaged'}; searched for a new embedding")
        check_fits(source, self.graph)
        copies = find_copies(source, self.graph, self.topology, self.shape[:1], seed) if many else []
        copies = copies or [find_embedding(source, self.graph, seed)]
        try:
            self.cache.put(self.name, kind, source, copies)
        except (InputError, OSError) as error:  # not fatal: the next run searches again
            self.notes.append(f"cannot store an embedding ({error}); set DAGNEAL_CACHE to a writable folder")
        return copies
