"""Decode the reads (samples) of a sampler. Each read gives a raw graph and a repaired DAG; see `Reads`."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError
from dagneal.base.files import atomic_write
from dagneal.base.kernels import Floats, Ints, Masks, kernel, kernel_with_arrays
from dagneal.qubo.hamiltonian import Qubos
from dagneal.qubo.variables import KINDS, Layout
from dagneal.scoring.orders import dag_of_order, score_orders, sort_topologically
from dagneal.scoring.sets import find_mask, flip_bit
from dagneal.scoring.table import ScoreTable, Subproblems

if TYPE_CHECKING:
    import dimod


@dataclass(frozen=True, eq=False)
class Reads:
    """The reads (samples) of a sampler, decoded into graphs. Each array has one entry per row of the sample set.

    A raw read is the graph of all edges whose edge variable d is 1. It is feasible if it is a DAG and the table contains
    all its parent sets. A repaired read keeps only the order of the variables: every child gets its best parents among the
    variables before it. So a repaired read is always a DAG. If the raw read is feasible, the repaired read scores at
    least as high.

    Attributes:
        table: score table that was encoded.
        edges: values of the edge variables d, shape (reads, parents, children).
        orders: order of the variables in each read, as indices from first to last, shape (reads, variables).
        raw_scores: log score of each raw read; NaN if the read is not feasible.
        repaired_scores: log score of each repaired read.
        energies: energy of each read, as reported by the sampler.
        occurrences: number of times that the sampler returned each read.
    """

    table: ScoreTable
    edges: NDArray[np.bool_]
    orders: Ints
    raw_scores: Floats
    repaired_scores: Floats
    energies: Floats
    occurrences: Ints

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """For each raw read, whether it is a DAG whose parent sets are all in the table."""
        return ~np.isnan(self.raw_scores)

    def raw_graph(self, read: int) -> nx.DiGraph:
        """Return the graph of a raw read. The graph may have cycles.

        Args:
            read: index of the read.
        """
        graph = nx.DiGraph()
        graph.add_nodes_from(self.table.names)
        names = self.table.names
        graph.add_edges_from((names[a], names[b]) for a, b in np.argwhere(self.edges[read]))
        return graph

    def repaired_dag(self, read: int) -> nx.DiGraph:
        """Return the repaired DAG of a read: every child has its best parents among the variables before it.

        Args:
            read: index of the read.
        """
        return dag_of_order(self.table, self.orders[read])


def decode(table: ScoreTable, sampleset: dimod.SampleSet) -> Reads:
    """Decode the reads of a sampler into graphs.

    Args:
        table: score table that was encoded.
        sampleset: reads of a sampler.

    Each read gets an order of the variables. The order agrees with the edge variables d and the order variables r of the
    read if d and r together have no cycle. Otherwise the order agrees only with d if d has no cycle, and only with r if d
    has a cycle but r has none. If d and r both have cycles, the order agrees with neither. If several variables may come
    next in the order, the variable that r puts before the most other variables is chosen. Ties go to the earlier column.

    >>> from dwave.samplers import TreeDecompositionSolver
    >>> from dagneal.networks.bundled import load
    >>> from dagneal.qubo.encode import encode
    >>> from dagneal.scoring.scorer import score_table
    >>> table = score_table(load("monty-hall").expected_data(10_000))
    >>> reads = decode(table, TreeDecompositionSolver().sample(encode(table)))
    >>> list(reads.raw_graph(0).edges)
    [('Player', 'Host'), ('Car', 'Host')]
    """
    n = len(table.names)
    samples = np.asarray(sampleset.record.sample) > 0  # binary variables are 0 or 1, spins are -1 or 1
    edges = np.zeros((len(samples), n, n), dtype=np.bool_)
    before = np.zeros_like(edges)
    for column, label in enumerate(sampleset.variables):
        kind, *rest = label if isinstance(label, tuple) else (None,)
        names = rest[:1] if kind == "y" else rest
        wrong_length = len(rest) != 2 and kind != "a"
        if kind not in KINDS or wrong_length or any(name not in table.position for name in names):
            raise InputError(
                f"the samples contain {label!r}, which is not a QUBO variable of this table; pass the table that was encoded"
            )
        if kind in ("d", "r"):
            a, b = (table.position[name] for name in rest)
            if kind == "d":
                edges[:, a, b] = samples[:, column]
            else:
                before[:, a, b], before[:, b, a] = samples[:, column], ~samples[:, column]
    return _build_reads(table, edges, before, sampleset)


def decode_numbered(table: ScoreTable, layout: Layout, sampleset: dimod.SampleSet) -> Reads:
    """Decode reads whose QUBO variables are labelled with numbers, which are their indices in `layout`.

    Args:
        table: score table that was encoded.
        layout: index of each QUBO variable.
        sampleset: reads of a sampler.
    """
    position = np.argsort(np.fromiter(sampleset.variables, dtype=np.int64))
    samples = np.zeros((len(sampleset), layout.num_variables + 1), dtype=np.bool_)  # index -1 selects the last column, False
    samples[:, :-1] = (np.asarray(sampleset.record.sample) > 0)[:, position]
    before = samples[:, layout.r]
    before |= (~before & (layout.r >= 0)).transpose(0, 2, 1)
    return _build_reads(table, samples[:, layout.d], before, sampleset)


def decode_spins(table: ScoreTable, encoded: Qubos, problem: int, spins: NDArray[np.int8]) -> Reads:
    """Decode the reads of one of several problems that were encoded together. The reads are given as spins.

    Args:
        table: score table of the problem.
        encoded: QUBOs of all problems.
        problem: index of the problem in `encoded`.
        spins: values -1 and 1 of the QUBO variables, shape (reads, QUBO variables).
    """
    import dimod

    samples = (spins + 1) // 2
    energies = encoded.energies(problem, samples)
    variables = range(spins.shape[1])
    return decode_numbered(table, encoded.layout, dimod.SampleSet.from_samples((samples, variables), "BINARY", energies))


def best_graphs(
    subproblems: Subproblems, encoded: Qubos, spins: NDArray[np.int8], repair: bool
) -> tuple[NDArray[np.bool_], Floats]:
    """Decode the reads of many subproblems, and return the best graph of each.

    Args:
        subproblems: subproblems that were encoded together.
        encoded: QUBOs of the subproblems.
        spins: values -1 and 1 of the QUBO variables, shape (subproblems, reads, QUBO variables).
        repair: True to use the best repaired read, False to use the raw read of lowest energy; see `Reads`.

    Returns:
        Two arrays with one entry per subproblem: the adjacency matrix, and the log score. The score of a raw read that is
        not feasible is NaN.
    """
    members = subproblems.members
    required = np.zeros((len(members), members.shape[1], members.shape[1]), dtype=np.bool_)
    if subproblems.required is not None:
        required = subproblems.required[members[:, :, None], members[:, None, :]]
    if not repair:
        energies = np.stack([encoded.energies(row, (spins[row] + 1) // 2) for row in range(len(members))])
        spins = np.take_along_axis(spins, energies.argmin(axis=1)[:, None, None], axis=1)
    return _best_graphs(spins, encoded.layout.d, encoded.layout.r, required, subproblems.masks, subproblems.scores, repair)


@kernel_with_arrays
def _best_graphs(
    spins: NDArray[np.int8],
    d: Ints,
    r: Ints,
    required: NDArray[np.bool_],
    masks: Masks,
    scores: Floats,
    repair: bool,
) -> tuple[NDArray[np.bool_], Floats]:
    """Return the best graph of each subproblem and its score. Without `repair`, each subproblem has one read."""
    problems, reads, _ = spins.shape
    n = len(d)
    adjacency = np.zeros((problems, n, n), dtype=np.bool_)
    best = np.full(problems, -np.inf)
    edges = np.zeros((n, n), dtype=np.bool_)
    before = np.zeros((n, n), dtype=np.bool_)
    order = np.empty(n, dtype=np.int64)
    rank = np.empty(n, dtype=np.int64)
    choice = np.empty(n, dtype=np.int64)
    for problem in range(problems):
        for read in range(reads):
            for a in range(n):
                for b in range(n):
                    edges[a, b] = d[a, b] >= 0 and spins[problem, read, d[a, b]] > 0
                    if r[a, b] >= 0:
                        before[a, b] = spins[problem, read, r[a, b]] > 0
                        before[b, a] = not before[a, b]
            acyclic = _find_order(edges, before, required[problem], order)
            if not repair:
                adjacency[problem] = edges
                feasible = acyclic and not (required[problem] & ~edges).any()
                best[problem] = _score_edges(edges, masks, scores[problem]) if feasible else np.nan
                continue
            for position in range(n):
                rank[order[position]] = position
            total = _score_rank(rank, masks, scores[problem], choice)
            if total > best[problem]:
                best[problem] = total
                for child in range(n):
                    for parent in range(n):
                        bit = parent - (parent > child)
                        adjacency[problem, parent, child] = parent != child and masks[choice[child]] >> np.uint64(
                            bit
                        ) & np.uint64(1) != np.uint64(0)
    return adjacency, best


@kernel
def _score_rank(rank: Ints, masks: Masks, scores: Floats, choice: Ints) -> float:
    """Return the score of an order, in which variable v has the position `rank[v]`. Write the best sets into `choice`."""
    n = len(rank)
    total = 0.0
    for child in range(n):
        later = np.uint64(0)
        for parent in range(n):
            if rank[parent] > rank[child]:
                later |= np.uint64(1) << np.uint64(parent - (parent > child))
        best = -np.inf
        for entry in range(len(masks)):
            if masks[entry] & later == np.uint64(0) and scores[child, entry] > best:
                best = scores[child, entry]
                choice[child] = entry
        total += best
    return total


@kernel
def _score_edges(edges: NDArray[np.bool_], masks: Masks, scores: Floats) -> float:
    """Return the score of a graph; NaN if a parent set has no score."""
    total = 0.0
    for child in range(len(edges)):
        mask = np.uint64(0)
        for parent in range(len(edges)):
            if edges[parent, child]:
                mask |= np.uint64(1) << np.uint64(parent - (parent > child))
        entry = np.searchsorted(masks, mask)
        if entry == len(masks) or masks[entry] != mask or scores[child, entry] == -np.inf:
            return np.nan
        total += scores[child, entry]
    return total


def _build_reads(
    table: ScoreTable, edges: NDArray[np.bool_], before: NDArray[np.bool_], sampleset: dimod.SampleSet
) -> Reads:
    n = len(table.names)
    required = np.zeros((n, n), dtype=np.bool_) if table.required is None else table.required
    orders, acyclic = _find_orders(edges, before, required)
    acyclic &= ~(required & ~edges).any(axis=(1, 2))  # a read without a required edge is not feasible
    raw = _raw_scores(edges, acyclic, table.first, table.candidates, table.start, table.masks, table.scores)
    return Reads(
        table=table,
        edges=edges,
        orders=orders,
        raw_scores=raw,
        repaired_scores=score_orders(table, orders),
        energies=np.asarray(sampleset.record.energy, dtype=np.float64),
        occurrences=np.asarray(sampleset.record.num_occurrences, dtype=np.int64),
    )


@kernel_with_arrays
def _find_orders(
    edges: NDArray[np.bool_], before: NDArray[np.bool_], required: NDArray[np.bool_]
) -> tuple[Ints, NDArray[np.bool_]]:
    """Return (orders, acyclic): the order of the variables in each read, and whether the edges of each read have no cycle.

    The edges in `required` are added to the edges of every read.
    """
    reads, n, _ = edges.shape
    orders = np.empty((reads, n), dtype=np.int64)
    acyclic = np.empty(reads, dtype=np.bool_)
    for read in range(reads):
        acyclic[read] = _find_order(edges[read], before[read], required, orders[read])
    return orders, acyclic


@kernel_with_arrays
def _find_order(edges: NDArray[np.bool_], before: NDArray[np.bool_], required: NDArray[np.bool_], order: Ints) -> bool:
    """Write the order of the variables in a read into `order`. Return whether its edges have no cycle; see `decode`."""
    n = len(edges)
    wins, waiting = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for v in range(n):
        wins[v] = before[v].sum()
    kept = edges | required
    if sort_topologically(kept | before, wins, waiting, order) or sort_topologically(kept, wins, waiting, order):
        return True
    if not sort_topologically(before | required, wins, waiting, order):
        sort_topologically(required, wins, waiting, order)
    return False


@kernel_with_arrays
def _raw_scores(
    edges: NDArray[np.bool_],
    acyclic: NDArray[np.bool_],
    first: Ints,
    candidates: Ints,
    start: Ints,
    masks: Masks,
    scores: Floats,
) -> Floats:
    """Return the log score of each raw read; NaN if `acyclic` is False or a parent set is not in the table."""
    reads, n, _ = edges.shape
    total = np.zeros(reads)
    mask = np.empty((1, masks.shape[1]), dtype=np.uint64)
    for read in range(reads):
        if not acyclic[read]:
            total[read] = np.nan
            continue
        for child in range(n):
            mask[:] = np.uint64(0)
            parents = 0
            for parent in range(n):
                parents += edges[read, parent, child]
            for bit in range(first[child + 1] - first[child]):
                if edges[read, candidates[first[child] + bit], child]:
                    flip_bit(mask, 0, bit)
                    parents -= 1
            entry = find_mask(masks, start[child], start[child + 1], mask, 0)
            if parents > 0 or entry < 0:
                total[read] = np.nan
                break
            total[read] += scores[entry]
    return total


def write_samples(sampleset: dimod.SampleSet, path: str | os.PathLike[str]) -> None:
    """Save a sample set as JSON; `read_samples` reads it back.

    Args:
        sampleset: reads of a sampler.
        path: path of the file.
    """
    with atomic_write(path) as file:
        file.write(json.dumps(sampleset.to_serializable(), default=_to_json).encode())


def read_samples(path: str | os.PathLike[str]) -> dimod.SampleSet:
    """Read a sample set that `write_samples` saved.

    Args:
        path: path of the file.
    """
    import dimod

    try:
        return dimod.SampleSet.from_serializable(json.loads(Path(path).read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is not a file of saved samples; write one with write_samples") from error


def _to_json(value: Any) -> Any:
    """Convert a NumPy value to a JSON value, and any other object to text."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)
