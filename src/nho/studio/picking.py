"""The point of a surface that a ray meets first."""

from __future__ import annotations

import numpy as np

from nho.geometry.mesh import Mesh
from nho.studio.marks import Mark

_ROWS = 1 << 18  # triangles at a time, to bound memory


def first_hit(mesh: Mesh, origin: np.ndarray, direction: np.ndarray) -> Mark | None:
    """The first triangle along a ray (Moeller and Trumbore), seen from either side.

    Parameters
    ----------
    origin, direction : (3,) float arrays
        In the coordinates of the mesh; the direction need not have unit length.
    """
    best, found = np.inf, None
    for start in range(0, len(mesh.faces), _ROWS):
        faces = mesh.faces[start : start + _ROWS]
        a, b, c = (mesh.vertices[faces[:, corner]] for corner in range(3))
        u, v = b - a, c - a
        across = np.cross(direction, v)
        determinant = np.einsum("nx,nx->n", u, across)
        offset = origin - a
        up = np.cross(offset, u)
        # Seen edge-on, a triangle has no determinant: its quotients are inf or NaN, hence no hit.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            s = np.einsum("nx,nx->n", offset, across) / determinant
            t = up @ direction / determinant
            along = np.einsum("nx,nx->n", v, up) / determinant
            met = (s >= 0) & (t >= 0) & (s + t <= 1) & (along > 0)
        rows = np.flatnonzero(met)
        if not len(rows):
            continue
        row = int(rows[np.argmin(along[rows])])
        if along[row] < best:
            best = float(along[row])
            weights = (float(1 - s[row] - t[row]), float(s[row]), float(t[row]))
            found = Mark(start + row, weights)
    return found
