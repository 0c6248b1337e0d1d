"""Networks for tests, and a function that compares networks."""

import numpy as np

import dagneal as dn


def odd_network() -> dn.BayesianNetwork:
    """Return a network with special characters in names and states."""
    return dn.BayesianNetwork(
        {"Asy/Patch": ("1", "1 0"), "a b": ("x,y", "-", "ä"), "c": ("yes", "no")},
        {"Asy/Patch": (), "a b": ("Asy/Patch",), "c": ("a b", "Asy/Patch")},
        {
            "Asy/Patch": [0.25, 0.75],
            "a b": [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]],
            "c": np.random.default_rng(0).dirichlet([1, 1], (3, 2)),
        },
        "odd net",
    )


def equal_networks(first: dn.BayesianNetwork, second: dn.BayesianNetwork) -> bool:
    return (
        dict(first.states) == dict(second.states)
        and dict(first.parents) == dict(second.parents)
        and all(np.allclose(first.cpts[name], second.cpts[name], atol=1e-12) for name in first.names)
    )
