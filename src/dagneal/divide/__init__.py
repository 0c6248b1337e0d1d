"""Divide et impera: subproblems, votes, candidate parents and the iterated global solve."""
