"""Solvers of the global problem on candidate parents: classical search, or a sampler."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import networkx as nx

from dagneal.base.kernels import Ints
from dagneal.divide.subproblem_solvers import Annealing
from dagneal.runtime.run import Run
from dagneal.scoring.orders import dag_of_order
from dagneal.scoring.table import ScoreTable
from dagneal.solvers.annealing import Sampling, sample
from dagneal.solvers.exact import exact
from dagneal.solvers.order_search import search
from dagneal.solvers.policy import LARGE, exact_is_quick


@dataclass(frozen=True, eq=False)
class GlobalSolution:
    """A solution of the global problem on one set of candidates.

    Attributes:
        dag: the graph.
        score: its log score; NaN where it is not a network, as raw reads can be.
        solver: what found it.
        proved: whether no network on these candidates scores higher.
        sampling: the reads that it comes from, where a sampler found it.
    """

    dag: nx.DiGraph
    score: float
    solver: str
    proved: bool = False
    sampling: Sampling | None = None


class GlobalSolver(Protocol):
    """Solves the global problem on candidate parents."""

    def solve(self, table: ScoreTable, turn: int, order: Ints | None, run: Run) -> GlobalSolution:
        """Solve a table.

        Args:
            table: the scores on the candidates of this solve.
            turn: the number of this solve, from 1; seeds may depend on it.
            order: a good order of the variables, from the solve before.
            run: seed, deadline and progress.
        """
        ...


@dataclass(frozen=True)
class ClassicalSolver:
    """Exact search up to 22 variables, order search beyond."""

    def solve(self, table: ScoreTable, turn: int, order: Ints | None, run: Run) -> GlobalSolution:
        """Solve a table; see `GlobalSolver`."""
        n = len(table.names)
        if exact_is_quick(n):
            found = exact(table, run)
            return GlobalSolution(found.dag, found.score, "exact", proved=True)
        # The first solve searches widely; the later ones begin where the last ended.
        rounds = max(300, 5 * n) if order is None else max(100, 3 * n)
        rounds = min(rounds, max(300, rounds * LARGE**2 // n**2))
        best, _ = search(table, rounds, order, replace(run, seed=run.seed + turn))
        dag = dag_of_order(table, best)
        return GlobalSolution(dag, table.score(dag), "order")


@dataclass(frozen=True)
class AnnealedSolver(Annealing):
    """Any dimod sampler on the QUBO of the global problem; raw reads are the best that are networks."""

    def solve(self, table: ScoreTable, turn: int, order: Ints | None, run: Run) -> GlobalSolution:
        """Solve a table; see `GlobalSolver`."""
        parameters = self.with_seed(("the whole", str(turn)))  # the words are part of the seed
        sampling = sample(table, self.sampler, self.encoding, parameters, run)
        return GlobalSolution(*sampling.best(self.repair), self.name, sampling=sampling)
