"""Rotations and similarities of least squares (Kabsch 1976, Umeyama 1991); no reflections."""

from __future__ import annotations

import numpy as np

from nho.geometry.mesh import FloatArray

_MOST_ITERATIONS = 30
_SINGULAR = 3e-3  # sums of two singular values, multiplied; below it an SVD is needed


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
    """(n, 3, 3) nearest rotations, many times as fast as by SVDs, all matrices at once.

    In closed form but for one number (Markley 1993, fast optimal attitude matrix). Those that are
    nearly of rank one, or that mirror two directions alike, go through an SVD.

    Legend: b = a matrix of norm one, l = sum of its singular values, the last one with the sign of
    the determinant, zeta = product of the sums of any two of them.
    """
    entries = np.ascontiguousarray(matrices.reshape(-1, 9).T)
    size = np.sqrt((entries * entries).sum(axis=0))
    b = entries / np.where(size > 0, size, 1.0)
    cofactors = _cofactors(b)
    determinant = _determinant(b, cofactors)
    total = _sum_of_singular_values(determinant, (cofactors * cofactors).sum(axis=0))
    kappa = 0.5 * (total * total - 1)
    zeta = kappa * total - determinant
    plain = zeta > _SINGULAR
    zeta = np.where(plain, zeta, 1.0)
    x = ((kappa + 1) * b + total * cofactors - _times_own_square(b)) / zeta
    x = 1.5 * x - 0.5 * _times_own_square(x)  # what rounding took is given back
    rotations = np.ascontiguousarray(x.T).reshape(-1, 3, 3)
    if not plain.all():
        rotations[~plain] = nearest_rotation(matrices[~plain])
    return rotations


def _sum_of_singular_values(determinant: FloatArray, cofactors: FloatArray) -> FloatArray:
    """(n,) of matrices of norm one, from the determinants and the squared norms of the cofactors.

    The largest root of ``(l^2 - 1)^2 - 8 l det - 4 |cof|^2``, by Newton's method from above.
    """
    total = np.full(len(determinant), np.sqrt(3.0))
    for _ in range(_MOST_ITERATIONS):
        excess = total * total - 1
        slope = 4 * (total * excess - 2 * determinant)
        value = excess * excess - 8 * total * determinant - 4 * cofactors
        step = value / np.where(slope > 0, slope, np.inf)
        total = total - step
        if np.abs(step).max(initial=0) < 1e-9:  # converges quadratically: exact by now
            break
    return total


def _times_own_square(x: FloatArray) -> FloatArray:
    """(9, n) products ``x x^T x`` of (9, n) matrices, entries row by row."""
    a, b, c = x[:3], x[3:6], x[6:]
    aa, ab, ac, bb, bc, cc = (
        _sum(p * q) for p, q in ((a, a), (a, b), (a, c), (b, b), (b, c), (c, c))
    )
    return np.concatenate(
        [aa * a + ab * b + ac * c, ab * a + bb * b + bc * c, ac * a + bc * b + cc * c]
    )


def _sum(rows: FloatArray) -> FloatArray:
    total: FloatArray = rows[0] + rows[1] + rows[2]
    return total


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
