"""The seven networks of the paper, which are bundled with dagneal."""

from dataclasses import replace
from importlib import resources
from pathlib import Path

from dagneal.base.errors import InputError
from dagneal.networks.bif import parse_bif, read_bif
from dagneal.networks.network import BayesianNetwork

NAMES = ("monty-hall", "lung-cancer-4", "lung-cancer", "waste", "waste-2p", "waste-2p-dep", "alarm-15")


def load(network: str) -> BayesianNetwork:
    """Load a bundled network by name, or any network from a .bif file.

    Args:
        network: one of `monty-hall`, `lung-cancer-4`, `lung-cancer`, `waste`, `waste-2p`, `waste-2p-dep` and `alarm-15`, or
            the path of a .bif file.

    >>> load("alarm-15")
    BayesianNetwork(alarm-15: 15 variables, 15 edges)
    """
    if network in NAMES:
        text = (resources.files("dagneal.networks") / f"{network}.bif").read_text(encoding="utf-8")
        return replace(parse_bif(text, network), name=network)
    if Path(network).suffix.lower() == ".bif":
        return read_bif(network)
    raise InputError(f"there is no network {network!r}; give the path of a .bif file or one of {', '.join(NAMES)}")
