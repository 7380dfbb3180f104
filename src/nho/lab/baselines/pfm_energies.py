"""The two energies of Partial Functional Maps, with their gradients.

Legend (Rodola et al. 2017; N partial, M full): C takes coefficients on N to coefficients on M;
A, B are the descriptors' coefficients; v is a function on M whose ``eta(v)`` is one inside the
region and zero outside; W keeps C near a slanted diagonal, of which the first r columns count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.geometry.mesh import FloatArray, Mesh

# The weights as published. They fit shapes of the area `nho.lab.baselines.pfm` scales to.
SLANT, ORTHOGONALITY, AREA, BOUNDARY = 1.0, 1e3, 1.0, 1e2
_MIDDLE, _STEEPNESS = 0.5, 6.0  # of the mask
_SIGMA = 0.2  # how far from the middle v still counts as boundary
_FADE = 0.03  # of the slanted mask, per index: high frequencies may stray


def mask(v: np.ndarray) -> np.ndarray:
    """Soft indicator of the region: ``eta(v) = (1 + tanh(6 (v - 1/2))) / 2``."""
    return 0.5 + 0.5 * np.tanh(_STEEPNESS * (v - _MIDDLE))


def slanted_penalty(size: int, rank: int) -> FloatArray:
    """(size, size) W: distance of (row, column) from the line with slope rank / size, faded."""
    row, column = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    slope = rank / size
    away = np.abs(slope * row - column) / np.hypot(1, slope)
    penalty: FloatArray = np.exp(-_FADE * np.hypot(row + 1, column + 1)) * away
    return penalty


@dataclass(frozen=True)
class MapEnergy:
    """Energy of the functional map C, for a given region.

    ``|C A - B|_21 + mu (|C * W|^2 + 1000 |C^T C - diag(1 .. 1, 0 .. 0)|^2)``, the first norm being
    the sum of the lengths of the columns, so that a descriptor that does not fit counts little.

    Attributes
    ----------
    source, target : (k, d) float arrays
        A and B.
    penalty : (k, k) float array
        W.
    rank : int
        Number of ones.
    """

    source: np.ndarray
    target: np.ndarray
    penalty: np.ndarray
    rank: int

    def __call__(self, flat: np.ndarray) -> tuple[float, np.ndarray]:
        """Energy and gradient at C, row by row in one vector."""
        size = len(self.penalty)
        matrix = flat.reshape(size, size)
        misfit = matrix @ self.source - self.target
        length, direction = column_lengths(misfit)
        gram = matrix.T @ matrix
        gram[np.arange(self.rank), np.arange(self.rank)] -= 1
        slanted = matrix * self.penalty
        energy = length.sum() + SLANT * (slanted**2).sum() + ORTHOGONALITY * (gram**2).sum()
        gradient = direction @ self.source.T
        gradient += 2 * SLANT * slanted * self.penalty
        gradient += 4 * ORTHOGONALITY * matrix @ gram
        return float(energy), gradient.ravel()


@dataclass(frozen=True)
class RegionEnergy:
    """Energy of the region v, for a given functional map.

    ``|C A - Psi^T S diag(eta(v)) G|_21 + mu (area(N) - area of eta(v))^2 + mu' length``, where
    the length is that of the region's boundary, ``integral of xi(v) |grad v|``.

    Attributes
    ----------
    goal : (k, d) float array
        C A.
    project : (k, n) float array
        Psi^T S: functions on the full shape to coefficients.
    descriptors : (n, d) float array
        G. The large products run in its precision.
    masses : (n,) float array
        Areas of the full shape's vertices.
    area : float
        Of the partial shape.
    boundary : BoundaryLength
    """

    goal: np.ndarray
    project: np.ndarray
    descriptors: np.ndarray
    masses: np.ndarray
    area: float
    boundary: BoundaryLength

    def __call__(self, v: np.ndarray) -> tuple[float, np.ndarray]:
        """Energy and gradient at v."""
        inside = mask(v)
        kind = self.descriptors.dtype
        masked = inside[:, None].astype(kind) * self.descriptors
        misfit = self.goal - self.project @ masked
        length, direction = column_lengths(misfit)
        missing = self.area - inside @ self.masses
        boundary, slope = self.boundary(v)
        energy = length.sum() + AREA * missing**2 + BOUNDARY * boundary
        pull = self.project.T @ direction.astype(kind)
        by_mask = -np.einsum("nd,nd->n", pull, self.descriptors).astype(np.float64)
        by_mask -= 2 * AREA * missing * self.masses
        steepness = 2 * _STEEPNESS * inside * (1 - inside)
        return float(energy), by_mask * steepness + BOUNDARY * slope


class BoundaryLength:
    """Length of the line where a function on a mesh is one half, made smooth.

    ``integral of xi(v) |grad v|`` with ``xi(v) = exp(-(v - 1/2)^2 / 2 sigma^2)``: by the co-area
    formula, lengths of level lines, those near one half counted most.
    """

    def __init__(self, mesh: Mesh) -> None:
        self._faces = mesh.faces
        a, b, c = (mesh.vertices[corner] for corner in mesh.faces.T)
        # The gradient's length, times twice the area, is sqrt(u^T Q u) with u the two differences
        # of v along the edges from the first corner.
        self._uu = ((c - a) ** 2).sum(axis=1)
        self._ww = ((b - a) ** 2).sum(axis=1)
        self._uw = ((b - a) * (c - a)).sum(axis=1)

    def __call__(self, v: np.ndarray) -> tuple[float, np.ndarray]:
        """Length and gradient at v."""
        at = v[self._faces]
        u, w = at[:, 1] - at[:, 0], at[:, 2] - at[:, 0]
        by_u, by_w = self._uu * u - self._uw * w, self._ww * w - self._uw * u
        # Rounding may leave a small negative square where v does not change.
        steep = np.sqrt(np.maximum(u * by_u + w * by_w, 0))
        near = np.exp(-((v - _MIDDLE) ** 2) / (2 * _SIGMA**2))
        nearness = near[self._faces].sum(axis=1)
        share = np.divide(nearness, steep, out=np.zeros_like(steep), where=steep > 0)
        by_u, by_w = share * by_u, share * by_w
        corner = np.stack([-by_u - by_w, by_u, by_w], axis=1)
        n = len(v)
        by_steepness = np.bincount(self._faces.ravel(), corner.ravel(), minlength=n)
        around = np.bincount(self._faces.ravel(), np.repeat(steep, 3), minlength=n)
        by_nearness = -around * near * (v - _MIDDLE) / _SIGMA**2
        return float(nearness @ steep / 6), (by_steepness + by_nearness) / 6


def column_lengths(misfit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lengths of the columns and the columns over them; zero columns stay zero."""
    length = np.sqrt((misfit**2).sum(axis=0))
    return length, misfit / np.where(length > 0, length, 1)
