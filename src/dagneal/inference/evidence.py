"""Evidence: known states of variables, and soft evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from dagneal.base.errors import InputError, short_repr
from dagneal.base.kernels import Floats
from dagneal.inference.models import check_variable, find_state
from dagneal.networks.network import BayesianNetwork

_NOT_PLAIN = re.compile(r"""[(){}|,="':]|^\s|\s$|^$""")


@dataclass(frozen=True, eq=False)
class Given:
    """Evidence on the variables of a network.

    Attributes:
        hard: index of the known state, by variable.
        soft: likelihood of the observation given each state, by variable.
        text: the evidence as text, such as `Smoker=True`.
    """

    hard: dict[str, int]
    soft: dict[str, Floats]
    text: str

    def impossible(self) -> InputError:
        """Return the error for evidence of probability 0."""
        return InputError(f"the evidence {self.text} has probability 0 in this network, so nothing follows from it")


def read_evidence(network: BayesianNetwork, given: Mapping[str, Any] | None) -> Given:
    """Return evidence with indices of states.

    Args:
        network: the network.
        given: for each known variable a state, a list of possible states, or a mapping from states to likelihoods.
    """
    if not isinstance(given, Mapping | None):
        raise InputError(f"given is {short_repr(given)}; give a dict such as {{'Smoker': 'yes'}}")
    hard: dict[str, int] = {}
    soft: dict[str, Floats] = {}
    texts = []
    for name, value in (given or {}).items():
        check_variable(network, name)
        if isinstance(value, Mapping):
            soft[name] = _likelihoods(network, name, value)
        elif isinstance(value, Sequence | Set) and not isinstance(value, str):
            soft[name] = _likelihoods(network, name, dict.fromkeys(value, 1.0))
        else:
            hard[name] = find_state(network, name, value)
            value = network.states[name][hard[name]]
        texts.append(f"{quote_label(name)}={evidence_text(value)}")
    return Given(hard, soft, ", ".join(texts))


def quote_label(text: str) -> str:
    """Return a name or a state as it is written in a question, in quotes if necessary.

    Args:
        text: name or state.

    >>> quote_label("chest pain"), quote_label("a, b"), quote_label('say "x"')
    ('chest pain', '"a, b"', '"say \\\\"x\\\\""')
    """
    if not _NOT_PLAIN.search(text) and text not in ("P", "p", "do"):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def evidence_text(value: Any) -> str:
    """Return the value of evidence as it is written in a question.

    Args:
        value: a state, a list of states, or a mapping from states to likelihoods.
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{quote_label(str(state))}: {share:g}" for state, share in value.items()) + "}"
    if isinstance(value, Sequence | Set) and not isinstance(value, str):
        return "{" + ", ".join(quote_label(str(state)) for state in value) + "}"
    return quote_label(str(value))


def _likelihoods(network: BayesianNetwork, name: str, value: Mapping[Any, Any]) -> Floats:
    """Return the likelihood of each state of a variable; 0 for states that are not listed."""
    result = np.zeros(len(network.states[name]))
    for state, share in value.items():
        valid = isinstance(share, Real) and not isinstance(share, bool) and 0 <= float(share) < float("inf")
        if not valid:
            raise InputError(f"the likelihood of {name}={state} is {short_repr(share)}; give a number of at least 0")
        result[find_state(network, name, state)] = float(share)
    if not result.any():
        raise InputError(f"the evidence for {name!r} excludes all its states; give a likelihood above 0 for one of them")
    return result
