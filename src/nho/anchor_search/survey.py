"""What can be known of the places on a surface before anything is matched.

Everything here is kept by bending and cutting as far as possible: distances along the surface, the
directions they set out in, the area within reach of a place, and its relief. It is measured on a
coarse surface of about a thousand vertices, where all pairs fit into one table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nho.geometry.coarsening import coarsened
from nho.geometry.geodesics import distances_from, unfolded_graph
from nho.geometry.mesh import Mesh, trusted_mesh
from nho.geometry.relief import relief
from nho.geometry.spectrum import laplacian
from nho.geometry.tangents import gradient

# Lengths are in units of sqrt(area of the full shape), here and in the whole search.
RADII = np.array([0.06, 0.1, 0.15, 0.2, 0.27, 0.35, 0.45, 0.6])
_APART = 3.0  # times the longest path: what stands for no path at all
_FINE = 10_000  # vertices that relief is measured on, at most
_COARSER = 1.2  # a mesh with no more than this many times the vertices asked for stays as it is


@dataclass(frozen=True)
class Survey:
    """A coarse surface and what is known of its places.

    Attributes
    ----------
    mesh : Mesh
    vertex : (n,) int array
        Vertex of the surveyed mesh for every one of the coarse one.
    distance : (n, n) float array
        Along the surface.
    direction : (n, n) complex array
        Unit vector at the second place, in its own frame, that leads straight away from the first.
    rim : (n,) float array
        Distance to the boundary; inf if there is none.
    reach : (n, radii) float array
        Area within each of `RADII`.
    relief : (n, scales) float array
    """

    mesh: Mesh
    vertex: np.ndarray
    distance: np.ndarray
    direction: np.ndarray
    rim: np.ndarray
    reach: np.ndarray
    relief: np.ndarray

    @property
    def area(self) -> np.ndarray:
        """(n,) share of the surface that belongs to each place."""
        return self.mesh.vertex_areas

    @property
    def bulge(self) -> float:
        """Mean relief: above zero for a body whose normals point outwards."""
        return float(np.average(self.relief.mean(axis=1), weights=self.area))

    def turned_over(self) -> Survey:
        """The same surface with its other side out."""
        mesh = trusted_mesh(self.mesh.vertices, self.mesh.faces[:, ::-1], self.mesh.name)
        return replace(self, mesh=mesh, direction=self.direction.conj(), relief=-self.relief)


def survey(mesh: Mesh, count: int, kind: str = "robust") -> Survey:
    """Survey a connected mesh through about ``count`` places (all its vertices if it has fewer).

    ``kind`` is that of `nho.geometry.spectrum.laplacian`.
    """
    fine, of_fine = _at_most(mesh, _FINE)  # for the relief, since coarse surfaces are flatter
    looks = relief(fine, laplacian(fine, kind))
    coarse, of_coarse = _at_most(fine, count)
    distance = distances_from(unfolded_graph(coarse), np.arange(coarse.n_vertices))
    distance = np.minimum(distance, _APART * distance[np.isfinite(distance)].max())
    boundary = coarse.boundary_vertices
    slope = np.asarray(gradient(coarse) @ distance).T
    steepness = np.maximum(np.abs(slope), np.finfo(float).tiny)
    return Survey(
        coarse,
        of_fine[of_coarse],
        distance,
        (slope / steepness).astype(np.complex64),
        distance[boundary].min(axis=0) if boundary.any() else np.full(len(distance), np.inf),
        _within(distance, coarse),
        looks[of_coarse],
    )


def _at_most(mesh: Mesh, count: int) -> tuple[Mesh, np.ndarray]:
    """The mesh with about ``count`` vertices, and which of its own they are."""
    if mesh.n_vertices <= _COARSER * count:
        return mesh, np.arange(mesh.n_vertices)
    made = coarsened(mesh, count, np.empty(0, dtype=np.int64))
    return made.mesh, made.vertex


def _within(distance: np.ndarray, mesh: Mesh) -> np.ndarray:
    """(n, radii) area within reach; at the edge of the reach vertices count in part."""
    edge = mesh.mean_edge_length
    shares = [np.clip((radius - distance) / edge + 0.5, 0, 1) for radius in RADII]
    return np.stack([share @ mesh.vertex_areas for share in shares], axis=1)
