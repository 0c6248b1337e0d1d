"""Running blocks: cut into pieces, handed out, written to a journal as they come in; Ctrl-C ends it with what is known."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError
from dagneal.base.kernels import Ints, Progress
from dagneal.base.machine import cores
from dagneal.base.version import __version__
from dagneal.divide.subproblem_solvers import BlockSolver, ExactBlocks, Solutions
from dagneal.runtime.executors import LostError, first_done, give_up, pool_of, result_of, submitted, workers_of
from dagneal.runtime.journal import NOT_OURS, Journal
from dagneal.scoring.table import ScoreTable

_PIECE = 32  # the most blocks that a sampler solves before they are recorded
_AHEAD = 4  # pieces handed out for each core
_EXACT_PIECE = 20_000
_SHOWN = 64  # blocks that a solver sees before it says how many it takes at a time


@dataclass(eq=False)
class Ran:
    """What came of blocks.

    Attributes:
        adjacency: shape (blocks, parent, child).
        done: which blocks were solved.
        failed: for those that could not be solved, why.
        interrupted: whether Ctrl-C ended it early.
        late: whether a deadline did.
    """

    adjacency: NDArray[np.bool_]
    done: NDArray[np.bool_]
    failed: dict[int, str] = field(default_factory=dict)
    interrupted: bool = False
    late: bool = False

    def reasons(self, names: Sequence[str], chosen: Ints) -> dict[str, str]:
        """The failed blocks by the names of their members.

        Args:
            names: of all variables.
            chosen: the members of each block.
        """
        return {", ".join(names[v] for v in chosen[line]): why for line, why in sorted(self.failed.items())}

    def record(self, lines: Ints, future: Future[Solutions], executor: Executor) -> Ints:
        """Take in what became of some blocks, and say which of them were solved.

        Args:
            lines: the blocks.
            future: their solutions, or why there are none.
            executor: where they were solved.
        """
        nothing = np.empty(0, dtype=np.int64)
        try:
            found = result_of(executor, future)
        except InputError:
            raise
        except Exception as error:  # whatever a block solver raises: its blocks are named, the others go on
            self.failed.update({int(line): str(error) or type(error).__name__ for line in lines})
            return nothing
        fine = np.array([i for i in range(len(lines)) if i not in found.failed], dtype=np.int64)
        self.adjacency[lines[fine]] = found.adjacency[fine]
        self.done[lines[fine]] = True
        self.failed.update({int(lines[i]): why for i, why in found.failed.items()})
        return lines[fine]


def run_blocks(
    table: ScoreTable,
    chosen: Ints,
    solver: BlockSolver,
    executor: Executor | None = None,
    journal: Journal | None = None,
    progress: Progress | None = None,
    deadline: float | None = None,
) -> Ran:
    """Solve blocks, piece by piece.

    Args:
        table: the scores.
        chosen: the members of each block.
        solver: what solves them.
        executor: where they are solved; threads by default.
        journal: keeps those that are solved.
        progress: told how far it is.
        deadline: a time of `perf_counter`, after which no more blocks are begun, if some are.
    """
    size = chosen.shape[1]
    ran = Ran(np.zeros((*chosen.shape, size), dtype=bool), np.zeros(len(chosen), dtype=bool))
    keys = _keys(table, chosen, solver) if journal is not None else []
    known = journal.get(keys) if journal is not None else {}
    for line, key in enumerate(keys):
        if key in known:
            if len(known[key]) != -(-size * size // 8):
                raise InputError(f"the journal holds no valid solution of the variables {chosen[line].tolist()}; {NOT_OURS}")
            bits = np.unpackbits(np.frombuffer(known[key], dtype=np.uint8), count=size * size)
            ran.adjacency[line] = bits.reshape(size, size).astype(bool)
            ran.done[line] = True

    def record(lines: Ints, future: Future[Solutions]) -> None:
        fine = ran.record(lines, future, pool)
        if journal is not None and len(fine):
            journal.put({keys[line]: np.packbits(ran.adjacency[line]).tobytes() for line in fine})
        if progress is not None:
            progress(f"blocks of {size}", int(ran.done.sum()) + len(ran.failed), len(chosen))

    workers = getattr(solver, "in_flight", cores() if executor is None else workers_of(executor))
    waiting: dict[Future[Solutions], Ints] = {}
    with pool_of(executor, workers) as pool:
        try:
            # Only a few pieces are cut and handed out at a time, so that memory does not grow with the number of blocks.
            for lines in _pieces(table, chosen, solver, ran.done):
                if deadline is not None and (waiting or ran.done.any()) and perf_counter() >= deadline:
                    ran.late = True
                    break
                waiting[submitted(pool, solver.solve, table.gather(chosen[lines]))] = lines
                if len(waiting) >= _AHEAD * workers:
                    for future in first_done(pool, waiting):
                        record(waiting.pop(future), future)
            while waiting:
                for future in first_done(pool, waiting):
                    record(waiting.pop(future), future)
        except (KeyboardInterrupt, InputError) as error:  # an InputError is final: no more blocks are begun
            ran.interrupted = isinstance(error, KeyboardInterrupt)
            # Problems that were sent away are given up, but where there is a journal to keep their answers only on Ctrl-C.
            if hasattr(solver, "cancel") and (ran.interrupted or journal is None):
                solver.cancel()
            give_up(waiting, lost=isinstance(error, LostError))
            for future, lines in waiting.items():  # what had begun is kept
                if future.cancelled() or not future.done():
                    continue
                with suppress(LostError if ran.interrupted else InputError):  # the first one is told
                    record(lines, future)
            if not ran.interrupted or not ran.done.any():
                raise
    return ran


def _pieces(table: ScoreTable, chosen: Ints, solver: BlockSolver, done: NDArray[np.bool_]) -> Iterator[Ints]:
    """The blocks that are left, in pieces, each to be solved in one go."""
    step = _EXACT_PIECE if isinstance(solver, ExactBlocks) else max(1, min(_PIECE, len(chosen) // (8 * cores())))
    if hasattr(solver, "piece"):  # a solver that takes many in one call knows how many
        step = solver.piece(table.gather(chosen[:_SHOWN]))
    # Pieces are cut from all blocks, known or not: a call that was interrupted is made again as it was.
    for begin in range(0, len(chosen), step):
        piece = np.arange(begin, min(begin + step, len(chosen)))
        lines = piece[~done[piece]]
        if len(lines):
            yield lines


def _keys(table: ScoreTable, chosen: Ints, solver: BlockSolver) -> list[str]:
    """Where each block is kept in a journal: under what its solution depends on."""
    state = hashlib.blake2b(digest_size=16)
    for part in (__version__, *table.names, table.score_name, str(table.max_parents), solver.fingerprint()):
        state.update(part.encode() + b"\0")
    required = np.empty(0, dtype=bool) if table.required is None else table.required
    for array in (table.first, table.candidates, table.start, table.masks, table.scores, required):
        state.update(np.ascontiguousarray(array).tobytes())
    run = state.hexdigest()
    return [f"{run}:{','.join(map(str, members))}" for members in chosen.tolist()]
