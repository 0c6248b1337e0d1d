"""Measures of confidence: bootstrap, posterior probabilities, score drops, sensitivity to the prior, held-out rows."""
