"""Upper bounds on the score."""

from dagneal.proofs.bound import upper_bound as upper_bound
