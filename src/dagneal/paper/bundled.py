"""The paper's networks, each parsed once: cases are listed by the thousand. Nothing under paper/ changes them."""

from functools import lru_cache

from dagneal import networks
from dagneal.network import BayesianNetwork


@lru_cache(maxsize=len(networks.NAMES))
def load(network: str) -> BayesianNetwork:
    """A bundled network, shared by all who ask for it.

    Args:
        network: its name.

    >>> load("waste") is load("waste")
    True
    """
    return networks.load(network)
