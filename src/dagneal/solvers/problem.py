"""The problem that a solver gets, and the interface of solvers."""

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
    """The problem of finding the DAG with the highest score.

    Args:
        source: `Scorer` of data or `ScoreTable`, which provides the scores.
        max_parents: parent limit. None lets the solver choose. It must be None for a `ScoreTable`, which has its own limit.
        initial: DAG with which the search starts (warm start); None for no warm start.
    """

    source: Scorer | ScoreTable
    max_parents: int | None = None
    initial: nx.DiGraph | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.source, Scorer | ScoreTable):
            raise InputError(f"source is a {type(self.source).__name__}; give a Scorer or a ScoreTable")
        if self.max_parents is not None:
            if isinstance(self.source, ScoreTable):
                raise InputError("a ScoreTable already has a parent limit; remove max_parents, or give a Scorer")
            check_max_parents(self.max_parents, len(self.names))
        if self.initial is not None:
            if not isinstance(self.initial, nx.DiGraph):
                raise InputError(f"initial is {self.initial!r}; give a networkx.DiGraph, such as dn.load('lung-cancer').dag")
            check_dag(self.initial, self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(self.source.data.names if isinstance(self.source, Scorer) else self.source.names)

    @property
    def scorer(self) -> Scorer:
        """The scorer of the data, for solvers that need scores of arbitrary parent sets."""
        if not isinstance(self.source, Scorer):
            raise InputError(
                "this solver needs more scores than a ScoreTable contains; give data or a Scorer, or use solver='exact', "
                "solver='order' or a sampler with direct=True"
            )
        return self.source

    def table(self, max_parents: int | None = None, complete: bool = False) -> ScoreTable:
        """Return the score table with all parent sets within the parent limit.

        If `source` is a `ScoreTable`, return it unchanged.

        Args:
            max_parents: parent limit to use if the problem has no limit; 2 by default.
            complete: whether to include parents that the background knowledge forbids. Their scores are so low that a best
                network never contains them.
        """
        if isinstance(self.source, ScoreTable):
            return self.source
        limit = self.max_parents if self.max_parents is not None else max_parents
        if self.source.knowledge is not None:
            self.source.knowledge.check(self.names, check_max_parents(limit, len(self.names)))
        return self.source.table(limit, complete=complete)

    def with_limit(self, max_parents: int | None) -> Problem:
        """Return the problem with the given parent limit. If the problem already has a limit, return it unchanged.

        Args:
            max_parents: parent limit; None for no limit.
        """
        if self.max_parents is not None or isinstance(self.source, ScoreTable):
            return self
        return replace(self, max_parents=max_parents)


@runtime_checkable
class Solver(Protocol):
    """The interface of solvers. Any object with the method `solve` can be passed to `learn`.

    Solvers are usually frozen dataclasses. A journal identifies a solver by its `repr`, so the `repr` must be the same in
    every process. `learn` checks the solution: its variables, the parent limit, the background knowledge and the score.

    A solver that calls `run.map` with a key writes to the journal of the run and must declare `uses_journal = True`. Without
    this declaration, a run with a journal raises an error. A solver with a size limit may declare `max_variables`.

    For example, this solver tries some random orders of the variables and returns the best network:

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
    >>> data = dn.load("lung-cancer").expected_data(10_000)
    >>> dn.learn(data, RandomOrders(), seed=7)
    Learned(5 variables, 4 edges, BDeu(1) = -21036.862, highest score not proved)
    >>> dn.learn(data, dn.Divide(RandomOrders(), size=3, combine="penalty")).division.solver
    'RandomOrders'
    """

    def solve(self, problem: Problem, run: Run) -> Solution:
        """Return a solution of the problem.

        Args:
            problem: problem to solve, with the scores, the parent limit and the initial DAG.
            run: `Run` object with the seed, the deadline, the progress function, the executor and the journal.
        """
        ...


@runtime_checkable
class UsesJournal(Protocol):
    """A solver that declares whether it writes to a journal."""

    @property
    def uses_journal(self) -> bool:
        """Whether the solver, with its present settings, writes to a journal."""
        ...


@runtime_checkable
class SizeLimited(Protocol):
    """A solver with a limit on the number of variables. The limit is checked before any scores are computed."""

    @property
    def max_variables(self) -> int:
        """The highest number of variables that the solver accepts."""
        ...
