"""Normals of a point cloud: planes through neighbours first, then triangles that agree."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree

from nho.geometry.mesh import FloatArray, IntArray, trusted_mesh
from nho.geometry.repair import both_states, neighbouring_faces

_PLAUSIBLE = 0.7  # cosine between given normals and those of planes through neighbours
_SAMPLE = 2_000  # points where they are compared
_IN_PLANE = 0.1  # of its distance: a neighbour nearer to both tangent planes is on the same sheet
_PARALLEL = 0.9  # cosine between their normals
_OPPOSED = 0.1  # share of such neighbours; two walls have 0.04 at most, 10 % wrong sides 0.17
_FLAT = 1e-3  # least weight of an edge: zero is no edge to SciPy


def estimated_normals(points: FloatArray, index: IntArray, rows: IntArray) -> FloatArray:
    """(r, 3) unit normals of the planes through (r, k) neighbours; the sign is arbitrary."""
    spread = np.empty((len(index), 3, 3))
    axes = []
    for axis in range(3):  # one axis at a time is twice as fast
        offsets = points[:, axis][index] - points[rows, axis, None]
        axes.append(offsets - offsets.mean(axis=1, keepdims=True))
        for other in range(axis + 1):
            spread[:, axis, other] = np.einsum("nk,nk->n", axes[axis], axes[other])
    return np.asarray(np.linalg.eigh(spread)[1][:, :, 0])  # of the lower triangle


def unit_or_zero(normals: FloatArray) -> FloatArray:
    """(n, 3) the same directions, of length one; zero where there is none."""
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    known = np.isfinite(length) & (length > 0)
    unit: FloatArray = np.divide(normals, length, out=np.zeros(normals.shape), where=known)
    return unit


def plausible(normals: FloatArray, points: FloatArray, index: IntArray) -> bool:
    """Whether given normals are about those of the planes through (n, k) neighbours."""
    rows = np.arange(0, len(points), max(1, len(points) // _SAMPLE))
    estimated = estimated_normals(points, index[rows], rows)
    cosine = np.abs(np.einsum("nx,nx->n", estimated, normals[rows]))
    return bool(np.median(cosine) > _PLAUSIBLE)


def one_sided(normals: FloatArray, points: FloatArray, index: IntArray) -> bool:
    """Whether normals of neighbours in one plane point the same way; else nobody chose a side."""
    rows = np.arange(0, len(points), max(1, len(points) // _SAMPLE))
    offsets = points[index[rows]] - points[rows, None]
    own, other = normals[rows, None], normals[index[rows]]
    near = _IN_PLANE * np.linalg.norm(offsets, axis=2)
    cosine = (own * other).sum(axis=2)
    together = np.abs(cosine) > _PARALLEL
    for normal in (own, other):
        together &= np.abs((offsets * normal).sum(axis=2)) < near
    return bool((cosine[together] < 0).mean() < _OPPOSED) if together.any() else False


def signed_normals(estimated: FloatArray, given: FloatArray, index: IntArray) -> FloatArray:
    """(n, 3) the estimated normals, on the side of the given ones, or of those of neighbours."""
    known = given.any(axis=1, keepdims=True)
    towards = np.where(known, given, given[index].sum(axis=1))
    cosine = np.einsum("nx,nx->n", estimated, towards)
    return np.where(cosine < 0, -1.0, 1.0)[:, None] * estimated


def oriented_faces(
    points: FloatArray, faces: IntArray, outwards: FloatArray | None = None
) -> IntArray:
    """(m, 3) the triangles with one outside; where the surface meets itself inside out, none.

    Where ways contradict each other, the side travels across the flattest edges, along a minimum
    spanning tree (Hoppe et al. 1992 do the same with points).

    Parameters
    ----------
    outwards : (n, 3) float array, optional
        Directions to the outside; otherwise it is the side away from the centre.
    """
    mesh = trusted_mesh(points, faces, "cloud")
    first, second, agree = neighbouring_faces(mesh)
    relation = np.where(agree, 1.0, -1.0)
    normals = mesh.face_normals
    given, flipped = both_states(len(faces), first, second, agree).reshape(2, -1)
    if (given != flipped).all():  # every way along the surface leads to the same side
        sign, part = np.where(given < flipped, 1.0, -1.0), np.minimum(given, flipped)
    else:
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
