"""Which way round: angles between the directions to two anchors, about the normal.

Distances cannot tell a shape from its mirror image. The angle from one distance gradient to another
can: isometries keep it, mirror images and flipped surfaces negate it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from nho.geometry.mesh import Mesh
from nho.runtime.parallel import SERIAL, Workers

_SMOOTHING = 3  # averaging rounds of the angles, which are noisy on single triangles


@dataclass(frozen=True)
class Orientation:
    """Angles between near anchors as seen from everywhere on both shapes.

    Attributes
    ----------
    pairs : (k, 2) int array
        Anchors (rows of the distances).
    partial : (k, n_partial) float array
        Sine of the angle from the direction of one anchor to that of the other.
    full : (k, n_full) float array
    """

    pairs: np.ndarray
    partial: np.ndarray
    full: np.ndarray

    @classmethod
    def measure(
        cls,
        shapes: tuple[Mesh, Mesh],
        distances: tuple[np.ndarray, np.ndarray],
        pairs: np.ndarray,
        pool: Workers = SERIAL,
    ) -> Orientation:
        """From (m, n) distances to the anchors on either shape."""
        partial, full = pool.together(
            lambda: signed_angles(shapes[0], distances[0], pairs),
            lambda: signed_angles(shapes[1], distances[1], pairs),
        )
        return cls(pairs, partial, full)

    def flipped(self) -> Orientation:
        """The same with the faces of the partial shape the other way round."""
        return replace(self, partial=-self.partial)

    def alike(self, anchors: np.ndarray) -> float:
        """Correlation, -1 to 1, of the angles at the (m, 2) anchors themselves.

        Near one if both surfaces are oriented alike, near minus one if one is flipped (or is a
        mirror image); 0 if nothing can be said.
        """
        own, other = self.partial[:, anchors[:, 0]], self.full[:, anchors[:, 1]]
        size = np.sqrt((own**2).sum() * (other**2).sum())
        return float((own * other).sum() / size) if size > 0 else 0.0


def near_pairs(between: np.ndarray, near: int = 6) -> np.ndarray:
    """(k, 2) every anchor with its nearest others, each pair once."""
    order = np.argsort(between, axis=1, kind="stable")[:, 1 : near + 1]
    first = np.repeat(np.arange(len(between)), order.shape[1])
    both = np.sort(np.stack([first, order.ravel()], axis=1), axis=1)
    return np.unique(both, axis=0)


def signed_angles(mesh: Mesh, distances: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """(k, n) sine of the angle from the gradient of one distance to another's, about the normal."""
    x, y = _directions(mesh, distances)
    i, j = pairs.T
    per_face = (x[i] * y[j] - y[i] * x[j]).T
    to_vertices, to_faces = _averages(mesh)
    smoothing = sp.csr_matrix(to_vertices @ to_faces)
    per_vertex = to_vertices @ np.ascontiguousarray(per_face)
    for _ in range(_SMOOTHING):
        per_vertex = smoothing @ per_vertex
    return np.ascontiguousarray(per_vertex.T)


def _directions(mesh: Mesh, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m, f) components of the unit gradients of (m, n) functions, in a frame of each face.

    In its own plane a triangle is (0, 0), (length, 0), (foot, height).
    """
    tiny = np.finfo(float).tiny
    a, b, c = (mesh.vertices[mesh.faces[:, corner]] for corner in range(3))
    length = np.maximum(np.linalg.norm(b - a, axis=1), tiny)
    along = (b - a) / length[:, None]
    foot = ((c - a) * along).sum(axis=1)
    height = ((c - a) * np.cross(mesh.face_normals, along)).sum(axis=1)
    at_a, at_b, at_c = (values[:, mesh.faces[:, corner]] for corner in range(3))
    x = (at_b - at_a) / length
    y = (at_c - at_a - foot * x) / np.where(height > 0, height, np.inf)
    size = np.maximum(np.hypot(x, y), tiny)
    return x / size, y / size


def _averages(mesh: Mesh) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Area-weighted face -> vertex averages, and plain vertex -> face averages."""
    shape = (len(mesh.vertices), len(mesh.faces))
    corner, face = mesh.faces.ravel(), np.repeat(np.arange(len(mesh.faces)), 3)
    weights = sp.csr_matrix((np.repeat(mesh.face_areas, 3), (corner, face)), shape=shape)
    total = np.asarray(weights.sum(axis=1)).ravel()
    scale = sp.diags(1 / np.maximum(total, np.finfo(float).tiny))
    thirds = sp.csr_matrix((np.full(len(face), 1 / 3), (face, corner)), shape=shape[::-1])
    return sp.csr_matrix(scale @ weights), thirds
