"""The annealers of the evaluation; one connection to a quantum annealer, or one emulated chip, for all runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import dagneal as dn


@dataclass(frozen=True, eq=False)
class Annealers:
    """The samplers of an evaluation, each made when it is first needed.

    Args:
        journal: keeps the ids of problems that are sent to a quantum annealer, so that nobody pays twice.
    """

    journal: dn.Journal | None = None
    _made: dict[str, Any] = field(default_factory=dict)
    _making: Any = field(default_factory=Lock)

    def sampler(self, solver: str) -> Any:
        """Return a sampler.

        Args:
            solver: `sa` (simulated annealing), `qa` (the emulator), `qpu` (D-Wave's), `tiled` or `tiled-qpu` (the same for
                many subproblems in a call).
        """
        if solver == "sa":
            from dwave.samplers import SimulatedAnnealingSampler

            return SimulatedAnnealingSampler()
        with self._making:
            if solver not in self._made:
                self._made[solver] = _make(solver)
        made = self._made[solver]
        return made.with_journal(self.journal) if "qpu" in solver else made

    def cancel(self) -> None:
        """Let runs on a quantum annealer, emulated or not, end at once."""
        for sampler in self._made.values():
            sampler.cancel()


def _make(solver: str) -> Any:
    """Make a quantum annealer; with gauges only where subproblems are tiled, since the paper had none."""
    gauges = solver.startswith("tiled")
    if "qpu" in solver:
        return dn.qpu.connect(gauges=gauges)
    return dn.qpu.emulated("Advantage_system4", gauges=gauges)
