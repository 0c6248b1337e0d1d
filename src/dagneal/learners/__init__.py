"""Learners: each takes a table of local scores and returns what it learned."""
