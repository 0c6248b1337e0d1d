"""Verify that the ground state of a QUBO is the best network of its table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import networkx as nx

from dagneal.base.errors import InputError
from dagneal.qubo.decode import decode
from dagneal.qubo.statistics import treewidth
from dagneal.scoring.table import ScoreTable
from dagneal.solvers.annealing import equal_scores, sample_model
from dagneal.solvers.exact import exact

if TYPE_CHECKING:
    import dimod

MAX_TREEWIDTH = 22  # takes some seconds and a few hundred megabytes; both double if the treewidth grows by one


@dataclass(frozen=True, eq=False)
class Verification:
    """A comparison of the ground state of a QUBO with the best network.

    Attributes:
        holds: whether the lowest energy equals minus the best score. If so, no state has less energy than the best network.
        lowest_energy: proved lowest energy of all states.
        best_score: proved highest log score of all networks of the table.
        graph: graph of a state with the lowest energy. If `holds` is False, it is not the best network and may have cycles.
        feasible: whether `graph` is a DAG whose parent sets are all in the table.
    """

    holds: bool
    lowest_energy: float
    best_score: float
    graph: nx.DiGraph
    feasible: bool

    def __bool__(self) -> bool:
        return self.holds


def verify(bqm: dimod.BinaryQuadraticModel, table: ScoreTable) -> Verification:
    """Check whether the ground state of a small QUBO is the best network. The answer is exact.

    Dynamic programming over a tree decomposition finds the ground state. Exact search finds the best network.

    Args:
        bqm: QUBO of the table, from `encode`; its weights may have been changed.
        table: score table of the QUBO.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.qubo.encode import Encoding, encode
    >>> from dagneal.scoring.scorer import score_table
    >>> table = score_table(load("lung-cancer").expected_data(10_000))
    >>> bool(verify(encode(table), table)), bool(verify(encode(table, Encoding(scale=0.5)), table))
    (True, False)
    """
    from dwave.samplers import TreeDecompositionSolver

    width = treewidth(bqm)
    if width > MAX_TREEWIDTH:
        raise InputError(
            f"the QUBO has a treewidth of about {width}, but verify is limited to {MAX_TREEWIDTH}; use fewer variables"
        )
    best = exact(table).score
    samples = sample_model(TreeDecompositionSolver(), bqm, {})
    reads = decode(table, samples)
    lowest = float(samples.first.energy)
    # Energies are sums of more and larger terms than scores, so their rounding errors are larger.
    scale = float(abs(bqm.offset)) + sum(map(abs, bqm.linear.values())) + sum(map(abs, bqm.quadratic.values()))
    return Verification(
        holds=bool(equal_scores(-lowest, best) or abs(lowest + best) <= min(1e-12 * scale, 1e-3)),
        lowest_energy=lowest,
        best_score=best,
        graph=reads.raw_graph(0),
        feasible=bool(reads.feasible[0]),
    )
