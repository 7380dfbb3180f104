"""The full template deformed onto the partial scan.

Where the scan is, the template follows it: first where the map says, by confidence and without
outliers, then to the closest points of the scan. Where it is not, the template goes along as
rigidly as it can (`nho.geometry.elastic`), rotating smoothly from the rim. Vertices and faces stay
those of the template, and so do its texture, labels and topology.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.mesh_like import MeshLike
from nho.geometry.repair import repair
from nho.geometry.surface import SurfacePoints
from nho.problem.result import MatchResult
from nho.progress import ProgressCallback, ignore
from nho.transfer.fit_steps import Fitting
from nho.transfer.fit_surfaces import Scan, Template
from nho.transfer.maps import SurfaceMap

_FEWEST = 4  # vertices to follow
_LEAST_TRUST = 0.01


@dataclass(frozen=True)
class Fit:
    """A template in the pose and unit of a scan.

    Attributes
    ----------
    mesh : Mesh
        The template's vertices, moved, in the unit of the partial shape, and its faces.
    on_scan : (n_full,) bool array
        Vertices that lie on the scan; the others were carried along.
    distance : (n_full,) float array
        From the scan, in the unit of the partial shape; NaN where the vertex is not on it.
    scan_size : float
        Diagonal of the scan's bounding box, in the same unit.
    inverted_faces : int
        Faces on the scan that are flipped against the surface around them.
    size : float
        Size of the scan's shape against the template's, apart from the unit.
    """

    mesh: Mesh
    on_scan: np.ndarray
    distance: np.ndarray
    scan_size: float
    inverted_faces: int
    size: float

    def summary(self) -> dict[str, float]:
        """How close the fit is; distances in percent of the scan's diagonal, NaN without any."""
        on_scan = self.distance[self.on_scan] if self.on_scan.any() else np.array([np.nan])
        relative = 100 * on_scan / self.scan_size
        return {
            "on_scan": int(self.on_scan.sum()),
            "vertices": len(self.on_scan),
            "mean_distance_percent": float(relative.mean()),
            "p95_distance_percent": float(np.percentile(relative, 95)),
            "inverted_faces": self.inverted_faces,
            "size": self.size,
        }


def fit_template(
    result: MatchResult,
    partial: MeshLike,
    full: MeshLike,
    *,
    min_confidence: float = 0.0,
    progress: ProgressCallback = ignore,
) -> Fit:
    """Deform ``full`` onto ``partial`` through their match.

    Parameters
    ----------
    min_confidence : float
        Matches below this confidence (0 to 1) are not followed; others count by their confidence.
    """
    surface_map = SurfaceMap(result, partial, full, min_confidence=min_confidence)
    partial, full = surface_map.partial, surface_map.full
    scan = Scan(surface_map)
    repaired = repair(full)
    at = surface_map.to_partial(SurfacePoints.at_vertices(full, repaired.given_of_solver))
    targets, has_target = scan.places(at)
    count = int(has_target.sum())
    if count < _FEWEST:
        raise InputError(
            f"{partial.name}: the match puts {count} vertices of {full.name} on it, too few "
            "to fit the template; match it again with more anchors, or lower the confidence limit"
        )
    confidence = np.nan_to_num(at.interpolate(partial, result.confidence))
    # A match without any confidence still tells more than none.
    trust = np.where(has_target, np.maximum(confidence, _LEAST_TRUST), 0.0)
    size = size_of(surface_map)
    template = Template(full, repaired, size, has_target)
    fitting = Fitting(template, scan, targets, trust, progress)
    fitting.follow_map()
    fitting.close_in()
    return _fit(template, fitting, surface_map, size, scan)


def size_of(surface_map: SurfaceMap) -> float:
    """Size of the scan's shape against the template's: the median over the faces of the map."""
    faces = surface_map.partial.faces[surface_map.mapped_faces]
    area = _areas(surface_map.partial.vertices[faces]) * surface_map.scale**2
    image = _areas(surface_map.images[faces])
    there = (area > 0) & (image > 0)
    if not there.any():
        return 1.0
    ratio, weight = np.sqrt(area[there] / image[there]), np.sqrt(area[there] * image[there])
    order = np.argsort(ratio, kind="stable")
    total = np.cumsum(weight[order])
    return float(ratio[order][np.searchsorted(total, total[-1] / 2)])


def _areas(triangles: np.ndarray) -> np.ndarray:
    """(m,) areas of triangles (m, 3, 3)."""
    a, b, c = triangles.transpose(1, 0, 2)
    return np.asarray(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1))


def _fit(
    template: Template, fitting: Fitting, surface_map: SurfaceMap, size: float, scan: Scan
) -> Fit:
    """Everything in the numbering of the template and the unit of the partial shape."""
    full, unit = surface_map.full, 1 / surface_map.scale
    _, distance = fitting.closest()
    on_scan = np.isfinite(distance)
    inner = on_scan[template.rest.faces].all(axis=1)
    moved = template.with_loose_parts(fitting.positions) * unit
    return Fit(
        mesh=full.moved(moved),
        on_scan=template.to_given(on_scan, False),
        distance=template.to_given(distance * unit, np.nan),
        scan_size=scan.size * unit,
        inverted_faces=int((fitting.inverted_faces() & inner).sum()),
        size=size,
    )
