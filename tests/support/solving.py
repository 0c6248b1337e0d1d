"""Run solvers on scores instead of data, and compare results."""

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


def without_times(plain):
    """Return a result, as a dict for JSON, without the times of its stages and of its trace.

    Args:
        plain: dict that `Learned.to_dict` returned, or the content of a result file.
    """
    timeless = {key: value for key, value in plain.items() if key != "seconds"}
    if "search" in plain:
        timeless["search"] = plain["search"] | {"trace": [point[1:] for point in plain["search"]["trace"]]}
    return timeless
