"""The paper's networks, each parsed once: cases are listed by the thousand. Nothing under paper/ changes them."""

from functools import lru_cache

from dagneal.networks import bundled
from dagneal.networks.network import BayesianNetwork


@lru_cache(maxsize=len(bundled.NAMES))
def load(network: str) -> BayesianNetwork:
    """A bundled network, shared by all who ask for it.

    Args:
        network: its name.

    >>> load("waste") is load("waste")
    True
    """
    return bundled.load(network)
