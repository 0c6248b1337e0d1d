"""SVG plot of a search: the best score over time, the stages and the proved upper bound.

The vertical axis shows the difference from the final score. Its scale is linear near 0 and logarithmic beyond 1 nat, because
the first steps of a search gain thousands of nats and the last steps less than 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from math import ceil, copysign, floor, log1p, log10

from dagneal.search.trace import TracePoint

_WIDTH, _HEIGHT = 640, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 630, 44, 196  # area of the curve
_BAND = 18  # height of the band below the curve that names the stages
_LETTER = 6.6  # width of a letter
_LINE = 14  # smallest distance between the labels of the vertical axis
_DECADES = 2  # the time axis is logarithmic if it spans more powers of ten


def trace_svg(trace: Sequence[TracePoint], end: float) -> str:
    """Return a plot of the best score over time as SVG.

    Args:
        trace: at least two points of a search.
        end: seconds from the start to the end of the search. The last points may be much earlier.
    """
    first, final, bound = trace[0], trace[-1].score, trace[-1].bound
    times, scores = _TimeAxis([*(point.seconds for point in trace), end]), _ScoreAxis(trace)
    summary = f"The best log score is {first.score:,.3f} after {first.seconds:.3g} s and {final:,.3f} at the end."
    grid = [*map(scores.grid_line, scores.ticks()), *map(times.grid_line, times.ticks())]
    marks = [f'<text x="{_RIGHT}" y="{scores.y(final) + 16:.1f}" text-anchor="end">final score {final:,.3f}</text>']
    if bound is not None:
        text = "highest score (proved)" if bound <= final else f"upper bound {bound:,.3f}"
        summary += f" {text[0].upper()}{text[1:]}."
        marks.append(_bound_line(scores.y(bound), text))
    corners = "".join(f"H{times.x(point.seconds):.1f}V{scores.y(point.score):.1f}" for point in trace[1:])
    curve = f"M{times.x(first.seconds):.1f} {scores.y(first.score):.1f}{corners}H{_RIGHT}"
    dots = [
        f'<circle cx="{times.x(point.seconds):.1f}" cy="{scores.y(point.score):.1f}" r="3" fill="var(--accent)">'
        f"<title>{point.seconds:.3g} s: log score {point.score:,.3f}, stage {escape(point.stage)}</title></circle>"
        for point in trace
        if point.bound is None or point is trace[-1]  # while a bound falls, the score seldom changes
    ]
    parts = [
        f'<svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-labelledby="trace-title trace-summary">',
        f'<title id="trace-title">Best log score over time</title><desc id="trace-summary">{summary}</desc>',
        *grid,
        *_stage_band(trace, times),
        *marks,
        f'<path d="{curve}" fill="none" stroke="var(--accent)" stroke-width="2"/>',
        _bound_curve(trace, times, scores),
        *dots,
        '<text x="4" y="14">log score minus final log score, in nats</text>',
        f'<text x="{_RIGHT}" y="{_HEIGHT - 6}" text-anchor="end">seconds</text></svg>',
    ]
    return "".join(parts)


def group_stages(trace: Sequence[TracePoint]) -> list[list[TracePoint]]:
    """Return the points of each stage, in the order of the trace. A stage that occurs twice has two lists.

    Args:
        trace: points of a search.
    """
    return [list(points) for _, points in groupby(trace, key=lambda point: point.stage)]


class _TimeAxis:
    """The horizontal axis: linear from 0, or logarithmic if the times span several powers of ten."""

    def __init__(self, seconds: Sequence[float]) -> None:
        low, high = min(seconds), max(seconds)
        self._log = low > 0 and log10(high / low) > _DECADES
        self._low, high = (log10(low), log10(high)) if self._log else (min(low, 0.0), high)
        self._span = max(high - self._low, 1e-6)

    def x(self, seconds: float) -> float:
        """Return the position of a time."""
        value = log10(seconds) if self._log else seconds
        return _LEFT + (value - self._low) / self._span * (_RIGHT - _LEFT)

    def ticks(self) -> list[float]:
        """Return the times to label: powers of ten, or at most six multiples of a round number."""
        high = self._low + self._span
        if self._log:
            return [10.0**power for power in range(ceil(self._low), floor(high) + 1)]
        power = 10.0 ** floor(log10(self._span))
        step = next(power * factor for factor in (2, 1, 0.5, 0.2) if self._span >= 2.4 * power * factor)
        return [step * number for number in range(ceil(self._low / step), floor(high / step) + 1)]

    def grid_line(self, seconds: float) -> str:
        """Return the vertical line of a time, with its label."""
        x, below = self.x(seconds), _BOTTOM + _BAND
        line = f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{below}" stroke="var(--line)"/>'
        return f'{line}<text x="{x:.1f}" y="{below + 16}" text-anchor="middle">{seconds:g}</text>'


class _ScoreAxis:
    """The vertical axis: differences from the final score, with a logarithmic scale beyond 1 nat."""

    def __init__(self, trace: Sequence[TracePoint]) -> None:
        self._final = trace[-1].score
        shown = [point.score for point in trace] + [point.bound for point in trace if point.bound is not None]
        self._differences = [score - self._final for score in shown]
        low, high = (_compress(function(self._differences)) for function in (min, max))
        self._low, self._span = low, high - low or 1.0

    def y(self, score: float) -> float:
        """Return the position of a score."""
        return _BOTTOM - (_compress(score - self._final) - self._low) / self._span * (_BOTTOM - _TOP)

    def ticks(self) -> Iterator[float]:
        """Yield the differences to label: 0, and powers of ten that are far enough apart."""
        yield 0.0
        for most in (min(self._differences), max(self._differences)):
            last = self.y(self._final)
            for power in range(floor(log10(abs(most))) + 1 if abs(most) >= 1 else 0):
                difference = copysign(10.0**power, most)
                if abs(self.y(self._final + difference) - last) >= _LINE:
                    last = self.y(self._final + difference)
                    yield difference

    def grid_line(self, difference: float) -> str:
        """Return the horizontal line of a difference, with its label."""
        y, label = self.y(self._final + difference), f"{difference:+,.0f}" if difference else "0"
        line = f'<line x1="{_LEFT}" x2="{_RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--line)"/>'
        return f'{line}<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'


def _compress(difference: float) -> float:
    """Return a difference on a scale that is linear near 0 and logarithmic beyond 1."""
    return copysign(log1p(abs(difference)), difference)


def _bound_curve(trace: Sequence[TracePoint], times: _TimeAxis, scores: _ScoreAxis) -> str:
    """Return the curve of a falling upper bound; an empty text if there are not two bounds."""
    places = [(times.x(point.seconds), scores.y(point.bound)) for point in trace if point.bound is not None]
    if len(places) < 2:
        return ""
    corners = "".join(f"H{x:.1f}V{y:.1f}" for x, y in places[1:])
    return f'<path d="M{places[0][0]:.1f} {places[0][1]:.1f}{corners}" fill="none" stroke="var(--red)" stroke-width="1.5"/>'


def _bound_line(y: float, text: str) -> str:
    """Return the dashed line of the upper bound, with its label."""
    line = f'<line x1="{_LEFT}" x2="{_RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--red)" stroke-dasharray="6 4"/>'
    return f'{line}<text x="{_RIGHT}" y="{y - 6:.1f}" text-anchor="end">{text}</text>'


def _stage_band(trace: Sequence[TracePoint], times: _TimeAxis) -> Iterator[str]:
    """Yield a box for each stage, from the end of the stage before to its last improvement. A wide box has a name."""
    begin = float(_LEFT)
    for number, points in enumerate(group_stages(trace)):
        end, name = times.x(points[-1].seconds), escape(points[0].stage)
        colour = "var(--panel)" if number % 2 else "var(--back)"
        yield (
            f'<rect x="{begin:.1f}" y="{_BOTTOM}" width="{max(end - begin, 0.0):.1f}" height="{_BAND}" fill="{colour}" '
            f'stroke="var(--line)"><title>stage {name}: last improvement after {points[-1].seconds:.3g} s</title></rect>'
        )
        if end - begin > _LETTER * len(points[0].stage):
            yield f'<text x="{(begin + end) / 2:.1f}" y="{_BOTTOM + 13}" text-anchor="middle">{name}</text>'
        begin = end
