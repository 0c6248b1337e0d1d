"""Bayesian networks: probability tables, file formats, comparison and bundled networks."""

from typing import TYPE_CHECKING

from dagneal.base.lazy import lazy_exports

if TYPE_CHECKING:
    from dagneal.networks.gaussian import (
        Discrete as Discrete,
        Gaussian as Gaussian,
        Threshold as Threshold,
        discretise_network as discretise_network,
    )

__all__ = ["Discrete", "Gaussian", "Threshold", "discretise_network"]
__getattr__ = lazy_exports(__name__, {"gaussian": __all__})
