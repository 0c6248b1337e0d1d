"""The annealers of the evaluation; one connection to a quantum annealer, or one emulated chip, for all runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from dagneal.runtime.journal import Journal

_made: dict[str, Any] = {}
_making = Lock()
_journals: list[Journal | None] = []


def annealer(solver: str) -> Any:
    """The sampler behind `sa` (simulated annealing), `qa` (the emulator) or `qpu` (D-Wave's).

    Gauges only where blocks are tiled, since the paper had none.

    Args:
        solver: which.
    """
    if solver == "sa":
        from dwave.samplers import SimulatedAnnealingSampler

        return SimulatedAnnealingSampler()
    with _making:
        if solver not in _made:
            from dagneal.qpu.emulator import emulated_qpu
            from dagneal.qpu.sampler import qpu

            tiled = solver.startswith("tiled")
            _made[solver] = qpu(gauges=tiled) if "qpu" in solver else emulated_qpu("Advantage_system4", gauges=tiled)
        if _journals and not _made[solver].backend.emulated:
            _made[solver].line.journal = _journals[-1]
        return _made[solver]


def give_up() -> None:
    """Let runs on a quantum annealer, emulated or not, end at once."""
    for sampler in _made.values():
        sampler.line.cancel()


@contextmanager
def written_down(journal: Journal | None) -> Iterator[None]:
    """For a while keep the ids of problems that are sent to a quantum annealer, so that nobody pays twice.

    Args:
        journal: where, if anywhere.
    """
    _journals.append(journal)
    try:
        yield
    finally:
        _journals.pop()
        for sampler in _made.values():
            sampler.line.journal = None
