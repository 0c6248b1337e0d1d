"""Run solvers on scores instead of data."""

import dagneal as dn


def solve(source, solver, max_parents=None, **run):
    """Solve the problem of a scorer or a score table.

    Args:
        source: scorer or score table.
        solver: solver object.
        max_parents: parent limit.
        **run: arguments of `Run`, such as `seed`.
    """
    return solver.solve(dn.Problem(source, max_parents), dn.Run(**run))
