"""Upper bounds on the score of the best network."""

from dagneal.proofs.bound import upper_bound as upper_bound
