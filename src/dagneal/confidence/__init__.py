"""How sure a network is: bootstrap, score drops, priors and held-out rows."""
