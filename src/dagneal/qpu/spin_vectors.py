"""Spin-vector Monte Carlo (Shin et al. 2014, arXiv:1401.7087): anneal spins that are unit vectors in a plane.

Each qubit i is a vector with an angle t_i from 0 to pi. Its component along the problem axis is c_i = cos(t_i), and its
component along the transverse field is sin(t_i). The energy at the point s of the schedule is

    -A(s)/2 (sum of sin(t_i)) + B(s)/2 ((sum of h_i c_i) + (sum of J_ij c_i c_j)).

One sweep proposes a new, uniformly distributed angle for each qubit in turn, and accepts it by Metropolis' rule at the
temperature of the chip. A read is the sign of each c_i at the end. The vectors start at c_i = 0 or, for reverse annealing,
at a given state.

Background susceptibility x couples qubits to the neighbours of their neighbours. It replaces h by h + x J h, and J by J +
x J^2 (see `dwave.system.temperatures.background_susceptibility_ising`). J^2 has many more entries than J. So the kernel
stores the vector J c, and computes a row of J (J c) when it needs one.

All reads of a group are computed together, as in `dagneal.solvers.ising`. Numbers have 32 bits. The accumulated rounding
errors of a field are below 0.001 of the largest coupling, far less than the control errors of a chip.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints, Masks, kernel, kernel_with_arrays
from dagneal.base.lane_random import LARGEST_EXPONENTIAL, draw, exponential, seed_lanes
from dagneal.base.lanes import LANES, any_lane, convert, keep, lane_rows, load, multiply_add, store
from dagneal.solvers.ising import IsingModels

Singles = NDArray[np.float32]

# Polynomials in x^2 for sin(pi x / 2) / x and cos(pi x / 2) with x from -1 to 1: Chebyshev fits with errors below 5e-8
_SINE = (1.5707963200653534, -0.6459637604384836, 0.07968992260044336, -0.004674150668891488, 0.00015167511777628635)
_COSINE = (0.9999999532476083, -1.2336982076549026, 0.2536507095538714, -0.020810571376203214, 0.0008581625433228865)


def anneal_vectors(
    models: IsingModels,
    transverse: Floats,
    problem: Floats,
    susceptibility: float,
    seeds: Masks,
    reads: int,
    is_cancelled: Callable[[], bool] = bool,
    initial: NDArray[np.int8] | None = None,
) -> list[NDArray[np.int8]]:
    """Anneal all models by spin-vector Monte Carlo. Return one array of spins per model, shape (reads, spins).

    A read depends only on its model, the schedule, the seed and the index of the read.

    Args:
        models: Ising models.
        transverse: A / (2 k T) for each sweep: energy of the transverse field, divided by the temperature.
        problem: B / (2 k T) for each sweep: energy scale of the problem, divided by the temperature.
        susceptibility: background susceptibility.
        seeds: seed of each model, from 0 to 2^64 - 1.
        reads: number of reads of each model.
        is_cancelled: function that is called from time to time; see `IsingModels.run_groups`.
        initial: initial spins of one model, shape (reads, spins); by default all vectors point along the transverse field.
    """
    couplings = models.couplings
    counts = np.diff(models.start)
    begin = np.repeat(models.first[:-1], np.diff(models.first))  # first spin of the model of each spin
    ends = models.neighbours + np.repeat(begin, counts)
    owner = np.repeat(np.arange(len(counts)), counts)
    fields = models.fields + susceptibility * np.bincount(owner, couplings * models.fields[ends], len(counts))
    squares = np.bincount(owner, couplings**2, len(counts))  # diagonal of J^2
    states = np.empty(int(models.first[-1]) * reads, dtype=np.int8) if initial is None else initial.ravel().copy()
    index = (models.first, models.start, models.neighbours)
    model = (_single(fields), _single(couplings), _single(susceptibility * squares))
    schedule = (_single(transverse), _single(problem), np.float32(susceptibility))

    def work(low: int, high: int) -> None:
        _anneal_vectors(*index, *model, *schedule, seeds, reads, initial is not None, states, low, high)

    models.run_groups(work, reads, is_cancelled)
    return models.split_states(states, reads)


def _single(numbers: NDArray[Any]) -> Singles:
    return numbers.astype(np.float32)


@kernel_with_arrays
def _anneal_vectors(
    first: Ints,
    start: Ints,
    neighbours: Ints,
    fields: Singles,
    couplings: Singles,
    squares: Singles,
    transverse: Singles,
    problem: Singles,
    susceptibility: Any,
    seeds: Masks,
    reads: int,
    starts_classical: bool,
    states: NDArray[np.int8],
    begin: int,
    end: int,
) -> None:
    """Anneal the groups of reads from `begin` to `end`, and write their spins into `states`."""
    groups = -(-reads // LANES)
    largest = np.float32(LARGEST_EXPONENTIAL)
    for task in range(begin, end):
        model, group = task // groups, task % groups
        low, n = first[model], first[model + 1] - first[model]
        along = lane_rows(n, np.float32)  # c, the component along the problem axis
        across = lane_rows(n, np.float32)  # sin(t), the component along the transverse field
        local = lane_rows(n, np.float32)  # J c
        state = seed_lanes(seeds[model], group * LANES)
        used = min(LANES, reads - group * LANES)
        offset = low * reads + group * LANES * n  # index in `states` of the first spin of the group
        if starts_classical:
            for v in range(n):
                for lane in range(used):
                    along[v, lane] = np.float32(states[offset + lane * n + v])
            for v in range(n):
                field = load(local, v)
                for entry in range(start[low + v], start[low + v + 1]):
                    field = multiply_add(couplings[entry], load(along, neighbours[entry]), field)
                store(local, v, field)
        else:
            for v in range(n):
                store(across, v, np.float32(1.0))
        for sweep in range(len(problem)):
            for v in range(n):
                field = load(local, v) + fields[low + v]
                if susceptibility != 0.0:
                    indirect = load(local, v) * np.float32(0.0)
                    for entry in range(start[low + v], start[low + v + 1]):
                        indirect = multiply_add(couplings[entry], load(local, neighbours[entry]), indirect)
                    field = multiply_add(susceptibility, indirect, field) - squares[low + v] * load(along, v)
                bits, state = draw(state)
                cosine, sine = _direction(bits)
                change = cosine - load(along, v)
                cost = change * field * problem[sweep] - (sine - load(across, v)) * transverse[sweep]
                if not any_lane(cost < largest):
                    continue
                bits, state = draw(state)
                accepted = cost < exponential(bits)
                if not any_lane(accepted):
                    continue
                change = keep(accepted, change)
                store(along, v, load(along, v) + change)
                store(across, v, load(across, v) + keep(accepted, sine - load(across, v)))
                for entry in range(start[low + v], start[low + v + 1]):
                    u = neighbours[entry]
                    store(local, u, multiply_add(couplings[entry], change, load(local, u)))
        for lane in range(used):
            for v in range(n):
                states[offset + lane * n + v] = np.int8(1) if along[v, lane] >= 0.0 else np.int8(-1)


@kernel
def _direction(bits: Any) -> Any:
    """Return the cosine and the sine of a uniformly distributed angle from 0 to pi per lane, from random bits."""
    x = convert(bits >> np.uint32(1), np.float32) * np.float32(2.0**-30) - np.float32(1.0)  # the angle is pi (1 - x) / 2
    square = x * x
    sine = multiply_add(square, np.float32(_SINE[4]), np.float32(_SINE[3]))
    cosine = multiply_add(square, np.float32(_COSINE[4]), np.float32(_COSINE[3]))
    for power in range(2, -1, -1):
        sine = multiply_add(square, sine, np.float32(_SINE[power]))
        cosine = multiply_add(square, cosine, np.float32(_COSINE[power]))
    return x * sine, cosine
