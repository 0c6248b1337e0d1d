"""Solving subproblems: in chunks, journalled and interruptible."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError
from dagneal.base.kernels import Ints
from dagneal.base.machine import cores
from dagneal.base.version import __version__
from dagneal.divide.subproblem_solvers import BatchSolver, ExactSubproblems, SubproblemSolver
from dagneal.runtime.executors import Cancellable
from dagneal.runtime.run import Results, Run
from dagneal.scoring.table import ScoreTable

_CHUNK = 32  # the most subproblems that a sampler solves before they are journalled
_EXACT_CHUNK = 20_000
_SHOWN = 64  # subproblems that a solver sees before it says how many it takes in a call


def solve_subproblems(table: ScoreTable, chosen: Ints, solver: SubproblemSolver, run: Run) -> Results:
    """Solve subproblems; the values of the results are adjacency matrices.

    Args:
        table: the scores.
        chosen: the members of each subproblem.
        solver: what solves them.
        run: where, and until when.
    """
    size = chosen.shape[1]
    return run.map(SubproblemTask(solver, size), chosen, table, SubproblemKey(table, solver), f"subproblems of {size}")


@dataclass(frozen=True)
class SubproblemTask:
    """The task function of subproblems; see `dagneal.runtime.run.TaskFunction`.

    Args:
        solver: what solves them.
        size: variables in a subproblem.
    """

    solver: SubproblemSolver
    size: int
    largest: int = 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of an adjacency matrix."""
        return self.size, self.size

    @property
    def in_flight(self) -> int | None:
        """The number of calls at a time; None for one per worker."""
        return self.solver.in_flight if isinstance(self.solver, BatchSolver) else None

    def chunk_size(self, shared: ScoreTable, tasks: Any) -> int:
        """Return how many subproblems are solved in one call.

        Args:
            shared: the scores.
            tasks: the members of all subproblems.
        """
        if isinstance(self.solver, BatchSolver):
            return self.solver.batch_size(shared.gather(tasks[:_SHOWN]))
        if isinstance(self.solver, ExactSubproblems):
            return _EXACT_CHUNK
        return max(1, min(_CHUNK, len(tasks) // (8 * cores())))

    def cancel(self) -> None:
        """End calls that have begun, if the solver can."""
        if isinstance(self.solver, Cancellable):
            self.solver.cancel()

    def __call__(self, shared: ScoreTable, tasks: Sequence[Sequence[int]]) -> tuple[NDArray[np.uint8], dict[int, str]]:
        """Solve some subproblems.

        Args:
            shared: the scores.
            tasks: their members.
        """
        try:
            found = self.solver.solve_many(shared.gather(tasks))
        except (InputError, CancelledError):  # final, or given up
            raise
        except Exception as error:  # whatever a solver raises: its subproblems are named, the others go on
            why = str(error) or type(error).__name__
            return np.zeros((len(tasks), *self.shape), dtype=np.uint8), dict.fromkeys(range(len(tasks)), why)
        return found.adjacency.astype(np.uint8), found.failed


@dataclass(frozen=True, eq=False)
class SubproblemKey:
    """Names a subproblem in a journal by all that its solution depends on.

    Args:
        table: the scores.
        solver: what solves it.
    """

    table: ScoreTable
    solver: SubproblemSolver

    @cached_property
    def _run(self) -> str:
        table, state = self.table, blake2b(digest_size=16)
        for part in (__version__, *table.names, table.score_name, str(table.max_parents), self.solver.fingerprint()):
            state.update(part.encode() + b"\0")
        required = np.empty(0, dtype=bool) if table.required is None else table.required
        for array in (table.first, table.candidates, table.start, table.masks, table.scores, required):
            state.update(np.ascontiguousarray(array).tobytes())
        return state.hexdigest()

    def __call__(self, members: Ints) -> str:
        """Return the name of a subproblem.

        Args:
            members: its variables.
        """
        return f"{self._run}:{','.join(map(str, members.tolist()))}"


def failures(results: Results, names: Sequence[str], chosen: Ints) -> dict[str, str]:
    """Return the subproblems that failed by the names of their members, each with the reason.

    Args:
        results: of all subproblems.
        names: of all variables.
        chosen: the members of each subproblem.
    """
    return {", ".join(names[v] for v in chosen[line]): why for line, why in sorted(results.failed.items())}
