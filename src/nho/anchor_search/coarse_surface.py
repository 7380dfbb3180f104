"""What can be measured at the vertices ("places") of a surface before anything is matched.

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
from nho.geometry.relief import relief, standardised
from nho.geometry.spectrum import laplacian
from nho.geometry.tangents import gradient

# Lengths are in units of sqrt(area of the full shape), here and in the whole search.
RADII = np.array([0.06, 0.1, 0.15, 0.2, 0.27, 0.35, 0.45, 0.6])
_APART = 3.0  # times the longest path: what stands for no path at all
_FINE = 10_000  # vertices that relief is measured on, at most
_COARSER = 1.2  # a mesh with no more than this many times the vertices asked for stays as it is

# Of `unlikeness`; standard deviations are what true partners differ by, as measured.
_RELIEF_STD = 0.4  # of standardised relief
# Of relief, fine to coarse, with sum one: the coarser, the more it tells of build than of place.
_SCALE_WEIGHTS = np.array([0.5, 0.33, 0.17])
_REACH_STD = 0.15  # of the logarithm of areas
_SLACK = 0.1  # by which the area of a cut reach may be larger, in logarithm
_NEAR_RIM = 0.1  # relief nearer to the boundary counts less
_MOST = 9.0  # squares beyond this count no more: whatever it is, it does not fit
NO_ANCHORS = np.empty((0, 2), dtype=np.int64)


@dataclass(frozen=True)
class CoarseSurface:
    """A coarse surface and what was measured at its places.

    Attributes
    ----------
    mesh : Mesh
    vertex : (n,) int array
        Vertex of the measured mesh for every one of the coarse one.
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

    @classmethod
    def of(
        cls, mesh: Mesh, count: int, kind: str = "robust", keep: np.ndarray = NO_ANCHORS[:, 0]
    ) -> CoarseSurface:
        """Measure a mesh at about ``count`` places (all vertices if it has fewer).

        ``kind`` is that of `nho.geometry.spectrum.laplacian`; the vertices to ``keep`` are among
        the places.
        """
        # Relief is measured on a finer surface: coarse ones are flatter.
        fine, of_fine = _at_most(mesh, _FINE, keep)
        fine_relief = relief(fine, laplacian(fine, kind))
        coarse, of_coarse = _at_most(fine, count, np.searchsorted(of_fine, keep))
        distance = distances_from(unfolded_graph(coarse), np.arange(coarse.n_vertices))
        distance = np.minimum(distance, _APART * distance[np.isfinite(distance)].max())
        boundary = coarse.boundary_vertices
        slope = np.asarray(gradient(coarse) @ distance).T
        steepness = np.maximum(np.abs(slope), np.finfo(float).tiny)
        return cls(
            coarse,
            of_fine[of_coarse],
            distance,
            (slope / steepness).astype(np.complex64),
            distance[boundary].min(axis=0) if boundary.any() else np.full(len(distance), np.inf),
            _within(distance, coarse),
            fine_relief[of_coarse],
        )

    def places(self, vertices: np.ndarray) -> np.ndarray:
        """(k,) places that some kept vertices of the measured mesh are."""
        return np.searchsorted(self.vertex, vertices)

    def flipped(self) -> CoarseSurface:
        """The same surface with its other side out."""
        mesh = trusted_mesh(self.mesh.vertices, self.mesh.faces[:, ::-1], self.mesh.name)
        return replace(self, mesh=mesh, direction=self.direction.conj(), relief=-self.relief)


def unlikeness(partial: CoarseSurface, full: CoarseSurface) -> np.ndarray:
    """(n_partial, n_full) mean squared differences over their variances; 0 = alike.

    A cut leaves the relief of a place as it was, and can only take from the area within its reach:
    all of it is there within the distance to the boundary, and beyond that there may be less. Among
    the places of the full shape that are least unlike a place of the partial one, the true partner
    is mostly within the first percent; alone it is far from certain.
    """
    own, other = standardised(partial.relief, full.relief)
    gap = ((own[:, None, :] - other[None]) / _RELIEF_STD) ** 2
    trust = np.clip(partial.rim / _NEAR_RIM, 0, 1)
    total: np.ndarray = trust[:, None] * (np.minimum(gap, _MOST) @ _SCALE_WEIGHTS)
    for column, radius in enumerate(RADII):
        excess = np.log(partial.reach[:, column])[:, None] - np.log(full.reach[:, column])
        whole = (partial.rim > radius)[:, None]
        excess = np.where(whole, excess, np.maximum(excess - _SLACK, 0))
        total += np.minimum((excess / _REACH_STD) ** 2, _MOST) / len(RADII)
    return total


def _at_most(mesh: Mesh, count: int, keep: np.ndarray) -> tuple[Mesh, np.ndarray]:
    """The mesh with about ``count`` vertices, and which of its own they are, in their order."""
    if mesh.n_vertices <= _COARSER * count:
        return mesh, np.arange(mesh.n_vertices)
    made = coarsened(mesh, count, keep)
    return made.mesh, made.vertex


def _within(distance: np.ndarray, mesh: Mesh) -> np.ndarray:
    """(n, radii) area within reach; at the edge of the reach vertices count in part."""
    edge = mesh.mean_edge_length
    shares = [np.clip((radius - distance) / edge + 0.5, 0, 1) for radius in RADII]
    return np.stack([share @ mesh.vertex_areas for share in shares], axis=1)
