"""Coefficients of the score Hamiltonian, and penalty weights large enough for the constraints to hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dagneal.errors import InputError
from dagneal.kernels import Floats, Masks
from dagneal.table import ScoreTable


@dataclass(frozen=True, eq=False)
class Penalties:
    """Weights of the constraints of one or more QUBOs of the same size, in the paper's letters.

    Attributes:
        maximum: delta_max, shape (problems, children).
        transitivity: delta_trans, shape (problems,).
        consistency: delta_consist, shape (problems,).
    """

    maximum: Floats
    transitivity: Floats
    consistency: Floats


def moebius(table: ScoreTable) -> Floats:
    """Coefficients w_i(J) of the score Hamiltonian (the paper's equation for w), one for each entry of the table.

    The polynomial sum over J of w_i(J) prod d_ji equals minus the log score at every parent set of the table.

    Args:
        table: local scores; with a set, all its subsets must be there.

    >>> from dagneal.networks import load
    >>> from dagneal.scorer import score_table
    >>> table = score_table(load("monty-hall").expected(10_000))
    >>> moebius(table)[:4].round(1)  # Player: constant, Host, Car, both
    array([10998.1, -4044.8,    21.5,  -566.3])
    """
    weights = np.empty(len(table.scores))
    for child, name in enumerate(table.names):
        entries = table.entries_of(child)
        try:
            weights[entries] = inverted(table.scores[entries], table.masks[entries])
        except KeyError as error:
            raise InputError(
                f"{name!r} may have a set of parents but not all its subsets; such a table cannot be encoded"
            ) from error
    return weights


def inverted(scores: Floats, masks: Masks) -> Floats:
    """The Moebius inversion over subsets of minus the scores, along the last axis.

    For each bit in turn, take off what the set without that bit has.

    Args:
        scores: log scores; the last axis is over the masks.
        masks: sets as bits, ascending; with a set, all its subsets.
    """
    weights = -scores
    for bit in range(int(masks.max(initial=0)).bit_length()):
        flag = np.uint64(1 << bit)
        with_bit = np.flatnonzero(masks & flag)
        without = np.minimum(np.searchsorted(masks, masks[with_bit] ^ flag), len(masks) - 1)
        if (masks[without] != masks[with_bit] ^ flag).any():
            raise KeyError("a subset is absent")
        weights[..., with_bit] -= weights[..., without]
    return weights


def paper_penalties(weights: Floats, masks: Masks) -> Penalties:
    """The bounds of O'Gorman et al. plus one, as in the paper.

    Args:
        weights: coefficients w_i(J) of shape (problems, children, parent sets), with at most two parents.
        masks: the parent sets, as bits over the other variables.

    With two variables the paper's delta_consist would be 1, and a cycle of two could win; max D + 1 is used there.
    """
    n = weights.shape[1]
    single = np.bitwise_count(masks) == 1
    gain = np.zeros((*weights.shape[:2], n - 1))  # D'_ji: what an arc j -> i can win at most (equation for Delta')
    for bit in range(n - 1):
        flagged = masks & np.uint64(1 << bit) != 0
        best_pairs = np.minimum(weights[..., flagged & ~single], 0.0).sum(axis=-1)
        gain[..., bit] = -weights[..., flagged & single].sum(axis=-1) - best_pairs
    gain = np.maximum(gain, 0.0)
    transitivity = gain.max(axis=(1, 2)) + 1.0
    consistency = (n - 2) * transitivity + 1.0 if n > 2 else transitivity
    return Penalties(gain.max(axis=2) + 1.0, transitivity, consistency)
