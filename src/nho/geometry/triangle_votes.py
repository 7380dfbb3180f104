"""From triangles that points propose to a surface with at most two faces at an edge."""

from __future__ import annotations

import numpy as np

from nho.geometry.mesh import FloatArray, IntArray

_FOLD = 0.5  # cosine between two faces at an edge, seen from it: more is folded over
# Corners in ascending order run along the edge opposite the first and the last from its lower end
# to its higher, along the other the other way. Two faces that run the same way along an edge have
# the same angle between their normals as between them, seen from the edge.
_ALONG = np.array([1.0, -1.0, 1.0])


def agreed_triangles(points: FloatArray, proposed: IntArray) -> IntArray:
    """(m, 3) triangles; those with more votes first, of equal ones the smallest.

    Parameters
    ----------
    proposed : (p, 3) int array
        Triangles, each once for every corner that proposes it.
    """
    corners, votes = _counted(np.sort(proposed, axis=1), len(points))
    a, b, c = (points[corners[:, corner]] for corner in range(3))
    size = np.maximum.reduce([((a - b) ** 2).sum(1), ((b - c) ** 2).sum(1), ((c - a) ** 2).sum(1)])
    order = np.lexsort((size, -votes))
    corners, votes = corners[order], votes[order]
    edges, n_edges = _edges(corners, len(points))
    normals = _normals(points, corners)
    taken = _taken_at_once(edges, n_edges, normals, votes == 3)
    count, normal = _state(edges[taken], normals[taken], n_edges)
    alive = np.flatnonzero(~taken)
    while len(alive):
        used = count[edges[alive]]
        between = np.einsum("nex,nx->ne", normal[edges[alive]], normals[alive])
        folded = (used == 1) & (_ALONG * between > _FOLD)
        alive = alive[(used < 2).all(axis=1) & ~folded.any(axis=1)]
        # Of those that share an edge, the first in the order goes first.
        best = np.full(n_edges, len(corners))
        best[edges[alive[::-1]].ravel()] = np.repeat(alive[::-1], 3)
        wins = (best[edges[alive]] == alive[:, None]).all(axis=1)
        won, alive = alive[wins], alive[~wins]
        taken[won] = True
        np.add.at(count, edges[won].ravel(), 1)
        normal[edges[won].ravel()] = _along_edges(normals[won])
        if not len(won):
            break
    return np.asarray(corners[taken])


def _counted(triangles: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """Every triangle once, and how often it was there."""
    key = triangles[:, 0] * n + triangles[:, 1]
    order = np.lexsort((triangles[:, 2], key))
    key, last = key[order], triangles[order, 2]
    begins = np.flatnonzero(np.r_[True, (key[1:] != key[:-1]) | (last[1:] != last[:-1])])
    return triangles[order[begins]], np.diff(begins, append=len(key))


def _edges(corners: IntArray, n: int) -> tuple[IntArray, int]:
    """(m, 3) number of the edge opposite each corner, and how many edges there are."""
    pairs = corners[:, [[1, 2], [0, 2], [0, 1]]]
    unique, inverse = np.unique(pairs[:, :, 0] * n + pairs[:, :, 1], return_inverse=True)
    return inverse.reshape(-1, 3), len(unique)


def _normals(points: FloatArray, corners: IntArray) -> FloatArray:
    """(m, 3) unit normals, by the order of the corners."""
    a, b, c = (points[corners[:, corner]] for corner in range(3))
    normals = np.cross(b - a, c - a)
    length = np.sqrt(np.einsum("nx,nx->n", normals, normals))
    return np.asarray(normals / np.maximum(length, np.finfo(float).tiny)[:, None])


def _along_edges(normals: FloatArray) -> FloatArray:
    """(3 m, 3) normals as if the corners ran along each edge from its lower to its higher end."""
    return np.asarray((normals[:, None] * _ALONG[:, None]).reshape(-1, 3))


def _taken_at_once(
    edges: IntArray, n_edges: int, normals: FloatArray, wanted: np.ndarray
) -> np.ndarray:
    """(m,) bool: wanted triangles at whose edges there are at most two, not folded over."""
    count = np.bincount(edges[wanted].ravel(), minlength=n_edges)
    total = np.zeros((n_edges, 3))
    for axis in range(3):
        values = (normals[wanted, axis, None] * _ALONG).ravel()
        total[:, axis] = np.bincount(edges[wanted].ravel(), values, minlength=n_edges)
    # The sum of two unit vectors has the length 2 cos(half the angle between them).
    folded = (count == 2) & ((total**2).sum(axis=1) > 2 + 2 * _FOLD)
    bad = (count > 2) | folded
    return np.asarray(wanted & ~bad[edges].any(axis=1))


def _state(edges: IntArray, normals: FloatArray, n_edges: int) -> tuple[IntArray, FloatArray]:
    """Faces at every edge, and the normal of the last of them, running along the edge."""
    count = np.bincount(edges.ravel(), minlength=n_edges)
    normal = np.zeros((n_edges, 3))
    normal[edges.ravel()] = _along_edges(normals)
    return count, normal
