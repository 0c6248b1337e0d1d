"""Global solvers: solve the global problem with given candidate parents, by classical search or with a sampler."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import networkx as nx
import numpy as np

from dagneal.divide.subproblem_solvers import Annealing
from dagneal.graphs.dags import topological_order
from dagneal.runtime.run import Run
from dagneal.scoring.orders import dag_of_order
from dagneal.scoring.table import ScoreTable
from dagneal.solvers.annealing import Sampling, sample
from dagneal.solvers.exact import exact
from dagneal.solvers.order_search import search
from dagneal.solvers.policy import LARGE, exact_is_quick


@dataclass(frozen=True, eq=False)
class GlobalSolution:
    """A solution of the global problem with given candidate parents.

    Attributes:
        dag: best graph.
        score: log score; NaN if the graph has a cycle or a parent set that is not in the table. Only the graph of a raw read
            can have a score of NaN.
        solver: name of the solver.
        proved: True if it is proved that no network with these candidates scores higher.
        sampling: reads of the sampler call that gave the graph; None for a classical solver.
        windows: number of variables of each window that was sampled; empty if the global problem was solved as one.
        reads: number of reads of all windows.
    """

    dag: nx.DiGraph
    score: float
    solver: str
    proved: bool = False
    sampling: Sampling | None = None
    windows: tuple[int, ...] = ()
    reads: int = 0


class GlobalSolver(Protocol):
    """The interface of a global solver, which solves the global problem with given candidate parents."""

    def solve(self, table: ScoreTable, number: int, initial: nx.DiGraph | None, run: Run) -> GlobalSolution:
        """Solve the global problem.

        Args:
            table: score table of the current candidates.
            number: 1 for the first global solve, 2 for the second, and so on; the seed can depend on it.
            initial: network from which the search starts; None for no warm start.
            run: a `Run` with seed, deadline and progress.
        """
        ...


@dataclass(frozen=True)
class ClassicalSolver:
    """A global solver that uses exact search for up to 22 variables, and order search for more."""

    def solve(self, table: ScoreTable, number: int, initial: nx.DiGraph | None, run: Run) -> GlobalSolution:
        """Solve the global problem; see `GlobalSolver`."""
        n = len(table.names)
        if exact_is_quick(n):
            solution = exact(table, run)
            return GlobalSolution(solution.dag, solution.score, "exact", proved=True)
        # The first solve needs more restarts; later solves start from the previous order.
        order = None if initial is None else np.array([table.position[v] for v in topological_order(initial, table.names)])
        restarts = max(300, 5 * n) if order is None else max(100, 3 * n)
        restarts = min(restarts, max(300, restarts * LARGE**2 // n**2))
        best, _ = search(table, restarts, order, replace(run, seed=run.seed + number))
        dag = dag_of_order(table, best)
        return GlobalSolution(dag, table.score(dag), "order")


@dataclass(frozen=True)
class AnnealedSolver(Annealing):
    """A global solver that samples a QUBO. With `repair=False` it returns the best raw read that is a network."""

    def solve(self, table: ScoreTable, number: int, initial: nx.DiGraph | None, run: Run) -> GlobalSolution:
        """Solve the global problem; see `GlobalSolver`."""
        parameters = self.with_seed(("the whole", str(number)))  # these words determine the seed: do not change them
        sampling = sample(table, self.sampler, self.encoding, parameters, run)
        return GlobalSolution(*sampling.best(self.repair), self.name, sampling=sampling)
