"""The solvers that users pass to the function `learn`."""
