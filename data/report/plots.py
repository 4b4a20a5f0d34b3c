"""Where the marks of the plots go. Templates draw them as inline SVG; nothing here knows about markup."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

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


MARKS = ("circle", "diamond", "square")
"""Of the series of a chart, in turn: shape as well as colour tells them apart."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A point of a chart with what it says. `ends`: top and bottom of its bar of uncertainty, empty without one."""

    x: float
    y: float
    label: str
    ends: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """One series of a chart: `strokes` are runs of neighbouring points, so a missing value is a gap, not a zero."""

    name: str
    strokes: tuple[str, ...]
    dots: tuple[Dot, ...]
    mark: str = MARKS[0]


@dataclass(frozen=True, slots=True)
class Chart:
    """Values over cycles. `levels` and `columns` are the labelled positions of the two axes."""

    title: str
    lines: tuple[Line, ...]
    levels: tuple[tuple[float, str], ...]
    columns: tuple[tuple[float, str], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """Values of one name, one a cycle; None where nothing was measured. `spreads`: half the length of each bar."""

    name: str
    values: Sequence[float | None]
    spreads: Sequence[float | None] = ()

    @property
    def reached(self) -> list[float]:
        """All values with the ends of their bars."""
        spreads = self.spreads or [None] * len(self.values)
        pairs = [(v, s or 0.0) for v, s in zip(self.values, spreads, strict=True) if v is not None]
        return [end for v, s in pairs for end in (v - s, v + s)]


class Axis(StrEnum):
    """What a vertical axis shows: a share, a difference around 0, an amount from 0 on, or any scale."""

    SHARE = "share"
    SIGNED = "signed"
    AMOUNT = "amount"
    SCALE = "scale"


def chart(
    title: str,
    cycles: Sequence[int],
    series: Sequence[Series],
    axis: Axis = Axis.SHARE,
    note: str = "",
    place: str = "cycle",
) -> Chart:
    """A chart of one to three series over cycle numbers, or over numbers of another `place`."""
    left, top, right, bottom = CHART_BOX
    low, high = _ends(axis, [v for each in series for v in each.reached])
    across = Scale(min(cycles), max(max(cycles), min(cycles) + 1), left + 6, right - 6)
    up = Scale(low, high, bottom, top)
    return Chart(
        title=title,
        lines=tuple(
            _line(s, [f"{place} {n}" for n in cycles], [across(n) for n in cycles], up, mark)
            for s, mark in zip(series, MARKS, strict=False)
        ),
        levels=tuple((up(v), _level(v)) for v in (low, (low + high) / 2, high)),
        columns=tuple((across(n), str(n)) for n in sorted({min(cycles), max(cycles)})),
        note=note,
    )


def _ends(axis: Axis, values: Sequence[float]) -> tuple[float, float]:
    """Where an axis begins and ends: round numbers with every value between them."""
    if axis is Axis.SHARE:
        return 0.0, 1.0
    if axis is Axis.SIGNED:
        largest = max((abs(v) for v in values), default=0.0)
        high = max(math.ceil(largest * 4 - 1e-9) / 4, 0.25)
        return -high, high
    low = 0.0 if axis is Axis.AMOUNT else min(values, default=0.0)
    high = max(values, default=1.0)
    step = _step(high - low)
    start = math.floor(low / step + 1e-9) * step
    return start, start + max(1, math.ceil((high - start) / step - 1e-9)) * step


def _step(span: float) -> float:
    """1, 2 or 5 times a power of ten, four to ten times in a span; 1 for no span."""
    if span <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(span))
    return power * next(factor for factor in (0.2, 0.5, 1.0) if span / power <= 8 * factor or factor == 1.0)


def _level(value: float) -> str:
    return f"{value:.4g}".replace("-", "\u2212")


def _line(series: Series, names: Sequence[str], places: Sequence[float], up: Scale, mark: str) -> Line:
    runs: list[list[Dot]] = [[]]
    spreads = series.spreads or [None] * len(names)
    for name, x, value, spread in zip(names, places, series.values, spreads, strict=True):
        if value is None:
            runs.append([])
            continue
        ends = () if spread is None else (up(value + spread), up(value - spread))
        said = f"{name}: {value:.3g}" if spread is None else f"{name}: {value:.3g} ± {spread:.2g}"
        runs[-1].append(Dot(x, up(value), said, ends))
    strokes = tuple(" ".join(f"{d.x},{d.y}" for d in run) for run in runs if len(run) > 1)
    return Line(series.name, strokes, tuple(d for run in runs for d in run), mark)
