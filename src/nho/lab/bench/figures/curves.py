"""Figures of results, drawn by matplotlib without a display, as SVG, PDF and PNG.

Their one style is in `plotstyle`. Every function returns a figure; `save` writes its files.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nho.evaluation.metrics import success_curve
from nho.lab.bench.figures.plotstyle import (
    BLUE,
    GREY,
    VERMILION,
    method_styles,
    ordered_styles,
    panel_grid,
    per_row,
    shared_legend,
    styled,
)
from nho.lab.bench.scores import PCK_THRESHOLDS
from nho.lab.bench.statistics import Difference, band
from nho.lab.bench.tabular import Cell

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Panels = Mapping[str, Mapping[str, np.ndarray]]


@dataclass(frozen=True)
class Series:
    """A line of points: values with their intervals against numbers (such as anchors)."""

    name: str
    at: tuple[float, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Effects:
    """What variants change in one score: variant minus default, by the variant's name."""

    title: str
    better: str  # "low" or "high"
    differences: Mapping[str, Difference]


@styled
def success_figure(panels: Panels, ordered: bool = False) -> Figure:
    """Share of pairs that exceed each IoU.

    Parameters
    ----------
    panels : {panel title: {method: (pairs,) IoU in percent}}
    ordered : bool
        Lines are steps of one quantity (anchors, faces) and take steps of one colour scale.
    """
    thresholds = np.linspace(0, 100, 201)
    # One row a pair: its mean over pairs is the curve, so pairs can be drawn anew for the band.
    shares = {
        title: {
            name: np.array([success_curve(np.array([iou]), thresholds) for iou in ious]) * 100
            for name, ious in lines.items()
        }
        for title, lines in panels.items()
    }
    return _curves(shares, thresholds, ("IoU above (%)", "pairs (%)"), ordered)


@styled
def pck_figure(panels: Panels, ordered: bool = False) -> Figure:
    """Share of vertices within each error.

    Parameters
    ----------
    panels : {panel title: {method: (pairs, 50) shares in percent at `PCK_THRESHOLDS`}}
    ordered : bool
        As for `success_figure`.
    """
    labels = ("geodesic error up to (×100)", "vertices (%)")
    return _curves(panels, PCK_THRESHOLDS, labels, ordered)


@styled
def budget_figure(
    panels: Mapping[str, Sequence[Series]],
    label: str = "anchors",
    logarithmic: bool = True,
) -> Figure:
    """Scores against a number: one panel a score, one line a method.

    Parameters
    ----------
    panels : {name of the score, with its unit: lines}
    label : str
        What the numbers are.
    """
    names = dict.fromkeys(line.name for lines in panels.values() for line in lines)
    looks = method_styles(names)
    figure, axes = panel_grid(len(panels), 0.8)
    for ax, (title, lines) in zip(axes, panels.items(), strict=True):
        for line in lines:
            values = np.array([cell.value for cell in line.cells])
            half = np.array([cell.half_width for cell in line.cells])
            half = np.nan_to_num(half)  # no interval, no bar
            bars = {"yerr": half, "capsize": 2, "elinewidth": 0.8}
            ax.errorbar(line.at, values, label=line.name, **bars, **looks[line.name])
        ax.set(xlabel=label, ylabel=title)
        _number_axis(ax, sorted({x for line in lines for x in line.at}), logarithmic)
        known = [c.value for line in lines for c in line.cells if not math.isnan(c.value)]
        least = min(known, default=-1.0)
        if 0 <= least < 0.4 * ax.get_ylim()[1]:
            ax.set_ylim(bottom=0)  # near enough to show how large the values are
    shared_legend(figure, axes, names)
    return figure


@styled
def forest_figure(panels: Sequence[Effects]) -> Figure:
    """Differences to the default with their 95 % intervals: a row a variant, a panel a score.

    An interval that holds zero is grey and hollow; else blue = better, vermilion = worse.
    """
    names = list(dict.fromkeys(name for panel in panels for name in panel.differences))
    room = max(map(len, names), default=0) * 0.055  # inches; about the width of a letter
    height = 0.5 + 0.21 * len(names)
    figure, axes = panel_grid(len(panels), 1.0, height, sharey=True, margin=room)
    for ax, panel in zip(axes, panels, strict=True):
        ax.axvline(0, color="0.35", linewidth=0.8, zorder=1)
        for row, name in enumerate(names):
            if name in panel.differences:
                _draw_difference(ax, row, panel.differences[name], panel.better)
        left, right = ("better", "worse") if panel.better == "low" else ("worse", "better")
        ax.set(title=panel.title, xlabel=f"← {left}          {right} →")
        ax.grid(axis="y", visible=False)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.margins(x=0.08)
    if len(axes):
        figure.supxlabel(
            "difference to the default with its 95 % interval (grey: zero is inside)", fontsize=8
        )
        axes[0].set_yticks(range(len(names)), names)
        axes[0].set_ylim(len(names) - 0.4, -0.6)  # the first row on top
    return figure


@styled
def trust_figure(
    reliability: Mapping[int, np.ndarray],
    coverages: np.ndarray,
    risks: Mapping[int, np.ndarray],
    radius: float,
) -> Figure:
    """Left: confidence against the share of good matches; right: risk against coverage.

    Parameters
    ----------
    reliability : {anchors: (bins, 3) vertices, mean confidence, share of good matches}
    coverages : (k,) shares of the vertices, most confident first
    risks : {anchors: (k,) mean error there over that of all}
    """
    names = {count: f"{count} anchors" for count in reliability}
    looks = ordered_styles(list(names.values()))
    figure, (left, right) = panel_grid(2, 1.0)
    left.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, zorder=1)
    for count, table in reliability.items():
        filled = table[table[:, 0] > 0]
        left.plot(filled[:, 1], filled[:, 2], label=names[count], **looks[names[count]])
        right.plot(coverages, risks[count], label=names[count], **looks[names[count]])
    left.set(xlabel="confidence", ylabel=f"matches less than {radius:.0%} off (share)")
    right.set(xlabel="share of the vertices, surest first", ylabel="mean error / that of all")
    left.set(xlim=(0, 1), ylim=(0, 1.02))
    right.set(xlim=(0, 1), ylim=(0, 1.05))
    shared_legend(figure, [left, right], list(names.values()))
    return figure


def _curves(panels: Panels, at: np.ndarray, labels: tuple[str, str], ordered: bool) -> Figure:
    """Mean over the rows of every line, with its band; one panel a title."""
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    looks = ordered_styles(names) if ordered else method_styles(names)
    figure, axes = panel_grid(len(panels), 0.95, sharey=True)
    for number, (ax, (title, lines)) in enumerate(zip(axes, panels.items(), strict=True)):
        for name, given in lines.items():
            rows = np.asarray(given, dtype=float).reshape(-1, len(at))
            if not len(rows):
                continue
            # Markers of different lines at different places, or they would cover each other.
            every = max(len(at) // 7, 1)
            first = names.index(name) * every // len(names)
            ax.plot(at, rows.mean(axis=0), label=name, markevery=(first, every), **looks[name])
            low, high = band(rows)
            ax.fill_between(at, low, high, color=looks[name]["color"], alpha=0.13, linewidth=0)
        ax.set(title=title, xlim=(0, 1.02 * at[-1]), ylim=(0, 102), xlabel=labels[0])
        if number % per_row(len(panels)) == 0:
            ax.set_ylabel(labels[1])
    shared_legend(figure, axes, names)
    return figure


def _draw_difference(ax: Axes, row: int, gap: Difference, better: str) -> None:
    sure = gap.low > 0 or gap.high < 0
    good = (gap.mean < 0) == (better == "low")
    colour = (BLUE if good else VERMILION) if sure else GREY
    if not math.isnan(gap.low):
        ax.plot([gap.low, gap.high], [row, row], color=colour, linewidth=1.5, zorder=2)
    face = colour if sure else "white"
    ax.plot([gap.mean], [row], "o", color=colour, markerfacecolor=face, markersize=4.5, zorder=3)


def _number_axis(ax: Axes, at: Sequence[float], logarithmic: bool) -> None:
    """Ticks at the numbers that were measured, and no others."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    if logarithmic and at and at[0] > 0:
        ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(list(at)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
