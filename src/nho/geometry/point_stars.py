"""The triangles around a point of a cloud: Delaunay's, of its neighbours on its tangent plane.

A neighbour at q has the bisector of 0 and q, and the cell of 0 is what all bisectors leave. Under
q -> q / |q|^2 the neighbours whose bisectors bound the cell are the corners of the convex hull.
Sorted by angle around 0, a corner that does not turn left is none, and may be dropped together with
others like it: so the hulls of many points are found at once.
"""

from __future__ import annotations

import numpy as np

from nho.geometry.mesh import FloatArray, IntArray

_STEEP = 0.8  # of its distance: a neighbour farther off the tangent plane is on another sheet
_LAST = 9.0  # radians, behind every angle
_WIDEST = np.pi * 0.9  # angle of a triangle at the point: wider ones bridge a gap


def star_triangles(
    points: FloatArray, normals: FloatArray, rows: IntArray, neighbours: IntArray
) -> IntArray:
    """(m, 3) triangles around some points, the point first.

    Parameters
    ----------
    points, normals : (n, 3) float arrays
        Normals of either sign.
    rows : (r,) int array
        The points.
    neighbours : (n, k) int array
    """
    index = neighbours[rows]
    flat, steep = _on_tangent_planes(points[index] - points[rows, None], normals[rows])
    angle = np.where(steep, _LAST, np.arctan2(flat[:, :, 1], flat[:, :, 0]))
    order = np.argsort(angle, axis=1)
    angle = np.take_along_axis(angle, order, 1)
    index = np.take_along_axis(index, order, 1)
    flat = np.take_along_axis(flat, order[:, :, None], 1)
    inverse = flat / np.maximum((flat**2).sum(axis=2, keepdims=True), np.finfo(float).tiny)
    count = (~steep).sum(axis=1)
    place = _hull_corners(inverse, angle, count)
    return _fans(rows, index, angle, place)


def _on_tangent_planes(offsets: FloatArray, normals: FloatArray) -> tuple[FloatArray, np.ndarray]:
    """(r, k, 2) offsets on the planes, and (r, k) whether they lie too far off."""
    # Any direction across the normal: the axis that it has least of, made perpendicular.
    axis = np.eye(3)[np.abs(normals).argmin(axis=1)]
    first = np.cross(normals, axis)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    second = np.cross(normals, first)
    flat = np.einsum("nkx,nax->nka", offsets, np.stack([first, second], axis=1))
    distance = np.linalg.norm(offsets, axis=2)
    height = np.abs(np.einsum("nkx,nx->nk", offsets, normals))
    return flat, height > _STEEP * distance


def _hull_corners(inverse: FloatArray, angle: FloatArray, count: IntArray) -> IntArray:
    """(r, k) columns of the hull's corners in order of angle, -1 behind the last."""
    columns = inverse.shape[1]
    place = np.where(np.arange(columns) < count[:, None], np.arange(columns), -1)
    active = np.arange(len(inverse))
    while len(active):
        here = place[active]
        size = (here >= 0).sum(axis=1)
        step = np.arange(columns)
        wrapped = np.maximum(size, 1)[:, None]
        after = np.take_along_axis(here, (step + 1) % wrapped, 1)
        before = np.take_along_axis(here, (step - 1) % wrapped, 1)
        at, to, of = (_rows_of(inverse[active], each) for each in (here, after, before))
        left = _cross(at - of, to - at)
        turn = _angles_of(angle[active], after) - _angles_of(angle[active], before)
        turn = np.where(turn <= 0, turn + 2 * np.pi, turn)
        drop = (here >= 0) & (left <= 0) & (turn < np.pi) & (size > 2)[:, None]
        changed = drop.any(axis=1)
        kept = np.where(drop, -1, here)
        packed = np.argsort(kept < 0, axis=1, kind="stable")
        place[active] = np.take_along_axis(kept, packed, 1)
        active = active[changed]
    return place


def _rows_of(values: FloatArray, columns: IntArray) -> FloatArray:
    return np.take_along_axis(values, np.maximum(columns, 0)[:, :, None], 1)


def _angles_of(angle: FloatArray, columns: IntArray) -> FloatArray:
    return np.take_along_axis(angle, np.maximum(columns, 0), 1)


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def _fans(rows: IntArray, index: IntArray, angle: FloatArray, place: IntArray) -> IntArray:
    """Triangles from each point to neighbouring corners, but for wide angles."""
    size = (place >= 0).sum(axis=1)
    step = np.arange(place.shape[1])
    after = np.take_along_axis(place, (step + 1) % np.maximum(size, 1)[:, None], 1)
    between = _angles_of(angle, after) - _angles_of(angle, place)
    between = np.where(between <= 0, between + 2 * np.pi, between)
    row, column = np.nonzero((place >= 0) & (between < _WIDEST) & (size > 1)[:, None])
    b, c = index[row, place[row, column]], index[row, after[row, column]]
    triangles = np.stack([rows[row], b, c], axis=1)
    return np.asarray(triangles[b != c])
