"""The linear relaxation: the cheapest weights of families that satisfy cuts. This is the only module that uses HiGHS.

Minimise the sum of cost times weight over all families. The weights are not negative, the weights of each child sum to 1,
and they satisfy the cuts so far. HiGHS solves this programme again after each change, starting from the last solution. Only
some families are columns: the others would have weight 0. The caller adds families whose reduced cost is negative. A child
can also have no family at all, at a high cost, so that there is always a solution. If such a solution is the cheapest, no
network is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints
from dagneal.proofs.cluster_cuts import Cluster
from dagneal.proofs.facets import Facet
from dagneal.proofs.families import UNITS, Families

Cut = Cluster | Facet
"""An inequality that holds for all networks: the sum of the coefficients of the chosen families is at most `limit`."""


# With many equal or almost equal costs, the simplex method can go in circles. Then it starts again with the next option.
_STEPS = 3  # limit of its steps, for each row and column; usually it takes less than one
_RESCUES = (("dual_simplex_cost_perturbation_multiplier", 0.0), ("simplex_strategy", 4))  # 4: the primal simplex method


class Relaxation:
    """The linear relaxation with some families and some cuts.

    Args:
        families: all families.
        columns: indices of the families to start with.
        ceiling: cost of a child without a family, in nats; more than the best network costs.

    Attributes:
        columns: indices of the families in the programme.
        cuts: cuts in the programme.
        weights: weight of each family in `columns`.
        prices: dual value of each child, in nats.
        multipliers: dual value of each cut, in nats; not negative.
        work: work so far: for each step of the simplex method, the number of rows and columns; and all entries of the
            programme for each time that it is built or solved. It is the same on all machines.
    """

    def __init__(self, families: Families, columns: Ints, ceiling: float) -> None:
        self.families, self.columns, self._ceiling = families, columns, ceiling
        self.cuts: list[Cut] = []
        self.weights = self.prices = self.multipliers = np.empty(0)
        self.work = 0
        self._build(None)

    def solve(self) -> None:
        """Solve the programme and set `weights`, `prices` and `multipliers`."""
        self._run()
        for option, value in _RESCUES:
            if self._highs.getModelStatus() == highspy.HighsModelStatus.kOptimal:
                break
            self._build(None)  # without the last solution
            self._highs.setOptionValue(option, value)
            self._run()
        solution = self._highs.getSolution()
        n = self.families.variables
        duals = np.array(solution.row_dual)
        self.weights = np.array(solution.col_value)[n:]
        self.prices, self.multipliers = duals[:n], np.nan_to_num(np.maximum(-duals[n:], 0.0), posinf=0.0)

    def _run(self) -> None:
        """Run HiGHS and count the work."""
        rows, columns = self._size
        self._highs.setOptionValue("simplex_iteration_limit", _STEPS * (rows + columns))
        self._highs.run()
        steps = max(int(self._highs.getInfo().simplex_iteration_count), 0)
        self.work += steps * (rows + columns) + rows * columns

    @property
    def _size(self) -> tuple[int, int]:
        """The number of rows and columns of the programme."""
        n = self.families.variables
        return n + len(self.cuts), n + len(self.columns)

    def add_cuts(self, cuts: Sequence[Cut]) -> None:
        """Add cuts."""
        start, index, values = _sparse([self._line(cut) for cut in cuts])
        upper = np.array([float(cut.limit) for cut in cuts])
        lower = np.full(len(cuts), -highspy.kHighsInf)
        self._highs.addRows(len(cuts), lower, upper, len(index), start[:-1], index, values)
        self.cuts += cuts

    def add_columns(self, columns: Ints) -> None:
        """Add families, given by their indices."""
        n, zeros = self.families.variables, np.zeros(len(columns))
        matrix = np.zeros((n + len(self.cuts), len(columns)))
        matrix[self.families.children[columns], np.arange(len(columns))] = 1.0
        for line, cut in zip(matrix[n:], self.cuts, strict=True):
            line[:] = self._coefficients(cut, columns)
        start, index, values = _sparse(list(matrix.T))
        upper = np.full(len(columns), highspy.kHighsInf)
        self._highs.addCols(len(columns), self._costs(columns), zeros, upper, len(index), start[:-1], index, values)
        self.columns = np.concatenate([self.columns, columns])

    def keep(self, columns: NDArray[np.bool_], cuts: NDArray[np.bool_]) -> None:
        """Remove the other families and cuts, except those that the present solution needs.

        Args:
            columns: whether to keep each family in `columns`.
            cuts: whether to keep each cut in `cuts`.
        """
        n, basic = self.families.variables, highspy.HighsBasisStatus.kBasic
        basis = self._highs.getBasis()
        column_status, row_status = list(basis.col_status), list(basis.row_status)
        columns = columns | np.array([status == basic for status in column_status[n:]])
        cuts = cuts | np.array([status != basic for status in row_status[n:]], dtype=bool)
        self.columns = self.columns[columns]
        self.cuts = [cut for cut, stays in zip(self.cuts, cuts, strict=True) if stays]
        status = highspy.HighsBasis()
        status.col_status = [*column_status[:n], *(v for v, stays in zip(column_status[n:], columns, strict=True) if stays)]
        status.row_status = [*row_status[:n], *(v for v, stays in zip(row_status[n:], cuts, strict=True) if stays)]
        status.valid = True
        self._build(status)

    def _build(self, basis: Any) -> None:
        """Pass the programme to HiGHS, with a basis to start from."""
        n = self.families.variables
        rows, total = self._size
        self.work += rows * total
        children = np.concatenate([np.arange(n), self.families.children[self.columns]])
        matrix = [*(children == np.arange(n)[:, None]).astype(np.int64), *map(self._line, self.cuts)]
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = total, rows
        model.col_cost_ = np.concatenate([np.full(n, self._ceiling), self._costs(self.columns)])
        model.col_lower_, model.col_upper_ = np.zeros(total), np.full(total, highspy.kHighsInf)
        model.row_lower_ = np.array([1.0] * n + [-highspy.kHighsInf] * len(self.cuts))
        model.row_upper_ = np.array([1.0] * n + [float(cut.limit) for cut in self.cuts])
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = _sparse(matrix)
        self._highs = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (("output_flag", False), ("threads", 1), ("presolve", "off"), ("simplex_strategy", 1)):
            self._highs.setOptionValue(option, value)
        self._highs.passModel(model)
        if basis is not None:
            self._highs.setBasis(basis)

    def _costs(self, columns: Ints) -> Floats:
        costs: Floats = self.families.costs[columns] / UNITS
        return costs

    def _line(self, cut: Cut) -> Ints:
        """Return the coefficients of a cut. The first columns are for children without a family."""
        return np.concatenate([np.zeros(self.families.variables, dtype=np.int64), self._coefficients(cut, self.columns)])

    def _coefficients(self, cut: Cut, columns: Ints) -> Ints:
        return cut.coefficients_of(self.families.children[columns], self.families.rows[columns])


def _sparse(lines: Sequence[NDArray[Any]]) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
    """Return sparse lines in the form that HiGHS needs: the index of each line's first entry, positions and values."""
    positions = [np.flatnonzero(line) for line in lines]
    start = np.cumsum([0, *map(len, positions)]).astype(np.int32)
    values = [line[position].astype(np.float64) for line, position in zip(lines, positions, strict=True)]
    return start, np.concatenate(positions).astype(np.int32), np.concatenate(values)
