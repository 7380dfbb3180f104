"""Rotations and similarities of least squares (Kabsch 1976, Umeyama 1991); no reflections."""

from __future__ import annotations

import numpy as np

from nho.geometry.mesh import FloatArray

_MOST_ITERATIONS = 30
_SINGULAR = 1e-9  # determinant over cubed norm; below it an SVD is needed


def similarity(start: np.ndarray, goal: np.ndarray) -> tuple[float, FloatArray, FloatArray]:
    """Scale s, rotation R (3, 3) and shift t (3,) that minimise ``|s R start + t - goal|^2``."""
    start_centre, goal_centre = start.mean(axis=0), goal.mean(axis=0)
    u, strengths, vt = _svd((goal - goal_centre).T @ (start - start_centre))
    rotation = u @ vt
    scale = float(strengths.sum() / ((start - start_centre) ** 2).sum())
    return scale, rotation, goal_centre - scale * rotation @ start_centre


def nearest_rotation(matrix: np.ndarray) -> FloatArray:
    """Rotation R that maximises trace(R^T S) for a (3, 3) matrix S, or (n, 3, 3) for as many."""
    u, _, vt = _svd(matrix)
    rotation: FloatArray = u @ vt
    return rotation


def nearest_rotations(matrices: np.ndarray) -> FloatArray:
    """(n, 3, 3) nearest rotations, five times as fast as by SVDs.

    Scaled Newton iteration for the polar factor (Higham 1986), all matrices at once. Those that
    mirror or flatten go through an SVD.
    """
    entries = np.ascontiguousarray(matrices.reshape(-1, 9).T)
    size = np.sqrt((entries * entries).sum(axis=0))
    entries = entries / np.where(size > 0, size, 1.0)
    plain = _determinant(entries, _cofactors(entries)) > _SINGULAR
    x = np.where(plain, entries, np.eye(3).reshape(9, 1))
    for _ in range(_MOST_ITERATIONS):
        cofactors = _cofactors(x)
        inverse = cofactors / _determinant(x, cofactors)  # of the transpose
        scale = np.sqrt(np.sqrt((inverse * inverse).sum(axis=0) / (x * x).sum(axis=0)))
        step = 0.5 * (scale * x + inverse / scale) - x
        x = x + step
        if np.abs(step).max(initial=0) < 1e-6:  # converges quadratically: exact by now
            break
    rotations = np.ascontiguousarray(x.T).reshape(-1, 3, 3)
    if not plain.all():
        rotations[~plain] = nearest_rotation(matrices[~plain])
    return rotations


def random_rotation(random: np.random.Generator) -> FloatArray:
    """(3, 3) a rotation, every one as likely as any other."""
    rotation, triangle = np.linalg.qr(random.standard_normal((3, 3)))
    rotation = rotation * np.sign(np.diag(triangle))  # makes the distribution uniform
    rotation[:, 0] *= np.linalg.det(rotation)  # no reflection
    return rotation


def _svd(matrix: np.ndarray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The SVD with the least singular value negated where ``u @ vt`` would reflect."""
    u, strengths, vt = np.linalg.svd(matrix)
    signs = np.ones_like(strengths)
    signs[..., 2] = np.sign(np.linalg.det(u @ vt))
    return u * signs[..., None, :], strengths * signs, vt


def _cofactors(x: FloatArray) -> FloatArray:
    """(9, n) cofactor matrices of (9, n) matrices, entries row by row."""
    a, b, c, d, e, f, g, h, i = x
    return np.stack(
        [
            e * i - f * h,
            f * g - d * i,
            d * h - e * g,
            c * h - b * i,
            a * i - c * g,
            b * g - a * h,
            b * f - c * e,
            c * d - a * f,
            a * e - b * d,
        ]
    )


def _determinant(x: FloatArray, cofactors: FloatArray) -> FloatArray:
    determinant: FloatArray = x[0] * cofactors[0] + x[1] * cofactors[1] + x[2] * cofactors[2]
    return determinant
