"""Counts of the state combinations of variable sets, and sums over these counts, from which scores are computed."""
