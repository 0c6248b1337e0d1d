"""What solves the whole network on candidate parents: classical search, or a sampler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import networkx as nx

from dagneal.base.kernels import Ints, Progress
from dagneal.divide.subproblem_solvers import Annealing
from dagneal.scoring.orders import dag_of_order
from dagneal.scoring.table import ScoreTable
from dagneal.solvers.annealing import Sampling, sample
from dagneal.solvers.exact import exact, fits
from dagneal.solvers.order_search import search

EXACT_WHOLE = 22  # variables that exact search solves in a second or two


@dataclass(frozen=True, eq=False)
class Solved:
    """A solution of the whole on one set of candidates.

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


_LARGE = 1000  # variables, beyond which the work of a search does not grow any more: a round costs time in proportion to n


class WholeSolver(Protocol):
    """Solves the whole on candidate parents."""

    def solve(self, table: ScoreTable, turn: int, order: Ints | None, progress: Progress | None) -> Solved:
        """Solve a table.

        Args:
            table: the scores on the candidates of this round.
            turn: which round it is, from 1; seeds may depend on it.
            order: a good order of the variables, from the round before.
            progress: told how far it is.
        """
        ...


@dataclass(frozen=True)
class ClassicalWhole:
    """Exact search up to 22 variables, ordering search beyond.

    Args:
        seed: of the ordering search.
        deadline: a time of `perf_counter`, after which it comes to an end.
    """

    seed: int = 0
    deadline: float | None = None

    def solve(self, table: ScoreTable, turn: int, order: Ints | None, progress: Progress | None) -> Solved:
        """Solve a table; see `WholeSolver`."""
        n = len(table.names)
        if n <= EXACT_WHOLE and fits(n):
            found = exact(table, progress)
            return Solved(found.dag, found.score, "exact", proved=True)
        # The first solve searches widely; the later ones begin where the last ended.
        rounds = max(300, 5 * n) if order is None else max(100, 3 * n)
        rounds = min(rounds, max(300, rounds * _LARGE**2 // n**2))
        best, _ = search(table, self.seed + turn, rounds, order, progress=progress, deadline=self.deadline)
        dag = dag_of_order(table, best)
        return Solved(dag, table.score(dag), "order")


@dataclass(frozen=True)
class AnnealedWhole(Annealing):
    """Any dimod sampler on the QUBO of the whole; raw reads are the best that are networks."""

    def solve(self, table: ScoreTable, turn: int, order: Ints | None, progress: Progress | None) -> Solved:
        """Solve a table; see `WholeSolver`."""
        parameters = self.seeded(("the whole", str(turn)))
        sampling = sample(table, self.sampler, self.encoding, parameters, progress)
        return Solved(*sampling.best(self.repair), self.name, sampling=sampling)
