"""A surface whose faces all point to one side, and the closest points on it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from nho.geometry.closest import FacingSearch
from nho.geometry.mesh import Mesh
from nho.geometry.repair import faces_to_flip
from nho.geometry.surface import SurfacePoints
from nho.io.meshes.polygons import equal_points
from nho.runtime.parallel import workers

_NORMAL_WEIGHT = 2.0  # mean edges: how far a point goes to find triangles that face its way
_BY_CENTRE, _AROUND = 12, 8  # triangles tried: near by centre and normal, at the nearest vertex
_ROWS = 1 << 15  # points per block: bounds the memory


def inconsistent_faces(mesh: Mesh) -> np.ndarray:
    """(m,) bool: faces to flip so that all are oriented alike, even across seams."""
    _, group = equal_points(mesh.vertices)
    return faces_to_flip(Mesh(mesh.vertices, group[mesh.faces], mesh.name))


class OrientedSurface:
    """A mesh with some of its faces flipped.

    Parameters
    ----------
    flipped : (m,) bool array, optional
        Faces whose outside is the other one than in the file; those of `inconsistent_faces` if
        not given.
    edge : float, optional
        The length against which normals are weighed in the search for near triangles; the mean
        edge if not given.

    Attributes
    ----------
    mesh, outside : Mesh
        As given, and with its faces flipped: corners 1 and 2 are exchanged.
    """

    def __init__(
        self, mesh: Mesh, flipped: np.ndarray | None = None, edge: float | None = None
    ) -> None:
        self.mesh = mesh
        self._flipped = inconsistent_faces(mesh) if flipped is None else flipped
        self._edge = mesh.mean_edge_length if edge is None else edge
        self.outside = mesh
        if self._flipped.any():
            faces = np.where(self._flipped[:, None], mesh.faces[:, [0, 2, 1]], mesh.faces)
            self.outside = Mesh(mesh.vertices, faces, mesh.name)

    def nearest(
        self, points: np.ndarray, normals: np.ndarray, also: np.ndarray | None = None
    ) -> tuple[SurfacePoints, np.ndarray]:
        """Closest points to (n, 3) points with unit normals, and their (n, 3) positions.

        Where two sheets lie close together (fingers, an arm at the body) the nearest point may be
        on the wrong one, which faces the other way: triangles that face away are not considered,
        unless all do. Otherwise normals do not count.

        Parameters
        ----------
        also : (n, k) int array, optional
            Further triangles to try.
        """
        search, vertices, around = self._search

        def block(rows: slice) -> tuple[SurfacePoints, np.ndarray]:
            tried = [
                search.candidates(points[rows], normals[rows]),
                around[vertices.query(points[rows])[1]],
            ]
            if also is not None:
                tried.append(also[rows])
            faces = self._facing(np.concatenate(tried, axis=1), normals[rows])
            return search.among(faces, points[rows])

        with workers(0) as pool:
            blocks = pool.over_rows(block, len(points), _ROWS)
        face = np.concatenate([of.face for of, _ in blocks])
        weights = np.concatenate([of.barycentric for of, _ in blocks])
        swapped = self._flipped[face]
        weights[swapped] = weights[swapped][:, [0, 2, 1]]
        return SurfacePoints(face, weights), np.concatenate([place for _, place in blocks])

    @cached_property
    def _search(self) -> tuple[FacingSearch, cKDTree, np.ndarray]:
        used = np.unique(self.mesh.faces)
        return (
            FacingSearch(self.outside, _NORMAL_WEIGHT * self._edge, _BY_CENTRE),
            cKDTree(self.mesh.vertices[used]),
            _faces_around(self.mesh)[used],
        )

    def _facing(self, faces: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """The (n, k) triangles with those that face away replaced, unless all of them do."""
        agree = np.einsum("nkx,nx->nk", self.outside.face_normals[faces], normals) > 0
        agree |= ~agree.any(axis=1, keepdims=True)
        first = faces[np.arange(len(faces)), agree.argmax(axis=1)]
        return np.where(agree, faces, first[:, None])


def _faces_around(mesh: Mesh) -> np.ndarray:
    """(n, _AROUND) faces at every vertex; the last is repeated, a vertex of no face has face 0."""
    flat = mesh.faces.ravel()
    order = np.argsort(flat, kind="stable") // 3
    counts = np.bincount(flat, minlength=mesh.n_vertices)
    starts = np.cumsum(counts) - counts
    step = np.minimum(np.arange(_AROUND), np.maximum(counts, 1)[:, None] - 1)
    place = np.minimum(starts[:, None] + step, len(order) - 1)
    return np.where(counts[:, None] > 0, order[place], 0)
