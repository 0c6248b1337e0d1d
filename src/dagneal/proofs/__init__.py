"""Proofs of optimality and of upper bounds on the score, their checker, and networks with nearly the highest score."""

from typing import TYPE_CHECKING

from dagneal.base.lazy import lazy_exports
from dagneal.proofs.attempt import Attempt as Attempt, prove as prove
from dagneal.proofs.certificate import Proof as Proof, read_proof as read_proof
from dagneal.proofs.checker import ProofError as ProofError, check_proof as check_proof
from dagneal.proofs.families import Families as Families

if TYPE_CHECKING:
    from dagneal.proofs.alternatives import (
        NearOptimal as NearOptimal,
        NearOptimalClass as NearOptimalClass,
        near_optimal as near_optimal,
    )

# HiGHS is imported only if it is used.
__getattr__ = lazy_exports(__name__, {"alternatives": ["NearOptimal", "NearOptimalClass", "near_optimal"]})
del TYPE_CHECKING, lazy_exports  # not public names of this package
