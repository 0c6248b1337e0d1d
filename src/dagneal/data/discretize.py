"""Discretisation: cut points that divide numbers into a few states, and the names of these states."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite

import numpy as np

from dagneal.base.errors import InputError, first_few, hint, whole_number
from dagneal.base.kernels import Floats
from dagneal.data.dataset import MAX_STATES, MISSING_STATE, OTHER_STATE

KINDS = ("quantile", "uniform", "kmeans")
_MAX_ITERATIONS = 100  # k-means converges much earlier
SPECIAL = (MISSING_STATE, OTHER_STATE)  # states that do not come from cut points
_SHORTER = 3  # a number with this many fewer digits than its neighbour is one that people write
_NUMBER = r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?"
_INTERVAL = re.compile(
    rf"below ({_NUMBER})|up to ({_NUMBER})|(above )?({_NUMBER})(?: to ({_NUMBER}))?|({_NUMBER}) and above"
)
EVERY = ""  # key of the method for all other columns with many distinct numbers


@dataclass(frozen=True)
class Bins:
    """A method for binning a column: it divides the numbers into intervals, which become states.

    Args:
        kind: `quantile` (intervals with about equal numbers of rows), `uniform` (intervals of equal width), `kmeans`
            (clusters of numbers) or `at` (given cut points).
        count: number of states.
        at: cut points for the kind `at`.
        implied: whether the cut points come from the names of declared states, such as `below 18`. The column may then
            hold these states instead of numbers.
        labels: names of the states; by default, they follow from the cut points.

    >>> Bins.parse("quantile:4").count, Bins.parse("at:18,65").at
    (4, (18.0, 65.0))
    """

    kind: str
    count: int
    at: tuple[float, ...] = ()
    implied: bool = False
    labels: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Bins:
        """Return the binning method for a text such as `quantile:4`.

        Args:
            text: kind and number of states, such as `quantile:4`, or cut points, such as `at:18,65`.
        """
        kind, _, count = str(text).partition(":")
        if kind == "at":
            return cls._at(text, count.split(","))
        if kind not in KINDS or not re.fullmatch(r"\s*[0-9]{1,9}\s*", count):
            raise InputError(f"bins is {text!r}; give a method such as 'quantile:4', 'uniform:5', 'kmeans:3' or 'at:18,65'")
        number = whole_number("the number of bins", int(count), least=2)
        if number > MAX_STATES:
            raise InputError(f"bins is {text!r}; at most {MAX_STATES:,} states are possible")
        return cls(kind, number)

    @classmethod
    def _at(cls, text: str, given: Sequence[str]) -> Bins:
        """Return a binning method with the cut points in `given`. `text` is the input of the user, for errors."""
        try:
            cuts = tuple(float(cut) for cut in given)
        except ValueError:
            cuts = ()
        if not cuts or not all(map(isfinite, cuts)) or any(low >= high for low, high in pairwise(cuts)):
            raise InputError(f"bins is {text!r}; give ascending numbers, such as 'at:18,65'")
        return cls("at", len(cuts) + 1, cuts)

    @classmethod
    def from_states(cls, states: Sequence[str]) -> Bins | None:
        """Return the binning method whose states have these names. Return None if the names are not intervals.

        With this method, new data are binned in the same way as the data from which a network was learned.

        Args:
            states: names of the states of a column. `(missing)` and `(other)` are ignored.

        >>> Bins.from_states(["below 2.5", "2.5 to 10", "10 and above"]).at
        (2.5, 10.0)
        >>> Bins.from_states(["0", "1", "2 and above"]).at
        (1.0, 2.0)
        >>> Bins.from_states(["low", "high"])
        """
        labels = tuple(str(state) for state in states if state not in SPECIAL)
        intervals = [interval for label in labels if (interval := _parse_interval(label)) is not None]
        if len(labels) < 2 or len(intervals) < len(labels) or all(low == high for low, high in intervals):
            return None
        lows, highs = [low for low, _ in intervals], [high for _, high in intervals]
        ascending = all(low < high for low, high in pairwise(lows))
        follow = [*lows[1:], inf]
        if not ascending or not all(high in (low, end) for low, high, end in zip(lows, highs, follow, strict=True)):
            return None
        return cls("at", len(labels), tuple(lows[1:]), implied=True, labels=labels)

    def cuts(self, values: Floats, weights: Floats) -> Floats:
        """Return ascending cut points for a column. A value equal to a cut point belongs to the state above it.

        If a value is very frequent, or if there are few distinct values, there may be fewer states than requested. If
        there are two or more distinct values, there is at least one cut point. If the largest value is so frequent that all
        quantiles are equal to it, a single cut point divides the rows as evenly as possible.

        Args:
            values: distinct numbers, ascending.
            weights: number of rows with each value.

        >>> Bins("quantile", 2).cuts(np.array([1.0, 2.0, 3.0, 10.0]), np.ones(4))
        array([2.5])
        >>> Bins("quantile", 4).cuts(np.array([0.0, 1.0, 2.0]), np.array([1.0, 5.0, 94.0]))
        array([2.])
        """
        if self.kind == "at":
            return np.array(self.at)
        values, weights = values[weights > 0], weights[weights > 0]
        if len(values) < 2:
            return np.empty(0)
        if self.kind == "uniform":
            scale = 1.0 if isfinite(float(values[-1]) - float(values[0])) else 0.5  # the width of the range may overflow
            exact = np.linspace(values[0] * scale, values[-1] * scale, self.count + 1)[1:-1] / scale
            return np.unique([_short(cut, values) for cut in exact if values[0] < cut <= values[-1]])
        shares = np.cumsum(weights) / weights.sum()
        if self.kind == "quantile":
            after = np.searchsorted(shares, np.arange(1, self.count) / self.count - 1e-12)
        else:
            after = np.flatnonzero(np.diff(_clusters(values, weights, self.count)))
        after = np.unique(after[after < len(values) - 1])
        if not len(after):
            after = np.array([np.argmin(np.abs(shares[:-1] - 0.5))])
        return np.array([_short(_between(float(values[at]), float(values[at + 1])), values) for at in after])


def _between(low: float, high: float) -> float:
    """Return the mean of two numbers, even if their sum overflows."""
    mean = (low + high) / 2
    return mean if isfinite(mean) else low / 2 + high / 2


def _short(cut: float, values: Floats) -> float:
    """Return the cut point with the fewest digits that divides the values into the same two groups as `cut`."""
    at = int(np.searchsorted(values, cut, side="left"))
    low, high = float(values[at - 1]), float(values[at])
    for digits in range(1, 17):
        short = float(f"{cut:.{digits}g}")
        if low < short <= high:
            return short
    return high  # no floating-point number lies between these two


def shorten_cut(low: float, high: float, whole: bool = False) -> float:
    """Return a cut point between two numbers with few digits. `high` belongs to the upper state.

    Args:
        low: largest number of the lower state.
        high: smallest number of the upper state.
        whole: whether the cut point must be a whole number.

    >>> shorten_cut(2006, 2007, whole=True), shorten_cut(1.234, 1.31)
    (2007.0, 1.3)
    """
    middle = _between(low, high)
    for digits in range(1, 17):
        short = float(f"{middle:.{digits}g}")
        if low < short <= high and (not whole or short == np.floor(short)):
            return short
    return float(high)


def _clusters(values: Floats, weights: Floats, count: int) -> np.ndarray:
    """Return the index of the k-means cluster of each value. The initial means are quantiles, not random."""
    largest = float(np.abs(values).max())
    values = values / largest if largest > 1e150 else values  # avoid overflow of sums
    shares = (np.cumsum(weights) - weights / 2) / weights.sum()
    means = np.interp((np.arange(count) + 0.5) / count, shares, values)
    clusters = np.zeros(len(values), dtype=np.int64)
    for _ in range(_MAX_ITERATIONS):
        clusters = np.searchsorted((means[1:] + means[:-1]) / 2, values)
        total = np.bincount(clusters, weights, count)
        sums = np.bincount(clusters, weights * values, count)
        moved = np.sort(np.where(total > 0, sums / np.where(total > 0, total, 1.0), means))
        if np.allclose(moved, means, rtol=1e-12, atol=0.0):
            break
        means = moved
    return clusters


def state_names(cuts: Floats) -> list[str]:
    """Return the names of the states that are separated by cut points.

    Args:
        cuts: cut points, ascending.

    >>> state_names(np.array([2.5, 10.0]))
    ['below 2.5', '2.5 to 10', '10 and above']
    >>> state_names(np.array([np.nextafter(0.0, 1.0), 10.0]))
    ['up to 0', 'above 0 to 10', '10 and above']
    """
    if not len(cuts):
        return ["any"]
    below = [_value_below(cut) for cut in cuts]  # a number that the cut separates from all larger numbers
    texts = format_cuts([cut if value is None else value for cut, value in zip(cuts, below, strict=True)])
    names = [f"below {texts[0]}" if below[0] is None else f"up to {texts[0]}"]
    for at in range(1, len(cuts)):
        if below[at] is not None and below[at] == cuts[at - 1]:
            names.append(texts[at])
        else:
            start = texts[at - 1] if below[at - 1] is None else f"above {texts[at - 1]}"
            names.append(f"{start} to {texts[at]}")
    return [*names, f"{texts[-1]} and above" if below[-1] is None else f"above {texts[-1]}"]


def _value_below(cut: float) -> float | None:
    """Return the short number just below a cut point, if the cut separates it from all larger numbers; else None."""
    value = float(np.nextafter(cut, -np.inf))
    return value if len(repr(value)) + _SHORTER <= len(repr(float(cut))) else None


def _parse_interval(label: str) -> tuple[float, float] | None:
    """Return the pair (lowest number, end) of a state such as `2.5 to 10`. Both are equal for a state such as `3`.

    Return None if the name of the state is no interval.
    """
    match = _INTERVAL.fullmatch(label)
    if match is None:
        return None
    try:
        texts = match.groups()
        above = texts[2] is not None
        below, up_to, start, end, more = (None if text is None else float(text) for text in (*texts[:2], *texts[3:]))
    except ValueError:
        return None
    if below is not None:
        return -inf, below
    if up_to is not None:
        return -inf, float(np.nextafter(up_to, inf))
    if more is not None:
        return more, inf
    if start is None:
        return None
    low = float(np.nextafter(start, inf)) if above else start
    return low, (inf if above else low) if end is None else end


def format_cuts(cuts: Floats | Sequence[float]) -> list[str]:
    """Return cut points as text with all digits. Only very small or very large numbers have an exponent."""
    return [
        np.format_float_positional(cut, trim="-") if cut == 0 or 1e-5 <= abs(cut) < 1e15 else repr(float(cut))
        for cut in cuts
    ]


def parse_bins(given: str | Bins | Mapping[str, str | Bins] | None) -> dict[str, Bins]:
    """Return a mapping from column names to binning methods. The key `EVERY` holds the method for columns without an entry.

    Args:
        given: one method for all columns with many distinct numbers, or a mapping from column names to methods.
    """
    if given is None:
        return {}
    named: Mapping[str, str | Bins] = given if isinstance(given, Mapping) else {EVERY: given}
    return {name: bins if isinstance(bins, Bins) else Bins.parse(bins) for name, bins in named.items()}


def describe_cuts(name: str, bins: Bins, cuts: Floats, values: Floats) -> str:
    """Return a note about a binned column. The note lists states without rows, unless the states were declared.

    Args:
        name: name of the column.
        bins: binning method.
        cuts: cut points.
        values: distinct numbers in the column.

    >>> describe_cuts("age", Bins("quantile", 2), np.array([0.5]), np.array([0.0, 1.0]))
    'age: binned into 2 states (quantile), cut at 0.5'
    >>> describe_cuts("age", Bins("at", 2), np.array([18.0]), np.array([20.0, 30.0]))
    "age: binned into 2 states, cut at 18; no rows in 'below 18'"
    """
    occurs = np.bincount(np.searchsorted(cuts, values, side="right"), minlength=len(cuts) + 1) > 0
    unused = [repr(state) for state, used in zip(state_names(cuts), occurs, strict=True) if not used]
    method = "" if bins.kind == "at" else f" ({bins.kind})"
    text = f"{name}: binned into {len(cuts) + 1} states{method}, cut at {', '.join(format_cuts(cuts))}"
    return f"{text}; no rows in {first_few(unused)}" if unused and not bins.implied else text


def check_columns(where: str, bins: Mapping[str, Bins], names: Collection[str]) -> None:
    """Raise an error if `bins` has a method for a column that is not in `names`, the selected columns."""
    for name, method in bins.items():
        if name != EVERY and name not in names and not method.implied:
            columns = first_few([repr(column) for column in names])
            raise InputError(
                f"{where}: there are bins for {name!r}, but the selected columns are {columns}{hint(str(name), names)}"
            )
