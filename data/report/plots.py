"""Where the marks of the plots go. Templates draw them as inline SVG; nothing here knows about markup."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 200
"""Of the small plots in a table row, in SVG units; one unit is a CSS pixel."""
EDGE = 8
CHART = (340, 150)
CHART_BOX = (36, 10, 328, 124)
"""Left, top, right and bottom of a chart's plotting area."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A straight map from values to positions. Values beyond its ends are drawn at the ends."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        kept = min(max(value, self.low), self.high)
        return round(self.start + (kept - self.low) / (self.high - self.low) * (self.end - self.start), 1)


RATES = Scale(0.0, 1.0, EDGE, WIDTH - EDGE)
"""Win rates in a table row."""
REGRETS = Scale(-1.0, 1.0, EDGE, WIDTH - EDGE)
"""Regrets in a table row: returns lie in [0, 1], so their difference lies in [-1, 1]."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A point of a chart with what it says."""

    x: float
    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Line:
    """One series of a chart: `strokes` are runs of neighbouring points, so a missing value is a gap, not a zero."""

    name: str
    strokes: tuple[str, ...]
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """Values over cycles. `levels` and `columns` are the labelled positions of the two axes."""

    title: str
    lines: tuple[Line, ...]
    levels: tuple[tuple[float, str], ...]
    columns: tuple[tuple[float, str], ...]


def chart(
    title: str, cycles: Sequence[int], series: Sequence[tuple[str, Sequence[float | None]]], *, signed: bool = False
) -> Chart:
    """A chart of one or two series over cycle numbers. Shares run from 0 to 1, signed values as far as they need."""
    left, top, right, bottom = CHART_BOX
    high = _reach([v for _, values in series for v in values]) if signed else 1.0
    low = -high if signed else 0.0
    across = Scale(min(cycles), max(max(cycles), min(cycles) + 1), left + 6, right - 6)
    up = Scale(low, high, bottom, top)
    middle = (low + high) / 2
    return Chart(
        title=title,
        lines=tuple(_line(name, cycles, values, across, up) for name, values in series),
        levels=tuple((up(v), f"{v:g}".replace("-", "\u2212")) for v in (low, middle, high)),
        columns=tuple((across(n), str(n)) for n in sorted({min(cycles), max(cycles)})),
    )


def _reach(values: Sequence[float | None]) -> float:
    """The end of a symmetrical axis: the next quarter above the largest value."""
    largest = max((abs(v) for v in values if v is not None), default=0.0)
    return max(math.ceil(largest * 4 - 1e-9) / 4, 0.25)


def _line(name: str, cycles: Sequence[int], values: Sequence[float | None], across: Scale, up: Scale) -> Line:
    runs: list[list[Dot]] = [[]]
    for number, value in zip(cycles, values, strict=True):
        if value is None:
            runs.append([])
        else:
            runs[-1].append(Dot(across(number), up(value), f"cycle {number}: {value:.2f}"))
    strokes = tuple(" ".join(f"{d.x},{d.y}" for d in run) for run in runs if len(run) > 1)
    return Line(name, strokes, tuple(d for run in runs for d in run))
