"""The part of the scikit-learn interface that all estimators share. scikit-learn is used if it is installed."""

from __future__ import annotations

import inspect
import os
from typing import Any, Self

import numpy as np

from dagneal.base.errors import InputError


class Estimator:
    """Base class: parameters are the arguments of `__init__`. They are stored unchanged, and validated in `fit`.

    Attributes of subclasses:
        fitted_name: name of an attribute that `fit` sets.
    """

    fitted_name = "network_"
    least_features = 1

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the estimator by name.

        Args:
            deep: ignored; part of the scikit-learn interface.
        """
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters of the estimator.

        Args:
            **parameters: new values of parameters by name.
        """
        for name, value in parameters.items():
            if name not in self._names():
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(self._names())}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """Return the estimator tags that scikit-learn requires, for example in a grid search."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(allow_nan=self.get_params()["missing"] != "refuse", categorical=True, string=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether `fit` was called."""
        return hasattr(self, self.fitted_name)

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        given = {name: value for name, value in self.get_params().items() if value is not defaults[name].default}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def _check_fitted(self) -> None:
        """Raise an error if `fit` was not called. It is also a `NotFittedError` if scikit-learn is installed."""
        if self.__sklearn_is_fitted__():
            return
        kinds: tuple[type, ...] = (InputError,)
        try:
            from sklearn.exceptions import NotFittedError
        except ImportError:
            pass
        else:
            kinds = (InputError, NotFittedError)
        raise type("NotFittedError", kinds, {})(f"this {type(self).__name__} is not fitted; call fit first")

    def _check_table(self, table: Any, reset: bool) -> Any:
        """Return a table as a data frame with a name for each column. Paths are returned unchanged.

        The number and the names of the columns are stored, or compared with those of `fit`.

        Args:
            table: data frame, or anything that NumPy converts to an array of two dimensions.
            reset: True in `fit`, False for new data.
        """
        if isinstance(table, str | os.PathLike):
            return table
        if hasattr(table, "collect") and is_frame(table):  # a lazy frame
            table = table.collect()
        if is_frame(table):
            self._check_features(table, reset)
            return table.rename(columns=str) if hasattr(table, "assign") else table
        try:
            from sklearn.utils.validation import check_array
        except ImportError:
            array = np.asarray(table)
        else:
            # the message of an error names `n_samples` and `n_features`, as scikit-learn requires
            array = check_array(
                table,
                dtype=None,
                ensure_all_finite="allow-nan" if _is_numeric(table) else False,
                ensure_min_features=self.least_features if reset else 1,  # a wrong number is reported below
                estimator=self,
                input_name="X",
            )
        self._check_features(table, reset)
        return array_frame(array)

    def _check_features(self, table: Any, reset: bool) -> None:
        """Store or compare the number and the names of the columns."""
        try:
            from sklearn.utils.validation import validate_data
        except ImportError:
            if reset:
                self.n_features_in_ = np.shape(table)[1]
            return
        validate_data(self, table, reset=reset, skip_check_array=True)


def is_frame(table: Any) -> bool:
    """Return whether a table is a pandas or polars frame.

    Args:
        table: any value.
    """
    return type(table).__module__.split(".")[0] in ("pandas", "polars") and hasattr(type(table), "columns")


def _is_numeric(table: Any) -> bool:
    return getattr(getattr(table, "dtype", None), "kind", "f") in "biufc"


def array_frame(array: np.ndarray[Any, Any]) -> Any:
    """Return an array as a polars frame with the columns `x0`, `x1` and so on. NaN and None are missing values.

    Args:
        array: array of shape (rows, columns).
    """
    import polars

    columns = {}
    for at in range(array.shape[1]):
        values = array[:, at]
        if values.dtype.kind in "iu":
            column = polars.Series(values)
        elif values.dtype.kind == "b":
            column = polars.Series(values.astype(str))
        elif values.dtype.kind == "f":
            column = polars.Series(values.astype(np.float64)).fill_nan(None)
        else:
            column = _object_column(values)
        columns[f"x{at}"] = column
    return polars.DataFrame(columns)


def _object_column(values: np.ndarray[Any, Any]) -> Any:
    """Return a column of Python objects: numbers if all of them are numbers, otherwise texts."""
    import polars

    plain = [None if value is None or value != value else value for value in values.tolist()]
    kinds = {type(value) for value in plain if value is not None}
    if kinds and kinds <= {int, float}:
        return polars.Series([None if value is None else float(value) for value in plain], dtype=polars.Float64)
    if bad := next((value for value in plain if isinstance(value, dict | list | set | tuple)), None):
        raise TypeError(f"argument must be a string or a number, not {type(bad).__name__}")  # as scikit-learn words it
    return polars.Series([None if value is None else str(value) for value in plain], dtype=polars.String)
