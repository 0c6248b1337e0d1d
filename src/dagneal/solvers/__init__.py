"""Algorithms that find a DAG from a score table."""
