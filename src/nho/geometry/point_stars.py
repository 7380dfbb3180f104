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
    flat, steep = _on_tangent_planes(points[index] - points[rows, None], normals[rows])
    if signed:
        steep |= facing_away(normals, rows, index)
    angle = np.where(steep, _LAST, np.arctan2(flat[:, :, 1], flat[:, :, 0]))
    order = np.argsort(angle, axis=1)
    angle = np.take_along_axis(angle, order, 1)
    there = angle < _LAST
    flat = np.take_along_axis(flat, order[:, :, None], 1)[there]
    ring = _Rings(
        np.repeat(rows, there.sum(axis=1)),
        np.take_along_axis(index, order, 1)[there],
        angle[there],
        flat / np.maximum((flat**2).sum(axis=1, keepdims=True), np.finfo(float).tiny),
    )
    return _fans(ring)


def facing_away(normals: FloatArray, rows: IntArray, index: IntArray) -> np.ndarray:
    """(r, k) bool: the neighbour's normal points away from that of the point."""
    cosine: FloatArray = np.einsum("nx,nkx->nk", normals[rows], normals[index])
    return np.asarray(cosine < 0)


def stands_up(points: FloatArray, normals: FloatArray, triangles: IntArray) -> np.ndarray:
    """(m,) bool: the triangle lies far off the tangent plane of one of its corners."""
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    across = np.cross(b - a, c - a)
    height = np.einsum("mx,mcx->mc", across, normals[triangles])
    height *= np.sign(height.sum(axis=1, keepdims=True))
    length = np.sqrt(np.einsum("mx,mx->m", across, across))
    return np.asarray(height.min(axis=1) <= _UPRIGHT * length)


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


class _Rings(NamedTuple):
    """Neighbours around many points, one point after the other, each ring by angle."""

    point: IntArray  # (s,) whose neighbour
    neighbour: IntArray  # (s,)
    angle: FloatArray  # (s,)
    inverse: FloatArray  # (s, 2) place on the tangent plane over its squared length

    def some(self, chosen: np.ndarray) -> _Rings:
        """Those of a mask."""
        return _Rings(*(each[chosen] for each in self))


def _fans(rings: _Rings) -> IntArray:
    """Triangles from each point to the neighbours at the corners of its hull, one by one."""
    fans = [np.empty((0, 3), dtype=np.int64)]
    while len(rings.point):
        begins = np.flatnonzero(np.diff(rings.point, prepend=-1))
        size = np.diff(begins, append=len(rings.point))
        after, before = np.arange(1, len(rings.point) + 1), np.arange(-1, len(rings.point) - 1)
        after[begins + size - 1], before[begins] = begins, begins + size - 1
        of, at, to = rings.inverse[before], rings.inverse, rings.inverse[after]
        hollow = _cross(at - of, to - at) <= 0
        wide = _turn(rings.angle[before], rings.angle[after]) >= np.pi
        drop = hollow & ~wide & np.repeat(size > 2, size)
        changed = np.repeat(np.logical_or.reduceat(drop, begins), size)
        fan = np.stack([rings.point, rings.neighbour, rings.neighbour[after]], axis=1)
        narrow = _turn(rings.angle, rings.angle[after]) < _WIDEST
        fans.append(fan[~changed & narrow & np.repeat(size > 1, size)])
        rings = rings.some(changed & ~drop)
    return np.concatenate(fans)


def _turn(start: FloatArray, end: FloatArray) -> FloatArray:
    """Angles from one direction to the next, counter-clockwise."""
    turn = end - start
    return np.where(turn <= 0, turn + 2 * np.pi, turn)


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
