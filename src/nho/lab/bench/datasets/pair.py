"""`AnnotatedPair`: two shapes and the truth between them, read from files and checked.

Files of two data sets, or of two versions, look alike by name. There are no checksums, since
preprocessed variants of one data set differ in their bytes; what has to be true of all of them is
checked instead, on the shapes and the truth.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import pdist

from nho.errors import InputError
from nho.evaluation.ground_truth import GroundTruth, region_around
from nho.geometry.geodesics import edge_graph, nearest_source
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.geometry.surface import SurfacePoints

LARGEST_PART = 1.3  # area of the partial over that of the full shape; bodies differ in size
STRETCH = (0.5, 1.7)  # allowed median; 0.8 to 1.1 in the data sets of the paper
_PLACES = 64  # where the stretch is measured
_REACH = 4.0  # mean edge lengths of the coarser mesh: above the rounding of truth to vertices


@dataclass(frozen=True)
class AnnotatedPair:
    """A partial and a full shape with the truth between them.

    Attributes
    ----------
    name : str
    partial, full : Mesh
    truth : GroundTruth
    sparse : bool
        Only some landmarks are annotated. At most half of them become anchors, and answers are
        judged at the others: to give an anchor back is no merit, and there is little else to see.
    """

    name: str
    partial: Mesh
    full: Mesh
    truth: GroundTruth
    sparse: bool = False

    @property
    def annotated(self) -> np.ndarray:
        """(n_partial,) bool: the partner is known."""
        return np.asarray(self.truth.points.face >= 0)

    def anchors(self, count: int, method: str = "geodesic", seed: int = 0) -> np.ndarray:
        """(count, 2) true pairs at annotated vertices of the partial shape, far from each other."""
        annotated = np.flatnonzero(self.annotated)
        most = len(annotated) // 2 if self.sparse else len(annotated)
        chosen = sample_vertices(self.partial, min(count, most), method, seed, annotated)
        target = self.truth.points[chosen].nearest_vertex(self.full)
        return np.stack([chosen, target], axis=1)

    def judged(self, anchors: np.ndarray) -> np.ndarray:
        """(n_partial,) bool: annotated vertices; of sparse ones those that are no anchors."""
        judged = self.annotated
        if self.sparse:
            judged[anchors[:, 0]] = False
        return judged


Listing = Mapping[str, Callable[[], AnnotatedPair]]  # names of pairs -> what loads each


def data_folder(given: str | Path | None = None) -> Path:
    """The folder of evaluation data: the one given, or ``NHO_DATA``."""
    folder = given or os.environ.get("NHO_DATA")
    if not folder:
        raise InputError("no evaluation data: give --data DIR or set NHO_DATA to its folder")
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: no such folder of evaluation data")
    return Path(folder)


def checked_pair(
    pair: AnnotatedPair, truth_file: Path, largest_part: float = LARGEST_PART
) -> AnnotatedPair:
    """The pair, or an `InputError` if it cannot be right.

    Checked are that something is annotated, that the partial shape is not larger than the full one
    by more than ``largest_part``, and that the true map keeps lengths to within `STRETCH`.
    """
    partial, full = pair.partial, pair.full
    if not pair.annotated.any():
        raise InputError(f"{truth_file}: no vertex of {partial.name} has a known partner")
    share = partial.area / full.area
    if not share <= largest_part:
        raise InputError(
            f"{truth_file}: {partial.name} has {share:.3g} times the area of {full.name}; bring "
            "both to the same units, or take both from the same source"
        )
    stretch = median_stretch(pair)
    if not STRETCH[0] <= stretch <= STRETCH[1]:
        raise InputError(
            f"{truth_file}: maps {partial.name} to {full.name} with lengths changed by a factor of "
            f"{stretch:.3g} (median); do the three files belong together, in the same units and "
            "with indices counted as docs/datasets.md says?"
        )
    return pair


def median_stretch(pair: AnnotatedPair) -> float:
    """Median factor by which the true map changes lengths of a few edges; NaN = nothing to see.

    From each of some vertices, distance along edges to the farthest within reach against the
    straight distance of their images: for near-isometries a little below 1. Landmarks of a sparse
    truth lie farther apart: straight distances of all of them against those of their images.
    """
    annotated = np.flatnonzero(pair.annotated)
    image = pair.truth.points.positions(pair.full)
    if pair.sparse:
        return float(np.median(pdist(image[annotated]) / pdist(pair.partial.vertices[annotated])))
    sources = annotated[:: max(len(annotated) // _PLACES, 1)]
    reach = _REACH * max(pair.partial.mean_edge_length, pair.full.mean_edge_length)
    near = dijkstra(edge_graph(pair.partial), directed=False, indices=sources, limit=reach)
    near = np.where(np.isfinite(near), near, 0)[:, annotated]
    far = near.argmax(axis=1)
    walked = near[np.arange(len(sources)), far]
    gaps = np.linalg.norm(image[annotated[far]] - image[sources], axis=1)
    moved = walked > 0
    return float(np.median(gaps[moved] / walked[moved])) if moved.any() else float("nan")


def truth_by_images(full: Mesh, points: SurfacePoints) -> GroundTruth:
    """The truth whose region is what surrounds the images of the partial vertices."""
    return GroundTruth(points, region_around(full, points))


def region_by_rows(full: Mesh, annotated: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """(n_full,) bool: vertices whose nearest template row, along edges, is on the partial shape.

    Parameters
    ----------
    full : Mesh
    annotated : (k,) int array
        Vertices of ``full`` that belong to template rows.
    kept : (k,) bool array
        Whether the partial shape still has that row.
    """
    source = nearest_source(edge_graph(full), annotated)
    is_kept = np.zeros(len(full.vertices), dtype=bool)
    is_kept[annotated[kept]] = True
    return np.where(source >= 0, is_kept[source], False)
