"""Decode: from the reads of a sampler to graphs, as they stand (raw) and repaired."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dimod
import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError
from dagneal.base.files import replacing
from dagneal.base.kernels import Floats, Ints, Masks, kernel
from dagneal.qubo.hamiltonian import Qubos
from dagneal.qubo.variables import KINDS, Layout
from dagneal.scoring.orders import dag_of_order, score_orders, sort_by
from dagneal.scoring.table import ScoreTable


@dataclass(frozen=True, eq=False)
class Reads:
    """What the reads of a sampler mean, one line per row of the sample set.

    A raw read is its d bits as they stand: it may have cycles or parent sets outside the table. A repaired read is an
    order of the variables, in which every child takes its best parents among those before it: always a DAG, and never
    worse than the raw read where that is one.

    Attributes:
        table: the table that was encoded.
        edges: the d bits, shape (reads, parent, child).
        orders: the order taken from each read.
        raw_scores: the log score of each raw read, NaN where it is not feasible.
        repaired_scores: the log score of each repaired read.
        energies: as the sampler reported them.
        occurrences: how often each read occurred.
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
        """Which raw reads are DAGs of the table."""
        return ~np.isnan(self.raw_scores)

    def raw_graph(self, read: int) -> nx.DiGraph:
        """The graph of a read as it stands, perhaps with cycles.

        Args:
            read: its line.
        """
        graph = nx.DiGraph()
        graph.add_nodes_from(self.table.names)
        names = self.table.names
        graph.add_edges_from((names[a], names[b]) for a, b in np.argwhere(self.edges[read]))
        return graph

    def repaired_dag(self, read: int) -> nx.DiGraph:
        """The best DAG in the order of a read.

        Args:
            read: its line.
        """
        return dag_of_order(self.table, self.orders[read])


def decode(table: ScoreTable, sampleset: dimod.SampleSet) -> Reads:
    """Turn the reads of an encoded table into graphs.

    Args:
        table: the table that was encoded.
        sampleset: what a sampler returned.

    The order of a read follows its d and r bits together where these have no cycle; else the d bits; else the r bits; else
    nothing. What that leaves open goes to the variable that comes first in more r bits, then by column.

    >>> from dwave.samplers import TreeDecompositionSolver
    >>> from dagneal.networks.bundled import load
    >>> from dagneal.qubo.encode import encode
    >>> from dagneal.scoring.scorer import score_table
    >>> table = score_table(load("monty-hall").expected(10_000))
    >>> reads = decode(table, TreeDecompositionSolver().sample(encode(table)))
    >>> list(reads.raw_graph(0).edges)
    [('Player', 'Host'), ('Car', 'Host')]
    """
    n = len(table.names)
    bits = np.asarray(sampleset.record.sample) > 0  # 1 is set in both vartypes
    edges = np.zeros((len(bits), n, n), dtype=np.bool_)
    before = np.zeros_like(edges)
    for column, label in enumerate(sampleset.variables):
        kind, *rest = label if isinstance(label, tuple) else (None,)
        named = rest[:1] if kind == "y" else rest
        short = len(rest) != 2 and kind != "a"
        if kind not in KINDS or short or any(name not in table.position for name in named):
            raise InputError(f"the samples have a bit {label!r}, which is none of this table's")
        if kind in ("d", "r"):
            a, b = (table.position[name] for name in rest)
            if kind == "d":
                edges[:, a, b] = bits[:, column]
            else:
                before[:, a, b], before[:, b, a] = bits[:, column], ~bits[:, column]
    return _reads(table, edges, before, sampleset)


def decode_bits(table: ScoreTable, layout: Layout, sampleset: dimod.SampleSet) -> Reads:
    """Turn reads whose bits are numbered, in the order of a layout, into graphs.

    Args:
        table: the table that was encoded.
        layout: which bit is where.
        sampleset: what a sampler returned.
    """
    place = np.argsort(np.fromiter(sampleset.variables, dtype=np.int64))
    bits = np.zeros((len(sampleset), layout.bits + 1), dtype=np.bool_)  # one more, which -1 points to
    bits[:, :-1] = (np.asarray(sampleset.record.sample) > 0)[:, place]
    before = bits[:, layout.r]
    before |= (~before & (layout.r >= 0)).transpose(0, 2, 1)
    return _reads(table, bits[:, layout.d], before, sampleset)


def decode_spins(table: ScoreTable, encoded: Qubos, problem: int, spins: NDArray[np.int8]) -> Reads:
    """Turn the spins of a problem that was encoded with others into graphs.

    Args:
        table: the table of the problem.
        encoded: the QUBOs.
        problem: its line among them.
        spins: shape (reads, bits).
    """
    bits = (spins + 1) // 2
    energies = bits @ encoded.linear[problem] + encoded.offset[problem]
    energies = energies + (bits[:, encoded.rows] * bits[:, encoded.columns]) @ encoded.quadratic[problem]
    variables = range(spins.shape[1])
    return decode_bits(table, encoded.layout, dimod.SampleSet.from_samples((bits, variables), "BINARY", energies))


def _reads(table: ScoreTable, edges: NDArray[np.bool_], before: NDArray[np.bool_], sampleset: dimod.SampleSet) -> Reads:
    n = len(table.names)
    required = np.zeros((n, n), dtype=np.bool_) if table.required is None else table.required
    orders, acyclic = _orders(edges, before, required)
    acyclic &= ~(required & ~edges).any(axis=(1, 2))  # a read that lacks a required edge is no network either
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


@kernel
def _orders(
    edges: NDArray[np.bool_], before: NDArray[np.bool_], required: NDArray[np.bool_]
) -> tuple[Ints, NDArray[np.bool_]]:
    """An order for each read that keeps the required edges, and whether its edges have no cycle with these."""
    reads, n, _ = edges.shape
    orders = np.empty((reads, n), dtype=np.int64)
    acyclic = np.ones(reads, dtype=np.bool_)
    wins = np.empty(n, dtype=np.int64)
    for read in range(reads):
        for v in range(n):
            wins[v] = before[read, v].sum()
        kept = edges[read] | required
        if sort_by(kept | before[read], wins, orders[read]) or sort_by(kept, wins, orders[read]):
            continue
        acyclic[read] = False
        if not sort_by(before[read] | required, wins, orders[read]):
            sort_by(required, wins, orders[read])
    return orders, acyclic


@kernel
def _raw_scores(
    edges: NDArray[np.bool_],
    acyclic: NDArray[np.bool_],
    first: Ints,
    candidates: Ints,
    start: Ints,
    masks: Masks,
    scores: Floats,
) -> Floats:
    reads, n, _ = edges.shape
    total = np.zeros(reads)
    for read in range(reads):
        if not acyclic[read]:
            total[read] = np.nan
            continue
        for child in range(n):
            mask = np.uint64(0)
            parents = 0
            for parent in range(n):
                parents += edges[read, parent, child]
            for bit in range(first[child + 1] - first[child]):
                if edges[read, candidates[first[child] + bit], child]:
                    mask |= np.uint64(1) << np.uint64(bit)
                    parents -= 1
            low, high = start[child], start[child + 1]
            while low < high:
                middle = (low + high) // 2
                if masks[middle] < mask:
                    low = middle + 1
                else:
                    high = middle
            if parents > 0 or low == start[child + 1] or masks[low] != mask:
                total[read] = np.nan
                break
            total[read] += scores[low]
    return total


def write_samples(sampleset: dimod.SampleSet, path: str | os.PathLike[str]) -> None:
    """Save a sample set as JSON, to be read back with `read_samples`.

    Args:
        sampleset: what a sampler returned.
        path: the file.
    """
    with replacing(path) as file:
        file.write(json.dumps(sampleset.to_serializable(), default=_plain).encode())


def read_samples(path: str | os.PathLike[str]) -> dimod.SampleSet:
    """Read a sample set that `write_samples` saved.

    Args:
        path: the file.
    """
    try:
        return dimod.SampleSet.from_serializable(json.loads(Path(path).read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} holds no saved samples") from error


def _plain(value: Any) -> Any:
    """Arrays and numbers of NumPy in a sampler's own information, for JSON."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)
