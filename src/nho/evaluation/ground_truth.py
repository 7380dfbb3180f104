"""Known correspondences, from the files in which data sets ship them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import dijkstra

from nho.errors import InputError
from nho.geometry.geodesics import edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.problem.anchors import read_anchors
from nho.runtime.input_file import LARGE, blaming, read_text
from nho.runtime.npz import load_arrays

_WEIGHT_ERROR = 0.01  # by which three weights may miss a sum of 1: files hold few digits


class RegionRule(NamedTuple):
    """Which vertices of the full shape count as the true region.

    Attributes
    ----------
    reach : float
        Mean edge lengths: a vertex this close, along edges, to a true image is inside.
    words : str
        The rule, to be read after "the true region is".
    """

    reach: float
    words: str


REGION_RULES = {
    "usual": RegionRule(
        1.5,
        "what the file or data set says, otherwise every full vertex within 1.5 mean edge lengths "
        "of a true image",
    ),
    "near": RegionRule(1.2, "every full vertex within 1.2 mean edge lengths of a true image"),
    "images": RegionRule(0.0, "the full vertices nearest to the true images alone"),
}


def region_rule(name: str) -> RegionRule:
    """A rule by its name."""
    if name not in REGION_RULES:
        raise InputError(
            f"region truth {name!r} is unknown; choose one of {', '.join(REGION_RULES)}"
        )
    return REGION_RULES[name]


@dataclass(frozen=True)
class GroundTruth:
    """The true map (partial -> full) and the true region.

    Attributes
    ----------
    points : SurfacePoints
        One per partial vertex, on the full mesh; face -1 where nothing is known.
    region : (n_full,) bool array
    unmatched : (n_partial,) bool array or None
        Partial vertices that are known to have no partner; None = nothing is known of that.
    """

    points: SurfacePoints
    region: np.ndarray
    unmatched: np.ndarray | None = None

    def under(self, rule: str, full: Mesh) -> GroundTruth:
        """The same map with the region by another rule.

        Parameters
        ----------
        rule : {"usual", "near", "images"}
            "usual": the region as it is. "near": every vertex of ``full`` within 1.2 mean edge
            lengths, along edges, of the image of a partial vertex. "images": the vertices nearest
            to those images alone.
        full : Mesh
        """
        reach = region_rule(rule).reach
        if rule == "usual":
            return self
        return replace(self, region=region_around(full, self.points, reach))


def read_ground_truth(path: str | Path, partial: Mesh, full: Mesh) -> GroundTruth:
    """Read a ground-truth file by its suffix.

    ``.map`` and ``.txt``: one full vertex per partial vertex, counted from 0, -1 = unknown.
    ``.baryc_gt``: face of the full mesh counted from 1, and three weights, per partial vertex.
    ``.csv``: the pairs ``partial,full`` that are known, as for anchors.
    ``.npz``: ``vertex_map``, or ``face`` and ``barycentric``; optionally ``region``, and
    ``unmatched``: partial vertices that are known to have no partner.
    """
    path = Path(path)
    try:
        with blaming(path):
            points, region = _read(path, partial, full)
            unmatched = _unmatched(path, partial) if path.suffix == ".npz" else None
    except InputError:
        raise
    except Exception as problem:
        raise InputError(
            f"{path}: cannot be read as ground truth ({problem}); correct the file"
        ) from problem
    _check_points(path, points, partial, full)
    if region is None:
        region = region_around(full, points)
    elif region.shape != (full.n_vertices,):
        raise InputError(
            f"{path}: 'region' has {region.shape} entries, not one per full vertex; "
            "correct the file"
        )
    return GroundTruth(points, region, unmatched)


def _unmatched(path: Path, partial: Mesh) -> np.ndarray | None:
    """(n_partial,) bool, if the file says it."""
    stored = load_arrays(path, ("unmatched",))
    if "unmatched" not in stored:
        return None
    if stored["unmatched"].shape != (partial.n_vertices,):
        raise InputError(
            f"{path}: 'unmatched' has {stored['unmatched'].shape} entries, not one per partial "
            "vertex; correct the file"
        )
    return stored["unmatched"].astype(bool)


def _read(path: Path, partial: Mesh, full: Mesh) -> tuple[SurfacePoints, np.ndarray | None]:
    """The points as the file has them, and the region if it has one."""
    if path.suffix == ".npz":
        return _from_npz(path, full)
    if path.suffix == ".baryc_gt":
        table = np.loadtxt(_lines(path), ndmin=2)
        return _in_faces(path, table[:, 0] - 1, table[:, 1:]), None
    if path.suffix == ".csv":
        pairs = read_anchors(path, partial, full).vertices(partial, full)
        target = np.full(partial.n_vertices, -1, dtype=np.int64)
        target[pairs[:, 0]] = pairs[:, 1]
        return SurfacePoints.at_vertices(full, target), None
    if path.suffix in (".map", ".txt"):
        return _at_vertices(path, full, np.loadtxt(_lines(path), ndmin=1)), None
    raise InputError(f"{path}: use .map, .txt, .baryc_gt, .csv or .npz")


def _check_points(path: Path, points: SurfacePoints, partial: Mesh, full: Mesh) -> None:
    if len(points) != partial.n_vertices:
        raise InputError(
            f"{path}: has {len(points)} rows but {partial.name} has {partial.n_vertices} "
            "vertices; is it the ground truth of another pair?"
        )
    bad = np.flatnonzero((points.face < -1) | (points.face >= full.n_faces))
    if len(bad):
        raise InputError(
            f"{path}: row {bad[0]} refers to a face that {full.name} does not have; is it the "
            "ground truth of another pair?"
        )
    # A NaN fails every comparison and is refused with the rest.
    weights = points.barycentric
    bounded = (weights >= -_WEIGHT_ERROR) & (weights <= 1 + _WEIGHT_ERROR)
    sums = np.where(bounded, weights, np.nan).sum(axis=1)
    bad = np.flatnonzero((points.face >= 0) & ~(np.abs(sums - 1) <= _WEIGHT_ERROR))
    if len(bad):
        raise InputError(
            f"{path}: row {bad[0]} has the weights {weights[bad[0]].tolist()}; three that are not "
            "negative and sum to 1 are expected; correct the file"
        )


def region_around(
    full: Mesh, points: SurfacePoints, reach: float = REGION_RULES["usual"].reach
) -> np.ndarray:
    """(n_full,) bool: vertices within ``reach`` mean edge lengths, along edges, of a true image.

    A true image is the vertex of ``full`` nearest to one of the ``points``.
    """
    images = np.unique(points.nearest_vertex(full)[points.face >= 0])
    limit = reach * full.mean_edge_length
    near = dijkstra(edge_graph(full), directed=False, indices=images, min_only=True, limit=limit)
    return np.isfinite(near)


def _lines(path: Path) -> list[str]:
    lines = read_text(path, LARGE).splitlines()
    if not any(line.partition("#")[0].strip() for line in lines):
        raise InputError(f"{path}: there are no numbers in it; copy it again")
    return lines


def _from_npz(path: Path, full: Mesh) -> tuple[SurfacePoints, np.ndarray | None]:
    stored = load_arrays(path, ("vertex_map", "face", "barycentric", "region"))
    region = stored["region"].astype(bool) if "region" in stored else None
    if "face" in stored and "barycentric" in stored:
        return _in_faces(path, stored["face"], stored["barycentric"]), region
    if "vertex_map" in stored:
        return _at_vertices(path, full, stored["vertex_map"]), region
    raise InputError(
        f"{path}: holds neither vertex_map nor face and barycentric; give one of these"
    )


def _in_faces(path: Path, face: np.ndarray, barycentric: np.ndarray) -> SurfacePoints:
    if barycentric.shape != (len(face), 3):
        raise InputError(
            f"{path}: the weights have shape {barycentric.shape}, expected three per row; "
            "correct the file"
        )
    if barycentric.dtype.kind not in "iuf":
        raise InputError(
            f"{path}: the weights are {barycentric.dtype}, expected numbers; correct the file"
        )
    face = _whole(path, face)
    # Whatever stands in a row without a point must not be computed with.
    return SurfacePoints(face, np.where(face[:, None] < 0, np.nan, barycentric.astype(np.float64)))


def _whole(path: Path, values: np.ndarray) -> np.ndarray:
    """A column of whole numbers as int64."""
    if values.dtype.kind not in "iuf":
        raise InputError(f"{path}: holds {values.dtype} where indices are expected; give indices")
    if values.ndim != 1:
        raise InputError(
            f"{path}: has {values.shape[-1]} columns where one index is expected; give indices"
        )
    bad = np.flatnonzero(~((np.abs(values) < 2.0**53) & (values == np.floor(values))))
    if len(bad):
        raise InputError(
            f"{path}: row {bad[0]} is {values[bad[0]]}, not a whole number; give indices"
        )
    return values.astype(np.int64)


def _at_vertices(path: Path, full: Mesh, target: np.ndarray) -> SurfacePoints:
    target = _whole(path, target)
    bad = np.flatnonzero((target < -1) | (target >= full.n_vertices))
    if len(bad):
        raise InputError(
            f"{path}: row {bad[0]} refers to vertex {target[bad[0]]} of {full.name}, which has "
            f"vertices 0 to {full.n_vertices - 1}; is it the ground truth of another pair, or does "
            "it count from 1?"
        )
    return SurfacePoints.at_vertices(full, target)
