"""Smooth vector fields on a surface: what the components leave of a shape is correlated.

Where a nose is longer than the components can tell, all of it is. So what they leave is taken for a
smooth random field (a Gaussian process), not for independent errors of the vertices: it goes on
beyond the rim of what was measured, fades with the distance from it, and counts in the errors of
scores. The kernel is the rational quadratic of the distance in space, 1 / (1 + d^2 / 2 l^2); on a
symmetric template a point is correlated with its mirror image as well. Luethi et al., "Gaussian
process morphable models" (2018), add such a kernel to principal components.

Legend: p vertices, m functions; ``bases[a]`` belongs to the direction ``axes[a]``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.geometry.mesh import FloatArray
from nho.geometry.sampling import farthest_points
from nho.geometry.symmetry import Plane

_LENGTH = 0.3  # of the kernel, for a shape of centroid size 1
_LIKE = 0.9  # correlation of a point with its mirror image
_SUPPORT = 400  # points that the kernel is taken at
_FUNCTIONS = 60  # kept for each direction


@dataclass(frozen=True)
class SmoothField:
    """Random fields of variance 1: the sum of standard normal numbers times functions.

    Attributes
    ----------
    axes : (3, 3) float array
        Rows are directions; fields along them are independent.
    bases : tuple of three (p, m) float arrays
        Functions for each direction.
    """

    axes: np.ndarray
    bases: tuple[np.ndarray, np.ndarray, np.ndarray]

    @classmethod
    def on(cls, positions: np.ndarray, plane: Plane | None = None) -> SmoothField:
        """Fields on a (p, 3) shape of centroid size 1, mirrored at a plane if there is one."""
        support = positions[farthest_points(positions, min(_SUPPORT, len(positions)))]
        if plane is None:
            basis = _basis(positions, support, None, 0.0)
            return cls(np.eye(3), (basis, basis, basis))
        across, along = (_basis(positions, support, plane, sign) for sign in (-_LIKE, _LIKE))
        return cls(_frame(plane.normal), (across, along, along))

    def at(self, rows: np.ndarray) -> SmoothField:
        """The same fields at some of the vertices."""
        first, second, _ = self.bases  # the last two directions share one
        along = second[rows]
        return SmoothField(self.axes, (along if first is second else first[rows], along, along))

    def rough_share(self, field: np.ndarray, weights: np.ndarray) -> float:
        """Share of the square of a (p, 3) field, by (p,) weights, that no smooth field explains.

        Noise that is as large everywhere would fit the functions a little: that is allowed for.
        """
        root = np.sqrt(weights)
        known = int((weights > 0).sum())
        left, total = 0.0, float((root[:, None] * field).ravel() @ (root[:, None] * field).ravel())
        for axis, basis in zip(self.axes, self.bases, strict=True):
            along = root * (field @ axis)
            q, _ = np.linalg.qr(root[:, None] * basis)
            rest = along - q @ (q.T @ along)
            left += float(rest @ rest) * known / max(known - q.shape[1], 1)
        return left / max(total, np.finfo(float).tiny)

    def values(self, coefficients: np.ndarray) -> FloatArray:
        """(p, 3) field with (3, m) coefficients."""
        along = [basis @ row for basis, row in zip(self.bases, coefficients, strict=True)]
        field: FloatArray = np.stack(along, axis=1) @ self.axes
        return field


def _basis(
    positions: np.ndarray, support: np.ndarray, plane: Plane | None, sign: float
) -> FloatArray:
    """(p, m) functions whose products sum to the kernel, by Nystroem's method."""
    among, cross = _kernel(support, support, plane, sign), _kernel(positions, support, plane, sign)
    values, vectors = np.linalg.eigh(among)
    kept = np.argsort(-values)[:_FUNCTIONS]
    kept = kept[values[kept] > 1e-6 * values.max()]
    basis: FloatArray = cross @ (vectors[:, kept] / np.sqrt(values[kept]))
    return basis


def _kernel(one: np.ndarray, other: np.ndarray, plane: Plane | None, sign: float) -> FloatArray:
    value = _decay(one, other)
    if plane is not None:
        value = (value + sign * _decay(one, plane.reflect(other))) / (1 + abs(sign))
    return value


def _decay(one: np.ndarray, other: np.ndarray) -> FloatArray:
    """(n, k) rational quadratic kernel between (n, 3) and (k, 3) points."""
    squared = (one**2).sum(axis=1)[:, None] - 2 * one @ other.T + (other**2).sum(axis=1)
    value: FloatArray = 1 / (1 + np.maximum(squared, 0) / (2 * _LENGTH**2))
    return value


def _frame(normal: np.ndarray) -> FloatArray:
    """(3, 3) orthonormal rows, the first along the normal."""
    frame: FloatArray = np.linalg.svd(normal[None, :])[2]
    return frame
