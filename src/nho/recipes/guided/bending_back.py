"""Bend the full surface back onto the partial one, and read the map off it.

The partial surface ends at its rim, where nothing but itself holds it. The full surface goes on
beyond: bent back by the map, it is smooth across that rim, as the map should be, and its own detail
keeps it from sliding. Every vertex of the partial shape then goes to what is nearest on it, unless
that is far from where it was: where the scan touches itself, it may be another part. Pieces of a
scan need not lie side by side, so each is taken by itself. Only hundreds of anchors hold the
partial surface better.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from nho.geometry.closest import FacingSearch
from nho.geometry.coverage import on_boundary
from nho.geometry.elastic import Elastic
from nho.geometry.mesh import BoolArray, FloatArray, IntArray, Mesh, trusted_mesh
from nho.geometry.surface import SurfacePoints
from nho.recipes.guided.comparable import ComparablePair

_COVERED = 1.0  # mean edges from the bent partial surface, within which it covers a vertex
_RINGS = 8  # of vertices beyond what is covered, that the full surface is bent with
_FOLLOW, _CLOSE_IN = 6, 4  # steps by the map alone, and to the closest points as well
_ROTATIONS_CARRIED = 3  # of the first: beyond what is covered, rotations are those of its rim
_MAP_PULL, _CLOSEST_PULL = 0.2, 1.0  # shares of the elastic unit
_WIDTH = 3.0  # mean edges: places of the map farther from the smooth surface lose their pull
_NEAR = 1.5  # mean edges: closest points farther away are not followed
_FARTHEST = 5.0  # mean edges that a partner may move
_NORMAL_WEIGHT = 0.7  # mean edges: how far a vertex goes to find a surface that faces its way
_FLOOR = 1e-9  # pull to where they are, for parts that nothing else pulls
_FEWEST = 4  # covered vertices, without which there is nothing to bend


def bent_back(
    positions: np.ndarray,
    points: SurfacePoints,
    pair: ComparablePair,
    partner: BoolArray,
    of_points: bool = False,
) -> SurfacePoints:
    """The map of a pose, read off the full surface bent onto the partial one.

    Parameters
    ----------
    positions, points
        Of the partial surface bent onto the full one (n_partial, 3), and the map of that pose.
    partner : (n_partial,) bool array
        Vertices that have a partner; the others neither pull nor move.
    of_points : bool
        The partial surface is a guess through points: its normals do not say where they belong.
    """
    if len(pair.distances.others):
        return points
    piece = pair.partial.components
    for number in np.unique(piece[partner]):
        points = _piece_bent_back(positions, points, pair, partner & (piece == number), of_points)
    return points


def _piece_bent_back(
    positions: np.ndarray,
    points: SurfacePoints,
    pair: ComparablePair,
    partner: BoolArray,
    of_points: bool,
) -> SurfacePoints:
    """The same for the vertices of one piece that have a partner."""
    back = _Back(positions, pair, partner)
    if back.covered.sum() < _FEWEST:
        return points
    found, image = back.read_off(back.bent(), 0.0 if of_points else _NORMAL_WEIGHT)
    edge = pair.full.mean_edge_length
    moved = np.linalg.norm(image - points.positions(pair.full), axis=1)
    taken = partner & (moved <= _FARTHEST * edge)
    return SurfacePoints(
        np.where(taken, found.face, points.face),
        np.where(taken[:, None], found.barycentric, points.barycentric),
    )


class _Back:
    """That part of the full surface which a piece in its pose covers, and what is around it.

    Attributes
    ----------
    covered : (n,) bool array
        Vertices of the part that have a place on the partial surface.
    """

    def __init__(self, positions: np.ndarray, pair: ComparablePair, partner: BoolArray) -> None:
        partial, full = pair.partial, pair.full
        self._partial, self._edge = partial, full.mean_edge_length
        self._partner = partner
        posed = FacingSearch(partial.moved(positions), _NORMAL_WEIGHT * self._edge)
        places, closest = posed(full.vertices, full.vertex_normals)
        gap = np.linalg.norm(closest - full.vertices, axis=1)
        covered = (gap < _COVERED * self._edge) & self._inside(places)
        self._faces = _surrounding(full, covered)
        self._part, vertices = _part(full, self._faces)
        self.covered = covered[vertices]
        self._images = places.positions(partial)[vertices]

    def bent(self) -> FloatArray:
        """(n, 3) the part on the partial surface: first by the map, then by closest points."""
        part, images, covered = self._part, self._images, self.covered
        elastic = Elastic(part)
        # Where vertices are denser than on average, noise of the targets would fold the surface.
        density = np.minimum(part.vertex_areas / part.vertex_areas.mean(), 1.0)
        unit, floor = elastic.unit * density * covered, _FLOOR * elastic.unit
        rim = np.flatnonzero(covered)[cKDTree(part.vertices[covered]).query(part.vertices)[1]]
        positions, rotations = images, elastic.rotations(images)[rim]
        weights = _MAP_PULL * unit
        solver = elastic.solver(weights + floor)
        for step in range(_FOLLOW):
            right = elastic.local_step(positions, rotations)
            positions = solver.solve(right + weights[:, None] * images + floor * positions)
            rotations = elastic.rotations(positions)
            if step < _ROTATIONS_CARRIED:
                rotations = rotations[rim]
        gap = ((positions - images) ** 2).sum(axis=1)
        weights = weights / (1 + gap / (_WIDTH * self._edge) ** 2)
        scan = FacingSearch(self._partial, _NORMAL_WEIGHT * self._edge)
        candidates = scan.candidates(*self._place(positions))
        for step in range(_CLOSE_IN):
            found, closest = scan.among(candidates, *self._place(positions))
            if step == 0:
                gap = np.linalg.norm(closest - positions, axis=1)
                near = (gap < _NEAR * self._edge) & self._inside(found)
                firm = _CLOSEST_PULL * unit * near + floor
                solver = elastic.solver(weights + firm)
            goals = np.where(near[:, None], closest, positions)
            right = elastic.local_step(positions) + weights[:, None] * images
            positions = solver.solve(right + firm[:, None] * goals)
        return positions

    def read_off(
        self, positions: np.ndarray, normal_weight: float
    ) -> tuple[SurfacePoints, FloatArray]:
        """Points of the full surface nearest to the partial vertices, and where they are."""
        posed = FacingSearch(self._part.moved(positions), normal_weight * self._edge)
        found, _ = posed(self._partial.vertices, self._partial.vertex_normals)
        image = found.positions(self._part)
        return SurfacePoints(self._faces[found.face], found.barycentric), image

    def _place(self, positions: np.ndarray) -> tuple[np.ndarray, FloatArray]:
        """Positions and normals of the part there."""
        return positions, self._part.moved(positions).vertex_normals

    def _inside(self, points: SurfacePoints) -> BoolArray:
        """(n,) whether points of the partial surface are on the piece and not on its rim."""
        partner = self._partner[self._partial.faces[points.face]].all(axis=1)
        return np.asarray(partner & ~on_boundary(self._partial, points))


def _surrounding(mesh: Mesh, vertices: BoolArray) -> IntArray:
    """Faces of some vertices and of what is around them."""
    inside = vertices.copy()
    for _ in range(_RINGS):
        inside[mesh.faces[inside[mesh.faces].any(axis=1)]] = True
    return np.flatnonzero(inside[mesh.faces].all(axis=1))


def _part(mesh: Mesh, faces: IntArray) -> tuple[Mesh, IntArray]:
    """A mesh of some faces of another, in their order, and which vertices it has."""
    vertices, corners = np.unique(mesh.faces[faces], return_inverse=True)
    return trusted_mesh(mesh.vertices[vertices], corners.reshape(-1, 3), mesh.name), vertices
