"""Loss curves as small charts: plain numbers and path strings that the template draws as SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass

from nho.problem.solution import Curve

WIDTH, HEIGHT = 380, 220  # of a chart, in its own units
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 34  # margins

_LOG_FROM = 20  # a logarithmic axis pays when the values span more than this factor
_LOG_DEPTH = 1e-6  # values below this share of the largest are drawn on the bottom edge


@dataclass(frozen=True)
class Line:
    """One curve: its name, its SVG path, and its only point if there is just one."""

    name: str
    path: str
    dot: tuple[float, float] | None
    last: float


@dataclass(frozen=True)
class Chart:
    """One stage; ticks are (position, text) pairs."""

    title: str
    x_label: str
    logarithmic: bool
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    lines: list[Line]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


def charts(curves: dict[str, Curve]) -> list[Chart]:
    """A chart for every stage that has at least one finite value."""
    drawn = (_chart(stage, rows) for stage, rows in curves.items())
    return [chart for chart in drawn if chart is not None]


def _chart(stage: str, rows: Curve) -> Chart | None:
    names = list(dict.fromkeys(name for row in rows for name in row if name != "dimension"))
    by_dimension = bool(rows) and all("dimension" in row for row in rows)
    xs = [float(row["dimension"]) if by_dimension else float(i + 1) for i, row in enumerate(rows)]
    series = {
        name: [
            (x, float(row[name]))
            for x, row in zip(xs, rows, strict=True)
            if name in row and math.isfinite(row[name])
        ]
        for name in names
    }
    series = {name: points for name, points in series.items() if points}
    if not series:
        return None
    values = [y for points in series.values() for _, y in points]
    low, high, logarithmic = _range(values)
    x_low, x_high = min(xs), max(xs)

    def place_x(x: float) -> float:
        share = (x - x_low) / (x_high - x_low) if x_high > x_low else 0.5
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def place_y(y: float) -> float:
        if logarithmic:
            share = math.log(max(y, low) / low) / math.log(high / low)
        else:
            share = (y - low) / (high - low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    lines = []
    for name, points in series.items():
        placed = [(place_x(x), place_y(y)) for x, y in points]
        path = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        lines.append(Line(name, path, placed[0] if len(placed) == 1 else None, points[-1][1]))
    y_values = _decades(low, high) if logarithmic else _round_steps(low, high, 4)
    x_values = [x for x in _round_steps(x_low, x_high, 5) if x == int(x)] or [x_low]
    return Chart(
        title=stage,
        x_label="spectral dimension" if by_dimension else "step",
        logarithmic=logarithmic,
        x_ticks=[(place_x(x), f"{x:g}") for x in x_values],
        y_ticks=[(place_y(y), f"{y:g}") for y in y_values],
        lines=lines,
    )


def _range(values: list[float]) -> tuple[float, float, bool]:
    """Limits of the vertical axis, and whether it is logarithmic."""
    low, high = min(values), max(values)
    positive = [value for value in values if value > 0]
    if low >= 0 and positive and high > _LOG_FROM * min(positive):
        return max(min(positive), _LOG_DEPTH * high), high, True
    if high > low:
        margin = 0.05 * (high - low)
        return low - margin if low < 0 else max(low - margin, 0), high + margin, False
    return (low - abs(low) / 2, high + abs(high) / 2, False) if high else (0.0, 1.0, False)


def _decades(low: float, high: float) -> list[float]:
    """Powers of ten inside the limits, at most about five."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    stride = max(1, math.ceil((last - first + 1) / 5))
    return [10.0**power for power in range(first, last + 1, stride)]


def _round_steps(low: float, high: float, count: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten inside the limits, about ``count`` of them."""
    if not high > low:
        return [low]
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) if step > 1e-9 else i * step for i in range(first, last + 1)]
