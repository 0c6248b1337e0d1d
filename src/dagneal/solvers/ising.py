"""Anneal many Ising models in one call. The reads of a model are computed in groups of 16, one read per SIMD lane.

A model has spins s of value -1 and 1 and the energy (sum of h_v s_v) + (sum of J_uv s_u s_v). The algorithm is that of
D-Wave's `SimulatedAnnealingSampler` with its default settings. One sweep proposes to flip each spin in turn, and accepts a
flip that raises the energy by d with the probability exp(-beta d) (Metropolis). Three things make it fast:

- Flips of the 16 lanes are computed together. Each spin v of a lane has a local field h_v + (sum of J_uv s_u). A flip of v
  adds -2 s_v J_uv to the fields of its neighbours u. This is the same operation for all lanes, with 0 for lanes without a
  flip.
- A flip is accepted if beta d < E, where E is exponentially distributed. E does not depend on the fields, so the processor
  can compute both at the same time.
- If no lane has a chance to flip, no random numbers are drawn. This is the usual case in the cold half of the schedule.

Fields are 64-bit floats, because penalties are often 10^6 times as large as the differences that matter. Only E has 32 bits.
Its largest value is 31 log(2) and its error is below 4e-6. So the probability of a decision differs from the exact value p
by at most 2^-31 + 4e-6 p.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints, Masks, kernel_with_arrays, run_threads
from dagneal.base.lane_random import LARGEST_EXPONENTIAL, draw, exponential, seed_lanes
from dagneal.base.lanes import LANES, any_lane, convert, keep, lane_rows, load, multiply_add, store

_NO_ENERGY = (0.1, 1.0)  # range of beta for models whose energy is constant
_TASKS = 64  # number of tasks into which a call is divided, so that threads share the work


@dataclass(frozen=True, eq=False)
class IsingModels:
    """The coefficients of one or more Ising models, in flat arrays.

    Attributes:
        first: index in `fields` of each model's first spin, followed by the number of all spins.
        fields: linear coefficients h.
        start: index in `neighbours` and `couplings` of each spin's first neighbour, followed by the length of `neighbours`.
        neighbours: neighbours of each spin, as indices within the model. Each interaction occurs twice.
        couplings: quadratic coefficients J, with the same layout as `neighbours`; not 0.
    """

    first: Ints
    fields: Floats
    start: Ints
    neighbours: Ints
    couplings: Floats

    def __len__(self) -> int:
        return len(self.first) - 1

    @classmethod
    def of(cls, fields: Floats, rows: Ints, columns: Ints, couplings: Floats) -> IsingModels:
        """Return models that have the same spins and interactions, but different coefficients.

        Args:
            fields: linear coefficients, shape (models, spins).
            rows: index of the first spin of each interaction.
            columns: index of the second spin of each interaction.
            couplings: quadratic coefficients, shape (models, interactions).
        """
        models, spins = fields.shape
        ends = np.concatenate([rows, columns])
        order = np.argsort(ends, kind="stable")
        values = np.concatenate([couplings, couplings], axis=1)[:, order]
        present = values != 0
        spin = np.arange(models)[:, None] * spins + ends[order]
        return cls(
            first=np.arange(models + 1) * spins,
            fields=fields.ravel(),
            start=np.concatenate([[0], np.cumsum(np.bincount(spin[present], minlength=models * spins))]),
            neighbours=np.broadcast_to(np.concatenate([columns, rows])[order], present.shape)[present],
            couplings=values[present],
        )

    @classmethod
    def join(cls, parts: Sequence[IsingModels]) -> IsingModels:
        """Return all models of several objects, in their order.

        Args:
            parts: objects with any numbers of models.
        """

        def shift(name: str) -> Ints:
            ends = np.cumsum([0, *(getattr(part, name)[-1] for part in parts)])
            return np.concatenate([[0], *(getattr(part, name)[1:] + end for part, end in zip(parts, ends, strict=False))])

        def chain(name: str) -> Any:
            return np.concatenate([getattr(part, name) for part in parts])

        return cls(shift("first"), chain("fields"), shift("start"), chain("neighbours"), chain("couplings"))

    def beta_ranges(self) -> Floats:
        """Return the first and last beta that `SimulatedAnnealingSampler` would choose, shape (models, 2).

        `dagneal.qubo.Qubos.beta_ranges` explains them.
        """
        return _beta_ranges(self.first, self.fields, self.start, self.couplings)

    def anneal(
        self,
        schedules: Floats,
        seeds: Masks,
        reads: int,
        initial: NDArray[np.int8] | None = None,
        is_cancelled: Callable[[], bool] = bool,
    ) -> list[NDArray[np.int8]]:
        """Anneal all models. Return one array of spins per model, shape (reads, spins).

        A read depends only on its model, the schedule, the seed and the index of the read.

        Args:
            schedules: beta of each sweep, shape (models, sweeps).
            seeds: seed of each model, from 0 to 2^64 - 1.
            reads: number of reads of each model.
            initial: initial spins of one model, shape (reads, spins); random by default.
            is_cancelled: function that is called from time to time; see `run_groups`.
        """
        states = np.empty(int(self.first[-1]) * reads, dtype=np.int8) if initial is None else initial.ravel().copy()
        with np.errstate(divide="ignore"):
            scales = -0.5 / schedules
        arrays = (self.first, self.fields, self.start, self.neighbours, self.couplings)
        self.run_groups(
            lambda begin, end: _anneal(*arrays, scales, seeds, reads, initial is None, states, begin, end),
            reads,
            is_cancelled,
        )
        return self.split_states(states, reads)

    def run_groups(self, work: Callable[[int, int], None], reads: int, is_cancelled: Callable[[], bool] = bool) -> None:
        """Compute all groups of `LANES` reads, in threads. Group number g belongs to model g // (groups per model).

        Args:
            work: function that computes the groups from a first number to before a last number.
            reads: number of reads of each model.
            is_cancelled: function that is called from time to time. If it returns True, the method raises
                `CancelledError`. The default, `bool`, always returns False.
        """
        groups = len(self) * -(-reads // LANES)
        bounds = np.unique(np.linspace(0, groups, min(groups, _TASKS) + 1).astype(np.int64)).tolist()

        def compute(chunk: tuple[int, int]) -> None:
            if is_cancelled():
                raise CancelledError("the sampling was cancelled")
            work(*chunk)

        run_threads(compute, list(pairwise(bounds)))

    def split_states(self, states: NDArray[np.int8], reads: int) -> list[NDArray[np.int8]]:
        """Return one array of spins per model, shape (reads, spins).

        Args:
            states: spins of all models, as the kernels write them: ordered by model, then by read.
            reads: number of reads of each model.
        """
        parts = np.split(states, self.first[1:-1] * reads)
        return [part.reshape(reads, -1) for part in parts]


@kernel_with_arrays
def _beta_ranges(first: Ints, fields: Floats, start: Ints, couplings: Floats) -> Floats:
    ranges = np.empty((len(first) - 1, 2))
    for model in range(len(first) - 1):
        largest, smallest, count = 0.0, np.inf, 0
        for spin in range(first[model], first[model + 1]):
            size = abs(fields[spin])
            total, least = size, size if size > 0 else np.inf
            for entry in range(start[spin], start[spin + 1]):
                size = abs(couplings[entry])
                total += size
                least = min(least, size)
            largest = max(largest, total)
            if least < smallest:
                smallest, count = least, 0
            count += least == smallest
        if largest > 0:
            ranges[model, 0] = np.log(2) / (2 * largest)
            ranges[model, 1] = np.log(count / 0.01) / (2 * smallest)
        else:
            ranges[model, 0], ranges[model, 1] = _NO_ENERGY
    return ranges


@kernel_with_arrays
def _anneal(
    first: Ints,
    fields: Floats,
    start: Ints,
    neighbours: Ints,
    couplings: Floats,
    scales: Floats,
    seeds: Masks,
    reads: int,
    draws: bool,
    states: NDArray[np.int8],
    begin: int,
    end: int,
) -> None:
    """Anneal the groups of reads from `begin` to `end`, and write their spins into `states`."""
    groups = -(-reads // LANES)
    for task in range(begin, end):
        model, group = task // groups, task % groups
        low, n = first[model], first[model + 1] - first[model]
        spins = lane_rows(n, np.float64)
        local = lane_rows(n, np.float64)
        used = min(LANES, reads - group * LANES)
        offset = low * reads + group * LANES * n  # index in `states` of the first spin of the group
        state = seed_lanes(seeds[model], group * LANES)
        for v in range(n):
            if draws:
                bits, state = draw(state)
                bit = bits >> np.uint32(31)
                store(spins, v, convert(convert(bit, np.float32), np.float64) * 2.0 - 1.0)
            else:
                for lane in range(used):
                    spins[v, lane] = states[offset + lane * n + v]
        for v in range(n):
            field = load(spins, v) * 0.0 + fields[low + v]
            for entry in range(start[low + v], start[low + v + 1]):
                field = field + couplings[entry] * load(spins, neighbours[entry])
            store(local, v, field)
        for sweep in range(scales.shape[1]):
            scale = scales[model, sweep]  # -1 / (2 beta), because a flip raises the energy by -2 (spin * field)
            hopeless = LARGEST_EXPONENTIAL * scale
            for v in range(n):
                spin = load(spins, v)
                product = spin * load(local, v)
                if not any_lane(product > hopeless):
                    continue
                bits, state = draw(state)
                flips = product > convert(exponential(bits), np.float64) * scale
                if not any_lane(flips):
                    continue
                change = keep(flips, spin * -2.0)
                store(spins, v, spin + change)
                for entry in range(start[low + v], start[low + v + 1]):
                    u = neighbours[entry]
                    store(local, u, multiply_add(couplings[entry], change, load(local, u)))
        for lane in range(used):
            for v in range(n):
                states[offset + lane * n + v] = np.int8(spins[v, lane])
