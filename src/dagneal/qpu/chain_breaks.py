"""Chain breaks: give each variable one value, even if the qubits of its chain have different values.

The methods are those of `dwave.embedding.chain_breaks`, except in ties of the majority vote. They compute all reads
together.

- `majority_vote`: the value of most qubits; in a tie, the value of the first qubit. Ocean gives the spin 1 in a tie.
- `weighted_random`: the value of a random qubit of the chain, drawn for each read.
- `discard`: reads with a broken chain are left out.
- `minimize_energy`: variables with broken chains get values one after the other. The next variable is the one with the
  strongest local field from the variables that have values, and it gets the value with the lower energy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints

Spins = NDArray[np.int8]


def find_breaks(qubits: Spins, starts: Ints) -> NDArray[np.bool_]:
    """Return which chains are broken, shape (reads, variables).

    Args:
        qubits: spins of the qubits, sorted by variable, shape (reads, qubits).
        starts: index of the first qubit of each chain.
    """
    lengths = np.diff(np.append(starts, qubits.shape[1]))
    broken: NDArray[np.bool_] = np.abs(_sums(qubits, starts)) != lengths
    return broken


def _sums(qubits: Spins, starts: Ints) -> Ints:
    """Return the sum of the spins of each chain, shape (reads, variables)."""
    sums: Ints = np.add.reduceat(qubits, starts, axis=1, dtype=np.int64)
    return sums


def majority_vote(qubits: Spins, starts: Ints) -> Spins:
    """Return the spins of the variables, shape (reads, variables); see the head of this module.

    Args:
        qubits: spins of the qubits, sorted by variable, shape (reads, qubits).
        starts: index of the first qubit of each chain.
    """
    sums = _sums(qubits, starts)
    return np.where(sums == 0, qubits[:, starts], np.sign(sums)).astype(np.int8)


def weighted_random(qubits: Spins, starts: Ints, generator: np.random.Generator) -> Spins:
    """Return the spins of the variables, shape (reads, variables); see the head of this module.

    Args:
        qubits: spins of the qubits, sorted by variable, shape (reads, qubits).
        starts: index of the first qubit of each chain.
        generator: random generator that chooses the qubits.
    """
    lengths = np.diff(np.append(starts, qubits.shape[1]))
    chosen = starts + generator.integers(lengths, size=(len(qubits), len(starts)))
    return np.take_along_axis(qubits, chosen, axis=1)


def discard(qubits: Spins, starts: Ints) -> Spins:
    """Return the spins of the variables in the reads without a broken chain, shape (reads without, variables).

    Args:
        qubits: spins of the qubits, sorted by variable, shape (reads, qubits).
        starts: index of the first qubit of each chain.
    """
    return qubits[~find_breaks(qubits, starts).any(axis=1)][:, starts]


def minimize_energy(qubits: Spins, starts: Ints, fields: Floats, couplings: Floats) -> Spins:
    """Return the spins of the variables, shape (reads, variables); see the head of this module.

    Ties go to the lower local field, and then to the first variable, as in Ocean.

    Args:
        qubits: spins of the qubits, sorted by variable, shape (reads, qubits).
        starts: index of the first qubit of each chain.
        fields: linear coefficient of each variable.
        couplings: symmetric matrix of the quadratic coefficients.
    """
    spins = qubits[:, starts].copy()
    broken = find_breaks(qubits, starts)
    reads = np.flatnonzero(broken.any(axis=1))  # reads in which a variable still has no value
    waiting = broken[reads]
    local = fields + np.where(waiting, 0, spins[reads]) @ couplings
    while len(reads):
        size = np.where(waiting, np.abs(local), -1.0)
        strongest = size == size.max(axis=1, keepdims=True)
        variable = np.argmax(strongest * 2 + (strongest & (local < 0)), axis=1)
        every = np.arange(len(reads))
        values = np.where(local[every, variable] > 0, -1, 1).astype(np.int8)
        spins[reads, variable] = values
        local += values[:, None] * couplings[variable]
        waiting[every, variable] = False
        left = waiting.any(axis=1)
        reads, waiting, local = reads[left], waiting[left], local[left]
    return spins
