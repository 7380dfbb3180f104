"""The triangles around a point of a cloud: Delaunay's, of its neighbours on its tangent plane.

A neighbour at q has the bisector of 0 and q, and the cell of 0 is what all bisectors leave. Under
q -> q / |q|^2 the neighbours whose bisectors bound the cell are the corners of the convex hull.
Sorted by angle around 0, a corner that does not turn left is none, and may be dropped together with
others like it: so the hulls of many points are found at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nho.geometry.mesh import FloatArray, IntArray

_STEEP = 0.8  # of its distance: a neighbour farther off the tangent plane is on another sheet
_UPRIGHT = 0.4  # cosine between the normals of a triangle and of a corner: less is a bridge
_LAST = 9.0  # radians, behind every angle
_WIDEST = np.pi * 0.9  # angle of a triangle at the point: wider ones bridge a gap


def star_triangles(
    points: FloatArray,
    normals: FloatArray,
    rows: IntArray,
    neighbours: IntArray,
    signed: bool = False,
) -> IntArray:
    """(m, 3) triangles around some points, the point first.

    Parameters
    ----------
    points, normals : (n, 3) float arrays
        Normals of either sign.
    rows : (r,) int array
        The points.
    neighbours : (n, k) int array
    signed : bool
        Normals point outside: where a neighbour's points the other way, it is on another sheet.
    """
    index = neighbours[rows]
    u, v, steep = _on_tangent_planes(points, normals[rows], rows, index)
    if signed:
        steep |= facing_away(normals, rows, index)
    angle = np.where(steep, _LAST, np.arctan2(v, u))
    order = np.argsort(angle, axis=1)
    angle = np.take_along_axis(angle, order, 1)
    there = angle < _LAST
    u, v = (np.take_along_axis(each, order, 1)[there] for each in (u, v))
    squared = np.maximum(u * u + v * v, np.finfo(float).tiny)
    ring = _Rings(
        np.repeat(rows, there.sum(axis=1)),
        np.take_along_axis(index, order, 1)[there],
        angle[there],
        u / squared,
        v / squared,
    )
    return _fans(ring)


def facing_away(normals: FloatArray, rows: IntArray, index: IntArray) -> np.ndarray:
    """(r, k) bool: the neighbour's normal points away from that of the point."""
    x, y, z = np.ascontiguousarray(normals.T)
    cosine = x[rows, None] * x[index]
    cosine += y[rows, None] * y[index]
    cosine += z[rows, None] * z[index]
    return np.asarray(cosine < 0)


def stands_up(points: FloatArray, normals: FloatArray, triangles: IntArray) -> np.ndarray:
    """(m,) bool: the triangle lies far off the tangent plane of one of its corners."""
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    across = np.cross(b - a, c - a)
    height = np.einsum("mx,mcx->mc", across, normals[triangles])
    height *= np.sign(height.sum(axis=1, keepdims=True))
    length = np.sqrt(np.einsum("mx,mx->m", across, across))
    return np.asarray(height.min(axis=1) <= _UPRIGHT * length)


def _on_tangent_planes(
    points: FloatArray, normals: FloatArray, rows: IntArray, index: IntArray
) -> tuple[FloatArray, FloatArray, np.ndarray]:
    """Both (r, k) coordinates of offsets on the planes, and (r, k) whether they lie too far off."""
    # Any direction across the normal: the axis that it has least of, made perpendicular.
    axis = np.eye(3)[np.abs(normals).argmin(axis=1)]
    first = np.cross(normals, axis)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    second = np.cross(normals, first)
    u, v, height, squared = np.zeros((4, *index.shape))
    for axis in range(3):  # one axis at a time is twice as fast
        offsets = points[:, axis][index] - points[rows, axis, None]
        u += offsets * first[:, axis, None]
        v += offsets * second[:, axis, None]
        height += offsets * normals[:, axis, None]
        squared += offsets * offsets
    return u, v, np.abs(height) > _STEEP * np.sqrt(squared)


class _Rings(NamedTuple):
    """Neighbours around many points, one point after the other, each ring by angle."""

    point: IntArray  # (s,) whose neighbour
    neighbour: IntArray  # (s,)
    angle: FloatArray  # (s,)
    u: FloatArray  # (s,) place on the tangent plane over its squared length
    v: FloatArray  # (s,)

    def some(self, chosen: np.ndarray) -> _Rings:
        """Those of a mask."""
        return _Rings(*(each[chosen] for each in self))


def _fans(rings: _Rings) -> IntArray:
    """Triangles from each point to the neighbours at the corners of its hull, one by one."""
    fans = [np.empty((0, 3), dtype=np.int64)]
    while len(rings.point):
        begins = np.flatnonzero(np.diff(rings.point, prepend=-1))
        size = np.diff(begins, append=len(rings.point))
        ends = begins + size - 1
        du, dv = (_after(each, begins, ends) - each for each in (rings.u, rings.v))
        hollow = _before(du, begins, ends) * dv - _before(dv, begins, ends) * du <= 0
        turn = _turn(rings.angle, _after(rings.angle, begins, ends))
        wide = _turn(_before(rings.angle, begins, ends), _after(rings.angle, begins, ends)) >= np.pi
        drop = hollow & ~wide & np.repeat(size > 2, size)
        changed = np.repeat(np.logical_or.reduceat(drop, begins), size)
        whole = np.flatnonzero(~changed & (turn < _WIDEST) & np.repeat(size > 1, size))
        following = _after(rings.neighbour, begins, ends)
        fans.append(
            np.stack([rings.point[whole], rings.neighbour[whole], following[whole]], axis=1)
        )
        rings = rings.some(np.flatnonzero(changed & ~drop))
    return np.concatenate(fans)


def _after(values: np.ndarray, begins: IntArray, ends: IntArray) -> np.ndarray:
    """The values of the next in each ring."""
    shifted = np.empty_like(values)
    shifted[:-1] = values[1:]
    shifted[ends] = values[begins]
    return shifted


def _before(values: np.ndarray, begins: IntArray, ends: IntArray) -> np.ndarray:
    """The values of the one before in each ring."""
    shifted = np.empty_like(values)
    shifted[1:] = values[:-1]
    shifted[begins] = values[ends]
    return shifted


def _turn(start: FloatArray, end: FloatArray) -> FloatArray:
    """Angles from one direction to the next, counter-clockwise."""
    turn = end - start
    return np.where(turn <= 0, turn + 2 * np.pi, turn)
