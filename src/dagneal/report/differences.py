"""Linear programs whose constraints are smallest differences of two variables. They place rows and columns of drawings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Constraint = tuple[int, int, float]
"""Variables i and j, and the smallest value of x_j - x_i."""


def minimise(
    costs: Sequence[float], constraints: Sequence[Constraint], lowest: Sequence[float], highest: Sequence[float]
) -> list[float]:
    """Return the variables that minimise a weighted sum of themselves.

    Args:
        costs: weight of each variable.
        constraints: smallest differences of pairs of variables.
        lowest: smallest value of each variable.
        highest: largest value of each variable.

    >>> minimise([1.0, -1.0, 1.0], [(0, 1, 2.0), (1, 2, 3.0)], [0.0] * 3, [10.0] * 3)
    [0.0, 2.0, 5.0]
    """
    import highspy

    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(costs), len(constraints)
    model.col_cost_ = np.array(costs, dtype=float)
    model.col_lower_, model.col_upper_ = np.array(lowest, dtype=float), np.array(highest, dtype=float)
    model.row_lower_ = np.array([least for _, _, least in constraints], dtype=float)
    model.row_upper_ = np.full(len(constraints), highspy.kHighsInf)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.arange(0, 2 * len(constraints) + 1, 2, dtype=np.int32)
    model.a_matrix_.index_ = np.array([i for pair in constraints for i in pair[:2]], dtype=np.int32)
    model.a_matrix_.value_ = np.tile([-1.0, 1.0], len(constraints))
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in (("output_flag", False), ("threads", 1), ("presolve", "off"), ("simplex_strategy", 1)):
        solver.setOptionValue(option, value)
    solver.passModel(model)
    solver.run()
    return list(solver.getSolution().col_value)
