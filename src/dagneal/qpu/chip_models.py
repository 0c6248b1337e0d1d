"""Models of how a chip anneals: the thermal model, and spin-vector Monte Carlo. The emulator runs one of them.

Both models add independent Gaussian control errors to every field and coupling, drawn anew for each call. Neither model
describes quantum effects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError, finite_number, hint, short_repr
from dagneal.base.kernels import Floats
from dagneal.qpu.spin_vectors import anneal_vectors
from dagneal.solvers.ising import IsingModels

HOT = 0.1  # initial inverse temperature of the thermal model, for problems whose largest coupling is 1
KELVIN = 20.836619  # Boltzmann constant divided by Planck's constant, in GHz per kelvin
# Annealing schedule of Advantage_system4, as published by D-Wave: A(s) and B(s) in GHz, at s = 0, 0.05, ..., 1.
TRANSVERSE = (
    *(9.875, 6.402, 4.437, 3.183, 2.311, 1.669, 1.181, 0.798, 0.507, 0.291, 0.148),
    *(0.0636, 0.0227, 0.00667, 0.00158, 0.0003, 5e-5, 1e-5, 0.0, 0.0, 0.0),
)
PROBLEM = (
    *(0.224, 0.344, 0.490, 0.662, 0.860, 1.083, 1.332, 1.607, 1.908, 2.235, 2.580),
    *(2.957, 3.360, 3.789, 4.244, 4.725, 5.231, 5.763, 6.321, 6.905, 7.514),
)


@dataclass(frozen=True, eq=False)
class AnnealPath:
    """The annealing schedule and the initial state of a call.

    Attributes:
        schedule: points (t, s) of the schedule, in microseconds; None for the standard schedule.
        initial: initial spins of reverse annealing, shape (reads, qubits); None for forward annealing.
    """

    schedule: Sequence[Sequence[float]] | None = None
    initial: NDArray[np.int8] | None = None

    def fractions(self, sweeps: float) -> Floats:
        """Return the point s of the schedule at each sweep.

        Args:
            sweeps: number of sweeps per microsecond.

        >>> AnnealPath([[0, 1], [2, 0.5], [4, 1]]).fractions(1.25).tolist()
        [1.0, 0.75, 0.5, 0.75, 1.0]
        """
        times, s = np.array(self.schedule, dtype=float).T
        steps = np.linspace(0.0, times[-1], max(1, round(sweeps * float(times[-1]))))
        fractions: Floats = np.interp(steps, times, s)
        return fractions


STANDARD = AnnealPath()


class ChipModel(Protocol):
    """A model of how a chip anneals. Its `repr` contains all settings, because results are stored under it."""

    @property
    def noise(self) -> float:
        """Standard deviation of the control errors of fields and couplings, in units of the largest coupling."""
        ...

    def anneal(
        self,
        programmed: IsingModels,
        annealing_time: float,
        reads: int,
        seed: int,
        is_cancelled: Callable[[], bool] = bool,
        path: AnnealPath = STANDARD,
    ) -> NDArray[np.int8]:
        """Return the spins of all reads, shape (reads, qubits).

        Args:
            programmed: one Ising model that already contains the control errors.
            annealing_time: annealing time of one read, in microseconds.
            reads: number of reads.
            seed: seed of the reads.
            is_cancelled: function that is called from time to time; see `IsingModels.run_groups`.
            path: annealing schedule and initial state. A model that does not take this argument can still be used without
                them.
        """
        ...


@dataclass(frozen=True)
class Thermal:
    """Simulated annealing down to the temperature of the chip, on the physical graph.

    Args:
        noise: standard deviation of the control errors of fields and couplings, in units of the largest coupling.
        sweeps: number of sweeps per microsecond of annealing time.
        cold: final inverse temperature for problems whose largest coupling is 1.
    """

    noise: float = 0.04
    sweeps: float = 120.0
    cold: float = 2.5

    def __post_init__(self) -> None:
        finite_number("noise", self.noise)
        finite_number("sweeps", self.sweeps, above=True)
        finite_number("cold", self.cold, above=True)

    def anneal(
        self,
        programmed: IsingModels,
        annealing_time: float,
        reads: int,
        seed: int,
        is_cancelled: Callable[[], bool] = bool,
        path: AnnealPath = STANDARD,
    ) -> NDArray[np.int8]:
        """Return the spins of all reads; see `ChipModel.anneal`."""
        betas = np.linspace(HOT, self.cold, max(1, round(self.sweeps * annealing_time)))
        if path.schedule is not None:
            betas = HOT + (self.cold - HOT) * path.fractions(self.sweeps)
        seeds = np.array([seed], dtype=np.uint64)
        return programmed.anneal(betas[None], seeds, reads, path.initial, is_cancelled)[0]


@dataclass(frozen=True)
class SpinVectors:
    """Spin-vector Monte Carlo with the annealing schedule of Advantage_system4; see `dagneal.qpu.spin_vectors`.

    Args:
        noise: standard deviation of the control errors of fields and couplings, in units of the largest coupling.
        sweeps: number of sweeps per microsecond of annealing time.
        readout: point s of the schedule at which the qubits freeze. The sweeps after this point are left out.
        temperature: temperature of the chip in millikelvin.
        susceptibility: background susceptibility.
    """

    noise: float = 0.06
    sweeps: float = 120.0
    readout: float = 0.8
    temperature: float = 15.4
    susceptibility: float = -0.01

    def __post_init__(self) -> None:
        finite_number("noise", self.noise)
        for name in ("sweeps", "readout", "temperature"):
            finite_number(name, getattr(self, name), above=True)
        if self.readout > 1:
            raise InputError(f"readout is {self.readout:g}; give a point of the schedule above 0 and at most 1")
        if not (isinstance(self.susceptibility, Real) and -1 <= self.susceptibility <= 0):
            raise InputError(f"susceptibility is {short_repr(self.susceptibility)}; give a number from -1 to 0")

    def anneal(
        self,
        programmed: IsingModels,
        annealing_time: float,
        reads: int,
        seed: int,
        is_cancelled: Callable[[], bool] = bool,
        path: AnnealPath = STANDARD,
    ) -> NDArray[np.int8]:
        """Return the spins of all reads; see `ChipModel.anneal`."""
        transverse, problem = self.schedule(annealing_time, path)
        seeds = np.array([seed], dtype=np.uint64)
        more = (seeds, reads, is_cancelled, path.initial)
        return anneal_vectors(programmed, transverse, problem, self.susceptibility, *more)[0]

    def schedule(self, annealing_time: float, path: AnnealPath = STANDARD) -> tuple[Floats, Floats]:
        """Return A / (2 k T) and B / (2 k T) of each sweep.

        Args:
            annealing_time: annealing time of one read, in microseconds.
            path: annealing schedule and initial state. Sweeps after the point `readout` of the schedule are left out.
        """
        s = np.linspace(0.0, self.readout, max(1, round(self.readout * self.sweeps * annealing_time)))
        if path.schedule is not None:
            s = path.fractions(self.sweeps)
            s = s[s <= self.readout]
        known = np.linspace(0.0, 1.0, len(PROBLEM))
        thermal = 2 * KELVIN * self.temperature / 1000
        return np.interp(s, known, TRANSVERSE) / thermal, np.interp(s, known, PROBLEM) / thermal


MODELS: dict[str, type[Thermal | SpinVectors]] = {"thermal": Thermal, "spin-vectors": SpinVectors}
DEFAULT = "thermal"
SETTINGS = tuple(dict.fromkeys(field.name for kind in MODELS.values() for field in fields(kind)))


def make_model(model: str | ChipModel = DEFAULT, **settings: float) -> ChipModel:
    """Return a model of a chip.

    Args:
        model: `"thermal"`, `"spin-vectors"`, or an object such as `Thermal(noise=0.02)`.
        **settings: settings of the model, if it is given by its name.

    >>> make_model("thermal", noise=0.02)
    Thermal(noise=0.02, sweeps=120.0, cold=2.5)
    """
    if not isinstance(model, str):
        if not (hasattr(model, "anneal") and hasattr(model, "noise")):
            raise InputError(f"model is {short_repr(model)}; give 'thermal', 'spin-vectors' or an object such as Thermal()")
        if settings:
            raise InputError(f"{next(iter(settings))} is a setting of the model; give it to {type(model).__name__}")
        return model
    if model not in MODELS:
        names = ", ".join(map(repr, MODELS))
        raise InputError(f"model is {model!r}; give one of {names}{hint(model, MODELS)}")
    known = [field.name for field in fields(MODELS[model])]
    for name in settings:
        if name not in known:
            raise InputError(f"the model {model!r} has no setting {name!r}; its settings are {', '.join(known)}")
    return MODELS[model](**settings)
