"""Problem: what a solver is asked to solve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import networkx as nx

from dagneal.base.errors import InputError
from dagneal.graphs.dags import check_dag
from dagneal.scoring.scorer import Scorer, check_max_parents
from dagneal.scoring.table import ScoreTable

if TYPE_CHECKING:
    from dagneal.runtime.run import Run
    from dagneal.solvers.solution import Solution


@dataclass(frozen=True, eq=False)
class Problem:
    """Find the DAG with the highest score.

    Args:
        source: where scores come from: a scorer of data, or a finished table of scores.
        max_parents: the most parents of a variable; None leaves it to the solver.
        initial: a DAG that the search starts from.
    """

    source: Scorer | ScoreTable
    max_parents: int | None = None
    initial: nx.DiGraph | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.source, Scorer | ScoreTable):
            raise InputError(f"a problem is made of a Scorer or a ScoreTable, not {type(self.source).__name__}")
        if self.max_parents is not None:
            if isinstance(self.source, ScoreTable):
                raise InputError("max_parents is settled by the table; give a Scorer to choose it")
            check_max_parents(self.max_parents, len(self.names))
        if self.initial is not None:
            if not isinstance(self.initial, nx.DiGraph):
                raise InputError(f"initial is {self.initial!r}; give a networkx.DiGraph, such as dn.load('lung-cancer').dag")
            check_dag(self.initial, self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return tuple(self.source.data.names if isinstance(self.source, Scorer) else self.source.names)

    @property
    def scorer(self) -> Scorer:
        """The scorer; solvers that ask for more scores than a table has need one."""
        if not isinstance(self.source, Scorer):
            raise InputError("this solver asks for scores that a table does not have; give a Scorer")
        return self.source

    def table(self, max_parents: int | None = None, complete: bool = False) -> ScoreTable:
        """Return the scores of all parent sets.

        Args:
            max_parents: the most parents, where the problem leaves that open; 2 by default.
            complete: keep parents that knowledge forbids, at a price that no best network pays.
        """
        if isinstance(self.source, ScoreTable):
            return self.source
        limit = self.max_parents if self.max_parents is not None else max_parents
        if self.source.knowledge is not None:
            self.source.knowledge.check(self.names, check_max_parents(limit, len(self.names)))
        return self.source.table(limit, complete=complete)

    def with_limit(self, max_parents: int | None) -> Problem:
        """Return this problem with a parent limit, if it has none yet.

        Args:
            max_parents: the limit.
        """
        if self.max_parents is not None or isinstance(self.source, ScoreTable):
            return self
        return replace(self, max_parents=max_parents)


@runtime_checkable
class Solver(Protocol):
    """Finds a DAG; anything with this method can be passed to `learn`.

    Solvers are frozen dataclasses as a rule: their `repr` names them in a journal, so it must be the same in every process.
    `learn` checks what a solver returns: the variables, the parent limit, the knowledge and the score of the graph.

    A solver that calls `run.map` with a key writes to the journal of the run. It declares `uses_journal = True`; a journal
    is refused with any other solver. A solver that takes only so many variables may declare `most_variables`.

    A solver of your own needs one method. This one takes the best of some random orders of the variables:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import dagneal as dn
    >>> @dataclass(frozen=True)
    ... class RandomOrders:
    ...     count: int = 100
    ...     def solve(self, problem, run):
    ...         table = problem.table(max_parents=2)
    ...         orders = next(dn.scoring.random_orders(len(table.names), self.count, run.seed, required=table.required))
    ...         best = orders[np.argmax(dn.scoring.score_orders(table, orders))]
    ...         dag = dn.scoring.dag_of_order(table, best)
    ...         return dn.Solution(dag, table.score(dag), table.max_parents, solver="random orders", seed=run.seed)
    >>> data = dn.load("lung-cancer").expected(10_000)
    >>> dn.learn(data, RandomOrders(), seed=7)
    Learned(5 variables, 4 edges, BDeu(1) = -21036.862, not proved optimal)
    >>> dn.learn(data, dn.Divide(RandomOrders(), size=3, combine="penalty")).division.solver
    'RandomOrders'
    """

    def solve(self, problem: Problem, run: Run) -> Solution:
        """Solve a problem.

        Args:
            problem: the scores and the limits.
            run: seed, deadline, progress, executor and journal.
        """
        ...


@runtime_checkable
class UsesJournal(Protocol):
    """A solver that says whether it stores anything in a journal."""

    @property
    def uses_journal(self) -> bool:
        """Whether it does with these settings."""
        ...


@runtime_checkable
class SizeLimited(Protocol):
    """A solver that takes only so many variables, and refuses more before it counts anything."""

    @property
    def most_variables(self) -> int:
        """The most variables that it takes."""
        ...
