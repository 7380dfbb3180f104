"""The template as an elastic surface that goes along with the part of it that is held."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from nho.geometry.alignment import nearest_rotations, similarity
from nho.geometry.elastic import Elastic
from nho.geometry.factors import Factor, factorised
from nho.geometry.mesh import Mesh
from nho.geometry.repair import Repaired
from nho.transfer.oriented import faces_that_disagree

_FOLLOWED = 50  # vertices that a loose part (an eye, a button) is fixed to


class Template:
    """A template in one piece wherever its vertices meet, times ``size``.

    Parameters
    ----------
    given : Mesh
        The template.
    repaired : Repaired
        The same; vertices at the same place (split at texture seams) are one there.
    held : (n,) bool array
        Vertices of the repaired mesh that follow the scan.

    Attributes
    ----------
    rest : Mesh
        The repaired mesh in the size of the scan.
    elastic : Elastic
    """

    def __init__(self, given: Mesh, repaired: Repaired, size: float, held: np.ndarray) -> None:
        self.rest = repaired.mesh.scaled(size)
        self.elastic = Elastic(self.rest)
        self._given, self._repaired = given, repaired
        self._size, self._held = size, held
        self._component = connected_components(self.elastic.stiffness, directed=False)[1]
        self._reached = np.isin(self._component, np.unique(self._component[held]))
        swap = faces_that_disagree(self.rest)[:, None]
        self._faces = np.where(swap, self.rest.faces[:, [0, 2, 1]], self.rest.faces)

    def posed(self, positions: np.ndarray) -> Mesh:
        """The surface at other positions, with one outside."""
        return Mesh(positions, self._faces, self.rest.name)

    def extended(self, turns: np.ndarray) -> np.ndarray:
        """(n, 3, 3) rotations: as they are where the template is held, smooth from there on."""
        free, border, solver = self._extension
        if solver is None:
            return turns
        out = turns.copy()
        right = -(border @ turns[self._held].reshape(-1, 9))
        out[free] = nearest_rotations(solver.solve(right).reshape(-1, 3, 3))
        return out

    @cached_property
    def _extension(self) -> tuple[np.ndarray, sp.csr_matrix, Factor | None]:
        stiffness = sp.csr_matrix(self.elastic.stiffness)
        free = self._reached & ~self._held
        border = stiffness[free][:, self._held]
        return (
            free,
            border,
            factorised(stiffness[free][:, free], self.rest.name) if free.any() else None,
        )

    def spread(self, values: np.ndarray, nothing: float) -> np.ndarray:
        """(n_given,) values of all vertices of the template as it was given."""
        of_given = self._repaired.solver_of_given
        return np.where(of_given >= 0, values[of_given], nothing).astype(values.dtype)

    def with_loose_parts(self, positions: np.ndarray) -> np.ndarray:
        """(n_full, 3) positions of all vertices of the template as it was given.

        Parts that are not held anywhere, and vertices of no face, go along with what is near.
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
            _, turn, _ = similarity(start, goal)
            out[rows] = (given[rows] - start.mean(axis=0)) @ turn.T + goal.mean(axis=0)
        return out
