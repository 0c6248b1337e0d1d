"""Solvers on scores instead of data."""

import dagneal as dn


def solve(source, solver, max_parents=None, **run):
    """Solve the problem of a scorer or of a table.

    Args:
        source: the scorer or the table.
        solver: a solver, or its name.
        max_parents: the most parents of a variable.
        **run: fields of the run, such as `seed`.
    """
    return solver.solve(dn.Problem(source, max_parents), dn.Run(**run))
