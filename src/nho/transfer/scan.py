"""The scan as a surface to follow: in the unit of the full shape, with an outside and a rim."""

from __future__ import annotations

import numpy as np

from nho.geometry.coverage import on_boundary
from nho.geometry.repair import repair
from nho.geometry.surface import SurfacePoints
from nho.transfer.maps import SurfaceMap
from nho.transfer.oriented import OrientedSurface, faces_that_disagree


class Scan:
    """The partial surface, welded, in the unit of the full shape.

    Attributes
    ----------
    mesh : Mesh
    size : float
        Diagonal of its bounding box.
    """

    def __init__(self, surface_map: SurfaceMap) -> None:
        partial = surface_map.partial
        repaired = repair(partial.scaled(surface_map.scale))
        self.mesh = repaired.mesh
        self.size = float(np.linalg.norm(np.ptp(self.mesh.vertices, axis=0)))
        self._of_face = np.full(partial.n_faces, -1)
        self._of_face[repaired.given_face] = np.arange(self.mesh.n_faces)
        turned = self._turned(surface_map)
        self._surface = OrientedSurface(self.mesh, turned, surface_map.full.mean_edge_length)

    def places(self, points: SurfacePoints) -> tuple[np.ndarray, np.ndarray]:
        """(n, 3) positions of points on the partial mesh, and (n,) whether they are inside it.

        A point on the rim is not: what lies beyond the rim is mapped there too.
        """
        face = np.where(points.face >= 0, self._of_face[points.face], -1)
        there = face >= 0
        weights = np.where(there[:, None], np.nan_to_num(points.barycentric), 1 / 3)
        known = SurfacePoints(np.maximum(face, 0), weights)
        return known.positions(self.mesh), there & ~on_boundary(self.mesh, known)

    def closest(self, points: np.ndarray, normals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Closest points (n, 3) that face the same way, and (n,) whether they are inside."""
        found, place = self._surface.nearest(points, normals)
        return place, ~on_boundary(self.mesh, found)

    def _turned(self, surface_map: SurfaceMap) -> np.ndarray:
        """(m,) faces to turn so that the outside is that of the full shape, part by part."""
        turned = faces_that_disagree(self.mesh)
        chosen = self._of_face[surface_map.laid_faces]
        kept = chosen >= 0
        chosen, inside_out = chosen[kept], surface_map.laid_inside_out[kept]
        part = self.mesh.components[self.mesh.faces[:, 0]]
        sign = np.where(inside_out ^ turned[chosen], -1.0, 1.0) * self.mesh.face_areas[chosen]
        votes = np.bincount(part[chosen], sign, minlength=part.max() + 1)
        votes[votes == 0] = votes.sum()
        return turned ^ (votes < 0)[part]
