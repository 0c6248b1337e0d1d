"""Preparation of tables for the estimators: the same for the rows of `fit` and for new rows.

This is the only place where the estimators prepare data. `fit` chooses cut points and states. New rows get them from the
states of the network; values that are not states are unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dagneal.data.dataset import Dataset
from dagneal.data.reading import read
from dagneal.estimator.interface import is_frame
from dagneal.inference.elimination import Codes
from dagneal.inference.new_data import read_codes
from dagneal.networks.network import BayesianNetwork

AUTOMATIC = "auto"  # value of `bins`
_METHOD = "quantile:4"  # for numbers, with `AUTOMATIC`
_FEW = 12  # a column with at most this many numbers is not cut, unless most of its numbers differ


@dataclass(frozen=True)
class TablePreparation:
    """How an estimator prepares its data.

    Attributes:
        missing: treatment of missing values in `fit`; see `read`.
        bins: binning of numeric columns; see `read`. `"auto"` cuts a column of numbers into quarters if it has more than 12
            distinct numbers, or if most of its numbers differ.
        rare: fraction of rows below which states are merged; see `read`.
    """

    missing: Any
    bins: Any
    rare: Any

    def fit(self, table: Any, states: Mapping[str, Sequence[str]] | None = None) -> Dataset:
        """Return the rows of `fit` as a dataset.

        Args:
            table: data frame, or path of a file.
            states: states of columns, such as the target.
        """
        columns = list(map(str, table.columns)) if is_frame(table) else None
        bins = self.bins
        if isinstance(bins, str) and bins == AUTOMATIC:
            bins = dict.fromkeys(_continuous(table), _METHOD) if columns else _METHOD
        return read(table, columns=columns, missing=self.missing, bins=bins, rare=self.rare, states=states)

    def codes(self, network: BayesianNetwork, table: Any, optional: Sequence[str] = ()) -> Codes:
        """Return new rows as codes of the states of a network, of shape (variables, rows); -1 for unknown values.

        Args:
            network: network that was learned from the rows of `fit`.
            table: data frame.
            optional: variables that may be absent.
        """
        return read_codes(network, table, "missing", optional)


def is_number_column(column: Any) -> bool:
    """Return whether a column of a pandas or polars frame has numbers, which are not booleans.

    Args:
        column: column.
    """
    if hasattr(column.dtype, "is_numeric"):
        return bool(column.dtype.is_numeric())
    return getattr(column.dtype, "kind", "O") in "iuf"


def _continuous(table: Any) -> list[str]:
    """Return the columns of a frame that `"auto"` cuts."""
    chosen = []
    for name in table.columns:
        column = table[name]
        if is_number_column(column):
            present = column.dropna() if hasattr(column, "dropna") else column.drop_nulls()
            distinct = int(present.nunique() if hasattr(present, "nunique") else present.n_unique())
            if distinct > _FEW or 2 < distinct > len(present) / 2:
                chosen.append(str(name))
    return chosen
