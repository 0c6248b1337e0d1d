"""The solvers that users pass to learn()."""
