"""The two surfaces of a fit: the scan to follow, and the elastic template that follows it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from nho.geometry.alignment import nearest_rotations, similarity
from nho.geometry.coverage import on_boundary
from nho.geometry.elastic import Elastic
from nho.geometry.mesh import Mesh
from nho.geometry.repair import Repaired, repair
from nho.geometry.solvers import Factor, factorised
from nho.geometry.surface import SurfacePoints
from nho.transfer.maps import SurfaceMap
from nho.transfer.oriented import OrientedSurface, inconsistent_faces

_FOLLOWED = 50  # vertices that a loose part (an eye, a button) is fixed to


class Scan:
    """The partial surface, welded, in the unit of the full shape and with its outside.

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
        self.size = self.mesh.diagonal
        self._of_face = np.full(partial.n_faces, -1)
        self._of_face[repaired.given_face] = np.arange(self.mesh.n_faces)
        faces = partial.faces[repaired.given_face]
        self._has_partner = np.asarray(surface_map.has_partner[faces].all(axis=1))
        flipped = self._flipped(surface_map)
        self._surface = OrientedSurface(self.mesh, flipped, surface_map.full.mean_edge_length)

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
        """Closest points (n, 3) that face the same way, and (n,) whether they are inside.

        What has no partner on the template is not: a plinth does not pull.
        """
        found, place = self._surface.nearest(points, normals)
        return place, self._has_partner[found.face] & ~on_boundary(self.mesh, found)

    def _flipped(self, surface_map: SurfaceMap) -> np.ndarray:
        """(m,) faces to flip so that the outside is that of the full shape, part by part."""
        flipped = inconsistent_faces(self.mesh)
        chosen = self._of_face[surface_map.mapped_faces]
        kept = chosen >= 0
        chosen, inside_out = chosen[kept], surface_map.mapped_inside_out[kept]
        part = self.mesh.components[self.mesh.faces[:, 0]]
        sign = np.where(inside_out ^ flipped[chosen], -1.0, 1.0) * self.mesh.face_areas[chosen]
        votes = np.bincount(part[chosen], sign, minlength=part.max() + 1)
        votes[votes == 0] = votes.sum()
        return np.asarray(flipped ^ (votes < 0)[part])


class Template:
    """A template in one piece wherever its vertices meet, times ``size``.

    Parameters
    ----------
    given : Mesh
        The template.
    repaired : Repaired
        The same; vertices at the same place (split at texture seams) are one there.
    has_target : (n,) bool array
        Vertices of the repaired mesh that follow the scan.

    Attributes
    ----------
    rest : Mesh
        The repaired mesh in the size of the scan.
    elastic : Elastic
    """

    def __init__(
        self, given: Mesh, repaired: Repaired, size: float, has_target: np.ndarray
    ) -> None:
        self.rest = repaired.mesh.scaled(size)
        self.elastic = Elastic(self.rest)
        self._given, self._repaired = given, repaired
        self._size, self._has_target = size, has_target
        self._component = connected_components(self.elastic.stiffness, directed=False)[1]
        self._reached = np.isin(self._component, np.unique(self._component[has_target]))
        swap = inconsistent_faces(self.rest)[:, None]
        self._faces = np.where(swap, self.rest.faces[:, [0, 2, 1]], self.rest.faces)

    def posed(self, positions: np.ndarray) -> Mesh:
        """The surface at other positions, with one outside."""
        return Mesh(positions, self._faces, self.rest.name)

    def extended(self, rotations: np.ndarray) -> np.ndarray:
        """(n, 3, 3) rotations: as they are at vertices with a target, smooth from there on."""
        free, border, solver = self._extension
        if solver is None:
            return rotations
        out = rotations.copy()
        right = -(border @ rotations[self._has_target].reshape(-1, 9))
        out[free] = nearest_rotations(solver.solve(right).reshape(-1, 3, 3))
        return out

    @cached_property
    def _extension(self) -> tuple[np.ndarray, sp.csr_matrix, Factor | None]:
        stiffness = sp.csr_matrix(self.elastic.stiffness)
        free = self._reached & ~self._has_target
        border = stiffness[free][:, self._has_target]
        solver = factorised(stiffness[free][:, free], self.rest.name) if free.any() else None
        return free, border, solver

    def to_given(self, values: np.ndarray, nothing: float) -> np.ndarray:
        """(n_given,) values of all vertices of the template as it was given."""
        of_given = self._repaired.solver_of_given
        return np.where(of_given >= 0, values[of_given], nothing).astype(values.dtype)

    def with_loose_parts(self, positions: np.ndarray) -> np.ndarray:
        """(n_full, 3) positions of all vertices of the template as it was given.

        Parts without any target, and vertices of no face, go along with what is near.
        """
        of_given = self._repaired.solver_of_given
        given = self._given.vertices * self._size
        inside = of_given >= 0
        out = np.empty_like(given)
        out[inside] = positions[of_given[inside]]
        loose = ~inside | ~self._reached[of_given]
        if not loose.any():
            return out
        reached = np.flatnonzero(self._reached)
        tree = cKDTree(self.rest.vertices[reached])
        part = np.where(inside, self._component[of_given], -1)
        for number in np.unique(part[loose]):
            rows = np.flatnonzero(loose & (part == number))
            near = tree.query(given[rows], k=min(_FOLLOWED, len(reached)))[1]
            near = reached[np.unique(near)]
            start, goal = self.rest.vertices[near], positions[near]
            _, rotation, _ = similarity(start, goal)
            out[rows] = (given[rows] - start.mean(axis=0)) @ rotation.T + goal.mean(axis=0)
        return out
