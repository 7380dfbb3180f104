"""Is a loaded pair plausible? Files of two data sets, or of two versions, look alike by name.

No checksums: preprocessed variants of the same data set differ in their bytes. What has to hold
for all of them is checked instead, on the shapes and the truth.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.sparse.csgraph import dijkstra

from nho.errors import InputError
from nho.geometry.geodesics import edge_graph
from nho.lab.bench.datasets.pair import Pair

LARGEST_PART = 1.3  # area of the partial over that of the full shape; bodies differ in size
STRETCH = (0.5, 1.7)  # allowed median; 0.8 to 1.1 in the data sets of the paper
_PLACES = 64  # where the stretch is measured
_REACH = 4.0  # mean edge lengths of the coarser mesh: above the rounding of truth to vertices


def checked(pair: Pair, truth_file: Path) -> Pair:
    """The pair, or an `InputError` if it cannot be right.

    Checked are that something is annotated, that the partial shape is not larger than the full one
    by more than `LARGEST_PART`, and that the true map keeps lengths to within `STRETCH`.
    """
    if not (pair.truth.points.face >= 0).any():
        raise InputError(f"{truth_file}: no vertex of {pair.partial.name} has a known partner")
    share = pair.partial.area / pair.full.area
    if not share <= LARGEST_PART:
        raise InputError(
            f"{truth_file}: {pair.partial.name} has {share:.3g} times the area of "
            f"{pair.full.name}; bring both to the same units, or take both from the same source"
        )
    stretch = median_stretch(pair)
    if not STRETCH[0] <= stretch <= STRETCH[1]:
        raise InputError(
            f"{truth_file}: maps {pair.partial.name} to {pair.full.name} with lengths changed by "
            f"a factor of {stretch:.3g} (median); do the three files belong together, in the same "
            "units and with indices counted as docs/datasets.md says?"
        )
    return pair


def median_stretch(pair: Pair) -> float:
    """Median factor by which the true map changes lengths of a few edges; NaN = nothing to see.

    From each of some vertices, distance along edges to the farthest within reach against the
    straight distance of their images: for near-isometries a little below 1.
    """
    annotated = np.flatnonzero(pair.truth.points.face >= 0)
    sources = annotated[:: max(len(annotated) // _PLACES, 1)]
    reach = _REACH * max(pair.partial.mean_edge_length, pair.full.mean_edge_length)
    near = dijkstra(edge_graph(pair.partial), directed=False, indices=sources, limit=reach)
    near = np.where(np.isfinite(near), near, 0)[:, annotated]
    far = near.argmax(axis=1)
    walked = near[np.arange(len(sources)), far]
    image = pair.truth.points.positions(pair.full)
    gaps = np.linalg.norm(image[annotated[far]] - image[sources], axis=1)
    moved = walked > 0
    return float(np.median(gaps[moved] / walked[moved])) if moved.any() else float("nan")
