"""What the examples draw with: coloured shapes side by side in one PNG (needs matplotlib)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from nho import MatchResult, Mesh
from nho.lab.bench.figures.render import render
from nho.report.views import first_view, view_beside

Panel = tuple[Mesh, np.ndarray, str, np.ndarray]  # shape, vertex colours, words beneath, view

_HEIGHT, _WORDS = 300, 30  # pixels of a panel and of the words beneath it
_WIDTH = 900  # pixels of all panels together, at most
_DPI = 100


def views(scan: Mesh, template: Mesh, result: MatchResult) -> tuple[np.ndarray, np.ndarray]:
    """A view of either shape, so that both are seen from the same side."""
    of_template = first_view(template)
    return view_beside(scan, template, of_template, result.points, result.confidence), of_template


def save(path: str | Path, panels: list[Panel], crisp: bool = False) -> None:
    """Write the panels in a row; ``crisp`` keeps the borders of labels sharp."""
    count = len(panels)
    across = min(_HEIGHT, _WIDTH // count)
    figure = Figure((across * count / _DPI, (_HEIGHT + _WORDS) / _DPI), dpi=_DPI)
    low = _WORDS / (_HEIGHT + _WORDS)
    for column, (mesh, colours, words, view) in enumerate(panels):
        axes = figure.add_axes((column / count, low, 1 / count, 1 - low))
        axes.imshow(render(mesh, colours, view, (across, _HEIGHT), crisp=crisp))
        axes.set_axis_off()
        figure.text((column + 0.5) / count, low / 2, words, ha="center", va="center")
    figure.savefig(path, metadata={"Software": None})  # no version: the same picture, the same file
