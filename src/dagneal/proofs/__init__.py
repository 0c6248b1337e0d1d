"""Upper bounds on the score of the best network, and networks whose score is close to the highest."""

from typing import TYPE_CHECKING

from dagneal.base.lazy import lazy_exports
from dagneal.proofs.bound import upper_bound as upper_bound

if TYPE_CHECKING:
    from dagneal.proofs.alternatives import (
        NearOptimal as NearOptimal,
        NearOptimalClass as NearOptimalClass,
        near_optimal as near_optimal,
    )

# HiGHS is imported only if it is used.
__getattr__ = lazy_exports(__name__, {"alternatives": ["NearOptimal", "NearOptimalClass", "near_optimal"]})
del TYPE_CHECKING, lazy_exports  # not public names of this package
