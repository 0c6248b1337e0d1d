"""Discretising: cut points that turn a column of numbers into a few states, whose names tell them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

import numpy as np

from dagneal.base.errors import InputError, some, whole_number
from dagneal.base.kernels import Floats
from dagneal.data.dataset import MISSING_STATE, MOST_STATES, OTHER_STATE

KINDS = ("quantile", "uniform", "kmeans")
_ROUNDS = 100  # of k-means, which converges long before
SPECIAL = (MISSING_STATE, OTHER_STATE)  # states beside those that cuts make
EVERY = ""  # in a mapping of bins: all columns of many numbers


@dataclass(frozen=True)
class Bins:
    """How a column is cut.

    Args:
        kind: `quantile` (about equal numbers of rows), `uniform` (equal widths), `kmeans` (around the means of clusters) or
            `at` (where the user says).
        count: into how many states.
        at: where, if the user says so.
        implied: the cuts are those of declared states; a column that has no numbers may hold the states themselves.

    >>> Bins.parse("quantile:4").count, Bins.parse("at:18,65").at
    (4, (18.0, 65.0))
    """

    kind: str
    count: int
    at: tuple[float, ...] = ()
    implied: bool = False

    @classmethod
    def parse(cls, text: str) -> Bins:
        """Bins from a few letters, such as `quantile:4`.

        Args:
            text: the kind, a colon and the number of states; or `at:` and where to cut.
        """
        kind, _, count = str(text).partition(":")
        if kind == "at":
            return cls._at(text, count.split(","))
        if kind not in KINDS or not re.fullmatch(r"\s*[0-9]{1,9}\s*", count):
            raise InputError(f"bins are {text!r}; give quantile:4, uniform:5, kmeans:3, at:18,65 or the like")
        number = whole_number("the number of bins", int(count), least=2)
        if number > MOST_STATES:
            raise InputError(f"bins are {text!r}; at most {MOST_STATES:,} states are possible")
        return cls(kind, number)

    @classmethod
    def _at(cls, text: str, given: Sequence[str]) -> Bins:
        try:
            where = tuple(float(cut) for cut in given)
        except ValueError:
            where = ()
        if not where or not all(map(isfinite, where)) or any(low >= high for low, high in pairwise(where)):
            raise InputError(f"bins are {text!r}; give ascending numbers such as at:18,65")
        return cls("at", len(where) + 1, where)

    @classmethod
    def of_states(cls, states: Sequence[str]) -> Bins | None:
        """The cuts that the names of states tell, so that a network's own states can be found in new numbers.

        Args:
            states: of a column, as `state_names` gives them; other names tell no cuts.

        >>> Bins.of_states(["below 2.5", "2.5 to 10", "10 and above"]).at
        (2.5, 10.0)
        >>> Bins.of_states(["low", "high"])
        """
        states = [str(state) for state in states if state not in SPECIAL]
        given = [state.partition(" to ")[0] for state in states[1:-1]]
        try:
            where = [float(text) for text in (*given, states[-1].removesuffix(" and above"))]
        except (ValueError, IndexError):
            return None
        ascending = all(low < high for low, high in pairwise(where))
        if len(states) < 2 or not ascending or state_names(np.array(where)) != list(states):
            return None
        return cls("at", len(states), tuple(where), implied=True)

    def cuts(self, values: Floats, weights: Floats) -> Floats:
        """Where to cut: ascending, a value at a cut lies above it; fewer cuts than asked for where values repeat.

        There is at least one cut if there are two values. Where one value is so frequent that no quantile separates it from
        the others, the cut is the one that makes both sides most equal in rows.

        Args:
            values: different numbers, ascending.
            weights: how often each occurs.

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
            scale = 1.0 if isfinite(float(values[-1]) - float(values[0])) else 0.5  # the range may be too wide for a number
            wanted = np.linspace(values[0] * scale, values[-1] * scale, self.count + 1)[1:-1] / scale
            return np.unique([_short(cut, values) for cut in wanted if values[0] < cut <= values[-1]])
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
    """Return the mean of two numbers, whose sum may be too large for floating point."""
    mean = (low + high) / 2
    return mean if isfinite(mean) else low / 2 + high / 2


def _short(cut: float, values: Floats) -> float:
    """The number with fewest digits that cuts values where this one does."""
    at = int(np.searchsorted(values, cut, side="left"))
    low, high = float(values[at - 1]), float(values[at])
    for digits in range(1, 17):
        short = float(f"{cut:.{digits}g}")
        if low < short <= high:
            return short
    return high  # two numbers that are neighbours in floating point


def _clusters(values: Floats, weights: Floats, count: int) -> np.ndarray:
    """The cluster of each value: Lloyd's iteration on a line, begun at quantiles, so without chance."""
    largest = float(np.abs(values).max())
    values = values / largest if largest > 1e150 else values  # sums must stay finite
    shares = (np.cumsum(weights) - weights / 2) / weights.sum()
    means = np.interp((np.arange(count) + 0.5) / count, shares, values)
    belongs = np.zeros(len(values), dtype=np.int64)
    for _ in range(_ROUNDS):
        belongs = np.searchsorted((means[1:] + means[:-1]) / 2, values)
        total = np.bincount(belongs, weights, count)
        sums = np.bincount(belongs, weights * values, count)
        moved = np.sort(np.where(total > 0, sums / np.where(total > 0, total, 1.0), means))
        if np.allclose(moved, means, rtol=1e-12, atol=0.0):
            break
        means = moved
    return belongs


def state_names(cuts: Floats) -> list[str]:
    """The names of the states between cuts.

    Args:
        cuts: ascending.

    >>> state_names(np.array([2.5, 10.0]))
    ['below 2.5', '2.5 to 10', '10 and above']
    """
    texts = format_cuts(cuts)
    if not texts:
        return ["any"]
    between = [f"{low} to {high}" for low, high in pairwise(texts)]
    return [f"below {texts[0]}", *between, f"{texts[-1]} and above"]


def format_cuts(cuts: Floats) -> list[str]:
    """Cuts as text, all their digits, without exponents where that is readable."""
    return [
        np.format_float_positional(cut, trim="-") if cut == 0 or 1e-5 <= abs(cut) < 1e15 else repr(float(cut))
        for cut in cuts
    ]


def bins_of(given: str | Bins | Mapping[str, str | Bins] | None) -> dict[str, Bins]:
    """Bins by column; those for all columns of many numbers under an empty name.

    Args:
        given: one for all, or by column.
    """
    if given is None:
        return {}
    named: Mapping[str, str | Bins] = given if isinstance(given, Mapping) else {EVERY: given}
    return {name: bins if isinstance(bins, Bins) else Bins.parse(bins) for name, bins in named.items()}


def describe_cuts(name: str, bins: Bins, cuts: Floats, values: Floats) -> str:
    """What was done to a column, in words; states that no row shows are named, unless they are those of a network.

    Args:
        name: the column.
        bins: how it was cut.
        cuts: where it was cut.
        values: its numbers.

    >>> describe_cuts("age", Bins("quantile", 2), np.array([0.5]), np.array([0.0, 1.0]))
    'age: 2 states (quantile), cut at 0.5'
    >>> describe_cuts("age", Bins("at", 2), np.array([18.0]), np.array([20.0, 30.0]))
    "age: 2 states (at), cut at 18; no row shows 'below 18'"
    """
    shown = np.bincount(np.searchsorted(cuts, values, side="right"), minlength=len(cuts) + 1) > 0
    unseen = [repr(state) for state, seen in zip(state_names(cuts), shown, strict=True) if not seen]
    text = f"{name}: {len(cuts) + 1} states ({bins.kind}), cut at {', '.join(format_cuts(cuts))}"
    return f"{text}; no row shows {some(unseen)}" if unseen and not bins.implied else text


def check_columns(where: str, bins: Mapping[str, Bins], names: Collection[str]) -> None:
    """Refuse bins for a column that is not there."""
    for name, how in bins.items():
        if name != EVERY and name not in names and not how.implied:
            raise InputError(f"{where}: bins are given for {name!r}, which is not a column")
