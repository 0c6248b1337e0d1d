"""The models that can be asked: a network, an ensemble of networks, or a result with a network."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dagneal.base.errors import InputError, first_few, hint, short_repr
from dagneal.base.kernels import Floats
from dagneal.data.discretize import Bins
from dagneal.networks.network import BayesianNetwork


@runtime_checkable
class Mixture(Protocol):
    """A mixture of networks with the same variables and states, such as `Ensemble`."""

    @property
    def networks(self) -> tuple[BayesianNetwork, ...]:
        """The networks."""

    @property
    def weights(self) -> Floats:
        """The weights of the networks."""


@runtime_checkable
class HasNetwork(Protocol):
    """An object with a network, such as `Learned`."""

    @property
    def network(self) -> BayesianNetwork:
        """The network."""


@dataclass(frozen=True, eq=False)
class Members:
    """The networks of a model with their weights, which sum to 1."""

    networks: tuple[BayesianNetwork, ...]
    weights: Floats

    @property
    def first(self) -> BayesianNetwork:
        """The first network. All networks have the same variables and states."""
        return self.networks[0]


def find_members(model: Any) -> Members:
    """Return the networks of a model.

    Args:
        model: a network, an ensemble, or a result with a network.
    """
    if isinstance(model, BayesianNetwork):
        return Members((model,), np.ones(1))
    if isinstance(model, Mixture):
        return Members(tuple(model.networks), np.asarray(model.weights))
    if isinstance(model, HasNetwork) and isinstance(network := model.network, BayesianNetwork):
        return Members((network,), np.ones(1))
    raise InputError(
        f"model is {short_repr(model)}; give a network such as dn.load('lung-cancer'), a result of dn.learn or an ensemble"
    )


def find_network(model: Any, question: str) -> BayesianNetwork:
    """Return the only network of a model. Raise an error for an ensemble.

    Args:
        model: a network, or a result with a network.
        question: name of the function, for the error message.
    """
    members = find_members(model)
    if len(members.networks) > 1:
        raise InputError(f"{question} needs one network, not an ensemble; give a result or one of ensemble.networks")
    return members.first


def check_variable(network: BayesianNetwork, name: Any) -> int:
    """Return the index of a variable. Raise an error if the network does not have it.

    Args:
        network: the network.
        name: name of the variable.
    """
    recipe = () if network.recipe is None else network.recipe.columns
    if left_out := next((each for each in recipe if each.column == name and name not in network.states), None):
        if left_out.name:
            raise InputError(f"{name!r} is not a variable, but a column that became {left_out.name!r}; give this name")
        raise InputError(
            f"{name!r} is not a variable of the network: the column was left out ({left_out.why}); to use it, learn "
            f"again and keep this column: keep=[{name!r}] of prepare, or --keep"
        )
    if not isinstance(name, str) or name not in network.states:
        raise InputError(f"{short_repr(name)} is not a variable of the network{hint(str(name), network.names)}")
    return network.names.index(name)


def _find_interval(network: BayesianNetwork, name: str, number: float) -> int | None:
    """Return the index of the interval that contains a number, or of the state that is this number, if there is one."""
    states = network.states[name]
    recipe = None if network.recipe is None else next((e for e in network.recipe.variables if e.name == name), None)
    if recipe is not None and recipe.cuts:
        label = recipe.states[int(np.searchsorted(recipe.cuts, number, side="right"))]
        return states.index(label) if label in states else None
    if (bins := Bins.from_states(states)) is not None:
        assert bins.labels is not None
        return states.index(bins.labels[int(np.searchsorted(bins.at, number, side="right"))])
    equal = [at for at, label in enumerate(states) if _is_number(label, number)]
    return equal[0] if len(equal) == 1 else None


def _is_number(label: str, number: float) -> bool:
    """Return whether the name of a state is a number."""
    try:
        return float(label) == number
    except ValueError:
        return False


def find_state(network: BayesianNetwork, name: str, state: Any) -> int:
    """Return the index of a state. Raise an error that lists the states if the variable does not have it.

    Args:
        network: the network.
        name: name of a variable.
        state: name of the state. A number or a boolean stands for the state with this text, or for the interval that
            contains the number.
    """
    states = network.states[name]
    text = state if isinstance(state, str) else str(state)
    if text in states:
        return states.index(text)
    folded = [label for label in states if label.casefold() == text.strip().casefold()]
    if len(folded) == 1 and text.strip().lower() in ("true", "false"):  # the spelling of booleans differs between sources
        return states.index(folded[0])
    try:
        number = float(state)
    except (TypeError, ValueError):
        number = nan
    if isfinite(number) and (place := _find_interval(network, name, number)) is not None:
        return place
    known = first_few([repr(label) for label in states], most=10)
    raise InputError(f"{name!r} has no state {short_repr(state)}; its states are {known}{hint(text, states)}")
