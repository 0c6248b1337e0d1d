"""Upper bounds on the score."""
