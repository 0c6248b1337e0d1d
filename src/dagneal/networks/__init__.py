"""Bayesian networks: probabilities, file formats, comparison, and the bundled networks."""

from typing import TYPE_CHECKING

from dagneal.base.lazy import lazy_exports

if TYPE_CHECKING:
    from dagneal.networks.gaussian import (
        Discrete as Discrete,
        Gaussian as Gaussian,
        Threshold as Threshold,
        discretised as discretised,
    )

__all__ = ["Discrete", "Gaussian", "Threshold", "discretised"]
__getattr__ = lazy_exports(__name__, {"gaussian": __all__})
