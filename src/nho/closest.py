"""Closest surface points that also face the right way and look alike."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from nho.mesh import Mesh
from nho.surface import SurfacePoints, closest_on_triangles


class FacingSearch:
    """Closest points on a surface among triangles with a similar normal, and similar looks.

    Where two sheets lie close together (fingers, an arm at the body) the nearest point may be on
    the wrong one. A triangle's normal therefore counts as three more coordinates, times
    ``normal_weight`` (a length; 0 = plain closest points), and so may its looks. The triangles
    tried are the ``tried`` nearest by centre, which is exact enough for triangles of similar size.

    Parameters
    ----------
    looks : (n, s) float array, optional
        Further coordinates of every vertex of the surface, in units of length.
    """

    def __init__(
        self,
        mesh: Mesh,
        normal_weight: float = 0.0,
        tried: int = 8,
        looks: np.ndarray | None = None,
    ) -> None:
        self._mesh = mesh
        self._weight = normal_weight
        self._tried = min(tried, len(mesh.faces))
        self._corners = mesh.vertices[mesh.faces]
        self._signature = self._signed(
            mesh.face_normals, None if looks is None else looks[mesh.faces].mean(axis=1)
        )
        self._tree = cKDTree(_beside(self._corners.mean(axis=1), self._signature))

    def __call__(
        self,
        points: np.ndarray,
        normals: np.ndarray | None = None,
        looks: np.ndarray | None = None,
    ) -> tuple[SurfacePoints, np.ndarray]:
        """Closest points for (n, 3) points with unit normals, and their (n, 3) positions."""
        return self.among(self.candidates(points, normals, looks), points, normals, looks)

    def candidates(
        self,
        points: np.ndarray,
        normals: np.ndarray | None = None,
        looks: np.ndarray | None = None,
    ) -> np.ndarray:
        """(n, tried) triangles worth trying; they serve while the points move little."""
        _, faces = self._tree.query(_beside(points, self._signed(normals, looks)), k=self._tried)
        return faces.reshape(len(points), -1)

    def among(
        self,
        faces: np.ndarray,
        points: np.ndarray,
        normals: np.ndarray | None = None,
        looks: np.ndarray | None = None,
    ) -> tuple[SurfacePoints, np.ndarray]:
        """The same among (n, tried) given triangles."""
        repeated = np.repeat(points, faces.shape[1], axis=0)
        weights, gaps = closest_on_triangles(repeated, self._corners[faces.ravel()])
        gaps = gaps.reshape(faces.shape)
        signature = self._signed(normals, looks)
        if signature is not None and self._signature is not None:
            gaps = gaps + ((self._signature[faces] - signature[:, None]) ** 2).sum(axis=2)
        rows, best = np.arange(len(points)), gaps.argmin(axis=1)
        found = SurfacePoints(faces[rows, best], weights.reshape(*faces.shape, 3)[rows, best])
        return found, found.positions(self._mesh)

    def _signed(self, normals: np.ndarray | None, looks: np.ndarray | None) -> np.ndarray | None:
        """Normals and looks as coordinates beside the position; None = position only."""
        facing = self._weight * normals if self._weight and normals is not None else None
        if facing is None or looks is None:
            return looks if facing is None else facing
        return np.concatenate([facing, looks], axis=1)


def _beside(points: np.ndarray, signature: np.ndarray | None) -> np.ndarray:
    return points if signature is None else np.concatenate([points, signature], axis=1)
