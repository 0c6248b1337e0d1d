"""Counting of variable sets, and the sums over counts that scores are made of."""
