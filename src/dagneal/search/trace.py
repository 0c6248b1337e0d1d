"""The trace of a search: the best score and the proved bound at each moment, and the reason for an early end."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TracePoint:
    """The state of a search at one moment.

    Attributes:
        seconds: seconds since the start of the search.
        score: log score of the best network so far.
        stage: stage of the search.
        bound: proved upper bound on the score, for the parent limit of the search; None if none is known yet.
    """

    seconds: float
    score: float
    stage: str
    bound: float | None = None


def stop_reason(error: BaseException) -> str:
    """Return the reason why a search ended early: `"interrupt"` for Ctrl-C, `"time"` for the deadline.

    Args:
        error: exception that ended the search.
    """
    return "interrupt" if isinstance(error, KeyboardInterrupt) else "time"
