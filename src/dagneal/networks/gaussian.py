"""Conditional-Gaussian networks, and the procedure of the paper to discretise them (section 5.1).

A continuous variable gets two states: above and below a threshold. It has a Gaussian distribution for each combination of
its parents' states. Its lowest value is the smallest mean minus the variance of the same Gaussian. Its highest value is the
largest mean plus the variance of the same Gaussian. The threshold is halfway between these two values. Each Gaussian then
gives the probability of being above the threshold. A continuous parent is discretised before its children. The means of
the children use the parent's highest value for the state above the parent's threshold, and its lowest value for the state
below.
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
        probabilities: probability of each state, by name of the state.
    """

    probabilities: Mapping[str, float]


@dataclass(frozen=True)
class Gaussian:
    """A continuous variable with a mean and a variance for each combination of its discrete parents' states.

    Args:
        parents: names of the discrete parents.
        moments: tuple (mean, variance) for each combination of the discrete parents' states.
        slopes: change of the mean per unit of each continuous parent, by name of the parent.
        states: names of the state above the threshold and of the state below the threshold, in this order.
    """

    parents: tuple[str, ...]
    moments: Mapping[tuple[str, ...], tuple[float, float]]
    slopes: Mapping[str, float] = field(default_factory=dict)
    states: tuple[str, str] = ("High", "Low")


@dataclass(frozen=True)
class Threshold:
    """The threshold of a continuous variable, and the values from which it is computed.

    The variable has a Gaussian distribution for each combination of its parents' states.

    Attributes:
        lowest: smallest mean of these Gaussians, minus the variance of the same Gaussian.
        highest: largest mean of these Gaussians, plus the variance of the same Gaussian.
    """

    lowest: float
    highest: float

    @property
    def value(self) -> float:
        """The threshold, which is halfway between `lowest` and `highest`."""
        return (self.lowest + self.highest) / 2


def discretise_network(
    variables: Mapping[str, Discrete | Gaussian], name: str = "discretised"
) -> tuple[BayesianNetwork, dict[str, Threshold]]:
    """Discretise a conditional-Gaussian network by the procedure of the paper.

    If a parent does not affect the discrete probabilities of its child, the edge between them is removed.

    Args:
        variables: variables by name. Parents must come before their children.
        name: name of the resulting network.

    Returns:
        Tuple (network, thresholds). `thresholds` is a dict with the threshold of each continuous variable.

    >>> regimen = Discrete({"Stable": 0.85, "Unstable": 0.15})
    >>> gas = Gaussian(("Regimen",), {("Stable",): (-2, 0.1), ("Unstable",): (-1, 0.3)})
    >>> network, thresholds = discretise_network({"Regimen": regimen, "CO2": gas})
    >>> network.cpts["CO2"].round(2).tolist(), round(thresholds["CO2"].value, 2)
    ([[0.03, 0.97], [0.77, 0.23]], -1.4)
    """
    states: dict[str, tuple[str, ...]] = {}
    parents: dict[str, tuple[str, ...]] = {}
    cpts: dict[str, np.ndarray] = {}
    thresholds: dict[str, Threshold] = {}
    for variable, description in variables.items():
        if isinstance(description, Discrete):
            states[variable], parents[variable] = tuple(description.probabilities), ()
            cpts[variable] = np.array(list(description.probabilities.values()))
            continue
        own = (*description.parents, *description.slopes)
        if missing := [parent for parent in own if parent not in states]:
            raise InputError(f"{variable!r} comes before its parent {missing[0]!r}; list parents before their children")
        settings = list(product(*(states[parent] for parent in own)))
        moments = [_moments(description, setting, thresholds, variables) for setting in settings]
        smallest, largest = min(moments), max(moments)
        threshold = thresholds[variable] = Threshold(smallest[0] - smallest[1], largest[0] + largest[1])
        above = [0.5 * erfc((threshold.value - mean) / sqrt(2 * variance)) for mean, variance in moments]
        table = np.array(above).reshape([len(states[parent]) for parent in own])
        states[variable] = description.states
        kept = [axis for axis in range(len(own)) if not np.allclose(table, table.take([0], axis), atol=1e-9)]
        table = table[tuple(slice(None) if axis in kept else 0 for axis in range(len(own)))]
        parents[variable] = tuple(own[axis] for axis in kept)
        cpts[variable] = np.stack([table, 1 - table], axis=-1)
    return BayesianNetwork(states, parents, cpts, name), thresholds


def _moments(
    variable: Gaussian,
    setting: tuple[str, ...],
    thresholds: Mapping[str, Threshold],
    variables: Mapping[str, Discrete | Gaussian],
) -> tuple[float, float]:
    """Return the tuple (mean, variance) of a continuous variable, given the state of each parent in `setting`.

    The state of a continuous parent is represented by the parent's highest or lowest value.
    """
    discrete = setting[: len(variable.parents)]
    mean, variance = variable.moments[discrete]
    for (name, slope), state in zip(variable.slopes.items(), setting[len(variable.parents) :], strict=True):
        parent = variables[name]
        above = isinstance(parent, Gaussian) and state == parent.states[0]
        mean += slope * (thresholds[name].highest if above else thresholds[name].lowest)
    return mean, variance
