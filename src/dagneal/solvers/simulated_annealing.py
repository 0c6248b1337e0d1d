"""A compiled simulated annealer with the interface of a dimod sampler; see `dagneal.solvers.ising` for the algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, get_args

import dimod
import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError, finite_number, hint, short_repr, whole_number
from dagneal.base.kernels import Floats, Masks
from dagneal.solvers.ising import IsingModels

BetaSchedule = Literal["geometric", "linear", "custom"]
SWEEPS = 1000  # default number of sweeps


class SimulatedAnnealing(dimod.Sampler, dimod.Initialized):  # type: ignore[misc]
    """Simulated annealing, as fast as the processor's vector instructions allow.

    The algorithm, the parameters and their defaults are those of `dwave.samplers.SimulatedAnnealingSampler`: Metropolis
    updates in the order of the sorted labels, 1,000 sweeps, and a geometric schedule of the inverse temperature beta. The
    random numbers differ, so the reads of one seed differ too. The number of threads does not affect the reads.

    >>> import dimod
    >>> model = dimod.BinaryQuadraticModel({"a": 1.0, "b": -0.5}, {("a", "b"): 1.0}, 0.0, "BINARY")
    >>> print(SimulatedAnnealing().sample(model, num_reads=100, seed=7).aggregate())
       a  b energy num_oc.
    0  0  1   -0.5     100
    ['BINARY', 1 rows, 100 samples, 2 variables]
    """

    parameters = {  # noqa: RUF012
        "num_reads": [],
        "num_sweeps": [],
        "num_sweeps_per_beta": [],
        "beta_range": [],
        "beta_schedule_type": ["beta_schedule_options"],
        "beta_schedule": [],
        "seed": [],
        "initial_states": [],
    }
    """The names of the parameters of `sample`, each with the names of related properties."""

    properties = {"beta_schedule_options": get_args(BetaSchedule)}  # noqa: RUF012
    """The types of beta schedules."""

    def sample(
        self,
        bqm: dimod.BinaryQuadraticModel,
        beta_range: Sequence[float] | None = None,
        num_reads: int | None = None,
        num_sweeps: int | None = None,
        num_sweeps_per_beta: int = 1,
        beta_schedule_type: BetaSchedule = "geometric",
        seed: int | None = None,
        beta_schedule: Sequence[float] | None = None,
        initial_states: Any = None,
    ) -> dimod.SampleSet:
        """Sample from a binary quadratic model.

        Args:
            bqm: binary quadratic model.
            beta_range: first and last beta; by default chosen from the coefficients of the model.
            num_reads: number of reads; by default the number of initial states, or 1.
            num_sweeps: number of sweeps, 1,000 by default; a multiple of `num_sweeps_per_beta`.
            num_sweeps_per_beta: number of sweeps at each beta.
            beta_schedule_type: `"geometric"`, `"linear"`, or `"custom"` for the values in `beta_schedule`.
            seed: seed of the random generator, from 0 to 2^64 - 1; random by default.
            beta_schedule: values of beta, only with the type `"custom"`.
            initial_states: initial states, in any form that `dimod.as_samples` accepts. Further reads start from random
                states.

        Returns:
            The reads. `info` contains the range of beta and the type of the schedule.
        """
        seed = check_seed(seed)
        schedule = Schedule(num_sweeps, num_sweeps_per_beta, beta_range, beta_schedule_type, beta_schedule)
        labels = list(bqm.variables)
        with suppress(TypeError):  # labels that cannot be compared keep their order
            labels.sort()
        initial = None
        if initial_states is not None:
            initial = self._initial(bqm, labels, num_reads, initial_states, seed)
            num_reads = len(initial)
        reads = whole_number("num_reads", 1 if num_reads is None else num_reads, least=1)
        models = _ising_models(bqm, labels)
        betas = schedule.betas(models)
        spins = models.anneal(betas, np.array([seed], dtype=np.uint64), reads, initial)[0]
        values = spins if bqm.vartype is dimod.SPIN else (spins + 1) // 2
        info = {"beta_range": [float(beta) for beta in betas[0, [0, -1]]], "beta_schedule_type": beta_schedule_type}
        return dimod.SampleSet.from_samples(
            (values, labels), energy=bqm.energies((values, labels)), info=info, vartype=bqm.vartype
        )

    def sample_many(self, models: IsingModels, seeds: Masks, num_reads: int, **schedule: Any) -> list[NDArray[np.int8]]:
        """Anneal many Ising models in one call. Return one array of spins per model, shape (reads, spins).

        The reads of a model do not depend on the other models.

        Args:
            models: Ising models.
            seeds: seed of each model.
            num_reads: number of reads of each model.
            **schedule: parameters of the schedule; see `sample`.
        """
        reads = whole_number("num_reads", num_reads, least=1)
        return models.anneal(Schedule(**schedule).betas(models), seeds, reads)

    def _initial(
        self, bqm: dimod.BinaryQuadraticModel, labels: list[Any], reads: Any, states: Any, seed: int
    ) -> NDArray[np.int8]:
        """Return the initial spins, shape (reads, variables). Missing states are random."""
        parsed = self.parse_initial_states(bqm.spin, initial_states=states, num_reads=reads, seed=seed % 2**32)
        columns = [parsed.initial_states.variables.index(label) for label in labels]
        return np.ascontiguousarray(parsed.initial_states.record.sample[:, columns], dtype=np.int8)


@dataclass(frozen=True)
class Schedule:
    """A schedule of the inverse temperature beta. The arguments are explained in `SimulatedAnnealing.sample`."""

    num_sweeps: int | None = None
    num_sweeps_per_beta: int = 1
    beta_range: Sequence[float] | None = None
    beta_schedule_type: BetaSchedule = "geometric"
    beta_schedule: Sequence[float] | None = None

    def __post_init__(self) -> None:
        kind, kinds = self.beta_schedule_type, get_args(BetaSchedule)
        if kind not in kinds:
            names = ", ".join(map(repr, kinds))
            raise InputError(f"beta_schedule_type is {short_repr(kind)}; give one of {names}{hint(str(kind), kinds)}")
        if (kind == "custom") != (self.beta_schedule is not None):
            raise InputError("beta_schedule needs beta_schedule_type='custom', and 'custom' needs beta_schedule; give both")
        if kind == "custom":
            unused = [name for name in ("num_sweeps", "beta_range") if getattr(self, name) is not None]
            if unused:
                raise InputError(f"{unused[0]} has no effect with a custom schedule; remove it")
            _check_betas("beta_schedule", self.beta_schedule)
        elif self.beta_range is not None:
            given = _check_betas("beta_range", self.beta_range)
            if len(given) != 2 or (kind == "geometric" and min(given) == 0):
                above = " above 0" if kind == "geometric" else ""
                raise InputError(f"beta_range is {short_repr(self.beta_range)}; give two numbers{above}, such as [0.1, 5]")
        every = whole_number("num_sweeps_per_beta", self.num_sweeps_per_beta, least=1)
        if whole_number("num_sweeps", self.sweeps, least=1) % every:
            raise InputError(f"num_sweeps is {self.sweeps}; give a multiple of num_sweeps_per_beta, which is {every}")

    @property
    def sweeps(self) -> int:
        """The number of sweeps."""
        if self.beta_schedule is not None:
            return len(self.beta_schedule) * self.num_sweeps_per_beta
        return SWEEPS if self.num_sweeps is None else self.num_sweeps

    def betas(self, models: IsingModels) -> Floats:
        """Return beta of each sweep, shape (models, sweeps).

        Args:
            models: models, from whose coefficients the default range of beta is computed.
        """
        count = int(self.sweeps) // int(self.num_sweeps_per_beta)
        if self.beta_schedule is not None:
            betas = np.broadcast_to(np.asarray(self.beta_schedule, dtype=np.float64), (len(models), count))
        else:
            ranges = (
                models.beta_ranges() if self.beta_range is None else np.array([self.beta_range] * len(models), dtype=float)
            )
            space = np.geomspace if self.beta_schedule_type == "geometric" else np.linspace
            first, last = ranges.T
            betas = space(last if count == 1 else first, last, count, axis=1)
        return np.repeat(betas, self.num_sweeps_per_beta, axis=1)


def _check_betas(name: str, values: Any) -> list[float]:
    """Check that values are a sequence of finite numbers of at least 0, and return them as a list."""
    if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str) or not len(values):
        raise InputError(f"{name} is {short_repr(values)}; give a list of numbers of at least 0")
    return [finite_number(f"{name}[{index}]", value) for index, value in enumerate(values)]


def check_seed(seed: Any) -> int:
    """Check a seed. Return a random seed if it is None.

    Args:
        seed: a seed, or None.
    """
    if seed is None:
        return int(np.random.default_rng().integers(2**63))
    if whole_number("seed", seed) >= 2**64:
        raise InputError("seed is too large; give a whole number below 2**64")
    return int(seed)


def _ising_models(bqm: dimod.BinaryQuadraticModel, labels: list[Any]) -> IsingModels:
    """Return the Ising form of a binary quadratic model, with spins in the order of `labels`."""
    fields, (rows, columns, couplings), _ = bqm.spin.to_numpy_vectors(variable_order=labels)
    if not (np.isfinite(fields).all() and np.isfinite(couplings).all()):
        raise InputError("the model has a coefficient that is infinite or not a number; all coefficients must be finite")
    return IsingModels.of(
        np.asarray(fields, dtype=np.float64)[None],
        np.asarray(rows, dtype=np.int64),
        np.asarray(columns, dtype=np.int64),
        np.asarray(couplings, dtype=np.float64)[None],
    )
