"""Which part of the full shape the bent partial surface covers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.geometry.closest import FacingSearch
from nho.geometry.mesh import BoolArray, Mesh, trusted_mesh
from nho.geometry.surface import SurfacePoints

_TRIED = 12  # triangles per vertex: the partial shape may be meshed much finer than the full one
_INNER_REACH = 2.0  # mean edges of the full shape, inside the partial surface
_RIM_REACH = 0.6  # and beside its rim: half a triangle
_RIM_REACH_OF_PARTIAL = 1.5  # mean edges of the partial shape, if that is less


@dataclass(frozen=True)
class Coverage:
    """Where every vertex of the full shape lands on the bent partial surface.

    Attributes
    ----------
    gap : (n_full,) float array
        Distance to the closest point, in mean edges of the full shape.
    on_rim : (n_full,) bool array
        Whether that point lies on the boundary of the partial surface: the vertex is beside it,
        not under it.
    agreement : (n_full,) float array
        Cosine between the normals, -1 to 1.
    rim_reach : float
        Mean edges beside the rim that still count as covered.
    """

    gap: np.ndarray
    on_rim: np.ndarray
    agreement: np.ndarray
    rim_reach: float = _RIM_REACH

    def covered(self) -> np.ndarray:
        """(n_full,) bool: under the surface, or beside its rim by less than its reach."""
        return self.score() > 0.5

    def score(self) -> np.ndarray:
        """(n_full,) 0 to 1, falling with the gap; one half at the reach."""
        reach = np.where(self.on_rim, self.rim_reach, _INNER_REACH)
        return 1 / (1 + (self.gap / reach) ** 2)


class Cover:
    """The partial surface bent to (n, 3) positions, for points to be projected to it."""

    def __init__(self, partial: Mesh, positions: np.ndarray) -> None:
        self._partial, self._bent = partial, partial.moved(positions)
        self._search = FacingSearch(self._bent, tried=_TRIED) if partial.n_faces else None

    def over(self, points: np.ndarray, normals: np.ndarray, edge: float) -> Coverage:
        """Of (k, 3) points with unit normals; gaps in mean edges of that length."""
        if self._search is None:
            n = len(points)
            return Coverage(np.full(n, np.inf), np.zeros(n, dtype=bool), np.zeros(n))
        found, closest = self._search(points)
        gap = np.linalg.norm(closest - points, axis=1) / edge
        agreement = (self._bent.face_normals[found.face] * normals).sum(axis=1)
        # Half a triangle of a coarse full shape may be much more than the rim is uncertain by.
        reach = min(_RIM_REACH, _RIM_REACH_OF_PARTIAL * self._bent.mean_edge_length / edge)
        return Coverage(gap, on_boundary(self._partial, found), agreement, reach)


def coverage(partial: Mesh, positions: np.ndarray, full: Mesh) -> Coverage:
    """Project the full shape's vertices to the partial surface bent to (n, 3) positions."""
    cover = Cover(partial, positions)
    return cover.over(full.vertices, full.vertex_normals, full.mean_edge_length)


def part_within(mesh: Mesh, inside: np.ndarray) -> Mesh:
    """The same vertices, and those faces alone whose corners are all ``inside`` (n bool)."""
    if inside.all():
        return mesh
    return trusted_mesh(mesh.vertices, mesh.faces[inside[mesh.faces].all(axis=1)], mesh.name)


def on_boundary(mesh: Mesh, points: SurfacePoints) -> BoolArray:
    """(n,) bool: points that lie on a boundary edge or a boundary vertex."""
    is_boundary = np.append(mesh.edge_face_counts == 1, False)  # the last stands for "no edge"
    opposite = mesh.face_edges[points.face][:, [1, 2, 0]]
    on_rim: BoolArray = (is_boundary[opposite] & (points.barycentric <= 1e-9)).any(axis=1)
    # A point at a vertex may be named by a triangle that has no boundary edge itself.
    at_vertex = points.barycentric.max(axis=1) >= 1 - 1e-9
    vertex = mesh.faces[points.face, points.barycentric.argmax(axis=1)]
    on_rim |= at_vertex & mesh.boundary_vertices[vertex]
    return on_rim
