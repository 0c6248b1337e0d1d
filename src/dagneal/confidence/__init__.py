"""Measures of confidence: bootstrap frequencies, score drops, sensitivity to the prior, and likelihood of held-out rows."""
