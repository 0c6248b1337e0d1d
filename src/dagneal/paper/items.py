"""Items: a table or figure of the paper, as the runs it needs and the section that is made of their records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any, Literal

from dagneal.paper.records import Case, Records

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

Scale = Literal["quick", "paper"]
REPRODUCED, IN_SHAPE, NOT_REPRODUCED = "reproduced", "reproduced in shape", "not reproduced"
NOTHING = "—"


@dataclass(frozen=True)
class Table:
    """A table of a report.

    Attributes:
        caption: what it shows.
        head: the names of its columns.
        rows: its cells, as text.
    """

    caption: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Figure:
    """A figure of a report.

    Attributes:
        name: of its files.
        caption: what it shows.
        draw: draws it on an empty canvas.
        size: in inches.
    """

    name: str
    caption: str
    draw: Callable[[Canvas], None]
    size: tuple[float, float] = (6.4, 4.8)


@dataclass
class Section:
    """What is reported about an item.

    Attributes:
        verdict: whether the paper's figures were reproduced, by the item's rule.
        why: what speaks against it, where something does.
        tables: with the paper's figures beside ours.
        figures: likewise.
        notes: what else is to be known.
    """

    verdict: str
    why: str = ""
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Setting:
    """How an evaluation is run.

    Attributes:
        scale: `quick`, or `paper` for its own sizes, runs and reads.
        quantum: what stands for the quantum annealer: `qa`, the emulator, or `qpu`.
        sizes: the sizes of blocks that Tables 9 to 11 are run for; all of them by default.
    """

    scale: Scale = "quick"
    quantum: str = "qa"
    sizes: tuple[int, ...] = ()

    def choose(self, quick: Any, paper: Any) -> Any:
        """One of two values, by the scale.

        Args:
            quick: for the quick scale.
            paper: for the paper's.
        """
        return quick if self.scale == "quick" else paper

    @property
    def tiled(self) -> str:
        """The same with many blocks in a call."""
        return "tiled" if self.quantum == "qa" else "tiled-qpu"

    @property
    def annealer(self) -> str:
        """What to call the quantum annealer in a report."""
        return "QA, emulated" if self.quantum == "qa" else "QA"


@dataclass(frozen=True)
class Item:
    """A table or figure of the paper.

    Attributes:
        name: on the command line.
        number: of the paper's table or section.
        title: what it is about.
        rule: when it counts as reproduced, for a reader to check.
        cases: the runs that it needs.
        section: what is reported about them.
    """

    name: str
    number: str
    title: str
    rule: str
    cases: Callable[[Setting], list[Case]]
    section: Callable[[Records, Setting], Section]


def verdict(against_shape: Iterable[str], against_rest: Iterable[str]) -> tuple[str, str]:
    """The verdict by an item's rule, and why it is not better.

    Args:
        against_shape: what speaks against the part of the rule about the shape.
        against_rest: what speaks against the rest of it.
    """
    shape, rest = list(against_shape), list(against_rest)
    if not shape and not rest:
        return REPRODUCED, ""
    return (NOT_REPRODUCED if shape else IN_SHAPE), "; ".join(shape + rest)


def wilson(hits: float, runs: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's 95% interval of a share.

    Args:
        hits: how often it happened.
        runs: of how many.
        z: how wide.

    >>> [round(end, 2) for end in wilson(5, 10)]
    [0.24, 0.76]
    """
    share = hits / runs
    middle = share + z * z / (2 * runs)
    spread = z * sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    scale = 1 + z * z / runs
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def share(hits: float, runs: int) -> str:
    """A share with its interval, as text.

    Args:
        hits: how often it happened.
        runs: of how many.

    >>> share(5, 10)
    '0.50 (0.24-0.76)'
    """
    if not runs:
        return NOTHING
    low, high = wilson(hits, runs)
    return f"{hits / runs:.2f} ({low:.2f}-{high:.2f})"


def mean(values: Sequence[float]) -> float | None:
    """The mean, or nothing of nothing.

    Args:
        values: numbers.
    """
    return sum(values) / len(values) if values else None


def format_number(value: float | None, form: str = ".2f") -> str:
    """A number as text, or a dash where there is none.

    Args:
        value: the number.
        form: how it is written.

    >>> format_number(1.5), format_number(None)
    ('1.50', '—')
    """
    return NOTHING if value is None else format(value, form)


def format_numbers(values: Sequence[float | None], form: str = "") -> str:
    """Numbers as text, one after the other.

    Args:
        values: the numbers.
        form: how each is written.
    """
    return " ".join(format_number(value, form) for value in values) if values else NOTHING
