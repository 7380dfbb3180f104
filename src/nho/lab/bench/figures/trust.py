"""Figures of what a match says of itself, against the truth: confidence, and its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from nho.lab.bench.figures.plotstyle import (
    BLUE,
    GREY,
    VERMILION,
    panel_grid,
    per_row,
    shared_legend,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LARGEST = 60.0  # points squared: the dot of the bin with the most vertices
_SPREAD = 0.18  # of dots across their line


@styled
def reliability_figure(worlds: Mapping[str, np.ndarray], radius: float) -> Figure:
    """Confidence against the share of good matches, a panel a world.

    Parameters
    ----------
    worlds : {title: (bins, 3) vertices, mean confidence, share of good matches}
    """
    figure, axes = panel_grid(len(worlds), 1.0, sharey=True)
    for number, (ax, (title, table)) in enumerate(zip(axes, worlds.items(), strict=True)):
        filled = table[table[:, 0] > 0]
        ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, zorder=1)
        ax.plot(filled[:, 1], filled[:, 2], color=BLUE, linewidth=0.8, zorder=2)
        sizes = _LARGEST * filled[:, 0] / filled[:, 0].max()
        ax.scatter(
            filled[:, 1], filled[:, 2], sizes, color=BLUE, zorder=3, linewidth=0, clip_on=False
        )
        ax.set(title=title, xlim=(0, 1.02), ylim=(0, 1.02), xlabel="confidence")
        if number % per_row(len(worlds)) == 0:
            ax.set_ylabel(f"within {radius:.0%} (share)")
    return figure


@styled
def placement_figure(runs: Sequence[tuple[str, float, bool]], doubted_below: float) -> Figure:
    """Left: the chance that each run gives its place, by case; right: what a threshold would cost.

    Parameters
    ----------
    runs : sequence of (case, chance, lies right)
    doubted_below : float
        The threshold that is used.
    """
    cases = list(dict.fromkeys(case for case, _, _ in runs))[::-1]
    figure, (left, right) = panel_grid(2, 0.9)
    random = np.random.default_rng(0)
    for fits, name, colour in ((True, "lies right", BLUE), (False, "lies wrong", VERMILION)):
        of = [(chance, cases.index(case)) for case, chance, lies in runs if lies == fits]
        places = np.array(of, dtype=float).reshape(-1, 2)
        across = places[:, 1] + random.uniform(-_SPREAD, _SPREAD, len(places))
        left.scatter(places[:, 0], across, 9, color=colour, alpha=0.6, linewidth=0, label=name)
    left.set_yticks(range(len(cases)), cases)
    left.set(xlim=(-0.02, 1.02), xlabel="chance of the right place, as told")
    chance, lies = (np.array([run[column] for run in runs]) for column in (1, 2))
    at = np.linspace(0, 1, 201)
    doubted = _share(chance[lies][:, None] < at)
    believed = _share(chance[~lies][:, None] >= at)
    right.plot(at, doubted, color=BLUE, label="right and doubted")
    right.plot(at, believed, color=VERMILION, label="wrong and believed")
    right.set(xlim=(0, 1), ylim=(-0.02, 1.02), xlabel="doubted below", ylabel="share of the runs")
    for ax in (left, right):
        ax.axvline(doubted_below, color=GREY, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
    shared_legend(
        figure,
        [left, right],
        ["lies right", "lies wrong", "right and doubted", "wrong and believed"],
    )
    return figure


def _share(hits: np.ndarray) -> np.ndarray:
    """(k,) share of hits among (n, k) runs; NaN, which is not drawn, where there are none."""
    return hits.mean(axis=0) if len(hits) else np.full(hits.shape[1], np.nan)
