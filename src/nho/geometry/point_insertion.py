"""Points that no triangle uses are put into the triangles next to them."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from nho.geometry.mesh import FloatArray, IntArray
from nho.geometry.surface import closest_on_triangles


def with_all_points(points: FloatArray, faces: IntArray) -> IntArray:
    """The triangles with every point in one: the closest is cut into three around it."""
    while True:
        used = np.zeros(len(points), dtype=bool)
        used[faces] = True
        left = np.flatnonzero(~used)
        if not len(left):
            return faces
        known = np.flatnonzero(used)
        near = known[cKDTree(points[known]).query(points[left])[1]]
        face = _closest_faces(points, faces, left, near)
        # One point a face at a time.
        face, first = np.unique(face, return_index=True)
        point = left[first]
        a, b, c = faces[face].T
        cut = [np.stack(new, axis=1) for new in ((a, b, point), (b, c, point), (c, a, point))]
        faces = np.concatenate([np.delete(faces, face, axis=0), *cut])


def _closest_faces(points: FloatArray, faces: IntArray, left: IntArray, near: IntArray) -> IntArray:
    """For points ``left`` the closest of the faces around the vertices ``near`` them."""
    corner = np.argsort(faces.ravel(), kind="stable")
    begin = np.searchsorted(faces.ravel()[corner], [near, near + 1])
    counts = begin[1] - begin[0]
    row = np.repeat(np.arange(len(left)), counts)
    step = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    face = corner[begin[0][row] + step] // 3
    _, gap = closest_on_triangles(points[left[row]], points[faces[face]])
    order = np.lexsort((gap, row))
    return np.asarray(face[order[np.r_[0, np.cumsum(counts)[:-1]]]])
