"""Counts of variable sets, and the sums over counts from which scores are computed."""
