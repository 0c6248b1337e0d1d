"""Preparation of tables for the estimators: the same for the rows of `fit` and for new rows.

This is the only place where the estimators prepare data. The rules of `dagneal.prepare` decide in `fit`, and their recipe
prepares new rows; values that are not states are unknown.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dagneal.data.dataset import Dataset
from dagneal.data.raw.prepare import UnusableTableError, prepare
from dagneal.inference.elimination import Codes
from dagneal.inference.new_data import read_codes
from dagneal.networks.network import BayesianNetwork

AUTOMATIC = "auto"  # value of `bins`


@dataclass(frozen=True)
class TablePreparation:
    """How an estimator prepares its data.

    Attributes:
        missing: treatment of missing values in `fit`; see `prepare`.
        bins: binning of numeric columns; see `prepare`. `"auto"` leaves it to the rules.
        rare: fraction of rows below which states are merged; see `prepare`.
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
        bins = None if isinstance(self.bins, str) and self.bins == AUTOMATIC else self.bins
        options = {"bins": bins, "states": states, "missing": self.missing, "rare": self.rare}
        try:
            return prepare(table, **options).data
        except UnusableTableError:  # the rules leave too few columns; columns that are named are not left out
            if isinstance(table, str | os.PathLike):
                raise
            return prepare(table, columns=list(map(str, table.columns)), **options).data

    def codes(self, network: BayesianNetwork, table: Any, optional: Sequence[str] = ()) -> Codes:
        """Return new rows as codes of the states of a network, of shape (variables, rows); -1 for unknown values.

        Args:
            network: network that was learned from the rows of `fit`.
            table: data frame, or path of a file.
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
