"""Count how often state combinations of variables occur in data, and compute from the counts the sums that scores need."""
