"""Solve subproblems in chunks. A journal can store the solutions, so that an interrupted run can continue later."""

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

_CHUNK = 32  # maximum number of subproblems that a sampler solves before they are stored in the journal
_EXACT_CHUNK = 20_000  # the same for exact search
_EXAMPLES = 64  # number of subproblems that a batch solver sees when it chooses its batch size


def solve_subproblems(table: ScoreTable, chosen: Ints, solver: SubproblemSolver, run: Run) -> Results:
    """Solve subproblems. The attribute `values` of the result contains one adjacency matrix per subproblem.

    Args:
        table: score table of all variables.
        chosen: indices of the variables of each subproblem, one subproblem per row.
        solver: subproblem solver.
        run: a `Run` with executor, journal, deadline and progress.
    """
    size = chosen.shape[1]
    return run.map(SubproblemTask(solver, size), chosen, table, SubproblemKey(table, solver), f"subproblems of {size}")


@dataclass(frozen=True)
class SubproblemTask:
    """The task function that solves subproblems; see `dagneal.runtime.run.TaskFunction`.

    Args:
        solver: subproblem solver.
        size: number of variables in a subproblem.
    """

    solver: SubproblemSolver
    size: int
    largest: int = 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the adjacency matrix of one subproblem."""
        return self.size, self.size

    @property
    def in_flight(self) -> int | None:
        """The maximum number of concurrent calls of the solver; None for one call per worker."""
        return self.solver.in_flight if isinstance(self.solver, BatchSolver) else None

    def chunk_size(self, shared: ScoreTable, tasks: Any) -> int:
        """Return the number of subproblems that one call of the solver solves.

        Args:
            shared: score table of all variables.
            tasks: indices of the variables of each subproblem, one subproblem per row.
        """
        if isinstance(self.solver, BatchSolver):
            return self.solver.batch_size(shared.gather(tasks[:_EXAMPLES]))
        if isinstance(self.solver, ExactSubproblems):
            return _EXACT_CHUNK
        return max(1, min(_CHUNK, len(tasks) // (8 * cores())))

    def cancel(self) -> None:
        """Cancel the running calls of the solver, if it supports that."""
        if isinstance(self.solver, Cancellable):
            self.solver.cancel()

    def __call__(self, shared: ScoreTable, tasks: Sequence[Sequence[int]]) -> tuple[NDArray[np.uint8], dict[int, str]]:
        """Solve the given subproblems. Return an array of adjacency matrices, and a dict of error messages.

        A key of the dict is the index of a failed subproblem.

        Args:
            shared: score table of all variables.
            tasks: indices of the variables of each subproblem, one subproblem per row.
        """
        try:
            solutions = self.solver.solve_many(shared.gather(tasks))
        except (InputError, CancelledError):
            raise  # retrying or continuing would not help
        except Exception as error:  # a solver can raise anything; report these subproblems and continue with the others
            reason = str(error) or type(error).__name__
            return np.zeros((len(tasks), *self.shape), dtype=np.uint8), dict.fromkeys(range(len(tasks)), reason)
        return solutions.adjacency.astype(np.uint8), solutions.failed


@dataclass(frozen=True, eq=False)
class SubproblemKey:
    """A function that returns the journal key of a subproblem: a hash of everything that affects the solution.

    Args:
        table: score table of all variables.
        solver: subproblem solver.
    """

    table: ScoreTable
    solver: SubproblemSolver

    @cached_property
    def _prefix(self) -> str:
        table, state = self.table, blake2b(digest_size=16)
        for part in (__version__, *table.names, table.score_name, str(table.max_parents), self.solver.fingerprint()):
            state.update(part.encode() + b"\0")
        required = np.empty(0, dtype=bool) if table.required is None else table.required
        for array in (table.first, table.candidates, table.start, table.masks, table.scores, required):
            state.update(np.ascontiguousarray(array).tobytes())
        return state.hexdigest()

    def __call__(self, members: Ints) -> str:
        """Return the journal key of a subproblem.

        Args:
            members: indices of the variables of the subproblem.
        """
        return f"{self._prefix}:{','.join(map(str, members.tolist()))}"


def failures_by_members(results: Results, names: Sequence[str], chosen: Ints) -> dict[str, str]:
    """Return a dict of the error messages of failed subproblems. A key contains the variable names of the subproblem.

    Args:
        results: results of all subproblems.
        names: names of all variables.
        chosen: indices of the variables of each subproblem, one subproblem per row.
    """
    return {", ".join(names[v] for v in chosen[row]): reason for row, reason in sorted(results.failed.items())}
