"""Normals of a point cloud: planes through neighbours first, then triangles that agree."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree

from nho.geometry.mesh import FloatArray, IntArray, trusted_mesh
from nho.geometry.repair import neighbouring_faces

_ROWS = 32_768  # points at a time, to bound memory
_FLAT = 1e-3  # least weight of an edge: zero is no edge to SciPy


def estimated_normals(points: FloatArray, index: IntArray) -> FloatArray:
    """(n, 3) unit normals of the planes through (n, k) neighbours; the sign is arbitrary."""
    normals = np.empty_like(points)
    for start in range(0, len(points), _ROWS):
        rows = slice(start, start + _ROWS)
        offsets = points[index[rows]] - points[rows, None]
        offsets -= offsets.mean(axis=1, keepdims=True)
        spread = np.einsum("nkx,nky->nxy", offsets, offsets)
        normals[rows] = np.linalg.eigh(spread)[1][:, :, 0]
    return normals


def oriented_faces(
    points: FloatArray, faces: IntArray, outwards: FloatArray | None = None
) -> IntArray:
    """(m, 3) the triangles with one outside; where the surface meets itself inside out, none.

    The side travels across the flattest edges, along a minimum spanning tree (Hoppe et al. 1992
    do the same with points).

    Parameters
    ----------
    outwards : (n, 3) float array, optional
        Directions to the outside; otherwise it is the side away from the centre.
    """
    mesh = trusted_mesh(points, faces, "cloud")
    first, second, agree = neighbouring_faces(mesh)
    relation = np.where(agree, 1.0, -1.0)
    normals = mesh.face_normals
    bent = 1 - relation * np.einsum("nx,nx->n", normals[first], normals[second])
    sign, part = _propagated(len(faces), first, second, relation, bent + _FLAT)
    middles = points[faces].mean(axis=1)
    centre = np.average(middles, axis=0, weights=mesh.face_areas)
    away = middles - centre if outwards is None else outwards[faces].sum(axis=1)
    outside = sign * mesh.face_areas * np.einsum("nx,nx->n", normals, away)
    sign = np.where(np.bincount(part, outside)[part] < 0, -sign, sign)
    torn = sign[first] * sign[second] * relation < 0
    kept = np.ones(len(faces), dtype=bool)
    kept[first[torn]] = kept[second[torn]] = False
    return np.where(sign[:, None] < 0, faces[:, [0, 2, 1]], faces)[kept]


def _propagated(
    count: int, first: IntArray, second: IntArray, relation: FloatArray, weight: FloatArray
) -> tuple[FloatArray, IntArray]:
    """(count,) signs that agree along a minimum spanning tree, and the component of each."""
    # Two faces may share two edges: the flatter one counts.
    order = np.lexsort((weight, second, first))
    pairs = np.stack([first, second], axis=1)[order]
    chosen = order[np.r_[True, (pairs[1:] != pairs[:-1]).any(axis=1)]] if len(order) else order
    first, second, relation, weight = (
        first[chosen],
        second[chosen],
        relation[chosen],
        weight[chosen],
    )
    shape = (count + 1, count + 1)  # the last node is the root of every component
    graph = sp.csr_array((weight, (first, second)), shape=shape)
    _, part = connected_components(graph, directed=False)
    roots = np.unique(part[:count], return_index=True)[1]
    joints = sp.csr_array((np.full(len(roots), 4.0), (roots, np.full(len(roots), count))), shape)
    tree = minimum_spanning_tree(graph + joints)
    _, parent = breadth_first_order(tree, count, directed=False)
    parent[count] = count
    signed = sp.csr_array((relation, (first, second)), shape=shape)
    child = np.arange(count)
    sign = np.asarray(signed[child, parent[:count]] + signed[parent[:count], child]).ravel()
    sign = np.append(np.where(sign < 0, -1.0, 1.0), 1.0)
    while (parent != count).any():  # products along the way to the root, twice as far each time
        sign *= sign[parent]
        parent = parent[parent]
    return sign[:count], part[:count].astype(np.int64)
