"""Count how often state combinations of variables occur in data, and compute the sums over the counts for scores."""
