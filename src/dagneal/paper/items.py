"""Items: tables, figures and sections of the paper. An item lists its runs and turns their records into a report section."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import floor, inf, log10, sqrt
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING, Any, Literal

from dagneal.paper.records import Case, Records

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

Scale = Literal["quick", "paper"]
REPRODUCED, IN_SHAPE, NOT_REPRODUCED = "reproduced", "reproduced in shape", "not reproduced"
NOT_CONTRADICTED = "not contradicted"  # tests find no difference, but would miss a large one
NOT_JUDGED = "not judged"  # the values were fitted to the paper's
DASH = "—"


@dataclass(frozen=True)
class Table:
    """A table of a report.

    Attributes:
        caption: description of the table.
        head: column names.
        rows: rows of cells, as text.
    """

    caption: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Figure:
    """A figure of a report.

    Attributes:
        name: file name without extension.
        caption: description of the figure.
        draw: function that draws the figure on an empty canvas.
        size: width and height in inches.
    """

    name: str
    caption: str
    draw: Callable[[Canvas], None]
    size: tuple[float, float] = (6.4, 4.8)


@dataclass
class Section:
    """The part of a report about one item.

    Attributes:
        verdict: result of the item's rule: `reproduced`, `reproduced in shape`, `not contradicted`, `not reproduced` or
            `not judged`.
        why: reasons why the verdict is not better; empty if the verdict is `reproduced`.
        tables: tables that compare the paper's values with ours.
        figures: figures that compare the paper's values with ours.
        notes: further remarks, one paragraph each.
        basis: addition to the verdict, such as `emulated`; empty if the verdict needs none.
    """

    verdict: str
    why: str = ""
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    basis: str = ""


@dataclass(frozen=True)
class Setting:
    """The options of an evaluation.

    Attributes:
        scale: `quick`, or `paper` for the paper's sizes, runs and reads.
        quantum: quantum annealer to use: `qa` (emulator) or `qpu` (D-Wave's).
        sizes: subproblem sizes k to run for Tables 9 to 11; empty for all sizes.
    """

    scale: Scale = "quick"
    quantum: str = "qa"
    sizes: tuple[int, ...] = ()

    def choose(self, quick: Any, paper: Any) -> Any:
        """Return one of two values, depending on the scale.

        Args:
            quick: value for the quick scale.
            paper: value for the paper's scale.
        """
        return quick if self.scale == "quick" else paper

    @property
    def tiled(self) -> str:
        """Name of the solver for many subproblems per call: `tiled` (emulator) or `tiled-qpu` (D-Wave's)."""
        return "tiled" if self.quantum == "qa" else "tiled-qpu"

    @property
    def quantum_runs(self) -> int:
        """Number of runs of quantum annealing in Tables 9 to 11. With D-Wave's annealer, as many as in the paper."""
        return 10 if self.scale == "paper" and self.quantum == "qa" else 5

    @property
    def emulated(self) -> str:
        """Addition to verdicts that rest on quantum annealing: `emulated`, or nothing for D-Wave's annealer."""
        return "emulated" if self.quantum == "qa" else ""

    @property
    def annealer(self) -> str:
        """Name of the quantum annealer in reports: `QA, emulated` or `QA`."""
        return "QA, emulated" if self.quantum == "qa" else "QA"


@dataclass(frozen=True)
class Item:
    """A table, figure or section of the paper.

    Attributes:
        name: name on the command line.
        number: the paper's number, such as `Table 5`.
        title: topic in a few words.
        rule: text that states the conditions of each verdict.
        cases: function that returns the runs that the item needs.
        section: function that turns records into a section of the report.
    """

    name: str
    number: str
    title: str
    rule: str
    cases: Callable[[Setting], list[Case]]
    section: Callable[[Records, Setting], Section]


def verdict(against_shape: Iterable[str], against_rest: Iterable[str], weaker: str = IN_SHAPE) -> tuple[str, str]:
    """Return a tuple: the verdict, and the reasons why it is not better.

    Args:
        against_shape: descriptions of failed conditions that the weaker verdict requires.
        against_rest: descriptions of failed conditions that only `reproduced` requires.
        weaker: verdict between `reproduced` and `not reproduced`.
    """
    shape, rest = list(against_shape), list(against_rest)
    if not shape and not rest:
        return REPRODUCED, ""
    return (NOT_REPRODUCED if shape else weaker), "; ".join(shape + rest)


def wilson_interval(hits: float, runs: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's confidence interval for a share of successes.

    Args:
        hits: number of successes.
        runs: number of trials.
        z: normal quantile; 1.96 gives a 95% interval.

    >>> [round(end, 2) for end in wilson_interval(5, 10)]
    [0.24, 0.76]
    """
    share = hits / runs
    middle = share + z * z / (2 * runs)
    spread = z * sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    scale = 1 + z * z / runs
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def format_share(hits: float, runs: int) -> str:
    """Return a share of successes and its 95% interval as text, or a dash if there are no trials.

    Args:
        hits: number of successes.
        runs: number of trials.

    >>> format_share(5, 10)
    '0.50 (0.24-0.76)'
    """
    if not runs:
        return DASH
    low, high = wilson_interval(hits, runs)
    return f"{hits / runs:.2f} ({low:.2f}-{high:.2f})"


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, or None if there are no values.

    Args:
        values: numbers to average.
    """
    return sum(values) / len(values) if values else None


def format_number(value: float | None, form: str = ".2f") -> str:
    """Return a number as text, or a dash for None.

    Args:
        value: number to format.
        form: Python format specification.

    >>> format_number(1.5), format_number(None)
    ('1.50', '—')
    """
    return DASH if value is None else format(value, form)


def format_numbers(values: Sequence[float | None], form: str = "") -> str:
    """Return numbers as text, separated by spaces, or a dash if there are none.

    Args:
        values: numbers to format.
        form: Python format specification for each number.
    """
    return " ".join(format_number(value, form) for value in values) if values else DASH


def format_rounded(value: float, digits: int = 2) -> str:
    """Return a positive number with few significant digits.

    Args:
        value: number to format.
        digits: number of significant digits.

    >>> format_rounded(28383.0), format_rounded(0.00153), format_rounded(5.63)
    ('28,000', '0.0015', '5.6')
    """
    if not value:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    return f"{rounded:,.{max(0, digits - 1 - floor(log10(abs(rounded))))}f}"


def format_spread(values: Sequence[float], form: str = "") -> str:
    """Return the mean of numbers, and in parentheses their standard deviation. Return a dash if there are no numbers.

    Args:
        values: numbers to summarise.
        form: Python format specification; without it, the mean has two significant digits, and the deviation one.

    >>> format_spread([0.96, 0.98], ".3f"), format_spread([0.0015, 0.0017]), format_spread([2.0], ".1f")
    ('0.970 (0.014)', '0.0016 (0.0001)', '2.0')
    """
    if not values:
        return DASH
    numbers = [fmean(values), *([stdev(values)] if len(values) > 1 else [])]
    if form:
        first, *rest = [format(number, form) for number in numbers]
    else:
        first, *rest = [format_rounded(number, digits) for number, digits in zip(numbers, (2, 1), strict=False)]
    return f"{first} ({rest[0]})" if rest else first


def format_range(values: Sequence[float | None], form: str = ".0f") -> str:
    """Return the median of numbers, and in parentheses the smallest and the largest. None counts as infinite.

    Args:
        values: numbers to summarise.
        form: Python format specification for each number.

    >>> format_range([3.0, 1.0, 2.0]), format_range([])
    ('2 (1 to 3)', '—')
    """
    ordered = sorted(inf if value is None else value for value in values)
    if not ordered:
        return DASH
    middle, low, high = (
        DASH if value == inf else format(value + 0.0, form) for value in (median(ordered), ordered[0], ordered[-1])
    )
    return f"{middle} ({low} to {high})" if len(ordered) > 1 else middle
