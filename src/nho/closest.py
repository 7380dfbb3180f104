"""Closest surface points that also face the right way."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from nho.mesh import Mesh
from nho.surface import SurfacePoints, closest_on_triangles


class FacingSearch:
    """Closest points on a surface among triangles with a similar normal.

    Where two sheets lie close together (fingers, an arm at the body) the nearest point may be on
    the wrong one. A triangle's normal therefore counts as three more coordinates, times
    ``normal_weight`` (a length; 0 = plain closest points). The triangles tried are the ``tried``
    nearest by centre, which is exact enough for triangles of similar size.
    """

    def __init__(self, mesh: Mesh, normal_weight: float = 0.0, tried: int = 8) -> None:
        self._mesh = mesh
        self._weight = normal_weight
        self._tried = min(tried, len(mesh.faces))
        self._corners = mesh.vertices[mesh.faces]
        centres = self._corners.mean(axis=1)
        self._tree = cKDTree(self._with_normals(centres, mesh.face_normals))

    def _with_normals(self, points: np.ndarray, normals: np.ndarray | None) -> np.ndarray:
        if not self._weight or normals is None:
            return points
        return np.concatenate([points, self._weight * normals], axis=1)

    def __call__(
        self, points: np.ndarray, normals: np.ndarray | None = None
    ) -> tuple[SurfacePoints, np.ndarray]:
        """Closest points for (n, 3) points with unit normals, and their (n, 3) positions."""
        _, faces = self._tree.query(self._with_normals(points, normals), k=self._tried)
        faces = faces.reshape(len(points), -1)
        repeated = np.repeat(points, faces.shape[1], axis=0)
        weights, gaps = closest_on_triangles(repeated, self._corners[faces.ravel()])
        gaps = gaps.reshape(faces.shape)
        if self._weight and normals is not None:
            turned = self._mesh.face_normals[faces] - normals[:, None]
            gaps = gaps + self._weight**2 * (turned**2).sum(axis=2)
        rows, best = np.arange(len(points)), gaps.argmin(axis=1)
        found = SurfacePoints(faces[rows, best], weights.reshape(*faces.shape, 3)[rows, best])
        return found, found.positions(self._mesh)
