"""The annealers of the evaluation. All runs share one connection to a quantum annealer, or one emulated chip."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import dagneal as dn

EMBEDDINGS = 10  # embeddings of each problem; the paper embedded anew in each call


def emulator_model() -> str:
    """Return the model of the emulator with its settings. Cases contain it, so that a changed model repeats their runs."""
    return repr(dn.qpu.Thermal())


@dataclass(frozen=True, eq=False)
class Annealers:
    """The samplers of an evaluation. Each sampler is made when it is first needed.

    Args:
        journal: journal that stores the ids of problems sent to a quantum annealer, so that no problem is paid for twice.
    """

    journal: dn.Journal | None = None
    _samplers: dict[str, Any] = field(default_factory=dict)
    _lock: Any = field(default_factory=Lock)

    def sampler(self, solver: str) -> Any:
        """Return the sampler with a given name.

        Args:
            solver: `sa` (simulated annealing), `qa` (emulated quantum annealer), `qpu` (D-Wave's quantum annealer),
                `tiled` (like `qa`, with many subproblems per call) or `tiled-qpu` (like `qpu`, with many subproblems per
                call).
        """
        if solver == "sa":
            return dn.SimulatedAnnealing()
        with self._lock:
            if solver not in self._samplers:
                self._samplers[solver] = _make_quantum(solver)
        sampler = self._samplers[solver]
        return sampler.with_journal(self.journal) if "qpu" in solver else sampler

    def cancel(self) -> None:
        """Cancel all calls to real and emulated quantum annealers."""
        for sampler in self._samplers.values():
            sampler.cancel()


def _make_quantum(solver: str) -> Any:
    """Return a real or emulated quantum annealer.

    As in the paper, seeds use different embeddings, and there are no spin-reversal transforms. Tiled solvers differ from the
    paper in both.
    """
    tiled = solver.startswith("tiled")
    options: dict[str, Any] = {"spin_reversal": tiled, "embeddings": 1 if tiled else EMBEDDINGS}
    if "qpu" in solver:
        return dn.qpu.connect(**options)
    return dn.qpu.emulated("Advantage_system4", dn.qpu.Thermal(), **options)
