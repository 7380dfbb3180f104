"""Reliability and risk of the confidence, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from nho.lab.bench.plotstyle import ordered_looks, panel_grid, shared_legend, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    looks = ordered_looks(list(names.values()))
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
