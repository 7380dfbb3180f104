"""From triangles that points propose to a surface with at most two faces at an edge."""

from __future__ import annotations

import numpy as np

from nho.geometry.mesh import FloatArray, IntArray

_FOLD = 0.5  # cosine between two faces at an edge, seen from it: more is folded over


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
    wings = _wings(points, corners)
    taken = _taken_at_once(edges, n_edges, wings, votes == 3)
    count, wing = _state(edges[taken], wings[taken], n_edges)
    alive = np.flatnonzero(~taken)
    while len(alive):
        used = count[edges[alive]]
        folded = (used == 1) & ((wing[edges[alive]] * wings[alive]).sum(axis=2) > _FOLD)
        alive = alive[(used < 2).all(axis=1) & ~folded.any(axis=1)]
        # Of those that share an edge, the first in the order goes first.
        best = np.full(n_edges, len(corners))
        best[edges[alive[::-1]].ravel()] = np.repeat(alive[::-1], 3)
        wins = (best[edges[alive]] == alive[:, None]).all(axis=1)
        won, alive = alive[wins], alive[~wins]
        taken[won] = True
        np.add.at(count, edges[won].ravel(), 1)
        wing[edges[won].ravel()] = wings[won].reshape(-1, 3)
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


def _wings(points: FloatArray, corners: IntArray) -> FloatArray:
    """(m, 3, 3) unit directions from each edge to the corner opposite, across the edge."""
    at = points[corners]
    start, end = at[:, [1, 0, 0]], at[:, [2, 2, 1]]
    along = end - start
    along /= np.maximum(np.linalg.norm(along, axis=2, keepdims=True), np.finfo(float).tiny)
    out = at - start
    out -= (out * along).sum(axis=2, keepdims=True) * along
    return np.asarray(
        out / np.maximum(np.linalg.norm(out, axis=2, keepdims=True), np.finfo(float).tiny)
    )


def _taken_at_once(
    edges: IntArray, n_edges: int, wings: FloatArray, wanted: np.ndarray
) -> np.ndarray:
    """(m,) bool: wanted triangles at whose edges there are at most two, not folded over."""
    count = np.bincount(edges[wanted].ravel(), minlength=n_edges)
    total = np.zeros((n_edges, 3))
    for corner in range(3):
        for axis in range(3):
            total[:, axis] += np.bincount(
                edges[wanted, corner], wings[wanted, corner, axis], minlength=n_edges
            )
    # The sum of two unit vectors has the length 2 cos(half the angle between them).
    folded = (count == 2) & ((total**2).sum(axis=1) > 2 + 2 * _FOLD)
    bad = (count > 2) | folded
    return np.asarray(wanted & ~bad[edges].any(axis=1))


def _state(edges: IntArray, wings: FloatArray, n_edges: int) -> tuple[IntArray, FloatArray]:
    """Faces at every edge, and the direction to the last of them."""
    count = np.bincount(edges.ravel(), minlength=n_edges)
    wing = np.zeros((n_edges, 3))
    wing[edges.ravel()] = wings.reshape(-1, 3)
    return count, wing
