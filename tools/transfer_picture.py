"""The picture of docs/transfer.md: `python tools/transfer_picture.py docs/images/transfer.png`.

The shipped body with four holes: labels of the template on the scan, numbers of the scan on the
template, and the template fitted to the scan. Needs matplotlib.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import nho
from nho.evaluation.sample import load_sample
from nho.geometry.geodesics import distances_from, edge_graph
from nho.lab.bench.figures.render import render
from nho.report.colours import FADED, scalar_colours
from nho.report.views import first_view
from nho.transfer import Transfer, fit_template

PANEL, WORDS, DPI = (225, 330), 34, 100  # pixels of a panel, of the words beneath, an inch
PARTS = 14
TABLE = np.array(
    [
        *((86, 140, 200), (226, 134, 72), (96, 176, 118), (206, 96, 100), (146, 116, 186)),
        *((156, 122, 96), (222, 150, 198), (180, 184, 84), (90, 180, 196), (70, 96, 140)),
        *((168, 96, 40), (54, 124, 80), (148, 54, 70), (104, 82, 140)),
    ],
    dtype=np.uint8,
)


def parts_of(mesh: nho.Mesh) -> np.ndarray:
    """(n,) labels: the nearest of some well-spread vertices, along the surface."""
    seeds = nho.sample_vertices(mesh, PARTS, seed=3)
    return distances_from(edge_graph(mesh), seeds).argmin(axis=0)


def main(path: Path) -> None:
    """Match, carry, fit and draw."""
    sample = load_sample("balls")
    scan, template = sample.partial, sample.full
    chosen = nho.sample_vertices(scan, 25)
    anchors = np.stack([chosen, sample.truth_vertex[chosen]], axis=1)
    result = nho.match(scan, template, anchors)
    labels = parts_of(template)
    on_scan = Transfer(result, scan, template, source="full").vertices(labels).values
    height = scan.vertices[:, 1]
    on_template = Transfer(result, scan, template, source="partial").vertices(height).values
    fit = fit_template(result, scan, template)
    fitted = TABLE[labels].copy()
    fitted[~fit.on_scan] = (fitted[~fit.on_scan].astype(int) + 3 * np.array(FADED)) // 4
    limits = float(height.min()), float(height.max())
    rows = [
        (template, TABLE[labels], "labels of the template", True),
        (scan, TABLE[on_scan], "on the scan", True),
        (scan, scalar_colours(height, *limits), "height in the scan", False),
        (template, scalar_colours(on_template, *limits), "on the template", False),
        (fit.mesh, fitted, "template fitted to the scan", True),
    ]
    width, count = PANEL[0] * len(rows), len(rows)
    figure = Figure((width / DPI, (PANEL[1] + WORDS) / DPI), dpi=DPI)
    low = WORDS / (PANEL[1] + WORDS)
    view = first_view(template)
    for column, (mesh, colours, words, crisp) in enumerate(rows):
        axes = figure.add_axes((column / count, low, 1 / count, 1 - low))
        axes.imshow(render(mesh, colours, view, PANEL, crisp=crisp))
        axes.set_axis_off()
        figure.text((column + 0.5) / count, low / 2, words, ha="center", va="center")
    figure.savefig(path, metadata={"Software": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
