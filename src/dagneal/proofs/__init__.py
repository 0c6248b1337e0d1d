"""Proofs of optimality and of upper bounds on the score, and their checker."""

from dagneal.proofs.attempt import Attempt as Attempt, prove as prove
from dagneal.proofs.certificate import Proof as Proof, read_proof as read_proof
from dagneal.proofs.checker import ProofError as ProofError, check_proof as check_proof
from dagneal.proofs.families import Families as Families
