"""Seams that are open by a rounding error: loose triangles whose corners nearly meet."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from nho.geometry.mesh import IntArray, Mesh
from nho.geometry.spikes import robust_size

_WIDEST = 1e-6  # gap, over the size of the shape
_OF_EDGE = 0.1  # gap, over the shortest edge at either side: no triangle may collapse
_COPIES = 8  # nearest vertices that are looked at; further copies follow through these


def close_seams(mesh: Mesh) -> tuple[IntArray, float]:
    """For every vertex the first one that it nearly meets across a seam, and the widest gap.

    Only vertices on the boundary are joined, so nothing inside a surface changes. Nor does a slit
    that is wider than a millionth of the shape, or than a tenth of the edges beside it.

    Returns
    -------
    joined : (n,) int, the vertex itself where there is nothing to join.
    gap : float, in the unit of the mesh.
    """
    joined = np.arange(mesh.n_vertices)
    rim = np.flatnonzero(mesh.boundary_vertices)
    if len(rim) == 0:
        return joined, 0.0
    points = mesh.vertices[rim]
    widest = _WIDEST * robust_size(points)
    found = cKDTree(points).query(points, k=_COPIES, distance_upper_bound=widest)
    apart, other = np.asarray(found[0]), np.asarray(found[1])
    start, at = np.nonzero(np.isfinite(apart) & (other != np.arange(len(rim))[:, None]))
    if len(start) == 0:
        return joined, 0.0
    apart, end = apart[start, at], other[start, at]
    shortest = np.full(mesh.n_vertices, np.inf)
    np.minimum.at(shortest, mesh.edges, mesh.edge_lengths[:, None])
    room = _OF_EDGE * shortest[rim]
    near = apart <= np.minimum(room[start], room[end])
    pairs = (np.ones(near.sum(), dtype=np.int8), (start[near], end[near]))
    count, label = connected_components(coo_array(pairs, shape=(len(rim),) * 2), directed=False)
    first = np.full(count, mesh.n_vertices)
    np.minimum.at(first, label, rim)
    joined[rim] = first[label]
    return joined, float(apart[near].max(initial=0.0))
