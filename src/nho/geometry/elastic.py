"""As-rigid-as-possible deformation of a surface (Sorkine and Alexa 2007, spokes and rims).

Legend: rest edges e_ij, cotangent weights w_ij, a rotation R_i for every vertex.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from nho.geometry.alignment import nearest_rotations
from nho.geometry.mesh import FloatArray, Mesh
from nho.geometry.solvers import ChangingDiagonal, Factor
from nho.geometry.spectrum import cotangents

# Weights outside this range belong to slivers; clipped, every local step stays well posed.
_WEIGHT_RANGE = (0.05, 5.0)
_FREE = 1e-6  # share of the hold that is left where a surface is let go: pieces without any stay


class Elastic:
    """The rest shape of a surface: how it resists bending, and how bent a pose is.

    Attributes
    ----------
    stiffness : (n, n) sparse matrix
        Laplacian of the clipped cotangent weights (no unit).
    unit : float
        Mean diagonal of the stiffness; weights of targets are given in this unit.
    """

    def __init__(self, rest: Mesh) -> None:
        matrix = cotangents(rest)
        matrix.data = np.clip(matrix.data, *_WEIGHT_RANGE)
        weights = matrix.tocoo()
        self._i, self._j, self._w = weights.row, weights.col, weights.data
        n, directed = rest.n_vertices, len(weights.data)
        degree = np.asarray(matrix.sum(axis=1)).ravel()
        self.stiffness = sp.csc_matrix(sp.diags(degree) - matrix)
        self._system = ChangingDiagonal(self.stiffness, rest.name)
        self.unit = float(degree.mean())
        self._edges = rest.vertices[self._i] - rest.vertices[self._j]
        # w_ij e_ij as one sparse matrix an axis: below each other they gather positions around a
        # vertex, beside each other they gather the rotations there.
        axes = [
            sp.csr_matrix((self._w * self._edges[:, axis], (self._i, self._j)), shape=(n, n))
            for axis in range(3)
        ]
        self._below, self._beside = sp.csr_matrix(sp.vstack(axes)), sp.csr_matrix(sp.hstack(axes))
        self._pull = np.stack([np.asarray(of.sum(axis=1)).ravel() for of in axes], axis=1)
        self._gather = sp.csr_matrix(
            (np.ones(directed), (self._i, np.arange(directed))), shape=(n, directed)
        )
        self._average = sp.csr_matrix(sp.diags(1 / degree) @ matrix)
        self._size = self._gather @ (self._w * (self._edges**2).sum(axis=1))

    def solver(self, target_weights: np.ndarray) -> Factor:
        """Factorised global step: stiffness plus (n,) target weights in absolute units."""
        return self._system.factorised(target_weights)

    def local_step(self, positions: np.ndarray, rotations: np.ndarray | None = None) -> np.ndarray:
        """(n, 3) right-hand side of the global step: every fan rotated as in the pose."""
        rotations = self.rotations(positions) if rotations is None else rotations
        own = np.einsum("nij,nj->ni", rotations, self._pull)
        around = self._beside @ np.concatenate([rotations[:, :, axis] for axis in range(3)])
        right: FloatArray = 0.5 * (own + around)
        return right

    def released(self, positions: np.ndarray, held: np.ndarray) -> np.ndarray:
        """(n, 3) where the surface comes to rest if only some vertices of a pose are held.

        Rotations go on harmonically from what is held (Zayer et al. 2005, harmonic guidance), so
        two solves with one factorisation do for what would take many elastic steps.

        Parameters
        ----------
        positions : (n, 3) float array
            The pose.
        held : (n,) bool array
            Vertices that stay where they are.
        """
        weights = self.unit * np.where(held, 1.0, _FREE)
        solver, n = self.solver(weights), len(positions)
        of_pose = self.rotations(positions).reshape(n, 9)
        rotations = nearest_rotations(solver.solve(weights[:, None] * of_pose).reshape(n, 3, 3))
        right = self.local_step(positions, rotations) + weights[:, None] * positions
        return solver.solve(right)

    def distortion(
        self, positions: np.ndarray, smoothing: int = 2, rotations: np.ndarray | None = None
    ) -> np.ndarray:
        """(n,) relative misfit of every fan to a rigid motion, averaged over neighbours."""
        fans = self._fans(positions)
        rotations = nearest_rotations(fans) if rotations is None else rotations
        # |bent - rotated|^2 multiplied out: the fans hold the sums of the mixed products.
        bent = self._gather @ (
            self._w * ((positions[self._i] - positions[self._j]) ** 2).sum(axis=1)
        )
        size = self._size
        misfit = np.maximum(bent + size - 2 * np.einsum("nij,nij->n", rotations, fans), 0)
        for _ in range(smoothing):
            misfit, size = misfit + self._average @ misfit, size + self._average @ size
        relative: FloatArray = np.sqrt(misfit / size)
        return relative

    def averaged(self, values: np.ndarray, rounds: int) -> np.ndarray:
        """(n,) values, averaged with those of the neighbours so many times."""
        for _ in range(rounds):
            values = (values + self._average @ values) / 2
        return values

    def rotations(self, positions: np.ndarray) -> np.ndarray:
        """(n, 3, 3) best rotation of every vertex's fan; pass it on where it is needed twice."""
        return nearest_rotations(self._fans(positions))

    def _fans(self, positions: np.ndarray) -> np.ndarray:
        """(n, 3, 3) sums of w_ij times bent edge times rest edge around every vertex."""
        around = (self._below @ positions).reshape(3, -1, 3)  # axis of the rest edge, vertex, axis
        own = positions[:, :, None] * self._pull[:, None, :]
        return np.asarray(own - around.transpose(1, 2, 0))
