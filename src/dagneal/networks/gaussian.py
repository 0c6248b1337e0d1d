"""Conditional-Gaussian networks, and the paper's way to make them discrete (its section 5.1).

A continuous variable becomes one of two states, above or below a threshold. All settings of its parents are gone through:
the lowest value is the smallest mean minus its variance, the highest the largest mean plus its variance, and the threshold
lies halfway. The probability to be above it is that of the Gaussian with the mean and variance of each setting. A continuous
parent is made discrete first; its lowest and highest values then stand for its two states.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from math import erfc, sqrt

import numpy as np

from dagneal.base.errors import InputError
from dagneal.networks.network import BayesianNetwork


@dataclass(frozen=True)
class Discrete:
    """A discrete variable without parents.

    Args:
        probabilities: of its states.
    """

    probabilities: Mapping[str, float]


@dataclass(frozen=True)
class Gaussian:
    """A continuous variable: for each setting of its discrete parents a mean and a variance.

    Args:
        parents: its discrete parents.
        moments: mean and variance for each combination of their states.
        slopes: what a unit of each continuous parent adds to the mean.
        states: what to call a value above the threshold, and one below.
    """

    parents: tuple[str, ...]
    moments: Mapping[tuple[str, ...], tuple[float, float]]
    slopes: Mapping[str, float] = field(default_factory=dict)
    states: tuple[str, str] = ("High", "Low")


@dataclass(frozen=True)
class Threshold:
    """Where a continuous variable was cut.

    Attributes:
        lowest: the smallest mean minus its variance.
        highest: the largest mean plus its variance.
    """

    lowest: float
    highest: float

    @property
    def value(self) -> float:
        """Halfway between them."""
        return (self.lowest + self.highest) / 2


def discretise_network(
    variables: Mapping[str, Discrete | Gaussian], name: str = "discretised"
) -> tuple[BayesianNetwork, dict[str, Threshold]]:
    """Make a conditional-Gaussian network discrete by the paper's procedure.

    A parent that makes no difference to any cell any more is no parent of the result.

    Args:
        variables: by name, parents before their children.
        name: of the result.

    Returns:
        The network, and where each continuous variable was cut.

    >>> regimen = Discrete({"Stable": 0.85, "Unstable": 0.15})
    >>> gas = Gaussian(("Regimen",), {("Stable",): (-2, 0.1), ("Unstable",): (-1, 0.3)})
    >>> network, cut = discretise_network({"Regimen": regimen, "CO2": gas})
    >>> network.cpts["CO2"].round(2).tolist(), round(cut["CO2"].value, 2)
    ([[0.03, 0.97], [0.77, 0.23]], -1.4)
    """
    states: dict[str, tuple[str, ...]] = {}
    parents: dict[str, tuple[str, ...]] = {}
    cpts: dict[str, np.ndarray] = {}
    cuts: dict[str, Threshold] = {}
    for variable, about in variables.items():
        if isinstance(about, Discrete):
            states[variable], parents[variable] = tuple(about.probabilities), ()
            cpts[variable] = np.array(list(about.probabilities.values()))
            continue
        own = (*about.parents, *about.slopes)
        if missing := [parent for parent in own if parent not in states]:
            raise InputError(f"{variable} has the parent {missing[0]}, which does not come before it")
        settings = list(product(*(states[parent] for parent in own)))
        moments = [_moments(about, setting, cuts, variables) for setting in settings]
        smallest, largest = min(moments), max(moments)
        cut = cuts[variable] = Threshold(smallest[0] - smallest[1], largest[0] + largest[1])
        above = [0.5 * erfc((cut.value - mean) / sqrt(2 * variance)) for mean, variance in moments]
        table = np.array(above).reshape([len(states[parent]) for parent in own])
        states[variable] = about.states
        kept = [axis for axis in range(len(own)) if not np.allclose(table, table.take([0], axis), atol=1e-9)]
        table = table[tuple(slice(None) if axis in kept else 0 for axis in range(len(own)))]
        parents[variable] = tuple(own[axis] for axis in kept)
        cpts[variable] = np.stack([table, 1 - table], axis=-1)
    return BayesianNetwork(states, parents, cpts, name), cuts


def _moments(
    about: Gaussian, setting: tuple[str, ...], cuts: Mapping[str, Threshold], variables: Mapping[str, Discrete | Gaussian]
) -> tuple[float, float]:
    """Mean and variance of a variable, its continuous parents at their highest or lowest value."""
    discrete = setting[: len(about.parents)]
    mean, variance = about.moments[discrete]
    for (parent, slope), state in zip(about.slopes.items(), setting[len(about.parents) :], strict=True):
        of = variables[parent]
        above = isinstance(of, Gaussian) and state == of.states[0]
        mean += slope * (cuts[parent].highest if above else cuts[parent].lowest)
    return mean, variance
