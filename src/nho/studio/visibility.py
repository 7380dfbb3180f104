"""Which points of a surface can be seen from outside, and from where: only these can be clicked."""

from __future__ import annotations

import itertools

import numpy as np

from nho.geometry.mesh import FloatArray, IntArray, Mesh

_FACING = 0.3  # cosine to the normal from which on a point is seen well
_OPEN = 0.5  # share of the directions it faces that an outer point is seen from
_MOST_CELLS = 96  # a side of the picture that decides what lies in front
_LONG = 0.95  # quantile of the edges of which two must not be longer than a cell
_MOST = 0.5  # share of the vertices that a mesh with its faces outside shows at least
_TOLERANCE = 0.02  # radii: what lies so little behind the front is seen
# From the middle to the corners, edges and faces of a cube.
DIRECTIONS: FloatArray = np.array(
    [
        np.array(step) / np.linalg.norm(step)
        for step in itertools.product((-1.0, 0.0, 1.0), repeat=3)
        if any(step)
    ]
)


def seen_from(mesh: Mesh) -> IntArray:
    """(n,) row of `DIRECTIONS` that every vertex is seen best from; -1 = from none.

    Surfaces are seen from the side that their normals point to, and from at least half of the
    directions there: the inner wall of a skull is not, though an opening may show it. A mesh whose
    faces point inwards is seen from the other side.
    """
    best = _seen_from(mesh, mesh.vertex_normals)
    if (best >= 0).mean() > _MOST:
        return best
    turned = _seen_from(mesh, -mesh.vertex_normals)
    return best if (best >= 0).sum() >= (turned >= 0).sum() else turned


def _seen_from(mesh: Mesh, normals: FloatArray) -> IntArray:
    used = mesh.used_vertices
    corners = mesh.vertices[used]
    centre = (corners.min(axis=0) + corners.max(axis=0)) / 2
    radius = float(np.linalg.norm(corners - centre, axis=1).max()) or 1.0
    places = (mesh.vertices - centre) / radius
    cells = int(np.clip(radius / np.quantile(mesh.edge_lengths, _LONG), 4, _MOST_CELLS))
    best = np.full(mesh.n_vertices, -1, dtype=np.int64)
    facing = np.full(mesh.n_vertices, _FACING)
    faced, met = np.zeros((2, mesh.n_vertices), dtype=np.int64)
    for row, direction in enumerate(DIRECTIONS):
        along = normals @ direction
        towards = used & (along > _FACING)
        seen = towards & _in_front(places, direction, cells)
        faced, met = faced + towards, met + seen
        better = seen & (along > facing)
        best[better], facing[better] = row, along[better]
    return np.where(met >= _OPEN * faced, best, -1)


def _in_front(places: FloatArray, direction: FloatArray, cells: int) -> np.ndarray:
    """(n,) bool: no surface lies between a point and an eye far away in this direction."""
    across = np.linalg.svd(direction[None])[2][1:]
    cell, height = _cell(places @ across.T, cells), places @ direction
    front = np.full(cells * cells, -np.inf)
    order = np.argsort(height, kind="stable")
    front[cell[order]] = height[order]  # the highest comes last, and stays
    steep = 2.0 / cells  # within a cell, a slanted surface rises by about its width
    return np.asarray(height >= front[cell] - _TOLERANCE - steep)


def _cell(flat: FloatArray, cells: int) -> IntArray:
    """(n,) cells that (n, 2) places in the picture, each in [-1, 1], fall into."""
    column, row = np.clip(((flat + 1) * cells / 2).astype(np.int64), 0, cells - 1).T
    return np.asarray(column * cells + row)
