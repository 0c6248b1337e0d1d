"""Coefficients of the score Hamiltonian, and penalty weights large enough for the constraints to hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagneal.errors import InputError
from dagneal.kernels import Floats, Masks
from dagneal.table import ScoreTable


@dataclass(frozen=True, eq=False)
class Penalties:
    """Weights of the constraints, in the paper's letters.

    Attributes:
        maximum: delta_max of each child.
        transitivity: delta_trans.
        consistency: delta_consist.
    """

    maximum: Floats
    transitivity: float
    consistency: float


def moebius(table: ScoreTable) -> Floats:
    """Coefficients w_i(J) of the score Hamiltonian (the paper's equation for w), one for each entry of the table.

    The polynomial sum over J of w_i(J) prod d_ji equals minus the log score at every parent set of the table. It is the
    Moebius inversion over subsets: for each bit in turn, take off what the set without that bit has.

    Args:
        table: local scores; with a set, all its subsets must be there.

    >>> from dagneal.networks import load
    >>> from dagneal.scorer import score_table
    >>> table = score_table(load("monty-hall").expected(10_000))
    >>> moebius(table)[:4].round(1)  # Player: constant, Host, Car, both
    array([10998.1, -4044.8,    21.5,  -566.3])
    """
    weights = -table.scores
    for child, name in enumerate(table.names):
        entries = table.entries_of(child)
        masks, own = table.masks[entries], weights[entries]
        for bit in range(len(table.candidates_of(child))):
            flag = np.uint64(1 << bit)
            with_bit = np.flatnonzero(masks & flag)
            without = np.minimum(np.searchsorted(masks, masks[with_bit] ^ flag), len(masks) - 1)
            if (masks[without] != masks[with_bit] ^ flag).any():
                raise InputError(
                    f"{name!r} may have a set of parents but not all its subsets; such a table cannot be encoded"
                )
            own[with_bit] -= own[without]
    return weights


def paper_penalties(table: ScoreTable, weights: Floats) -> Penalties:
    """The bounds of O'Gorman et al. plus one, as in the paper.

    Args:
        table: local scores with at most two parents.
        weights: their Moebius inversion.

    With two variables the paper's delta_consist would be 1, and a cycle of two could win; max D + 1 is used there.
    """
    n = len(table.names)
    gain = np.zeros((n, n))  # D'_ji: gain[j, i] bounds what an arc j -> i can win (equation for Delta')
    for child in range(n):
        entries = table.entries_of(child)
        masks, own = table.masks[entries], weights[entries]
        single = np.bitwise_count(masks) == 1
        for bit, parent in enumerate(table.candidates_of(child)):
            flagged = _has(masks, bit)
            gain[parent, child] = -own[flagged & single].sum() - np.minimum(own[flagged & ~single], 0.0).sum()
    gain = np.maximum(gain, 0.0)
    transitivity = float(gain.max()) + 1.0
    consistency = (n - 2) * transitivity + 1.0 if n > 2 else transitivity
    return Penalties(gain.max(axis=0) + 1.0, transitivity, consistency)


def _has(masks: Masks, bit: int) -> NDArray[np.bool_]:
    flagged: NDArray[np.bool_] = masks & np.uint64(1 << bit) != 0
    return flagged
