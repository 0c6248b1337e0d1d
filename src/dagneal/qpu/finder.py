"""The embedding finder: where problems lie on a chip, from the cache if that still fits, otherwise newly found."""

from __future__ import annotations

from dataclasses import dataclass, field

import networkx as nx

from dagneal.base.errors import InputError
from dagneal.qpu.embedding import Chains, EmbeddingCache, check_fits, find_embedding
from dagneal.qpu.tiling import check_copies, find_copies


@dataclass(frozen=True, eq=False)
class EmbeddingFinder:
    """Finds the places of problems on one chip, and stores them.

    Args:
        name: of the chip and its working graph.
        graph: of its working qubits.
        topology: chimera, pegasus or zephyr.
        shape: the size of the chip's graph.
        cache: keeps embeddings.
        notes: what was noticed about cached embeddings is added here.
    """

    name: str
    graph: nx.Graph
    topology: str
    shape: tuple[int, ...]
    cache: EmbeddingCache
    notes: list[str] = field(default_factory=list)

    def find(self, source: nx.Graph, many: bool = False, seed: int = 0) -> list[Chains]:
        """Disjoint embeddings of one graph: one, or as many as fit.

        Args:
            source: the graph of the bits, numbered from 0.
            many: as many as fit; otherwise one.
            seed: of the search.
        """
        kind = "copies" if many else "one"
        kept = self.cache.get(self.name, kind, source)
        if kept is not None:
            good, why = check_copies(kept, source, self.graph)
            if kept and not why:
                return good
            path = self.cache.path(self.name, kind, source)
            self.notes.append(f"{path}: {why or 'damaged'}; a new embedding was made")
        check_fits(source, self.graph)
        found = find_copies(source, self.graph, self.topology, self.shape[:1], seed) if many else []
        found = found or [find_embedding(source, self.graph, seed)]
        try:
            self.cache.put(self.name, kind, source, found)
        except (InputError, OSError) as error:  # it will be found anew next time, which is no reason to stop
            self.notes.append(f"an embedding could not be kept, set DAGNEAL_CACHE to a folder of yours: {error}")
        return found
