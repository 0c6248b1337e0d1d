"""Measures of confidence: bootstrap frequencies, score drops, sensitivity to the prior, and held-out rows."""
