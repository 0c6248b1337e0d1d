"""Local scores of child and parent sets: scores, counting, and the score table."""
