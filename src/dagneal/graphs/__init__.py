"""Directed graphs, equivalence classes and background knowledge."""
