"""Bayesian networks: probabilities, file formats, comparison, and the bundled networks."""
