"""Verify: is the ground state of a QUBO the best network of its table?"""

from __future__ import annotations

from dataclasses import dataclass

import dimod
import networkx as nx

from dagneal.base.errors import InputError
from dagneal.qubo.decode import decode
from dagneal.qubo.statistics import treewidth
from dagneal.scoring.table import ScoreTable
from dagneal.solvers.annealing import equal_scores, sample_model
from dagneal.solvers.exact import exact

WIDEST = 22  # treewidth; each step beyond doubles time and memory, here some seconds and a few hundred megabytes


@dataclass(frozen=True, eq=False)
class Verified:
    """How the ground state of a QUBO compares with the best network.

    Attributes:
        holds: whether the lowest energy is minus the best score, so that no state, feasible or not, lies below the optimum,
            and some state reaches it.
        lowest_energy: of all states, proved.
        best_score: of all networks of the table, proved.
        graph: the edges of a state of lowest energy, one of them if there are several; where `holds` is False, a network
            that is not best or none at all.
        feasible: whether that graph is a network of the table.
    """

    holds: bool
    lowest_energy: float
    best_score: float
    graph: nx.DiGraph
    feasible: bool

    def __bool__(self) -> bool:
        return self.holds


def verify(bqm: dimod.BinaryQuadraticModel, table: ScoreTable) -> Verified:
    """Prove or refute that the ground state of a QUBO is the best network, for small problems.

    The ground state is found by dynamic programming over a tree decomposition, the best network by exact search.

    Args:
        bqm: an encoded table, perhaps with weights changed by hand.
        table: the table.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.qubo.encode import Encoding, encode
    >>> from dagneal.scoring.scorer import score_table
    >>> table = score_table(load("lung-cancer").expected(10_000))
    >>> bool(verify(encode(table), table)), bool(verify(encode(table, Encoding(scale=0.5)), table))
    (True, False)
    """
    from dwave.samplers import TreeDecompositionSolver

    width = treewidth(bqm)
    if width > WIDEST:
        raise InputError(f"the QUBO has a treewidth of about {width}; at most {WIDEST} can be verified")
    best = exact(table).score
    samples = sample_model(TreeDecompositionSolver(), bqm, {})
    reads = decode(table, samples)
    lowest = float(samples.first.energy)
    # Energies are sums over far more and larger terms than scores.
    scale = float(abs(bqm.offset)) + sum(map(abs, bqm.linear.values())) + sum(map(abs, bqm.quadratic.values()))
    return Verified(
        holds=bool(equal_scores(-lowest, best) or abs(lowest + best) <= min(1e-12 * scale, 1e-3)),
        lowest_energy=lowest,
        best_score=best,
        graph=reads.raw_graph(0),
        feasible=bool(reads.feasible[0]),
    )
