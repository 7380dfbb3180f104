"""Thin-plate spline of points in space (Duchon 1977, Bookstein 1989)."""

from __future__ import annotations

import numpy as np

from nho.geometry.alignment import similarity
from nho.geometry.mesh import FloatArray

_FLAT = 1e-3  # thickness of the points over their extent; thinner ones fix no affine map


def splined(start: np.ndarray, goal: np.ndarray, points: np.ndarray) -> FloatArray:
    """(n, 3) points after the similarity that fits ``start`` to ``goal`` best, then the spline."""
    scale, rotation, shift = similarity(start, goal)
    placed, others = (scale * of @ rotation.T + shift for of in (start, points))
    return thin_plate_spline(placed, goal, others)


def thin_plate_spline(start: np.ndarray, goal: np.ndarray, points: np.ndarray) -> FloatArray:
    """(n, 3) points, moved by the smooth map of space that takes (m, 3) ``start`` to ``goal``.

    An affine map and a sum of ``r^2 log r``. Fewer than five points, or points in a plane, do not
    determine it; then nothing moves.
    """
    centre = start.mean(axis=0)
    extents = np.linalg.svd(start - centre, compute_uv=False)
    unit = extents[0]
    if len(start) < 5 or extents[2] <= _FLAT * unit:
        return np.array(points, dtype=np.float64)
    own, at = (start - centre) / unit, (points - centre) / unit
    affine = np.column_stack([np.ones(len(own)), own])
    system = np.block([[_kernel(own, own), affine], [affine.T, np.zeros((4, 4))]])
    wanted = np.concatenate([goal - start, np.zeros((4, 3))])
    # By least squares: points that coincide make the system singular.
    weights = np.linalg.lstsq(system, wanted, rcond=None)[0]
    moved: FloatArray = points + _kernel(at, own) @ weights[:-4]
    moved += np.column_stack([np.ones(len(at)), at]) @ weights[-4:]
    return moved


def _kernel(points: np.ndarray, centres: np.ndarray) -> FloatArray:
    """(n, m) squared distances times the logarithm of the distances."""
    squares = ((points[:, None] - centres) ** 2).sum(axis=2)
    kernel: FloatArray = 0.5 * squares * np.log(np.where(squares > 0, squares, 1))
    return kernel
